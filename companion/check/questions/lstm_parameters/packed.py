"""Question `packed`: sequences of different lengths in one padded batch."""

import torch
from torch.nn.utils.rnn import PackedSequence, pack_padded_sequence, pad_packed_sequence

from companion.check.engine.probe import Probe, kind
from companion.check.engine.question import Question
from companion.check.engine.run_answer import Function
from companion.check.questions.lstm_parameters import CHAPTER
from companion.check.questions.lstm_parameters.direction import (
    MODULE_MISTAKES,
    SEQUENCE_EXCLUSIVE,
    SEQUENCE_MISTAKES,
    STATES_MISTAKES,
    STEP_MISTAKES,
    direction_reference,
)
from companion.check.questions.lstm_parameters.drawing import AXES, network_tensors, sizes
from companion.check.questions.weights import WEIGHTS

LENGTH_MISTAKES = {
    "packed_ignores_lengths": "sequences#state-after-padding",
    "h_n_after_padding": "sequences#state-after-padding",
    "output_runs_into_padding": "sequences#state-after-padding",
    "output_repeats_last": "sequences#state-after-padding",
    "padding_zeroed_and_read": "sequences#state-after-padding",
    "h_n_from_padded_output": "sequences#state-after-padding",
    "state_zeroed_in_padding": "sequences#state-after-padding",
    "h_not_held": "sequences#state-after-padding",
    "c_not_held": "sequences#state-after-padding",
    "one_step_too_many": "sequences#state-after-padding",
    "one_step_too_few": "sequences#state-after-padding",
    "padding_expected_first": "sequences#state-after-padding",
    "batch_left_sorted": "sequences#state-after-padding",
    "h_n_left_sorted": "sequences#state-after-padding",
    "output_left_sorted": "sequences#state-after-padding",
    "sorted_twice": "sequences#state-after-padding",
    "states_not_sorted": "sequences#state-after-padding",
    "cut_to_shortest": "sequences#state-after-padding",
    "h_n_without_layer": f"{CHAPTER}#formula",
}


def packed_reference(mistakes):
    def lstm_packed(input, lengths, h_0, c_0, *weights):
        by_length = lengths.argsort(descending=True)
        rank = by_length.argsort()
        h, c = h_0[0], c_0[0]
        if "input_always_batch_first" in mistakes:
            input = input.transpose(0, 1)
        if mistakes & {"state_swapped", "state_read_as_c_h"}:
            h, c = c, h
        if "state_detached" in mistakes:
            h, c = h.detach(), c.detach()
        if "states_not_sorted" in mistakes:
            h, c = h[rank], c[rank]
        h = h * (not mistakes & {"given_state_ignored", "given_state_ignored~h"})
        c = c * (not mistakes & {"given_state_ignored", "given_state_ignored~c"})
        if "padding_zeroed_and_read" in mistakes:
            input = input * (torch.arange(len(input)).unsqueeze(-1) < lengths).unsqueeze(-1)
        if "cut_to_shortest" in mistakes:
            lengths = lengths.min().expand(len(lengths))
        output, h, c = direction_reference(mistakes, weights, input, h, c, lengths)
        if "h_n_from_padded_output" in mistakes:
            h = output[-1]
        if mistakes & {"batch_left_sorted", "output_left_sorted"}:
            output = output[:, by_length]
        if mistakes & {"batch_left_sorted", "h_n_left_sorted"}:
            h, c = h[by_length], c[by_length]
        if "sorted_twice" in mistakes:
            output, h, c = output[:, by_length][:, by_length], h[by_length][by_length], c[by_length][by_length]
        if "c_n_is_h_n" in mistakes:
            c = h
        if "output_only_last" in mistakes:
            output = output[-1]
        if "output_always_batch_first" in mistakes:
            output = output.transpose(0, 1)
        if "output_detached" in mistakes:
            output = output.detach()
        if "h_n_without_layer" not in mistakes:
            dim = 1 if "h_n_always_batch_first" in mistakes else 0
            h, c = h.unsqueeze(dim), c.unsqueeze(dim)
        return (output, c, h) if mistakes & {"state_swapped", "state_returned_as_c_h"} else (output, h, c)

    return lstm_packed


def packed_truth(input, lengths, h_0, c_0, *weights):
    data, sizes, order, back = pack_padded_sequence(input, lengths, enforce_sorted=False)
    state = [initial[:, order] for initial in (h_0, c_0)]
    data, h_n, c_n = torch.lstm(data, sizes, state, weights, True, 1, 0.0, False, False)
    output, _ = pad_packed_sequence(PackedSequence(data, sizes, order, back))
    return output, h_n[:, back], c_n[:, back]


class Packed(Function):
    """Call a function that returns output, h_n, c_n, with the states in a pair of their own or not."""

    def __call__(self, answer, probe, outcome):
        def flat(*arguments):
            returned = answer(*arguments)
            if isinstance(returned, tuple | list) and [*map(kind, returned)][1:] in (["tuple"], ["list"]):
                return returned[0], *returned[1]
            return returned

        super().__call__(flat, probe, outcome)


def packed_probes(draw):
    def probe(name, draw, lengths, inputs, hidden):
        tensors, weights = network_tensors(draw, max(lengths), len(lengths), sizes(inputs, hidden))
        gradients = (*tensors, *WEIGHTS)
        tensors["lengths"] = torch.tensor(lengths)
        tensors |= zip(WEIGHTS, weights.values())
        return Probe(name, tensors, gradients=gradients)

    # sorting by length is not its own inverse here, so that undoing it wrongly makes a difference
    several = ([1, 4, 2, 3], [2, 4, 3, 1], [1, 3, 4, 2], [3, 4, 1, 2])[int(draw.whole(4))]
    return [
        probe("two_sequences", draw.few, [1, 2], 1, 1),
        probe("batch_1", draw.few, [2], 2, 3),
        probe("equal_lengths", draw, [3, 3], 2, 4),
        probe("several", draw, [2, 5, 3], 4, 2),
        probe("several", draw, several, 2, 3),
    ]


QUESTION = Question(
    name="packed",
    answer="lstm_packed",
    assignment=CHAPTER,
    task=5,
    points=3,
    place="sequences#state-after-padding",
    call=Packed(("input", "lengths", "h_0", "c_0", *WEIGHTS), ("output", "h_n", "c_n")),
    truth=packed_truth,
    reference=packed_reference,
    mistakes=LENGTH_MISTAKES
    | STATES_MISTAKES
    | {name: place for name, place in MODULE_MISTAKES.items() if name.endswith("put_always_batch_first")}
    | SEQUENCE_MISTAKES
    | {name: place for name, place in STEP_MISTAKES.items() if name not in ("one_bias", "weights_transposed")},
    probes=packed_probes,
    exclusive=(
        *SEQUENCE_EXCLUSIVE,
        frozenset({
            "packed_ignores_lengths", "h_n_after_padding", "padding_zeroed_and_read", "state_zeroed_in_padding",
            "h_not_held", "c_not_held", "one_step_too_many", "one_step_too_few", "padding_expected_first",
            "cut_to_shortest",
        }),
        frozenset({"packed_ignores_lengths", "output_runs_into_padding", "output_repeats_last"}),
        frozenset({"batch_left_sorted", "h_n_left_sorted", "output_left_sorted", "sorted_twice"}),
        frozenset({"h_n_from_padded_output", "state_zeroed_in_padding"}),
    ),
    axes=AXES,
)  # fmt: skip
