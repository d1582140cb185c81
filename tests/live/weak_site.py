"""A site that releases new versions of what runs cells, and whose network fails as a test wants."""

import gzip
import json
import os
import random
import shutil
import threading
from contextlib import contextmanager
from pathlib import Path

from book.live import page_scripts
from tests.live.conftest import FAKE
from tests.site.whole_site import QuietHandler, serve

FIRST_RELEASE = 1_700_000_000  # seconds since 1970
SIGN_IN = b"<!DOCTYPE html><title>Sign in</title>"


class WeakHandler(QuietHandler):
    """Serve files, which caches may keep for 10 minutes, as on GitHub Pages. Fail for those in `site.failures`."""

    site = None  # the WeakSite

    def end_headers(self):
        if self.path.split("?")[0].endswith((".js", ".json", ".zip", ".mjs", ".html")):
            self.send_header("Cache-Control", "max-age=600")
        super().end_headers()

    def do_GET(self):  # noqa: N802
        name = self.path.split("?")[0].rpartition("/")[2]
        self.site.requests.append(self.path)
        failure = self.site.failures.get(name) or self.site.failures.get("*")
        if failure is None:
            return super().do_GET()
        self.close_connection = True
        if failure == "refused":
            return None
        if isinstance(failure, int):
            return self.send_error(failure)
        data = SIGN_IN if failure == "sign-in page" else Path(self.translate_path(self.path)).read_bytes()
        if failure == "altered":
            data = bytes(len(data))
        self.protocol_version = "HTTP/1.0"  # the end of the connection is the end of the file
        self.send_response(200)
        self.send_header("Content-Type", "text/html" if failure == "sign-in page" else self.guess_type(name))
        if failure in ("cut", "slow"):
            self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        whole = failure in ("sign-in page", "altered")
        self.wfile.write(data if whole else data[: len(data) // 2])
        self.wfile.flush()
        if failure == "slow":
            self.site.go_on.wait(300)
            self.wfile.write(data[len(data) // 2 :])
        return None


class WeakSite:
    """The folder of a site with one page, whose failures are file name → kind."""

    def __init__(self, folder):
        self.folder, self.address = folder, None
        self.failures, self.requests, self.releases = {}, [], 0
        self.go_on = threading.Event()

    def release(self, version):
        """Publish a version of the files that run cells; the earlier ones are gone."""
        shutil.rmtree(self.folder / "live", ignore_errors=True)
        target = self.folder / "live" / version
        target.mkdir(parents=True)
        for path in (FAKE / "pyodide.mjs", FAKE / "editor.js"):
            shutil.copy(path, target)
        for name in ("kernel.js", "worker.js"):
            shutil.copy(page_scripts.HERE / name, target)
        (target / "pyodide.asm.wasm.gz").write_bytes(gzip.compress(random.Random(version).randbytes(30_000)))
        for name in ("packages.zip", "book.zip"):
            (target / name).write_bytes(version.encode() * 30_000)
        files = {path.name: path.stat().st_size for path in target.iterdir()}
        manifest = {"version": version, "folder": f"{version}/", "size": sum(files.values()), "files": files}
        path = self.folder / "live" / "manifest.json"
        path.write_text(json.dumps(manifest), encoding="utf-8")
        self.releases += 1  # HTTP dates count seconds, and two releases of a test may lie in one
        os.utime(path, (FIRST_RELEASE + self.releases,) * 2)

    @contextmanager
    def served(self):
        with serve(self.folder, type("Handler", (WeakHandler,), {"site": self})) as (self.address, _):
            yield self
