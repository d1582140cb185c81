"""Answers to the question `rnn`."""

import torch
from torch import nn

from companion.check.engine.question import all_questions
from tests.check.answers import Program
from tests.check.answers.rnn.rnn_step import ONE_SEQUENCE, OTHER_WEIGHTS, STEP, STEP_WRONG, SUM

RNN = (
    STEP
    + """
def rnn(input, h_0, weight_ih, weight_hh, bias_ih, bias_hh):
    T, N, I = input.shape
    h = h_0[0]
    outputs = []
    for t in range(T):
        h = rnn_step(input[t], h, weight_ih, weight_hh, bias_ih, bias_hh)
        outputs.append(h)
    output = torch.stack(outputs)
    h_n = h.unsqueeze(0)
    return output, h_n
"""
)
NEXT = "rnn_step(input[t], h, "
RNN_WRONG = {name: edits for name, edits in STEP_WRONG.items() if name not in ("state_detached", "state_in_tuple")} | {
    "output_always_batch_first": [("torch.stack(outputs)", "torch.stack(outputs, dim=1)")],
    "input_always_batch_first": [("T, N, I", "N, T, I"), ("input[t]", "input[:, t]")],
    "all_batch_first": [("T, N, I", "N, T, I"), ("input[t]", "input[:, t]"), ("stack(outputs)", "stack(outputs, 1)")],
    "h_n_without_layer": [("h.unsqueeze(0)", "h")],
    "h_n_always_batch_first": [("h.unsqueeze(0)", "h.unsqueeze(1)")],
    "h_n_from_last_row": [("h.unsqueeze(0)", "output[:, -1]")],
    "h_n_is_output": [("h.unsqueeze(0)", "output")],
    "h_n_is_h_0": [("h.unsqueeze(0)", "h_0")],
    "h_n_from_first_step": [("h.unsqueeze(0)", "output[:1]")],
    "layer_in_output": [("h_0[0]", "h_0"), ("h.unsqueeze(0)", "h")],
    "output_concatenated": [("torch.stack", "torch.cat")],
    "output_not_stacked": [("torch.stack(outputs)", "outputs")],
    "output_only_last": [("return output,", "return output[-1],")],
    "only_output_returned": [("return output, h_n", "return output")],
    "results_swapped": [("return output, h_n", "return h_n, output")],
    "state_not_carried": [(NEXT, "rnn_step(input[t], h_0[0], ")],
    "given_state_ignored": [("h = h_0[0]", "h = torch.zeros(N, weight_hh.shape[0])")],
    "first_input_only": [("input[t]", "input[0]")],
    "last_step_missing": [("range(T)", "range(T - 1)")],
    "first_step_missing": [("range(T)", "range(1, T)")],
    "time_reversed": [("range(T)", "range(T - 1, -1, -1)")],
    "output_reversed": [("outputs.append(h)", "outputs.insert(0, h)")],
    "output_one_early": [
        ("        outputs.append(h)\n", ""), ("        h = rnn", "        outputs.append(h)\n        h = rnn"),
    ],
    "output_with_h_0": [("outputs = []", "outputs = [h]")],
    "tanh_not_in_state": [(SUM, "from_x + from_h"), ("append(h)", "append(torch.tanh(h))")],
    "state_detached_each_step": [(NEXT, "rnn_step(input[t], h.detach(), ")],
    "output_detached": [("append(h)", "append(h.detach())")],
    "h_n_detached": [("h.unsqueeze(0)", "h.unsqueeze(0).detach()")],
    "h_0_detached": [("h_0[0]", "h_0[0].clone().detach()")],
}  # fmt: skip
LOOPS = {
    "written step by step": [
        ("outputs = []", "output = input.new_zeros(T, N, weight_hh.shape[0])"),
        ("outputs.append(h)", "output[t] = h"),
        ("    output = torch.stack(outputs)\n", ""),
    ],
    "with the layer's dimension": [("h_0[0]", "h_0"), ("torch.stack", "torch.cat"), ("h.unsqueeze(0)", "h")],
    "in a list": [("return output, h_n", "return [output, h_n]")],
}


def by_torchs_layer(input, h_0, *weights):
    layer = nn.RNN(input.shape[2], h_0.shape[2])
    names = [name for name, _ in layer.named_parameters()]
    return torch.func.functional_call(layer, dict(zip(names, weights)), (input, h_0))


PROGRAM = Program(RNN, RNN_WRONG, also_wrong=[
    ("concatenated_in_other_order", OTHER_WEIGHTS),
    ("h_n_from_last_row", [("h.unsqueeze(0)", "output[:, -1].unsqueeze(0)")]),
    ("state_detached_each_step", [("append(h)", "append(h)\n        h = h.detach()")]),
    ("state_detached_each_step", [("append(h)", "append(h)\n        h = h.data"), ("h.unsqueeze(0)",
    "output[-1:]")]),
    ("layer_in_output", [("h_0[0]", "h_0")]),
    ("last_step_missing", [("range(T)", "range(T - 1)"), ("stack(outputs)", "stack(outputs + [0 * h])")]),
    ("first_step_missing", [("range(T)", "range(1, T)"), ("stack(outputs)", "stack([0 * h] + outputs)")]),
    ("time_reversed", [("range(T)", "reversed(range(T))"), ("stack(outputs)", "stack(outputs[::-1])")]),
    ("tanh_not_in_state", [*RNN_WRONG["tanh_not_in_state"], ("h.unsqueeze", "h.tanh().unsqueeze")]),
    ("library_layer", by_torchs_layer),
    ("library_layer", lambda i, h, *w: torch.rnn_tanh(i, h, w, True, 1, 0.0, False, False, False)),
    ("library_layer", all_questions()["rnn"].truth),
    ("library_layer", all_questions()["rnn"].reference(frozenset())),
    ("single_batch_only", ONE_SEQUENCE),
], also_right=LOOPS, pairs=[
    ("output_always_batch_first", "h_n_without_layer"),
    ("recurrent_weights_transposed", "h_n_always_batch_first"),
    ("bias_hh_missing", "given_state_ignored"),
    ("state_detached_each_step", "tanh_missing"),
    ("results_swapped", "bias_ih_missing"),
    ("time_reversed", "h_n_is_h_0"),
    ("last_step_missing", "sigmoid_for_tanh"),
    ("output_concatenated", "h_n_without_layer"),
    ("only_output_returned", "recurrent_weights_transposed"),
])  # fmt: skip
