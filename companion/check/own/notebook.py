"""Questions of an instructor's own in a student's notebook: checked if their file is at hand, and otherwise later."""

import os
from contextlib import suppress
from pathlib import Path

from companion.check.engine import messages
from companion.check.engine.question import ADDED, Question, add_questions
from companion.check.own.build import add, check_names, make_question
from companion.check.own.files import Fault, QuestionFile, files_in, name_of, question_files, read_file

VARIABLE = "UNROLLED_QUESTIONS"  # the environment variable that names folders with files of questions
READ: dict[str, QuestionFile] = {}  # the files that this notebook has read, by question


def own_question(
    assignment: str, question: str, points: int, stretch: bool = False, variants: dict[str, str] | None = None
) -> None:
    """Make a question known that is not in the book, so that `check`, `progress` and `variant` can be called.

    If its file is in the notebook's folder, or in a folder that the environment variable UNROLLED_QUESTIONS names,
    `check` checks it. Otherwise `check` says that it is checked when the notebook is graded. assignment, question:
    names. variants: what each variant asks for, by name.
    """
    for file in files_at_hand(question):
        try:
            found = read_file(file, assignment)
            check_names(found, [other for name, other in READ.items() if name != question])
            add([(found, make_question(found, task=len(ADDED) + 1))])
            READ[question] = found
            return
        except Fault as fault:
            print(f"`{question}` is not checked here: {fault}")
    names: list[str | None] = [*variants] if variants else [None]
    unread = {
        name: Question(question, assignment, points, "", None, None, None, {}, None, stretch=stretch, variant=name)
        for name in names
    }
    for name, text in (variants or {}).items():
        messages.add_words("en", {"variants": {name: text}})
    first = next(iter(unread.values()))
    add_questions([Question(**vars(first) | {"variants": unread if variants else {}})])


def files_at_hand(question):
    """Return the files of a question in the notebook's folder and in those that the environment names.

    A student's own module may have the same name; only a file with `inputs` is one of a question.
    """
    files = question_files(Path())
    for folder in filter(None, os.environ.get(VARIABLE, "").split(os.pathsep)):
        with suppress(Fault):
            files += [file for paths in files_in(folder).values() for file in paths]
    return [file for file in files if name_of(file) == question and "def inputs(" in file.read_text("utf-8", "replace")]
