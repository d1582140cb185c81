"""Tests of `companion.learning.leaks`: each fault in a model that has it, and no finding in one that has none."""

import copy

import pytest
import torch
from torch import nn
from torch.nn import functional as F

import companion
from companion.learning.checks import TimeFirst, overfit
from companion.learning.classifier import SequenceClassifier
from companion.learning.leaks import find_leaks, moved
from companion.learning.sequence_model import SequenceModel
from companion.learning.transformer_model import TransformerModel
from tests.learning.leaky_models import (
    INDICES,
    INPUTS,
    TARGETS,
    Alone,
    Attention,
    B,
    Cells,
    Convolution,
    Keywords,
    LastValid,
    Looped,
    Mean,
    Model,
    Padded,
    Reader,
    T,
    Unmasked,
    V,
)  # fmt: skip

LENGTHS = torch.tensor([9, 5, 2, 7])
RECURRENT = ["RNN", "GRU", "LSTM"]
OTHERS = (
    "LinearAttention GatedLinearAttention DeltaNet GatedDeltaNet MLSTM MinGRU LogMinGRU MinLSTM SelectiveSSM".split()
)


@pytest.fixture(autouse=True)
def seeded():
    torch.manual_seed(0)


def transformer(kind, source):
    blocks = [source.TransformerEncoderLayer(8, 2, 16, dropout=0.5) for _ in range(2)]
    return kind(nn.Embedding(V, 8), blocks, V)


def places(model, *batch, **options):
    """Return kind → place of all leaks found."""
    return {leak.kind: leak.place for leak in find_leaks(model, *batch, **options)}


@pytest.mark.parametrize("source", [nn, companion], ids=["nn", "companion"])
@pytest.mark.parametrize("kind", RECURRENT)
def test_recurrent_layers_have_no_leak(source, kind):
    layer = getattr(source, kind)(5, 7, 2, dropout=0.5)
    assert find_leaks(SequenceModel(nn.Embedding(V, 5), layer, V), INPUTS, TARGETS) == []


@pytest.mark.parametrize("kind", OTHERS)
def test_layers_after_the_lstm_have_no_leak(kind):
    for dtype in (torch.float32, torch.float64):
        layer = getattr(companion, kind)(8, 8)
        assert find_leaks(SequenceModel(companion.Embedding(V, 8), layer, V).to(dtype), INPUTS, TARGETS) == []


def test_blocks_have_no_leak():
    layers = companion.Blocks([companion.LSTM(8, 8), companion.GRU(8, 8)])
    assert find_leaks(SequenceModel(nn.Embedding(V, 8), layers, V), INPUTS, TARGETS) == []


@pytest.mark.parametrize("source", [nn, companion], ids=["nn", "companion"])
def test_a_transformer_without_a_mask_leaks_the_future_in_its_attention(source):
    assert find_leaks(transformer(TransformerModel, source), INPUTS, TARGETS) == []
    assert places(transformer(Unmasked, source), INPUTS, TARGETS) == {
        "future": "blocks.0.self_attn (MultiheadAttention)"
    }


def test_a_bidirectional_layer_leaks_the_future():
    assert find_leaks(Model(nn.LSTM(5, 7)), INPUTS, TARGETS) == []
    (leak,) = find_leaks(model := Model(nn.LSTM(5, 7, bidirectional=True)), INPUTS, TARGETS)
    (t, b), (moved_t, moved_b) = leak.changed, leak.moved
    assert leak[0] == "future" and moved_b == b and moved_t < t and not leak.training
    assert moved(model, INPUTS, t, b)[moved_t, b] > 0
    assert str(leak) == (
        f"The future leaks: a change of row {b} at step {t} moves the output of row {b} at step {moved_t}."
        " Place: recurrent (LSTM, bidirectional)."
    )
    assert find_leaks(model, INPUTS, TARGETS, kinds={"rows", "target"}) == []  # may read ahead, as a tagger
    model.recurrent = Keywords(model.recurrent)
    assert places(model, INPUTS) == {"future": "recurrent.layer (LSTM, bidirectional)"}


def test_what_a_forward_does_between_its_parts_is_found():
    assert places(Model(nn.GRU(5, 7), before=lambda x: x - x.mean(0)), INPUTS) == {
        "future": "Model.forward, between embedding (Embedding) and recurrent (GRU)"
    }
    assert find_leaks(Model(nn.GRU(5, 7), before=lambda x: x - x.mean(2, keepdim=True)), INPUTS) == []
    reversed_ = Model(nn.GRU(5, 7), before=lambda x: x.flip(0), after=lambda x: x.flip(0))
    assert places(reversed_, INPUTS) == {"future": "recurrent (GRU)"}
    rolled = Model(nn.GRU(5, 7), before=lambda x: x.roll(1, 1), after=lambda x: x.roll(-1, 1))
    assert find_leaks(rolled, INPUTS) == []
    rolled.after = lambda x: x - x.mean(1, keepdim=True)  # rows are in another order before it
    assert places(rolled, INPUTS)["rows"] == "Model.forward, between recurrent (GRU) and linear (Linear)"


def test_rounding_is_no_leak():
    """Check that a causal filter by Fourier transforms, which rounds all steps anew, is not found."""

    def filtered(x, circular=False):
        n = len(x) if circular else 2 * len(x)  # without room, the end comes back at the beginning
        factors = torch.fft.rfft(0.5 ** torch.arange(len(x)), n)[:, None, None]
        return torch.fft.irfft(torch.fft.rfft(x, n, 0) * factors, n, 0)[: len(x)]

    assert find_leaks(Model(nn.GRU(5, 7), before=filtered), INPUTS, TARGETS) == []
    assert places(Model(nn.GRU(5, 7), before=lambda x: filtered(x, True)), INPUTS) == {
        "future": "Model.forward, between embedding (Embedding) and recurrent (GRU)"
    }


def test_batch_norm_mixes_rows_and_steps_in_training_only():
    assert find_leaks(Model(nn.LSTM(5, 7), nn.LayerNorm(7)), INPUTS, TARGETS) == []
    future, rows = find_leaks(model := Model(nn.LSTM(5, 7), nn.BatchNorm1d(7)), INPUTS, TARGETS)
    assert (future.kind, rows.kind) == ("future", "rows") and future.training and rows.training
    assert future.place == rows.place == "norm (BatchNorm1d)" and str(rows).endswith(" In training mode only.")
    assert not (moved(model, INPUTS, 5, 1) > 0)[:, [0, 2, 3]].any()  # in evaluation mode


@pytest.mark.parametrize("by", [1, -1])
def test_a_row_that_reads_the_next_one_or_the_one_before_is_found(by):
    (leak,) = find_leaks(Model(nn.GRU(5, 7), before=lambda x: x + x.roll(by, 1)), INPUTS, TARGETS)
    assert leak.kind == "rows" and leak.moved[1] == (leak.changed[1] + by) % B
    assert leak.place == "Model.forward, between embedding (Embedding) and recurrent (GRU)"


def test_a_part_that_changes_its_input_in_place_is_found():
    class Centred(nn.Module):
        def forward(self, x):
            return x.sub_(x.mean(0))

    assert set(places(Model(nn.GRU(5, 7), Centred()), INPUTS).values()) == {"norm (Centred)"}


def test_calls_of_a_part_are_counted():
    assert find_leaks(Cells(nn.LayerNorm(B)), INPUTS, TARGETS) == []
    assert places(Cells(nn.BatchNorm1d(B)), INPUTS) == {"rows": "norm (BatchNorm1d), call 1"}


def test_view_instead_of_transpose_mixes_rows():
    def exchanged(x):
        return x.transpose(0, 1)

    def viewed(x):
        return x.reshape(x.shape[1], x.shape[0], -1)

    layer = nn.LSTM(5, 7, batch_first=True)
    assert find_leaks(Model(layer, before=exchanged, after=exchanged), INPUTS, TARGETS) == []
    assert places(Model(layer, before=viewed, after=viewed), INPUTS)["rows"] == (
        "Model.forward, between embedding (Embedding) and recurrent (LSTM, batch_first)"
    )


def test_a_batch_that_is_read_as_time_mixes_rows():
    """Check also what a reader saw: the same input three times is learned with three targets."""
    for batch in ((INPUTS, TARGETS), (INDICES[:4], INDICES[1:5])):  # the second has as many steps as rows
        assert find_leaks(TimeFirst(Model(nn.LSTM(5, 7, batch_first=True))), *batch) == []
        assert places(TimeFirst(Model(nn.LSTM(5, 7))), *batch) == {"rows": "recurrent (LSTM)"}
        assert places(Model(nn.LSTM(5, 7, batch_first=True)), *batch) == {"rows": "recurrent (LSTM, batch_first)"}
    same, targets = torch.full((1, 3), 2), torch.tensor([[0, 1, 2]])
    layers = nn.LSTM(5, 7), nn.LSTM(5, 7, batch_first=True)
    losses = [overfit(TimeFirst(Model(layer)), same, targets, learning_rate=0.1, steps=60)[-1] for layer in layers]
    assert losses[0] < 0.1 and losses[1] > 1


@pytest.mark.parametrize("dim, kinds", [(2, set()), (1, {"future"}), (0, {"future", "rows"})])
def test_a_softmax_over_the_wrong_dimension_leaks(dim, kinds):
    assert places(Attention(dim), INPUTS) == dict.fromkeys(
        kinds, "Attention.forward, between query (Linear) and output (Linear)"
    )
    assert places(Attention(dim, nn.Softmax(dim)), INPUTS) == dict.fromkeys(kinds, "softmax (Softmax)")


def test_a_convolution_leaks_unless_it_is_causal():
    assert find_leaks(Convolution(2), INPUTS, TARGETS) == []
    assert places(Convolution(1), INPUTS) == {"future": "convolution (Conv1d)"}


@pytest.mark.parametrize("source", [nn, companion], ids=["nn", "companion"])
@pytest.mark.parametrize("summary", ["h_n", "mean", "max"])
@pytest.mark.parametrize("bidirectional", [False, True])
def test_a_classifier_with_lengths_reads_no_padding(source, summary, bidirectional):
    layer = source.LSTM(5, 7, bidirectional=bidirectional)
    assert find_leaks(SequenceClassifier(nn.Embedding(V, 5), layer, 3, summary), INPUTS, lengths=LENGTHS) == []


@pytest.mark.parametrize("fault", ["mean", "last state", "lengths", "sorted"])
def test_padding_that_is_read_is_found(fault):
    model = Padded(nn.Embedding(V, 5), nn.LSTM(5, 7), 3, "h_n" if fault == "last state" else "mean")
    model.fault = fault
    (leak,) = find_leaks(model, INPUTS, lengths=LENGTHS)
    assert leak[:3] == ("padding", (2, 2), (None, 2))
    assert leak.place == "Padded.forward, between recurrent (LSTM) and linear (Linear)"
    sentence = "Padding is read: a change of the padding of row 2 from step 2 on moves the answer of row 2."
    assert str(leak).startswith(sentence)
    assert find_leaks(model, INPUTS, lengths=torch.full((B,), T)) == []  # no padding


def test_padding_that_the_backward_direction_reads_is_found_there():
    model = SequenceClassifier(nn.Embedding(V, 5), nn.LSTM(5, 7, bidirectional=True), 3, packed=False)
    assert places(model, INPUTS, lengths=LENGTHS) == {"padding": "recurrent (LSTM, bidirectional)"}


def test_padding_is_found_in_a_summary_and_after_a_loop():
    assert find_leaks(Looped(Mean(), valid=True), INPUTS, lengths=LENGTHS) == []
    assert places(Looped(Mean()), INPUTS, lengths=LENGTHS) == {"padding": "mean (Mean)"}
    assert places(Looped(), INPUTS, lengths=LENGTHS) == {
        "padding": "Looped.forward, between cell (GRUCell), call 9 and linear (Linear)"
    }


def test_only_the_padding_of_what_belongs_to_every_step_may_move():
    assert find_leaks(LastValid(nn.GRU(V, 7), False), INPUTS, lengths=LENGTHS) == []


def test_states_and_outputs_of_every_step_are_held_to_their_lengths():
    assert find_leaks(Reader(nn.GRU(V, 7), True), INPUTS, lengths=LENGTHS) == []
    (leak,) = find_leaks(Reader(nn.GRU(V, 7), False), INPUTS, lengths=LENGTHS)
    assert leak[:3] == ("padding", (2, 2), (None, 2))  # only the state
    (leak,) = find_leaks(Reader(nn.GRU(V, 7, bidirectional=True), False), INPUTS, lengths=LENGTHS, kinds=["padding"])
    assert leak.changed == (2, 2) and leak.moved[0] < 2 and leak.place == "layer (GRU, bidirectional)"
    packed = Reader(nn.GRU(V, 7, bidirectional=True), True)
    assert places(packed, INPUTS, lengths=LENGTHS) == {"future": "layer (GRU, bidirectional)"}


def test_a_target_among_the_inputs_is_named():
    model = SequenceModel(nn.Embedding(V, 5), nn.GRU(5, 7), V)
    assert places(model, INPUTS, INPUTS) == {"target": "the input at the same step"}
    assert places(model, INPUTS[2:], INPUTS[:-2]) == {"target": "the input 2 steps before"}
    assert find_leaks(model, INPUTS, INPUTS, kinds={"future"}) == []
    generator = torch.Generator().manual_seed(0)
    values, targets = torch.randn(T, B, 3, generator=generator), torch.randn(T, B, generator=generator)
    model = SequenceModel(nn.Identity(), nn.GRU(3, 4), 1)
    assert find_leaks(model, values, targets) == []
    values[..., 2] = 100 - 3 * targets
    (leak,) = find_leaks(model, values, targets[..., None])
    assert str(leak) == (
        "The target is among the inputs: each target is feature 2 of the input at the same step, up to its scale."
    )
    values[..., 2] += 0.01 * torch.randn(T, B, generator=generator)  # only similar
    assert find_leaks(model, values, targets) == []


def test_the_model_is_not_changed():
    model = Model(nn.LSTM(5, 7, 2, dropout=0.5), nn.BatchNorm1d(7)).train()
    model.norm.eval()
    before, numbers = copy.deepcopy(model.state_dict()), torch.get_rng_state()
    find_leaks(model, INPUTS, TARGETS), moved(model, INPUTS, 3, 1)
    assert all(map(torch.equal, before.values(), model.state_dict().values()))
    assert model.training and not model.norm.training and torch.equal(numbers, torch.get_rng_state())
    assert not any(module._forward_hooks or module._forward_pre_hooks for module in model.modules())
    assert all(parameter.grad is None for parameter in model.parameters())


def test_models_that_draw_or_keep_a_state_are_compared_fairly():
    class Kept(Model):
        state = None

        def forward(self, inputs, state=None):
            outputs, self.state = super().forward(inputs, self.state)
            return F.dropout(outputs), state

    assert find_leaks(Kept(nn.GRU(5, 7)), INPUTS, TARGETS) == []


def test_moved_gives_the_size_of_each_change():
    model = Model(nn.GRU(5, 7)).eval()
    sizes = moved(model, INPUTS, 3, 1)
    changed = INPUTS.clone()
    changed[3, 1] = max(INPUTS.flatten().tolist(), key=lambda index: abs(index - INPUTS[3, 1]))
    expected = (model(changed)[0] - model(INPUTS)[0]).abs().amax(-1).double()
    assert torch.allclose(sizes, expected, atol=1e-6) and sizes.shape == (T, B)
    assert (sizes > 0).nonzero().tolist() == [[t, 1] for t in range(3, T)]
    assert torch.equal(moved(model, INPUTS, -1, 1), moved(model, INPUTS, T - 1, 1))
    assert moved(model, torch.zeros_like(INPUTS), 3, 1)[3, 1] > 0  # no other input in the batch
    classifier = SequenceClassifier(nn.Embedding(V, 5), nn.LSTM(5, 7), 3)
    assert (moved(classifier, INPUTS, 1, 2, LENGTHS) > 0).tolist() == [False, False, True, False]


def test_wrong_arguments_raise_errors():
    model = Model(nn.GRU(5, 7))
    with pytest.raises(ValueError, match="kinds must be of target, future, rows, padding, not past"):
        find_leaks(model, INPUTS, kinds=["past", "rows"])
    with pytest.raises(TypeError, match="must return a pair, outputs and state, not Tensor"):
        find_leaks(Alone(T), INPUTS)
    with pytest.raises(ValueError, match=r"outputs must be \(T, B, …\) or \(B, …\) with T=9, B=4, not \(3, 4\)"):
        find_leaks(Alone(3), INPUTS, lengths=LENGTHS)
    with pytest.raises(ValueError, match=r"lengths\[0\] is 10; there are 9 steps"):
        find_leaks(model, INPUTS, lengths=LENGTHS + 1)
