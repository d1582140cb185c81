"""Make the fonts that matplotlib loads on a page for Chinese, Japanese and Korean letters.

npm has each font as WOFF, which matplotlib cannot read. A page loads a font only when a drawing needs it.
"""

import gzip
import io
import logging
from pathlib import Path

from fontTools import subset
from fontTools.ttLib import TTFont

logging.getLogger("fontTools").setLevel(logging.WARNING)  # it reports on every table of the font

# Kana and squared letters, which only the Japanese font has, so that the Chinese one stays below 1.5 MB.
JAPANESE = {*range(0x3041, 0x3100), *range(0x31F0, 0x3400), *range(0xFF61, 0xFFA0)}
DROPPED_TABLES = ["BASE", "GDEF", "GPOS", "GSUB", "STAT", "gasp", "prep", "vhea", "vmtx"]  # matplotlib reads none


def drawing_font(path: Path, language: str) -> bytes:
    """Return a font as gzipped TrueType, without the characters that drawings take from other fonts."""
    options = subset.Options(hinting=False, layout_features=[], drop_tables=DROPPED_TABLES)
    options.name_IDs = [0, 1, 2, 6, 13, 14]  # copyright, family, style, PostScript's name, licence
    file = io.BytesIO()
    with TTFont(path, recalcTimestamp=False) as font:
        # matplotlib's own font has the other characters
        characters = {code for code in font.getBestCmap() if code >= 0x2E80 or 0x1100 <= code < 0x1200}
        subsetter = subset.Subsetter(options)
        subsetter.populate(unicodes=characters if language == "ja" else characters - JAPANESE)
        subsetter.subset(font)
        font.flavor = None
        font.save(file)
    return gzip.compress(file.getvalue(), mtime=0)
