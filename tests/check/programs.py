"""Answers as students write them: programs, changed here and there, run, and held against the bank."""

from companion.check.engine.diagnosis import diagnose
from companion.check.engine.question import all_questions, bank
from companion.check.engine.run_answer import observe


def questions(assignment):
    """The names of an assignment's questions."""
    return [name for name, question in all_questions().items() if question.assignment == assignment]


def banks():
    """Each question that has a bank, and each of its variants: {name, or name-variant: (name, variant)}."""
    asked = [one for one in all_questions().values() if not one.training_goal]
    rows = [(one.name, variant) for one in asked for variant in (one.variants or [None])]
    return {"-".join(filter(None, row)): row for row in rows}


def tried(question, right, wrong, where):
    """That a question is tried with answers of its own. right: whether there is a right one; wrong: the mistakes
    made."""
    names = all_questions()[question].names
    to_do = [] if right else [f"a right answer to {question} is yet to be written"]
    to_do += [
        f"an answer to {question} that makes the mistake {name} is yet to be written"
        for name in names
        if name not in wrong
    ]
    to_do += [f"{question} knows no mistake {name}" for name in wrong if name not in names]
    assert not to_do, "\n".join([where + ":", *to_do])


def found(question, answer, seed=0, seconds=30, watched=True, variant=None):
    """Return the finding about an answer.

    seconds: how long several mistakes are tried. watched: whether it is watched for what a library does, or "once", on
    the smallest probe, as that takes half of the time.
    """
    probed = bank(question, seed, variant)
    got = []
    for number, probe in enumerate(probed.probes):
        forbidden = probed.question.forbidden if watched and (watched != "once" or number == 0) else frozenset()
        got.append(observe(probed.question.call, answer, probe, forbidden))
    return diagnose(probed, got, seconds)


def fit(source, edits):
    """Return whether each `(old, new)` finds its text, when those before it have replaced theirs."""
    for old, new in edits:
        if old not in source:
            return False
        source = source.replace(old, new)
    return True


def changed(source, *edits):
    """Return a program after each `(old, new)` has replaced a piece of it."""
    assert fit(source, edits), edits
    for old, new in edits:
        source = source.replace(old, new)
    return source


def defined(source, edits, known):
    """Return what a changed program defines, in order. known: the names that it may use."""
    names = dict(known)
    exec(changed(source, *edits), names)
    return [thing for name, thing in names.items() if name not in known and name != "__builtins__"]
