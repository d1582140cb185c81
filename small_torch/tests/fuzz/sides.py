"""The two processes that run programs, and what stays of a program when its statements differ."""

import os
import pickle
import re
import select
import subprocess
import sys
import tempfile
from pathlib import Path

from classes import BLOCKING

ROUNDS = 7  # a statement that differs is taken out, and the program goes on: at most so many times
SECONDS = 100  # that the calls of a task may take: numpy's svd of infinite numbers does not end


class Side:
    """A process that runs programs on one of the two torches."""

    def __init__(self, *folder):
        self.folder = folder
        self.start()

    def start(self):
        worker = Path(__file__).with_name("worker.py")
        environment = os.environ | {"OMP_NUM_THREADS": "1"}
        command = [sys.executable, str(worker), *self.folder]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment)

    def ask(self, task, calls):
        """Return the results of a task's calls; the result of one that fails or ends the process is a text."""
        try:
            pickle.dump((task, calls), self.process.stdin)
            self.process.stdin.flush()
            if not select.select([self.process.stdout], [], [], SECONDS)[0]:
                raise EOFError
            return pickle.load(self.process.stdout)
        except (EOFError, BrokenPipeError, pickle.UnpicklingError):
            self.close()
            self.start()
            return ["the process ended or hung"] if len(calls) == 1 else [self.ask(task, [call])[0] for call in calls]

    def close(self):
        self.process.kill()
        self.process.communicate()


class Pair:
    """A process of torch, and one of the small_torch in a folder."""

    def __init__(self, package):
        self.layout = tempfile.TemporaryDirectory()
        os.symlink(package, Path(self.layout.name) / "torch")
        self.torch, self.small = Side(), Side(self.layout.name)

    def close(self):
        self.torch.close()
        self.small.close()
        self.layout.cleanup()

    def run(self, programs):
        """Return the verdicts on the statements of programs (seed, statements)."""
        records = self.torch.ask("record", programs)
        return self.small.ask("check", [(*program, record) for program, record in zip(programs, records)])

    def compare(self, seeds):
        """Return for each seed its statements, their verdicts by position, and the differences."""
        results, left = [], []
        for seed, written in zip(seeds, self.torch.ask("write", [(seed,) for seed in seeds])):
            if isinstance(written, str):
                print(f"seed {seed}: {written}", file=sys.stderr)
                continue
            statements, rows = written
            results.append({"seed": seed, "statements": statements, "rows": rows, "verdicts": {}, "differences": []})
            left.append((results[-1], [*range(len(statements))]))
        for _ in range(ROUNDS + 1):
            programs = [(result["seed"], [result["statements"][k] for k in stay]) for result, stay in left]
            rest = [(result, note(result, stay, v)) for (result, stay), v in zip(left, self.run(programs))]
            left = [(result, stay) for result, stay in rest if stay]
        return results

    def shrink(self, difference):
        """Return a difference with as few statements before it as it needs."""
        program, k = difference["program"], len(difference["program"]) - 2
        while k >= 0:
            shorter = [program[j] for j in remove(program, k)]
            if shorter and shorter[-1] == program[-1]:
                verdict = self.run([(difference["seed"], shorter)])[0][-1]
                if len(verdict) == 5 and verdict[:2] == (difference["class"], difference["what"]):
                    program = shorter
                    difference = difference | {"program": program} | dict(zip(("where", "torch", "small"), verdict[2:]))
            k = min(k, len(program) - 1) - 1
        return difference


def note(result, positions, verdicts):
    """Note the verdicts on a program; return the positions to go on with, none if the program is done."""
    if isinstance(verdicts, str):
        verdicts = [("fails", "process", "", "", verdicts)]
    statements = [result["statements"][k] for k in positions]
    for j, (k, (class_, what, where, theirs, ours)) in enumerate(zip(positions, verdicts)):
        if k not in result["verdicts"] and class_ != "same":
            difference = {"seed": result["seed"], "class": class_, "what": what, "row": result["rows"][k]}
            difference |= {"program": statements[: j + 1], "where": where, "torch": theirs, "small": ours}
            result["differences"].append(difference)
        result["verdicts"].setdefault(k, class_)
    if verdicts and verdicts[-1][0] in BLOCKING:
        return [positions[j] for j in remove(statements, len(verdicts) - 1)]
    return []


def remove(statements, position):
    """Return the positions that stay when a statement and all that depend on it are taken out."""
    lost, stay = set(), []
    for k, statement in enumerate(statements):
        created = set(re.findall(r"(?:^|[:;] )(v\d+) = ", statement))
        if k == position or (set(re.findall(r"\bv\d+\b", statement)) - created) & lost:
            lost |= created
        else:
            stay.append(k)
    return stay
