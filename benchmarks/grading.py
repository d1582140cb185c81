"""How long a batch of submissions takes on two processes: python benchmarks/grading.py [25 50 100]

Each submission is the assignment's own solution, half of them with another order of the gates in one answer. The time
for each submission should be the same for 25, 50 and 100: a batch of twice as many takes twice as long. The sizes are
measured twice in turn, after a batch that is not counted. Then the smallest twice more in turn, as it is and while four
of its grading processes are killed, and what one of these costs: it should be less than a submission. Then the largest
once more, with five submissions that sleep or loop in every question; and stock nbgrader, with two of the same notebooks.
"""

import json
import multiprocessing
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parents[1]
SOURCE = HERE / "assignments" / "source" / "en" / "lstm.ipynb"
sys.path[:0] = [str(HERE), str(HERE / "assignments")]

from batch import Batch  # noqa: E402  (its folder is on the path only now)

ENDLESS = ["import time; time.sleep(10**6)", "while True: pass"]


def submit(folder, count, endless=0):
    """Writes submissions. endless: how many of them never come to an end, evenly spread."""
    text = SOURCE.read_text(encoding="utf-8")
    for number in range(count):
        said = json.loads(text)
        cells = [cell for cell in said["cells"] if cell["cell_type"] == "code"]
        for cell in cells:
            cell["source"] = "".join(cell["source"])
            if number % 2:
                cell["source"] = cell["source"].replace("i, f, g, o = ", "f, i, g, o = ")
        if endless and number % (count // endless) == 0:
            cells[0]["source"] += "\n" + ENDLESS[number // (count // endless) % 2]
        path = Path(folder, f"student{number:03}", "lstm.ipynb")
        path.parent.mkdir(parents=True)
        path.write_text(json.dumps(said), encoding="utf-8")


def measure(count, endless=0, kills=0):
    left = kills

    def said(_):
        """After every few submissions one of the processes is killed, in the midst of another."""
        nonlocal left
        if left and len(list(Path(folder, "grades", "done").iterdir())) % (count // (kills + 1)) == 0:
            left -= 1
            subprocess.Popen(["sh", "-c", f"sleep 0.2; kill -9 {multiprocessing.active_children()[0].pid}"])

    with tempfile.TemporaryDirectory() as folder:
        submit(f"{folder}/submitted", count, endless)
        begin = time.monotonic()
        graded = Batch(f"{folder}/submitted", f"{folder}/grades", say=said).grade(2)
        seconds = time.monotonic() - begin
    right = sum(not verdict["mistakes"] for one in graded.values() for verdict in one["verdicts"])
    without_end = f", {endless} of them without end" if endless else ""
    each = f"{seconds / count:.2f} s each"
    killed = f", {kills} processes killed" if kills else ""
    print(f"{count} submissions{without_end}{killed}: {seconds:.0f} s, {each}, {right} answers right", flush=True)
    return seconds


def stock(count=2):
    """nbgrader's own generation and grading of the same notebooks, one after another, as it does it."""
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder, "source", "lstm")
        source.mkdir(parents=True)
        shutil.copy(SOURCE, source)
        submit(f"{folder}/all", count)
        for one in Path(folder, "all").iterdir():
            shutil.copytree(one, Path(folder, "submitted", one.name, "lstm"))
        call = [sys.executable, "-m", "nbgrader"]
        settings = {"cwd": folder, "capture_output": True, "text": True, "env": environment()}
        subprocess.run([*call, "generate_assignment", "lstm"], check=True, **settings)
        begin = time.monotonic()
        done = subprocess.run([*call, "autograde", "lstm"], **settings)
        seconds = time.monotonic() - begin
        if done.returncode:
            sys.exit(done.stderr)
    print(f"{count} submissions, stock nbgrader: {seconds:.0f} s, {seconds / count:.2f} s each", flush=True)


def environment():
    """nbgrader calls `jupyter`, and its kernel the companion."""
    import os

    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    return os.environ | {"PATH": path, "PYTHONPATH": str(HERE)}


def main():
    sizes = [int(one) for one in sys.argv[1:]] or [25, 50, 100]
    with tempfile.TemporaryDirectory() as folder:  # not counted
        submit(f"{folder}/submitted", 4)
        Batch(f"{folder}/submitted", f"{folder}/grades", say=lambda text: None).grade(2)
    for size in sizes * 2:
        measure(size)
    quiet, killed = (min(both) for both in zip(*((measure(sizes[0]), measure(sizes[0], kills=4)) for _ in range(2))))
    print(f"one kill costs {(killed - quiet) / 4 / (quiet / sizes[0]):.1f} times what a submission costs", flush=True)
    measure(sizes[-1], endless=5)
    stock()


if __name__ == "__main__":
    main()
