"""Run chapters on small_torch as on a page: with `cells.Session`, in a Python without torch and IPython.

python -m tests.live.on_small_torch [book/en/lstm.ipynb …]     lists cells that are slow or differ from what is stored
"""

import json
import os
import re
import subprocess
import sys
import tempfile
from itertools import zip_longest
from pathlib import Path

import nbformat

ROOT = Path(__file__).resolve().parents[2]
SKIPPED_TAGS = frozenset({"needs-torch", "needs-notebook"})  # tags of cells that pages do not run
SLOW_SECONDS = 2  # cells that take longer are listed
NUMBER_PATTERN = re.compile(r"-?\d+\.?\d*(?:e[+-]?\d+)?")
FIGURE = "application/vnd.unrolled.figure+json"
WIDGET = "application/vnd.jupyter.widget-view+json"
TEXT_KINDS = "text/html", "text/markdown", "text/latex", "text/plain", "image/svg+xml"
# Runs in a separate process: reads the source of each cell, and writes outputs and seconds, as a line of JSON.
SESSION_PROGRAM = """
import json, sys, time
lines, out = sys.stdin, sys.stdout
from cells import Session
outputs = []
session = Session(outputs.append)
for line in lines:
    began = time.monotonic()
    succeeded = session.run(json.loads(line))
    assert succeeded == all(output["output_type"] != "error" for output in outputs)
    print(json.dumps([outputs, time.monotonic() - began]), file=out, flush=True)
    outputs.clear()
"""


def copy_code(folder):
    """Copy the book's code into a folder, laid out as for pages."""
    from book.live import fetch

    for name, data in fetch.book_code().items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)


def run(path, code_folder, is_wanted=lambda cell: True):
    """Run a notebook's cells; yield each with its outputs and the seconds that it takes.

    code_folder: a folder filled by `copy_code`. is_wanted: returns True for the cells to run.
    """
    settings = {
        "PYTHONPATH": str(code_folder),
        "MPLBACKEND": "module://matplotlib_inline.backend_inline",
        "OMP_NUM_THREADS": "1",
    }
    command = [sys.executable, "-W", "ignore::ResourceWarning", "-c", SESSION_PROGRAM]
    streams = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True, "encoding": "utf-8"}
    with subprocess.Popen(command, env=os.environ | settings, cwd=path.parent, **streams) as process:
        for cell in nbformat.read(path, as_version=4).cells:
            if cell.cell_type == "code" and SKIPPED_TAGS.isdisjoint(cell.metadata.get("tags", ())) and is_wanted(cell):
                print(json.dumps(cell.source), file=process.stdin, flush=True)
                outputs, seconds = json.loads(process.stdout.readline())
                yield cell, [nbformat.from_dict(output) for output in outputs], seconds


def output_texts(outputs):
    """Return (kind, text) pairs of what outputs show, without what differs from run to run."""
    texts = []
    for output in outputs:
        if output.output_type == "stream":
            if texts and texts[-1][0] == output.name:
                texts[-1] = (output.name, texts[-1][1] + output.text)
            else:
                texts.append((output.name, output.text))
        elif output.output_type == "error":
            texts.append(("error", f"{output.ename}: {output.evalue}"))
        elif output.output_type in ("display_data", "execute_result"):
            data = output.data
            if WIDGET in data or FIGURE in data:  # an interactive figure: its state is not in the output
                texts.append(("figure", data.get("text/plain", "")))
                continue
            texts += [(kind, data[kind]) for kind in TEXT_KINDS if kind in data]
    return [(kind, text) for kind, text in texts if kind != "stderr"]


def same_drawing(stored, fresh):
    """Return True if two SVGs have the same marks, at the same places up to 0.05 points."""
    stored, fresh = (re.sub(r'(id="|#|date>)[^"<)]*', r"\1", svg) for svg in (stored, fresh))
    if NUMBER_PATTERN.sub("#", stored) != NUMBER_PATTERN.sub("#", fresh):
        return False
    return all(
        abs(float(a) - float(b)) <= 0.05 for a, b in zip(NUMBER_PATTERN.findall(stored), NUMBER_PATTERN.findall(fresh))
    )


def differences(stored, fresh):
    """Return the differences between a cell's fresh outputs and the stored ones."""
    stored_texts, fresh_texts = output_texts(stored), output_texts(fresh)
    kinds, fresh_kinds = [kind for kind, _ in stored_texts], [kind for kind, _ in fresh_texts]
    if kinds != fresh_kinds:
        return [f"{kinds} became {fresh_kinds}", *(text for kind, text in fresh_texts if kind == "error")]
    changes = []
    for (kind, old), (_, new) in zip(stored_texts, fresh_texts):
        if kind == "image/svg+xml":
            if not same_drawing(old, new):
                changes.append("another drawing")
        elif old != new:
            line_pairs = zip_longest(old.split("\n"), new.split("\n"))
            changes += [f"- {a}\n+ {b}" for a, b in line_pairs if a != b][:3]
    return changes


def main():
    notebooks = [Path(name).resolve() for name in sys.argv[1:]] or sorted(ROOT.glob("book/en/*.ipynb"))
    with tempfile.TemporaryDirectory() as folder:
        copy_code(Path(folder))
        for notebook in notebooks:
            cells = list(run(notebook, Path(folder)))
            changes = {
                cell.id: cell_changes
                for cell, outputs, _ in cells
                if (cell_changes := differences(cell.outputs, outputs))
            }
            slow = [f"{cell.id} {seconds:.0f} s" for cell, _, seconds in cells if seconds > SLOW_SECONDS]
            total = sum(seconds for _, _, seconds in cells)
            print(
                f"{notebook.parent.name}/{notebook.stem}: {len(cells) - len(changes)} of {len(cells)} equal,",
                f"{total:.0f} s;",
                *slow,
                flush=True,
            )
            for name, cell_changes in changes.items():
                print(f"  {name}:", *cell_changes, sep="\n    ", flush=True)


if __name__ == "__main__":
    main()
