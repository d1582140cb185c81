"""Command that makes slides of chapters, one HTML file for each chapter and language.

    python -m book.slides                          slides of all marked chapters in all finished editions
    python -m book.slides lstm gru --language ja   only these
    python -m book.slides lstm --pdf               a PDF as well, with a slide on each page; needs Chromium
    python -m book.slides --stale                  only list marked cells that have changed since they were looked at
    python -m book.slides lstm --renew             record that the slides of this chapter have been looked at
    python -m book.slides lstm --renew --cells own-step swapped    the same for the slides of these cells

The files open in any browser, without a network. Keys: arrows move, S opens notes for the speaker, D changes between
light and dark, ? lists the others. A figure that has the focus keeps its keys; Escape leaves it.
"""

import argparse
import os
import sys

from book import npm
from book.editions import BOOK, editions, finished
from book.site import build
from book.site.browser import open_browser
from book.slides import deck, marks

SLIDES = BOOK.parent / "_build" / "slides"
READY = "window.Reveal?.isReady() && document.querySelector('.pdf-page') !== null"


def make(pages, chosen, reveal, to_pdf=False):
    """Write the decks of these pages in these editions; yield the paths. Raise RuntimeError if no browser prints."""
    for edition in chosen:
        built, target = build.pages_of(edition.language), SLIDES / edition.language
        deck.write_shared(built, target, reveal)
        for page in pages:
            path = target / f"{page}.html"
            path.write_text(deck.document(built, edition, page), encoding="utf-8")
            yield path
    if to_pdf:
        paths = [SLIDES / edition.language / f"{page}.html" for edition in chosen for page in pages]
        with open_browser() as browser, browser.new_page() as tab:
            for path in paths:
                yield print_deck(tab, path)


def print_deck(tab, path):
    """Print a deck, one slide on each page; return the path of the PDF. tab: a page of the browser."""
    printed = path.with_suffix(".pdf")
    tab.goto(f"{path.as_uri()}?print-pdf&theme=light")
    tab.wait_for_function(READY)
    tab.pdf(path=printed, prefer_css_page_size=True, print_background=True)
    return printed


def list_stale(pages):
    """Print the marked cells that have changed; return whether there are any."""
    found = [(page, cell) for page in pages for cell in marks.stale(page)]
    for page, cell in found:
        print(f"{page} {cell}: has changed since its slide was last looked at")
    return bool(found)


def renew(pages, cells):
    """Record that slides have been looked at, and print which."""
    if cells and len(pages) != 1:
        raise marks.MarkError("--cells: name one chapter")
    for page in pages:
        names = marks.renew(page, cells)
        print(f"{page}: {', '.join(names) or 'nothing was stale'}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pages", nargs="*", help="the chapters (default: all that have marks)")
    parser.add_argument("--language", choices=[edition.language for edition in editions()])
    parser.add_argument("--pdf", action="store_true", help="print the slides as well")
    parser.add_argument("--stale", action="store_true", help="only list stale marks; the exit status tells whether any")
    parser.add_argument("--renew", action="store_true", help="record that the slides have been looked at")
    parser.add_argument("--cells", nargs="+", default=[], help="with --renew: only these cells")
    options = parser.parse_args()
    try:
        pages = options.pages or marks.marked_pages()
        if empty := [page for page in pages if not marks.slides(page)]:
            raise marks.MarkError(f"{', '.join(empty)} has no cell with a mark (book/README.md, Slides)")
        if options.stale:
            sys.exit(list_stale(pages))
        if options.renew:
            renew(pages, options.cells)
            return
        list_stale(pages)
        chosen = [edition for edition in finished() if options.language in (None, edition.language)]
        chosen = chosen or [edition for edition in editions() if edition.language == options.language]
        reveal = deck.install_reveal()
        if failed := build.build_all([edition.language for edition in chosen], build.write_pages):
            sys.exit(f"slides: the pages of {', '.join(failed)} do not build; the warnings above count as errors")
        for path in make(pages, chosen, reveal, options.pdf):
            print(os.path.relpath(path), flush=True)
    except (marks.MarkError, npm.NpmError, RuntimeError) as error:
        sys.exit(f"slides: {error}")


if __name__ == "__main__":
    main()
