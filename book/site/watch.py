"""Serve the site, build an edition again when one of its files is saved, and reload the open page.

    python -m book.site.watch                 serve and watch all editions
    python -m book.site.watch --edition ja    build and watch only this one

If a build fails, build.py says why in the terminal, and the site stays as it was.
"""

import argparse
import contextlib
import functools
import logging
import subprocess
import sys
import threading
import time

from livereload import Server
from livereload.handlers import LiveReloadHandler
from livereload.watcher import Watcher
from tornado.ioloop import IOLoop

from book.editions import BOOK
from book.site.build import ROOT, SITE, listen

SECONDS_BETWEEN_POLLS = 0.5
SHARED = ["_config.yml", "_toc.yml", "assignments/student_version.py", "companion/figures/**"]
SHARED += [f"book/{pattern}" for pattern in ("*.yml", "*.py", "live/**", "pictures/**", "site/**")]
SHARED += [
    f"companion/learning/{folder}/*" for folder in ("writers", "writers_small", "readers")
]  # weights that figures load


class BackgroundWatcher(Watcher):
    """Watch files and build in a thread, so that pages are served meanwhile."""

    def start(self, callback):
        threading.Thread(target=self.poll, daemon=True).start()
        return True  # livereload then does not poll itself

    def poll(self):
        while True:
            self.examine()
            time.sleep(SECONDS_BETWEEN_POLLS)


def build(language):
    """Run build.py for an edition, or for all if `language` is None; return whether it succeeded."""
    command = [sys.executable, "-m", "book.site.build", *(["--edition", language] if language else [])]
    return subprocess.run(command, cwd=ROOT).returncode == 0


def build_and_reload(loop, language, changed=()):
    """Build what depends on the changed files, and reload the open pages.

    A changed edition.yml concerns all editions, because each shows the names of the others.
    """
    renamed = any(path.endswith("edition.yml") for path in changed)
    if build(None if renamed else language):
        loop.add_callback(LiveReloadHandler.reload_waiters, "*")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    languages = sorted(page.parent.name for page in BOOK.glob("*/index.md"))
    parser.add_argument("--edition", choices=languages, help="build and watch only this edition")
    parser.add_argument("--port", type=int, default=8000, help="where to serve the site; the next free port is taken")
    arguments = parser.parse_args()

    server, loop = Server(watcher=BackgroundWatcher()), IOLoop.current()
    for pattern in SHARED:
        server.watch(str(ROOT / pattern), functools.partial(build_and_reload, loop, arguments.edition))
    for language in [arguments.edition] if arguments.edition else languages:
        for folder in ("book", "assignments/source"):
            server.watch(str(ROOT / folder / language / "**"), functools.partial(build_and_reload, loop, language))
    with contextlib.suppress(KeyboardInterrupt):
        build(arguments.edition)
        with listen(arguments.port, None) as server_on_port:  # prints the address
            port = server_on_port.server_port
        logging.getLogger("livereload").disabled = True  # it reports each step
        server.setHeader("Cache-Control", "no-store")  # a reload fetches scripts and pictures again
        server.serve(port=port, root=str(SITE))


if __name__ == "__main__":
    main()
