"""Test which name selects a student's variants, and the points of a copied variant."""

import pytest
import torch
from bs4 import BeautifulSoup

from assignments.batch import Batch
from assignments.read.student_name import declared_name, name_for_variants
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
def test_the_declared_name_is_the_last_one(sources, name):
    assert declared_name(sources) == name


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


def hand_in(folder, student, declared, variant):
    source = STEP.format(**dict(zip("rzn", GATE_ORDER[variant])))
    cells = [cell(IMPORTS), cell(f'student("{declared}")'), cell('variant("gru_step")'), cell(source, "gru_step")]
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
