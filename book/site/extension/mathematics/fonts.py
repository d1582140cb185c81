"""The font of the formulas: STIX Two Math, cut down to the characters that formulas use.

Without a mathematical font a browser cannot stretch brackets or place the limits of sums, and many phones have none.
Text uses the fonts of the reader's system.
"""

import importlib.resources
import io
import logging
from functools import cache
from pathlib import Path

from fontTools import subset
from fontTools.ttLib import TTFont

logging.getLogger("fontTools").setLevel(logging.WARNING)  # it reports on every table of the font

CHARACTERS = [
    *range(0x20, 0x7F),  # Latin
    *range(0x391, 0x3CA),  # Greek
    *range(0x1D400, 0x1D434),  # bold
    *range(0x1D434, 0x1D468),  # italic except h
    *range(0x1D538, 0x1D552),  # double-struck
    *range(0x1D49C, 0x1D4B6),  # script
    *range(0x1D6FC, 0x1D71C),  # italic Greek
    *range(0x1D7CE, 0x1D7D8),  # bold digits
    *map(ord, "ℎℝℕℤℂℒℬℰℱℋℐℳℛϑϕ∂∇′…⋯⋮⋱−×±·÷‖∥∣√∞∑∏∫∈∉≈≠≤≥≡∼≪≫⊂∪∩∅∀∃⊙⊕⊗∘∗⋅"),
    *map(ord, "←→↑↓↦⟵⟶⇒⇐⌈⌉⌊⌋⟨⟩⏞⏟^~¯ˆ˜\u0302\u0303\u0304\u00a0\u2009\u200a\u2061"),
]


@cache
def font():
    """Return the font's file as bytes. It takes half a second, so the build does it before it forks."""
    # the package is installed for this file only
    source = importlib.resources.files("ziamath") / "fonts" / "STIXTwoMath-Regular.ttf"
    options = subset.Options(flavor="woff2", hinting=False, drop_tables=["DSIG", "GPOS"])
    options.name_IDs = [0, 1, 2, 13, 14]  # copyright, family, style, licence
    file = io.BytesIO()
    with importlib.resources.as_file(source) as path, TTFont(path, recalcTimestamp=False) as whole:
        subsetter = subset.Subsetter(options)
        subsetter.populate(unicodes=CHARACTERS)
        subsetter.subset(whole)
        whole.flavor = "woff2"
        whole.save(file)
    return file.getvalue()


def write_font(app, exception):
    """Write the font into the site, unless an earlier build has written it."""
    if exception or app.builder.format != "html":
        return
    path = Path(app.outdir, "_static", "math.woff2")
    if not path.exists() or path.stat().st_mtime < Path(__file__).stat().st_mtime:
        path.write_bytes(font())


def setup(app):
    app.connect("build-finished", write_font)
