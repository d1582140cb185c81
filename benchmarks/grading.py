"""How long a batch of submissions takes on two processes: python benchmarks/grading.py [25 50 100]

Each submission is the assignment's own solution, half of them with another order of the gates in one answer. The time
for each submission should be the same for 25, 50 and 100: a batch of twice as many takes twice as long.
"""

import json
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(HERE), str(HERE / "assignments")]

import grade  # noqa: E402  (its folder is on the path only now)


def submit(folder, count):
    text = (HERE / "assignments" / "source" / "en" / "lstm.ipynb").read_text(encoding="utf-8")
    for number in range(count):
        said = json.loads(text)
        if number % 2:
            for cell in said["cells"]:
                cell["source"] = "".join(cell["source"]).replace("i, f, g, o = ", "f, i, g, o = ")
        path = Path(folder, f"student{number:03}", "lstm.ipynb")
        path.parent.mkdir(parents=True)
        path.write_text(json.dumps(said), encoding="utf-8")


def main():
    for count in [int(one) for one in sys.argv[1:]] or [25, 50, 100]:
        with tempfile.TemporaryDirectory() as folder:
            submit(f"{folder}/submitted", count)
            begin = time.monotonic()
            graded = grade.Batch(f"{folder}/submitted", f"{folder}/grades", say=lambda text: None).grade(2)
            seconds = time.monotonic() - begin
            right = sum(not verdict["mistakes"] for one in graded.values() for verdict in one["verdicts"])
            each = f"{seconds / count:.2f} s each"
            print(f"{count} submissions: {seconds:.0f} s, {each}, {right} answers right", flush=True)


if __name__ == "__main__":
    main()
