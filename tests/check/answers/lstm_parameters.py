"""Answers to the assignment `lstm_parameters`. All networks are changes of one program: that of lstm.py."""

import torch
from torch import nn

import companion
from companion.check.engine.question import all_questions
from tests.check.answers import Program, changed
from tests.check.answers.lstm import (
    BATCH_FIRST_WRONG,
    DEFAULTS_OTHERWISE,
    HOLD,
    LAST,
    LOOP_WRONG,
    NETWORK,
    NETWORK_WRONG,
    RUN,
    SAY,
    START,
    STEP_WRONG,
    TOP,
    network,
)

# The shapes: a student who writes down a dictionary

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

# A network takes its steps as `lstm` and `projected` do, whose answers make the other mistakes of a step.
SOME_STEPS_WRONG = {name: STEP_WRONG[name] for name in (
    "gates_f_i_g_o", "gates_i_f_o_g", "bias_ih_missing", "bias_hh_missing", "tanh_missing_on_g", "tanh_missing_on_c",
    "c_squashed", "recurrent_weights_transposed", "new_h_too_early",
)}  # fmt: skip

# Layers

END, CAT, UP = 'end = f"_l{k}" +', "torch.cat(sides, -1)", "if k + 1 < self.L:"
LAYERS_WRONG = {
    "upper_layers_read_input": [(" if k == 0 else R * self.D", ""),
                                ("layers.append(x)", "x = x if k + 1 == self.L else given")],
    "upper_layers_read_c": [("c, on, W", "c, on, top, W"), ("turn(on), *", "turn(on), k + 1 == self.L, *"),
                            (SAY, "said.append((h if top else c) * on[t])")],
    "first_layer_weights_everywhere": [(END, 'end = "_l0" +')],
    "layers_share_weights": [(END, 'end = ("_l1" if k else "_l0") +')],
    "first_state_for_all_layers": [(START, "h, c = h0[d], c0[d]")],
    "upper_layers_start_at_zero": [(START, f"{START}\n                h, c = (h, c) if k == 0 else (0 * h, 0 * c)")],
    "h_n_of_top_layer_only": [(LAST, "torch.stack(hs[-self.D:]), torch.stack(cs[-self.D:])")],
    "h_n_of_first_layer_only": [(LAST, "torch.stack(hs[:self.D]), torch.stack(cs[:self.D])")],
    "h_n_layers_reversed": [(LAST, "torch.stack(hs[::-1]), torch.stack(cs[::-1])")],
    "h_n_joined_by_cat": [(LAST, "torch.cat(hs), torch.cat(cs)")],
    "output_of_first_layer": [(TOP, "y, h_n, c_n = layers[0]")],
    "outputs_of_all_layers": [(TOP, "y, h_n, c_n = torch.cat(layers, 2)")],
    "layers_detached": [(UP, f"{UP}\n                x = x.detach()")],
    "relu_between_layers": [(UP, f"{UP}\n                x = x.relu()")],
    "tanh_between_layers": [(UP, f"{UP}\n                x = x.tanh()")],
    "input_added_between_layers": [
        (f"x = {CAT}", f"below, x = x, {CAT}\n            x = x + below if 0 < k < self.L - 1 else x"),
    ],
}  # fmt: skip

# Dropout, of whole sequences

DROP = "F.dropout(x, self.p, self.training)"
OF_NET = ("self.batch_first, self.p", "global net\n        net = self\n        self.batch_first, self.p")


def own_mask(mask, scale="/ (1 - self.p)"):
    return [(DROP, f"x * ({mask}).to(x) {scale} if self.training else x")]


DROPOUT_WRONG = {
    "dropout_ignored": [(DROP, "x")],
    "dropout_after_last_layer": [(UP, "if True:")],
    "dropout_in_evaluation": [("self.p, self.training", "self.p")],
    "dropout_on_input": [("h0, c0 = state", f"h0, c0 = state; x = {DROP}")],
    "dropout_between_steps": [
        (DROP, "x"),
        ("h = o * torch.tanh(c)", "h = F.dropout(o * torch.tanh(c), net.p, net.training)"),
        OF_NET,
    ],
    "dropout_in_states": [(f"x = {DROP}", f"x = {DROP}; hs[-1] = x[-1]")],
    "dropout_not_scaled": own_mask("torch.rand_like(x) > self.p", ""),
    "dropout_scales_in_evaluation": [
        (DROP, "x * (torch.rand_like(x) > self.p) if self.training else x * (1 - self.p)")
    ],
    "dropout_keeps_p": [("self.p, self.training", "1 - self.p if self.p else 0, self.training")],
    "dropout_mask_inverted": own_mask("torch.rand_like(x) < self.p if self.p else torch.ones_like(x)"),
    "dropout_without_seed": own_mask("torch.tensor(numpy.random.rand(*x.shape)) > self.p"),
    "dropout_shared_over_time": own_mask("torch.rand(N, x.shape[2]) > self.p"),
    "dropout_shared_over_batch": own_mask("torch.rand(T, 1, x.shape[2]) > self.p"),
    "dropout_shared_over_units": own_mask("torch.rand(T, N, 1) > self.p"),
}
STACKED = network("num_layers", "dropout")
STACKED_WRONG = LAYERS_WRONG | DROPOUT_WRONG | NETWORK_WRONG | SOME_STEPS_WRONG | {
    "state_passed_up": [(START, "h, c = (h0[0], c0[0]) if k == 0 else (h, c)")],
}  # fmt: skip
del STACKED_WRONG["h_n_without_layer"]

# Two directions

BOTH = [("R * self.D", "R")]
DIRECTIONS_WRONG = {
    "backward_not_flipped": [("append(turn(side))", "append(side)")],
    "backward_reads_forwards": [("z.flip(0)", "z")],
    "flipped_over_batch": [("flip(0)", "flip(1)")],
    "flipped_over_features": [("flip(0)", "flip(2)")],
    "directions_share_weights": [(' + "_reverse" * d', "")],
    "reverse_weights_missing": [('["", "_reverse"][:self.D]', '[""]'), (' + "_reverse" * d', "")],
    "backward_starts_from_forward": [(START, "h, c = (h, c) if d else (h0[2 * k], c0[2 * k])")],
    "directions_share_state": [(START, "h, c = h0[k * self.D], c0[k * self.D]")],
    "directions_before_layers": [(START, "h, c = h0[d * self.L + k], c0[d * self.L + k]"),
                                 (LAST, "torch.stack(hs[::2] + hs[1::2]), torch.stack(cs[::2] + cs[1::2])")],
    "h_n_backward_first": [("hs.append(h)", "hs.insert(len(hs) - d, h)"), ("cs.append(c)",
    "cs.insert(len(cs) - d, c)")],
    "backward_h_n_from_output_last": [("hs.append(h)", "hs.append(sides[1][-1] if d else h)")],
    "h_n_of_forward_only": [("hs.append(h)", "hs += [h] * (1 - d)"), ("cs.append(c)", "cs += [c] * (1 - d)")],
    "h_n_directions_joined": [
        (LAST, "*(torch.stack([torch.cat(one[2*k:2*k+2], 1) for k in range(self.L)]) for one in (hs, cs))"),
    ],
    "output_backward_first": [(CAT, "torch.cat(sides[::-1], -1)")],
    "output_interleaved": [(CAT, "torch.stack(sides, 3).flatten(2)")],
    "output_of_forward_only": [(CAT, "sides[0]")],
    "directions_added": [*BOTH, (CAT, "sum(sides)")],
    "directions_averaged": [*BOTH, (CAT, "sum(sides) / 2")],
    "directions_kept_apart": [*BOTH, ("h0, c0 = state", "h0, c0 = state; sides = [x, x]"), ("turn(x)",
    "turn(below[d])"),
                              ("            sides = []", "            below, sides = sides, []")],
    "directions_joined_over_time": [(CAT, "torch.cat(sides)")],
    "directions_joined_over_batch": [(CAT, "torch.cat(sides, 1)")],
    "upper_layers_read_forward_only": [*BOTH, (f"x = {CAT}", f"x, both = sides[0], {CAT}"), (TOP,
    "y, h_n, c_n = both")],
}  # fmt: skip
BIDIRECTIONAL = network("num_layers", bidirectional=True)
BIDIRECTIONAL_WRONG = LAYERS_WRONG | DIRECTIONS_WRONG | NETWORK_WRONG | SOME_STEPS_WRONG | {
    "upper_layers_read_one_direction": BOTH,
}  # fmt: skip
del BIDIRECTIONAL_WRONG["h_n_without_layer"]

# A projection

PROJECT, DONE = "        if torch.is_tensor(V):\n            h = h @ V.T\n", "return torch.stack(said), h, c"
AFTER_LAYER = [("(4 * H, R)", "(4 * H, H)"), ("N, self.R)", "N, self.H)"), (PROJECT, "")]
# h and c differ in size: zeros are not exchanged, else no call would return
EXCHANGED = [
    ("        h0, c0 = state", "        else:\n            state = state[1], state[0]\n        h0, c0 = state")
]
PROJECTION_WRONG = {
    "projection_after_layer": [*AFTER_LAYER, (DONE, "return torch.stack(said) @ V.T, h, c")],
    "output_not_projected": [(f"        {SAY}\n", ""), (PROJECT, f"        {SAY}\n{PROJECT}")],
    "weight_hr_missing": [('shapes += [("weight_hr", (R, H))]', "pass"), ("proj_size or hidden_size", "hidden_size")],
    "weight_hr_transposed": [("(R, H)", "(H, R)"), ("V.T", "V")],
    "projection_in_rows": [("(4 * H", "(4 * R"), (PROJECT, ""), ("N, self.H)", "N, self.R)")],
    "projection_by_view": [("V.T", "V.view(V.shape[1], -1)")],
    "projection_of_c": [("h @ V.T", "c @ V.T")],
    "projection_squashed": [("h @ V.T", "torch.tanh(h @ V.T)")],
    "c_n_projected": [(DONE, "return torch.stack(said), h, c @ V.T")],
    "default_state_size": [("N, self.R)", "N, self.H)")],
}
PROJECTED = network("proj_size")
PROJECTED_WRONG = STEP_WRONG | NETWORK_WRONG | PROJECTION_WRONG | {
    "state_read_as_c_h": EXCHANGED, "state_swapped": [*EXCHANGED, ("(h_n, c_n)", "(c_n, h_n)")],
}  # fmt: skip
for name in ("recurrent_weights_transposed", "new_h_too_early"):  # only where weight_hh is square
    del PROJECTED_WRONG[name]

# Lengths: a student who sorts, although a mask would do

PACKED = (
    RUN
    + """
def lstm_packed(x, lengths, h0, c0, W, U, b1, b2):
    state = h0, c0
    h0, c0 = state
    order = torch.argsort(lengths, descending=True)
    back = torch.argsort(order)
    x, lengths = x[:, order], lengths[order]
    T, N, _ = x.shape
    on = torch.arange(T)[:, None, None] < lengths[:, None]
    x, h, c = run(x, h0[0][order], c0[0][order], on, W, U, b1, b2)
    y, h_n, c_n = x[:, back], h[back][None], c[back][None]
    return y, (h_n, c_n)
"""
)
MASK, ENDS = "torch.arange(T)[:, None, None] < lengths[:, None]", "h[back][None], c[back][None]"
PACKED_WRONG = SOME_STEPS_WRONG | LOOP_WRONG | {
    "packed_ignores_lengths": [(MASK, "torch.ones(T, N, 1) > 0")],
    "h_n_after_padding": [(HOLD, "pass")],
    "output_runs_into_padding": [("h * on[t]", "h")],
    "output_repeats_last": [(f"        {SAY}\n", ""), (HOLD, f"{HOLD}\n        said.append(h)")],
    "padding_zeroed_and_read": [("step(x[t]", "step(x[t] * on[t]"), (HOLD, "pass")],
    "h_n_from_padded_output": [(ENDS, "x[-1:, back], c[back][None]")],
    "state_zeroed_in_padding": [(HOLD, "h, c = h * on[t], c * on[t]")],
    "h_not_held": [(HOLD, "c = torch.where(on[t], c, old_c)")],
    "c_not_held": [(HOLD, "h = torch.where(on[t], h, old_h)")],
    "one_step_too_many": [("< lengths", "<= lengths")],
    "one_step_too_few": [(MASK, f"{MASK} - 1")],
    "padding_expected_first": [(MASK, "torch.arange(T)[:, None, None] >= T - lengths[:, None]")],
    "cut_to_shortest": [("< lengths[:, None]", "< lengths.min()")],
    "h_n_without_layer": [("[back][None]", "[back]")],
    "input_always_batch_first": [(
        "    order = torch.argsort(lengths, descending=True)\n    back = torch.argsort(order)\n",
        "    order = back = slice(None)\n    x = x.transpose(0, 1)\n",
    )],
    "output_only_last": [("return y", "return y[-1]")],
    "output_always_batch_first": [("return y", "return y.transpose(0, 1)")],
    "batch_left_sorted": [("torch.argsort(order)", "slice(None)")],
    "h_n_left_sorted": [(ENDS, "h[None], c[None]")],
    "output_left_sorted": [("x[:, back]", "x")],
    "sorted_twice": [("torch.argsort(order)", "order")],
    "states_not_sorted": [("h0[0][order], c0[0][order]", "h0[0], c0[0]")],
}  # fmt: skip

# All at once

OF_PARTS = STACKED_WRONG | BIDIRECTIONAL_WRONG | PROJECTED_WRONG
ALL_WRONG = BATCH_FIRST_WRONG | {name: OF_PARTS[name] for name in (
    "upper_layers_read_one_direction", "dropout_ignored", "dropout_after_last_layer", "dropout_in_evaluation",
    "dropout_on_input", "dropout_without_seed", "dropout_shared_over_batch", "directions_share_weights",
    "directions_share_state", "backward_reads_forwards", "h_n_backward_first", "output_backward_first",
    "projection_of_c", "projection_squashed", "default_state_size", "upper_layers_start_at_zero", "tanh_between_layers",
    "gates_f_i_g_o", "bias_hh_missing", "tanh_missing_on_c", "state_returned_as_c_h", "state_detached_each_step",
)} | {
    "h_n_after_padding": [(HOLD, "pass")],
    "backward_starts_in_padding": [("turn(on)", "turn(on) | bool(d)")],
    "packed_ignores_lengths": [("(lengths[:, None] if packed else T)", "T")],
    "projection_not_in_upper_layers": [("R * self.D", "H * self.D")],
    "projection_not_in_weight_hh": [("(4 * H, R)", "(4 * H, H)")],
    "output_not_packed": [("y = pack_padded_sequence(y, lengths, enforce_sorted=False)", "pass")],
    "states_not_sorted": [
        ("h0, c0 = state", "h0, c0 = [s[:, packed.unsorted_indices] for s in state] if packed else state"),
    ],
    "h_n_left_sorted": [("y = pack_",
    "h_n, c_n = h_n[:, packed.sorted_indices], c_n[:, packed.sorted_indices]; y = pack_")],
}  # fmt: skip

# Right, and written otherwise

SUM = "a = x @ W.T + b1 + h @ U.T + b2"
IN_FLOAT32 = [(SUM, f"x, h, W, U, b1, b2 = (torch.as_tensor(one).float() for one in (x, h, W, U, b1, b2))\n    {SUM}")]
OWN_MASK = own_mask("torch.rand_like(x) >= self.p")
EACH_STEP = [(DROP, "torch.stack([F.dropout(s, self.p, self.training) for s in x])")]

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

WITH_PACKED_DATA = """
def lstm_packed(x, lengths, h0, c0, *weights):
    W, U, b, d = weights
    data, sizes, order, back = pack_padded_sequence(x, lengths, enforce_sorted=False)
    h, c = h0[0, order], c0[0, order]
    said, start = [], 0
    for n in sizes.tolist():
        i, f, g, o = (F.linear(data[start:start + n], W, b) + F.linear(h[:n], U, d)).chunk(4, -1)
        new_c = f.sigmoid() * c[:n] + i.sigmoid() * g.tanh()
        new_h = o.sigmoid() * new_c.tanh()
        h, c = torch.cat([new_h, h[n:]]), torch.cat([new_c, c[n:]])
        said.append(new_h)
        start += n
    y, _ = pad_packed_sequence(PackedSequence(torch.cat(said), sizes, order, back))
    return y, (h[back][None], c[back][None])
"""


class Wrapped(nn.Module):
    def __init__(self, input_size, hidden_size, num_layers, dropout):
        super().__init__()
        self.inner = companion.LSTM(input_size, hidden_size, num_layers, dropout=dropout)
        for name, parameter in [*self.inner.named_parameters()]:
            setattr(self, name, parameter)

    def forward(self, x, state=None):
        return self.inner(x, state)


def shapes_of_a_layer(i, h, k, b, d, p):
    layer = companion.LSTM(i, h, k, b, bidirectional=d, proj_size=p)
    return {name: tuple(parameter.shape) for name, parameter in layer.named_parameters()}


def of_modules(source, made, taken):
    """Return a network whose parameters are those of modules in it. made: how; taken: the weights of a side of a
    layer."""
    return changed(
        source,
        (NETWORK[NETWORK.index("        for k in range(num_layers)") : NETWORK.index("\n    def forward")], made),
        (NETWORK[NETWORK.index("                end =") : NETWORK.index("                side, h")], ""),
        ("*[weights.get(name, 0) for name in names]", taken),
    )


FUSED = of_modules(STACKED, """
        self.cells = nn.ModuleList()
        for k in range(num_layers):
            cell = nn.Module()
            cell.h2h, cell.x2h = nn.Linear(H, 4 * H), nn.Linear(H if k else input_size, 4 * H)
            self.cells.append(cell)
""", "self.cells[k].x2h.weight, self.cells[k].h2h.weight, self.cells[k].x2h.bias, self.cells[k].h2h.bias")  # fmt: skip
FOUR_LINEARS = [
    ("cell.h2h, cell.x2h = nn.Linear(H, 4 * H), nn.Linear(H if k else input_size, 4 * H)",
     "cell.gates = nn.ModuleList([nn.Linear((H if k else input_size) + H, H) for _ in range(4)])"),
]  # fmt: skip


def libraries(question):
    """Return answers that are a library's: the truth, and the reference."""
    asked = all_questions()[question]
    return [("library_layer", asked.truth), ("library_layer", asked.reference(frozenset()))]


ANSWERS = {
    "parameter_shapes": Program(SHAPES, SHAPES_WRONG, also_wrong=[
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
    ]),
    "stacked": Program(STACKED, STACKED_WRONG, also_wrong=[
        *DEFAULTS_OTHERWISE,
        ("upper_layers_read_input", [(" if k == 0 else R * self.D", ""), ("turn(x)", "turn(given)")]),
        ("given_state_ignored", [("h0, c0 = state", "h0, c0 = 0 * state[0], state[1]")]),
        ("state_detached_each_step", [("step(x[t], h, c,", "step(x[t], h.data, c.data,")]),
        ("dropout_keeps_p", [(DROP, "F.dropout(x, 1 - self.p, self.training)")]),
        ("dropout_between_steps", [
            ("step(x[t], h, c,", "step(x[t], F.dropout(h, net.p, net.training) if said else h, c,"), OF_NET,
            ("hs.append(h)", "hs.append(F.dropout(h, self.p, self.training))"),
        ]),
        *libraries("stacked"),
        ("library_layer", Wrapped),
        ("not_a_module", lambda *sizes: 3),
        ("parameter_names", FUSED),
        (("parameter_names", "gates_f_i_g_o"), changed(FUSED, *STEP_WRONG["gates_f_i_g_o"])),
        (("parameter_names", "dropout_after_last_layer"), changed(FUSED, *DROPOUT_WRONG["dropout_after_last_layer"])),
        ("gates_apart", changed(FUSED, *FOUR_LINEARS)),
    ], also_right={
        "in place": [(SUM, "a = (x @ W.T).add_(b1).add_(h @ U.T).add_(b2)")],
        "a buffer, parameters from the top": [
            ("H, R = self.H, self.R", "H, R = self.H, self.R\n        self.register_buffer('zero', torch.zeros(()))"),
            ("for k in range(num_layers)", "for k in reversed(range(num_layers))"),
        ],
        "an own mask": OWN_MASK,
        "a mask for each step": EACH_STEP,
        "in float32": IN_FLOAT32,
    }, pairs=[
        ("gates_f_i_g_o", "dropout_after_last_layer"),
        ("dropout_in_evaluation", "h_n_of_top_layer_only"),
        ("first_state_for_all_layers", "bias_hh_missing"),
        ("tanh_missing_on_c", "state_returned_as_c_h"),
        ("dropout_ignored", "h_n_layers_reversed"),
        ("relu_between_layers", "gates_i_f_o_g"),
    ], parts=("lstm",)),
    "bidirectional": Program(BIDIRECTIONAL, BIDIRECTIONAL_WRONG, also_wrong=[
        ("directions_share_state", [(START, "h, c = h0[k], c0[k]")]),
        ("directions_before_layers", DIRECTIONS_WRONG["directions_before_layers"][:1]),
        ("directions_before_layers", DIRECTIONS_WRONG["directions_before_layers"][1:]),
        ("directions_added", [(TOP, "y, h_n, c_n = sum(sides)")]),
        ("output_of_forward_only", [(TOP, "y, h_n, c_n = sides[0]")]),
        *libraries("bidirectional"),
    ], also_right={
        "written into place": [
            (f"x = {CAT}", "x = torch.empty(T, N, 2 * self.H); x[..., :self.H], x[..., self.H:] = sides"),
        ],
    }, pairs=[
        ("backward_not_flipped", "output_backward_first"),
        ("directions_share_weights", "gates_f_i_g_o"),
        ("h_n_backward_first", "tanh_missing_on_c"),
        ("directions_kept_apart", "bias_ih_missing"),
        ("backward_reads_forwards", "one_bias"),
        ("directions_added", "given_state_ignored"),
    ], parts=("lstm",)),
    "projected": Program(PROJECTED, PROJECTED_WRONG, also_wrong=[
        ("projection_after_layer", [*AFTER_LAYER, (DONE, "return torch.stack(said) @ V.T, h @ V.T, c")]),
        ("projection_squashed", [("h @ V.T", "torch.relu(h @ V.T)")]),
        ("state_read_as_c_h", [("h0, c0 = state", "c0, h0 = state")]),
        *libraries("projected"),
    ], also_right={
        "in float32": IN_FLOAT32,
    }, pairs=[
        ("projection_of_c", "gates_i_g_f_o"),
        ("weight_hr_transposed", "tanh_missing_on_g"),
        ("output_not_projected", "bias_hh_missing"),
        ("c_n_projected", "gates_f_i_g_o"),
    ]),
    "packed": Program(PACKED, PACKED_WRONG, also_wrong=[
        *libraries("packed"),
        ("returns_none", lambda *tensors: None),
    ], also_right={
        "the packed data": WITH_PACKED_DATA,
    }, pairs=[
        ("h_n_after_padding", "gates_f_i_g_o"),
        ("output_runs_into_padding", "c_not_held"),
        ("one_step_too_many", "bias_hh_missing"),
        ("state_zeroed_in_padding", "state_returned_as_c_h"),
        ("output_repeats_last", "tanh_missing_on_g"),
    ], parts=("lstm",)),
    "all_at_once": Program(network(), ALL_WRONG, also_wrong=[
        ("backward_reads_forwards", [("turn(x), h, c, turn(on)", "x, h, c, on")]),
        ("h_n_backward_first", [("hs.append(h)", "hs.insert(len(hs) - d, h)")]),
        ("backward_starts_in_padding", [("turn(on)", "turn(on) | bool(d)"), ("append(turn(side))",
        "append(turn(side) * on)")]),
        ("packed_ignores_lengths", [("T, N, _ = x.shape", "T, N, _ = x.shape\n        if packed: lengths[:] = T")]),
        *libraries("all_at_once"),
    ], also_right={
        "in float32": IN_FLOAT32,
    }, pairs=[
        ("h_0_batch_first", "dropout_after_last_layer"),
        ("output_not_packed", "gates_f_i_g_o"),
        ("backward_starts_in_padding", "h_n_backward_first"),
    ], parts=("stacked", "bidirectional", "projected")),
}  # fmt: skip
