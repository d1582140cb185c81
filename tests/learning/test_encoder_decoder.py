"""Tests of encoder-decoder models: equal to torch's layers, independent of padding; search, readers, transformer."""

import math

import pytest
import torch
from torch import nn

import companion
from companion.learning import numeral_readers
from companion.learning.encoder_decoder import EncoderDecoder
from companion.learning.numeral_readers import KINDS, exact, load_reader, new_reader
from companion.learning.numerals import LANGUAGES, TRAINED, Numerals
from companion.learning.search import beam, enumerated, greedy
from companion.learning.sequence_model import evaluation_of
from companion.learning.transformer_model import TransformerModel, positions

float64 = {"dtype": torch.float64}


def reader(kind, size=16):
    torch.manual_seed(0)
    model = new_reader("en", kind, size, **float64)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.mul_(2)  # larger weights, so that outputs depend on inputs
    return model


@pytest.mark.parametrize("kind", KINDS)
def test_companion_and_torch_layers_give_the_same_outputs(kind):
    ours, task = reader(kind), Numerals("en")
    theirs = new_reader("en", kind, 16, LSTM=nn.LSTM, MultiheadAttention=nn.MultiheadAttention, **float64)
    theirs.load_state_dict(ours.state_dict())
    inputs, _ = task.batch([905, 7, 31_000_000])
    torch.testing.assert_close(ours(inputs), theirs(inputs), rtol=0, atol=1e-10)


@pytest.mark.parametrize("kind", KINDS)
def test_outputs_do_not_depend_on_the_batch(kind):
    model, task = reader(kind), Numerals("en")
    inputs, targets = task.batch([905, 7, 31_000_000])
    logits, _ = model(inputs)
    for b, number in enumerate([905, 7, 31_000_000]):
        alone, _ = model(task.batch([number])[0])
        torch.testing.assert_close(logits[: len(alone), b], alone[:, 0], rtol=0, atol=1e-10)


@pytest.mark.parametrize("kind", KINDS)
def test_steps_one_by_one_equal_all_at_once(kind):
    model, task = reader(kind), Numerals("en")
    (source, lengths, written), _ = task.batch([905, 7])
    with evaluation_of(model):
        read, state = model.read(source, lengths)
        whole, last, looks = model.write(written, read, state)
        for t in range(len(written)):
            step, state, look = model.write(written[t : t + 1], read, state)
            torch.testing.assert_close(step[0], whole[t], rtol=0, atol=1e-10)
            if kind == "attention":
                torch.testing.assert_close(look[:, 0], looks[:, t], rtol=0, atol=1e-10)
        torch.testing.assert_close(state, last, rtol=0, atol=1e-10)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("number", [7, 42, 905])
def test_search_against_enumeration(kind, number):
    """Check that a beam of 1 is greedy, that a full beam finds everything, and that probabilities sum to 1."""
    model, task = reader(kind), Numerals("en")
    (source, lengths, _), _ = task.batch([number])
    everything = enumerated(model, source[:, 0], 2)
    assert len(everything) == 111 and math.isclose(
        sum(math.exp(result.log_p) for result in everything), 1, rel_tol=1e-9
    )
    (best,), narrow = greedy(model, source, lengths, 2), beam(model, source[:, 0], 1, 2)
    assert best.sequence == narrow[0].sequence and math.isclose(best.log_p, narrow[0].log_p)
    assert best.weights is None if kind == "fixed" else best.weights.shape == (len(best.sequence) + 1, lengths[0])
    wide = beam(model, source[:, 0], 111, 2)
    rounded = [[(result.sequence, round(result.log_p, 8)) for result in results] for results in (wide, everything)]
    assert rounded[0] == rounded[1]
    log_ps = [beam(model, source[:, 0], width, 2)[0].log_p for width in (1, 2, 4, 8, 16)]
    assert all(p <= everything[0].log_p + 1e-9 for p in log_ps)
    by_sign = beam(model, source[:, 0], 111, 2, alpha=1.0)
    assert by_sign[0] == max(wide, key=lambda result: result.log_p / (len(result.sequence) + 1))


def test_greedy_search_does_not_depend_on_the_batch():
    model, task = reader("attention"), Numerals("en")
    numbers = [905, 7, 31_000_000]
    (source, lengths, _), _ = task.batch(numbers)
    for together, number in zip(greedy(model, source, lengths, 6), numbers, strict=True):
        (alone_source, alone_lengths, _), _ = task.batch([number])
        (alone,) = greedy(model, alone_source, alone_lengths, 6)
        assert together.sequence == alone.sequence and math.isclose(together.log_p, alone.log_p)
        torch.testing.assert_close(together.weights, alone.weights)


def test_wrong_sizes_are_refused():
    table, layer = companion.Embedding(11, 4), companion.LSTM
    fits = companion.Embedding(34, 4), layer(4, 3, bidirectional=True), table, layer(4, 6), 11
    EncoderDecoder(*fits)
    for place, wrong, words in (
        (3, layer(4, 5), "the encoder ends with 6 features, the decoder begins with 5"),
        (1, layer(4, 3, bidirectional=True, batch_first=True), "time first"),
        (0, companion.Embedding(34, 5), "an embedding makes 5 features, its layer reads 4"),
    ):
        with pytest.raises(ValueError, match=words):
            EncoderDecoder(*fits[:place], wrong, *fits[place + 1 :])
    with pytest.raises(ValueError, match="at least 1 wide"):
        beam(reader("fixed"), torch.tensor([1]), 0)


@pytest.mark.parametrize("language", LANGUAGES)
def test_pretrained_readers_read_their_language(language):
    """Check that with attention 99 % of held-out numbers are right, and without it fewer."""
    (model, task), (fixed, _) = (load_reader(language, kind) for kind in KINDS)
    shares = [exact(model, task, length, 100) for length in range(4, TRAINED + 1)]
    assert sum(shares) / len(shares) >= 0.99 and shares[0] == 1
    assert exact(fixed, task, TRAINED, 100) < min(0.9, shares[-1])


def test_unknown_reader_is_refused():
    with pytest.raises(FileNotFoundError, match="there is no reader for 'fr', only for 'en', 'ja', 'ko', 'zh'"):
        load_reader("fr")
    with pytest.raises(ValueError, match="kind must be one of attention, fixed, not 'other'"):
        load_reader("en", "other")


def test_command_trains_a_reader_that_can_be_loaded(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(numeral_readers, "SHIPPED", tmp_path)
    monkeypatch.setattr(numeral_readers, "EPOCHS", 1)
    monkeypatch.setattr(numeral_readers, "BATCHES", 2)
    monkeypatch.setattr("sys.argv", ["numeral_readers", "ko"])
    numeral_readers.main()
    assert "ko, attention" in capsys.readouterr().out
    model, task = numeral_readers.load_reader("ko", "fixed")
    assert model(task.batch([5])[0])[0].shape == (2, 1, 11)


def test_transformer_is_causal_and_uses_positions():
    torch.manual_seed(0)
    blocks = [companion.TransformerEncoderLayer(6, 2, 8, 0.0, **float64) for _ in range(2)]
    model = TransformerModel(companion.Embedding(7, 6, **float64), blocks, 5)
    inputs = torch.tensor([[1, 2], [3, 4], [5, 6]])
    whole, state = model(inputs)
    assert state == () and whole.shape == (3, 2, 5)
    torch.testing.assert_close(model(inputs[:2])[0], whole[:2], rtol=0, atol=1e-10)  # later inputs change nothing
    assert not torch.allclose(model(inputs[[1, 0, 2]])[0][2], whole[2])  # the order of earlier ones does
    theirs = [nn.TransformerEncoderLayer(6, 2, 8, 0.0, **float64) for _ in range(2)]
    other = TransformerModel(companion.Embedding(7, 6, **float64), theirs, 5)
    other.load_state_dict(model.state_dict())
    torch.testing.assert_close(other(inputs)[0], whole, rtol=0, atol=1e-10)
    assert torch.equal(positions(3, 4)[0], torch.tensor([0.0, 1, 0, 1], **float64))
    assert math.isclose(positions(3, 4)[2, 2], math.sin(2 / 100))
    with pytest.raises(ValueError, match="must be even, not 5"):
        TransformerModel(companion.Embedding(7, 5), [], 5)
