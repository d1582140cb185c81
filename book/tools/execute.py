"""Run notebooks and store them with their outputs in a reproducible form.

    python -m book.tools.execute                       every chapter and assignment of every edition
    python -m book.tools.execute book/en/lstm.ipynb    one of them

A notebook that fails is left as it was. Values that differ between runs or machines (times, versions, execution counts)
are not stored, so a second run changes nothing.
"""

import argparse
import hashlib
import json
import sys
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError

from book.editions import BOOK, ORIGINAL
from book.tools import store
from book.tools.install_cell import add_install_cell, language_of
from book.tools.translated_cells import OWN_OUTPUTS, called_functions, normalised_code, with_functions
from book.tools.translated_outputs import SVG, translate_plot

ROOT = Path(__file__).resolve().parents[2]
NOTEBOOKS = "book/*/*.ipynb", "assignments/source/*/*.ipynb"
STATE, VIEW = "application/vnd.jupyter.widget-state+json", "application/vnd.jupyter.widget-view+json"
KERNEL = {"display_name": "Python 3", "language": "python", "name": "python3"}


def execute(path):
    """Run the notebook at `path` from its own folder, and write it back."""
    notebook = nbformat.read(path, as_version=4)
    if language := language_of(path):
        add_install_cell(notebook, language)
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
        extra_arguments=["--log-level=ERROR"],  # without the warning that the connection to the kernel is not encrypted
    ).execute()
    notebook.metadata["kernelspec"] = KERNEL
    notebook.metadata["language_info"] = {"name": "python"}
    name_widgets(notebook)
    fold_solutions(notebook)
    if language not in (None, ORIGINAL):
        take_plots(notebook, BOOK / ORIGINAL / path.name)
    nbformat.validate(notebook)
    store(notebook, path)


def fold_solutions(notebook):
    """Mark solutions as folded: by a tag for pages, and by metadata for JupyterLab, which drops it when it saves."""
    for cell in notebook.cells:
        if cell.cell_type == "code" and cell.id.startswith("solution-"):
            cell.metadata["jupyter"] = {"outputs_hidden": True, "source_hidden": True}
            cell.metadata["tags"] = sorted({*cell.metadata.get("tags", []), "hide-cell"})


def take_plots(notebook, path):
    """Replace a translation's plots by those of the English notebook at `path`, with its own labels.

    A plot drawn anew differs in its layout, which depends on the lengths of the labels. An interactive figure draws its
    own words.
    """
    originals = nbformat.read(path, as_version=4).cells
    english, functions = {cell.id: cell for cell in originals}, called_functions(originals, notebook.cells)
    for cell in notebook.cells:
        original = english[cell.id]
        if cell.cell_type != "code" or normalised_code(cell.source) != normalised_code(original.source):
            continue
        if f"{path.stem}#{cell.id}" in OWN_OUTPUTS:
            continue
        sources = with_functions(original, cell, functions[cell.id])
        for output, drawn in zip(cell.outputs, original.outputs):
            if SVG in drawn.get("data", {}) and VIEW not in drawn["data"]:
                output.data[SVG] = translate_plot(drawn.data[SVG], *sources)


def name_widgets(notebook):
    """Replace the random id of each displayed widget by one derived from its cell, and drop the other widgets."""
    widgets = notebook.metadata.pop("widgets", {}).get(STATE, {})
    states, new_ids = widgets.get("state", {}), {}

    def name(model, origin):
        new_ids[model] = hashlib.sha256(origin.encode()).hexdigest()[:32]
        for key, value in sorted(states[model]["state"].items()):
            if isinstance(value, str) and value.removeprefix("IPY_MODEL_") in states:
                name(value.removeprefix("IPY_MODEL_"), f"{origin} {key}")

    for cell in notebook.cells:
        for output in cell.get("outputs", []):
            if view := output.get("data", {}).get(VIEW):
                if view["model_id"] not in new_ids:
                    name(view["model_id"], cell.id)
                view["model_id"] = new_ids[view["model_id"]]
    if new_ids:
        text = json.dumps({model: states[model] for model in new_ids})
        for model, new_id in new_ids.items():
            text = text.replace(model, new_id)
        notebook.metadata["widgets"] = {STATE: {**widgets, "state": json.loads(text)}}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument(
        "notebooks", nargs="*", type=Path, help="default: every chapter and assignment of every edition"
    )
    paths = parser.parse_args().notebooks or [path for pattern in NOTEBOOKS for path in sorted(ROOT.glob(pattern))]
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
