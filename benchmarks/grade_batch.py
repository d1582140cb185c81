"""How long a class takes to grade, and what the time goes to: python -m benchmarks.grade_batch [75 150 300]

A batch is what a class sends: notebooks of all assignments in all languages, whose answers are right, or make a mistake
that students make, or two, or one that nobody has thought of, or are half-written, or stop, or never end; with outputs,
zipped, in folders, under other names. It is made of the assignments' own solutions, the same for each size and run.
For each size are told the seconds by the clock and of processors, submissions a minute, and of the processors' seconds
how many went to what. A submission should take as long in a large batch as in a small one.

--workers N        how many processes grade (2)
--interrupted      also interrupts the largest batch twice and goes on, and says what that cost and whether all is there
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
from assignments.grade import (
    carried_errors,
    judge,
    store,
)
from assignments.read import answers
from assignments.report import (
    pages,
    results,
    review,
)
from assignments.sandbox import pool
from companion.check.engine.question import ASSIGNMENTS, all_questions

SOURCE = Path(__file__).resolve().parents[1] / "assignments" / "source"
# Mistakes of the bank, as edits of the solutions. A question that has none here gets those of `slipped` only.
KNOWN = {
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


# The class


def answer(question, source, draw):
    """A student's answer, made of the solution, and what is to be said of it."""
    head, indent, solution = re.match(r"(?s)(.*?)([ ]*)### BEGIN SOLUTION\n(.*)", source).groups()
    source = re.sub(r"[ ]*### (?:BEGIN|END) SOLUTION\n?", "", source)
    kind = draw.choices(["right", "known", "two", "slip", "unwritten", "stops", "no Python"], [60, 18, 5, 5, 8, 2, 2])[
        0
    ]
    known = KNOWN.get(question, [])
    if kind in ("known", "two") and known:
        first, *others = draw.sample(known, min(len(known), 1 + (kind == "two")))
        if first[0] not in source:
            raise ValueError(f"the solution of {question} has no {first[0]!r}")
        for old, new in (first, *others):
            source = source.replace(old, new)
    elif kind in ("known", "two", "slip"):
        kind, body = "slip", re.sub(r"[ ]*### (?:BEGIN|END) SOLUTION\n?", "", solution)
        there = [pair for pair in SLIPS if pair[0] in body]
        at = len(source) - len(body)
        source = source[:at] + (body.replace(*draw.choice(there), 1) if there else body)
    elif kind == "unwritten":
        source = head + f"{indent}raise NotImplementedError()\n"
    elif kind == "stops":
        source = source.replace("return ", "return undefined_name + ", 1)
    elif kind == "no Python":
        source = source.replace(":\n", "\n", 1)
    return kind, source


def notebook(assignment, language, draw, kinds):
    """A student's notebook of an assignment."""
    said = json.loads((SOURCE / language / f"{assignment}.ipynb").read_text(encoding="utf-8"))
    for cell in said["cells"]:
        source = cell["source"] = "".join(cell["source"])
        if cell["cell_type"] != "code":
            continue
        if cell["id"] in all_questions() and "BEGIN SOLUTION" in source:
            kind, cell["source"] = answer(cell["id"], source, draw)
            kinds[kind] += 1
            if draw.random() < 0.004:
                kinds["endless"] += 1
                cell["source"] += "\nwhile True: pass\n"
        cell["outputs"] = [PLOT] if draw.random() < 0.15 else []
    if draw.random() < 0.3:  # what is tried out beside
        tried = (
            "weights = torch.rand(50, 50)\nfor _ in range(2000):\n    weights = (weights @"
            " weights).tanh()\nprint(weights)"
        )
        said["cells"].append({"cell_type": "code", "metadata": {}, "source": tried, "outputs": []})
    if draw.random() < 0.1:
        for cell in said["cells"]:
            cell.pop("id", None), cell["metadata"].clear()
    return json.dumps(said, ensure_ascii=False)


def send(folder, count):
    """Writes the submissions of a class. Returns what they are made of."""
    kinds = Counter()
    languages = sorted(path.name for path in SOURCE.iterdir() if path.is_dir())
    for number in range(count):
        draw = random.Random(number)
        there = [one for one in ASSIGNMENTS if (SOURCE / languages[number % len(languages)] / f"{one}.ipynb").is_file()]
        assignment = there[number // len(languages) % len(there)]
        text = notebook(assignment, languages[number % len(languages)], draw, kinds)
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


# The time


PARTS = ["reading", "students' code", "asking", "judging", "beside", "batch's own", "gradebook", "pages"]
spent = multiprocessing.Array("d", len(PARTS))  # grading processes are forks, and add to it


def processors(pid="self", children=False):
    """Seconds that a process has had of processors, by the user's code and the system's."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return sum(map(int, fields[11 : 15 if children else 13])) / os.sysconf("SC_CLK_TCK")


stack = []


@contextmanager
def counted(part):
    """Adds what is spent until the end to a part, and takes it from the one around it."""
    begin = time.process_time()
    stack.append(0.0)
    try:
        yield
    finally:
        all_of_it = time.process_time() - begin
        inner = stack.pop()
        if stack:
            stack[-1] += all_of_it
        with spent.get_lock():
            spent[PARTS.index(part)] += all_of_it - inner


def count(module, name, part):
    function = getattr(module, name)

    def instead(*given, **named):
        with counted(part):
            return function(*given, **named)

    setattr(module, name, instead)


def ask(worker, job, plain=pool.Worker.ask):
    """As Worker.ask, and counts what the worker has had of processors, with all that it has waited for."""
    if not worker.ready:
        worker.start()
    pid = worker.pid
    before = processors(pid, True)
    with counted("asking"):
        said = plain(worker, job)
    with spent.get_lock():
        spent[PARTS.index("students' code")] += max(0, processors(worker.ready and worker.pid or pid, True) - before)
    return said


def watch():
    pool.Worker.ask = ask
    for module, name, part in (
        (answers, "submission", "reading"), (store, "digest", "reading"), (judge, "grade", "judging"),
        (carried_errors, "follow_through", "judging"), (review, "beside", "beside"), (results, "write", "pages"),
        (Batch, "run", "batch's own"), (pages, "gradebook", "gradebook"),
    ):  # fmt: skip
        count(module, name, part)


def measure(size, workers, interruptions=0):
    """Grades a batch of this size. Returns its seconds by the clock and of processors."""
    with tempfile.TemporaryDirectory() as folder:
        kinds = send(f"{folder}/sent", size)
        spent[:] = [0.0] * len(PARTS)
        begin, ends = time.monotonic(), [size * one // (interruptions + 1) for one in range(1, interruptions + 1)]

        def say(text):
            if ends and text.startswith("[") and int(re.match(r"\[(\d+)/", text)[1]) >= ends[0]:
                ends.pop(0)
                raise KeyboardInterrupt

        graded = None
        while graded is None:
            with suppress(KeyboardInterrupt):
                graded = Batch(f"{folder}/sent", f"{folder}/grades", say=say).grade(pool)
        seconds, there = time.monotonic() - begin, len(list(Path(folder, "grades", "feedback").iterdir()))
    verdicts = [one for each in graded.values() for one in each["verdicts"]]
    right = sum(not one["mistakes"] for one in verdicts)
    unnamed = sum(bool({"wrong_values", "wrong_gradient", "wrong_shape"} & set(one["mistakes"])) for one in verdicts)
    lost = sum("not_graded" in one["mistakes"] for one in verdicts)
    both = sum(spent)
    print(
        f"{size} submissions{f', interrupted {interruptions} times' * bool(interruptions)}: {seconds:.0f} s by the"
        f" clock, {both:.0f} s of processors ({both / size:.2f} s each), {60 * size / seconds:.0f} a minute; {there}"
        " pages",
        flush=True,
    )
    print("    " + ", ".join(f"{part} {one:.1f} s" for part, one in zip(PARTS, spent)))
    print(
        f"    {len(verdicts)} answers: {right} right, {unnamed} without a name, {lost} not graded; made of"
        f" {dict(kinds)}",
        flush=True,
    )
    return seconds, both


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sizes", nargs="*", type=int, default=[75, 150, 300])
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--interrupted", action="store_true")
    arguments = parser.parse_args()
    watch()
    found = {size: measure(size, arguments.workers)[1] / size for size in arguments.sizes}
    first, last = min(found), max(found)
    print(
        f"a submission of {last} takes {found[last] / found[first]:.2f} times the processors that one of {first} does"
    )
    if arguments.interrupted:
        measure(last, arguments.workers, interruptions=2)
    print(f"the largest process took {resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024:.0f} MB")


if __name__ == "__main__":
    main()
