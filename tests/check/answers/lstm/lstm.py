"""Answers to the question `lstm`."""

from tests.check.answers import changed
from tests.check.answers.lstm.lstm_cell import CELL
from tests.check.answers.lstm.network import (
    BACK,
    BATCH_FIRST_WRONG,
    LAST,
    NETWORK_WRONG,
    SAY,
    START,
    STEPS,
    TOP,
    network,
)
from tests.check.answers.lstm.pairs import program
from tests.check.answers.lstm.states import DEFAULTS_OTHERWISE
from tests.check.answers.lstm.step import STEP_WRONG
from tests.check.lstm_answers import SOURCES

LAYER_IN_OUTPUT = [(START, "h, c = h0, c0"), ("a.chunk(4, 1)", "a.chunk(4, -1)")]
LAYER_WRONG = STEP_WRONG | NETWORK_WRONG | BATCH_FIRST_WRONG | {
    "batch_first_missing": [(", batch_first=False", ""), ("= batch_first, dropout", "= False, dropout")],
    "batch_first_by_default": [("batch_first=False", "batch_first=True")],
    "input_always_batch_first": [("elif self.batch_first:\n            x =", "else:\n            x =")],
    "output_always_batch_first": [(TOP, f"{TOP}.transpose(0, 1)"), BACK],
    "output_only_last": [(TOP, f"{TOP}[-1]"), BACK],
    "output_concatenated": [(TOP, f"{TOP}.flatten(0, 1)"), BACK],
    "output_one_early": [(SAY, "said.append(old_h)")],
    "h_n_all_steps": [
        ("said = []", "said, kept = [], []"), (SAY, f"{SAY}; kept.append(c)"),
        ("return torch.stack(said), h, c", "return torch.stack(said), torch.stack(said), torch.stack(kept)"), (LAST,
        "h, c"),
    ],
    "h_n_from_output_last": [("(h_n, c_n)", "(y[-1].unsqueeze(0), c_n)")],
    "layer_in_output": [*LAYER_IN_OUTPUT, (LAST, "h, c")],
    "c_not_carried": [("step(x[t], h, c,", "step(x[t], h, c_start,")],
    "h_not_carried": [("step(x[t], h, c,", "step(x[t], h_start, c,")],
    "first_input_only": [("step(x[t]", "step(x[0]")],
    "last_step_missing": [(STEPS, "range(len(x) - 1)")],
    "first_step_missing": [(STEPS, "range(1, len(x))")],
    "time_reversed": [(STEPS, "reversed(range(len(x)))")],
    "c_detached_each_step": [(SAY, f"{SAY}; c = c.detach()")],
}  # fmt: skip


# The parameters of a layer with an inner cell have other names.
HIDDEN_CELL = (
    CELL.replace("LSTMCell", "Cell")
    + """
class LSTM(nn.Module):
    def __init__(self, input_size, hidden_size, batch_first=False):
        super().__init__()
        self.cell, self.batch_first = Cell(input_size, hidden_size), batch_first

    def forward(self, input, state=None):
        input = input.transpose(0, 1) if self.batch_first else input
        state = state and (state[0][0], state[1][0])
        output = []
        for x in input:
            state = self.cell(x, state)
            output.append(state[0])
        return torch.stack(output, int(self.batch_first)), (state[0][None], state[1][None])
"""
)

PROGRAM = program("lstm", network(), LAYER_WRONG, [
    *DEFAULTS_OTHERWISE,
    ("first_step_missing", [("said = []", "said = [0 * h]"), (STEPS, "range(1, len(x))")]),
    ("last_step_missing", [(STEPS, "range(len(x) - 1)"), ("stack(said)", "stack(said + [0 * h])")]),
    ("time_reversed", [(STEPS, "reversed(range(len(x)))"), ("stack(said)", "stack(said[::-1])")]),
    ("h_0_batch_first", [("h0, c0 = state", "h0, c0 = [s.transpose(0, 1) for s in state]")]),
    ("layer_in_output", LAYER_IN_OUTPUT),
    ("given_state_ignored", [("h0, c0 = state", "h0, c0 = state[0], 0 * state[1]")]),
    ("given_state_ignored", [("h0, c0 = state", "h0, c0 = 0 * state[0], state[1]")]),
    ("state_detached_each_step", [("step(x[t], h, c,", "step(x[t], h.detach(), c.detach(),")]),
    ("c_detached_each_step", [("step(x[t], h, c,", "step(x[t], h, c.detach(),")]),
    ("parameter_names", HIDDEN_CELL),
    (("parameter_names", "gates_f_i_g_o"), changed(HIDDEN_CELL, ("i, f, g, o = a", "f, i, g, o = a"))),
], {
    "another program": SOURCES["lstm"],
    "a tensor written step by step": [
        ("said = []", "said = torch.zeros(*x.shape[:2], h.shape[1])"), (SAY, "said[t] = h"), ("torch.stack(said)",
        "said"),
    ],
})  # fmt: skip
