"""Forecasts a day: several networks as one, and training on a series in order, with the state carried on."""

import copy
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn

from companion.learning.sequence_model import SequenceModel, evaluation_of, in_few_threads
from companion.learning.series import Forecaster
from companion.learning.training import clip_gradients


def side_by_side(forecasters: Sequence[Forecaster]) -> Forecaster:
    """Return one forecaster that computes several at once: its output k, (N, k), is the forecast of forecaster k.

    forecasters: of a step, with LSTMs of one layer and one size. The weights are copied. W_hh and the weights of the
    linear layer are block diagonal: no network reads the state of another one. Training keeps the other weights at 0,
    so that a network learns as it would on its own. It takes little longer than training one of them.

    ValueError for none, or for other layers, sizes, horizons or `from_last`.
    """
    kinds = {
        (type(one.recurrent), one.recurrent.num_layers, one.recurrent.proj_size, one.recurrent.input_size)
        + (one.recurrent.hidden_size, one.recurrent.bias, one.linear.out_features, one.from_last)
        for one in forecasters
    }
    first = forecasters[0].recurrent if forecasters else None
    if len(kinds) != 1 or not isinstance(first, nn.LSTM) or first.num_layers > 1 or first.proj_size or not first.bias:
        raise ValueError("expected forecasters with an nn.LSTM of one layer and of the same size")
    if forecasters[0].linear.out_features != 1:
        raise ValueError(f"expected forecasters of one step, not of {forecasters[0].linear.out_features}")
    size, count = first.hidden_size, len(forecasters)
    layer = nn.LSTM(first.input_size, count * size, dtype=first.weight_ih_l0.dtype)
    together = Forecaster(layer, count, forecasters[0].from_last)
    states = [one.state_dict() for one in forecasters]
    weights = {name: by_gate([state[name] for state in states], torch.cat) for name in states[0]}
    hidden = "recurrent.weight_hh_l0"
    weights[hidden] = by_gate([state[hidden] for state in states], block_diagonal)
    for name, join in (("linear.weight", block_diagonal), ("linear.bias", torch.cat)):
        weights[name] = join([state[name] for state in states])
    together.load_state_dict(weights)
    ones = [torch.ones_like(state[hidden]) for state in states]
    keep_zeros(layer.weight_hh_l0, by_gate(ones, block_diagonal))
    keep_zeros(together.linear.weight, block_diagonal([torch.ones_like(state["linear.weight"]) for state in states]))
    return together


def by_gate(weights: Sequence[Tensor], join: Any) -> Tensor:
    """Join the rows of several LSTMs' weights gate by gate, in torch's order of the gates."""
    return torch.cat([join(list(gates)) for gates in zip(*(weight.chunk(4) for weight in weights), strict=True)])


def block_diagonal(matrices: Sequence[Tensor]) -> Tensor:
    """Return a matrix with these along its diagonal, and 0 elsewhere."""
    return torch.block_diag(*matrices)


def keep_zeros(parameter: Any, mask: Tensor) -> None:
    """Set the gradient of a parameter to 0 where the mask is 0, whenever it is computed."""
    parameter.register_hook(lambda gradient: gradient * mask)


def step_by_step(forecaster: Forecaster) -> SequenceModel:
    """Return a model that shares the forecaster's weights, and returns an output after every step, and the state.

    If the forecaster is `from_last`, the outputs are changes (the setting `change` of `Stream`).
    """
    model = SequenceModel(nn.Identity(), forecaster.recurrent, forecaster.linear.out_features)
    model.linear = forecaster.linear
    return model


def fit_in_order(model, series, learned, start, learning_rate, epochs, rows=8, steps=14):
    """Train on the changes of variable 0, in order, with the state carried on, and return the held-out errors.

    model: as `step_by_step` returns it. series: (time, variables), scaled. It learns from the steps before `learned`,
    cut into rows that are read side by side. After so many steps the weights change; the state is kept, without its
    gradient. The weights with the smallest mean absolute error on the steps from `learned` to `start` are kept. With
    `start` equal to `learned` no step is held out: the last weights are kept, and the list is empty.
    """
    length = (learned - 1) // rows
    places = torch.arange(length)[:, None] + length * torch.arange(rows)
    inputs, changes = series[places], (series[places + 1] - series[places])[:, :, :1]
    optimizer = torch.optim.Adam(model.parameters(), lr=learning_rate)
    history, best = [], None
    for _ in range(epochs):
        state = None
        for x, y in zip(inputs.split(steps), changes.split(steps), strict=True):
            outputs, state = model(x, state)
            state = tuple(part.detach() for part in state)
            loss = (outputs - y).square().mean()
            optimizer.zero_grad()
            loss.backward()
            clip_gradients(model.parameters(), 1.0)
            optimizer.step()
        if start == learned:
            continue
        with evaluation_of(model):
            outputs, _ = model(series[: start - 1, None])
        errors = outputs[:, 0] + series[: start - 1, :1] - series[1:start, :1]
        history.append(errors[learned - 1 :].abs().mean().item())
        if history[-1] == min(history):
            best = copy.deepcopy(model.state_dict())
    if best:
        model.load_state_dict(best)
    return history


fit_in_order = in_few_threads(fit_in_order)  # no decorator, because a chapter prints the function
