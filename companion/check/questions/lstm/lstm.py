"""Question `lstm`: the layer."""

import torch
from torch import nn

from companion.check.engine.probe import Probe
from companion.check.engine.question import Question
from companion.check.engine.run_answer import Module
from companion.check.questions.lstm.module import (
    MODULE_EXCLUSIVE,
    MODULE_MISTAKES,
    default_reference,
    parameters_reference,
    stored_reference,
)
from companion.check.questions.lstm.step import GATE_MISTAKES, STATE_MISTAKES, step_reference
from companion.check.questions.weights import WEIGHTS, weights

LAYER_MISTAKES = {
    "state_not_carried": "lstm#from-cell-to-layer",
    "c_not_carried": "lstm#from-cell-to-layer",
    "h_not_carried": "lstm#from-cell-to-layer",
    "given_state_ignored": "lstm#from-cell-to-layer",
    "given_state_ignored~h": "",
    "given_state_ignored~c": "",
    "first_input_only": "lstm#from-cell-to-layer",
    "last_step_missing": "lstm#from-cell-to-layer",
    "last_step_missing~zeros": "",
    "first_step_missing": "lstm#from-cell-to-layer",
    "first_step_missing~zeros": "",
    "time_reversed": "lstm#from-cell-to-layer",
    "time_reversed~in_place": "",
    "output_is_c": "lstm#state-order",
    "output_one_early": "lstm#from-cell-to-layer",
    "output_only_last": "lstm#from-cell-to-layer",
    "output_concatenated": "lstm#from-cell-to-layer",
    "output_always_batch_first": "lstm_parameters#batch-first",
    "input_always_batch_first": "lstm_parameters#batch-first",
    "batch_first_missing": "lstm_parameters#batch-first",
    "batch_first_by_default": "lstm_parameters#batch-first",
    "batch_first_ignored": "lstm_parameters#batch-first",
    "batch_first_the_other_way": "lstm_parameters#batch-first",
    "output_not_batch_first": "lstm_parameters#batch-first",
    "view_for_batch_first": "lstm_parameters#batch-first",
    "h_n_batch_first": "lstm_parameters#batch-first",
    "h_n_always_batch_first": "lstm_parameters#batch-first",
    "h_0_batch_first": "lstm_parameters#batch-first",
    "h_0_batch_first~always": "",
    "h_n_from_output_last": "lstm_parameters#batch-first",
    "h_n_without_layer": "lstm#state-order",
    "layer_in_output": "lstm#state-order",
    "layer_in_output~twice": "",
    "h_n_all_steps": "lstm#state-order",
    "c_n_is_h_n": "lstm#state-order",
    "state_returned_flat": "lstm#state-order",
    "only_output_returned": "lstm#output-gate",
    "state_detached_each_step": "forget_bias#gradient-path",
    "state_detached_each_step~before": "",
    "c_detached_each_step": "forget_bias#gradient-path",
    "c_detached_each_step~before": "",
    "output_detached": "forget_bias#gradient-path",
}


def layer_reference(mistakes):
    step = step_reference(mistakes)

    class LSTM(nn.Module):
        def __init__(self, input_size, hidden_size, batch_first=False):
            super().__init__()
            if batch_first and "batch_first_missing" in mistakes:
                raise TypeError("LSTM.__init__() got an unexpected keyword argument 'batch_first'")
            self.hidden_size = hidden_size
            self.batch_first = batch_first
            if "batch_first_by_default" in mistakes:
                self.batch_first = True
            if "batch_first_ignored" in mistakes:
                self.batch_first = False
            if "batch_first_the_other_way" in mistakes:
                self.batch_first = not batch_first
            self.kept = None
            parameters_reference(self, mistakes, input_size, hidden_size, "_l0")

        def forward(self, x, state=None):
            if "view_for_batch_first" in mistakes and self.batch_first:
                x = x.reshape(x.shape[1], x.shape[0], x.shape[2])
            elif self.batch_first or "input_always_batch_first" in mistakes:
                x = x.transpose(0, 1)
            h, c = self.initial(x, state)
            output, h, c = self.loop(x, h, c)
            if not mistakes & {"h_n_all_steps", "layer_in_output"}:
                h, c = h.unsqueeze(0), c.unsqueeze(0)
            return self.returned(output, h, c)

        def initial(self, x, state):
            if state is None and self.kept:
                return self.kept
            if state is None or "given_state_ignored" in mistakes:
                layer = (1,) if mistakes & {"layer_in_output", "layer_in_output~twice"} else ()
                return default_reference(mistakes, x, *layer, x.shape[1], self.hidden_size)
            h, c = state
            first = self.batch_first and "h_0_batch_first" in mistakes or "h_0_batch_first~always" in mistakes
            if not mistakes & {"layer_in_output", "layer_in_output~twice"}:
                h, c = (h[:, 0], c[:, 0]) if first else (h[0], c[0])
            if mistakes & {"state_swapped", "state_read_as_c_h"}:
                h, c = c, h
            if mistakes & {"state_detached", "state_detached~h"}:
                h = h.detach()
            if "state_detached" in mistakes:
                c = c.detach()
            return h * ("given_state_ignored~h" not in mistakes), c * ("given_state_ignored~c" not in mistakes)

        def loop(self, x, h, c):
            weights = stored_reference(self, mistakes, "_l0")
            h_0, c_0 = last = h, c
            output, all_h, all_c = [], [], []
            if mistakes & {"time_reversed", "time_reversed~in_place"}:
                x = x.flip(0)
            first = bool(mistakes & {"first_step_missing", "first_step_missing~zeros"})
            if "first_step_missing~zeros" in mistakes:
                output, all_h, all_c = [0 * h], [h], [c]
            for t in range(first, len(x) - bool(mistakes & {"last_step_missing", "last_step_missing~zeros"})):
                before = h
                if "state_detached_each_step~before" in mistakes:
                    h = h.detach()
                if mistakes & {"state_detached_each_step~before", "c_detached_each_step~before"}:
                    c = c.detach()
                h, c = step(x[0 if "first_input_only" in mistakes else t], h, c, *weights)
                output.append(before if "output_one_early" in mistakes else c if "output_is_c" in mistakes else h)
                all_h.append(h)
                all_c.append(c)
                if "state_detached_each_step" in mistakes:
                    h = h.detach()
                if mistakes & {"state_detached_each_step", "c_detached_each_step"}:
                    c = c.detach()
                last = h, c
                if mistakes & {"state_not_carried", "h_not_carried"}:
                    h = h_0
                if mistakes & {"state_not_carried", "c_not_carried"}:
                    c = c_0
            if "last_step_missing~zeros" in mistakes:
                output = [*output, 0 * h]
            if "time_reversed~in_place" in mistakes:
                output = output[::-1]
            h, c = (torch.stack(all_h), torch.stack(all_c)) if "h_n_all_steps" in mistakes else last
            return output, h, c

        def returned(self, output, h, c):
            if "state_kept_between_calls" in mistakes:
                self.kept = h[-1], c[-1]
            if "state_kept_between_calls~detached" in mistakes:
                self.kept = h[-1].detach(), c[-1].detach()
            if "output_only_last" in mistakes:
                output = output[-1]
            elif "output_concatenated" in mistakes:
                output = torch.cat(output)
            else:
                batch_first = self.batch_first and "output_not_batch_first" not in mistakes
                output = torch.stack(output, dim=1 if batch_first or "output_always_batch_first" in mistakes else 0)
            if "h_n_from_output_last" in mistakes:
                h = output[-1:]
            if "c_n_is_h_n" in mistakes:
                c = h
            if "h_n_always_batch_first" in mistakes or self.batch_first and "h_n_batch_first" in mistakes:
                h, c = h.transpose(0, 1), c.transpose(0, 1)
            if "h_n_without_layer" in mistakes:
                h, c = h[0], c[0]
            if "output_detached" in mistakes:
                output = output.detach()
            if mistakes & {"state_swapped", "state_returned_as_c_h"}:
                h, c = c, h
            if "only_output_returned" in mistakes:
                return output
            return (output, h, c) if "state_returned_flat" in mistakes else (output, (h, c))

    return LSTM


def layer_probes(draw):
    def probe(name, draw, steps, batch, inputs, hidden, state=True, batch_first=None, calls=1):
        tensors = {"input": draw(*((batch, steps) if batch_first else (steps, batch)), inputs)}
        tensors |= {"h_0": draw(1, batch, hidden), "c_0": draw(1, batch, hidden)} if state else {}
        gradients = tuple(tensors)
        options = {"input_size": inputs, "hidden_size": hidden}
        options |= {} if batch_first is None else {"batch_first": batch_first}
        tensors |= weights(draw, inputs, hidden, gates=4, ending="_l0")
        return Probe(name, tensors, options, tuple(name + "_l0" for name in WEIGHTS), gradients, calls)

    return [
        probe("one_number", draw.few, 1, 1, 1, 1),
        probe("two_steps", draw.few, 2, 1, 1, 1),
        probe("batch_1", draw.few, 2, 1, 3, 2),
        probe("batch_first", draw.few, 2, 3, 1, 2, batch_first=True),
        probe("no_state", draw, 3, 2, 3, 4, state=False, calls=2),
        probe("batch_first", draw, 3, 2, 3, 4, state=False, batch_first=True),
        probe("several", draw, 4, 3, 2, 5),
    ]


STATES = ("layer", "batch", "unit")
QUESTION = Question(
    name="lstm",
    answer="LSTM",
    assignment="lstm",
    task=3,
    points=3,
    place="lstm#from-cell-to-layer",
    call=Module(
        ("input_size", "hidden_size"),
        ("input", ("h_0", "c_0")),
        ("output", ("h_n", "c_n")),
        keywords=("batch_first",),
    ),
    truth=nn.LSTM,
    reference=layer_reference,
    mistakes=LAYER_MISTAKES | MODULE_MISTAKES | STATE_MISTAKES | GATE_MISTAKES,
    probes=layer_probes,
    exclusive=(
        *MODULE_EXCLUSIVE,
        frozenset({"state_not_carried", "c_not_carried", "h_not_carried"}),
        frozenset({"state_detached_each_step", "c_detached_each_step"}),
        frozenset({"first_step_missing", "last_step_missing"}),
        frozenset({"output_is_c", "output_one_early"}),
        frozenset({"output_only_last", "output_concatenated", "output_always_batch_first", "output_not_batch_first"}),
        frozenset(
            {"batch_first_missing", "batch_first_ignored", "batch_first_the_other_way", "batch_first_by_default"}
        ),
        frozenset({"batch_first_by_default", "input_always_batch_first"}),
        frozenset({"batch_first_by_default", "output_always_batch_first"}),
        frozenset({"input_always_batch_first", "batch_first_the_other_way"}),
        frozenset({"batch_first_ignored", "output_not_batch_first", "view_for_batch_first"}),
        frozenset({"batch_first_ignored", "h_n_batch_first"}),
        frozenset(
            {"h_n_batch_first", "h_n_always_batch_first", "h_n_without_layer", "h_n_all_steps", "layer_in_output"}
        ),
        frozenset({"h_0_batch_first", "layer_in_output"}),
        frozenset({"h_0_batch_first", "batch_first_ignored"}),
        frozenset({"given_state_ignored", "state_detached", "state_read_as_c_h", "state_swapped"}),
        frozenset({"only_output_returned", "state_returned_flat"}),
    ),
    axes={
        "output": ("step", "batch", "unit"),
        "input": ("step", "batch", "feature"),
        **dict.fromkeys(("h_n", "c_n", "h_0", "c_0"), STATES),
    },
)
