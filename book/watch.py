"""Serve the site, and show what is saved in the open browser.

    python book/watch.py                 build all editions and serve them; build anew what is changed
    python book/watch.py --edition ja    only this one

Each edition has a process, in which Sphinx and all that it needs stay loaded: what has not changed costs nothing again.
The edition that is being read comes first. A fault is named as build.py names it, and the pages stay as they were.
All this is in _build/watch/; the site that build.py makes is left alone.
"""

import argparse
import contextlib
import filecmp
import functools
import gc
import io
import multiprocessing
import multiprocessing.connection
import os
import shutil
import signal
import sys
import threading
import time
import traceback
from pathlib import Path

import build
import editions
import reload
import top
import yaml

ROOT, BOOK = build.ROOT, editions.BOOK
WATCH = ROOT / "_build" / "watch"
SITE = WATCH / "html"
# Looking at some 150 files takes a millisecond or two: often enough, everywhere the same, and on disks of a network too.
PAUSE, SETTLED = 0.1, 0.04
SHARED = [BOOK / "pictures", BOOK / "sphinx_unrolled", BOOK / "top"]
SHARED += [ROOT / "assignments", ROOT / "companion/figures", ROOT / "companion/learning/writers", ROOT / "companion/learning/writers_small", ROOT / "companion/learning/readers"]
FILES = [ROOT / "_config.yml", ROOT / "_toc.yml", BOOK / "editions.py", BOOK / "terms.yml"]
# What a change asks for: only what stands above the editions; of an edition the pages that have changed, which Sphinx
# finds; all its pages written again, from what Sphinx has read; or all from the beginning, in a new process, because
# modules remember.
TOP, PAGES, LOOK, ANEW = range(4)
SPAWN = multiprocessing.get_context("spawn")


def folders():
    """The folders of the editions, by their languages."""
    return {page.parent.name: page.parent for page in sorted(BOOK.glob("*/index.md"))}


def scan():
    """All files on which the site depends, each with what tells whether it has changed."""
    found = {}
    for top_folder in [*folders().values(), *SHARED]:
        for folder, inner, names in os.walk(top_folder):
            inner[:] = [name for name in inner if name[0] not in "._"]
            names = [name for name in names if "." in name[1:] and name[0] != "." and name[-1] != "~"]  # an editor's own are not
            found |= dict.fromkeys(Path(folder, name) for name in names)
    for path in [*found, *FILES]:
        with contextlib.suppress(OSError):  # gone meanwhile
            status = path.stat()
            found[path] = status.st_mtime_ns, status.st_size, status.st_ino
    return found


def effect(path, edited):
    """What a changed file asks for, of which edition, and of which page; None is all of them. edited: it was there, and
    still is.
    """
    if path.is_relative_to(BOOK / "top"):
        return TOP, None, None
    if path.parent in folders().values() and path.suffix in (".md", ".ipynb"):
        return (PAGES, path.parent.name, path.stem) if edited else (ANEW, None, None)
    if path.suffix in (".py", ".yml", ".toml") and path.name != "terms.yml" or path.name == "search.js":
        return ANEW, None, None
    if path.is_relative_to(BOOK / "sphinx_unrolled") or path.is_relative_to(ROOT / "companion"):
        return LOOK, None, None
    return PAGES, None, None


# --- in an edition's process


class Told(io.StringIO):
    """What Sphinx complains of, which goes on to the terminal."""

    def write(self, text):
        sys.__stderr__.write(text)
        return super().write(text)

    def flush(self):
        sys.__stderr__.flush()


def work(language, connection):
    """Build an edition as often as it is asked for, until nobody can ask any more."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    folder = WATCH / "editions" / language
    with contextlib.suppress(EOFError, ConnectionError):
        while True:
            need, pages = connection.recv()
            gc.disable()  # a build makes many objects, and keeps them to its end
            try:
                files = renew(language, folder, need, pages)
            except Exception as error:  # of what Sphinx reads before it begins, as _config.yml
                known = isinstance(error, ValueError | yaml.YAMLError)
                print(str(error) if known else traceback.format_exc(), file=sys.stderr, flush=True)
                files = None
            connection.send(files)
            gc.enable()
            gc.collect()
            if gc.get_freeze_count() == 0:
                gc.freeze()  # sphinx_external_toc looks through all objects there are: halves the time of a build


def renew(language, folder, need, pages=()):
    """Build an edition and put it where it is served; return the files that are new there, or None after a fault.
    pages: those that were changed.
    """
    from sphinx import locale

    edition = editions.read(BOOK / language)
    stamp, current = folder / "stamp", build.digest()
    known = stamp.read_text(encoding="utf-8") if stamp.exists() else None
    if need == ANEW and known != current:
        shutil.rmtree(folder, ignore_errors=True)
    stamp.unlink(missing_ok=True)  # a build that is broken off can only begin anew
    if need == LOOK:
        forget_files()
    locale.translators.clear()  # or those of each build are put upon those of the one before
    for page in pages:  # Sphinx takes what was saved while it was reading for what it has read
        tree_of(folder, page).unlink(missing_ok=True)
    begun = time.time()
    with contextlib.redirect_stderr(Told()) as told:
        good = build.make(edition, folder, force=need == LOOK)
    if not good:
        read_again(edition, folder, told.getvalue(), begun)
        return None
    changed = publish(folder / "html", SITE / language)
    stamp.write_text(current, encoding="utf-8")
    return [f"{language}/{name}" for name in changed]


def forget_files():
    """Forget the files that our modules have read and that give the pages their look."""
    from companion.figures import figure
    from sphinx_unrolled import frame

    for remembered in (figure.read, figure.script, frame.style):
        remembered.cache_clear()


def read_again(edition, folder, told, begun):
    """Let Sphinx read the pages with a fault again next time: it would not repeat the warnings of an unchanged page."""
    written = {page.stem for page in (folder / "html").glob("*.html") if page.stat().st_mtime >= begun - 1}
    faults = [line for line in told.splitlines() if "WARNING:" in line or "ERROR:" in line]
    named = [{name for name in written if f"{edition.folder / name}." in line} for line in faults]
    for name in set.union(*named) if named and all(named) else written:
        tree_of(folder, name).unlink(missing_ok=True)


def tree_of(folder, page):
    """What Sphinx keeps of a page that it has read. Without it, it reads the page again."""
    return folder / ".doctrees" / f"{page}.doctree"


def publish(source, target):
    """Make one folder equal to another; return the names of what was not."""
    names = {path.relative_to(source) for path in source.rglob("*") if path.is_file() and path.name != ".buildinfo"}
    gone = {path.relative_to(target) for path in target.rglob("*") if path.is_file()} - names
    new = [name for name in names if not (target / name).is_file() or not filecmp.cmp(source / name, target / name)]
    for name in new:
        (target / name).parent.mkdir(parents=True, exist_ok=True)
        beside = target / f"{name}.new"  # a page is never half there
        shutil.copy2(source / name, beside)
        beside.replace(target / name)
    for name in gone:
        (target / name).unlink()
    return sorted(name.as_posix() for name in [*new, *gone])


# --- in the process that watches


class Press:
    """An edition's process: what it is doing, and what it owes."""

    def __init__(self, language):
        self.language, self.process, self.connection = language, None, None
        self.busy = self.owed = self.unfinished = 0
        self.pages, self.since = set(), None  # what was changed, and when that was first seen

    def owe(self, need, page, since):
        self.owed = max(self.owed, need, self.unfinished)
        self.pages |= {page} - {None}
        self.since = self.since or since

    def start(self):
        """Begin to build what is owed."""
        if self.owed == ANEW or self.process is None or not self.process.is_alive():
            self.stop()
            self.owed = ANEW
            self.connection, there = SPAWN.Pipe()
            self.process = SPAWN.Process(target=work, args=(self.language, there), daemon=True)
            usual = signal.signal(signal.SIGINT, signal.SIG_IGN)  # the process has it from us: Ctrl+C is for us alone
            self.process.start()
            signal.signal(signal.SIGINT, usual)
            there.close()
        self.connection.send((self.owed, self.pages))
        self.busy, self.begun = self.owed, self.since
        self.owed, self.pages, self.since = 0, set(), None

    def finish(self):
        """Say how the build went that has ended; return the files that are new."""
        try:
            files = self.connection.recv()
        except (EOFError, OSError):
            self.process.join()
            print(f"{self.language}: Sphinx has ended with status {self.process.exitcode}", file=sys.stderr, flush=True)
            self.process, files = None, None
        self.unfinished = LOOK if files is None and self.busy == LOOK else 0
        self.busy = 0
        print(f"{self.language}: {summary(files)} ({time.monotonic() - self.begun:.1f} s)", flush=True)
        return files or []

    def stop(self):
        if self.process is not None:
            self.process.terminate()
            self.process.join()
            self.process = None


def summary(files):
    """What became of a build, in a few words."""
    if files is None:
        return "not built, for what is said above; the pages stay as they were"
    pages = [file.partition("/")[2] for file in files if file.endswith(".html")]
    if len(pages) > 4:
        return f"{len(pages)} pages"
    return ", ".join(pages) or ("no page, but what pages use" if files else "nothing has changed")


def write_top(news):
    """Write the site's first page, and the one for addresses that there are not."""
    for remembered in (editions.read, editions.editions):
        remembered.cache_clear()
    try:
        top.write(SITE, "")
        print("index.html, 404.html", flush=True)
    except Exception as error:  # of the template, or of an edition that does not say what it is
        print(f"{type(error).__name__}: {error}", file=sys.stderr, flush=True)
    news.tell(["index.html", "404.html"])


def watch(only, news, reading):
    """Build what is changed, until interrupted. only: the one edition to build, or None; reading: yields the language of
    the page that was asked for last.
    """
    presses, seen = {}, scan()
    needs = {(ANEW, None, None)}
    try:
        while True:
            if needs:
                since = time.monotonic()
                there = {language for language in folders() if only in (None, language)}
                for language in presses.keys() - there:
                    presses.pop(language).stop()
                    shutil.rmtree(SITE / language, ignore_errors=True)
                for language in sorted(there - presses.keys()):
                    presses[language] = Press(language)
                for need, wanted, page in needs:
                    for language, press in presses.items():
                        if need != TOP and wanted in (None, language):
                            press.owe(need, page, since)
                if {need for need, *_ in needs} & {TOP, ANEW}:
                    write_top(news)
            begin_builds(presses, reading())
            busy = {press.connection: press for press in presses.values() if press.busy}
            if busy:
                ended = multiprocessing.connection.wait(busy, PAUSE)
            else:
                ended = time.sleep(PAUSE)
            for connection in ended or ():
                news.tell(busy[connection].finish())
            now = scan()
            changed = {path for path in seen.keys() | now.keys() if seen.get(path) != now.get(path)}
            while changed:  # until nobody writes
                time.sleep(SETTLED)
                before, now = now, scan()
                changed |= {path for path in before.keys() | now.keys() if before.get(path) != now.get(path)}
                if before == now:
                    break
            if changed:
                names = ", ".join(sorted(os.path.relpath(path, ROOT) for path in changed))
                print(f"\n{time.strftime('%H:%M:%S')} {names}", flush=True)
            needs = {effect(path, path in seen and path in now) for path in changed}
            seen = now
    finally:
        for press in presses.values():
            press.stop()


def begin_builds(presses, reading):
    """Begin the builds that are owed: of the edition that is being read at once, of the others when it is done."""
    first = presses.get(reading)
    if first and first.owed and not first.busy:
        first.start()
    if first and first.busy:
        return
    for press in presses.values():
        if press.owed and not press.busy and sum(bool(one.busy) for one in presses.values()) < (os.cpu_count() or 1):
            press.start()


def alone():
    """A file that is this process's as long as it is open. Two of them would write into one folder."""
    lock = (WATCH / "lock").open("w")
    try:
        import fcntl
    except ImportError:  # Windows
        return lock
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        sys.exit("watch.py: another make watch is running in this repository; end that one first")
    return lock


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--edition", choices=folders(), help="build only this edition")
    parser.add_argument("--port", type=int, default=8000, help="where to serve it; the next free one is taken")
    arguments = parser.parse_args()
    SITE.mkdir(parents=True, exist_ok=True)
    lock = alone()
    for leftover in SITE.iterdir():
        if leftover.is_dir() and leftover.name not in folders():
            shutil.rmtree(leftover)
    news, read = reload.News(), [arguments.edition or editions.ORIGINAL]

    def note(folder):
        read[0] = folder if folder in folders() else read[0]

    server = build.listen(arguments.port, functools.partial(reload.Handler, directory=SITE, news=news, note=note))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    with lock, contextlib.suppress(KeyboardInterrupt):
        watch(arguments.edition, news, lambda: read[0])


if __name__ == "__main__":
    main()
