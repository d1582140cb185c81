"""Write the cell that installs the package where it is missing, as on Colab and Kaggle, into every chapter.

    python -m book.tools.install_cell       after a change of `install` in _config.yml

The cell stands before a chapter's first code cell; the website does not show it. Where `companion` can be imported, it
does nothing, so the stored outputs stay as they are.
"""

import re
import sys

import nbformat
import yaml

from book.editions import BOOK, ORIGINAL
from book.editions import read as edition_at
from book.tools import renumber, store
from book.tools.translations import KEY, digest

CONFIG = BOOK.parent / "_config.yml"
CELL = "install"
TAGS = ["remove-cell"]  # the website leaves cells with this tag out
COMMENT = "Install the book's package where it is missing, as on Colab and Kaggle."
ON_KAGGLE = "On Kaggle, first turn on the internet under Settings."
CODE = """\
# {comment}
# {on_kaggle}
import importlib.util

if not importlib.util.find_spec("companion"):
    get_ipython().run_line_magic("pip", 'install -qq --retries=0 "{package}"')"""


def install_cell(language):
    """Return the cell of an edition, with the requirement that _config.yml gives and the words of edition.yml."""
    words = edition_at(BOOK / language).words
    package = yaml.safe_load(CONFIG.read_text(encoding="utf-8"))["repository"]["install"]
    code = CODE.format(comment=words.get(COMMENT, COMMENT), package=package, on_kaggle=words.get(ON_KAGGLE, ON_KAGGLE))
    cell = nbformat.v4.new_code_cell(code, id=CELL, metadata={"tags": TAGS})
    if language != ORIGINAL:
        cell.metadata[KEY] = digest(install_cell(ORIGINAL))
    return cell


def imports_package(cell):
    """Return whether a code cell imports the package."""
    return cell.cell_type == "code" and re.search(r"(?m)^(?:import|from) companion\b", cell.source)


def add_install_cell(notebook, language):
    """Put the cell into a notebook that imports the package, or replace the present one."""
    if not any(map(imports_package, notebook.cells)):
        return
    others = [cell for cell in notebook.cells if cell.id != CELL]
    first = next(place for place, cell in enumerate(others) if cell.cell_type == "code")
    notebook.cells = [*others[:first], install_cell(language), *others[first:]]
    renumber(notebook)


def language_of(path):
    """Return the language of a chapter, or None for any other notebook."""
    folder = path.resolve().parent
    return folder.name if folder.parent == BOOK else None


def main():
    for path in sorted(BOOK.glob("*/*.ipynb")):
        text = path.read_text(encoding="utf-8")
        notebook = nbformat.v4.reads(text)
        add_install_cell(notebook, language_of(path))
        if nbformat.writes(notebook) + "\n" != text:
            store(notebook, path)
            print(path.relative_to(BOOK.parent))


if __name__ == "__main__":
    sys.exit(main())
