"""Build the whole book in a copy of the repository, once for all tests; a later run builds only what has changed."""

import functools
import http.server
import shutil
import threading
from contextlib import contextmanager

from filelock import FileLock

from tests.project.paths import ROOT
from tests.site.small_book import build

PROOF = ROOT / "_build" / "proof"
TREE = PROOF / "tree"
SITE = TREE / "_build" / "html"
COPIED = "_config.yml", "_toc.yml", "requirements.txt", "book", "companion", "assignments", "small_torch"
NOT_COPIED = {"_build", "__pycache__", "node_modules", ".ipynb_checkpoints"}


def mirror(source, target):
    """Make the tree `target` equal to `source`; return whether anything has changed.

    Equal files keep their times, by which Sphinx detects changes.
    """
    if not source.is_dir():
        data = source.read_bytes()
        if target.is_file() and target.read_bytes() == data:
            return False
        target.write_bytes(data)
        return True
    target.mkdir(parents=True, exist_ok=True)
    names, changed = {path.name for path in source.iterdir()} - NOT_COPIED, False
    for path in target.iterdir():
        if path.name not in names | NOT_COPIED:
            shutil.rmtree(path) if path.is_dir() else path.unlink()
            changed = True
    for name in sorted(names):
        changed = mirror(source / name, target / name) or changed
    return changed


def build_site():
    """Build the site if any copied file has changed; return its folder."""
    TREE.mkdir(parents=True, exist_ok=True)
    stamp = PROOF / "built"
    with FileLock(PROOF / "lock"):
        for name in COPIED:
            if mirror(ROOT / name, TREE / name):
                stamp.unlink(missing_ok=True)
        if not stamp.exists():
            status, errors = build(TREE)
            assert not status and not errors, f"the site does not build:\n{errors}"
            stamp.touch()
    return SITE


class QuietHandler(http.server.SimpleHTTPRequestHandler):
    """Serve files without a log."""

    protocol_version = "HTTP/1.1"

    def log_message(self, *arguments):
        pass

    def handle(self):
        try:
            super().handle()
        except (BrokenPipeError, ConnectionResetError):  # the page was closed before it had loaded everything
            self.close_connection = True


@contextmanager
def serve(folder, handler=QuietHandler):
    """Serve a folder; yield its address and the server."""
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(handler, directory=folder)) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield f"http://127.0.0.1:{server.server_port}", server
        finally:
            server.shutdown()
