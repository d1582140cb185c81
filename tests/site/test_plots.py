"""Test the words in plots: axes say what they show, and translations have them in their own language."""

import functools
import re
import xml.etree.ElementTree as ET

import nbformat
import pytest

from book import editions
from tests.project.paths import ROOT

NAMESPACE = "{http://www.w3.org/2000/svg}"
NUMBER = re.compile(r"[−-]?[\d.,]+%?|[−-]?\d+e[+-]?\d+")
# Words that are the same in every language: names of layers, functions and parameters, units.
NAMES = re.compile(
    r"\b(?:[a-z]+_[a-z_]+|\w*[A-Z]\w*[A-Z]\w*|Adam|DeltaNet|chrono|jitter|tanh|sigmoid|softmax|torch|bfloat16)\b"
)


def plots(language):
    """Yield (page#cell, SVG element) for each plot of an edition."""
    for path in sorted((ROOT / "book" / language).glob("*.ipynb")):
        for cell in nbformat.read(path, as_version=4).cells:
            for output in cell.get("outputs", ()):
                text = output.get("data", {}).get("image/svg+xml", "")
                if 'id="figure_1"' in text:  # of matplotlib
                    yield f"{path.stem}#{cell.id}", ET.fromstring(text)


def groups(element, name):
    return [group for group in element.iter(f"{NAMESPACE}g") if group.get("id", "").startswith(name)]


def texts(element):
    """Return the texts in an element, without its formulas, which are outlines."""
    return [text.text for text in element.iter(f"{NAMESPACE}text") if text.text]


def has_label(axis):
    """Return whether an axis has a label, as text or as a formula."""
    return any(group.get("id", "").startswith("text_") for group in axis)


def test_axes_with_numbers_are_labelled():
    """An axis whose ticks are words or letters needs no label."""
    mute = [
        f"{cell}: {'xy'[int(axis.get('id')[16:]) % 2 == 0]}"
        for cell, plot in plots(editions.ORIGINAL)
        for axis in groups(plot, "matplotlib.axis_")
        if any(map(NUMBER.fullmatch, texts(axis))) and not has_label(axis)
    ]
    assert not mute, "\n".join(mute)


@functools.cache
def words(language):
    """Return the texts in the plots of an edition: page#cell → list."""
    return {cell: texts(plot) for cell, plot in plots(language)}


@pytest.mark.parametrize(
    "language", [edition.language for edition in editions.finished() if edition.language != editions.ORIGINAL]
)
def test_labels_are_translated(language):
    english = [
        f"{cell}: {text}"
        for cell, found in words(language).items()
        for text in {*found} & {*words(editions.ORIGINAL)[cell]}
        if re.search(r"[a-z]{3}", NAMES.sub("", text))
    ]
    assert not english, "\n".join(english)
