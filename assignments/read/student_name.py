"""Decide by which name a submission gets its variants of questions: the folder's or the one in the notebook."""

import re

from companion.check.engine.question import name_key

STUDENT = re.compile(r"^student\(\s*(?:name\s*=\s*)?(['\"])(.{0,200}?)\1", re.MULTILINE)


def declared_name(sources):
    """Return the name in the last call of `student(...)` in a notebook's cells, or an empty one."""
    names = [call[2] for source in sources for call in STUDENT.finditer(source)]
    return next((name for name in reversed(names) if name.strip()), "")


def name_for_variants(student, declared, names, questions):
    """Return the name that selects a submission's variants, and a remark about it or None.

    student: name of the submission. declared: the name in the notebook. names: of all submissions, if each student must
    answer their own variant; None if a notebook may declare any name.
    A name that belongs to no student is accepted, so that a nickname costs no points. If it selects another variant,
    the remark tells the instructor, since a student could look for a spelling that selects a variant to copy.
    """
    if names is None:
        return declared, None
    student_key, declared_key = name_key(student), name_key(declared)
    if not declared_key:
        return student, None
    # equal, or a whole word of a folder's name as Moodle makes it
    if declared_key == student_key or declared_key in re.split(r"[\W_]+", student_key):
        return declared, None
    differs = any(question.asked_of(declared).variant != question.asked_of(student).variant for question in questions)
    doubt = ("name_of_nobody", declared) if differs else None
    if declared_key in student_key or student_key in declared_key:
        return declared, doubt
    if any(declared_key in key or key in declared_key for key in map(name_key, names) if key not in ("", student_key)):
        return student, ("name_of_another", declared) if differs else None
    return declared, doubt
