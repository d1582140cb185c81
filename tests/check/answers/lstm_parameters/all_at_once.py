"""Answers to the question `all_at_once`."""

from tests.check.answers import Program
from tests.check.answers.lstm.network import BATCH_FIRST_WRONG, HOLD, network
from tests.check.answers.lstm_parameters.bidirectional import BIDIRECTIONAL_WRONG
from tests.check.answers.lstm_parameters.layers import IN_FLOAT32, libraries
from tests.check.answers.lstm_parameters.projected import PROJECTED_WRONG
from tests.check.answers.lstm_parameters.stacked import STACKED_WRONG

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

PROGRAM = Program(network(), ALL_WRONG, also_wrong=[
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
], parts=("stacked", "bidirectional", "projected"))  # fmt: skip
