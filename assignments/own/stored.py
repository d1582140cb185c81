"""Use the questions in folders for this run of the grader, and keep their files with the grades."""

import hashlib
import json
import os
import re
from pathlib import Path

from assignments.own.trials import check_question
from companion.check.engine.question import ADDED, all_questions
from companion.check.own import build
from companion.check.own.files import Fault, files_in
from companion.check.own.notebook import VARIABLE

FOLDER = "questions"  # among the grades
# The assignment in `own_question("week_3", …)`, as it is stored in a notebook, on the same line or on the next one
DECLARED = re.compile(rb'own_question\((?:\\n|[\s",]){0,40}\\"([a-z0-9_]{1,60})\\"')
LONGEST = 200  # bytes of a match at most
USED: list = []  # the QuestionFiles of this run
GIVEN: list = []  # those among them that were given, and not only stored with the grades


def use(paths, output=None):
    """Add the questions at these paths, and return their (file, question). Raise ValueError with all faults.

    output: the folder of the grades, whose own questions of other assignments are added, too: its pages name them.
    """
    given = {assignment for folder in paths for assignment in files_in(folder)}
    kept = [folder for folder in stored_folders(output) if folder.name not in given] if output else []
    loaded, faults = build.load([*paths, *kept]), []
    for file, question in loaded:
        if file.assignment in given:
            try:
                check_question(file, question)
            except Fault as fault:
                faults.append(str(fault))
    if faults:
        raise ValueError("\n".join(faults))
    build.add(loaded)
    USED[:] = [file for file, _ in loaded]
    GIVEN[:] = [file for file in USED if file.assignment in given]
    os.environ[VARIABLE] = os.pathsep.join(str(Path(folder).resolve()) for folder in [*paths, *kept])
    return [pair for pair in loaded if pair[0] in GIVEN]


class Declarations:
    """The assignments that notebooks declare with `own_question`, found while their files are read for another purpose.

    Call it with each block of a file, in their order.
    """

    def __init__(self):
        self.declared, self.file, self.end = {}, None, b""

    def __call__(self, file, block):
        """Look for declarations in the next block of a file."""
        if file.suffix == ".ipynb":
            text = self.end + block if file == self.file else block  # a declaration may be in two blocks
            self.declared |= dict.fromkeys(name.decode() for name in DECLARED.findall(text))
            self.file, self.end = file, text[-LONGEST:]

    def unknown(self):
        """Return the declared assignments that are not known, in their order."""
        known = {question.assignment for question in all_questions().values()}
        return [name for name in self.declared if name not in known]


def hash_files():
    """Return a hash of the files that were given, on which all grades of the run depend; "" if none were."""
    texts = [f"{file.assignment}/{file.path.name}\n{file.source}" for file in GIVEN]
    return hashlib.sha256(json.dumps(texts).encode()).hexdigest() if texts else ""


def hidden_files():
    """Return the paths of the files, which students' code must not read."""
    return [os.path.realpath(file.path) for file in USED]


def use_environment():
    """Add the questions that the main process uses, in a process that was not forked from it."""
    folders = [*filter(None, os.environ.get(VARIABLE, "").split(os.pathsep))]
    if folders and not ADDED:
        build.add(build.load(folders))


def stored_folders(output):
    """Return the folders of questions that the grades in an output folder were made with, one for each assignment."""
    folder = Path(output) / FOLDER
    return sorted(inner for inner in folder.iterdir() if inner.is_dir()) if folder.is_dir() else []


def store(loaded, output):
    """Write the files of questions into the output folder, in place of those of the same assignments."""
    by_assignment, output = {}, Path(output)
    if loaded:
        output.mkdir(parents=True, exist_ok=True)
        os.chmod(output, 0o700)  # students may have accounts on this machine
    for file, _ in loaded:
        by_assignment.setdefault(file.assignment, {})[file.path.name] = file.source
    for assignment, sources in by_assignment.items():
        folder = output / FOLDER / assignment
        folder.mkdir(parents=True, exist_ok=True)
        for old in folder.glob("*.py"):
            if old.name not in sources:
                old.unlink()
        for name, source in sources.items():
            (folder / name).write_text(source, encoding="utf-8")
