"""Answers to the question `projected`."""

from tests.check.answers import Program
from tests.check.answers.lstm.network import NETWORK_WRONG, SAY, network
from tests.check.answers.lstm.step import STEP_WRONG
from tests.check.answers.lstm_parameters.layers import IN_FLOAT32, libraries

PROJECT, DONE = "        if torch.is_tensor(V):\n            h = h @ V.T\n", "return torch.stack(said), h, c"
AFTER_LAYER = [("(4 * H, R)", "(4 * H, H)"), ("N, self.R)", "N, self.H)"), (PROJECT, "")]
# h and c differ in size: with exchanged zeros every call would raise an error
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

PROGRAM = Program(PROJECTED, PROJECTED_WRONG, also_wrong=[
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
])  # fmt: skip
