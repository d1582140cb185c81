"""Check the answers of tests/check/answers/: right ones pass, and each mistake of the wrong ones is named."""

import pytest

from companion.check.engine.diagnosis import alike
from companion.check.engine.finding import GENERAL
from companion.check.engine.question import ASSIGNMENTS, all_questions, bank
from tests.check.answers import programs_of
from tests.check.programs import edits_fit, finding_of, require_program_for_each
from tests.project.sampling import UNKNOWN, sample

ANSWERS = {}
for assignment in ASSIGNMENTS:
    ANSWERS |= programs_of(assignment)
SEEDS = (0, 3)


def cases(rows, every, mark=pytest.mark.heavy):
    """Return cases for `parametrize` with ids `question-label`. `make test` runs one in `every`."""
    return [
        pytest.param(*case.values, marks=case.marks, id="-".join(case.values[:2])) for case in sample(rows, every, mark)
    ]


def mistakes_of(names):
    return {names} if isinstance(names, str) else {*names}


def wrong_answers():
    for question, program in ANSWERS.items():
        yield from ((question, name, program, edits) for name, edits in program.wrong.items())
        yield from (
            (question, "+".join(sorted(mistakes_of(names))), program, answer) for names, answer in program.also_wrong
        )


def right_answers():
    for question, program in ANSWERS.items():
        others = program.also_right
        titled = (
            others
            if isinstance(others, dict)
            else {f"right {number}": answer for number, answer in enumerate(others, 1)}
        )
        yield from ((question, title, program, answer) for title, answer in {"as it is": (), **titled}.items())


def pairs():
    for question, program in ANSWERS.items():
        for first, second in program.pairs:
            yield question, f"{first}+{second}", program, [*program.wrong[first], *program.wrong[second]]


@pytest.mark.parametrize("question", [name for name, question in all_questions().items() if not question.training_goal])
def test_every_mistake_has_a_program(question):
    asked, first = all_questions()[question], ANSWERS.get(question)
    parts = (question, *first.parts) if first else ()
    names = {name for part in parts if part in ANSWERS for name in ANSWERS[part].wrong}
    if first and first.parts:
        names &= {*asked.names}
    names |= {f"variant_{name}" for name in (first.variants if first else ())} & {*asked.names}
    require_program_for_each(question, first, names, f"tests/check/answers/{asked.assignment}/{question}.py")


@pytest.mark.parametrize("seed", sample(SEEDS, 2))
@pytest.mark.parametrize("question, title, program, answer", cases(right_answers(), 2))
def test_right_answers_are_right(question, title, program, answer, seed):
    finding = finding_of(question, program.answer(answer), seed, seconds=UNKNOWN)
    assert finding.mistakes == [], finding


@pytest.mark.parametrize("question, mistakes, program, answer", cases(wrong_answers(), 6))
def test_every_mistake_is_named(question, mistakes, program, answer):
    """General mistakes are not in the bank, so that the search for them may be short."""
    made = {name.split("~")[0] for name in mistakes.split("+")}
    watched = "once" if isinstance(answer, list) else True  # the right program was watched on all probes
    finding = finding_of(question, program.answer(answer), 3, UNKNOWN if made <= {*GENERAL} else 30, watched)
    assert {*finding.mistakes} == made and len(finding.mistakes) == len(made), finding
    assert finding.known or made & {*GENERAL}


@pytest.mark.parametrize("question, mistakes, program, edits", cases(pairs(), 12, pytest.mark.deep))
def test_two_mistakes_are_named(question, mistakes, program, edits):
    """Check that both mistakes are named, or others with the same outcomes."""
    finding = finding_of(question, program.answer(edits), seed=5, seconds=60, watched="once")
    expected = {*mistakes.split("+")}
    assert finding.known
    assert {*finding.mistakes} == expected or same(question, expected, {*finding.mistakes}), finding


def same(question, made, named):
    """Return True if two sets of mistakes have the same outcomes on all probes."""
    probed = bank(question, 5)
    both = frozenset(made), frozenset(named)
    return named <= {*probed.question.mistakes} and all(
        alike(*(probed.outcome(mistakes, number) for mistakes in both)) for number in range(len(probed.probes))
    )


@pytest.mark.parametrize("question", [name for name, program in ANSWERS.items() if program.variants])
def test_right_answer_to_a_variant_is_a_mistake_in_the_others(question):
    variants = ANSWERS[question].variants
    assert [*variants] == [*all_questions()[question].variants]
    for asked in variants:
        for answered, edits in variants.items():
            mistakes = [] if asked == answered else [f"variant_{answered}"]
            assert finding_of(question, ANSWERS[question].answer(edits), variant=asked).mistakes == mistakes


@pytest.mark.parametrize("question, variant, name", sample([
    (question, variant, name)
    for question, program in ANSWERS.items() for variant in [*program.variants][1:] for name in program.wrong
], 12))  # fmt: skip
def test_mistakes_are_named_in_the_other_variants_as_well(question, variant, name):
    """Check the variants in which the same edits make the mistake; elsewhere no other mistake may be named alone."""
    program = ANSWERS[question]
    edits = [*program.variants[variant], *program.wrong[name]]
    if edits_fit(program.source, edits):
        got = finding_of(question, program.answer(edits), variant=variant, seconds=UNKNOWN)
        assert not got.ok and (name in got.mistakes or not got.known or len(got.mistakes) > 1), got.mistakes
