"""The students' version of the assignments: python -m assignments.student_version

For each assignments/source/<language>/<name>.ipynb it writes _build/assignments/<language>/<name>.ipynb: without
solutions and outputs, and with its checks locked. Nothing else lists the languages.
"""

import re
from dataclasses import dataclass
from pathlib import Path

import nbformat
from nbgrader import preprocessors

from companion.check.engine.question import ASSIGNMENTS, all_questions

ROOT = Path(__file__).resolve().parents[1]
SOURCE, TARGET = ROOT / "assignments" / "source", ROOT / "_build" / "assignments"
# In this order nbgrader makes its own.
STEPS = (
    preprocessors.CheckCellMetadata(),
    preprocessors.LockCells(),
    preprocessors.ClearSolutions(code_stub={"python": "raise NotImplementedError()"}),
    preprocessors.ClearOutput(),
    preprocessors.ComputeChecksums(),
)


@dataclass(frozen=True)
class Assignment:
    """An assignment in one language. questions: those of companion.check.question that its notebook asks, with `points`
    and `stretch`. A translation that is behind asks fewer."""

    name: str
    path: Path  # of its source
    title: str
    questions: list

    @property
    def points(self):
        """All that are asked for, without the stretch."""
        return sum(question.points for question in self.questions if not question.stretch)


def languages():
    return sorted(folder.name for folder in SOURCE.iterdir() if any(folder.glob("*.ipynb")))


def assignments(language):
    """The assignments there are in a language, in the order in which they build on each other."""
    found = []
    for name in ASSIGNMENTS:
        path = SOURCE / language / f"{name}.ipynb"
        if path.is_file():
            cells = nbformat.read(path, as_version=4).cells
            there = {cell.id for cell in cells}
            questions = [one for one in all_questions().values() if one.assignment == name and one.name in there]
            found.append(Assignment(name, path, title(path, cells), questions))
    return found


def title(path, cells):
    """The first heading of a notebook."""
    for cell in cells:
        if cell.cell_type == "markdown" and (heading := re.search(r"(?m)^# (.+)$", cell.source)):
            return heading[1]
    raise ValueError(f"{path} has no heading")


def release(source, target):
    """Writes the students' version of the notebook `source` to the path `target`."""
    notebook = nbformat.read(source, as_version=4)
    for cell in notebook.cells:
        cell.metadata.pop("translates", None)  # a note to translators
    for step in STEPS:
        notebook, _ = step.preprocess(notebook, {})
    nbformat.validate(notebook)
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(nbformat.writes(notebook) + "\n", encoding="utf-8", newline="\n")


def main():
    for language in languages():
        for assignment in assignments(language):
            target = TARGET / language / assignment.path.name
            release(assignment.path, target)
            print(target.relative_to(ROOT))


if __name__ == "__main__":
    main()
