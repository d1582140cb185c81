"""Answers to the question `gates`."""

from tests.check.answers.lstm.pairs import program
from tests.check.answers.lstm.step import GATES, GATES_WRONG
from tests.check.lstm_answers import SOURCES

WRONG = GATES_WRONG | {"gates_returned_in_other_order": [("return i, f, g, o", "return i, f, o, g")]}  # fmt: skip

PROGRAM = program("gates", GATES, WRONG, [
    ("view_for_transpose", [("W.T", "W.view(W.shape[1], -1)")]),
    ("view_for_transpose", [("U.T", "U.view(U.shape[1], -1)")]),
    ("hard_sigmoid", [(f"torch.sigmoid({gate})", f"torch.clamp(0.5 + 0.2 * {gate}, 0, 1)") for gate in "ifo"]),
    ("gates_returned_in_other_order", [("return i, f, g, o", "return f, i, o, g")]),
], {"another program": SOURCES["gates"]})  # fmt: skip
