"""Run notebooks and store them with their outputs, in the one form that the repository keeps.

    python -m book.tools.execute                       every chapter and assignment of every edition
    python -m book.tools.execute book/en/lstm.ipynb    one of them

A notebook that fails is left as it was. What differs from run to run or from machine to machine (times, versions,
counters of earlier runs) is not stored, so a second run changes nothing.
"""

import argparse
import hashlib
import json
import sys
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError

from book.tools.notebooks import store

ROOT = Path(__file__).resolve().parents[2]
NOTEBOOKS = "book/*/*.ipynb", "assignments/source/*/*.ipynb"
STATE, VIEW = "application/vnd.jupyter.widget-state+json", "application/vnd.jupyter.widget-view+json"
KERNEL = {"display_name": "Python 3", "language": "python", "name": "python3"}


def execute(path):
    """Run the notebook at `path` from its own folder, and write it back."""
    notebook = nbformat.read(path, as_version=4)
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
    NotebookClient(
        notebook,
        kernel_name="python3",
        timeout=300,
        resources={"metadata": {"path": str(path.parent)}},
        record_timing=False,
        coalesce_streams=True,
        extra_arguments=["--log-level=ERROR"],  # the kernel would remind us, once a notebook, that it is not encrypted
    ).execute()
    notebook.metadata["kernelspec"] = KERNEL
    notebook.metadata["language_info"] = {"name": "python"}
    name_widgets(notebook)
    fold_solutions(notebook)
    nbformat.validate(notebook)
    store(notebook, path)


def fold_solutions(notebook):
    """Let solutions be folded, on the page by their tag and in JupyterLab, which forgets it when it saves."""
    for cell in notebook.cells:
        if cell.cell_type == "code" and cell.id.startswith("solution-"):
            cell.metadata["jupyter"] = {"outputs_hidden": True, "source_hidden": True}
            cell.metadata["tags"] = sorted({*cell.metadata.get("tags", []), "hide-cell"})


def name_widgets(notebook):
    """Name each widget that is shown by its cell, and forget the others: their own names are drawn by lot."""
    kept = notebook.metadata.pop("widgets", {}).get(STATE, {})
    states, named = kept.get("state", {}), {}

    def name(model, of):
        named[model] = hashlib.sha256(of.encode()).hexdigest()[:32]
        for key, value in sorted(states[model]["state"].items()):
            if isinstance(value, str) and value.removeprefix("IPY_MODEL_") in states:
                name(value.removeprefix("IPY_MODEL_"), f"{of} {key}")

    for cell in notebook.cells:
        for output in cell.get("outputs", []):
            if view := output.get("data", {}).get(VIEW):
                if view["model_id"] not in named:
                    name(view["model_id"], cell.id)
                view["model_id"] = named[view["model_id"]]
    if named:
        text = json.dumps({model: states[model] for model in named})
        for model, new in named.items():
            text = text.replace(model, new)
        notebook.metadata["widgets"] = {STATE: {**kept, "state": json.loads(text)}}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument(
        "notebooks", nargs="*", type=Path, help="default: every chapter and assignment of every edition"
    )
    paths = parser.parse_args().notebooks or [path for where in NOTEBOOKS for path in sorted(ROOT.glob(where))]
    if missing := [str(path) for path in paths if not path.is_file()]:
        parser.error(f"no such notebook: {', '.join(missing)}")
    failed = 0
    for path in paths:
        print(f"{path} … ", end="", flush=True)
        try:
            execute(path)
            print("stored")
        except CellExecutionError as error:
            failed += 1
            print(f"failed, left as it was\n{error}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
