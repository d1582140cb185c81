"""Answers to the question `gru_layer`."""

from torch import nn

import companion
from companion.check.engine.question import all_questions
from tests.check.answers import changed
from tests.check.answers.gru.gru_step import STEP, STEP_WRONG, cut
from tests.check.answers.gru.pairs import program

LAYER = """
class GRU(nn.Module):
    def __init__(self, input_size, hidden_size):
        super(GRU, self).__init__()
        self.input_size, self.hidden_size = input_size, hidden_size
        self.weight_ih_l0 = nn.Parameter(torch.zeros(3 * hidden_size, input_size))
        self.weight_hh_l0 = nn.Parameter(torch.zeros(3 * hidden_size, hidden_size))
        self.bias_ih_l0 = nn.Parameter(torch.zeros(3 * hidden_size))
        self.bias_hh_l0 = nn.Parameter(torch.zeros(3 * hidden_size))
        self.state = None

    def forward(self, input, h_0=None):
        T, N, _ = input.shape
        if h_0 is None:
            h_0 = torch.zeros(1, N, self.hidden_size)
        h = h_0.squeeze(0)
        steps = []
        for t in range(T):
            h = gru_step(input[t], h, self.weight_ih_l0, self.weight_hh_l0, self.bias_ih_l0, self.bias_hh_l0)
            steps += [h]
        out = torch.cat([s[None] for s in steps])
        return out, h[None]
"""
FIRST, TIMES, LAST, KEEP = "h = h_0.squeeze(0)", "range(T)", "h[None]", "steps += [h]"
OUT = "torch.cat([s[None] for s in steps])"
ZEROS, NEXT = "torch.zeros(1, N, self.hidden_size)", "gru_step(input[t], h, "
SWAPPED = [("T, N, _", "N, T, _"), ("input[t]", "input[:, t]")]
LAYER_WRONG = {
    "h_n_without_layer": [(LAST, "h")],
    "only_output_returned": [(f"return out, {LAST}", "return out")],
    "results_swapped": [(f"return out, {LAST}", f"return {LAST}, out")],
    "state_is_a_pair": [(f"return out, {LAST}", f"return out, ({LAST}, {LAST})")],
    "state_read_as_pair": [(f"h_0 = {ZEROS}", "h_0 = (torch.zeros(N, self.hidden_size),) * 2"), (FIRST, "h, c = h_0")],
    "output_only_last": [(OUT, "steps[-1]")],
    "output_concatenated": [(OUT, "torch.cat(steps)")],
    "output_not_stacked": [(OUT, "steps")],
    "output_always_batch_first": [(OUT, "torch.stack(steps, 1)")],
    "input_always_batch_first": SWAPPED,
    "all_batch_first": [*SWAPPED, (OUT, "torch.stack(steps, dim=1)")],
    "h_n_always_batch_first": [(LAST, "h.unsqueeze(1)")],
    "h_n_is_output": [(LAST, "out")],
    "h_n_is_h_0": [(LAST, "h_0")],
    "h_n_from_last_row": [(LAST, "out[:, -1, :]")],
    "h_n_from_first_step": [(LAST, "out[0:1]")],
    "layer_in_output": [(FIRST, "h = h_0"), ("return out, h[None]", "return out, h"),
                        ("H = h.shape[1]", "H = h.shape[-1]"), ("[:, :H]", "[..., :H]"), ("[:, H:2*H]", "[..., H:2*H]"),
                        ("[:, 2*H:]", "[..., 2*H:]")],
    "state_not_carried": [(NEXT, "gru_step(input[t], h_0[0], ")],
    "given_state_ignored": [("if h_0 is None:", "if True:")],
    "first_input_only": [("input[t]", "input[0]")],
    "first_step_missing": [(TIMES, "range(1, T)")],
    "last_step_missing": [(TIMES, "range(T - 1)")],
    "time_reversed": [(TIMES, "reversed(range(T))")],
    "output_reversed": [(KEEP, "steps.insert(0, h)")],
    "output_one_early": [(KEEP, ""), ("            h = gru", "            steps.append(h)\n            h = gru")],
    "output_with_h_0": [("steps = []", "steps = [h]")],
    "one_bias": [("        self.bias_hh_l0 = nn.Parameter(torch.zeros(3 * hidden_size))\n", ""),
                 ("self.bias_hh_l0)", "torch.zeros(3 * self.hidden_size))")],
    "no_bias": [("        self.bias_hh_l0 = nn.Parameter(torch.zeros(3 * hidden_size))\n", ""),
                ("        self.bias_ih_l0 = nn.Parameter(torch.zeros(3 * hidden_size))\n", ""),
                ("self.bias_ih_l0, self.bias_hh_l0)", "0 * self.weight_hh_l0[:, 0], 0 * self.weight_hh_l0[:, 0])")],
    "weights_transposed": [("3 * hidden_size, input_size", "input_size, 3 * hidden_size"),
                           ("3 * hidden_size, hidden_size", "hidden_size, 3 * hidden_size"),
                           ("self.weight_ih_l0, self.weight_hh_l0", "self.weight_ih_l0.t(), self.weight_hh_l0.t()")],
    "default_state_missing": [("        if h_0 is None:\n            h_0 = torch.zeros(1, N, self.hidden_size)\n", ""),
                              (FIRST, "h = h_0[0]")],
    "default_state_ones": [(ZEROS, "input.new_ones(1, N, self.hidden_size)")],
    "default_state_random": [("torch.zeros(1, N", "torch.randn(1, N")],
    "state_kept_between_calls": [(ZEROS, f"{ZEROS} if self.state is None else self.state"),
                                 ("        return", "        self.state = h[None]\n        return")],
    "state_detached_each_step": [(NEXT, "gru_step(input[t], h.data, ")],
    "output_detached": [(KEEP, "steps += [h.detach()]")],
    "h_n_detached": [(LAST, "h[None].detach()")],
    "h_0_detached": [(FIRST, "h = h_0.squeeze(0).data")],
    "not_torchs_order": cut("nzr"),
} | STEP_WRONG  # fmt: skip

RIGHT = {
    "parameters registered by name, a module inside that has none": [
        (LAYER[LAYER.index("        self.weight_ih_l0") : LAYER.index("        self.state")], """\
        self.inside = nn.Identity()
        for name, shape in dict(weight_ih=(input_size,), weight_hh=(hidden_size,), bias_ih=(), bias_hh=()).items():
            self.register_parameter(f"{name}_l0", nn.Parameter(torch.randn(3 * hidden_size, *shape)))
"""),
    ],
    "an output that is filled, a buffer, a list returned": [
        ("self.state = None", "self.register_buffer('zero', torch.zeros(1))"),
        (ZEROS, "self.zero.expand(1, N, self.hidden_size)"),
        ("steps = []", "out = torch.zeros(T, N, self.hidden_size)"), (KEEP, "out[t] = h"),
        (f"        out = {OUT}\n", ""),
        ("return out, h[None]", "return [out, out[-1:]]"),
    ],
    "rows put into another order for one's own step": [
        *cut("nzr"), ("self.weight_ih_l0, self.weight_hh_l0, self.bias_ih_l0, self.bias_hh_l0)",
                      "*(torch.cat(w.chunk(3)[::-1]) for w in self.parameters()))"),
    ],
}  # fmt: skip

# Inner layers have other parameter names, which are reported together with other mistakes.
LINEARS = """
        self.h2h, self.x2h = nn.Linear(hidden_size, 3 * hidden_size), nn.Linear(input_size, 3 * hidden_size)
"""
OTHER_NAMES = STEP + changed(
    LAYER[: LAYER.index("        self.weight_ih_l0")] + LINEARS + LAYER[LAYER.index("    def forward") :],
    ("self.weight_ih_l0, self.weight_hh_l0, self.bias_ih_l0, self.bias_hh_l0",
     "self.x2h.weight, self.h2h.weight, self.x2h.bias, self.h2h.bias"),
)  # fmt: skip

PROGRAM = program("gru_layer", STEP + LAYER, LAYER_WRONG, [
    ("library_layer", nn.GRU),
    ("library_layer", companion.GRU),
    ("library_layer", all_questions()["gru_layer"].reference(frozenset())),
    ("parameter_names", OTHER_NAMES),
    (("update_gate_inverted", "parameter_names"), changed(OTHER_NAMES, *STEP_WRONG["update_gate_inverted"])),
], RIGHT)  # fmt: skip
