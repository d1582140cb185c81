"""Test that code which an answer does not need cannot cost it points."""

import pytest

from assignments.grade import judge
from assignments.read import answers as submitted_answers
from companion.check.engine.question import all_questions
from tests.assignments.grading import IMPORTS, QUICK, WORDS, judged
from tests.check.lstm_answers import GATES

# Cells around a right answer: the first few would end the program, run forever or break the code after them.
AROUND = {
    "sleeping": (GATES, "import time\ntime.sleep(99)"),
    "computing in the answer's cell": (GATES + "\nx = 0\nwhile True: x += len(gates.__name__)",),
    "ending the program": ("import os\nos._exit(0)", GATES),
    "training a helper of the answer": (
        "def act(a): return a.sigmoid()", GATES.replace("torch.sigmoid", "act"), "while True: act(torch.ones(1))"),
    "an act of the same name below": (
        "act = torch.sigmoid", GATES.replace("torch.sigmoid", "act"), "while True: act = torch.tanh"),
    # names bound indirectly, found only by running the whole notebook
    "patched": ("def put(module, name, what): setattr(module, name, what)",
                GATES.replace("torch.sigmoid", "F.act"), "put(F, 'act', torch.sigmoid)"),
    "by exec": (f"exec({GATES!r})", "import time\ntime.sleep(99)"),
    "by a function": ("def setup():\n    global act\n    act = torch.sigmoid\ndef both(): setup()", "both()",
                      GATES.replace("torch.sigmoid", "act"), "import time\ntime.sleep(99)"),
    "put in later": ("class Act: pass", GATES.replace("torch.sigmoid", "Act.act"), "Act.act = torch.sigmoid",
                     "import time\ntime.sleep(99)"),
    "called later": ("acts = []", GATES.replace("torch.sigmoid", "acts[0]"), "acts.append(torch.sigmoid)",
                     "import time\ntime.sleep(99)"),
    "compiled": ("@torch.compile(fullgraph=True)" + GATES,),
    "types from a later Python": ("from __future__ import annotations", GATES.replace("(x, h", "(x: later.Tensor, h")),
    "compiled by a call": (GATES + "gates = torch.compile(gates)",),
}  # fmt: skip


@pytest.mark.parametrize("name", AROUND)
def test_code_that_an_answer_does_not_need_costs_no_points(worker, name):
    cells = [[number, source] for number, source in enumerate((IMPORTS, *AROUND[name]), 1)]
    place = next(number for number, source in cells if "def gates" in source)
    answer = submitted_answers.Answer(cells, ["gates"], True, cell=place)
    verdict = judge.grade(worker, "gates", answer, 5, "en", WORDS, QUICK)
    assert (verdict.mistakes, verdict.points) == ([], all_questions()["gates"].points)


def test_a_wrong_answer_beside_an_endless_loop_gets_its_own_mistake(worker):
    verdict = judged(worker, "gates", GATES.replace("sigmoid", "tanh") + "\nwhile True: pass", limits=QUICK)
    assert verdict.mistakes == ["tanh_on_all_gates"]
