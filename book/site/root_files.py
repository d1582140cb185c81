"""Write the files at the site's root: front page, 404 page, robots.txt, sitemap and service worker."""

import hashlib
import json
import re
from urllib.parse import urljoin, urlsplit
from xml.sax.saxutils import quoteattr

import jinja2

from book.editions import BOOK, ORIGINAL, REFERENCE, editions

TEMPLATES = BOOK / "site" / "templates"
NOT_PREFETCHED = re.compile(
    r"/writers/|/writers_small/|/readers/|/_sources/|/cards/|\.map$|/objects\.inv$|/genindex\.html$"
)  # cached only when a reader asks for it

UNSAVED = "This page is not saved for reading offline, and the site cannot be reached."


def write(site, base):
    """Write all files but the service worker. base: the site's address, or an empty string."""
    base = f"{base.rstrip('/')}/" if base else ""
    all_editions = editions()
    environment = template_environment()
    environment.globals |= {
        "editions": all_editions,
        "original": ORIGINAL,
        "base": base,
        "path": urlsplit(base).path or "/",
    }
    environment.globals["translate"] = translate
    for name in ("index.html", "404.html"):
        (site / name).write_text(environment.get_template(name).render(), encoding="utf-8")
    (site / "robots.txt").write_text(robots_txt(base), encoding="utf-8")
    sitemap = site / "sitemap.xml"
    sitemap.unlink(missing_ok=True)
    if base:  # a sitemap needs full addresses
        sitemap.write_text(sitemap_xml(site, base, all_editions), encoding="utf-8")


def template_environment():
    """Return what reads the templates of the pages that Sphinx does not write."""
    return jinja2.Environment(loader=jinja2.FileSystemLoader(TEMPLATES), autoescape=True)


def write_worker(site):
    """Write the service worker; call this last, because its version is a hash of the finished pages."""
    worker = (TEMPLATES / "worker.js").read_text(encoding="utf-8")
    files = {edition.language: offline_files(site, edition.language) for edition in editions()}
    digest = hashlib.sha256()
    for file in sorted({file for group in files.values() for file in group}):
        digest.update((site / file).read_bytes())
    manifest = site / "live" / "manifest.json"
    live = json.loads(manifest.read_text(encoding="utf-8"))["version"] if manifest.is_file() else ""
    values = {"VERSION": digest.hexdigest()[:12], "EDITIONS": files, "WORDS": offline_words(), "LIVE": live}
    for name, value in values.items():
        worker = worker.replace(f'"{name}"', json.dumps(value, ensure_ascii=False))
    (site / "worker.js").write_text(worker, encoding="utf-8")


def offline_words():
    """Return language → words of the page that the service worker shows without a network, the original first."""
    return {
        edition.language: {
            "tag": edition.html,
            "unsaved": translate(edition, UNSAVED),
            "first": translate(edition, "To the book’s first page"),
        }
        for edition in sorted(editions(), key=lambda edition: edition.language != ORIGINAL)
    }


def translate(edition, words):
    """Return words of the interface in the language of an edition."""
    return edition.words.get(words, words)


def robots_txt(base):
    return "User-agent: *\nAllow: /\n" + (f"Sitemap: {base}sitemap.xml\n" if base else "")


def built_pages(site, edition):
    """Return the names of an edition's pages that the site has, without index and search."""
    names = edition.pages - {"genindex", "search"}
    return sorted(name for name in names if (site / edition.language / f"{name}.html").is_file())


def sitemap_xml(site, base, all_editions):
    """Return a sitemap of every page that is not a draft, each with its translations."""
    entries = []
    finished = {
        edition.language: [name for name in built_pages(site, edition) if not edition.is_draft(name)]
        for edition in all_editions
    }
    for edition in all_editions:
        for name in finished[edition.language]:
            others = [other for other in all_editions if name in finished[other.language]]
            links = "".join(
                f'<xhtml:link rel="alternate" hreflang={quoteattr(other.html)}'
                f" href={quoteattr(address(base, other, name))}/>"
                for other in others
            )
            entries.append(f"<url><loc>{address(base, edition, name)}</loc>{links}</url>\n")
    namespaces = 'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9" xmlns:xhtml="http://www.w3.org/1999/xhtml"'
    return f'<?xml version="1.0" encoding="UTF-8"?>\n<urlset {namespaces}>\n{"".join(entries)}</urlset>\n'


def address(base, edition, name):
    return urljoin(base, f"{edition.language}/{name}.html")


def offline_files(site, language):
    """Return the files needed to use an edition offline: the front page, its pages, and the files that they ask for."""
    folder = site / language
    # pages of the reference ask for no file of their own
    pages = [path for path in folder.glob("*.html") if not path.name.startswith(f"{REFERENCE}_")]
    text = "".join(path.read_text(encoding="utf-8") for path in pages)
    named = set(re.findall(r"(?<![\w.-])[\w.-]+\.(?:js|css|woff2|svg|png)\b", text))
    live = folder / "_static" / "live"
    files = [path for path in folder.rglob("*") if path.suffix == ".html" or path.name in named or live in path.parents]
    files = [path for path in [site / "index.html", *files] if path.is_file()]
    return sorted(file for path in files if not NOT_PREFETCHED.search(file := path.relative_to(site).as_posix()))
