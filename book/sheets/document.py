"""HTML of a sheet: its template filled with words, numbers, formulas and links."""

import re
import tomllib
from functools import cache, partial
from html import escape
from pathlib import Path

import jinja2
from markdown_it import MarkdownIt
from markupsafe import Markup

from book.editions import BOOK, ORIGINAL, read
from book.sheets import chapters, learning, lstm, recurrences
from book.sheets.fonts import faces
from book.site.extension.mathematics.formulas import to_mathml
from book.styles import minify

FOLDER = Path(__file__).parent
SHEETS = {"lstm": lstm, "learning": learning, "recurrences": recurrences}
PAPERS = "A4", "Letter"
FORMULA = re.compile(r"(`[^`]*`)|\$([^$]+)\$")
STRONG, EMPHASIS = re.compile(r"\*\*(.+?)\*\*"), re.compile(r"\*(.+?)\*")
NAME = re.compile(r"\{(\w+)\}")
PLACE = re.compile(r"\w+(#[a-z0-9-]+)?")
CHECK = re.compile(r"(\d+)\. ")  # the heading of a check of the chapter on complaints
markdown = MarkdownIt("commonmark", {"html": False}).disable("emphasis")


def make(name, language, paper=PAPERS[0], base=None):
    """Return a sheet as an HTML page that needs no other file.

    base: the address of the edition's pages, to which the links lead; None for a sheet without links.
    """
    words = read_words(language)[name]
    facts = SHEETS[name].facts(language)
    writer = Writer(language, base, facts.get("numbers", {}))
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(FOLDER / "templates"), autoescape=True, undefined=jinja2.StrictUndefined
    )
    environment.filters |= {"md": writer.inline, "tex": tex, "display": partial(tex, display=True)}
    page = environment.get_template(f"{name}.html").render(
        name=name,
        words=words,
        common=read_words(language)["common"],
        edition=read(BOOK / language),
        paper=paper,
        style=Markup(style()),
        **facts,
    )
    return page + "\n"


@cache
def read_words(language):
    """Return the texts of a language, sheet by sheet; ValueError if a language has none."""
    path = FOLDER / "words" / f"{language}.toml"
    if not path.is_file():
        raise ValueError(f"there are no words for sheets in {language!r}: book/sheets/words/{language}.toml is missing")
    return tomllib.loads(path.read_text(encoding="utf-8"))


@cache
def style():
    """Return the styles of all sheets, with the fonts."""
    return minify((FOLDER / "templates" / "sheet.css").read_text(encoding="utf-8")) + faces()


@cache
def tex(text, display=False):
    """Return TeX as MathML."""
    return Markup(to_mathml(text, display))


class Writer:
    """Turns words into HTML: Markdown, formulas in dollars, `{name}` for numbers, and links to chapters."""

    def __init__(self, language, base, numbers):
        self.language, self.base, self.numbers = language, base, numbers

    def inline(self, text):
        """Return a text without blocks as HTML; ValueError for a number or a link that does not exist."""
        formulas = []

        def keep(match):
            if match[1]:
                return match[1]
            formulas.append(tex(match[2]))
            return f"\ue000{len(formulas) - 1}\ue001"

        html = markdown.renderInline(NAME.sub(self.number, FORMULA.sub(keep, text)))
        # Markdown asks for a space beside the asterisks, which Chinese, Japanese and Korean do not have
        html = EMPHASIS.sub(r"<em>\1</em>", STRONG.sub(r"<strong>\1</strong>", html))
        html = re.sub(r'<a href="([^"]*)">(.*?)</a>', self.link, html)
        return Markup(re.sub("\ue000(\\d+)\ue001", lambda match: formulas[int(match[1])], html))

    def number(self, match):
        if match[1] not in self.numbers:
            raise ValueError(f"words in {self.language!r} name a number {match[1]!r} that this sheet does not have")
        return str(self.numbers[match[1]])

    def link(self, match):
        """Return a link to a place of the book, or its words alone if there is no address."""
        place, words = match[1], match[2]
        if not PLACE.fullmatch(place):
            raise ValueError(f"words in {self.language!r} link to {place!r}, which is no page#cell")
        heading, number = chapters.section(place, self.language), chapters.number(place, self.language)
        if words == "#" and number is None:
            raise ValueError(f"{place} is in no numbered chapter")
        label = f"<b>{number}</b>" if number else ""
        if words == "#":
            words = f'<span class="to">{label}</span>'
        elif not words:
            if check := CHECK.match(heading):
                heading = read_words(self.language)["common"]["check"].replace("{number}", check[1])
            words = f'<span class="to">{label} {self.inline(heading)}</span>'
        return self.anchor(place, words)

    def anchor(self, place, html):
        if self.base is None:
            return html
        page, _, cell = place.partition("#")
        return f'<a href="{escape(self.base + page)}.html{f"#{cell}" if cell else ""}">{html}</a>'


def title(name, language=ORIGINAL):
    """Return the title of a sheet, as plain text."""
    return re.sub("[`$*]", "", read_words(language)[name]["title"])
