"""Command that writes the sheets of a language as HTML and PDF: `make sheets`.

    python -m book.sheets --language ja --paper Letter

It writes into `_build/sheets/<language>/`. Links lead to the site if `_config.yml` has its address.
"""

import argparse
import os
import sys
from pathlib import Path

import yaml

from book.editions import BOOK, ORIGINAL, editions
from book.sheets.document import PAPERS, SHEETS, make
from book.site.browser import open_browser, require_fonts

ROOT = BOOK.parent
OUTPUT = ROOT / "_build" / "sheets"


def base_address(language):
    """Return the address of an edition's pages, or None if the site has none."""
    site = yaml.safe_load((ROOT / "_config.yml").read_text(encoding="utf-8"))["html"].get("baseurl")
    return f"{site.rstrip('/')}/{language}/" if site else None


def write(edition, paper, output):
    """Write the sheets as HTML, and as PDF if a browser is installed; return the paths."""
    texts = {name: make(name, edition.language, paper, base_address(edition.language)) for name in SHEETS}
    output.mkdir(parents=True, exist_ok=True)
    paths = [output / f"{name}.html" for name in texts]
    for path, text in zip(paths, texts.values()):
        path.write_text(text, encoding="utf-8")
    try:
        with open_browser() as browser, browser.new_page() as page:
            require_fonts(page, edition)
            for name, text in texts.items():
                paths.append(output / f"{name}.pdf")
                print_sheet(page, text, paths[-1])
    except RuntimeError as error:
        print(f"No PDF: {error}. Print the HTML files with any browser.", file=sys.stderr)
    return paths


def print_sheet(page, text, path):
    """Print a sheet to a PDF."""
    page.set_content(text)
    page.evaluate("document.fonts.ready.then(() => null)")
    page.pdf(path=path, prefer_css_page_size=True, print_background=True, tagged=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--language", choices=[edition.language for edition in editions()], default=ORIGINAL)
    parser.add_argument("--paper", choices=PAPERS, default=PAPERS[0])
    parser.add_argument("--output", type=Path, help="the folder (default: _build/sheets/LANGUAGE)")
    options = parser.parse_args()
    (edition,) = [edition for edition in editions() if edition.language == options.language]
    try:
        paths = write(edition, options.paper, options.output or OUTPUT / options.language)
    except ValueError as error:
        sys.exit(f"sheets: {error}")
    print(*map(os.path.relpath, paths), sep="\n")


if __name__ == "__main__":
    main()
