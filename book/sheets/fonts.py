"""Fonts of the sheets, cut down to a few hundred characters and put into the page.

So a sheet needs no other file, and its lines break alike on every computer. Chinese, Japanese and Korean characters
come from the system's fonts.
"""

import base64
import io
import logging
from functools import cache
from pathlib import Path

import matplotlib
from fontTools import subset
from fontTools.ttLib import TTFont

from book.site.extension.mathematics.fonts import font

FILES = Path(matplotlib.get_data_path(), "fonts", "ttf")
FACES = [  # family, file, weight, style
    ("Sheet", "STIXGeneral.ttf", 400, "normal"),
    ("Sheet", "STIXGeneralItalic.ttf", 400, "italic"),
    ("Sheet", "STIXGeneralBol.ttf", 700, "normal"),
    ("Sheet Mono", "DejaVuSansMono.ttf", 400, "normal"),
    ("Sheet Mono", "DejaVuSansMono-Bold.ttf", 700, "normal"),
]
CHARACTERS = [*range(0x20, 0x7F), *range(0xA0, 0x180), *range(0x391, 0x3CA)]
CHARACTERS += map(ord, "–—‘’“”…•·×−→←↑↓≤≥≠≈∞√⊙∂°²³¹⁰⁴⁵⁶⁷⁸⁹⁻§✓✗")

logging.getLogger("fontTools").setLevel(logging.WARNING)


@cache
def faces():
    """Return the style sheet of the fonts: those of text and code, and that of the formulas."""
    rules = [rule(family, cut(file), weight, style) for family, file, weight, style in FACES]
    return "".join([*rules, rule("Sheet Math", font(), 400, "normal")])


def rule(family, data, weight, style):
    text = base64.b64encode(data).decode()
    lines = "" if family.endswith("Math") else "ascent-override:90%;descent-override:25%;"
    return (
        f'@font-face{{font-family:"{family}";font-weight:{weight};font-style:{style};{lines}'
        f'src:url("data:font/woff2;base64,{text}")}}'
    )


def cut(file):
    """Return a font with only the characters of the sheets, as WOFF2."""
    options = subset.Options(flavor="woff2", hinting=False, drop_tables=["DSIG", "FFTM"])
    options.name_IDs = [0, 1, 2, 13, 14]  # copyright, family, style, licence
    result = io.BytesIO()
    with TTFont(FILES / file, recalcTimestamp=False) as whole:
        subsetter = subset.Subsetter(options)
        subsetter.populate(unicodes=CHARACTERS)
        subsetter.subset(whole)
        whole.flavor = "woff2"
        whole.save(result)
    return result.getvalue()
