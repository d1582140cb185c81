"""Helpers that edit the source of answers, run them, and diagnose them."""

from companion.check.engine.diagnosis import diagnose
from companion.check.engine.question import all_questions, bank
from companion.check.engine.run_answer import observe


def questions(assignment):
    """Return the names of an assignment's questions."""
    return [name for name, question in all_questions().items() if question.assignment == assignment]


def banks():
    """Return all variants of all questions with a bank: {name, or name-variant: (name, variant)}."""
    asked = [question for question in all_questions().values() if not question.training_goal]
    rows = [(question.name, variant) for question in asked for variant in (question.variants or [None])]
    return {"-".join(filter(None, row)): row for row in rows}


def require_program_for_each(question, right, wrong, where):
    """Fail if a question lacks a right answer, or answers for its mistakes. wrong: the mistakes that answers make."""
    names = all_questions()[question].names
    to_do = [] if right else [f"a right answer to {question} is yet to be written"]
    to_do += [
        f"an answer to {question} that makes the mistake {name} is yet to be written"
        for name in names
        if name not in wrong
    ]
    to_do += [f"{question} knows no mistake {name}" for name in wrong if name not in names]
    assert not to_do, "\n".join([where + ":", *to_do])


def finding_of(question, answer, seed=0, seconds=30, watched=True, variant=None):
    """Return the finding about an answer.

    seconds: limit for the search for several mistakes. watched: True looks for library layers on all probes, "once" on
    the smallest probe only, which halves the time.
    """
    probed = bank(question, seed, variant)
    got = []
    for number, probe in enumerate(probed.probes):
        forbidden = probed.question.forbidden if watched and (watched != "once" or number == 0) else frozenset()
        got.append(observe(probed.question.call, answer, probe, forbidden))
    return diagnose(probed, got, seconds)


def edits_fit(source, edits):
    """Return True if each `(old, new)` finds its old text after the edits before it."""
    for old, new in edits:
        if old not in source:
            return False
        source = source.replace(old, new)
    return True


def changed(source, *edits):
    """Return a program after all edits `(old, new)`."""
    assert edits_fit(source, edits), edits
    for old, new in edits:
        source = source.replace(old, new)
    return source


def definitions(source, edits, known):
    """Return the values that an edited program defines, in order. known: the names that it may use."""
    names = dict(known)
    exec(changed(source, *edits), names)
    return [value for name, value in names.items() if name not in known and name != "__builtins__"]
