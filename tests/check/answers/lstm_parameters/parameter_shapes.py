"""Answers to the question `parameter_shapes`, as a literal dictionary."""

import torch

import companion
from companion.check.engine.question import all_questions
from tests.check.answers import Program

SHAPES = """
def parameter_shapes(input_size, hidden_size, num_layers, bias, bidirectional, proj_size):
    shapes = {}
    size = proj_size if proj_size > 0 else hidden_size
    directions = 2 if bidirectional else 1
    for k in range(num_layers):
        columns = input_size if k == 0 else size * directions
        for reverse in ["", "_reverse"][:directions]:
            end = f"_l{k}{reverse}"
            shapes["weight_ih" + end] = (4 * hidden_size, columns)
            shapes["weight_hh" + end] = (4 * hidden_size, size)
            if bias:
                shapes["bias_ih" + end] = (4 * hidden_size,)
                shapes["bias_hh" + end] = (4 * hidden_size,)
            if proj_size > 0:
                shapes["weight_hr" + end] = (proj_size, hidden_size)
    return shapes
"""

SHAPES_WRONG = {
    "upper_layers_read_input": [("input_size if k == 0 else size * directions", "input_size")],
    "upper_layers_read_one_direction": [("size * directions", "size")],
    "input_doubled": [("input_size if", "input_size * directions if")],
    "weight_hh_doubled": [("hidden_size, size)", "hidden_size, size * directions)")],
    "rows_doubled": [("(4 * hidden_size", "(directions * 4 * hidden_size")],
    "reverse_weights_missing": [('["", "_reverse"][:directions]', '[""]')],
    "reverse_before_layer": [("_l{k}{reverse}", "{reverse}_l{k}")],
    "directions_counted_as_layers": [("_l{k}{reverse}", "_l{k * directions + (reverse != '')}")],
    "layers_counted_from_one": [("_l{k}", "_l{k + 1}")],
    "num_layers_ignored": [("range(num_layers)", "range(1)")],
    "layer_missing_in_names": [("_l{k}", "")],
    "one_gate": [("4 * ", "")],
    "three_gates": [("4 * ", "3 * ")],
    "weights_transposed": [("(4 * hidden_size, columns)", "(columns, 4 * hidden_size)"),
                           ("(4 * hidden_size, size)", "(size, 4 * hidden_size)")],
    "weights_ih_hh_swapped": [('"weight_ih"', '"weight_xx"'), ('"weight_hh"', '"weight_ih"'),
                              ('"weight_xx"', '"weight_hh"')],
    "one_bias": [('shapes["bias_hh" + end]', "_"), ("bias_ih", "bias")],
    "bias_always_there": [("if bias:", "if True:")],
    "bias_never_there": [("if bias:", "if False:")],
    "bias_has_two_dimensions": [("(4 * hidden_size,)", "(4 * hidden_size, 1)")],
    "bias_has_column_count": [("(4 * hidden_size,)", "(columns,)")],
    "shape_is_a_number": [("(4 * hidden_size,)", "(4 * hidden_size)")],
    "weight_hr_missing": [("if proj_size > 0:", "if False:")],
    "weight_hr_transposed": [("(proj_size, hidden_size)", "(hidden_size, proj_size)")],
    "weight_hr_has_four_gates": [("(proj_size, hidden_size)", "(4 * proj_size, hidden_size)")],
    "weight_hr_in_top_layer_only": [("if proj_size > 0:", "if proj_size > 0 and k == num_layers - 1:")],
    "weight_hr_always_there": [("if proj_size > 0:", "if True:")],
    "projection_with_bias": [("(proj_size, hidden_size)",
                              '(proj_size, hidden_size); shapes["bias_hr" + end] = (proj_size,)')],
    "projection_not_in_weight_hh": [("hidden_size, size)", "hidden_size, hidden_size)")],
    "projection_not_in_upper_layers": [("size * directions", "hidden_size * directions")],
    "projection_in_rows": [("4 * hidden_size", "4 * size")],
}  # fmt: skip

SHAPES_FLAT = """
def parameter_shapes(input_size, hidden_size, num_layers=1, bias=True, bidirectional=False, proj_size=0):
    G, R, D = 4 * hidden_size, proj_size or hidden_size, bidirectional + 1
    ends = [(k, end) for k in range(num_layers) for end in ("", "_reverse")[:D]]
    return dict(
        [(f"bias_{w}_l{k}{e}", [G]) for w in ("hh", "ih") for k, e in ends if bias]
        + [(f"weight_hr_l{k}{e}", torch.Size([R, hidden_size])) for k, e in ends if proj_size]
        + [(f"weight_hh_l{k}{e}", torch.empty(G, R).shape) for k, e in reversed(ends)]
        + [(f"weight_ih_l{k}{e}", (G, D * R if k else input_size)) for k, e in ends]
    )
"""


def shapes_of_a_layer(i, h, k, b, d, p):
    layer = companion.LSTM(i, h, k, b, bidirectional=d, proj_size=p)
    return {name: tuple(parameter.shape) for name, parameter in layer.named_parameters()}


PROGRAM = Program(SHAPES, SHAPES_WRONG, also_wrong=[
    ("one_bias", [('shapes["bias_hh" + end]', "_")]),
    ("bias_has_two_dimensions", [("(4 * hidden_size,)", "(1, 4 * hidden_size)")]),
    ("weight_hr_in_top_layer_only", [("if proj_size > 0:", "if proj_size > 0 and k == 0:")]),
    ("weight_hr_always_there", [("if proj_size > 0:", "if True:"), ("(proj_size, h", "(size, h")]),
    ("library_layer", all_questions()["parameter_shapes"].truth),
    ("library_layer", shapes_of_a_layer),
    ("returns_none", lambda *sizes: None),
    ("wrong_form", lambda *sizes: [("weight_ih_l0", (4, 2))]),
    ("wrong_form", lambda *sizes: {"weight_ih_l0": torch.zeros(4, 2)}),
], also_right={
    "numpy's integers": [("    shapes = {}", "    shapes, hidden_size = {}, numpy.int64(hidden_size)")],
    "shapes in another order, lists and sizes": SHAPES_FLAT,
}, pairs=[
    ("upper_layers_read_one_direction", "layers_counted_from_one"),
    ("projection_not_in_weight_hh", "weight_hr_transposed"),
    ("weight_hr_missing", "one_gate"),
    ("bias_always_there", "shape_is_a_number"),
    ("upper_layers_read_input", "directions_counted_as_layers"),
])  # fmt: skip
