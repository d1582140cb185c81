"""The book to take along: a PDF of each edition, and the whole site as one archive. Every page leads to what there
is."""

import re
import zipfile

from book.editions import editions
from book.live.insert import fill
from book.site.browser import running
from book.site.home import said

PLACE = "<!-- downloads -->"  # in the frame of every page
ARCHIVE = "unrolled.zip"
APART = re.compile(
    r".*\.pdf|worker\.js|robots\.txt|sitemap\.xml|404\.html|\w+/cards/.*|live/.*"
)  # of no use in the archive


def write_archive(site):
    """Put the site into one file, unrolled.zip: unpacked, its pages are read as files."""
    path = site / ARCHIVE
    path.unlink(missing_ok=True)
    files = sorted(
        file for file in site.rglob("*") if file.is_file() and not APART.fullmatch(file.relative_to(site).as_posix())
    )
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for file in files:
            # a fixed date: the same site gives the same archive
            entry = zipfile.ZipInfo(f"unrolled/{file.relative_to(site).as_posix()}", (1980, 1, 1, 0, 0, 0))
            entry.compress_type, entry.external_attr = zipfile.ZIP_DEFLATED, 0o644 << 16
            data = file.read_bytes()
            archive.writestr(entry, fill(data.decode(), PLACE, "") if file.suffix == ".html" else data)
    return path


def write_pdfs(site, there, base):
    """Print these editions, each as unrolled-<language>.pdf in its folder."""
    from book.site.printing import print_edition  # late: matplotlib, whose fonts it takes, is slow to come

    with running() as browser:
        for edition in there:
            path = site / edition.language / name_of_pdf(edition)
            print_edition(browser, site, edition, path, base)
            yield path


def name_of_pdf(edition):
    return f"unrolled-{edition.language}.pdf"


def lead_there(site):
    """Let every page name what can be taken along, and how large it is."""
    for edition in editions():
        folder = site / edition.language
        there = [
            (folder / name_of_pdf(edition), "PDF (%(size)s)"),
            (site / ARCHIVE, "All editions, to read without a network (%(size)s)"),
        ]
        links = [
            f'<a href="{"" if path.parent == folder else "../"}{path.name}"'
            f" download>{said(edition, words) % {'size': size(path)}}</a>"
            for path, words in there
            if path.is_file()
        ]
        text = (
            f'<p class="downloads">{said(edition, "Take the book along: %(links)s") % {"links": " · ".join(links)}}</p>'
            if links
            else ""
        )
        for page in folder.glob("*.html"):
            page.write_text(fill(page.read_text(encoding="utf-8"), PLACE, text), encoding="utf-8")


def size(path):
    return f"{path.stat().st_size / 1e6:.1f} MB"
