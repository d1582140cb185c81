"""Answers to the question `packed`, by sorting sequences instead of a mask."""

from tests.check.answers import Program
from tests.check.answers.lstm.network import HOLD, LOOP_WRONG, RUN, SAY
from tests.check.answers.lstm_parameters.layers import SOME_STEPS_WRONG, libraries

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

PROGRAM = Program(PACKED, PACKED_WRONG, also_wrong=[
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
], parts=("lstm",))  # fmt: skip
