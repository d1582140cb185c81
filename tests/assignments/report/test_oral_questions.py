"""Oral questions about a student's own code.

The stored answers are compared with changed programs that are run here. Odd and hostile answers are tried, and who sees
the answers is checked.
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


def by_hand(definition, answer, question=None):
    """Run a program on all probes, with one line changed as a question says, and return its outcomes."""
    space = dict.fromkeys(("check", "progress", "student", "variant"), lambda *_args: None)
    for number, source in answer.cells:
        lines = source.split("\n")
        if question and number == question["cell"]:
            old = lines[question["line"] - 1]
            assert old.strip() == question["old"]
            indent = old[: len(old) - len(old.lstrip())]
            lines[question["line"] - 1] = indent + (question["new"] or "pass")
        exec("\n".join(line for line in lines if not line.startswith("from companion.check import")), space)
    function = next(space[name] for name in answer.names if name in space)
    return [observe(definition.call, function, probe) for probe in bank(definition.name, SEED).probes]


def same(first, other):
    return first.shape == other.shape and torch.allclose(first, other, atol=1e-5)


def right_by_hand(question, before, after):
    """Return the numbers of the right options, from the outcomes of the program and of its changed copy."""
    probe = question["probes"][0]
    old, new = before[probe], after[probe]
    right = []
    for number, (kind, *details) in enumerate(question["options"]):
        if kind == "input":
            first, second = before[question["probes"][number]], after[question["probes"][number]]
            is_right = not second.error and all(
                same(value, second.values[name]) for name, value in first.values.items()
            )
        elif kind == "error":
            is_right = bool(new.error) and new.error.get("type", "").replace("UnboundLocal", "Name") == details[0]
        elif kind == "form":
            is_right = bool(new.error) and new.error["kind"] != "raises_error"
        elif new.error:
            is_right = False
        elif kind == "name":
            is_right = not same(old.values[details[0]], new.values[details[0]])
        elif kind == "value":
            name, *part = re.split(r"\[(?=\d+\]$)|\]\[|\]", question["name"])
            value = new.values[name][tuple(int(index) for index in part if index)] if name in new.values else None
            expected = torch.tensor(json.loads(details[0]), dtype=torch.float64).flatten()
            is_right = torch.allclose(
                new.values[question["name"]] if value is None else value.flatten(), expected, atol=6e-4
            )
        elif kind == "shape":
            is_right = list(new.values[details[0]].shape) == details[1]
        else:
            shapes = all(value.shape == new.values[name].shape for name, value in old.values.items())
            numbers = shapes and all(same(value, new.values[name]) for name, value in old.values.items())
            is_right = numbers if kind == "same" else shapes and not numbers
        right += [number] if is_right else []
    return right


@pytest.mark.parametrize("question", chosen([*all_questions()], *QUICKLY))
def test_stored_answers_equal_the_changed_programs_outcome(worker, question):
    definition, answer = all_questions()[question], solution(question)
    questions = oral_questions.make_questions(worker, all_questions()[question], answer, SEED)
    # no questions about `evaluate`, whose call passes a model, and about trained questions
    assert (0 if definition.training_goal or question == "evaluate" else 2) <= len(questions) <= 3
    before = by_hand(definition, answer) if questions else None
    for made in questions:
        assert made["answer"] == right_by_hand(made, before, by_hand(definition, answer, made)), made
        assert 0 < len(made["answer"]) < len(made["options"])
        assert len({json.dumps(option) for option in made["options"]}) == len(made["options"])
    assert len({(made["line"], made["new"]) for made in questions}) == len(questions)


def test_same_seed_gives_the_same_questions(worker):
    first, second, other = (
        oral_questions.make_questions(worker, all_questions()["gates"], answer(GATES), seed) for seed in (3, 3, 4)
    )
    assert first == second != other


@pytest.mark.parametrize("question", SOURCES)
def test_change_is_in_one_printable_line(question):
    source = SOURCES[question]
    names = set(re.findall(r"^(?:def|class) (\w+)", source, re.M))
    changes = mutations.all_changes(1, source, names)
    assert len(changes) > 5 and mutations.all_changes(1, source, {"torch"}) == []
    for change in changes:
        lines = [*zip(source.split("\n"), change.source.split("\n"), strict=True)]
        differ = [number for number, (old, new) in enumerate(lines, 1) if old != new]
        assert differ == [change.line]
        assert (change.old, change.new or "pass") == tuple(line.strip() for line in lines[change.line - 1])


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
def test_changes_of_a_line(line):
    changes = mutations.all_changes(1, f"def f(x):\n    {line}\n", {"f"})
    assert {change.new for change in changes} == CHANGES[line]


# Answers that are right, with changes that are difficult to run
LOOKUP = "def lookup(weight, indices):\n"
ODD = {
    "never ends": "    n = 3\n    while n > 0:\n        n = n - 1\n    return weight[indices]",
    "catches everything": "    n = 3\n    while n > 0:\n        try:\n            n = n - 1\n        except:\n            pass\n"  # noqa: E501
                          "    return weight[indices]",
    "an error of its own": "    if not len(weight):\n        raise type('<b>Oops</b>', (Exception,), {})()\n"
                           "    return weight[indices]",
    "chance": "    import random\n    return weight[indices] * (1 + 0 * random.random()) + 0 * torch.rand(1)",
    # a block of this size is newly allocated each time, and full of zeros
    "what nobody wrote": "    rows = torch.empty(5_000_000)[: indices.numel() * weight.shape[-1]]\n"
                         "    rows = rows.reshape(*indices.shape, weight.shape[-1])\n    rows[:] = weight[indices]\n"
                         "    return rows",
    "ends the program": "    n = 1\n    if n < 1:\n        import os\n        os._exit(0)\n    return weight[indices]",
    "HTML": "    marked = '<script>alert(1)</script>' + '`'\n    rows = weight[indices] + 0\n    return rows",
    "nothing but a call": "    return (lambda: weight[indices])()",
    "much": "    n = 1\n    rows = weight[indices].repeat(n ** 2, *[1] * indices.dim())[: len(indices)]\n    return rows",  # noqa: E501
}  # fmt: skip


@pytest.mark.parametrize("name", chosen(ODD, "chance", "HTML"))
def test_questions_about_odd_answers(worker, name):
    sent = answer(LOOKUP + ODD[name], "lookup")
    assert judge.grade(worker, "lookup", sent, SEED, "en", pages.words("en"), QUICK).ok
    questions = oral_questions.make_questions(worker, all_questions()["lookup"], sent, SEED)
    definition, before = all_questions()["lookup"], by_hand(all_questions()["lookup"], sent)
    for question in questions:
        assert "n = n - 1" not in question["old"] or question["new"] and question["kind"] != "number"
        assert name != "chance" or "rand" not in question["new"] or question["new"].count("0 *") == 2
        if name != "never ends" and name != "catches everything" and name != "ends the program":
            assert question["answer"] == right_by_hand(question, before, by_hand(definition, sent, question)), question
    shown = oral_pages.below({"own_code": questions}, "en")
    assert not BeautifulSoup(shown, "html.parser").find_all(["script", "b", "img"])
    assert "Oops" not in json.dumps([question["options"] for question in questions])


UNSURE = {
    "never ends": ("n = n - 1", "pass"), "what nobody wrote": ("rows[:] = weight[indices]", "pass"),
    "chance": ("(1 + 0 * random", "(1 + 0 + random"),
}  # fmt: skip


@pytest.mark.parametrize("name", chosen(UNSURE, [*UNSURE][0]))
def test_slow_or_random_changes_have_no_outcome(worker, name):
    listening, source = Listening(worker), LOOKUP + ODD[name]
    assert oral_questions.make_questions(listening, all_questions()["lookup"], answer(source, "lookup"), SEED)
    job, reply = listening.heard[0]
    runs = json.loads(protocol.split_protections(reply["said"])[1])
    position = 1 + job["changes"].index([2, source.replace(*UNSURE[name])])
    assert not any(runs[position]) and sum(map(any, runs)) > 1


def test_wrong_answers_get_no_questions(worker):
    assert (
        oral_questions.make_questions(
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
def test_effect_of_a_change(name):
    after, label = EFFECTS[name]
    effect = effects.effect_of(outcome(1, 2), after)
    assert (effect and effect.label) == label


def test_unprintable_numbers_are_not_asked_for():
    assert oral_questions.format_numbers(torch.tensor([[0.25]], dtype=torch.float64)) == "0.25"
    assert oral_questions.format_numbers(torch.tensor([-0.0001, 1.23456])) == "[0, 1.235]"
    for number in (0.1235, 2000.0, torch.inf, torch.nan):
        assert oral_questions.format_numbers(torch.tensor([number], dtype=torch.float64)) == ""
    tried = [mutations.Change(1, line, "drop", "y = 1", "", "") for line in range(5)]
    for largest, count in ((5.0, 5), (5000.0, 4)):
        after = [[outcome(number)] for number in (2.0, 3.0, 4.0, 4.5, largest)]
        maker = oral_questions.QuestionMaker(
            {0: Probe("several", {})}, [outcome(1.0)], tried, after, oral_questions.random.Random(1)
        )
        assert sum(bool(maker.number(place)) for place in range(5)) == count


FORGED = [
    "", "null", "{}", "[1]", "[[1, 2, 3]]", '[[0, "", false]]', "[[null, null, null]]", '[["a", "b", "c"]]',
    "[" * 99_999,
    json.dumps([[{"values": {"<b>": {"kind": "float64", "shape": [1], "numbers": [0]}}, "notes": {},
    "error": None}] * 3]),
    json.dumps([[{"values": {}, "notes": {}, "error": {"kind": "<b>", "said": {}}}] * 3]),
    json.dumps([[]] * 999),
]  # fmt: skip


@pytest.mark.parametrize("message", FORGED)
def test_forged_messages_give_no_questions(message):
    class Forging:
        def ask(self, job):
            return {"ended": "", "said": f"[]\n{message}", "seconds": 0}

    honest = answer(LOOKUP + "    rows = weight[indices]\n    return rows", "lookup")
    assert oral_questions.make_questions(Forging(), all_questions()["lookup"], honest, SEED) == []


def test_forged_outcomes_of_changes_give_no_questions(worker):
    honest = answer(LOOKUP + "    rows = weight[indices]\n    return rows", "lookup")

    def questions_with(forged):
        class Forging:
            def ask(self, job):
                reply = worker.ask(job)
                walls, content = reply["said"].split("\n")
                runs = json.loads(content)
                for outcome_sent in runs[-1]:
                    outcome_sent["values"].update(forged)
                return reply | {"said": f"{walls}\n{json.dumps(runs)}"}

        return oral_questions.make_questions(Forging(), all_questions()["lookup"], honest, SEED)

    assert questions_with({})
    assert questions_with({"rows": {"kind": "float64", "shape": [1], "numbers": ["<b>"]}}) == []


def test_changed_program_runs_in_the_sandbox(worker):
    listening = Listening(worker)
    source = (
        f"    n = 0\n    if n > 0:\n        n = len(open('{worker.secret}/answer.txt').read())\n    return"
        " weight[indices] + n"
    )
    oral_questions.make_questions(listening, all_questions()["lookup"], answer(LOOKUP + source, "lookup"), SEED)
    _, _, message = listening.heard[0][1]["said"].partition("\n")
    kinds = {
        outcome_read["error"]["type"]
        for run in json.loads(message)
        for outcome_read in run
        if outcome_read and outcome_read["error"]
    }
    assert kinds & {"FileNotFoundError", "PermissionError"}


# A batch

LEFT = {"gates": GATES, "one_bias": "def one_bias(weights):\n    return None"}


def test_batch_with_questions(grading_in_process, tmp_path, no_gradebook):
    put(tmp_path, "ada", "lstm.ipynb", notebook(LEFT))
    output = tmp_path / "grades"

    def graded(**more):
        options = {"wanted": ["lstm"], "limits": QUICK | {"own_code": True}, "say": str} | more
        result = Batch(tmp_path, output, **options).grade(1)["ada"]
        return {verdict["question"]: verdict["own_code"] for verdict in result["verdicts"]}

    first = graded()
    assert [name for name, questions in first.items() if questions] == ["gates"]
    assert graded(again=["ada"]) == first
    assert graded(again=["ada"], fresh=True) != first

    page_texts = {name: (output / name).read_text() for name in (
        "feedback/ada.html", "sheets.html", "questions.html", "review/ada.html", "summary.html")}  # fmt: skip
    word = pages.words("en")["own_code"]["answer"]
    shown = {name: (text.count('<ol class="own">'), text.count(word)) for name, text in page_texts.items()}
    assert shown == {
        "feedback/ada.html": (1, 0), "sheets.html": (1, 0), "questions.html": (1, 3), "review/ada.html": (1, 3),
        "summary.html": (0, 0),
    }  # fmt: skip
    assert "questions.html" in page_texts["summary.html"]

    assert not any(graded(limits=QUICK).values())
    assert not (output / "questions.html").exists() and not (output / "sheets.html").exists()


def test_pages_without_answers_are_equal_for_all_answers():
    question = {
        "kind": "which", "cell": 2, "line": 3, "old": "a <b>", "new": "", "name": "", "probes": [0],
        "input": [{"name": "x", "shape": [2], "numbers": "", "zeros": True}, {"calls": 2}],
        "options": [["name", "grad of x"], ["name", "h"]], "answer": [0],
    }  # fmt: skip
    made = [oral_pages.below({"own_code": [question | {"answer": answer}]}, "en") for answer in ([0], [1])]
    assert made[0] == made[1] and "a &lt;b&gt;" in made[0]
