"""By which name a submission's questions are put, where they have variants: the folder's or the notebook's own."""

import re

from companion.check.engine.question import name_key

STUDENT = re.compile(r"^student\(\s*(?:name\s*=\s*)?(['\"])(.{0,200}?)\1", re.MULTILINE)


def declared(sources):
    """The name that a notebook's cells give last, or an empty one."""
    found = [one[2] for source in sources for one in STUDENT.finditer(source)]
    return next((name for name in reversed(found) if name.strip()), "")


def asked_as(student, said, names, questions):
    """The name to ask the questions by, and a remark about it, or None.

    student: the name of what was handed in. said: what the notebook says. names: of all that was handed in, if each
    student is held to a variant of their own; None if a notebook may say what it likes.
    A name that is nobody's is believed, so that nobody loses points over a nickname. Where it leads to another variant,
    the instructor is told: who looks for a variant that is to be copied finds a spelling of the own name that has it.
    """
    if names is None:
        return said, None
    own, theirs = name_key(student), name_key(said)
    if not theirs:
        return student, None
    if theirs == own or theirs in re.split(r"[\W_]+", own):  # a whole word of a name such as Moodle makes
        return said, None
    other = any(one.asked_of(said).variant != one.asked_of(student).variant for one in questions)
    doubt = ("name_of_nobody", said) if other else None
    if theirs in own or own in theirs:
        return said, doubt
    if any(theirs in one or one in theirs for one in map(name_key, names) if one not in ("", own)):
        return student, ("name_of_another", said) if other else None
    return said, doubt
