"""Test which name selects a student's variants, and the points of a copied variant."""

import pytest
import torch
from bs4 import BeautifulSoup

from assignments.batch import Batch
from assignments.read import notebooks
from assignments.read.notebooks import LONG_CELL
from assignments.read.student_name import declared_name, name_for_variants
from assignments.report import pages
from companion.check.engine import messages, session
from companion.check.engine.diagnosis import diagnose
from companion.check.engine.question import all_questions, bank
from companion.check.engine.run_answer import observe
from tests.assignments.grading import IMPORTS, WORDS, cell, put, rows

CLASS = ["ada", "Bo Li", "s20260007", "zoë müller_12_assignsubmission_file"]


# Cells with a call, in order, of which the last one counts.
READABLE = [
    ['student("Zoe")'],
    ["import torch\nstudent('20260007')  # your name or number"],
    ['student(name = "Bo Li", lang="ko")'],
    ['student("")', 'student("Zoë \'Z\' Müller")'],
    ['student("ada")', 'student("bo")'],
    ["student(1002)"],
    ["student(3.50)"],
    ['student(" Zoe\t")'],
    ['me = "Zoe"\nstudent(me)'],
    ['name = "Zoe" #@param {type:"string"}', "student(name)"],
    ['me = "bo"\nme = "Zoe"\nstudent(me)\nme = "cy"'],
    ['first, last = "Zoe", "Li"\nstudent(f"{first} {last!s:>4}")'],
    ['student(r"Zo\\e")'],
    ['student("""Zoe""")'],
    ['me = student("Zoe")'],
    ['print(student("Zoe"))'],
    ['display(student("Zoe"), student("bo"))'],
    ['if True:\n    student("Zoe")'],
    ['x = 1; student("Zoe"); x = 2'],
    ['student ("Zoe")'],
    ['student(  # my name\n    "Zoe"\n)'],
    ['student("Zo" "e")'],
    ["student('O\\'Brien')"],
    ['student("Zo\\u00eb")'],
    ['student("{} {last}".format("Zoe", last="Li"))'],
    ['import companion.check\ncompanion.check.student("Zoe")'],
    ["from companion import check\ncheck.student('Zoe')"],
    ['from companion.check import check, student as s\ns("Zoe")'],
    ['student("Zo" + \'e\')'],
    ["student(str(1002))"],
    ['NAME: str = " zoe ".strip().title()\nstudent(NAME)'],
    ['number = 7\nnumber += 1000\nstudent("s%05d" % number)'],
    ['student(me := "Zoe")'],
    ['who = {"name": "Zoe", "number": 7}\nstudent(who["name"])'],
    ['for name in ["bo", "Zoe"]:\n    student(name)'],
    ['sign_in = student\nsign_in("Zoe")'],
    ['def begin():\n    return student("Zoe")', "begin()"],
    ['name = ""', 'student(name or "Zoe")'],
    ['student("-".join(["Zoe", "Li"]))'],
    ['student("Zoe Li".split()[0])'],
    ['student(b"Zoe")'],
    ['try:\n    student("Zoe")\nexcept NameError:\n    pass'],
    ["student(ME)", 'ME = "Zoe"'],
    ["student(\"Zoe\", 'en')"],
    ["assert student('Zoe')"],
    ["student(-7)"],
    ['name = "bo"\ndef f(name):\n    return name\nstudent("Zoe")'],
]  # fmt: skip


@pytest.mark.parametrize("sources", READABLE)
def test_the_name_is_the_one_that_the_checker_registers(sources, monkeypatch):
    namespace, registered = {"display": print}, []
    monkeypatch.setattr(session, "NOTEBOOK", session.Session())
    for source in ["from companion.check import student", *sources]:
        try:
            exec(source, namespace)
        except NameError:  # bound further below
            namespace["ME"] = "Zoe"
            exec(source, namespace)
        registered.append(session.NOTEBOOK.name)
    assert declared_name(sources) == (registered[-1], False) and registered[-1]


@pytest.mark.parametrize("sources, name, unknown", [
    (['student("ada")', 'student("")', 'student(" ")'], "ada", False),
    (['%%capture\n%time student("Zoe")\n%matplotlib inline'], "Zoe", False),
    (["%prun -q student(7)"], "7", False),
    (['x = (\nstudent("Zoe")\nnot Python'], "Zoe", False),
    (['student("Zoe")\n' + "x = 1\n" * LONG_CELL], "Zoe", False),  # too long to parse
    (["x = student"], "", False),
    (['# student("ada")', 'print("student(1)")', "a_student(1)", "student()"], "", False),
    ([f'student("{"a" * 201}")'], "", True),
    (["student(input())"], "", True),
    (["student('\\ud800')"], "", True),  # no text
    (['student(rr"a")\n' + "x = 1\n" * LONG_CELL], "", False),
    (['student("ada")', "student(open('me').read())"], "ada", True),
    (['name = "bo"\ndef f(name):\n    student(name)\nf("ada")'], "", True),
    (['name = "bo"\nname = input()\nstudent(name)'], "", True),
    (['student("%09999999d" % 1)', 'student(f"{1:9999999}")', 'student("{:>{}}".format("a", 9 ** 9))'], "", True),
    ([], "", False),
])  # fmt: skip
def test_a_name_that_is_computed_is_unknown(sources, name, unknown):
    assert declared_name(map(notebooks.without_magic, sources)) == (name, unknown)


@pytest.mark.parametrize("student, declared, expected, remark", [
    ("ada", "ada", "ada", None),
    ("ada", " ADA", " ADA", None),
    ("ada", "", "ada", None),
    # a word of the folder's name, which selects another variant
    ("zoë müller_12_assignsubmission_file", "Zoe\u0308 Müller", "Zoe\u0308 Müller", None),
    ("s20260007", "20260007", "20260007", None),  # the same variant by chance
    ("ada", "ad", "ad", None),
    ("ada", "adal", "adal", "name_of_nobody"),  # a spelling that selects another variant
    ("ada", "Ada Lovelace", "Ada Lovelace", "name_of_nobody"),
    ("ada", "bo li", "ada", "name_of_another"),
    ("ada", "20260007", "ada", "name_of_another"),
    ("ada", "the queen", "the queen", "name_of_nobody"),
    ("ada", "the king", "the king", None),
])  # fmt: skip
def test_the_name_of_another_student_is_not_accepted(student, declared, expected, remark):
    questions = [all_questions()["gru_step"]]
    assert name_for_variants(student, declared, CLASS, questions) == (expected, remark and (remark, declared))
    # without fixed variants, every declared name is accepted
    assert name_for_variants(student, declared, None, questions) == (declared, None)
    without_variants = [all_questions()["gru_layer"]]
    assert name_for_variants(student, declared, CLASS, without_variants)[1] is None


STEP = """def gru_step(x, h, weight_ih, weight_hh, bias_ih, bias_hh):
    a, u = (x @ weight_ih.T + bias_ih).chunk(3, 1), (h @ weight_hh.T + bias_hh).chunk(3, 1)
    r, z = torch.sigmoid(a[{r}] + u[{r}]), torch.sigmoid(a[{z}] + u[{z}])
    n = torch.tanh(a[{n}] + r * u[{n}])
    return (1 - z) * n + z * h
"""
GATE_ORDER = {"gates_r_z_n": (0, 1, 2), "gates_z_r_n": (1, 0, 2), "gates_n_z_r": (2, 1, 0)}


def variant_of(name):
    return all_questions()["gru_step"].asked_of(name).variant


ADA = variant_of("ada")
OTHER = next(name for name in ("bo", "cy", "di", "eve") if variant_of(name) != ADA)  # gets another variant
POINTS = all_questions()["gru_step"].points


def hand_in(folder, student, declared, variant, call='student("{}")'):
    source = STEP.format(**dict(zip("rzn", GATE_ORDER[variant])))
    cells = [cell(IMPORTS), cell(call.format(declared)), cell('variant("gru_step")'), cell(source, "gru_step")]
    put(folder, student, "gru.ipynb", {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5})


def graded(folder, output, **more):
    results = Batch(folder, output, ("gru",), say=lambda text: None, **more).grade(1)
    return {name: (*rows(output)[name, "gru_step"], result["remarks"]) for name, result in results.items()}


def test_a_copied_variant_earns_no_points_and_is_named(tmp_path, grading_in_process):
    folder, output = tmp_path / "sent", tmp_path / "grades"
    for student in ("ada", OTHER):
        hand_in(folder, student, "ada", ADA)  # the second is a copy, with the name still in it
    assert graded(folder, output, variants=True) == {
        "ada": (POINTS, "", []), OTHER: (0, f"variant_{ADA}", [["name_of_another", "ada"]]),
    }  # fmt: skip
    page = (output / "feedback" / f"{OTHER}.html").read_text(encoding="utf-8")
    for text in (messages.of_variant(ADA, "en"), messages.words("en")["mistakes"]["other_variant"]["says"]):
        assert text in page
    assert WORDS["remarks"]["name_of_another"].split("`")[0] in page
    for student in ("ada", OTHER):  # the instructor sees the variant and, if the answer is wrong, the solution
        page = BeautifulSoup((output / "review" / f"{student}.html").read_text(encoding="utf-8"), "html.parser")
        assert messages.of_variant(variant_of(student), "en") in page.text
        assert len(page.select(".solution")) == (student == OTHER)
    namespace = {"torch": torch}
    exec(page.select_one(".solution pre").text, namespace)
    probed = bank("gru_step", 5, variant_of(OTHER))
    outcomes = [observe(probed.question.call, namespace["gru_step"], probe) for probe in probed.probes]
    assert diagnose(probed, outcomes).mistakes == []


def test_a_right_answer_under_an_unknown_name_is_shown_to_the_instructor(tmp_path, grading_in_process):
    """Check that only an answer that is right for another variant is listed, and that its page says what to write."""
    folder, output = tmp_path / "sent", tmp_path / "grades"
    first, other, *_ = all_questions()["gru_step"].variants
    hand_in(folder, "ada", "", other, "student(input())")
    hand_in(folder, "bo", "", first, "student(input())")
    hand_in(folder, "cy", "", other)
    assert {name: points for name, (points, *_) in graded(folder, output).items()} == {"ada": 0, "bo": POINTS, "cy": 0}
    page = BeautifulSoup((output / "summary.html").read_text(encoding="utf-8"), "html.parser")
    reason = WORDS["instructor"]["name_unknown"].replace("`", "")
    (row,) = [row for row in page.select("tr") if reason in row.text]
    assert row.td.text == "1" and "ada" in row.text and messages.of_variant(other, "en") in row.text
    texts = {name: (output / "feedback" / f"{name}.html").read_text(encoding="utf-8") for name in ("ada", "bo", "cy")}
    advice = BeautifulSoup(pages.render_markdown(WORDS["page"]["name_unknown"]), "html.parser").text.strip()
    shown = {name: advice in BeautifulSoup(text, "html.parser").text for name, text in texts.items()}
    assert shown == {"ada": True, "bo": False, "cy": False}


@pytest.mark.heavy
def test_a_nickname_costs_no_points_with_or_without_fixed_variants(tmp_path, grading_in_process):
    folder, output = tmp_path / "sent", tmp_path / "grades"
    hand_in(folder, OTHER, "ada", ADA)
    hand_in(folder, "fay", "the queen", variant_of("the queen"))
    hand_in(folder, "gil", "", variant_of("gil"))
    hand_in(folder, OTHER + "2", "", ADA)
    first = next(iter(all_questions()["gru_step"].variants))
    expected = {OTHER: (POINTS, "", []), "fay": (POINTS, "", [])}
    for name, variant in (("gil", variant_of("gil")), (OTHER + "2", ADA)):  # without a name, the first variant
        expected[name] = (POINTS, "", []) if variant == first else (0, f"variant_{variant}", [])
    assert graded(folder, output) == expected
    # with fixed variants, the same folder is graded again
    fixed = graded(folder, output, variants=True)
    assert fixed["fay"] == (POINTS, "", [["name_of_nobody", "the queen"]]) and fixed["gil"] == (POINTS, "", [])
    assert fixed[OTHER + "2"][:2] == ((POINTS, "") if variant_of(OTHER + "2") == ADA else (0, f"variant_{ADA}"))
