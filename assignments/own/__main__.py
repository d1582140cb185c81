"""Try questions of an instructor's own before they are set: python -m assignments.own FOLDER.

It reads the files, runs the reference and each mistake on probes, and the reference in the process of students'
answers, behind its walls. It grades nothing and writes nothing.
"""

import argparse
import os
import sys
from pathlib import Path

if not __package__:  # run by path: sys.path begins with this folder, not with the repository
    sys.path[0] = str(Path(__file__).resolve().parents[2])

from assignments.grade import judge  # noqa: E402
from assignments.own import stored, trials  # noqa: E402
from assignments.read.answers import Answer  # noqa: E402
from assignments.sandbox.pool import Worker  # noqa: E402
from assignments.words import words  # noqa: E402
from companion.check.engine.question import bank  # noqa: E402
from companion.check.own.build import entries  # noqa: E402


def describe(file, question):
    """Return lines about a question: its probes, and which of them reveal each mistake."""
    points = f"{question.points} point{'s' * (question.points != 1)}{', a stretch' * question.stretch}"
    lines = [f"{question.assignment} / {question.name}: {points}, {file.path}"]
    for number, probe in enumerate(bank(question.name, 0).probes, start=1):
        twice = ", called twice" * (probe.calls > 1)
        gradients = "" if probe.gradients is None else ", with gradients"
        lines.append(f"  probe {number}: {', '.join(trials.sizes(probe))}{gradients}{twice}")
    for variant, mistakes in trials.check_question(file, question).items():
        lines += [f"  variant {variant}"] if variant else []
        for name, numbers in mistakes.items():
            lines.append(f"  {name}: found by probe{'s' * (len(numbers) > 1)} {', '.join(map(str, numbers))}")
        left_out = [name for name in entries(file, "MISTAKES") if name not in mistakes]
        lines += [f"  {name}: left out, its text is changed in this variant" for name in left_out]
    return lines


def judged_references(worker, file, question):
    """Yield the verdicts on the reference, and on that of each variant, as answers in the worker."""
    for asked in question.variants.values() or [question]:
        answer = Answer([[1, file.source], [2, asked.right]], [question.asks_for], True, cell=2)
        yield (
            asked.variant,
            judge.best_verdict(worker, asked, answer, judge.draw_seed(), "en", words("en"), judge.LIMITS)[0],
        )


def main():
    """Run the command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="+", help="the files of an assignment, or several such folders")
    arguments = parser.parse_args()
    try:
        loaded = stored.use(arguments.folder)
    except ValueError as error:
        sys.exit(str(error))
    worker, failed = Worker(stored.hidden_files()), False
    for file, question in loaded:
        print(*describe(file, question), sep="\n")
        for variant, verdict in judged_references(worker, file, question):
            which = f"the reference of {variant}" if variant else "the reference"
            failed |= not verdict.ok
            state = "right" if verdict.ok else f"WRONG: {', '.join(verdict.mistakes)}"
            print(f"  {which} where students' answers run: {state}, {verdict.seconds:.2f} s")
            for line in [] if verdict.ok else verdict.paragraphs + verdict.remarks:
                print(line)
    worker.close()
    sys.exit(int(failed))


if __name__ == "__main__":
    os.environ["PYTHONSAFEPATH"] = "1"
    main()
