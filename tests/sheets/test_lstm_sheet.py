"""Test the sheet on `nn.LSTM`: each shape and count against torch, each call by running it."""

import inspect
import itertools
import re

import pytest
import torch
from bs4 import BeautifulSoup
from torch import nn

from book.sheets import chapters, lstm
from book.sheets.calls import calls
from book.sheets.document import make, read_words

CALLS = {call.name: call for call in calls()}
CONFIGURATIONS = list(itertools.product((1, 2, 3), (False, True), (0, 4), (False, True)))
# What the wrong lines raise; the others raise nothing.
RAISED = {"tuple": TypeError, "batch": RuntimeError, "graph": RuntimeError}


def tensors_of(layer, x):
    """Return each tensor's shape, by the names of the sheet."""
    output, (h_n, c_n) = layer(x)
    named = {"input": x, "output": output, "h_0": h_n, "h_n": h_n, "c_0": c_n, "c_n": c_n}
    return {name: tuple(tensor.shape) for name, tensor in (named | layer.state_dict()).items()}


def expanded(names, layers):
    """Return the names of all tensors of a row: "bias_ih_l0, _lk" has one for each layer."""
    names = names.split(", ")
    names = [name if name[0] != "_" else names[0].replace("_l0", name) for name in names]
    return [name.replace("lk", f"l{k}") for name in names for k in (range(1, layers) if name.endswith("lk") else [0])]


@pytest.mark.parametrize(("layers", "both_ways", "projection", "batch_first"), CONFIGURATIONS)
def test_every_row_of_shapes_is_that_of_torch(layers, both_ways, projection, batch_first):
    options = {"num_layers": layers, "bidirectional": both_ways, "proj_size": projection, "batch_first": batch_first}
    layer = nn.LSTM(3, 6, **options, dtype=torch.float64)
    x = torch.zeros(*((2, 7) if batch_first else (7, 2)), 3, dtype=torch.float64)
    shapes = tensors_of(layer, x)
    values = {"T": 7, "B": 2, "I": 3, "H": 6, "L": layers, "D": 1 + both_ways, "P": projection, "R": projection or 6}
    seen = set()
    for names, shape in (lstm.RESULTS | lstm.WEIGHTS).items():
        if batch_first and names in ("input", "output"):
            shape = shape.replace("T B", "B T")
        for name in expanded(names, layers):
            if name.startswith("weight_hr") and not projection:
                assert name not in shapes
                continue
            for full in (name, f"{name}_reverse") if both_ways and "_l" in name else (name,):
                assert lstm.evaluate(shape, values) == shapes[full], full
                seen.add(full)
    assert seen == set(shapes), "the sheet lacks a tensor"


def test_a_single_sequence_has_no_batch():
    layer = nn.LSTM(3, 6, 2)
    shapes = tensors_of(layer, torch.zeros(7, 3))
    values = {"T": 7, "I": 3, "H": 6, "L": 2, "D": 1, "R": 6}
    for names, shape in lstm.RESULTS.items():
        for name in names.split(", "):
            assert lstm.evaluate(shape.replace("B ", ""), values) == shapes[name]


def test_the_table_shows_the_general_shape_and_the_examples():
    rows = {names: (shape, *shapes) for table in lstm.facts("en")["tables"] for names, shape, shapes in table}
    assert rows["h_0, h_n"] == ("(D·L, B, R)", (2, 3, 20), (4, 3, 5))
    assert rows["bias_ih_l0, _lk"] == ("(4·H,)", (80,), (80,))
    assert rows["weight_hr_l0, _lk"] == ("(P, H)", None, (5, 20))
    shown = chapters.output("lstm_parameters#look")  # the chapter's first example
    assert f"weight_ih_l1          {rows['weight_ih_lk'][1]}" in shown
    for name, options in lstm.EXAMPLES.items():
        assert eval(f"dict({name.partition(', ')[2] if '…' in name else ''})") == options
    first = next(iter(lstm.EXAMPLES))
    assert [parameter.shape for parameter in eval(first).parameters()] == [
        parameter.shape for parameter in nn.LSTM(*lstm.SIZES).parameters()
    ]


def test_the_signature_has_every_argument_of_torch():
    accepted = dict(inspect.signature(nn.RNNBase.__init__).parameters)
    for name in ("self", "mode", "device", "dtype"):
        del accepted[name]
    assert list(lstm.arguments()) == list(accepted)
    chapter = re.sub(r"\s+", " ", chapters.source("lstm_parameters#title"))
    assert lstm.signature() in chapter
    layer = nn.LSTM(3, 6)  # the defaults are those that a layer has
    for name, default in lstm.arguments().items():
        assert default is None or repr(getattr(layer, name)) == default


def test_the_rows_of_each_gate_are_where_the_sheet_says():
    """Compute a step from slices of the weights by the chapter's equations, gate by gate."""
    H, layer = 6, nn.LSTM(3, 6, dtype=torch.float64)
    x, h, c = torch.randn(3).double(), torch.randn(6).double(), torch.randn(6).double()
    sums = layer.weight_ih_l0 @ x + layer.bias_ih_l0 + layer.weight_hh_l0 @ h + layer.bias_hh_l0
    gates = {}
    for gate, rows in lstm.facts("en")["gates"].items():
        first, last = (int(re.sub("^H", "1H", text).replace("H", "") or 0) * H for text in rows.split(":"))
        gates[gate] = torch.tanh(sums[first:last]) if gate == "g" else torch.sigmoid(sums[first:last])
    c_new = gates["f"] * c + gates["i"] * gates["g"]
    _, (h_n, c_n) = layer(x[None], (h[None], c[None]))
    torch.testing.assert_close(c_n[0], c_new)
    torch.testing.assert_close(h_n[0], gates["o"] * c_new.tanh())
    for gate in "ifgo":
        assert f"{gate}_t &=" in lstm.facts("en")["equations"]


def test_rows_of_h_n_sit_where_the_sheet_says():
    for both_ways, projection in itertools.product((False, True), (0, 4)):
        layer = nn.LSTM(3, 6, 3, bidirectional=both_ways, proj_size=projection, dtype=torch.float64)
        output, (h_n, _) = layer(torch.randn(7, 2, 3).double())
        D, R, top = 1 + both_ways, projection or 6, 2
        assert h_n[D * top].equal(output[-1, :, :R])
        if both_ways:
            assert h_n[2 * top + 1].equal(output[0, :, R:])


def test_the_counts_are_those_of_torch():
    lines, total = lstm.counted()
    for layer, terms in lines:
        left, right = terms.replace(",", "").replace("·", "*").split(" = ")
        own = [p.numel() for name, p in nn.LSTM(*lstm.SIZES).named_parameters() if name.endswith(f"l{layer}")]
        assert eval(left) == int(right) == sum(own)
    assert int(total.replace(",", "")) == sum(p.numel() for p in nn.LSTM(*lstm.SIZES).parameters())
    tex = lstm.facts("en")["count_formula"]
    assert tex.replace(" ", "") == r"D\,\bigl(4H\,I_l+4H\,R+4H\,B+H\,P\bigr)"
    for both_ways, projection, bias in itertools.product((False, True), (0, 4), (False, True)):
        layer = nn.LSTM(3, 6, 3, bias=bias, bidirectional=both_ways, proj_size=projection)
        D, R, B = 1 + both_ways, projection or 6, 2 * bias
        count = sum(D * (24 * (D * R if k else 3) + 24 * R + 24 * B + 6 * projection) for k in range(3))
        assert count == sum(p.numel() for p in layer.parameters())


@pytest.mark.parametrize("name", CALLS)
def test_wrong_lines_fail_as_the_sheet_says_and_right_ones_do_not(name):
    call = CALLS[name]
    assert call.run(call.right)[0] is None
    error, _ = call.run(call.wrong)
    assert (type(error) if error else None) == RAISED.get(name)
    assert bool(call.message) == (name in RAISED)
    if error:
        outputs = [chapters.output(f"complaints#{cell}") for cell in chapters.cells("en", "complaints")]
        told = re.sub(r"\s+", " ", " ".join(outputs))
        assert call.message.removesuffix(" …") in told, "the chapter has another message"


def moved(call, lines, name, change):
    """Return which numbers of a result differ if the input is changed."""
    _, before = call.run(lines)
    x = before["x"].clone()
    change(x)
    _, after = call.run(lines, x=x)
    return before[name] != after[name]


def test_the_wrong_layout_mixes_sequences_and_the_right_one_does_not():
    call = CALLS["layout"]

    def change(x):
        x[0] += 1  # the first of three sequences

    assert moved(call, call.wrong, "output", change)[1:].any()
    right = moved(call, call.right, "output", change)
    assert right[0].any() and not right[1:].any()


def test_the_wrong_summary_does_not_notice_the_first_element_in_its_backward_half():
    call = CALLS["summary"]

    def change(x):
        x[:-1] += 1  # all but the last element

    wrong, right = (moved(call, lines, "summary", change) for lines in (call.wrong, call.right))
    assert wrong[:, :5].all() and not wrong[:, 5:].any()
    assert right.all()


def test_every_call_and_argument_has_words():
    for language in ("en", "ja", "ko", "zh"):
        words = read_words(language)["lstm"]
        assert list(words["calls"]) == list(CALLS) and list(words["arguments"]) == list(lstm.arguments())
        assert set(words["gates"]) == set(lstm.GATES)


@pytest.mark.filterwarnings("ignore:path is deprecated:DeprecationWarning")  # by the package with the formulas' font
def test_comments_in_calls_are_in_the_language_of_the_sheet():
    names = {name for call in CALLS.values() for name in re.findall(r"\{(\w+)\}", call.wrong + call.right)}
    for language in ("en", "ja", "ko", "zh"):
        comments = read_words(language)["lstm"]["comments"]
        assert set(comments) == names
        shown = BeautifulSoup(make("lstm", language), "html.parser").select(".calls pre")
        told = [line.partition("# ")[2] for pre in shown for line in pre.get_text().splitlines() if "# " in line]
        assert set(told) == set(comments.values())


def test_with_a_projection_the_last_equation_is_what_the_sheet_says():
    layer = nn.LSTM(3, 6, proj_size=4, dtype=torch.float64)
    x, h, c = torch.randn(3).double(), torch.randn(4).double(), torch.randn(6).double()
    sums = layer.weight_ih_l0 @ x + layer.bias_ih_l0 + layer.weight_hh_l0 @ h + layer.bias_hh_l0
    _, (h_n, c_n) = layer(x[None], (h[None], c[None]))
    torch.testing.assert_close(h_n[0], layer.weight_hr_l0 @ (sums.chunk(4)[3].sigmoid() * c_n[0].tanh()))
    for language in ("en", "ja", "ko", "zh"):
        assert r"$h_t = W_{hr}\,(o_t \odot \tanh c_t)$" in read_words(language)["lstm"]["order"]
