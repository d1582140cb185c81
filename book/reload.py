"""The server of `make watch`. It puts reload.js into each page that it sends, and tells it which files have changed."""

import http.server
import json
import threading
import time
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

SCRIPT = Path(__file__).with_suffix(".js")
PATIENCE = 10  # seconds between two signs of life: one that cannot be sent says that the reader has gone


class News:
    """Which files of the site have changed, and when. Time is a count that goes up with each change."""

    def __init__(self):
        self.begun = self.now = time.time_ns()  # later than every time of an earlier server
        self.changed = {}
        self.arrived = threading.Condition()

    def tell(self, files):
        """Let all open pages know that these files have changed."""
        with self.arrived:
            self.now += 1
            self.changed |= dict.fromkeys(files, self.now)
            self.arrived.notify_all()

    def after(self, since):
        """What has changed since then, as soon as there is something; nothing if that takes long. And the time now."""
        with self.arrived:
            self.arrived.wait_for(lambda: since < self.now, PATIENCE)
            files = ["*"] if since < self.begun else [file for file, when in self.changed.items() if when > since]
            return files, self.now


class Handler(http.server.SimpleHTTPRequestHandler):
    """Answers with the files of a folder, and at /reload with what changes in it. note: called with each page's folder."""

    def __init__(self, *arguments, news, note, **options):
        self.news, self.note = news, note
        super().__init__(*arguments, **options)

    def do_GET(self):
        address = urlsplit(self.path)
        if address.path == "/reload":
            return self.go_on_telling(int(parse_qs(address.query)["since"][0]))
        path = Path(self.translate_path(self.path))
        if path.is_dir() and address.path.endswith("/"):
            path /= "index.html"
        if path.suffix != ".html":
            return super().do_GET()
        self.note(path.parent.name)
        self.send_page(path)

    def send_page(self, path):
        since = self.news.now  # before the file is read: what changes meanwhile is told
        status = 200 if path.is_file() else 404
        page = (path if status == 200 else Path(self.directory, "404.html")).read_bytes()
        script = f'<script data-since="{since}">{SCRIPT.read_text(encoding="utf-8")}</script></head>'
        page = page.replace(b"</head>", script.encode(), 1)
        self.send_response(status)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(page)))
        self.end_headers()
        self.wfile.write(page)

    def go_on_telling(self, since):
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.end_headers()
        while True:
            files, since = self.news.after(since)
            self.wfile.write(f"data: {json.dumps(files)}\n\n".encode() if files else b":\n\n")

    def handle(self):
        try:
            super().handle()
        except ConnectionError:  # a reader has closed the page
            pass

    def end_headers(self):
        self.send_header("Cache-Control", "no-store")
        super().end_headers()

    def log_message(self, *arguments):
        """The terminal is for what is built."""
