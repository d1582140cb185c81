"""Tests of the small pretrained writers, and of `influence`: which past characters they used."""

import json
import math

import pytest
import torch
from safetensors import safe_open

import companion
from companion.learning import influence, small_writers, writer
from companion.learning.sequence_model import SequenceModel
from companion.learning.text import Vocabulary, load_text, shipped_texts
from companion.learning.training import Epoch, evaluate, perplexity
from companion.learning.windows import ConsecutiveWindows, split

each = pytest.mark.parametrize("language", shipped_texts())


@each
def test_writers_have_equal_sizes_and_were_trained_on_the_current_text(language):
    """Check also that their perplexities are similar, and far below that of counted characters."""
    path, text = small_writers.path_of(language), load_text(language)
    with safe_open(path, framework="pt") as file:
        metadata = file.metadata()
    assert metadata["text"] == writer.fingerprint(text), f"run: python -m companion.learning.small_writers {language}"
    assert json.loads(metadata["characters"]) == Vocabulary(text).characters and path.stat().st_size < 300_000
    models, vocabulary = small_writers.load_small_writers(language)
    sizes = [sum(p.numel() for p in model.parameters()) for model in models.values()]
    assert [*models] == ["RNN", "GRU", "LSTM"] and max(sizes) < min(1.02 * min(sizes), small_writers.MOST_WEIGHTS)
    _, held_out = split(vocabulary.encode(text))
    p = torch.bincount(held_out).double() / len(held_out)
    count = perplexity(-(p[p > 0] * p[p > 0].log()).sum().item())
    perplexities = [perplexity(evaluate(model, ConsecutiveWindows(held_out, 8, 100))) for model in models.values()]
    assert max(perplexities) < count / 3 and max(perplexities) < 1.2 * min(perplexities)


@each
def test_lengths_of_the_past_are_as_the_chapter_says(language):
    """Check that the GRU uses a longer past than the RNN, the LSTM only in English; half of it in a few characters."""
    models, vocabulary = small_writers.load_small_writers(language)
    _, held_out = split(vocabulary.encode(load_text(language)))
    windows = held_out.unfold(0, 101, 20).T
    gradients = {kind: influence.gradients(model, windows[:-1], windows[-1]) for kind, model in models.items()}
    most = {kind: influence.reach(norms, 0.9).median() for kind, norms in gradients.items()}
    assert most["GRU"] > most["RNN"] and (most["LSTM"] > most["RNN"]) == (language == "en")
    assert all(influence.reach(norms, 0.5).median() <= 4 for norms in gradients.values())


def small(kind):
    torch.manual_seed(0)
    recurrent = getattr(companion, kind)(3, 5, dtype=torch.float64)
    return SequenceModel(companion.Embedding(7, 3, dtype=torch.float64), recurrent, 7).eval()


@pytest.mark.parametrize("kind", ["RNN", "GRU", "LSTM"])
def test_influence_equals_its_definition(kind):
    """Check `taken_away` by reading each text again, and `gradients` by differences of the embedding vectors."""
    model, past, target = small(kind), torch.tensor([[1, 2], [3, 6], [5, 5], [0, 1]]), torch.tensor([4, 2])
    surprise = lambda indices: torch.nn.functional.cross_entropy(model(indices[:, None])[0][-1, 0], target[0])  # noqa: E731
    text = past[:, 0]
    with torch.no_grad():
        expected = [surprise(torch.cat([text[:t], text[t + 1 :]])) - surprise(text) for t in range(4)]
        torch.testing.assert_close(
            influence.taken_away(model, text, target[0]), torch.stack(expected), rtol=0, atol=1e-12
        )
        gradients, ε = influence.gradients(model, past, target)[:, 0], 1e-6
        for t in range(4):
            slopes = []
            for k in range(3):
                x = model.embedding(text).clone()
                x[t, k] += ε
                y = model.linear(model.recurrent(x)[0][-1])
                slopes.append((torch.nn.functional.cross_entropy(y, target[0]) - surprise(text)) / ε)
            assert abs(torch.stack(slopes).norm() - gradients[t]) < 1e-5
        alone = influence.taken_away(model, text[:1], target[0])  # the rest is empty
        assert torch.isclose(alone[0], -torch.log_softmax(model.linear.bias, 0)[target[0]] - surprise(text[:1]))


def test_reach():
    values = torch.tensor([[0.0, 5.0], [-6.0, 0.0], [3.0, 0.0], [1.0, 5.0]])
    assert influence.reach(values, 0.4).tolist() == [2, 1] and influence.reach(values, 0.41).tolist() == [3, 1]
    assert influence.reach(values, 1.0).tolist() == [3, 4]


def test_unknown_writers_raise_file_not_found():
    with pytest.raises(FileNotFoundError, match="no writer for 'xx', only for 'en'"):
        small_writers.load_small_writers("xx")


def test_command_stores_writers_that_can_be_loaded(monkeypatch, tmp_path, capsys):
    vocabulary = Vocabulary(load_text("zh"))
    made = {kind: small_writers.new_small_writer(len(vocabulary), kind) for kind in small_writers.OURS}
    monkeypatch.setattr(
        small_writers, "train_small_writer", lambda language, kind: (made[kind], vocabulary, [Epoch(2.0, math.log(8))])
    )
    monkeypatch.setattr(small_writers, "SHIPPED", tmp_path)
    monkeypatch.setattr("sys.argv", ["small_writers", "zh"])
    small_writers.main()
    assert capsys.readouterr().out.count(" weights, 3.00 bits a character") == 3
    models, loaded = small_writers.load_small_writers("zh")
    assert loaded.characters == vocabulary.characters
    for kind, model in models.items():
        expected = {name: weight.half().double() for name, weight in made[kind].state_dict().items()}
        torch.testing.assert_close(dict(model.state_dict()), expected, rtol=0, atol=0)
