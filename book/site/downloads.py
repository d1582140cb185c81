"""Downloads: a PDF of each edition and an archive of the whole site, with links to them on every page."""

import re
import zipfile

from book.editions import editions
from book.live.page_scripts import fill
from book.site.browser import open_browser
from book.site.root_files import translate

PLACE = "<!-- downloads -->"  # in the frame of every page
ARCHIVE = "unrolled.zip"
NOT_ARCHIVED = re.compile(
    r".*\.pdf|worker\.js|robots\.txt|sitemap\.xml|404\.html|\w+/cards/.*|live/.*"
)  # of no use without a server


def write_archive(site):
    """Pack the site into unrolled.zip, whose unpacked pages can be read as files; return its path."""
    path = site / ARCHIVE
    path.unlink(missing_ok=True)
    files = sorted(file for file in site.rglob("*") if file.is_file())
    files = [file for file in files if not NOT_ARCHIVED.fullmatch(file.relative_to(site).as_posix())]
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for file in files:
            # a fixed date: the same site gives the same archive
            entry = zipfile.ZipInfo(f"unrolled/{file.relative_to(site).as_posix()}", (1980, 1, 1, 0, 0, 0))
            entry.compress_type, entry.external_attr = zipfile.ZIP_DEFLATED, 0o644 << 16
            data = file.read_bytes()
            archive.writestr(entry, fill(data.decode(), PLACE, "") if file.suffix == ".html" else data)
    return path


def write_pdfs(site, built, base):
    """Print each of these editions to unrolled-<language>.pdf in its folder, and yield the path."""
    from book.site.printing import print_edition  # late: it imports matplotlib, which is slow

    with open_browser() as browser:
        for edition in built:
            path = site / edition.language / name_of_pdf(edition)
            print_edition(browser, site, edition, path, base)
            yield path


def name_of_pdf(edition):
    return f"unrolled-{edition.language}.pdf"


def link_downloads(site):
    """Put links to the downloads that exist, with their sizes, into every page."""
    for edition in editions():
        folder = site / edition.language
        downloads = [
            (folder / name_of_pdf(edition), "PDF (%(size)s)"),
            (site / ARCHIVE, "All editions, to read without a network (%(size)s)"),
        ]
        links = [
            f'<a href="{"" if path.parent == folder else "../"}{path.name}"'
            f" download>{translate(edition, words) % {'size': size(path)}}</a>"
            for path, words in downloads
            if path.is_file()
        ]
        words = translate(edition, "Take the book along: %(links)s") % {"links": " · ".join(links)}
        text = f'<p class="downloads">{words}</p>' if links else ""
        for page in folder.glob("*.html"):
            page.write_text(fill(page.read_text(encoding="utf-8"), PLACE, text), encoding="utf-8")


def size(path):
    return f"{path.stat().st_size / 1e6:.1f} MB"
