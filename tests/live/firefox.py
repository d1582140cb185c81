"""Firefox, through the protocol that it speaks itself (WebDriver BiDi): as much as a test of one page needs."""

import itertools
import json
import re
import shutil
import subprocess
import tempfile
import time
from contextlib import closing, contextmanager

import websocket

PROGRAMS = "firefox", "firefox-esr"


def program():
    """The path of Firefox, or nothing."""
    return next(filter(None, map(shutil.which, PROGRAMS)), None)


class Page:
    """A page in Firefox."""

    def __init__(self, socket):
        self.socket, self.numbers = socket, itertools.count(1)
        self.ask("session.new", {"capabilities": {}})
        self.context = self.ask("browsingContext.getTree", {})["contexts"][0]["context"]

    def ask(self, method, params):
        number = next(self.numbers)
        self.socket.send(json.dumps({"id": number, "method": method, "params": params}))
        while True:
            answer = json.loads(self.socket.recv())
            if answer.get("id") == number:
                assert answer["type"] == "success", answer
                return answer["result"]

    def goto(self, url):
        self.ask("browsingContext.navigate", {"context": self.context, "url": url, "wait": "complete"})

    def evaluate(self, expression):
        """What an expression gives; it and its parts as JSON."""
        source = f"Promise.resolve({expression}).then(found => JSON.stringify(found) ?? 'null')"
        answer = self.ask(
            "script.evaluate", {"expression": source, "target": {"context": self.context}, "awaitPromise": True}
        )
        assert answer["type"] == "success", answer["exceptionDetails"]["text"]
        return json.loads(answer["result"]["value"])

    def wait_for(self, expression, seconds=60):
        end = time.monotonic() + seconds
        while not (found := self.evaluate(expression)):
            assert time.monotonic() < end, f"not within {seconds} s: {expression}"
            time.sleep(0.1)
        return found

    def press(self, name, within="document"):
        """Press the first button with this name."""
        found = (
            f"[...{within}.querySelectorAll('button')].find(one =>"
            f" one.textContent.trim().startsWith({json.dumps(name)}))"
        )
        self.wait_for(f"Boolean({found})")
        self.evaluate(f"{found}.click()")


@contextmanager
def firefox():
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        command = [program(), "--headless", "--no-remote", "--profile", profile, "--remote-debugging-port", "0"]
        with subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True) as process:
            try:
                address = next(
                    filter(
                        None, (re.search(r"WebDriver BiDi listening on (ws://\S+)", line) for line in process.stderr)
                    )
                )[1]
                with closing(
                    websocket.create_connection(f"{address}/session", timeout=120, suppress_origin=True)
                ) as socket:
                    yield Page(socket)
            finally:
                process.terminate()
