"""Tests of weights converted from and to ONNX and Keras, against their documented equations, gate by gate."""

import pytest
import torch
from torch import nn

import companion
from companion.layers import elsewhere

H, INPUT = 3, 4
KINDS = ["RNN", "LSTM", "GRU"]
float64 = {"dtype": torch.float64}


def unrolled(kind, gate, x):
    """Return the hidden states by both libraries' equations.

    gate: a letter → W, R and the two biases of a gate.
    """
    h, c, states = torch.zeros(H, **float64), torch.zeros(H, **float64), []
    sums = {}
    for x_t in x:
        for letter in elsewhere.TORCH[kind]:
            W, R, b, b_r = gate(letter)
            sums[letter] = (W @ x_t + b, R @ h + b_r)
        s = {letter: torch.sigmoid(sum(pair)) for letter, pair in sums.items()}
        if kind == "RNN":
            h = torch.tanh(sum(sums["h"]))
        elif kind == "LSTM":
            c = s["f"] * c + s["i"] * torch.tanh(sum(sums["g"]))
            h = s["o"] * torch.tanh(c)
        else:
            n = torch.tanh(sums["n"][0] + s["r"] * sums["n"][1])
            h = (1 - s["z"]) * n + s["z"] * h
        states.append(h)
    return torch.stack(states)


def loaded(kind, weights):
    layer = getattr(nn, kind)(INPUT, H, **float64)
    layer.load_state_dict(weights)
    return layer


@pytest.mark.parametrize("kind", KINDS)
def test_onnx(kind):
    """Check W[iofc] and W[zrh] with linear_before_reset = 1.

    https://onnx.ai/onnx/operators/onnx__LSTM.html, onnx__GRU.html.
    """
    torch.manual_seed(0)
    order = {"RNN": "h", "LSTM": "iofg", "GRU": "zrn"}[kind]
    rows = len(order) * H
    W, R, B = (
        torch.randn(1, rows, INPUT, **float64),
        torch.randn(1, rows, H, **float64),
        torch.randn(1, 2 * rows, **float64),
    )

    def gate(letter):
        at = slice(order.index(letter) * H, (order.index(letter) + 1) * H)
        return W[0][at], R[0][at], B[0, :rows][at], B[0, rows:][at]

    layer, x = loaded(kind, elsewhere.from_onnx(kind, W, R, B)), torch.randn(5, INPUT, **float64)
    assert torch.allclose(layer(x)[0], unrolled(kind, gate, x), atol=1e-12)
    assert all(map(torch.equal, elsewhere.to_onnx(layer), (W, R, B)))


@pytest.mark.parametrize("kind", KINDS)
def test_keras(kind):
    """Check kernels with the columns i, f, c, o and z, r, h.

    A GRU's bias has a row for the input and one for the state.
    """
    torch.manual_seed(0)
    order = {"RNN": "h", "LSTM": "ifgo", "GRU": "zrn"}[kind]
    columns = len(order) * H
    kernel, recurrent = torch.randn(INPUT, columns, **float64), torch.randn(H, columns, **float64)
    bias = torch.randn(*([2] if kind == "GRU" else []), columns, **float64)

    def gate(letter):
        at = slice(order.index(letter) * H, (order.index(letter) + 1) * H)
        b, b_r = bias if kind == "GRU" else (bias, torch.zeros_like(bias))
        return kernel[:, at].T, recurrent[:, at].T, b[at], b_r[at]

    weights = elsewhere.from_keras(kind, *(part.cpu().numpy() for part in (kernel, recurrent, bias)))
    layer, x = loaded(kind, weights), torch.randn(5, INPUT, **float64)
    assert torch.allclose(layer(x)[0], unrolled(kind, gate, x), atol=1e-12)
    ours = getattr(companion, kind)(INPUT, H, **float64)
    ours.load_state_dict(weights)
    assert all(map(torch.equal, elsewhere.to_keras(ours), (kernel, recurrent, bias)))


def test_wrong_shapes_and_layers_are_refused():
    W, R, B = elsewhere.to_onnx(nn.LSTM(INPUT, H))
    for convert, message in (
        (lambda: elsewhere.from_onnx("Transformer", W, R, B), "kind must be one of RNN, LSTM, GRU, not 'Transformer'"),
        (lambda: elsewhere.from_onnx("LSTM", W[0], R, B), "W of a layer LSTM has 3 dimensions, not 2"),
        (lambda: elsewhere.from_onnx("LSTM", torch.cat([W, W]), R, B), "W has 2 directions: convert one at a time"),
        (
            lambda: elsewhere.from_onnx("GRU", W, R, B),
            "the input weights have 12 rows of gates; a layer GRU with H = 3 has 3 · 3 = 9",
        ),
        (
            lambda: elsewhere.from_keras("GRU", W[0].T[:, :9], R[0].T[:, :9], B[0, :9]),
            "bias of a layer GRU has 2 dimensions, not 1: (9,). The layer was made without reset_after",
        ),
        (
            lambda: elsewhere.from_keras("LSTM", W[0].T, R[0].T, torch.zeros(8 * H)),
            "a bias of 24 numbers, two for each of the kernel's 12 columns, is that of CuDNNLSTM",
        ),
        (
            lambda: elsewhere.from_keras("GRU", W[0].T[:, :9], R[0].T[:, :9], torch.zeros(6 * H)),
            "In Keras 2, load the file into a model with GRU(reset_after=True), which converts them",
        ),
        (lambda: elsewhere.to_onnx(nn.LSTM(INPUT, H, num_layers=2)), "only one layer in one direction"),
        (lambda: elsewhere.to_keras(nn.LSTM(INPUT, H, bias=False)), "with biases"),
        (lambda: elsewhere.to_keras(nn.LSTM(INPUT, H, proj_size=2)), "no projection"),
        (lambda: elsewhere.to_keras(nn.RNN(INPUT, H, nonlinearity="relu")), "tanh"),
    ):
        with pytest.raises(ValueError) as error:
            convert()
        assert message in str(error.value)
