"""Questions about one's own code: whether what is stored as right is what the changed program gives, run here by hand;
what odd and hostile answers gain; and who is shown what.
"""

import json
import re

import pytest
import torch
from bs4 import BeautifulSoup

from assignments.batch import Batch
from assignments.grade import judge
from assignments.read import answers
from assignments.report import pages
from assignments.report.oral import effects, mutations
from assignments.report.oral import pages as oral_pages
from assignments.report.oral import questions as oral_questions
from assignments.sandbox import protocol
from companion.check.engine.probe import Outcome, Probe
from companion.check.engine.question import all_questions, bank
from companion.check.engine.run_answer import observe
from tests.assignments.grading import IMPORTS, QUICK, Listening, notebook, put
from tests.check.lstm_answers import GATES, SOURCES
from tests.project.paths import ROOT
from tests.project.sampling import chosen

SEED = 5
QUICKLY = ("lookup", "weight_gradient", "rnn", "lstm_cell")


def solution(question):
    name = all_questions()[question].assignment
    return answers.read_submission("student", ROOT / f"assignments/source/en/{name}.ipynb").answers[question]


def answer(source, name="gates"):
    return answers.Answer([[1, IMPORTS], [2, source]], [name], True, cell=2)


def by_hand(asked, sent, one=None):
    """What a program gives on all probes, changed as a question says: only its line is put in."""
    space = dict.fromkeys(("check", "progress", "student", "variant"), lambda *said: None)
    for number, source in sent.cells:
        lines = source.split("\n")
        if one and number == one["cell"]:
            old = lines[one["line"] - 1]
            assert old.strip() == one["old"]
            indent = old[: len(old) - len(old.lstrip())]
            lines[one["line"] - 1] = indent + (one["new"] or "pass")
        exec("\n".join(one for one in lines if not one.startswith("from companion.check import")), space)
    found = next(space[name] for name in sent.names if name in space)
    return [observe(asked.call, found, probe) for probe in bank(asked.name, SEED).probes]


def same(one, other):
    return one.shape == other.shape and torch.allclose(one, other, atol=1e-5)


def right_by_hand(one, before, after):
    """Which options are right, from all that came of the program as it was and as it is changed."""
    number = one["probes"][0]
    was, now = before[number], after[number]
    found = []
    for place, (kind, *more) in enumerate(one["options"]):
        if kind == "input":
            there, then = before[one["probes"][place]], after[one["probes"][place]]
            true = not then.error and all(same(value, then.values[name]) for name, value in there.values.items())
        elif kind == "error":
            true = bool(now.error) and now.error.get("type", "").replace("UnboundLocal", "Name") == more[0]
        elif kind == "form":
            true = bool(now.error) and now.error["kind"] != "raises_error"
        elif now.error:
            true = False
        elif kind == "name":
            true = not same(was.values[more[0]], now.values[more[0]])
        elif kind == "value":
            name, *part = re.split(r"\[(?=\d+\]$)|\]\[|\]", one["name"])
            value = now.values[name][tuple(int(index) for index in part if index)] if name in now.values else None
            said = torch.tensor(json.loads(more[0]), dtype=torch.float64).flatten()
            true = torch.allclose(now.values[one["name"]] if value is None else value.flatten(), said, atol=6e-4)
        elif kind == "shape":
            true = list(now.values[more[0]].shape) == more[1]
        else:
            shapes = all(value.shape == now.values[name].shape for name, value in was.values.items())
            numbers = shapes and all(same(value, now.values[name]) for name, value in was.values.items())
            true = numbers if kind == "same" else shapes and not numbers
        found += [place] if true else []
    return found


@pytest.mark.parametrize("question", chosen([*all_questions()], *QUICKLY))
def test_what_is_right_is_what_the_changed_program_gives(worker, question):
    asked, sent = all_questions()[question], solution(question)
    questions = oral_questions.ask(worker, all_questions()[question], sent, SEED)
    # of evaluate nothing is asked: its call hands over a model; nor of networks that are trained
    assert (0 if asked.training_goal or question == "evaluate" else 2) <= len(questions) <= 3
    before = by_hand(asked, sent) if questions else None
    for one in questions:
        assert one["answer"] == right_by_hand(one, before, by_hand(asked, sent, one)), one
        assert 0 < len(one["answer"]) < len(one["options"])
        assert len({json.dumps(option) for option in one["options"]}) == len(one["options"])
    assert len({(one["line"], one["new"]) for one in questions}) == len(questions)


def test_the_same_seed_asks_the_same(worker):
    first, again, other = (
        oral_questions.ask(worker, all_questions()["gates"], answer(GATES), seed) for seed in (3, 3, 4)
    )
    assert first == again != other


@pytest.mark.parametrize("question", SOURCES)
def test_a_change_is_in_one_line_that_can_be_shown(question):
    source = SOURCES[question]
    names = set(re.findall(r"^(?:def|class) (\w+)", source, re.M))
    found = mutations.changes(1, source, names)
    assert len(found) > 5 and mutations.changes(1, source, {"torch"}) == []
    for one in found:
        lines = [*zip(source.split("\n"), one.source.split("\n"), strict=True)]
        differ = [number for number, (old, new) in enumerate(lines, 1) if old != new]
        assert differ == [one.line]
        assert (one.old, one.new or "pass") == tuple(line.strip() for line in lines[one.line - 1])


CHANGES = {
    "c = f * c + i * g": {"", "c = f + c + i * g", "c = f * c + i + g", "c = f * c - i * g", "c = f * c"},
    "y = é.T @ w": {"", "y = é @ w"},
    "h, c = c, h": {"", "c, h = c, h", "h, c = h, c"},
    "a = x[-1] + y[:1]": {"", "a = x[-1] - y[:1]", "a = x[-1]", "a = x[0] + y[:1]", "a = x[-1] + y[:0]"},
    "s.append(x)  # kept": {""},
    "return x.detach()": {"return x"},
    "return torch.stack(s, dim=-1)": {"return torch.stack(s, dim=-1).detach()", "return torch.stack(s, dim=0)"},
    "for t in reversed(range(n)): pass": {"for t in range(n): pass"},
    "return x if n is None else n": {"return x if n is not None else n"},
    "a = 1; b = 2": set(),
    "a = '" + 100 * "x" + "' + b": set(),
    "a = '\u202e' + b": set(),
}


@pytest.mark.parametrize("line", CHANGES)
def test_changes(line):
    found = mutations.changes(1, f"def f(x):\n    {line}\n", {"f"})
    assert {one.new for one in found} == CHANGES[line]


# Answers that are right until they are changed
LOOKUP = "def lookup(weight, indices):\n"
ODD = {
    "never ends": "    n = 3\n    while n > 0:\n        n = n - 1\n    return weight[indices]",
    "catches everything": "    n = 3\n    while n > 0:\n        try:\n            n = n - 1\n        except:\n            pass\n"  # noqa: E501
                          "    return weight[indices]",
    "an error of its own": "    if not len(weight):\n        raise type('<b>Oops</b>', (Exception,), {})()\n"
                           "    return weight[indices]",
    "chance": "    import random\n    return weight[indices] * (1 + 0 * random.random()) + 0 * torch.rand(1)",
    # so much memory is fresh each time, and full of zeros
    "what nobody wrote": "    rows = torch.empty(5_000_000)[: indices.numel() * weight.shape[-1]]\n"
                         "    rows = rows.reshape(*indices.shape, weight.shape[-1])\n    rows[:] = weight[indices]\n"
                         "    return rows",
    "ends the program": "    n = 1\n    if n < 1:\n        import os\n        os._exit(0)\n    return weight[indices]",
    "HTML": "    marked = '<script>alert(1)</script>' + '`'\n    rows = weight[indices] + 0\n    return rows",
    "nothing but a call": "    return (lambda: weight[indices])()",
    "much": "    n = 1\n    rows = weight[indices].repeat(n ** 2, *[1] * indices.dim())[: len(indices)]\n    return rows",  # noqa: E501
}  # fmt: skip


@pytest.mark.parametrize("name", chosen(ODD, "chance", "HTML"))
def test_odd_answers_are_asked_about_or_not(worker, name):
    sent = answer(LOOKUP + ODD[name], "lookup")
    assert judge.grade(worker, "lookup", sent, SEED, "en", pages.words("en"), QUICK).ok
    questions = oral_questions.ask(worker, all_questions()["lookup"], sent, SEED)
    asked, before = all_questions()["lookup"], by_hand(all_questions()["lookup"], sent)
    for one in questions:
        assert "n = n - 1" not in one["old"] or one["new"] and one["kind"] != "number"
        assert name != "chance" or "rand" not in one["new"] or one["new"].count("0 *") == 2
        if name != "never ends" and name != "catches everything" and name != "ends the program":
            assert one["answer"] == right_by_hand(one, before, by_hand(asked, sent, one)), one
    shown = oral_pages.below({"own_code": questions}, "en")
    assert not BeautifulSoup(shown, "html.parser").find_all(["script", "b", "img"])
    assert "Oops" not in json.dumps([one["options"] for one in questions])


UNSURE = {
    "never ends": ("n = n - 1", "pass"), "what nobody wrote": ("rows[:] = weight[indices]", "pass"),
    "chance": ("(1 + 0 * random", "(1 + 0 + random"),
}  # fmt: skip


@pytest.mark.parametrize("name", chosen(UNSURE, [*UNSURE][0]))
def test_what_takes_long_or_hangs_on_chance_gives_nothing(worker, name):
    listening, source = Listening(worker), LOOKUP + ODD[name]
    assert oral_questions.ask(listening, all_questions()["lookup"], answer(source, "lookup"), SEED)
    job, ended = listening.heard[0]
    runs = json.loads(protocol.split_protections(ended["said"])[1])
    place = 1 + job["changes"].index([2, source.replace(*UNSURE[name])])
    assert not any(runs[place]) and sum(map(any, runs)) > 1


def test_no_wrong_answer_is_asked_about(worker):
    assert (
        oral_questions.ask(
            worker,
            all_questions()["lookup"],
            answer(LOOKUP + "    rows = 2 * weight[indices]\n    return rows", "lookup"),
            SEED,
        )
        == []
    )


def outcome(*numbers, error=None, **notes):
    return Outcome({"y": torch.tensor(numbers, dtype=torch.float64)} if numbers else {}, notes, error)


EFFECTS = {
    "the same": (outcome(1, 2), ("same",)), "rounded": (outcome(1 + 1e-9, 2), ("same",)), "near": (outcome(1 + 1e-5, 2),
    None),
    "others": (outcome(1.1, 2), ("numbers",)), "a shape": (outcome(1), ("shape", "y", [1])), "lost": (outcome(), None),
    "noted": (outcome(1, 2, changed=["x"]), None), "none": (None, None),
    "an error": (outcome(error={"kind": "raises_error", "type": "IndexError"}), ("error", "IndexError")),
    "a name": (outcome(error={"kind": "raises_error", "type": "UnboundLocalError"}), ("error", "NameError")),
    "an error of its own": (outcome(error={"kind": "raises_error", "type": "Oops"}), ("error", "")),
    "no error": (outcome(error={"kind": "raises_error", "type": "print"}), ("error", "")),
    "a form": (outcome(error={"kind": "returns_none", "said": {}}), ("form",)),
}  # fmt: skip


@pytest.mark.parametrize("name", EFFECTS)
def test_what_a_change_does(name):
    after, label = EFFECTS[name]
    found = effects.effect(outcome(1, 2), after)
    assert (found and found.label) == label


def test_numbers_that_cannot_be_written_down_are_not_asked_for():
    assert oral_questions.spelled(torch.tensor([[0.25]], dtype=torch.float64)) == "0.25"
    assert oral_questions.spelled(torch.tensor([-0.0001, 1.23456])) == "[0, 1.235]"
    for one in (0.1235, 2000.0, torch.inf, torch.nan):
        assert oral_questions.spelled(torch.tensor([one], dtype=torch.float64)) == ""
    tried = [mutations.Change(1, line, "drop", "y = 1", "", "") for line in range(5)]
    for largest, asked in ((5.0, 5), (5000.0, 4)):
        after = [[outcome(number)] for number in (2.0, 3.0, 4.0, 4.5, largest)]
        made = oral_questions.Asking(
            {0: Probe("several", {})}, [outcome(1.0)], tried, after, oral_questions.random.Random(1)
        )
        assert sum(bool(made.number(at)) for at in range(5)) == asked


FORGED = [
    "", "null", "{}", "[1]", "[[1, 2, 3]]", '[[0, "", false]]', "[[null, null, null]]", '[["a", "b", "c"]]',
    "[" * 99_999,
    json.dumps([[{"values": {"<b>": {"kind": "float64", "shape": [1], "numbers": [0]}}, "notes": {},
    "error": None}] * 3]),
    json.dumps([[{"values": {}, "notes": {}, "error": {"kind": "<b>", "said": {}}}] * 3]),
    json.dumps([[]] * 999),
]  # fmt: skip


@pytest.mark.parametrize("said", FORGED)
def test_what_is_forged_is_not_asked_about(said):
    class Forging:
        def ask(self, job):
            return {"ended": "", "said": f"[]\n{said}", "seconds": 0}

    sent = answer(LOOKUP + "    rows = weight[indices]\n    return rows", "lookup")
    assert oral_questions.ask(Forging(), all_questions()["lookup"], sent, SEED) == []


def test_what_is_forged_of_changes_alone_is_not_asked_about(worker):
    sent = answer(LOOKUP + "    rows = weight[indices]\n    return rows", "lookup")

    def asked(forged):
        class Forging:
            def ask(self, job):
                ended = worker.ask(job)
                walls, said = ended["said"].split("\n")
                runs = json.loads(said)
                for one in runs[-1]:
                    one["values"].update(forged)
                return ended | {"said": f"{walls}\n{json.dumps(runs)}"}

        return oral_questions.ask(Forging(), all_questions()["lookup"], sent, SEED)

    assert asked({})
    assert asked({"rows": {"kind": "float64", "shape": [1], "numbers": ["<b>"]}}) == []


def test_a_changed_program_runs_behind_the_walls(worker):
    listening = Listening(worker)
    source = (
        f"    n = 0\n    if n > 0:\n        n = len(open('{worker.secret}/answer.txt').read())\n    return"
        " weight[indices] + n"
    )
    oral_questions.ask(listening, all_questions()["lookup"], answer(LOOKUP + source, "lookup"), SEED)
    _, _, said = listening.heard[0][1]["said"].partition("\n")
    kinds = {one["error"]["type"] for run in json.loads(said) for one in run if one and one["error"]}
    assert kinds & {"FileNotFoundError", "PermissionError"}


# A batch

LEFT = {"gates": GATES, "one_bias": "def one_bias(weights):\n    return None"}


def test_a_batch_with_questions(here, tmp_path, no_gradebook):
    put(tmp_path, "ada", "lstm.ipynb", notebook(LEFT))
    output = tmp_path / "grades"

    def graded(**more):
        options = {"wanted": ["lstm"], "limits": QUICK | {"own_code": True}, "say": str} | more
        result = Batch(tmp_path, output, **options).grade(1)["ada"]
        return {one["question"]: one["own_code"] for one in result["verdicts"]}

    first = graded()
    assert [name for name, questions in first.items() if questions] == ["gates"]
    assert graded(again=["ada"]) == first
    assert graded(again=["ada"], fresh=True) != first

    said = {name: (output / name).read_text() for name in (
        "feedback/ada.html", "sheets.html", "questions.html", "review/ada.html", "summary.html")}  # fmt: skip
    word = pages.words("en")["own_code"]["answer"]
    shown = {name: (text.count('<ol class="own">'), text.count(word)) for name, text in said.items()}
    assert shown == {
        "feedback/ada.html": (1, 0), "sheets.html": (1, 0), "questions.html": (1, 3), "review/ada.html": (1, 3),
        "summary.html": (0, 0),
    }  # fmt: skip
    assert "questions.html" in said["summary.html"]

    assert not any(graded(limits=QUICK).values())
    assert not (output / "questions.html").exists() and not (output / "sheets.html").exists()


def test_pages_without_answers_do_not_depend_on_them():
    one = {
        "kind": "which", "cell": 2, "line": 3, "old": "a <b>", "new": "", "name": "", "probes": [0],
        "input": [{"name": "x", "shape": [2], "numbers": "", "zeros": True}, {"calls": 2}],
        "options": [["name", "grad of x"], ["name", "h"]], "answer": [0],
    }  # fmt: skip
    made = [oral_pages.below({"own_code": [one | {"answer": answer}]}, "en") for answer in ([0], [1])]
    assert made[0] == made[1] and "a &lt;b&gt;" in made[0]
