"""Load the fonts of Chinese, Japanese and Korean letters, which matplotlib's own fonts lack, when a text needs them."""

import gzip
import os
import re
import sys
import tempfile
from functools import cache

from matplotlib import _text_helpers
from matplotlib.font_manager import FontManager, get_font
from matplotlib.mathtext import _mathtext
from matplotlib.text import Text
from matplotlib.textpath import TextToPath

EAST_ASIAN = re.compile(
    "[\u1100-\u11ff\u2e80-\ua4cf\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\ufe30-\ufe4f\uff00-\uffef\U00020000-\U0003ffff]"
)
HANGUL = re.compile("[\u1100-\u11ff\u3130-\u318f\ua960-\ua97f\uac00-\ud7ff\uffa0-\uffdc]")
KANA = re.compile("[\u3041-\u30ff\u31f0-\u31ff\uff61-\uff9f]")
NOT_LOADED = "This drawing lacks Chinese, Japanese or Korean letters: a font could not be loaded. Is there a network?"

paths = {}  # language → file of its font, once it is loaded
failed = set()  # languages whose font could not be loaded in this cell


def languages(character):
    """Return the languages whose fonts may have a character; that of the page comes first."""
    if HANGUL.match(character):
        return ["ko"]
    if KANA.match(character):
        return ["ja"]
    return ["zh", "ja"] if os.environ.get("UNROLLED_LANGUAGE") == "zh" else ["ja", "zh"]


def find_font(character):
    """Return the file of a font that has a character, or None. Load the fonts that are needed to find out."""
    for language in languages(character):
        if language not in paths and language not in failed:
            load(language)
        if language in paths and ord(character) in characters(paths[language]):
            return paths[language]


@cache
def characters(path):
    return frozenset(get_font(path).get_charmap())


def load(language):
    """Load a font, or say that this failed."""
    try:
        data = gzip.decompress(fetch(f"fonts/{language}.ttf.gz"))
    except Exception:
        if not failed:
            print(NOT_LOADED, file=sys.stderr)
        failed.add(language)
        return
    with tempfile.NamedTemporaryFile(suffix=".ttf", delete=False) as file:
        file.write(data)
    paths[language] = file.name


def fetch(name):
    """Return a file from the folder of the page's Python."""
    from js import URL, XMLHttpRequest, location

    request = XMLHttpRequest.new()
    request.open("GET", URL.new(name, location.href).href, False)  # a drawing cannot wait for a promise
    request.responseType = "arraybuffer"
    request.send()
    if request.status != 200:
        raise OSError(f"{name}: {request.status}")
    return request.response.to_bytes()


def load_fonts(text):
    """Load the fonts that the letters of a text need."""
    for character in {*EAST_ASIAN.findall(str(text))}:
        find_font(character)


def extend_matplotlib():
    """Make matplotlib load these fonts before it measures a text, and use them after those that a reader chose."""
    set_text, get_path = Text.set_text, TextToPath.get_text_path
    find_fonts, get_glyph = FontManager._find_fonts_by_props, _mathtext.UnicodeFonts._get_glyph
    warn = _text_helpers.warn_on_missing_glyph

    def set_text_with_fonts(self, s):
        load_fonts(s)
        set_text(self, s)

    def get_path_with_fonts(self, prop, s, ismath=False):
        load_fonts(s)
        return get_path(self, prop, s, ismath)

    def find_more_fonts(self, *args, **options):
        order = [language for language in languages("\u4e00") + ["ko"] if language in paths]
        return find_fonts(self, *args, **options) + [paths[language] for language in order]

    def get_glyph_from_fonts(self, fontname, font_class, sym):
        if len(sym) == 1 and EAST_ASIAN.match(sym):
            if path := find_font(sym):
                return get_font(path), ord(sym), False
            sym = "\u25a1" if failed else sym  # a box, without a second message
        return get_glyph(self, fontname, font_class, sym)

    def warn_unless_said(codepoint, *fonts):
        if not (failed and EAST_ASIAN.match(chr(codepoint))):
            warn(codepoint, *fonts)

    _text_helpers.warn_on_missing_glyph = warn_unless_said
    Text.set_text, TextToPath.get_text_path = set_text_with_fonts, get_path_with_fonts
    FontManager._find_fonts_by_props = find_more_fonts
    _mathtext.UnicodeFonts._get_glyph = get_glyph_from_fonts
