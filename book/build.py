"""Build the site: every edition of the book, and the page that leads to them.

    python book/build.py                 build all editions into _build/html/<language>/
    python book/build.py --edition en    build only this one
    python book/build.py --serve         build, then show the site at an address of this computer

An edition is a folder book/<language>/ with an index.md. All share _config.yml and _toc.yml. A warning fails
the build, and the site then stays as it was.
"""

import argparse
import functools
import hashlib
import http.server
import os
import shutil
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BOOK = ROOT / "book"
SITE = ROOT / "_build" / "html"
LANGUAGES = {"zh": "zh_CN"}  # where Sphinx calls a language otherwise than its folder


def editions():
    return sorted(page.parent.name for page in BOOK.glob("*/index.md"))


def digest(*texts):
    """A digest of all that shapes an edition besides its pages, which Sphinx itself compares."""
    files = [ROOT / "_config.yml", ROOT / "requirements.txt"]
    files += sorted((BOOK / "sphinx_unrolled").rglob("*.*"))
    data = [file.read_bytes() for file in files if file.is_file() and file.suffix != ".pyc"]
    return hashlib.sha256(b"\0".join([*data, *(text.encode() for text in texts)])).hexdigest()


def build(language):
    """Build one edition; return whether that went without a warning."""
    # Imported late: it takes a second, and --help should not.
    from jupyter_book.sphinx import build_sphinx

    work = ROOT / "_build" / "editions" / language
    # Paths in the one table begin with book/en/; an edition's own begin in its folder.
    toc = (ROOT / "_toc.yml").read_text(encoding="utf-8").replace("book/en/", "")
    pages = sorted(page.name for page in (BOOK / language).iterdir())
    stamp, current = work / "stamp", digest(toc, *pages)
    if not stamp.exists() or stamp.read_text() != current:
        # Sphinx would keep pages that are gone, and pages made by an older extension. So begin anew.
        shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True, exist_ok=True)
    (work / "toc.yml").write_text(toc, encoding="utf-8")

    print(f"{language}: building book/{language}", flush=True)
    result = build_sphinx(
        BOOK / language,
        work / "html",
        path_config=ROOT / "_config.yml",
        noconfig=True,
        confoverrides={
            "external_toc_path": (work / "toc.yml").as_posix(),
            "language": LANGUAGES.get(language, language),
            "latex_individualpages": False,
            "nitpicky": True,
        },
        quiet=True,
        warningiserror=True,
        keep_going=True,
    )
    if result != 0:
        stamp.unlink(missing_ok=True)  # Sphinx does not repeat the warnings of a page that has not changed
        return False
    stamp.write_text(current)
    shutil.rmtree(SITE / language, ignore_errors=True)
    shutil.copytree(work / "html", SITE / language, ignore=shutil.ignore_patterns(".buildinfo"))
    return True


def serve(port):
    """Serve the site to this computer until interrupted."""
    handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=SITE)
    for candidate in range(port, port + 20):
        try:
            server = http.server.ThreadingHTTPServer(("127.0.0.1", candidate), handler)
        except OSError:  # taken
            continue
        print(f"\n    http://localhost:{server.server_port}/\n\nPress Ctrl+C to stop.", flush=True)
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            return
    sys.exit(f"build.py: the ports {port} to {port + 19} are all taken; choose another with --port")


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--edition", choices=editions(), help="build only this edition")
    parser.add_argument("--serve", action="store_true", help="serve the site when it is built")
    parser.add_argument(
        "--port", type=int, default=8000, help="where to serve it; the next free one is taken"
    )
    arguments = parser.parse_args()

    if not editions():
        sys.exit("build.py: there is no edition, that is no book/<language>/index.md")
    SITE.mkdir(parents=True, exist_ok=True)
    for leftover in SITE.iterdir():  # of an edition that is gone, or of `jupyter-book build .`
        if leftover.name not in editions():
            shutil.rmtree(leftover) if leftover.is_dir() else leftover.unlink()
    wanted = [arguments.edition] if arguments.edition else editions()
    failed = [edition for edition in wanted if not build(edition)]
    if failed:
        sys.exit(f"build.py: failed: {', '.join(failed)}. Every warning above is an error")
    shutil.copy(BOOK / "index.html", SITE / "index.html")
    print(f"The site is in {os.path.relpath(SITE)}: open index.html there", flush=True)
    if arguments.serve:
        serve(arguments.port)


if __name__ == "__main__":
    main()
