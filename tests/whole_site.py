"""The whole book, built once for all tests of a run, in a tree of its own; the next run builds anew what has changed."""

import functools
import http.server
import shutil
import threading
from contextlib import contextmanager

from filelock import FileLock
from repository import ROOT
from small_book import build

PROOF = ROOT / "_build" / "proof"
TREE = PROOF / "tree"
SITE = TREE / "_build" / "html"
PARTS = "_config.yml", "_toc.yml", "requirements.txt", "book", "assignments"
NOT_COPIED = shutil.ignore_patterns("_build", "__pycache__", "node_modules", ".ipynb_checkpoints")


def mirror(source, target):
    """Make a tree like another. What is equal is left alone, for Sphinx goes by the times of files."""
    if not source.is_dir():
        data = source.read_bytes()
        if not target.is_file() or target.read_bytes() != data:
            target.write_bytes(data)
        return
    target.mkdir(parents=True, exist_ok=True)
    names = {path.name for path in source.iterdir()}
    names -= NOT_COPIED(str(source), sorted(names))
    for path in target.iterdir():
        if path.name not in names and path.name != "__pycache__":
            shutil.rmtree(path) if path.is_dir() else path.unlink()
    for name in sorted(names):
        mirror(source / name, target / name)


def built(run):
    """The built site. run: what this run of the tests is called, in all its processes."""
    PROOF.mkdir(parents=True, exist_ok=True)
    stamp = PROOF / "run"
    with FileLock(PROOF / "lock"):
        if not stamp.is_file() or stamp.read_text() != run:
            stamp.unlink(missing_ok=True)
            TREE.mkdir(exist_ok=True)
            for name in PARTS:
                mirror(ROOT / name, TREE / name)
            assert build(TREE) == (0, "")
            stamp.write_text(run)
    return SITE


class Quiet(http.server.SimpleHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *arguments):
        pass

    def copyfile(self, source, output):
        try:
            super().copyfile(source, output)
        except (BrokenPipeError, ConnectionResetError):  # a page that is closed before it has all
            self.close_connection = True


@contextmanager
def serving(folder, handler=Quiet):
    """The address at which a folder is served, and the server."""
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(handler, directory=folder)) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield f"http://127.0.0.1:{server.server_port}", server
        finally:
            server.shutdown()
