"""Test that translated cells pad labels by their width: a Chinese, Japanese or Korean character takes two columns.

`f"{name:23}"` counts characters, so the columns after such a label do not align; `f"{zh(name, 23)}"` counts columns.
"""

import ast
import re

import nbformat
import pytest

from book.output_words import NAMING
from book.tools import translations
from book.tools.translated_outputs import rows, text_of
from companion.words import width

PATHS = [
    path
    for language in translations.editions()
    if language in NAMING
    for path in translations.pages(language).values()
    if path.suffix == ".ipynb"
]


def padded_labels(source):
    """Return the labels with wide characters that f-strings of a cell's code pad by counting characters."""
    tree, labels = ast.parse(source), {}
    for node in ast.walk(tree):
        for row in rows(node):
            for name, label in row.items():
                labels.setdefault(name, []).append(label.value)
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.FormattedValue) and node.format_spec is not None and pads(node.format_spec):
            texts = labels.get(node.value.id, []) if isinstance(node.value, ast.Name) else [text_of(node.value)]
            found += [text for text in texts if text and width(text) > len(text)]
    return found


def pads(format_spec):
    """Return whether a format specification is a width, such as 12 or >12."""
    texts = [text_of(part) for part in format_spec.values]
    return None in texts or re.fullmatch(r"[<>^]?\d+", "".join(texts)) is not None


def test_padded_labels_are_found():
    loop = 'for name, x in [("点积", 1), ("dot product", 2)]:\n    print(f"{name:12}{x:3}")'
    assert padded_labels(loop) == ["点积"]
    assert padded_labels(loop.replace("{name:12}", "{zh(name, 12)}")) == []
    assert padded_labels("print(f\"{'间隔':16}\", f\"{'gap':16}\")") == ["间隔"]


@pytest.mark.parametrize("path", PATHS, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_labels_are_padded_by_their_width(path):
    cells = nbformat.read(path, as_version=4).cells
    found = {cell.id: labels for cell in cells if cell.cell_type == "code" and (labels := padded_labels(cell.source))}
    assert not found, "pad with ja(name, 23), ko or zh of companion.words"
