"""Chapters on the small torch: their cells run as on a page, by `cells.Session`, in a Python without torch and IPython.

python -m tests.live.on_small_torch [book/en/lstm.ipynb …]     which cells do not give what is stored, and which take
                                                               long
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
ELSEWHERE = frozenset({"needs-torch", "needs-notebook"})  # tags of cells that pages do not run
LONG = 2  # seconds of a cell that are worth saying
NUMBER = re.compile(r"-?\d+\.?\d*(?:e[+-]?\d+)?")
FIGURE = "application/vnd.unrolled.figure+json"
WIDGET = "application/vnd.jupyter.widget-view+json"
TEXTS = "text/html", "text/markdown", "text/latex", "text/plain", "image/svg+xml"
# In a process of its own: sources come in a line of JSON each, and so do outputs and seconds go.
RUN = """
import json, sys, time
lines, out = sys.stdin, sys.stdout
from cells import Session
outputs = []
session = Session(outputs.append)
for line in lines:
    began = time.monotonic()
    good = session.run(json.loads(line))
    assert good == all(one["output_type"] != "error" for one in outputs)
    print(json.dumps([outputs, time.monotonic() - began]), file=out, flush=True)
    outputs.clear()
"""


def lay_out(folder):
    """Copy the book's code into a folder, as pages find it."""
    from book.live import fetch

    for name, data in fetch.book().items():
        place = folder / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(data)


def run(path, within, wanted=lambda cell: True):
    """Run a notebook's cells; yield each with the outputs that it gives, and the seconds that it takes.

    within: a folder that `lay_out` has filled. wanted: says of a cell whether it is run.
    """
    settings = {
        "PYTHONPATH": str(within),
        "MPLBACKEND": "module://matplotlib_inline.backend_inline",
        "OMP_NUM_THREADS": "1",
    }
    command = [sys.executable, "-W", "ignore::ResourceWarning", "-c", RUN]
    streams = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True, "encoding": "utf-8"}
    with subprocess.Popen(command, env=os.environ | settings, cwd=path.parent, **streams) as process:
        for cell in nbformat.read(path, as_version=4).cells:
            if cell.cell_type == "code" and ELSEWHERE.isdisjoint(cell.metadata.get("tags", ())) and wanted(cell):
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
            found += [(kind, data[kind]) for kind in TEXTS if kind in data]
    return [(kind, text) for kind, text in found if kind != "stderr"]


def same_drawing(stored, fresh):
    """Whether two SVGs have the same marks, each at its place to a twentieth of a point."""
    stored, fresh = (re.sub(r'(id="|#|date>)[^"<)]*', r"\1", one) for one in (stored, fresh))
    if NUMBER.sub("#", stored) != NUMBER.sub("#", fresh):
        return False
    return all(abs(float(a) - float(b)) <= 0.05 for a, b in zip(NUMBER.findall(stored), NUMBER.findall(fresh)))


def differences(stored, fresh):
    """In what a cell's fresh outputs are not the stored ones; nothing if they are."""
    before, now = said(stored), said(fresh)
    kinds, kinds_now = [kind for kind, _ in before], [kind for kind, _ in now]
    if kinds != kinds_now:
        return [f"{kinds} became {kinds_now}", *(text for kind, text in now if kind == "error")]
    found = []
    for (kind, old), (_, new) in zip(before, now):
        if kind == "image/svg+xml":
            if not same_drawing(old, new):
                found.append("another drawing")
        elif old != new:
            lines = zip_longest(old.split("\n"), new.split("\n"))
            found += [f"- {a}\n+ {b}" for a, b in lines if a != b][:3]
    return found


def main():
    pages = [Path(name).resolve() for name in sys.argv[1:]] or sorted(ROOT.glob("book/en/*.ipynb"))
    with tempfile.TemporaryDirectory() as folder:
        lay_out(Path(folder))
        for page in pages:
            cells = list(run(page, Path(folder)))
            wrong = {cell.id: found for cell, outputs, _ in cells if (found := differences(cell.outputs, outputs))}
            slow = [f"{cell.id} {seconds:.0f} s" for cell, _, seconds in cells if seconds > LONG]
            total = sum(seconds for _, _, seconds in cells)
            print(
                f"{page.parent.name}/{page.stem}: {len(cells) - len(wrong)} of {len(cells)} equal,",
                f"{total:.0f} s;",
                *slow,
                flush=True,
            )
            for name, found in wrong.items():
                print(f"  {name}:", *found, sep="\n    ", flush=True)


if __name__ == "__main__":
    main()
