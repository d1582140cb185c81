"""Check generated questions, made from edits: refused edits, combinations, variants, and `progress`."""

import re
from collections import Counter
from dataclasses import replace
from unicodedata import normalize

import pytest
import torch

from companion.check import check, progress, student, variant
from companion.check.engine import messages, session
from companion.check.engine.diagnosis import diagnose
from companion.check.engine.probe import Probe
from companion.check.engine.question import Bank, all_questions
from companion.check.engine.question_from_edits import generate_question
from companion.check.engine.run_answer import Function, observe
from tests.check.answers.gru.gru_step import PROGRAM
from tests.check.programs import finding_of

NAME = "Zoë Müller-가람"
FULL = str.maketrans({code: code + 0xFEE0 for code in range(0x21, 0x7F)} | {" ": "\u3000"})  # as wide as a Hangul sign
SPELLINGS = {
    "composed": normalize("NFC", NAME),
    "decomposed": normalize("NFD", NAME),
    "in capitals": NAME.upper(),
    "in small letters": NAME.lower(),
    "in wide letters": normalize("NFC", NAME).translate(FULL),
    "with blanks around": f"\t {NAME}\u00a0",
    "with more blanks": NAME.replace(" ", "  \u2003"),
    "without blanks": NAME.replace(" ", ""),
}


def mixed_reference(x, y):
    kept = 2 * x
    new = y - 1
    return kept + new


def only_x(x, y):
    return x


MISTAKES = {
    "not_doubled": ("", "2 * x", "x"),
    "tripled": ("", "2 * x", "3 * x"),
    "minus": ("", "kept + new", "kept - new"),
    "both_lines": ("", "kept = 2 * x", "kept = 5 * x", "y - 1", "y"),
    "only_x": ("", only_x),
}
VARIANTS = {"one": (), "two": ("y - 1", "y - 2"), "three": ("y - 1", "y - 3", "kept + new", "kept - new")}


def probes(draw):
    return [Probe("several", {"x": draw(n), "y": draw(n)}) for n in (1, 3)]


def mixed_question(mistakes=MISTAKES, variants=None):
    return generate_question(
        mixed_reference, mistakes, variants, name="mixed", assignment="none", points=1, place="",
        call=Function(("x", "y"), "z"), probes=probes,
    )  # fmt: skip


def diagnosed(question, answer):
    probed = Bank(question, 0)
    return diagnose(probed, [observe(question.call, answer, probe) for probe in probed.probes]).mistakes


def z(question, *mistakes):
    return question.reference(frozenset(mistakes))(torch.tensor(10.0), torch.tensor(4.0)).item()


@pytest.mark.parametrize("old, times", [("x", 3), ("2 * y", 0)])
@pytest.mark.parametrize("where", ["mistakes", "variants"])
def test_text_that_does_not_occur_exactly_once_is_refused(old, times, where):
    message = f"mixed, slip: {old!r} stands {times} times in mixed_reference"
    with pytest.raises(ValueError, match=re.escape(message)):
        mixed_question(**{where: {"slip": ("", old, "0") if where == "mistakes" else (old, "0")}})


def test_only_changes_of_different_pieces_can_be_combined():
    question = mixed_question()
    apart = [{"not_doubled", "minus"}, {"minus", "both_lines"}]
    clashing = [{"not_doubled", "tripled"}, {"not_doubled", "both_lines"}, {"only_x", "minus"}, {"only_x", "tripled"}]
    assert all(map(question.allows, apart)) and not any(map(question.allows, clashing))
    together = {"not_doubled", "minus"}, {"tripled", "minus"}, {"minus", "both_lines"}
    assert Bank(question, 0).pairs() == [*map(frozenset, together)]
    assert (z(question), z(question, "minus"), z(question, "not_doubled", "minus")) == (23, 17, 7)
    assert (z(question, "both_lines"), z(question, "both_lines", "minus"), z(question, "only_x")) == (54, 46, 10)
    assert question.truth(1, 1) == 2  # without an answer of torch, the truth is the answer itself


def test_answers_to_other_variants_are_mistakes_of_a_variant():
    variants = mixed_question(variants=VARIANTS).variants
    assert [*variants] == [*VARIANTS] and [z(question) for question in variants.values()] == [23, 22, 19]
    for name, question in variants.items():
        assert question.variant == name
        assert {other: z(question, f"variant_{other}") for other in variants if other != name} == {
            other: z(variants[other]) for other in variants if other != name
        }
    assert "variant_two" in variants["one"].mistakes and "variant_one" not in variants["one"].mistakes
    # a mistake is left out of a variant that changes the same text, and kept where it changes another
    assert "minus" not in variants["three"].mistakes and "not_doubled" in variants["three"].mistakes


def test_answer_to_another_variant_is_named_also_with_another_mistake():
    variants = mixed_question(variants=VARIANTS).variants
    assert diagnosed(variants["one"], lambda x, y: 2 * x + y - 2) == ["variant_two"]
    assert diagnosed(variants["two"], lambda x, y: 2 * x + y - 1) == ["variant_one"]
    assert diagnosed(variants["two"], lambda x, y: 2 * x - (y - 3)) == ["variant_three"]
    assert diagnosed(variants["two"], lambda x, y: x + y - 1) == ["variant_one", "not_doubled"]
    assert diagnosed(variants["one"], lambda x, y: 2 * x + y - 1) == []


# Variants of students


VARIED = [question for question in all_questions().values() if question.variants]
varied = pytest.mark.parametrize("question", VARIED, ids=lambda question: question.name)


def test_there_are_questions_with_variants():
    assert "gru_step" in {question.name for question in VARIED}


@varied
@pytest.mark.parametrize("spelling", SPELLINGS)
def test_spellings_of_a_name_get_the_same_variant(question, spelling):
    assert question.asked_of(SPELLINGS[spelling]) is question.asked_of(NAME)
    assert len({question.asked_of(f"{SPELLINGS[spelling]} {n}").variant for n in range(30)}) == len(question.variants)


@varied
def test_students_without_a_name_get_the_first_variant(question):
    first = next(iter(question.variants))
    assert {question.asked_of(name).variant for name in ("", "  ", None, "\u3000")} == {first} == {question.variant}


@varied
def test_variants_are_equally_frequent(question):
    """Allow four standard deviations of a fair draw, for consecutive numbers of students."""
    students, share = 1200, 1 / len(question.variants)
    counts = Counter(question.asked_of(str(20260000 + number)).variant for number in range(students))
    spread = (students * share * (1 - share)) ** 0.5
    assert [*sorted(counts)] == [*sorted(question.variants)]
    assert all(abs(count - students * share) < 4 * spread for count in counts.values()), counts


def test_variants_of_two_questions_are_independent():
    """Otherwise two students who share one variant would share all."""
    first = VARIED[0]
    second = replace(first, name="another")
    rows = {(first.asked_of(str(n)).variant, second.asked_of(str(n)).variant) for n in range(300)}
    assert len(rows) == len(first.variants) ** 2


# In a notebook


@pytest.fixture
def notebook(monkeypatch):
    monkeypatch.setattr(session, "NOTEBOOK", session.Session())
    return session.NOTEBOOK


def named_for(question, name):
    """Return a student's number that gets this variant."""
    return next(str(number) for number in range(999) if question.asked_of(str(number)).variant == name)


@varied
def test_reference_of_a_variant_is_a_mistake_in_the_others(question):
    for asked, asked_variant in question.variants.items():
        for other, answered_variant in question.variants.items():
            mistakes = finding_of(
                question.name, answered_variant.reference(frozenset()), watched=False, variant=asked
            ).mistakes
            assert mistakes == ([] if answered_variant is asked_variant else [f"variant_{other}"]), (asked, other)


def step_of(asked, *mistakes):
    """Return an answer to a variant of `gru_step` that makes these mistakes."""
    return PROGRAM.answer([edit for name in (*mistakes, f"variant_{asked}") for edit in PROGRAM.wrong.get(name, ())])


def test_student_gets_a_variant_and_other_variants_are_named(notebook):
    question = all_questions()["gru_step"]
    for asked in question.variants:
        name = named_for(question, asked)
        assert f"`{name}`" in repr(student(f" {name} "))
        assert repr(variant("gru_step")) == f"Your variant. {messages.of_variant(asked, 'en')}"
        for other in question.variants:
            result = check("gru_step", step_of(other))
            assert result.mistakes == ([] if other == asked else [f"variant_{other}"])
            assert (messages.of_variant(other, "en") in repr(result)) == (other != asked)
            if other != asked:  # and with a mistake besides
                both = check("gru_step", step_of(other, "update_gate_inverted")).mistakes
                assert {*both} == {f"variant_{other}", "update_gate_inverted"}


def test_variant_without_a_name_is_the_first_and_tells_so(notebook):
    assert "No name is given" in repr(student("  ")) and "Without a name" in repr(variant("gru_step"))
    student("3")
    assert "Without a name" not in repr(variant("gru_step"))
    with pytest.raises(ValueError, match="rnn_step has no variants"):
        variant("rnn_step")
    with pytest.raises(ValueError, match="Did you mean 'gru_step'"):
        variant("gru_stepp")


def test_name_is_shown_as_text(notebook):
    message = student("`**<b>`")
    assert "`'**<b>'`" in message._repr_markdown_()


def right_step(x, h, weight_ih, weight_hh, bias_ih, bias_hh):
    return torch.tanh(x @ weight_ih.T + bias_ih + h @ weight_hh.T + bias_hh)


def test_progress_shows_right_and_open_questions(notebook):
    rows = str(progress("rnn")).splitlines()
    assert rows[2] == "| `rnn_step` | 0 / 2 | not checked |"
    assert rows[-1].startswith("0 of 10 points. Left: `rnn_step`, `rnn_cell`")
    check("rnn_step", right_step)
    check("rnn_cell", right_step)
    rows = str(progress("rnn")).splitlines()
    assert rows[2:5] == [
        "| `rnn_step` | 2 / 2 | right |", "| `rnn_cell` | 0 / 2 | not yet |", "| `rnn` | 0 / 3 | not checked |",
    ]  # fmt: skip
    assert rows[-1] == "2 of 10 points. Left: `rnn_cell`, `rnn`, `windows`."
    check("rnn_step", lambda *given: 2 * right_step(*given))  # the latest answer counts
    assert "0 of 10 points" in repr(progress("rnn"))


def test_progress_counts_partial_and_extra_points(notebook):
    notebook.shares |= {"rnn_step": 1, "rnn_cell": 0.5, "rnn": 1, "windows": 1}
    assert "| `rnn_cell` | 1 / 2 | in part |" in repr(progress("rnn"))
    notebook.shares |= {"rnn_cell": 1, "rnn_backward": 1}
    lines = [line for line in repr(progress("rnn")).splitlines() if line]
    assert lines[-2:] == ["10 of 10 points: all that is asked for.", "And 3 for stretch questions."]
    with pytest.raises(ValueError, match="there is no assignment 'cnn'. It is one of embedding, rnn"):
        progress("cnn")
