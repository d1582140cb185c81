"""Test that an answer which the notebook's own check calls right is right when graded, however it came about."""

import sys
import types

import pytest

from assignments.grade import judge
from companion import check as checker
from companion.check.engine import messages
from tests.assignments.grading import IMPORTS, WORDS, Listening, cell, put, sent
from tests.assignments.read.right_notebook import indented
from tests.check.lstm_answers import CELL, GATES

FIRST = "from companion.check import check\n" + IMPORTS
HELPED = GATES.replace("torch.sigmoid", "act")
MINE = GATES.replace("def gates", "def mine")
METHOD = "    ".join(GATES.replace("gates(x", "gates(self, x").splitlines(keepends=True))
STATIC = "    @staticmethod" + "    ".join(GATES.splitlines(keepends=True))
STUB = "def gates(*a):\n    raise NotImplementedError()"
SWAPPED = GATES.replace("return i, f, g, o", "return f, i, g, o")  # mended below
SWAP = "def mended(f):\n    def call(*a):\n        f_, i, g, o = f(*a)\n        return i, f_, g, o\n    return call"
HEAD, FORWARD = CELL.split("    def forward")
FORWARD = "def forward" + FORWARD.replace("\n    ", "\n")
WRONG_FORWARD = FORWARD.replace("torch.tanh", "torch.sigmoid")
CHECK, CHECK_CELL = 'check("gates", gates)', 'check("lstm_cell", LSTMCell)'
NO_EFFECT = "x = torch.ones(2)\nprint(x)"

# Cells in the order in which they are run. The last check of the question says that the answer is right.
RIGHT = {
    "a method of an instance": [f"class S:{METHOD}\ns = S()", 'check("gates", s.gates)'],
    "a static method": [f"class S:\n{STATIC}", 'check("gates", answer=S.gates, lang="en")'],
    "an attribute of an attribute": [f"class S:{METHOD}", "class T:\n    s = S()\nt = T()",
                                     'check("gates", t.s.gates)'],
    "a helper class beside globals()": [f"class Act: pass\n{MINE}\nglobals().update(gates=mine)", CHECK],
    "a class, and the answer by setattr": [
        f"import sys\nclass S:\n{STATIC}\nsetattr(sys.modules['__main__'], 'gates', S.gates)", CHECK],
    "exec": [f"class Act: pass\nexec({GATES!r})", CHECK],
    "an item of globals()": [MINE, "globals()['gates'] = mine", CHECK],
    "a helper that is a stub above": ["def act(a):\n    raise NotImplementedError", HELPED, CHECK,
                                      "def act(a):\n    return torch.sigmoid(a)", NO_EFFECT, CHECK],
    "a helper that is a stub, without a check": ["def act(a):\n    raise NotImplementedError", HELPED,
                                                 "def act(a):\n    return torch.sigmoid(a)", ""],
    "a helper that is wrong above": ["act = torch.tanh", HELPED, "act = torch.sigmoid", CHECK],
    "a helper patched by a function": ["def act(a): return a", HELPED, "def put(f):\n    global act\n    act = f",
                                       "put(torch.sigmoid)", CHECK],
    "mended in its cell": [f"{SWAP}\n{SWAPPED}\ngates = mended(gates)", CHECK],
    "mended in a later cell": [SWAP, SWAPPED, "gates = mended(gates)", CHECK, NO_EFFECT],
    "mended twice": [SWAP, SWAPPED, "gates = mended(gates)\ngates = mended(gates)", "gates = mended(gates)", CHECK],
    "mended between two checks": [SWAP, SWAPPED, "gates = (lambda f: f)(gates)", CHECK, "gates = mended(gates)", CHECK,
                                  "gates = mended(gates)"],
    "a method put in below": [HEAD, FORWARD + "\nLSTMCell.forward = forward", CHECK_CELL],
    "a method replaced below": [f"{HEAD}    def forward(self, x, state=None):\n        return x, x",
                                "def forward(self, x): return x", FORWARD + "\nLSTMCell.forward = forward", CHECK_CELL],
    "a method put in by setattr": [HEAD, WRONG_FORWARD, f"{FORWARD}\nsetattr(LSTMCell, 'forward', forward)",
                                   CHECK_CELL],
    "a class of the same name": [HEAD, f"class LSTMCell(LSTMCell):\n    {indented(FORWARD).strip()}", CHECK_CELL],
    "a class of the same name in its cell": [
        f"{HEAD}\nclass LSTMCell(LSTMCell):\n    {indented(FORWARD).strip()}", CHECK_CELL],
    "a class changed after its check": [CELL, CHECK_CELL, "LSTMCell.forward = None", NO_EFFECT],
    "a helper changed after the check": ["class Act:\n    f = torch.sigmoid", HELPED.replace("act(", "Act.f("), CHECK,
                                         "Act.f = torch.tanh"],
    "a list emptied after the check": ["acts = [torch.sigmoid]", HELPED.replace("act(", "acts[0]("), CHECK,
                                       "acts.clear()"],
    "a lambda": [MINE + "gates = lambda *a: mine(*a)", CHECK],
    "functools.partial": ["import functools\ndef mine(one, *a): return one(*a)", MINE.replace("mine", "other"),
                          "gates = functools.partial(mine, other)", CHECK],
    "an object that can be called": [f"class S:{METHOD.replace('gates(', '__call__(')}\ngates = S()", CHECK],
    "made in with, if, for and try": [
        "with torch.no_grad():\n  if True:\n    for _ in range(1):\n      try:\n        "
        + GATES.strip().replace("\n", "\n        ") + "\n      finally:\n        pass", CHECK],
    "made in a match": ["match 1:\n    case 1:\n        " + GATES.strip().replace("\n", "\n        "), CHECK],
    "bound by a walrus": [MINE + "print(gates := mine)", CHECK],
    "bound by for": [MINE + "for gates in [mine]: pass", CHECK],
    "checked as a lambda": [MINE, 'check("gates", lambda *a: mine(*a))'],
    "checked as an item": [MINE, 'answers = {"gates": mine}', 'check("gates", answers["gates"])'],
    "checked as what a call returns": [
        f"class Act: pass\ndef make():\n    {indented(GATES).strip()}\n    return gates", 'check("gates", make())'],
    "checked in a loop": [MINE, 'for name, answer in [("gates", mine)]:\n    print(check(name, answer))'],
    "checked in a loop over a dictionary": [MINE, 'found = {"gates": mine}\nfor pair in found.items(): check(*pair)'],
    "checked with names turned": [MINE, 'check(answer=mine, question="gates")'],
    "checked under another name": [MINE, 'from companion.check import check as test\ntest("gates", mine)'],
    "checked through the module": [MINE, 'import companion.check as c\nassert c.check("gates", mine).ok'],
    "checked in its own cell": [f'{MINE}\nresult = check("gates", mine); mine = None\nresult'],
    "a stub is left": [STUB, MINE, 'check("gates", mine)'],
    "a stub is left, and an instance asked": [STUB, f"class S:{METHOD}", 's = S()\ncheck("gates", s.gates)'],
    "a class of torch of the same name": [CELL.replace("LSTMCell", "Mine"), "from torch.nn import *",
                                          CHECK_CELL.replace("LSTMCell", "Mine")],
}  # fmt: skip


def graded(worker, folder, cells, question="gates"):
    cells = [cell(FIRST), *cells]
    put(folder, "a", "lstm.ipynb", {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5})
    return judge.grade(worker, question, sent(folder, "a").answers.get(question), 5, "en", WORDS)


@pytest.mark.parametrize("named", [True, False])
@pytest.mark.parametrize("name", RIGHT)
def test_an_answer_that_its_check_calls_right_is_right(worker, tmp_path, name, named):
    sources = RIGHT[name]
    question = "lstm_cell" if "lstm_cell" in "".join(sources) else "gates"
    first = next(source for source in sources if any(word in source for word in ("gates", "class", "mine")))
    cells = [cell(source, question if named and source is first else "") for source in [*sources, ""]]
    assert graded(worker, tmp_path, cells, question).mistakes == []


@pytest.mark.parametrize("name", RIGHT)
def test_the_check_in_the_notebook_says_so(name, monkeypatch):
    """Prove that the answers above are right."""
    results, real, main = [], checker.check, types.ModuleType("__main__")
    monkeypatch.setattr(checker, "check", lambda *given, **named: results.append(real(*given, **named)) or results[-1])
    monkeypatch.setitem(sys.modules, "__main__", main)
    for source in [FIRST, *RIGHT[name]]:
        exec(source, vars(main))
    assert results[-1].ok if results else CHECK not in "".join(RIGHT[name])


@pytest.mark.parametrize("sources, function", [
    (["def squash(a):\n    raise NotImplementedError", GATES.replace("torch.sigmoid", "squash")], "squash"),
    (["class Act(nn.Module):\n    def forward(self, a):\n        raise NotImplementedError",
      GATES.replace("torch.sigmoid", "Act()")], "Act.forward"),
    ([f"{GATES}    def inner(a):\n        raise NotImplementedError\n".replace("    return i, f, g, o\n", "")
      + "    return inner(i)"], "inner"),
    (["def half(a):\n    return a / None", GATES.replace("torch.sigmoid", "half")], "half"),
    ([STUB], ""),
    ([GATES.replace("torch.sigmoid", "half")], ""),
])  # fmt: skip
def test_an_error_names_the_function_that_raised_it(worker, tmp_path, sources, function):
    verdict = graded(worker, tmp_path, map(cell, sources))
    sentence, _, end = messages.words("en")["results"]["in_function"].partition("{name}")
    text = "\n".join(verdict.paragraphs)
    assert (f"{sentence}{function}{end}" in text) if function else (sentence not in text)


@pytest.mark.parametrize("sources, count", [
    ([SWAPPED, CHECK], 1),
    (["x = torch.ones(2)\nimport math", SWAPPED, CHECK, "x = 2\nh = [x]\nh.append(3)\ntorch.manual_seed(0)"], 1),
    ([f"{SWAPPED}\n{SWAP}", CHECK, f"{SWAP}\nprint(gates)"], 1),
    ([SWAP, SWAPPED, "gates = mended(mended(gates))", CHECK], 2),  # as the check saw it
    ([SWAP, SWAPPED, "gates = mended(mended(gates))"], 2),  # as it is at the end
    ([SWAP, SWAPPED, "gates = mended(mended(gates))", CHECK, "gates = mended(gates)"], 3),  # right at the end
])  # fmt: skip
def test_a_wrong_answer_is_run_again_only_if_something_changes_it_below(worker, tmp_path, sources, count):
    listening = Listening(worker)
    cells = [cell(source, "gates" if "def gates" in source else "") for source in sources]
    verdict = graded(listening, tmp_path, cells)
    assert sum(job["needed"] for job, _ in listening.heard) == count
    assert verdict.mistakes == ([] if count == 3 else ["gates_f_i_g_o"])
