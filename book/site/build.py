"""Build the site: every edition of the book, and the files above them.

    python -m book.site.build                 build all editions into _build/html/<language>/
    python -m book.site.build --edition en    build only this one
    python -m book.site.build --serve         build, then show the site at an address of this computer
    python -m book.site.build --pdf           print each edition as well, as a PDF that its pages lead to; needs
                                              Chromium
    python -m book.site.build --live          fail if pages cannot run their cells: book.live.fetch has to run before
    python -m book.site.build --archive       pack the site as well, into unrolled.zip, to be read without a network
    python -m book.site.build --no-cards      draw no pictures for links to the pages, even if the site has an address

An edition is a folder book/<language>/ with an index.md and an edition.yml. All share _config.yml and _toc.yml,
of which an unfinished edition may lack pages. A warning fails the build, and the site then stays as it was.
"""

import argparse
import contextlib
import functools
import gc
import hashlib
import http.server
import multiprocessing
import os
import shutil
import sys

import yaml

from book.editions import BOOK, editions, read
from book.live import background, fetch, page_scripts
from book.sheets import on_site
from book.site import cards, downloads, redirects, root_files

# jsonschema, which nbformat imports, would spend some seconds on compiling 39 grammars for a kind of address that no
# notebook has.
sys.modules.setdefault("rfc3987_syntax", None)

ROOT = BOOK.parent
SITE = ROOT / "_build" / "html"


def digest():
    """Return a hash of all files that shape an edition besides its pages, whose changes Sphinx detects itself."""
    files = [ROOT / "_config.yml", ROOT / "requirements.txt", BOOK / "moved.yml", *sorted(BOOK.glob("*.py"))]
    files += sorted((BOOK / "site" / "extension").rglob("*.*")) + sorted((BOOK / "site" / "theme").rglob("*.*"))
    files += sorted((ROOT / "companion" / "figures").rglob("*.*")) + sorted((BOOK / "questions").rglob("*.*"))
    files += sorted((ROOT / "companion" / "check").rglob("*.*")) + sorted((ROOT / "assignments" / "words").glob("*.*"))
    files += sorted((ROOT / "assignments" / "report" / "oral").glob("*.py"))
    files += sorted((ROOT / "companion" / "learning").rglob("*.py"))
    files += sorted((ROOT / "companion").glob("*.py")) + sorted((ROOT / "companion" / "layers").glob("*.py"))
    files += sorted((ROOT / "assignments").rglob("*.ipynb")) + [ROOT / "assignments" / "student_version.py"]
    data = [file.read_bytes() for file in files if file.is_file() and file.suffix != ".pyc"]
    for edition in editions():  # each page leads to all editions
        names = sorted(page.name for page in edition.folder.iterdir() if page.suffix in (".ipynb", ".md"))
        data += [(edition.folder / "edition.yml").read_bytes(), repr((edition.table, names)).encode()]
    return hashlib.sha256(b"\0".join(data)).hexdigest()


def run_sphinx(edition, work):
    """Have Sphinx write an edition's changed pages into work/html; return whether there was no warning."""
    # Imported late: it takes a second, and --help should not.
    from jupyter_book.sphinx import build_sphinx

    work.mkdir(parents=True, exist_ok=True)
    (work / "toc.yml").write_text(yaml.safe_dump(edition.table, sort_keys=False), encoding="utf-8")
    result = build_sphinx(
        edition.folder,
        work / "html",
        path_config=ROOT / "_config.yml",
        noconfig=True,
        confoverrides={
            "external_toc_path": (work / "toc.yml").as_posix(),
            "language": edition.sphinx,
            "latex_individualpages": False,
            "nitpicky": True,
        },
        quiet=True,
        warningiserror=True,
        keep_going=True,
    )
    return result == 0


def pages_of(language):
    """Return the folder into which Sphinx writes the pages of an edition."""
    return ROOT / "_build" / "editions" / language / "html"


def write_pages(language):
    """Write the pages of one edition outside of the site; return whether there was no warning."""
    edition = read(BOOK / language)
    work = pages_of(language).parent
    stamp, current = work / "stamp", digest()
    if not stamp.exists() or stamp.read_text() != current:
        # Build anew: Sphinx would keep deleted pages, and pages made by an older extension.
        shutil.rmtree(work, ignore_errors=True)

    gc.set_threshold(20_000)  # the default costs a fifth of the time and frees little
    print(f"{language}: building book/{language}", flush=True)
    if not run_sphinx(edition, work):
        stamp.unlink(missing_ok=True)  # Sphinx does not repeat the warnings of a page that has not changed
        return False
    stamp.write_text(current)
    return True


def build(language):
    """Build one edition of the site; return whether there was no warning."""
    if not write_pages(language):
        return False
    shutil.rmtree(SITE / language, ignore_errors=True)
    shutil.copytree(pages_of(language), SITE / language, ignore=shutil.ignore_patterns(".buildinfo"))
    return True


def build_all(languages, build=build):
    """Build editions in parallel; return the languages of those that failed. build: the function that builds one."""
    # One process per edition, because Sphinx caches translated words. Where processes fork, import what all of them
    # need before.
    if sys.platform == "linux":
        import jupyter_book.sphinx  # noqa: F401
        import myst_nb.sphinx_ext  # noqa: F401

        from book.site.extension.mathematics import fonts
        from book.site.extension.reference import pages

        fonts.font()
        if any(edition.reference for edition in editions()):
            pages.highlight_all()
        gc.freeze()  # sphinx_external_toc looks at every object in memory; this exempts the present ones
        context = multiprocessing.get_context("fork")
    else:
        context = multiprocessing.get_context("spawn")
    with context.Pool(min(len(languages), os.cpu_count() or 1), maxtasksperchild=1) as pool:
        return [language for language, good in zip(languages, pool.map(build, languages, chunksize=1)) if not good]


def base_address():
    """Return the site's address from _config.yml, or an empty string."""
    return yaml.safe_load((ROOT / "_config.yml").read_text(encoding="utf-8"))["html"].get("baseurl") or ""


def select_editions(language):
    """Return the edition of a language, or all editions if it is None."""
    return [edition for edition in editions() if language in (None, edition.language)]


def finish(site, language, pdf, archive, with_cards):
    """Write everything that needs the built pages: files at the site's root, scripts, cards, PDFs and the archive."""
    base = base_address()
    root_files.write(site, base)
    built = select_editions(language)
    redirects.write(site, built)
    add_live_parts(site, built)
    on_site.write(site, built)
    if base and with_cards:
        try:
            cards.write(site, built, base)
        except RuntimeError as error:  # cards are optional
            print(f"Links to the pages will show no picture: {error}", flush=True)
    if pdf:
        for path in downloads.write_pdfs(site, built, base):
            print(os.path.relpath(path), flush=True)
    if archive:
        print(os.path.relpath(downloads.write_archive(site)), flush=True)
    downloads.link_downloads(site)
    root_files.write_worker(site)


def add_live_parts(site, built):
    """Add what has been fetched for running cells to the site, or remove it from the site if nothing has."""
    fetch.pack(site)
    page_scripts.add_scripts(site, built)


def listen(port, handler):
    """Return a server that only this computer can reach, at this port or the next free one."""
    for candidate in range(port, port + 20):
        try:
            server = http.server.ThreadingHTTPServer(("127.0.0.1", candidate), handler)
        except OSError:  # taken
            continue
        print(f"\n    http://localhost:{server.server_port}/\n\nPress Ctrl+C to stop.", flush=True)
        return server
    program = os.path.basename(sys.argv[0])
    sys.exit(f"{program}: the ports {port} to {port + 19} are all taken; choose another with --port")


def serve(port, language):
    """Serve the site to this computer until interrupted; fetch what it lacks to run cells, and add that to the site."""
    server = listen(port, functools.partial(http.server.SimpleHTTPRequestHandler, directory=SITE))

    def add():
        add_live_parts(SITE, select_editions(language))
        root_files.write_worker(SITE)

    with background.BackgroundFetch() as parts, contextlib.suppress(KeyboardInterrupt):
        parts.then(add)
        server.serve_forever()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    try:
        languages = [edition.language for edition in editions()]
    except ValueError as error:  # a mistake in an edition.yml
        sys.exit(f"build.py: {error}")
    parser.add_argument("--edition", choices=languages, help="build only this edition")
    parser.add_argument("--pdf", action="store_true", help="print what is built as well")
    parser.add_argument("--archive", action="store_true", help="pack the site as well")
    parser.add_argument("--live", action="store_true", help="fail if what pages need to run their cells is missing")
    parser.add_argument("--no-cards", action="store_true", help="draw no pictures for links to the pages")
    parser.add_argument("--serve", action="store_true", help="serve the site when it is built")
    parser.add_argument("--port", type=int, default=8000, help="where to serve it; the next free one is taken")
    arguments = parser.parse_args()

    if not languages:
        sys.exit("build.py: there is no edition: no book/<language>/index.md")
    if arguments.live and not fetch.fetched():
        sys.exit("build.py: --live: no _build/live: fetch it with `python -m book.live.fetch`, or build without --live")
    SITE.mkdir(parents=True, exist_ok=True)
    for leftover in SITE.iterdir():  # from a deleted edition, or from `jupyter-book build .`
        if leftover.name not in languages:
            shutil.rmtree(leftover) if leftover.is_dir() else leftover.unlink()
    failed = build_all([arguments.edition] if arguments.edition else languages)
    if failed:
        sys.exit(f"build.py: failed: {', '.join(failed)}. The warnings above count as errors")
    try:
        finish(SITE, arguments.edition, arguments.pdf, arguments.archive, not arguments.no_cards)
    except RuntimeError as error:
        sys.exit(f"build.py: no PDF: {error}")
    if not (SITE / "live" / "manifest.json").is_file():
        if arguments.live:
            sys.exit("build.py: --live: the site has no live/manifest.json, so its pages cannot run their cells")
        if not arguments.serve:
            print("Cells do not run on these pages. `make live` fetches what they need, and builds the site with it.")
    print(f"The site is in {os.path.relpath(SITE)}: open index.html there", flush=True)
    if arguments.serve:
        serve(arguments.port, arguments.edition)


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        sys.exit(130)
