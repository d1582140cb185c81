"""Fetch what pages need to run their cells in the background, while the site is read.

`make book` uses this: the first build does not wait for the parts, and its pages run their cells once they have come.
"""

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading

from book.live import fetch

# `fetch.prepare` in a process of its own, which gives way to others.
PREPARE = """
import os, sys
from book.live import fetch
if hasattr(os, "nice"):
    os.nice(19)
try:
    fetch.prepare()
except fetch.Missing as error:
    sys.exit(str(error))
"""
HINT = "Until then cells do not run on these pages. `make live` tries again."


class BackgroundFetch:
    """A process that fetches the parts, unless they are there. As a context manager, it stops the process at the end.

    Attributes:
        reason: why nothing is being fetched, or an empty string
    """

    def __init__(self, command=(sys.executable, "-c", PREPARE)):
        self.process, self.command, self.reason = None, None, ""
        if fetch.up_to_date():
            return
        if not shutil.which("npm"):
            self.reason = f"To run cells on these pages, install npm (Node.js). {HINT}"
            return
        self.command = command

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.stop()

    def stop(self):
        """Stop the process and those that it has started."""
        if self.process and self.process.poll() is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.process.pid, signal.SIGTERM) if hasattr(os, "killpg") else self.process.terminate()
            self.process.wait()
            shutil.rmtree(fetch.NEW, ignore_errors=True)

    def then(self, add):
        """Call `add` in a thread when the parts have come, and print one line. Return the thread, or None."""
        if self.reason:
            print(self.reason, flush=True)
        if not self.command:
            return None
        self.errors = tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace")  # noqa: SIM115 (read later)
        # In a session of its own, so that `stop` reaches npm too.
        self.process = subprocess.Popen(
            self.command,
            cwd=fetch.ROOT,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=self.errors,
            text=True,
            start_new_session=True,
        )
        thread = threading.Thread(target=self._finish, args=(add,), daemon=True)
        thread.start()
        return thread

    def _finish(self, add):
        with self.process, self.errors:
            for line in self.process.stdout:
                print(line.rstrip(), flush=True)
            code = self.process.wait()
            self.errors.seek(0)
            errors = self.errors.read().strip().splitlines() or ["the download failed."]
        if code == 0:
            fetch.replace()
            add()
            print("Cells now run on the pages. Reload a page that is open.", flush=True)
        elif code > 0:  # it was not stopped
            shutil.rmtree(fetch.NEW, ignore_errors=True)
            print(f"What pages need to run cells could not be fetched: {errors[-1].strip()} {HINT}", flush=True)
