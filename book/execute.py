"""Run notebooks and store them with their outputs, in the one form that the repository keeps.

    python book/execute.py                       every notebook of every edition
    python book/execute.py book/en/lstm.ipynb    one of them

A notebook that fails is left as it was. What differs from run to run or from machine to machine (times, versions,
counters of earlier runs) is not stored, so a second run changes nothing.
"""

import argparse
import sys
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError
from notebooks import store

BOOK = Path(__file__).resolve().parent
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
    nbformat.validate(notebook)
    store(notebook, path)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("notebooks", nargs="*", type=Path, help="default: every notebook of every edition")
    paths = parser.parse_args().notebooks or sorted(BOOK.glob("*/*.ipynb"))
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
