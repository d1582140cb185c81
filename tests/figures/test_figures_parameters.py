"""Compare what arithmetic.js knows of nn.LSTM (parameters, shapes, errors) and of Python literals with both."""

import ast
import itertools
import math
import warnings

import pytest
import torch
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence

from tests.figures.torch_cases import MANY, compares, randn

pytestmark = [pytest.mark.twice, pytest.mark.usefixtures("repeatable")]
VALID = [
    dict(zip(("input_size", "hidden_size", "num_layers", "bias", "batch_first", "bidirectional", "proj_size"), values))
    for values in itertools.product((1, 3), (1, 2, 4), (1, 2, 3), *[(True, False)] * 3, (0, 1, 3))
    if values[-1] < values[1]
]


def error_as_dict(error):
    """Return a torch error as arithmetic.js has it, without the C++ location that some builds add."""
    return {"type": type(error).__name__, "message": str(error).split("\nException raised from")[0]}


def built(**options):
    """Return torch's LSTM, or its error, and its warning."""
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        try:
            layer = nn.LSTM(**options)
        except (ValueError, TypeError) as error:
            layer = error_as_dict(error)
    return layer, str(warned[0].message) if warned else None


@compares("lstmParameters", "countNumbers")
def test_lstm_parameters(ask):
    """Compare names, order, shapes and number of the parameters, for all combinations."""
    call = "of => [s.lstmParameters(of), s.countNumbers(s.lstmParameters(of)), s.lstmError(of), s.lstmWarning(of)]"
    ours = ask(call, [{**options, "dropout": 0} for options in VALID])
    for options, (parameters, count, *error_and_warning) in zip(VALID, ours, strict=True):
        layer = nn.LSTM(**options, device="meta")
        assert parameters == [[name, [*p.shape]] for name, p in layer.named_parameters()], options
        assert count == sum(p.numel() for p in layer.parameters())
        assert error_and_warning == [None, None], options


@compares("lstmShapes", "batchSizes")
def test_lstm_shapes(ask):
    """Compare the shapes of inputs and outputs, including packed sequences."""
    runs = []
    for options in VALID:
        for layout in ("batched", "unbatched", "packed"):
            T, N = torch.randint(1, 5, (2,)).tolist()
            lengths = sorted([T] + torch.randint(1, T + 1, (N - 1,)).tolist(), reverse=True)
            runs.append([options, {"layout": layout, "T": T, "N": N, "lengths": lengths}])
    ours = ask("([options, of]) => [s.lstmShapes(options, of), s.batchSizes(of.lengths)]", runs)
    for (options, of), (shapes, batch_sizes) in zip(runs, ours, strict=True):
        layer = nn.LSTM(**options)
        T, N, features = of["T"], of["N"], options["input_size"]
        x = torch.zeros(T, N, features)
        packed = pack_padded_sequence(x, of["lengths"])
        assert batch_sizes == packed.batch_sizes.tolist()
        if of["layout"] == "unbatched":
            x = x[:, 0]
        elif options["batch_first"]:
            x = x.transpose(0, 1)
        output, (h_n, c_n) = layer(packed if of["layout"] == "packed" else x)
        theirs = {"input": x, "output": output, "h_n": h_n, "c_n": c_n}
        if of["layout"] == "packed":
            theirs |= {"input": packed.data, "output": output.data}
        assert shapes == {name: [*tensor.shape] for name, tensor in theirs.items()}, (options, of)


@compares("lstmError", "lstmWarning")
def test_lstm_errors(ask):
    """Compare errors and warnings, for all combinations of valid and invalid values."""
    names = ("input_size", "hidden_size", "num_layers", "dropout", "proj_size")
    dropouts = (-0.1, 0.0, 0.05, 0.3, 1.0, 1.1)
    values = itertools.product((-1, 0, 1), (-1, 0, 1, 3), (-1, 0, 1, 2), dropouts, (-1, 0, 1, 3, 4))
    cases = [dict(zip(names, combination, strict=True)) for combination in values]
    ours = ask("of => [s.lstmError(of), s.lstmWarning(of)]", cases)
    valid = 0
    for options, (error, warning) in zip(cases, ours, strict=True):
        layer, warned = built(**options, device="meta")
        assert error == (layer if isinstance(layer, dict) else None), options
        assert warning == warned, options
        valid += error is None
    assert 10 < valid < len(cases) / 2 and len({str(error) for error, _ in ours}) == 7
    nan = ask("() => s.lstmError({ input_size: 1, hidden_size: 1, num_layers: 1, dropout: NaN, proj_size: 0 })", [0])
    assert nan == [built(input_size=1, hidden_size=1, dropout=math.nan)[0]]


@compares("packError")
def test_pack_errors(ask):
    """Compare errors for up to four lengths, in all orders."""
    cases = [lengths for N in (1, 2, 3, 4) for lengths in itertools.product(range(5), repeat=N)]
    for lengths, ours in zip(cases, ask("lengths => s.packError(lengths)", cases), strict=True):
        try:
            theirs = pack_padded_sequence(torch.zeros(max(lengths), len(lengths), 1), lengths) and None
        except (RuntimeError, ValueError) as error:
            theirs = error_as_dict(error)
        assert ours == theirs, lengths


@compares("pythonFloat")
def test_python_float(ask):
    values = [0.0, 1.0, -2.0, 100.0, 0.1, 1e-4, 1e-5, 12e-8, 1e16, 1.5e17, 1e22, -1e-300, 123456789012345680.0]
    values += [value * 10**e for value, e in zip(randn(MANY).tolist(), itertools.cycle(range(-20, 20)), strict=False)]
    values += [k / 20 for k in range(-20, 40)]
    assert ask("value => s.pythonFloat(value)", values) == [*map(repr, values)]


@compares("pythonLiteral")
def test_python_literal(ask):
    values = [True, False, 0, 7, -3, 0.5, *(k / 20 for k in range(1, 20)), "tanh", 'a "b" \\ c\n', "門"]
    written = ask("value => s.pythonLiteral(value)", values)
    assert [ast.literal_eval(literal) for literal in written] == values
    assert [type(ast.literal_eval(literal)) for literal in written] == [*map(type, values)]
    assert written[:-3] == [*map(repr, values[:-3])]
