"""Chapters on the small torch: their cells run in a notebook's kernel that finds it under torch's name.

    python tests/live/pages.py [book/en/lstm.ipynb …]     which cells give what is stored, and how long each page takes
"""

import os
import re
import sys
import tempfile
import time
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError

ROOT = Path(__file__).parents[2]
SMALL = ROOT / "book" / "live" / "small_torch"
STAND_INS = ROOT / "book" / "live" / "python"
NUMBER = re.compile(r"-?\d+\.?\d*(?:e[+-]?\d+)?")


def run(path, cell_done=lambda number, cell, seconds: None):
    """Run a notebook's cells on the small torch; return them as they were stored and as they are now, in pairs."""
    stored = nbformat.read(path, as_version=4)
    fresh = nbformat.read(path, as_version=4)
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "torch").symlink_to(SMALL)
        client = NotebookClient(fresh, timeout=600, kernel_name="python3", allow_errors=True, resources={"metadata": {"path": path.parent}})
        environment = os.environ | {"PYTHONPATH": os.pathsep.join([folder, str(STAND_INS), str(ROOT)])}
        with client.setup_kernel(env=environment):
            for number, cell in enumerate(fresh.cells):
                if cell.cell_type == "code":
                    began = time.monotonic()
                    try:
                        client.execute_cell(cell, number)
                    except CellExecutionError:
                        pass
                    cell_done(number, cell, time.monotonic() - began)
    return [pair for pair in zip(stored.cells, fresh.cells) if pair[0].cell_type == "code"]


def said(cell):
    """What a cell prints, shows and complains of, without what differs from run to run: (kind, text) pairs."""
    found = []
    for output in cell.outputs:
        if output.output_type == "stream":
            if found and found[-1][0] == output.name:
                found[-1] = (output.name, found[-1][1] + output.text)
            else:
                found.append((output.name, output.text))
        elif output.output_type == "error":
            found.append(("error", f"{output.ename}: {output.evalue}"))
        else:
            data = output.data
            if "application/vnd.jupyter.widget-view+json" in data:  # a figure that answers: its state lies elsewhere
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


def differences(stored, fresh):
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
    pages = [Path(name).resolve() for name in sys.argv[1:]] or sorted(ROOT.glob("book/en/*.ipynb"))
    for page in pages:
        slow, began = [], time.monotonic()

        def done(number, cell, seconds):
            if seconds > 2:
                slow.append(f"cell {number} {seconds:.0f} s")

        pairs = run(page, done)
        wrong = [(number, found) for number, pair in enumerate(pairs) if (found := differences(*pair))]
        seconds = time.monotonic() - began
        print(f"{page.parent.name}/{page.stem}: {len(pairs) - len(wrong)} of {len(pairs)} equal, {seconds:.0f} s; {', '.join(slow)}", flush=True)
        for number, found in wrong:
            if not any("NameError" in one for one in found): print(f"  code cell {number}: " + "\n    ".join(one[:600] for one in found), flush=True)


if __name__ == "__main__":
    main()
