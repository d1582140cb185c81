"""Answers to the question `stacked`, with dropout on whole sequences."""

from torch import nn

import companion
from tests.check.answers import Program, changed
from tests.check.answers.lstm.network import NETWORK, NETWORK_WRONG, START, network
from tests.check.answers.lstm.states import DEFAULTS_OTHERWISE
from tests.check.answers.lstm.step import STEP_WRONG
from tests.check.answers.lstm_parameters.layers import IN_FLOAT32, LAYERS_WRONG, SOME_STEPS_WRONG, SUM, UP, libraries

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
OWN_MASK = own_mask("torch.rand_like(x) >= self.p")
EACH_STEP = [(DROP, "torch.stack([F.dropout(s, self.p, self.training) for s in x])")]


class Wrapped(nn.Module):
    def __init__(self, input_size, hidden_size, num_layers, dropout):
        super().__init__()
        self.inner = companion.LSTM(input_size, hidden_size, num_layers, dropout=dropout)
        for name, parameter in [*self.inner.named_parameters()]:
            setattr(self, name, parameter)

    def forward(self, x, state=None):
        return self.inner(x, state)


def of_modules(source, made, taken):
    """Return a network with inner modules. made: code that makes them; taken: code for the weights of a direction."""
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

PROGRAM = Program(STACKED, STACKED_WRONG, also_wrong=[
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
], parts=("lstm",))  # fmt: skip
