"""Draw cards, the previews of links to pages: a page's title and first figure on 1200 × 630 pixels.

Only a site with an address has cards, because a page must name its card by a full address.
"""

from html import escape
from urllib.parse import urljoin

from bs4 import BeautifulSoup

from book.editions import ORIGINAL
from book.site.browser import open_browser, require_fonts
from book.site.root_files import address, built_pages

PLACE = "<!-- card -->"  # in the head of every page
WIDTH, HEIGHT = 1200, 630
PICTURE = "article svg.picture:not(.lit), article svg.drawing"
CARD = """<!DOCTYPE html><html lang="{language}" data-theme="light"><meta charset="utf-8"><style>{style}
body {{ display: flex; flex-direction: column; width: {width}px; height: {height}px; padding: 56px 72px 48px; background: #fff;
  border-top: 14px solid #0a5bc4; overflow: hidden; }}
h1 {{ margin: 0; font-size: 62px; line-height: 1.2; letter-spacing: -.01em; text-wrap: balance; word-break: auto-phrase; }}
h1:lang(ko) {{ word-break: keep-all; }}
.about {{ margin: 18px 0 0; font-size: 27px; line-height: 1.45; color: #59636e; }}
.art {{ flex: 1; min-height: 0; margin: 28px 0; display: flex; align-items: center; }}
.art svg {{ width: 100%; height: 100%; max-width: none !important; margin: 0; }}
.book {{ margin: 0; font-size: 25px; font-weight: 650; }}
</style><body><h1>{title}</h1>{about}<div class="art">{art}</div><p class="book">{book}</p>
<script>
{{ // shrink the letters until the title fits on two lines
  const title = document.querySelector("h1");
  for (let letters = 62; letters > 36 && title.offsetHeight > 2.9 * letters; letters -= 2) title.style.fontSize = `${{letters - 2}}px`;
}}
</script></body></html>"""  # noqa: E501


def write(site, editions, base):
    """Draw the cards of these editions. base: the site's address."""
    with open_browser() as browser:
        for edition in editions:
            draw(browser, site, edition, base)
    name_front(site, base)


def name_front(site, base):
    """Name the card of the original edition on the site's front page."""
    front = site / "index.html"
    picture = tags(urljoin(base, f"{ORIGINAL}/cards/index.png"))
    front.write_text(front.read_text(encoding="utf-8").replace(PLACE, picture), encoding="utf-8")


def draw(browser, site, edition, base):
    """Draw a card for every page of an edition, and name it on the page."""
    folder = site / edition.language / "cards"
    folder.mkdir(exist_ok=True)
    with browser.new_page(viewport={"width": WIDTH, "height": HEIGHT}) as page:
        require_fonts(page, edition)
        cover = BeautifulSoup(
            (site / edition.language / "index.html").read_text(encoding="utf-8"), "html.parser"
        ).select_one(PICTURE)
        for name in built_pages(site, edition):
            if name in edition.reference:  # a drawing takes 0.2 s
                continue
            path = site / edition.language / f"{name}.html"
            text = path.read_text(encoding="utf-8")
            page.set_content(card(BeautifulSoup(text, "html.parser"), edition, name, cover))
            page.screenshot(path=folder / f"{name}.png")
            path.write_text(
                text.replace(PLACE, tags(urljoin(address(base, edition, name), f"cards/{name}.png"))), encoding="utf-8"
            )


def card(page, edition, name, cover):
    """Return a page's card as HTML. cover: the picture for pages without one."""
    title = page.h1.get_text().removesuffix("¶").strip()
    front = name == "index"
    art = page.select_one("article .picture-frame svg:not(.lit)") or page.select_one(PICTURE) or cover
    return CARD.format(
        language=edition.html, style=page.style.string, width=WIDTH, height=HEIGHT, title=escape(title), art=art,
        about=f'<p class="about">{escape(edition.about)}</p>' if front else "",
        book=edition.name if front else f"Unrolled · {edition.name}",
    )  # fmt: skip


def tags(url):
    url = escape(url)
    return (
        f'<meta property="og:image" content="{url}">\n<meta property="og:image:width" content="{WIDTH}">\n<meta'
        f' property="og:image:height" content="{HEIGHT}">\n<meta name="twitter:card" content="summary_large_image">'
    )
