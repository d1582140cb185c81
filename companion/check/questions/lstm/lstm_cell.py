"""Question `lstm_cell`: the cell as a module."""

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

CELL_MISTAKES = {
    "old_c_returned": "lstm#cell-state",
    "only_h_returned": "lstm#output-gate",
    "state_returned_nested": "lstm#output-gate",
    "c_detached": "forget_bias#gradient-path",
}


def cell_reference(mistakes):
    class LSTMCell(nn.Module):
        def __init__(self, input_size, hidden_size):
            super().__init__()
            self.hidden_size = hidden_size
            self.kept = None
            parameters_reference(self, mistakes, input_size, hidden_size)

        def forward(self, x, state=None):
            if state is None:
                state = self.kept or default_reference(mistakes, x, len(x), self.hidden_size)
            h, c = state
            if mistakes & {"state_swapped", "state_read_as_c_h"}:
                h, c = c, h
            if mistakes & {"state_detached", "state_detached~h"}:
                h = h.detach()
            if mistakes & {"state_detached", "c_detached"}:
                c = c.detach()
            new_h, new_c = step_reference(mistakes)(x, h, c, *stored_reference(self, mistakes))
            if "state_kept_between_calls" in mistakes:
                self.kept = new_h, new_c
            if "state_kept_between_calls~detached" in mistakes:
                self.kept = new_h.detach(), new_c.detach()
            if "only_h_returned" in mistakes:
                return new_h
            if "old_c_returned" in mistakes:
                new_c = c
            if "state_returned_nested" in mistakes:
                return new_h, (new_h, new_c)
            return (new_c, new_h) if mistakes & {"state_swapped", "state_returned_as_c_h"} else (new_h, new_c)

    return LSTMCell


def cell_probes(draw):
    def probe(name, draw, batch, inputs, hidden, state=True, calls=1):
        tensors = {"x": draw(batch, inputs)}
        tensors |= {"h": draw(batch, hidden), "c": draw(batch, hidden)} if state else {}
        gradients = tuple(tensors)
        options = {"input_size": inputs, "hidden_size": hidden}
        tensors |= weights(draw, inputs, hidden, gates=4)
        return Probe(name, tensors, options, WEIGHTS, gradients, calls)

    return [
        probe("one_number", draw.few, 1, 1, 1),
        probe("batch_1", draw.few, 1, 3, 2),
        probe("no_state", draw, 2, 4, 5, state=False, calls=2),
        probe("several", draw, 3, 4, 5),
    ]


QUESTION = Question(
    name="lstm_cell",
    answer="LSTMCell",
    assignment="lstm",
    task=2,
    points=3,
    place="lstm#the-step",
    call=Module(("input_size", "hidden_size"), ("x", ("h", "c")), ("h_new", "c_new")),
    truth=nn.LSTMCell,
    reference=cell_reference,
    mistakes=MODULE_MISTAKES | CELL_MISTAKES | STATE_MISTAKES | GATE_MISTAKES,
    probes=cell_probes,
    exclusive=(
        *MODULE_EXCLUSIVE,
        frozenset({"old_c_returned", "only_h_returned"}),
        *(
            frozenset({"state_returned_nested", name})
            for name in ("only_h_returned", "state_swapped", "state_returned_as_c_h")
        ),
    ),
    axes=dict.fromkeys(("h", "c", "h_new", "c_new"), ("batch", "unit")) | {"x": ("batch", "feature")},
)
