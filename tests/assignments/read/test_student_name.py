"""By which name a submission is asked what differs from student to student, and what a copy of another's gets."""

import pytest
import torch
from bs4 import BeautifulSoup

from assignments.batch import Batch
from assignments.read.student_name import asked_as, declared
from companion.check.engine import messages
from companion.check.engine.diagnosis import diagnose
from companion.check.engine.question import all_questions, bank
from companion.check.engine.run_answer import observe
from tests.assignments.grading import IMPORTS, WORDS, cell, put, rows

CLASS = ["ada", "Bo Li", "s20260007", "zoë müller_12_assignsubmission_file"]


@pytest.mark.parametrize("sources, name", [
    (['student("ada")'], "ada"),
    (["import torch\nstudent('20260007')  # your name or number"], "20260007"),
    (['student(name = "Bo Li", lang="ko")'], "Bo Li"),
    (['student("")', 'student("Zoë \'Z\' Müller")'], "Zoë 'Z' Müller"),
    (['student("ada")', 'student("bo")'], "bo"),  # as it is run, the last one counts
    (['student("ada")', 'student("")', 'student(" ")'], "ada"),
    (["x = student"], ""),
    (['# student("ada")', 'print("student(1)")', "student(name)"], ""),
    ([f'student("{"a" * 201}")'], ""),
    (['student("ada\')'], ""),
    (["student('a\nb')"], ""),
    ([], ""),
])  # fmt: skip
def test_a_notebook_says_who_it_is_of(sources, name):
    assert declared(sources) == name


@pytest.mark.parametrize("student, said, asked, remark", [
    ("ada", "ada", "ada", None),
    ("ada", " ADA", " ADA", None),
    ("ada", "", "ada", None),
    # a word of it, and another variant
    ("zoë müller_12_assignsubmission_file", "Zoe\u0308 Müller", "Zoe\u0308 Müller", None),
    ("s20260007", "20260007", "20260007", None),  # the same variant by chance
    ("ada", "ad", "ad", None),
    ("ada", "adal", "adal", "name_of_nobody"),  # a spelling that leads to another
    ("ada", "Ada Lovelace", "Ada Lovelace", "name_of_nobody"),
    ("ada", "bo li", "ada", "name_of_another"),
    ("ada", "20260007", "ada", "name_of_another"),
    ("ada", "the queen", "the queen", "name_of_nobody"),
    ("ada", "the king", "the king", None),
])  # fmt: skip
def test_a_name_that_is_anothers_is_not_believed(student, said, asked, remark):
    questions = [all_questions()["gru_step"]]
    assert asked_as(student, said, CLASS, questions) == (asked, remark and (remark, said))
    assert asked_as(student, said, None, questions) == (
        said,
        None,
    )  # where nobody is held to a variant, a notebook says its own
    assert asked_as(student, said, CLASS, [all_questions()["gru_layer"]])[1] is None  # which asks everybody the same


STEP = """def gru_step(x, h, weight_ih, weight_hh, bias_ih, bias_hh):
    a, u = (x @ weight_ih.T + bias_ih).chunk(3, 1), (h @ weight_hh.T + bias_hh).chunk(3, 1)
    r, z = torch.sigmoid(a[{r}] + u[{r}]), torch.sigmoid(a[{z}] + u[{z}])
    n = torch.tanh(a[{n}] + r * u[{n}])
    return (1 - z) * n + z * h
"""
PLACES = {"gates_r_z_n": (0, 1, 2), "gates_z_r_n": (1, 0, 2), "gates_n_z_r": (2, 1, 0)}


def asked_of(name):
    return all_questions()["gru_step"].asked_of(name).variant


ADA = asked_of("ada")
OTHER = next(name for name in ("bo", "cy", "di", "eve") if asked_of(name) != ADA)  # is asked something else
POINTS = all_questions()["gru_step"].points


def sent(folder, student, says, variant):
    source = STEP.format(**dict(zip("rzn", PLACES[variant])))
    cells = [cell(IMPORTS), cell(f'student("{says}")'), cell('variant("gru_step")'), cell(source, "gru_step")]
    put(folder, student, "gru.ipynb", {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5})


def graded(folder, output, **more):
    done = Batch(folder, output, ("gru",), say=lambda text: None, **more).grade(1)
    return {name: (*rows(output)[name, "gru_step"], one["remarks"]) for name, one in done.items()}


def test_a_copy_of_another_variant_fails_and_is_told_whose_it_is(tmp_path, here):
    folder, output = tmp_path / "sent", tmp_path / "grades"
    for student in ("ada", OTHER):
        sent(folder, student, "ada", ADA)  # a copy, with the name still in it
    assert graded(folder, output, variants=True) == {
        "ada": (POINTS, "", []), OTHER: (0, f"variant_{ADA}", [["name_of_another", "ada"]]),
    }  # fmt: skip
    page = (output / "feedback" / f"{OTHER}.html").read_text(encoding="utf-8")
    for said in (messages.of_variant(ADA, "en"), messages.words("en")["mistakes"]["other_variant"]["says"]):
        assert said in page
    assert WORDS["remarks"]["name_of_another"].split("`")[0] in page
    for student in ("ada", OTHER):  # the instructor sees what was asked, and below what is wrong what is right
        page = BeautifulSoup((output / "review" / f"{student}.html").read_text(encoding="utf-8"), "html.parser")
        assert messages.of_variant(asked_of(student), "en") in page.text
        assert len(page.select(".solution")) == (student == OTHER)
    space = {"torch": torch}
    exec(page.select_one(".solution pre").text, space)
    probed = bank("gru_step", 5, asked_of(OTHER))
    got = [observe(probed.question.call, space["gru_step"], probe) for probe in probed.probes]
    assert diagnose(probed, got).mistakes == []


@pytest.mark.heavy
def test_without_variants_a_notebook_is_believed_and_with_them_a_nickname_costs_nothing(tmp_path, here):
    folder, output = tmp_path / "sent", tmp_path / "grades"
    sent(folder, OTHER, "ada", ADA)
    sent(folder, "fay", "the queen", asked_of("the queen"))
    sent(folder, "gil", "", asked_of("gil"))
    sent(folder, OTHER + "2", "", ADA)
    first = next(iter(all_questions()["gru_step"].variants))
    expected = {OTHER: (POINTS, "", []), "fay": (POINTS, "", [])}
    for name, variant in (("gil", asked_of("gil")), (OTHER + "2", ADA)):  # without a name the first variant is asked
        expected[name] = (POINTS, "", []) if variant == first else (0, f"variant_{variant}", [])
    assert graded(folder, output) == expected
    # the same folder, held to variants, is graded anew
    held = graded(folder, output, variants=True)
    assert held["fay"] == (POINTS, "", [["name_of_nobody", "the queen"]]) and held["gil"] == (POINTS, "", [])
    assert held[OTHER + "2"][:2] == ((POINTS, "") if asked_of(OTHER + "2") == ADA else (0, f"variant_{ADA}"))
