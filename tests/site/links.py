"""Where a site's links lead."""

from html.parser import HTMLParser
from urllib.parse import unquote, urldefrag, urljoin, urlsplit

LEADING = {"a": "href", "link": "href", "script": "src", "img": "src", "form": "action"}


class Ends(HTMLParser):
    """The places that a page has, and where it leads."""

    def __init__(self, path):
        super().__init__()
        self.places, self.links = set(), []
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attributes):
        said = dict(attributes)
        self.places |= {said.get("id"), said.get("name") if tag == "a" else None}
        if link := said.get(LEADING.get(tag)):
            self.links.append(link)


def broken_links(site):
    """(page, link) for each link within the site that leads nowhere: to pages, places in them, notebooks and files."""
    pages = {path: Ends(path) for path in [site / "index.html", *site.glob("*/*.html")]}
    broken = []
    for path, page in pages.items():
        for link in page.links:
            if urlsplit(link).scheme or link.startswith("//"):
                continue
            target, place = urldefrag(urljoin(path.as_uri(), link))
            file = type(path)(unquote(urlsplit(target).path))
            if not file.is_file() or place and file in pages and unquote(place) not in pages[file].places:
                broken.append((path.name, link))
    assert len(pages) > 40
    return broken
