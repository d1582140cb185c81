"""Answers to the question `bidirectional`."""

from tests.check.answers import Program
from tests.check.answers.lstm.network import LAST, NETWORK_WRONG, START, TOP, network
from tests.check.answers.lstm_parameters.layers import CAT, LAYERS_WRONG, SOME_STEPS_WRONG, libraries

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

PROGRAM = Program(BIDIRECTIONAL, BIDIRECTIONAL_WRONG, also_wrong=[
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
], parts=("lstm",))  # fmt: skip
