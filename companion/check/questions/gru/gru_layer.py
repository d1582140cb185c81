"""Question `gru_layer`: a GRU of one layer as in torch, its parameters and the loop over time."""

import torch
from torch import nn

from companion.check.engine.probe import Probe
from companion.check.engine.question_from_edits import generate_question
from companion.check.engine.run_answer import Module
from companion.check.questions.gru.gru_step import STEP_MISTAKES
from companion.check.questions.weights import weights


class GRUReference(nn.Module):
    def __init__(self, input_size, hidden_size):
        super().__init__()
        self.hidden_size = hidden_size
        self.weight_ih_l0 = nn.Parameter(torch.rand(3 * hidden_size, input_size))
        self.weight_hh_l0 = nn.Parameter(torch.rand(3 * hidden_size, hidden_size))
        self.bias_ih_l0 = nn.Parameter(torch.rand(3 * hidden_size))
        self.bias_hh_l0 = nn.Parameter(torch.rand(3 * hidden_size))

    def forward(self, input, h_0=None):
        weight_ih, weight_hh = self.weight_ih_l0, self.weight_hh_l0
        bias_ih, bias_hh = self.bias_ih_l0, self.bias_hh_l0
        if h_0 is None:
            h_0 = torch.zeros(1, input.shape[1], self.hidden_size)
        first = h = h_0[0]  # noqa: F841 (mistakes below read `first`)
        outputs = []
        for x in input:
            old = h  # noqa: F841 (mistakes below read it)
            R, Z, N = 0, 1, 2
            a = (x @ weight_ih.T + bias_ih).chunk(3, dim=-1)
            u = (h @ weight_hh.T + bias_hh).chunk(3, dim=-1)
            r = torch.sigmoid(a[R] + u[R])
            z = torch.sigmoid(a[Z] + u[Z])
            n = torch.tanh(a[N] + r * u[N])
            h = (1 - z) * n + z * h
            outputs.append(h)
        output = torch.stack(outputs)
        h_n = h.unsqueeze(0)
        return output, h_n


LOOP, BOTH, ORDER = "gru#own-layer-said", "rnn#two-results", "gru#four-equations"
DEFAULT, GIVEN, EACH = "torch.zeros(1, input.shape[1], self.hidden_size)", "first = h = h_0[0]", "for x in input:"
ADD, STACK, H_N, RETURNED = "outputs.append(h)", "torch.stack(outputs)", "h.unsqueeze(0)", "return output, h_n"
BIAS_HH = "self.bias_hh_l0 = nn.Parameter(torch.rand(3 * hidden_size))"
ROWS_HERE = "R, Z, N = 0, 1, 2"
TURNED = EACH, "for x in input.transpose(0, 1):", "input.shape[1]", "input.shape[0]"

MISTAKES = {
    "h_n_without_layer": ("rnn#h-n-has-layers", H_N, "h"),
    "only_output_returned": (BOTH, RETURNED, "return output"),
    "results_swapped": (BOTH, RETURNED, "return h_n, output"),
    "state_is_a_pair": ("gru#exercise-pair", RETURNED, "return output, (h_n, h_n)"),
    "state_read_as_pair": (
        "gru#exercise-pair", DEFAULT, f"2 * [{DEFAULT}[0]]", GIVEN, "first, c = h_0\n        h = first"),
    "output_only_last": (BOTH, STACK, "outputs[-1]"),
    "output_concatenated": (LOOP, STACK, "torch.cat(outputs)"),
    "output_not_stacked": (LOOP, STACK, "outputs"),
    "output_always_batch_first": ("rnn#time-first", STACK, "torch.stack(outputs, dim=1)"),
    "input_always_batch_first": ("rnn#time-first", *TURNED),
    "all_batch_first": ("rnn#time-first", *TURNED, STACK, "torch.stack(outputs, dim=1)"),
    "h_n_always_batch_first": ("rnn#h-n-has-layers", H_N, "h.unsqueeze(1)"),
    "h_n_is_output": (BOTH, H_N, "output"),
    "h_n_is_h_0": (BOTH, H_N, "h_0"),
    "h_n_from_last_row": (BOTH, H_N, "output[:, -1]"),
    "h_n_from_first_step": (BOTH, H_N, "output[:1]"),
    "layer_in_output": ("rnn#h-n-has-layers", GIVEN, "first = h = h_0", H_N, "h"),
    "state_not_carried": (LOOP, "(h @ weight_hh", "(first @ weight_hh", "+ z * h", "+ z * first"),
    "given_state_ignored": (LOOP, GIVEN, "first = h = 0 * h_0[0]"),
    "first_input_only": (LOOP, EACH, "for x in [input[0]] * len(input):"),
    "first_step_missing": (LOOP, EACH, "for x in input[1:]:"),
    "first_step_missing~zeros": ("", EACH, "for x in input[1:]:", "outputs = []", "outputs = [0 * h]"),
    "last_step_missing": (LOOP, EACH, "for x in input[:-1]:"),
    "last_step_missing~zeros": ("", EACH, "for x in input[:-1]:", STACK, "torch.stack([*outputs, 0 * h])"),
    "time_reversed": ("rnn#unrolled", EACH, "for x in input.flip(0):"),
    "time_reversed~in_place": ("", EACH, "for x in input.flip(0):", STACK, "torch.stack(outputs[::-1])"),
    "output_reversed": (LOOP, STACK, "torch.stack(outputs[::-1])"),
    "output_one_early": (LOOP, ADD, "outputs.append(old)"),
    "output_with_h_0": (LOOP, "outputs = []", "outputs = [h]"),
    "one_bias": ("gru#biases-differ", BIAS_HH, "", "self.bias_hh_l0\n", "torch.zeros(3 * self.hidden_size)\n"),
    "no_bias": ("gru#four-equations", BIAS_HH, "", BIAS_HH.replace("hh", "ih"), "",
                "self.bias_ih_l0, self.bias_hh_l0", "(torch.zeros(3 * self.hidden_size),) * 2"),
    "weights_transposed": (
        "gru#four-equations", "torch.rand(3 * hidden_size, input_size)", "torch.rand(input_size, 3 * hidden_size)",
        "torch.rand(3 * hidden_size, hidden_size)", "torch.rand(hidden_size, 3 * hidden_size)",
        "self.weight_ih_l0, self.weight_hh_l0\n", "self.weight_ih_l0.T, self.weight_hh_l0.T\n"),
    "default_state_missing": (LOOP, "h_0=None", "h_0"),
    "default_state_ones": (LOOP, DEFAULT, DEFAULT.replace("zeros", "ones")),
    "default_state_random": (LOOP, DEFAULT, DEFAULT.replace("zeros", "randn")),
    "default_state_random~uniform": ("", DEFAULT, DEFAULT.replace("zeros", "rand")),
    "state_kept_between_calls": (
        LOOP, DEFAULT, f"getattr(self, 'kept', {DEFAULT})", RETURNED, f"self.kept = h_n\n        {RETURNED}"),
    "state_kept_between_calls~detached": (
        "", DEFAULT, f"getattr(self, 'kept', {DEFAULT})", RETURNED, f"self.kept = h_n.detach()\n        {RETURNED}"),
    "state_detached_each_step": ("through_time#long-chains", ADD, f"{ADD}\n            h = h.detach()"),
    "state_detached_each_step~before": ("", "old = h", "old = h = h.detach()"),
    "output_detached": ("through_time#long-chains", STACK, "torch.stack(outputs).detach()"),
    "h_n_detached": ("through_time#long-chains", H_N, "h.unsqueeze(0).detach()"),
    "h_0_detached": ("through_time#long-chains", GIVEN, "first = h = h_0[0].detach()"),
    "not_torchs_order": (ORDER, ROWS_HERE, "Z, R, N = 0, 1, 2"),
} | {f"not_torchs_order~{order}": ("", ROWS_HERE, f"{', '.join(order.upper())} = 0, 1, 2")
     for order in ("nzr", "nrz", "rnz", "znr")}  # fmt: skip
MISTAKES |= {name: row for name, row in STEP_MISTAKES.items() if name not in ("state_detached", "rows_interleaved")}
MISTAKES["rows_interleaved"] = ORDER, *(
    text for bias in ("+ bias_ih)", "+ bias_hh)")
    for text in (f"{bias}.chunk(3, dim=-1)", f"{bias}.unflatten(-1, (-1, 3)).unbind(-1)")
)  # fmt: skip


def probes(draw):
    def probe(name, draw, steps, batch, inputs, hidden, state=True, calls=1):
        tensors = {"input": draw(steps, batch, inputs)} | ({"h_0": draw(1, batch, hidden)} if state else {})
        sizes, rows = (
            {"input_size": inputs, "hidden_size": hidden},
            weights(draw, inputs, hidden, gates=3, ending="_l0"),
        )
        return Probe(name, tensors | rows, sizes, tuple(rows), tuple(tensors), calls)

    return [
        # the smallest probe has two steps: a loop that leaves one out still has something to return
        probe("two_steps", draw.few, 2, 1, 1, 1),
        probe("batch_1", draw.few, 2, 1, 3, 2),
        probe("no_state", draw, 3, 2, 3, 4, state=False, calls=2),
        probe("several", draw, 4, 3, 2, 5),
    ]


QUESTION = generate_question(
    GRUReference,
    MISTAKES,
    truth=nn.GRU,
    name="gru_layer",
    answer="GRU",
    assignment="gru",
    task=2,
    points=3,
    place=LOOP,
    call=Module(("input_size", "hidden_size"), ("input", "h_0"), ("output", "h_n")),
    probes=probes,
    axes={
        "output": ("step", "batch", "unit"), "input": ("step", "batch", "feature"),
        **dict.fromkeys(("h_n", "h_0"), ("layer", "batch", "unit")),
    },
)  # fmt: skip
