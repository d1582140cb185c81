"""Print an edition: all its pages in one PDF.

Solutions are open, figures are in their first state, links within the book lead to places in the PDF, and the outline
has the chapters and sections. Chromium prints, with fonts from packages that are pinned anyway; Chinese, Japanese and
Korean characters come from the system's fonts (Debian's package fonts-noto-cjk).
"""

import re
import tempfile
from html import escape
from pathlib import Path
from urllib.parse import urljoin

import matplotlib
import pypdf
from bs4 import BeautifulSoup

from book.editions import REFERENCE, page_names
from book.site.browser import require_fonts
from book.site.root_files import translate

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
    """Print the edition that is built in `site` to `path`. base: the site's address, or an empty string."""
    articles = prepare_articles(site, edition, base)
    with browser.new_page() as page, tempfile.TemporaryDirectory() as temporary:
        require_fonts(page, edition)
        source, page_numbers = Path(temporary, "whole.html"), {}
        for _ in range(2):  # the first print tells the page numbers for the table of contents
            source.write_text(join_articles(site, edition, articles, page_numbers), encoding="utf-8")
            page.goto(source.as_uri())
            page.evaluate("document.fonts.ready.then(() => null)")
            page.pdf(path=path, prefer_css_page_size=True, print_background=True, outline=True, tagged=True)
            page_numbers = read_page_numbers(path)


def printed_pages(edition):
    """Return the names of the pages in the PDF: all of the table of contents but the reference."""
    return [name for name in page_names(edition.table) if name != REFERENCE]


def prepare_articles(site, edition, base=""):
    """Return page name → the page's article, changed for the PDF."""
    folder = site / edition.language
    pages = [name for name in printed_pages(edition) if (folder / f"{name}.html").is_file()]
    articles = {name: soup(folder / f"{name}.html").select_one("article.text") for name in pages}
    for name, article in articles.items():
        for summary in article.select("summary"):
            summary.name = "p"
            if not summary.find_parent("details", "way"):
                if summary.select_one(".collapsed"):  # others have words of their own
                    summary.string = translate(edition, "Solution")
                summary["class"] = "solution"
        prepare(article, name, pages, base)
    return articles


def join_articles(site, edition, articles, page_numbers):
    """Return the edition as one HTML page. page_numbers: the printed page of each anchor, for the table of contents."""
    folder = site / edition.language
    first = soup(folder / f"{next(iter(articles))}.html")
    parts = {page_names(part)[0]: part["caption"] for part in edition.table.get("parts", [])}
    rows, page_styles = [], []
    for name, article in articles.items():
        title = heading(article.h1)
        page_styles.append(f'#{name} {{ page: {name} }} @page {name} {{ @top-center {{ content: "{title}" }} }}')
        inner = [
            row(section["id"], heading(section.h2), page_numbers) for section in article.select("section:has(> h2)")
        ]
        part = f'<p class="part">{escape(parts[name])}</p>' if name in parts else ""
        rows.append(f"{part}<div>{row(name, title, page_numbers, 'chapter')}{''.join(inner)}</div>")
    faces = "".join(
        f'@font-face {{ font-family: "{family}"; src: url("{(FONTS / file).as_uri()}"); font-weight: {weight};'
        f" font-style: {style}; ascent-override: 90%; descent-override: 25% }}"
        for family, file, weight, style in FACES
    )
    style = first.style.string + faces + STYLE.read_text(encoding="utf-8") + "".join(page_styles)
    cover = first.select_one("article .picture-frame")
    author = first.select("footer p")[-1].get_text()
    return (
        f'<!DOCTYPE html><html lang="{edition.html}" data-theme="light"><head><meta'
        ' charset="utf-8"><title>Unrolled</title>'
        f'<base href="{folder.as_uri()}/"><style>{style}</style></head><body>'
        f'<div class="cover"><p class="title">Unrolled</p><p>{escape(edition.about)}</p>{cover}<p'
        f' class="edition">{escape(edition.name)}</p><p class="author">{escape(author)}</p></div>'
        "<nav"
        f' class="contents"><h2>{escape(translate(edition, "Contents"))}</h2>{"".join(rows)}</nav>{"".join(map(str, articles.values()))}</body></html>'  # noqa: E501
    )


def heading(element):
    """Return a heading's text, with its number."""
    return re.sub(r"\s+", " ", element.get_text()).removesuffix("¶").strip()


def row(anchor, title, page_numbers, kind="section"):
    number = page_numbers.get(anchor, "")
    return f'<a class="{kind}" href="#{anchor}"><span>{escape(title)}</span><i></i><b>{number}</b></a>'


def read_page_numbers(path):
    """Return anchor → the number of its page in the PDF."""
    reader = pypdf.PdfReader(path)
    return {
        name.removeprefix("/"): reader.get_destination_page_number(destination) + 1
        for name, destination in reader.named_destinations.items()
    }


def prepare(article, name, pages, base):
    """Change an article for the PDF: prefix its ids with the page's name, open solutions, remove buttons."""
    for element in article.select("script, .headerlink, .begin, .start, button"):
        element.decompose()
    for link in article.select("a.to-reference"):
        link.unwrap()
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
                element[key] = printed_href(element[key], name, pages, base)
                if element[key] is None:
                    del element[key]
        if element.name == "style" and element.string:  # the style sheet of a picture
            element.string = re.sub(r"#(?=[\w-]+[\s{])", f"#{name}--", element.string)
    article["id"] = name


def printed_href(href, name, pages, base):
    """Return where a link leads in the PDF, or None if it leads to a file and the site has no address."""
    page, _, anchor = href.partition("#")
    page = page.removesuffix(".html")
    if not page and anchor:
        return f"#{name}--{anchor}"
    if page in pages:
        return f"#{page}--{anchor}" if anchor else f"#{page}"
    if re.match(r"[a-z]+:", href):
        return href
    return urljoin(base, href) if base else None
