"""Measure how long it takes to grade the submissions of a class, and what takes the time.

    python -m benchmarks.grade_batch [75 150 300]

A batch has notebooks of all assignments in all languages. Answers are right, make one or two known mistakes or an
unknown one, are unwritten, raise an error or never end; files have outputs, are zipped, in folders or renamed. The
batch is made from the solutions, and is the same in each run. The output has, for each size, the wall-clock seconds and
the processor seconds, the submissions per minute, and the processor seconds by task. A submission should take as long
in a large batch as in a small one.

--workers N        number of grading processes (2)
--interrupted      also interrupt the largest batch twice and continue, to see the cost and that no submission is lost
"""

import argparse
import io
import json
import multiprocessing
import os
import random
import re
import resource
import tempfile
import time
import zipfile
from collections import Counter
from contextlib import contextmanager, suppress
from pathlib import Path

from assignments.batch import Batch
from assignments.grade import cache, carried_errors, judge
from assignments.read import answers
from assignments.report import all_reports, grade_tables, review
from assignments.sandbox import pool
from companion.check.engine.question import ASSIGNMENTS, all_questions

SOURCE = Path(__file__).resolve().parents[1] / "assignments" / "source"
# Known mistakes as edits of the solutions. Questions that are not here get edits of SLIPS only.
KNOWN_MISTAKES = {
    "one_hot": [
        ("torch.arange(num_embeddings)", "torch.arange(1, num_embeddings + 1)"),
        ("indices.uns", "indices.flatten().uns"),
    ],
    "lookup": [("weight[indices]", "weight[indices - 1]"), ("weight[indices]", "weight[:, indices]")],
    "weight_gradient": [("if padding_idx is not None:", "if padding_idx:"), ("index_add(", "index_copy(")],
    "embedding_layer": [("rows.detach()", "rows"), ("weight[padding_idx] = 0", "pass")],
    "embedding_bag": [(" / max(len(rows), 1)", ""), ("max(len(rows), 1)", "len(rows)")],
    "rnn_step": [("torch.tanh", ""), (" + bias_hh", ""), ("weight_hh.T", "weight_hh")],
    "rnn_cell": [("new_zeros", "new_ones"), ("return rnn_step(x, h, *weights)", "return (rnn_step(x, h, *weights),)")],
    "rnn": [
        ("h.unsqueeze(0)", "h"),
        ("torch.stack(output)", "torch.stack(output, 1)"),
        ("        output.append(h)\n", "    output.append(h)\n"),
    ],
    "windows": [("        h = h.detach()\n", ""), ("states.append(h)", "states.append(h.detach())")],
    "rnn_backward": [(" * (1 - h[t + 1] ** 2)", ""), (" + from_future", ""), ("d_a.T @ h[t]", "d_a.T @ h[t + 1]")],
    "gates": [
        ("i, f, g, o = a", "f, i, g, o = a"),
        ("g.tanh()", "g.sigmoid()"),
        (" + bias_hh", ""),
        ("o.sigmoid()", "o"),
    ],
    "lstm_cell": [("h, c = state", "c, h = state"), ("o * c.tanh(), c", "c, o * c.tanh()"), ("o * c.tanh()", "o * c")],
    "lstm": [
        ("dim=1 if self.batch_first else 0", "dim=0"),
        ("h[None], c[None]", "c[None], h[None]"),
        ("c.tanh()", "c"),
    ],
    "one_bias": [("torch.zeros_like(bias)", "bias"), ("f, i, g, o = rows", "i, f, g, o = rows")],
    "lstm_backward": [("1 - g**2", "1 - g"), ("d_c * f\n", "d_c\n"), ("grad_c + grad_h", "grad_h")],
    "parameter_shapes": [("len(endings) * state_size", "state_size"), ("4 * hidden_size", "hidden_size * 3")],
    "stacked": [("if layer > 0:", "if True:"), ("x = torch.stack(output)", "x = torch.stack(output) if layer else x")],
    "bidirectional": [("output[::-1]", "output"), ("x.flip(0) if backwards else x", "x")],
    "projected": [("h @ self.weight_hr_l0.T", "h[:, : self.proj_size]"), ("h[None], c[None]", "h, c")],
    "packed": [("t < lengths", "t <= lengths"), ("torch.where(goes_on, h, 0)", "h")],
}
SLIPS = [(" - ", " + "), (" * ", " + "), (".T", ".T * 1.01"), (" + ", " - "), ("return ", "return 1.5 * ")]
NAMES = ["ada", "Grace Hopper", "김하늘", "山田 太郎", "Łukasz", "王小明", "O'Brien", "josé", "Nguyễn Văn An", "Zoë"]
PLOT = {"output_type": "display_data", "metadata": {}, "data": {"image/png": "iVBOR" + "A" * 60_000}}
EXPERIMENT = """weights = torch.rand(50, 50)
for _ in range(2000):
    weights = (weights @ weights).tanh()
print(weights)"""


# The class


def make_answer(question, source, draw):
    """Return the kind of a student's answer, and the answer made from the solution."""
    head, indent, solution = re.match(r"(?s)(.*?)([ ]*)### BEGIN SOLUTION\n(.*)", source).groups()
    source = re.sub(r"[ ]*### (?:BEGIN|END) SOLUTION\n?", "", source)
    kinds = ["right", "known", "two", "slip", "unwritten", "stops", "no Python"]
    kind = draw.choices(kinds, [60, 18, 5, 5, 8, 2, 2])[0]
    mistakes = KNOWN_MISTAKES.get(question, [])
    if kind in ("known", "two") and mistakes:
        first, *others = draw.sample(mistakes, min(len(mistakes), 1 + (kind == "two")))
        if first[0] not in source:
            raise ValueError(f"the solution of {question} has no {first[0]!r}")
        for old, new in (first, *others):
            source = source.replace(old, new)
    elif kind in ("known", "two", "slip"):
        kind, body = "slip", re.sub(r"[ ]*### (?:BEGIN|END) SOLUTION\n?", "", solution)
        possible = [pair for pair in SLIPS if pair[0] in body]
        start = len(source) - len(body)
        source = source[:start] + (body.replace(*draw.choice(possible), 1) if possible else body)
    elif kind == "unwritten":
        source = head + f"{indent}raise NotImplementedError()\n"
    elif kind == "stops":
        source = source.replace("return ", "return undefined_name + ", 1)
    elif kind == "no Python":
        source = source.replace(":\n", "\n", 1)
    return kind, source


def make_notebook(assignment, language, draw, kinds):
    """Return the text of a student's notebook, and count the kinds of its answers in `kinds`."""
    notebook = json.loads((SOURCE / language / f"{assignment}.ipynb").read_text(encoding="utf-8"))
    for cell in notebook["cells"]:
        source = cell["source"] = "".join(cell["source"])
        if cell["cell_type"] != "code":
            continue
        if cell["id"] in all_questions() and "BEGIN SOLUTION" in source:
            kind, cell["source"] = make_answer(cell["id"], source, draw)
            kinds[kind] += 1
            if draw.random() < 0.004:
                kinds["endless"] += 1
                cell["source"] += "\nwhile True: pass\n"
        cell["outputs"] = [PLOT] if draw.random() < 0.15 else []
    if draw.random() < 0.3:
        notebook["cells"].append({"cell_type": "code", "metadata": {}, "source": EXPERIMENT, "outputs": []})
    if draw.random() < 0.1:
        for cell in notebook["cells"]:
            cell.pop("id", None), cell["metadata"].clear()
    return json.dumps(notebook, ensure_ascii=False)


def write_submissions(folder, count):
    """Write the submissions of a class, and return how many answers of each kind they have."""
    kinds = Counter()
    languages = sorted(path.name for path in SOURCE.iterdir() if path.is_dir())
    for number in range(count):
        draw = random.Random(number)
        language = languages[number % len(languages)]
        assignments = [name for name in ASSIGNMENTS if (SOURCE / language / f"{name}.ipynb").is_file()]
        assignment = assignments[number // len(languages) % len(assignments)]
        text = make_notebook(assignment, language, draw, kinds)
        student = f"{NAMES[number % len(NAMES)]} {number:04}"
        shape = draw.choices(["plain", "folder", "zip", "renamed", "cut off"], [40, 40, 10, 8, 2])[0]
        path = Path(folder, f"{student}.ipynb" if shape == "plain" else f"{student}/work/{assignment}.ipynb")
        path.parent.mkdir(parents=True, exist_ok=True)
        if shape == "zip":
            packed = io.BytesIO()
            with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
                archive.writestr(f"homework/{assignment}.ipynb", text)
            path.with_suffix(".zip").write_bytes(packed.getvalue())
        else:
            path = path.with_name("final (2).ipynb") if shape == "renamed" else path
            path.write_text(text[: -len(text) // 4] if shape == "cut off" else text, encoding="utf-8")
    return kinds


# Timers

TASKS = ["reading", "students' code", "messages", "judging", "review data", "batch", "gradebook", "pages"]
spent = multiprocessing.Array("d", len(TASKS))  # seconds by task; grading processes are forks and add to it


def processor_seconds(pid="self", children=False):
    """Return the processor seconds of a process, user and system time, with its finished children if asked."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return sum(map(int, fields[11 : 15 if children else 13])) / os.sysconf("SC_CLK_TCK")


stack = []


@contextmanager
def timed(task):
    """Add the processor time of the block to a task, and subtract it from the task around it."""
    begin = time.process_time()
    stack.append(0.0)
    try:
        yield
    finally:
        total = time.process_time() - begin
        inner = stack.pop()
        if stack:
            stack[-1] += total
        with spent.get_lock():
            spent[TASKS.index(task)] += total - inner


def time_function(module, name, task):
    """Replace a function by a wrapper that adds its time to a task."""
    function = getattr(module, name)

    def timed_function(*args, **kwargs):
        with timed(task):
            return function(*args, **kwargs)

    setattr(module, name, timed_function)


def timed_ask(worker, job, ask=pool.Worker.ask):
    """Run a job as `Worker.ask` does, and add the processor time of the worker and its children."""
    if not worker.ready:
        worker.start()
    pid = worker.pid
    before = processor_seconds(pid, True)
    with timed("messages"):
        reply = ask(worker, job)
    after = processor_seconds(worker.ready and worker.pid or pid, True)
    with spent.get_lock():
        spent[TASKS.index("students' code")] += max(0, after - before)
    return reply


def install_timers():
    pool.Worker.ask = timed_ask
    for module, name, task in (
        (answers, "read_submission", "reading"), (cache, "cache_key", "reading"), (judge, "grade", "judging"),
        (carried_errors, "credit", "judging"), (review, "for_reviewers", "review data"),
        (all_reports, "write_reports", "pages"),
        (Batch, "run", "batch"), (grade_tables, "write_gradebook", "gradebook"),
    ):  # fmt: skip
        time_function(module, name, task)


def measure(size, workers, interruptions=0):
    """Grade a batch of this size, print its figures, and return its seconds by the clock and of processors."""
    with tempfile.TemporaryDirectory() as folder:
        kinds = write_submissions(f"{folder}/sent", size)
        spent[:] = [0.0] * len(TASKS)
        begin = time.monotonic()
        stops = [size * number // (interruptions + 1) for number in range(1, interruptions + 1)]

        def say(text):
            if stops and text.startswith("[") and int(re.match(r"\[(\d+)/", text)[1]) >= stops[0]:
                stops.pop(0)
                raise KeyboardInterrupt

        graded = None
        while graded is None:
            with suppress(KeyboardInterrupt):
                graded = Batch(f"{folder}/sent", f"{folder}/grades", say=say).grade(workers)
        seconds, count = time.monotonic() - begin, len(list(Path(folder, "grades", "feedback").iterdir()))
    mistakes = [set(verdict["mistakes"]) for result in graded.values() for verdict in result["verdicts"]]
    right = sum(not names for names in mistakes)
    unnamed = sum(bool({"wrong_values", "wrong_gradient", "wrong_shape"} & names) for names in mistakes)
    lost = sum("not_graded" in names for names in mistakes)
    total = sum(spent)
    print(
        f"{size} submissions{f', interrupted {interruptions} times' * bool(interruptions)}: {seconds:.0f} s by the"
        f" clock, {total:.0f} s of processors ({total / size:.2f} s each), {60 * size / seconds:.0f} a minute; {count}"
        " pages",
        flush=True,
    )
    print("    " + ", ".join(f"{task} {seconds:.1f} s" for task, seconds in zip(TASKS, spent)))
    print(
        f"    {len(mistakes)} answers: {right} right, {unnamed} with an unknown mistake, {lost} not graded; made from"
        f" {dict(kinds)}",
        flush=True,
    )
    return seconds, total


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sizes", nargs="*", type=int, default=[75, 150, 300])
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--interrupted", action="store_true")
    arguments = parser.parse_args()
    install_timers()
    each = {size: measure(size, arguments.workers)[1] / size for size in arguments.sizes}
    first, last = min(each), max(each)
    print(f"a submission of {last} takes {each[last] / each[first]:.2f} times the processor time of one of {first}")
    if arguments.interrupted:
        measure(last, arguments.workers, interruptions=2)
    print(f"the largest process took {resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024:.0f} MB")


if __name__ == "__main__":
    main()
