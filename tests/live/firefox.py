"""Control Firefox through its own protocol, WebDriver BiDi, as far as a test of one page needs it."""

import itertools
import json
import re
import shutil
import subprocess
import tempfile
from contextlib import closing, contextmanager

import websocket

from tests.site.browsing import TIMEOUT, wait_for

PROGRAMS = "firefox", "firefox-esr"


def find_firefox():
    """Return the path of Firefox, or None."""
    return next(filter(None, map(shutil.which, PROGRAMS)), None)


class Page:
    """A page in Firefox."""

    def __init__(self, socket):
        self.socket, self.numbers = socket, itertools.count(1)
        self.call("session.new", {"capabilities": {}})
        self.context = self.call("browsingContext.getTree", {})["contexts"][0]["context"]

    def call(self, method, params):
        number = next(self.numbers)
        self.socket.send(json.dumps({"id": number, "method": method, "params": params}))
        while True:
            response = json.loads(self.socket.recv())
            if response.get("id") == number:
                assert response["type"] == "success", response
                return response["result"]

    def goto(self, url):
        self.call("browsingContext.navigate", {"context": self.context, "url": url, "wait": "complete"})

    def evaluate(self, expression):
        """Return the value of an expression, which must be JSON."""
        source = f"Promise.resolve({expression}).then(value => JSON.stringify(value) ?? 'null')"
        response = self.call(
            "script.evaluate", {"expression": source, "target": {"context": self.context}, "awaitPromise": True}
        )
        assert response["type"] == "success", response["exceptionDetails"]["text"]
        return json.loads(response["result"]["value"])

    def wait_for(self, expression):
        return wait_for(lambda: self.evaluate(expression), expression)

    def press(self, name, within="document"):
        """Press the first button whose text begins with `name`."""
        button = (
            f"[...{within}.querySelectorAll('button')].find(button =>"
            f" button.textContent.trim().startsWith({json.dumps(name)}))"
        )
        self.wait_for(f"Boolean({button})")
        self.evaluate(f"{button}.click()")


@contextmanager
def firefox():
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        command = [find_firefox(), "--headless", "--no-remote", "--profile", profile, "--remote-debugging-port", "0"]
        with subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True) as process:
            try:
                address = next(
                    filter(
                        None, (re.search(r"WebDriver BiDi listening on (ws://\S+)", line) for line in process.stderr)
                    )
                )[1]
                with closing(
                    websocket.create_connection(f"{address}/session", timeout=TIMEOUT, suppress_origin=True)
                ) as socket:
                    yield Page(socket)
            finally:
                process.terminate()
