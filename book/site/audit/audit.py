"""Measure the site with Lighthouse as a phone on a slow network.

    python -m book.site.audit.audit [options]

    --edition ja     only this edition; may be repeated
    --page lstm      only this page; may be repeated
    --steady         fail only on results that do not depend on how busy the machine is; all results are printed
    --install        only install Lighthouse

Needs Node.js and Chromium. The site is built in a temporary folder for the address of a local server, and
served compressed, as a host would serve it. A page that misses a target is measured twice more, and the median of the
three counts.
"""

import argparse
import functools
import gzip
import http.server
import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

from book import npm
from book.editions import editions
from book.live import fetch
from book.site.browser import FLAGS, find_chromium

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[2]

SCORES = {"performance": 98, "accessibility": 100, "best-practices": 100, "seo": 100}
PAINT, WEIGHT = 1800, 300_000  # milliseconds until the largest paint, bytes


class CompressingHandler(http.server.SimpleHTTPRequestHandler):
    """Serve files of text with gzip."""

    protocol_version = "HTTP/1.1"

    def do_GET(self):
        path = Path(self.translate_path(self.path))
        path = path / "index.html" if path.is_dir() else path
        if not path.is_file():
            self.send_error(404)
            return
        kind, data = self.guess_type(path), path.read_bytes()
        self.send_response(200)
        if kind.startswith("text/") or kind.endswith(("javascript", "json", "svg+xml")):
            data = gzip.compress(data)
            self.send_header("Content-Encoding", "gzip")
            kind += "; charset=utf-8"
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *arguments):
        pass


def build(folder, address, edition=None):
    """Build the site, or one edition, in `folder` as if for this address; return the folder of the pages."""
    for name in ("_toc.yml", "requirements.txt"):
        shutil.copy(ROOT / name, folder)
    for name in ("book", "companion", "assignments", "small_torch"):
        shutil.copytree(
            ROOT / name, folder / name, ignore=shutil.ignore_patterns("_build", "__pycache__", "node_modules")
        )
    if fetch.fetched():  # then cells can run, as on the published site
        (folder / "_build").mkdir()
        (folder / "_build/live").symlink_to(ROOT / "_build/live")
    config = (ROOT / "_config.yml").read_text(encoding="utf-8")
    config = config.replace('baseurl: ""', f"baseurl: {address}")
    (folder / "_config.yml").write_text(config, encoding="utf-8")
    command = [sys.executable, "-m", "book.site.build", "--no-cards", *(["--edition", edition] if edition else [])]
    subprocess.run(command, cwd=folder, check=True, env=os.environ | {"PYTHONPATH": str(folder)})
    return folder / "_build/html"


def install():
    """Install the Lighthouse that package-lock.json pins into _build; return the path of its script."""
    return npm.install(HERE, ROOT / "_build" / "audit") / "lighthouse/cli/index.js"


def measure(lighthouse, url):
    """Return Lighthouse's report on a page."""
    with tempfile.TemporaryDirectory() as profile:
        flags = " ".join([*FLAGS, f"--user-data-dir={profile}"])
        command = ["node", lighthouse, url, "--quiet", "--output=json", f"--chrome-flags={flags}"]
        process = subprocess.run(
            command,
            check=True,
            capture_output=True,
            text=True,
            encoding="utf-8",
            env=os.environ | {"CHROME_PATH": find_chromium()},
        )
    return json.loads(process.stdout)


def measurements(report):
    """Return the values that have targets: four scores, largest paint in milliseconds, bytes, errors in the console."""
    audits = report["audits"]
    values = {name: round(100 * (report["categories"][name]["score"] or 0)) for name in SCORES}
    values["paint"] = round(audits["largest-contentful-paint"]["numericValue"])
    values["weight"] = audits["total-byte-weight"]["numericValue"]
    values["errors"] = len(audits["errors-in-console"]["details"]["items"])
    return values


def meets_targets(values, steady=False):
    """Return whether a page meets the targets; steady: only those that do not depend on how busy the machine is."""
    scores = all(values[name] >= SCORES[name] for name in SCORES if not (steady and name == "performance"))
    return scores and (steady or values["paint"] < PAINT) and values["weight"] < WEIGHT and not values["errors"]


def failed_audits(report):
    """Return the names of Lighthouse's audits that lower one of the scores."""
    relevant = {ref["id"] for name in SCORES for ref in report["categories"][name]["auditRefs"] if ref["weight"]}
    return [
        name
        for name in sorted(relevant)
        if (report["audits"][name]["score"] or 0) < 0.9 and report["audits"][name]["score"] is not None
    ]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--edition", action="append", choices=[edition.language for edition in editions()])
    parser.add_argument("--page", action="append")
    parser.add_argument("--steady", action="store_true")
    parser.add_argument("--install", action="store_true")
    arguments = parser.parse_args()
    missing = [name for name in ("node", "npm") if not shutil.which(name)] + ([] if find_chromium() else ["chromium"])
    if missing:
        sys.exit(f"audit.py: not installed: {', '.join(missing)}")
    try:
        lighthouse, failed = install(), 0
    except npm.NpmError:
        sys.exit("audit.py: npm could not install Lighthouse. Its messages are above.")
    if arguments.install:
        return
    with (
        tempfile.TemporaryDirectory() as folder,
        http.server.ThreadingHTTPServer(("127.0.0.1", 0), CompressingHandler) as server,
    ):
        address = f"http://127.0.0.1:{server.server_port}"
        only = arguments.edition[0] if len(arguments.edition or ()) == 1 else None
        site = build(Path(folder), f"{address}/", only)
        server.RequestHandlerClass = functools.partial(CompressingHandler, directory=site)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        print(
            f"{'page':30}{'perf':>6}{'a11y':>6}{'best':>6}{'seo':>6}{'paint':>9}{'weight':>9}{'errors':>8}", flush=True
        )
        for edition in editions():
            if arguments.edition and edition.language not in arguments.edition:
                continue
            for page in sorted(edition.pages - {"genindex", "search"}):
                if page not in (arguments.page or edition.samples):
                    continue
                url = f"{address}/{edition.language}/{page}.html"
                reports = [measure(lighthouse, url)]
                if not meets_targets(measurements(reports[0])):
                    reports += [measure(lighthouse, url) for _ in range(2)]
                report = sorted(reports, key=lambda report: report["categories"]["performance"]["score"] or 0)[
                    len(reports) // 2
                ]
                values = measurements(report)
                failed += not meets_targets(values, arguments.steady)
                print(
                    f"{edition.language + '/' + page:30}" + "".join(f"{values[name]:6}" for name in SCORES)
                    + f"{values['paint'] / 1000:7.2f} s{values['weight'] / 1000:6.0f} kB{values['errors']:8}"
                    + ("" if meets_targets(values) else f"  missed: {', '.join(failed_audits(report))}"),
                    flush=True,
                )  # fmt: skip
        server.shutdown()
    sys.exit(f"audit.py: {failed} pages miss a target" if failed else 0)


if __name__ == "__main__":
    main()
