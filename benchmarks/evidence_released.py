"""Evidence that `DeltaMixer` computes what the layer of Qwen3-Next in the package transformers computes.

    _build/outside/bin/python benchmarks/evidence_released.py

`make outside` makes that environment. Runs the cells of released#compared, which compare both layers with the same
random weights, and stores the rows of `companion.compare`. Where transformers is not installed, these cells print the
stored rows. Output: companion/learning/evidence/released.json.
"""

import dataclasses
import json
from pathlib import Path

from companion.learning import evidence

NAME, VERSION = "released", 1  # increase when the cells compare something else
PAGE = Path(__file__).resolve().parents[1] / "book/en/released.ipynb"


def run_cells():
    """Run the cells, and return the rows and the stored output. Needs transformers."""
    cells = {cell["id"]: cell for cell in json.loads(PAGE.read_text(encoding="utf-8"))["cells"]}
    names = {}
    for name in ("imports", "theirs", "compared"):
        exec("".join(cells[name]["source"]), names)
    return names["rows"], "".join(cells["compared"]["outputs"][0]["text"])


if __name__ == "__main__":
    rows, _ = run_cells()
    evidence.store(NAME, VERSION, [dataclasses.asdict(row) for row in rows])
