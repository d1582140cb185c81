"""Print an edition: the pages of the site, one behind the other, as one PDF.

Solutions are open, figures stand as they are before anybody moves them, links within the book lead to places within the
document, and chapters and sections are its outline. Chromium sets it, in fonts of packages that are pinned anyway; the
signs of Chinese, Japanese and Korean come from the system, on Debian from the package `fonts-noto-cjk`.
"""

import re
import tempfile
from html import escape
from pathlib import Path
from urllib.parse import urljoin

import matplotlib
import pypdf
from bs4 import BeautifulSoup

from book.editions import names
from book.site.browser import require_fonts
from book.site.home import said

STYLE = Path(__file__).with_suffix(".css")
FONTS = Path(matplotlib.get_data_path(), "fonts", "ttf")
FACES = [  # family, file, weight, style
    ("Paper", "STIXGeneral.ttf", 400, "normal"),
    ("Paper", "STIXGeneralItalic.ttf", 400, "italic"),
    ("Paper", "STIXGeneralBol.ttf", 700, "normal"),
    ("Paper", "STIXGeneralBolIta.ttf", 700, "italic"),
    ("Paper Mono", "DejaVuSansMono.ttf", 400, "normal"),
    ("Paper Mono", "DejaVuSansMono-Bold.ttf", 700, "normal"),
]


def soup(path):
    return BeautifulSoup(path.read_text(encoding="utf-8"), "html.parser")


def print_edition(browser, site, edition, path, base=""):
    """Write the edition, as it is built in `site`, to `path`. base: the site's address, where it has one."""
    articles = prepared(site, edition, base)
    with browser.new_page() as page, tempfile.TemporaryDirectory() as temporary:
        require_fonts(page, edition)
        source, places = Path(temporary, "whole.html"), {}
        for _ in range(2):  # on which page a section stands is known when it has been printed
            source.write_text(whole(site, edition, articles, places), encoding="utf-8")
            page.goto(source.as_uri())
            page.evaluate("document.fonts.ready.then(() => null)")
            page.pdf(path=path, prefer_css_page_size=True, print_background=True, outline=True, tagged=True)
            places = pages_of(path)


def prepared(site, edition, base=""):
    """Page → its article, as a part of the whole."""
    folder = site / edition.language
    pages = [name for name in names(edition.table) if (folder / f"{name}.html").is_file()]
    articles = {name: soup(folder / f"{name}.html").select_one("article.text") for name in pages}
    for name, article in articles.items():
        for summary in article.select("summary"):
            summary.name, summary["class"], summary.string = "p", "solution", said(edition, "Solution")
        prepare(article, name, pages, base)
    return articles


def whole(site, edition, articles, places):
    """The edition as one page of HTML. places: the page on which each place stands."""
    folder = site / edition.language
    first = soup(folder / f"{next(iter(articles))}.html")
    rows, named = [], []
    for name, article in articles.items():
        title = heading(article.h1)
        named.append(f'#{name} {{ page: {name} }} @page {name} {{ @top-center {{ content: "{title}" }} }}')
        inner = [row(section["id"], heading(section.h2), places) for section in article.select("section:has(> h2)")]
        rows.append(f"<div>{row(name, title, places, 'chapter')}{''.join(inner)}</div>")
    faces = "".join(
        f'@font-face {{ font-family: "{family}"; src: url("{(FONTS / file).as_uri()}"); font-weight: {weight};'
        f" font-style: {style}; ascent-override: 90%; descent-override: 25% }}"
        for family, file, weight, style in FACES
    )
    style = first.style.string + faces + STYLE.read_text(encoding="utf-8") + "".join(named)
    cover = first.select_one("article .picture-frame")
    author = first.select("footer p")[-1].get_text()
    return (
        f'<!DOCTYPE html><html lang="{edition.html}" data-theme="light"><head><meta'
        ' charset="utf-8"><title>Unrolled</title>'
        f'<base href="{folder.as_uri()}/"><style>{style}</style></head><body>'
        f'<div class="cover"><p class="title">Unrolled</p><p>{escape(edition.about)}</p>{cover}<p'
        f' class="edition">{escape(edition.name)}</p><p class="author">{escape(author)}</p></div>'
        "<nav"
        f' class="contents"><h2>{escape(said(edition, "Contents"))}</h2>{"".join(rows)}</nav>{"".join(map(str, articles.values()))}</body></html>'  # noqa: E501
    )


def heading(element):
    """A heading's text, with its number."""
    return re.sub(r"\s+", " ", element.get_text()).removesuffix("¶").strip()


def row(place, title, places, kind="section"):
    return f'<a class="{kind}" href="#{place}"><span>{escape(title)}</span><i></i><b>{places.get(place, "")}</b></a>'


def pages_of(path):
    """Place → the number of the page on which it stands."""
    reader = pypdf.PdfReader(path)
    found = reader.named_destinations.items()
    return {name.removeprefix("/"): reader.get_destination_page_number(destination) + 1 for name, destination in found}


def prepare(article, name, pages, base):
    """Make an article a part of the whole: its places named after its page, its solutions open, nothing that only a
    screen can do."""
    for element in article.select("script, .headerlink, .begin, button"):
        element.decompose()
    for details in article.select("details"):
        details.name = "div"
    for element in article.find_all(True):
        for key in ("id", "aria-labelledby"):
            if element.get(key):
                element[key] = f"{name}--{element[key]}"
        for key, value in element.attrs.items():
            if isinstance(value, str) and "url(#" in value:
                element[key] = value.replace("url(#", f"url(#{name}--")
        for key in ("href", "xlink:href"):
            if element.get(key):
                element[key] = leading(element[key], name, pages, base)
                if element[key] is None:
                    del element[key]
        if element.name == "style" and element.string:  # a picture's own
            element.string = re.sub(r"#(?=[\w-]+[\s{])", f"#{name}--", element.string)
    article["id"] = name


def leading(href, name, pages, base):
    """Where a link leads in the document; None if to a file that is not in it."""
    page, _, place = href.partition("#")
    page = page.removesuffix(".html")
    if not page and place:
        return f"#{name}--{place}"
    if page in pages:
        return f"#{page}--{place}" if place else f"#{page}"
    if re.match(r"[a-z]+:", href):
        return href
    return urljoin(base, href) if base else None
