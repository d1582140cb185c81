"""Chapters on the small torch: their cells run as on a page, by `cells.Session`, in a Python without torch and IPython.

    python tests/live/pages.py [book/en/lstm.ipynb …]     which cells give what is stored, and how long they take
"""

import json
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import nbformat

ROOT = Path(__file__).parents[2]
NUMBER = re.compile(r"-?\d+\.?\d*(?:e[+-]?\d+)?")
FIGURE = "application/vnd.unrolled.figure+json"
WIDGET = "application/vnd.jupyter.widget-view+json"
# In a process of its own: sources come in a line of JSON each, and so do outputs and seconds go.
RUN = """
import json, sys, time
lines, out = sys.stdin, sys.stdout
from cells import Session
outputs = []
session = Session(outputs.append)
for line in lines:
    began = time.monotonic()
    session.run(json.loads(line))
    print(json.dumps([outputs, time.monotonic() - began]), file=out, flush=True)
    outputs.clear()
"""


def lay_out(folder):
    """Put the book's code there, as pages find it."""
    sys.path.insert(0, str(ROOT / "book"))
    from live import parts

    for name, path in parts.book().items():
        place = folder / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.symlink_to(path)


def run(path, within=None, passed_over=lambda cell: False):
    """Run a notebook's cells; yield each with the outputs that it gives, and the seconds that it takes.

    within: a folder that `lay_out` has filled. passed_over: whether a cell is not to be run.
    """
    if within is None:
        with tempfile.TemporaryDirectory() as folder:
            lay_out(Path(folder))
            yield from run(path, Path(folder), passed_over)
        return
    environment = os.environ | {"PYTHONPATH": str(within), "MPLBACKEND": "module://matplotlib_inline.backend_inline"}
    command = [sys.executable, "-W", "ignore::ResourceWarning", "-c", RUN]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment, cwd=path.parent) as process:
        for cell in nbformat.read(path, as_version=4).cells:
            if cell.cell_type != "code" or passed_over(cell):
                continue
            print(json.dumps(cell.source), file=process.stdin, flush=True)
            outputs, seconds = json.loads(process.stdout.readline())
            yield cell, [nbformat.from_dict(one) for one in outputs], seconds


def said(outputs):
    """What outputs print, show and complain of, without what differs from run to run: (kind, text) pairs."""
    found = []
    for output in outputs:
        if output.output_type == "stream":
            if found and found[-1][0] == output.name:
                found[-1] = (output.name, found[-1][1] + output.text)
            else:
                found.append((output.name, output.text))
        elif output.output_type == "error":
            found.append(("error", f"{output.ename}: {output.evalue}"))
        elif output.output_type in ("display_data", "execute_result"):
            data = output.data
            if WIDGET in data or FIGURE in data:  # a figure that answers: its state lies elsewhere
                found.append(("figure", data.get("text/plain", "")))
                continue
            for kind in ("text/html", "text/markdown", "text/latex", "text/plain", "image/svg+xml"):
                if kind in data:
                    found.append((kind, data[kind]))
    return [(kind, text) for kind, text in found if kind != "stderr"]


def same_drawing(stored, fresh):
    """Whether two SVGs have the same marks, each at its place to a twentieth of a point."""
    stored, fresh = (re.sub(r'(id="|#|date>)[^"<)]*', r"\1", one) for one in (stored, fresh))
    if NUMBER.sub("#", stored) != NUMBER.sub("#", fresh):
        return False
    return all(abs(float(a) - float(b)) <= 0.05 for a, b in zip(NUMBER.findall(stored), NUMBER.findall(fresh)))


def differences(stored, fresh, same_drawing=same_drawing):
    """In what a cell's fresh outputs are not the stored ones; nothing if they are."""
    before, now = said(stored), said(fresh)
    if [kind for kind, _ in before] != [kind for kind, _ in now]:
        return [f"{[kind for kind, _ in before]} became {[kind for kind, _ in now]}", *(text for kind, text in now if kind == "error")]
    found = []
    for (kind, old), (_, new) in zip(before, now):
        if kind == "image/svg+xml":
            if not same_drawing(old, new):
                found.append("another drawing")
        elif old != new:
            lines = [(a, b) for a, b in zip(old.splitlines() + [""] * 99, new.splitlines() + [""] * 99) if a != b]
            found += [f"- {a}\n+ {b}" for a, b in lines[:3]]
    return found


def main():
    for page in [Path(name).resolve() for name in sys.argv[1:]] or sorted(ROOT.glob("book/en/*.ipynb")):
        began, cells = time.monotonic(), list(run(page))
        wrong = [(number, found) for number, (cell, outputs, _) in enumerate(cells) if (found := differences(cell.outputs, outputs))]
        slow = [f"cell {number} {seconds:.0f} s" for number, (_, _, seconds) in enumerate(cells) if seconds > 2]
        seconds = time.monotonic() - began
        print(f"{page.parent.name}/{page.stem}: {len(cells) - len(wrong)} of {len(cells)} equal, {seconds:.0f} s; {', '.join(slow)}", flush=True)
        for number, found in wrong:
            print(f"  code cell {number}: " + "\n    ".join(one[:600] for one in found), flush=True)


if __name__ == "__main__":
    main()
