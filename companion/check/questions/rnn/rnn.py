"""Question `rnn`: the loop over time."""

import torch

from companion.check.engine.probe import Probe
from companion.check.engine.question import Question
from companion.check.engine.run_answer import Function
from companion.check.questions.rnn.rnn_step import ACTIVATIONS, STEP_EXCLUSIVE, STEP_MISTAKES, step_reference
from companion.check.questions.weights import WEIGHTS, weights

LOOP_MISTAKES = {
    "output_always_batch_first": "rnn#time-first",
    "input_always_batch_first": "rnn#time-first",
    "all_batch_first": "rnn#time-first",
    "h_n_without_layer": "rnn#h-n-has-layers",
    "h_n_always_batch_first": "rnn#h-n-has-layers",
    "h_n_from_last_row": "rnn#two-results",
    "h_n_from_last_row~layer": "",
    "h_n_is_output": "rnn#two-results",
    "h_n_is_h_0": "rnn#two-results",
    "h_n_from_first_step": "rnn#two-results",
    "layer_in_output": "rnn#h-n-has-layers",
    "layer_in_output~twice": "",
    "output_concatenated": "rnn#the-loop",
    "output_not_stacked": "rnn#the-loop",
    "output_only_last": "rnn#two-results",
    "only_output_returned": "rnn#two-results",
    "results_swapped": "rnn#two-results",
    "state_not_carried": "rnn#the-loop",
    "given_state_ignored": "rnn#the-loop",
    "first_input_only": "rnn#the-loop",
    "last_step_missing": "rnn#the-loop",
    "last_step_missing~zeros": "",
    "first_step_missing": "rnn#the-loop",
    "first_step_missing~zeros": "",
    "time_reversed": "rnn#unrolled",
    "time_reversed~in_place": "",
    "output_reversed": "rnn#the-loop",
    "output_one_early": "rnn#the-loop",
    "output_with_h_0": "rnn#the-loop",
    "tanh_not_in_state": "rnn#equation",
    "tanh_not_in_state~h_n": "",
    "state_detached_each_step": "through_time#long-chains",
    "state_detached_each_step~after": "",
    "state_detached_each_step~between": "",
    "output_detached": "through_time#long-chains",
    "h_n_detached": "through_time#long-chains",
    "h_0_detached": "through_time#long-chains",
}


def rnn_reference(mistakes):
    squashed_late = bool(mistakes & {"tanh_not_in_state", "tanh_not_in_state~h_n"})
    step = step_reference(mistakes | ({"tanh_missing"} if squashed_late else set()))

    def rnn(input, h_0, *weights):
        h = h_0 if mistakes & {"layer_in_output", "layer_in_output~twice"} else h_0[0]
        if "given_state_ignored" in mistakes:
            h = torch.zeros_like(h)
        if "h_0_detached" in mistakes:
            h = h.detach()
        first, output = h, []
        for x_t in inputs_reference(mistakes, input):
            old = first if "state_not_carried" in mistakes else h
            h = step(x_t, old.detach() if "state_detached_each_step" in mistakes else old, *weights)
            out = old if "output_one_early" in mistakes else h
            out = out.tanh() if squashed_late else out
            output.append(out.detach() if "output_detached" in mistakes else out)
            last = h
            if mistakes & {"state_detached_each_step~after", "state_detached_each_step~between"}:
                h = h.detach()
        h = last if "state_detached_each_step~between" in mistakes else h
        # a step left out of a preallocated tensor of zeros
        if "last_step_missing~zeros" in mistakes:
            output = [*output, torch.zeros_like(h)]
        if "first_step_missing~zeros" in mistakes:
            output = [torch.zeros_like(h), *output]
        if "output_reversed" in mistakes or "time_reversed~in_place" in mistakes:
            output = output[::-1]
        if "output_with_h_0" in mistakes:
            output = [first, *output]
        h_n = h_n_reference(mistakes, h.tanh() if "tanh_not_in_state~h_n" in mistakes else h, first, output)
        output = joined_reference(mistakes, output)
        if "only_output_returned" in mistakes:
            return output
        return (h_n, output) if "results_swapped" in mistakes else (output, h_n)

    return rnn


def inputs_reference(mistakes, input):
    """Return the inputs of the steps."""
    if mistakes & {"input_always_batch_first", "all_batch_first"}:
        input = input.transpose(0, 1)
    if mistakes & {"time_reversed", "time_reversed~in_place"}:
        input = input.flip(0)
    if "first_input_only" in mistakes:
        input = input[:1].expand_as(input)
    if mistakes & {"first_step_missing", "first_step_missing~zeros"}:
        input = input[1:]
    return input[:-1] if mistakes & {"last_step_missing", "last_step_missing~zeros"} else input


def h_n_reference(mistakes, h, first, output):
    if "h_n_is_h_0" in mistakes:
        h = first
    if "h_n_from_first_step" in mistakes:
        h = output[0]
    if "h_n_detached" in mistakes:
        h = h.detach()
    if "h_n_is_output" in mistakes:
        return torch.stack(output)
    if mistakes & {"h_n_from_last_row", "h_n_from_last_row~layer"}:
        h = torch.stack(output)[:, -1]
        return h if "h_n_from_last_row" in mistakes else h.unsqueeze(0)
    if "h_n_without_layer" in mistakes or "layer_in_output" in mistakes:
        return h
    return h.unsqueeze(1 if "h_n_always_batch_first" in mistakes else 0)


def joined_reference(mistakes, output):
    if "output_not_stacked" in mistakes:
        return output
    if "output_only_last" in mistakes:
        return output[-1]
    if "output_concatenated" in mistakes:
        return torch.cat(output)
    return torch.stack(output, dim=int(bool(mistakes & {"output_always_batch_first", "all_batch_first"})))


def rnn_probes(draw):
    def probe(name, draw, steps, batch, inputs, hidden, calls=1):
        tensors = {"input": draw(steps, batch, inputs), "h_0": draw(1, batch, hidden)} | weights(draw, inputs, hidden)
        return Probe(name, tensors, gradients=tuple(tensors), calls=calls)

    return [
        # the smallest probe has two steps: with one, most mistakes would have no effect
        probe("two_steps", draw.few, 2, 1, 1, 1),
        probe("batch_1", draw.few, 2, 1, 3, 2),
        probe("one_step", draw.few, 1, 2, 1, 3),
        # as many steps as rows: mistaking one for the other raises no error
        probe("several", draw, 3, 3, 2, 4),
        probe("several", draw, 4, 3, 2, 5, calls=2),
    ]


def rnn_truth(input, h_0, *weights):
    return torch.rnn_tanh(input, h_0, weights, True, 1, 0.0, False, False, False)


QUESTION = Question(
    name="rnn",
    assignment="rnn",
    task=3,
    points=3,
    place="rnn#the-loop",
    call=Function(("input", "h_0", *WEIGHTS), ("output", "h_n")),
    truth=rnn_truth,
    reference=rnn_reference,
    mistakes=LOOP_MISTAKES | {name: place for name, place in STEP_MISTAKES.items() if name != "state_detached"},
    probes=rnn_probes,
    exclusive=(
        *STEP_EXCLUSIVE,
        frozenset(
            {
                "output_always_batch_first",
                "all_batch_first",
                "output_concatenated",
                "output_not_stacked",
                "output_only_last",
                "layer_in_output",
            }
        ),
        frozenset({"input_always_batch_first", "all_batch_first"}),
        frozenset(
            {
                "h_n_without_layer",
                "h_n_always_batch_first",
                "h_n_from_last_row",
                "h_n_is_output",
                "h_n_is_h_0",
                "h_n_from_first_step",
                "h_n_detached",
                "layer_in_output",
                "only_output_returned",
            }
        ),
        frozenset(
            {
                "h_n_without_layer",
                "h_n_always_batch_first",
                "h_n_from_last_row",
                "h_n_is_output",
                "layer_in_output",
                "only_output_returned",
            }
        ),
        frozenset({"results_swapped", "only_output_returned", "output_not_stacked"}),
        frozenset({"first_step_missing", "last_step_missing", "first_input_only"}),
        frozenset({"output_one_early", "output_with_h_0"}),
        frozenset({"state_not_carried", "hidden_ignored", "state_detached_each_step"}),
        frozenset({"state_detached_each_step", "h_0_detached", "given_state_ignored"}),
        frozenset({"tanh_not_in_state", *ACTIVATIONS, "biases_after_tanh"}),
        frozenset({"tanh_not_in_state", "tanh_on_each_part", "tanh_on_input_only", "tanh_on_hidden_only"}),
    ),
    axes={
        "output": ("step", "batch", "unit"),
        "input": ("step", "batch", "feature"),
        **dict.fromkeys(("h_0", "h_n"), ("layer", "batch", "unit")),
    },
)
