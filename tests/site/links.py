"""Find broken links of a site."""

from html.parser import HTMLParser
from urllib.parse import unquote, urldefrag, urljoin, urlsplit

LINK_ATTRIBUTES = {"a": "href", "link": "href", "script": "src", "img": "src", "form": "action"}


class LinkParser(HTMLParser):
    """Collect the anchors and the links of a page."""

    def __init__(self, path):
        super().__init__()
        self.anchors, self.links = set(), []
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attributes):
        values = dict(attributes)
        self.anchors |= {values.get("id"), values.get("name") if tag == "a" else None}
        if link := values.get(LINK_ATTRIBUTES.get(tag)):
            self.links.append(link)


def broken_links(site):
    """Return (page, link) for each link within the site whose page, anchor or file does not exist."""
    pages = {path: LinkParser(path) for path in [site / "index.html", *site.glob("*/*.html")]}
    broken = []
    for path, page in pages.items():
        for link in page.links:
            if urlsplit(link).scheme or link.startswith("//"):
                continue
            target, anchor = urldefrag(urljoin(path.as_uri(), link))
            file = type(path)(unquote(urlsplit(target).path))
            if not file.is_file() or anchor and file in pages and unquote(anchor) not in pages[file].anchors:
                broken.append((path.name, link))
    assert len(pages) > 40
    return broken
