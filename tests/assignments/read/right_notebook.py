"""Right notebooks of the assignments, for tests to change."""

import json

from tests.project.paths import ROOT


class Book:
    """Notebook with right answers; `book[name]` is the source of the cell with this id."""

    def __init__(self, assignment, language="en"):
        self.name = f"{assignment}.ipynb"
        self.notebook = json.loads((ROOT / "assignments/source" / language / self.name).read_text("utf-8"))
        self.cells = self.notebook["cells"]
        for cell in self.cells:
            lines = "".join(cell["source"]).splitlines(keepends=True)
            cell["source"] = "".join(line for line in lines if " SOLUTION" not in line)

    def code(self):
        return [cell for cell in self.cells if cell["cell_type"] == "code"]

    def cell(self, name):
        return next(cell for cell in self.cells if cell["id"] == name)

    def __getitem__(self, name):
        return self.cell(name)["source"]

    def __setitem__(self, name, source):
        self.cell(name)["source"] = source

    def swap(self, name, old, new):
        assert old in self[name], (name, old)
        self[name] = self[name].replace(old, new)

    def add(self, source, before=None, kind="code"):
        place = len(self.cells) if before is None else self.cells.index(self.cell(before))
        cell = {"cell_type": kind, "id": f"new-{len(self.cells)}", "metadata": {}, "source": source}
        self.cells.insert(place, cell | ({"outputs": [], "execution_count": None} if kind == "code" else {}))

    def script(self, mark):
        return "\n".join(f"{mark}\n{cell['source']}\n" for cell in self.code())

    def text(self):
        return json.dumps(self.notebook, ensure_ascii=False)


def indented(source):
    return "\n".join(f"    {line}" for line in source.split("\n"))
