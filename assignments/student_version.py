"""Make the students' version of the assignments: python -m assignments.student_version.

For each assignments/source/<language>/<name>.ipynb it writes _build/assignments/<language>/<name>.ipynb, without
solutions and outputs, and with locked checks. The languages are the folders there.
"""

import re
from dataclasses import dataclass
from pathlib import Path

import nbformat
from nbgrader import preprocessors

from companion.check.engine.question import ASSIGNMENTS, all_questions

ROOT = Path(__file__).resolve().parents[1]
SOURCE, TARGET = ROOT / "assignments" / "source", ROOT / "_build" / "assignments"
# nbgrader's steps for its own student version, in its order.
STEPS = (
    preprocessors.CheckCellMetadata(),
    preprocessors.LockCells(),
    preprocessors.ClearSolutions(code_stub={"python": "raise NotImplementedError()"}),
    preprocessors.ClearOutput(),
    preprocessors.ComputeChecksums(),
)


@dataclass(frozen=True)
class Assignment:
    """An assignment in one language.

    questions: those that its notebook asks, with `points` and `stretch`; an outdated translation asks fewer.
    """

    name: str
    path: Path  # of the source
    title: str
    questions: list

    @property
    def points(self):
        """Return the sum of points without stretch questions."""
        return sum(question.points for question in self.questions if not question.stretch)


def languages():
    return sorted(folder.name for folder in SOURCE.iterdir() if any(folder.glob("*.ipynb")))


def assignments(language):
    """Return the assignments in a language, in the order in which they build on each other."""
    assignments_found = []
    for name in ASSIGNMENTS:
        path = SOURCE / language / f"{name}.ipynb"
        if path.is_file():
            cells = nbformat.read(path, as_version=4).cells
            cell_ids = {cell.id for cell in cells}
            questions = [
                question
                for question in all_questions().values()
                if question.assignment == name and question.name in cell_ids
            ]
            assignments_found.append(Assignment(name, path, title(path, cells), questions))
    return assignments_found


def title(path, cells):
    """Return the first heading of a notebook."""
    for cell in cells:
        if cell.cell_type == "markdown" and (heading := re.search(r"(?m)^# (.+)$", cell.source)):
            return heading[1]
    raise ValueError(f"{path} has no heading")


def release(source, target):
    """Write the students' version of the notebook `source` to the path `target`."""
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
