"""Tests of `companion.learning.daily`: networks side by side, and training with the state carried on."""

import pytest
import torch
from torch import nn

import companion
from companion.learning.daily import fit_in_order, side_by_side, step_by_step
from companion.learning.series import Forecaster, ask, fit, windows

float64 = {"dtype": torch.float64}


def forecasters(count=3, from_last=True, size=4):
    torch.manual_seed(0)
    return [Forecaster(nn.LSTM(2, size, **float64), 1, from_last) for _ in range(count)]


def series(steps=80):
    return torch.randn(steps, 2, generator=torch.Generator().manual_seed(1), **float64)


@pytest.mark.parametrize("from_last", [True, False])
def test_each_output_is_that_of_one_forecaster(from_last):
    single, inputs = forecasters(from_last=from_last), series(60).view(5, 12, 2)
    expected = torch.cat([ask(one, inputs) for one in single], dim=1)
    torch.testing.assert_close(ask(side_by_side(single), inputs), expected, rtol=0, atol=1e-14)


def test_training_keeps_networks_apart():
    """Check that after some epochs the blocks are still apart: each forecasts alone what it does beside others."""
    single = forecasters(from_last=False)
    together = side_by_side(single)
    inputs, targets = windows(series(), 6)
    fit(together, (inputs, targets.expand(-1, 3)), (inputs, targets.expand(-1, 3)), 0.01, 2)
    state = together.state_dict()
    for k, one in enumerate(single):
        places = torch.cat([torch.arange(4) + 12 * gate + 4 * k for gate in range(4)])
        for name in ("weight_ih_l0", "bias_ih_l0", "bias_hh_l0"):
            getattr(one.recurrent, name).data.copy_(state[f"recurrent.{name}"][places])
        one.recurrent.weight_hh_l0.data.copy_(state["recurrent.weight_hh_l0"][places, 4 * k : 4 * k + 4])
        one.linear.weight.data.copy_(state["linear.weight"][k : k + 1, 4 * k : 4 * k + 4])
        one.linear.bias.data.copy_(state["linear.bias"][k : k + 1])
    expected = torch.cat([ask(one, inputs) for one in single], dim=1)
    torch.testing.assert_close(ask(together, inputs), expected, rtol=0, atol=1e-13)


def test_one_alone_learns_the_same():
    """Check that a forecaster learns the same weights beside no other one."""
    [one] = forecasters(1)
    alone, parts = side_by_side([one]), windows(series(), 6)
    fit(alone, parts, parts, 0.01, 2)
    fit(one, parts, parts, 0.01, 2)
    for name, weight in one.state_dict().items():
        torch.testing.assert_close(alone.state_dict()[name], weight, rtol=0, atol=1e-14)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ([], "of the same size"),
        ([*forecasters(1), *forecasters(1, size=5)], "of the same size"),
        ([*forecasters(1), *forecasters(1, from_last=False)], "of the same size"),
        ([Forecaster(companion.LSTM(2, 4, **float64))], "an nn.LSTM"),
        ([Forecaster(nn.LSTM(2, 4, num_layers=2, **float64))], "of one layer"),
        ([Forecaster(nn.LSTM(2, 4, **float64), 7)], "of one step, not of 7"),
    ],
)
def test_what_cannot_be_joined_is_refused(wrong, message):
    with pytest.raises(ValueError, match=message):
        side_by_side(wrong)


def test_step_by_step_forecasts_the_same_after_a_window():
    [one] = forecasters(1)
    inputs = series(60).view(5, 12, 2)
    with torch.no_grad():
        changes, state = step_by_step(one)(inputs)
    assert torch.equal(inputs[-1, :, :1] + changes[-1], ask(one, inputs))
    assert [tuple(part.shape) for part in state] == [(1, 12, 4)] * 2


def changes_by_rule(steps=500):
    """Return a series whose next change is half of the value before the last, minus the last one's half."""
    x = torch.zeros(steps, 1, **float64)
    noise = torch.randn(steps, generator=torch.Generator().manual_seed(2), **float64)
    for t in range(2, steps):
        x[t] = 0.5 * x[t - 1] + 0.5 * x[t - 2] * (-1) + noise[t]
    return x


def model_of(size=6):
    torch.manual_seed(0)
    return step_by_step(Forecaster(nn.LSTM(1, size, **float64), from_last=True))


def test_training_in_order_learns_the_rule():
    """Check that the held-out error nears the noise, 0.80, from that of the last value, and the best weights stay."""
    x, model = changes_by_rule(), model_of()
    errors = fit_in_order(model, x, 400, 500, 0.02, 25, rows=4, steps=10)
    with torch.no_grad():
        forecasts = x[:-1] + model(x[:-1, None])[0][:, 0]
    measured = (forecasts - x[1:]).abs()[399:].mean().item()
    last = (x[1:] - x[:-1]).abs()[399:].mean().item()
    assert measured == pytest.approx(min(errors), abs=1e-12)
    assert len(errors) == 25 and measured < 0.95 < 1 < last


def test_held_out_steps_are_not_learned_from():
    x, one, other = changes_by_rule(), model_of(), model_of()
    changed = x.clone()
    changed[400:] = 7
    assert fit_in_order(one, x, 400, 400, 0.02, 2) == []
    fit_in_order(other, changed, 400, 400, 0.02, 2)
    assert all(a.equal(b) for a, b in zip(one.parameters(), other.parameters(), strict=True))


def test_the_state_is_carried_from_piece_to_piece():
    """Check the states that the model is given: none at first, then those that it returned, without a gradient."""
    model, given, returned = model_of(), [], []

    class Watched(nn.Module):
        def forward(self, inputs, state=None):
            given.append(state)
            outputs, state = model(inputs, state)
            returned.append(state)
            return outputs, state

    watched = Watched()
    watched.model = model
    fit_in_order(watched, changes_by_rule(), 401, 401, 0.01, 1, rows=4, steps=25)
    assert len(given) == 4 and given[0] is None
    for before, after in zip(returned[:-1], given[1:], strict=True):
        assert all(a.equal(b) and not b.requires_grad for a, b in zip(before, after, strict=True))
