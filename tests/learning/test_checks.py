"""Tests of `companion.learning.checks`, with models that have a fault and models that have none."""

import math

import pytest
import torch
from torch import nn

import companion
from companion.learning import checks
from companion.learning.sequence_model import SequenceModel
from companion.learning.training import IGNORED, cross_entropy

V = 6
float64 = {"dtype": torch.float64}


@pytest.fixture
def batch():
    indices = torch.randint(V, (9, 4), generator=torch.Generator().manual_seed(1))
    return indices[:-1], indices[1:]


def model(source=nn, kind="LSTM"):
    torch.manual_seed(0)
    layer = getattr(source, kind)(5, 7, **float64)
    return SequenceModel(nn.Embedding(V, 5, **float64), layer, V).train()


@pytest.mark.parametrize("kind", ["RNN", "GRU", "LSTM"])
@pytest.mark.parametrize("source", [companion, nn], ids=["companion", "nn"])
def test_checks_do_not_change_the_model(source, kind, batch):
    network = model(source, kind)
    before = [parameter.clone() for parameter in network.parameters()]
    checks.first_loss(network, *batch), checks.overfit(network, *batch, steps=2), checks.norms(network, *batch)
    checks.shuffled_past(network, *batch)
    carried = checks.state_carried(network, batch[0])
    assert carried.handed_on < 1e-12 < 1e-4 < carried.from_zeros
    assert (
        network.training
        and all(map(torch.equal, before, network.parameters()))
        and all(p.grad is None for p in network.parameters())
    )


def test_first_loss_is_the_loss_beside_that_of_guessing(batch):
    network = model()
    assert checks.first_loss(network, *batch) == pytest.approx(
        (cross_entropy(network(batch[0])[0], batch[1]).item(), math.log(V))
    )
    nn.init.zeros_(network.linear.weight), nn.init.zeros_(network.linear.bias)
    assert checks.first_loss(network, *batch).loss == pytest.approx(math.log(V))


def test_overfit_learns_one_batch_and_refuses_a_frozen_model(batch):
    losses = checks.overfit(model(), *batch, learning_rate=0.05, steps=60)
    assert len(losses) == 60 and losses[0] > 1.5 and losses[-1] < 0.2
    frozen = model().requires_grad_(False)
    with pytest.raises(ValueError, match="no parameter to learn: is a layer of it in a plain list, or frozen"):
        checks.overfit(frozen, *batch)
    with pytest.raises(ValueError, match="steps must be at least 1, not 0"):
        checks.overfit(model(), *batch, steps=0)


def test_norms_are_those_of_gradients_and_outputs(batch):
    network = model()
    network.spare = nn.Linear(2, 2)  # unused
    norms = checks.norms(network, *batch)
    outputs, _ = network(batch[0])
    cross_entropy(outputs, batch[1]).backward()
    expected = {name: None if p.grad is None else p.grad.norm().item() for name, p in network.named_parameters()}
    assert norms.gradients == pytest.approx(expected) and norms.gradients["spare.weight"] is None
    assert norms.outputs == pytest.approx([sum(row.norm().item() for row in step) / 4 for step in outputs])


def outputs_alone():
    """Return a model that returns its outputs without a state."""
    network = nn.Embedding(V, V)
    network.forward = lambda inputs, state: network.weight[inputs]
    return network


class Last(nn.Module):
    """A model that outputs the input `far` steps back: its loss is small if that input is the target."""

    def __init__(self, far):
        super().__init__()
        self.far = far

    def forward(self, inputs, state=None):
        earlier = torch.roll(inputs, self.far, 0)
        return 10 * nn.functional.one_hot(earlier, V).double(), state


def test_shuffled_past_shows_whether_the_order_is_used():
    inputs = torch.arange(8)[:, None].expand(-1, 50) % V
    for far, keep, used in ((0, 1, False), (2, 1, True), (2, 2, True), (2, 3, False)):
        past = checks.shuffled_past(Last(far), inputs, inputs.roll(far, 0), keep=keep)
        assert past.in_order < 1e-3 and (past.shuffled > 1) is used
    with pytest.raises(
        ValueError, match="keep=7 leaves 1 of 8 time steps to shuffle; keep must be at least 1, and leave 2"
    ):
        checks.shuffled_past(Last(0), inputs, inputs, keep=7)


def test_state_carried_detects_a_dropped_state(batch):
    class Dropped(SequenceModel):
        def forward(self, inputs, state=None):
            return super().forward(inputs, None)

    dropped = Dropped(nn.Embedding(V, 5, **float64), nn.GRU(5, 7, **float64), V)
    carried = checks.state_carried(dropped, batch[0])
    assert carried.handed_on == carried.from_zeros > 1e-4
    assert checks.state_carried(Last(0), batch[0]) == (0, 0)  # a model without memory


class BatchFirst(nn.Module):
    def __init__(self, **options):
        super().__init__()
        torch.manual_seed(0)
        self.embedding, self.recurrent = nn.Embedding(V, 5), nn.LSTM(5, V, 2, **options)

    def forward(self, inputs, state=None):
        return self.recurrent(self.embedding(inputs), state)


def test_batch_first(batch):
    """Check that a model with batch first is refused unless it is wrapped."""
    network, (inputs, targets) = BatchFirst(batch_first=True), batch
    for check in (checks.shuffled_past, lambda *arguments: checks.state_carried(*arguments[:2])):
        with pytest.raises(ValueError, match=r"reads batch first: give TimeFirst\(model\)"):
            check(network, inputs, targets)
    wrapped, same = checks.TimeFirst(network), BatchFirst()
    assert checks.state_carried(wrapped, inputs) == pytest.approx(checks.state_carried(same, inputs))
    assert checks.shuffled_past(wrapped, *batch) == pytest.approx(checks.shuffled_past(same, *batch))
    assert checks.first_loss(wrapped, *batch) == pytest.approx(checks.first_loss(same, *batch))


def test_overfit_turns_dropout_off(batch):
    for parts in (BatchFirst(dropout=0.9), BatchFirst()):
        parts.spare = nn.Dropout(0.9)
        losses = checks.overfit(parts, *batch, steps=3)
        assert losses == checks.overfit(BatchFirst(), *batch, steps=3)
        assert parts.spare.p == 0.9


def test_dropout_of_the_companion_is_turned_off_too():
    block, x = companion.TransformerEncoderLayer(8, 2, 16, dropout=0.9), torch.randn(3, 2, 8)
    assert torch.allclose(checks.without_dropout(block).train()(x), block.eval()(x))


def test_training_modes_are_restored(batch):
    network = model().eval()
    network.recurrent.train()  # as for gradients on a graphics card
    checks.first_loss(network, *batch), checks.shuffled_past(network, *batch), checks.state_carried(network, batch[0])
    assert not network.training and network.recurrent.training


def test_shift_counts_how_far_targets_are_ahead(batch):
    inputs, targets = batch
    assert checks.shift(inputs, targets)[1] == 1 > max(checks.shift(inputs, targets)[by] for by in (0, 2, 3))
    assert checks.shift(inputs, inputs)[0] == 1 and checks.shift(inputs[:-1], targets[1:], largest=2)[2] == 1
    for arguments in ((inputs, targets[1:]), (inputs.double(), targets)):
        with pytest.raises(ValueError, match="must be indices of one shape"):
            checks.shift(*arguments)
    with pytest.raises(ValueError, match="more than 3 time steps, not 2"):
        checks.shift(inputs[:2], targets[:2])


def test_wrong_batches_raise_errors(batch):
    inputs, targets = batch
    for arguments, error, message in (
        ((inputs.tolist(), targets), TypeError, "inputs must be a tensor, not list"),
        ((inputs[0], targets), ValueError, "inputs must be (T, B) or (T, B, input_size), not (4,)"),
        ((inputs[:0], targets), ValueError, "inputs are empty: their shape is (0, 4)"),
        ((inputs, torch.full_like(targets, IGNORED)), ValueError, "all targets are IGNORED: nothing is asked"),
    ):
        for check in (checks.first_loss, checks.overfit, checks.norms, checks.shuffled_past):
            with pytest.raises(error) as raised:
                check(model(), *arguments)
            assert message in str(raised.value)
    with pytest.raises(ValueError, match="at least 2 time steps, not 1"):
        checks.state_carried(model(), inputs[:1])
    with pytest.raises(TypeError, match="inputs must be a tensor, not list"):
        checks.state_carried(model(), inputs.tolist())
    with pytest.raises(
        ValueError, match="a bidirectional layer cannot carry a state: its outputs also depend on later steps"
    ):
        checks.state_carried(nn.GRU(5, 7, bidirectional=True), torch.zeros(8, 4, 5))
    with pytest.raises(ValueError, match=r"must have the same \(T, B\)"):
        checks.shuffled_past(model(), inputs, targets[1:])
    with pytest.raises(TypeError, match="must return a pair, outputs and state, not Tensor"):
        checks.first_loss(outputs_alone(), *batch)
