"""Start the processes of worker.py, in which students' code runs, and exchange messages with them."""

import atexit
import contextlib
import json
import os
import signal
import socket
import struct
import subprocess
import sys
import threading
import time
from pathlib import Path

from assignments.sandbox.call_source import SHARED_MODULES
from assignments.sandbox.protocol import MAX_OUTPUT, parse_reply

ROOT = Path(__file__).resolve().parents[2]
# A worker's own modules, which it gets as source, each after those that it imports.
WORKER_MODULES = (
    "assignments.sandbox.system_calls", "assignments.sandbox.limits", "assignments.sandbox.visible_files",
    "assignments.sandbox.isolation", "assignments.sandbox.fork_server", "assignments.sandbox.disabled_torch",
    "assignments.sandbox.companion_stub", "assignments.read.dependencies", "assignments.report.oral.run_changes",
)  # fmt: skip
# Students' code can read its process's arguments, so they name no file: the program comes with the first message.
LOADER = """
import json, os
def read(size):
    content = b""
    while len(content) < size:
        content += os.read(0, size - len(content)) or os._exit(1)
    return content
settings = json.loads(read(int.from_bytes(read(4), "little")))
exec(compile(settings.pop("worker"), os.path.abspath("/assignments/sandbox/worker.py"), "exec"))
"""
CAN_FORK = hasattr(os, "fork")
MAX_REPLY_BYTES = 8 * MAX_OUTPUT  # JSON has up to six bytes for a character
KEPT_VARIABLES = {"PATH", "HOME", "LANG", "LD_LIBRARY_PATH", "SYSTEMROOT", "TMPDIR", "TEMP", "UNROLLED_DEBUG"}
KEPT_VARIABLES |= {"UNROLLED_SLOWNESS"}


def start_python(**streams):
    """Start worker.py in an isolated Python that cannot import this project."""
    environment = {key: value for key, value in os.environ.items() if key in KEPT_VARIABLES}
    environment |= {"OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1", "VECLIB_MAXIMUM_THREADS": "1", "MPLBACKEND": "Agg"}
    return subprocess.Popen(
        [sys.executable, "-I", "-B", "-c", LOADER], **streams, env=environment,
        cwd="/" if os.name == "posix" else None, start_new_session=os.name == "posix",
    )  # fmt: skip


def startup_settings(hidden):
    """Return a worker's first message: its program, import path, the modules that it may load, and hidden files."""
    companion = Path(SHARED_MODULES[0].__file__).resolve().parents[2]
    path = [os.path.realpath(folder) for folder in sys.path if folder and os.path.isdir(folder)]
    path = [
        folder for folder in path
        if not Path(folder, "companion").is_dir() and "site-packages" in folder or is_python_folder(folder)
    ]  # fmt: skip
    secret = [*map(os.path.realpath, hidden), str(companion)]
    secret += [str(Path(folder, "companion")) for folder in path if Path(folder, "companion").is_dir()]
    sources = {name: (ROOT / name.replace(".", "/")).with_suffix(".py") for name in WORKER_MODULES}
    sources |= {module.__name__: Path(module.__file__) for module in SHARED_MODULES}
    return {
        "worker": (ROOT / "assignments" / "sandbox" / "worker.py").read_text(encoding="utf-8"),
        "sources": {name: file.read_text(encoding="utf-8") for name, file in sources.items()},
        "path": path, "hidden": secret,
    }  # fmt: skip


def pack(message):
    content = json.dumps(message).encode()
    return struct.pack("<I", len(content)) + content


def is_python_folder(folder):
    return folder.startswith((os.path.realpath(sys.base_prefix), os.path.realpath(sys.prefix), sys.prefix))


class ForkServer:
    """Process that has imported torch and forks a process for each `Worker` that connects.

    Importing torch takes more than a second, a fork a few hundredths. The fork server reads no job.
    """

    def __init__(self, hidden=()):
        self.line, remote = socket.socketpair()
        self.process = start_python(stdin=remote, stdout=subprocess.DEVNULL)
        remote.close()
        atexit.register(self.close)
        self.line.sendall(pack(startup_settings(hidden)))

    def close(self):
        self.line.close()
        self.process.kill()
        self.process.wait()


class Worker:
    """Client of a process that runs students' code, and restarts it when it has ended. Used by one thread.

    shared_line: the line of a `ForkServer` that other workers use, too. Without it, or when that server has ended, the
    worker starts a fork server of its own.
    """

    def __init__(self, hidden=(), shared_line=None):
        self.hidden, self.server_line, self.own_server, self.ready = hidden, shared_line, None, None
        self.source = self.target = self.line = self.process = None
        atexit.register(self.close)

    def start(self):
        if CAN_FORK:
            self.line, remote = socket.socketpair()
            self.connect(remote)
            remote.close()
            self.source, self.target = self.line.makefile("rb"), self.line.makefile("wb")
        else:
            self.process = start_python(stdin=subprocess.PIPE, stdout=subprocess.PIPE)
            self.source, self.target = self.process.stdout, self.process.stdin
            self.send(startup_settings(self.hidden))
        self.ready = self.receive(120)
        if not self.ready:
            self.server_line = None
            raise RuntimeError("the process that runs students' code did not start within 120 seconds")

    def connect(self, remote):
        """Hand our socket's other end to the fork server, or to a new one if that has ended."""
        try:
            if self.server_line:
                return socket.send_fds(self.server_line, [b"1"], [remote.fileno()])
        except OSError:
            pass
        if self.own_server:
            self.own_server.close()
        self.own_server = ForkServer(self.hidden)
        self.server_line = self.own_server.line
        return socket.send_fds(self.server_line, [b"1"], [remote.fileno()])

    @property
    def pid(self):
        return self.ready["pid"]

    def send(self, message):
        self.target.write(pack(message))
        self.target.flush()

    def receive(self, seconds):
        """Return the process's next message, or None if it ends or takes longer than `seconds`."""
        timer = threading.Timer(seconds, self.kill)
        timer.start()
        try:
            header = self.source.read(4)
            size = struct.unpack("<I", header)[0] if len(header) == 4 else 0
            return json.loads(self.source.read(size)) if 0 < size < MAX_REPLY_BYTES else None
        except (ValueError, RecursionError, OSError):
            return None
        finally:
            timer.cancel()

    def ask(self, job):
        """Run a job, and return how it ended: {"ended", "said", "seconds", "processor", "steps"}."""
        wall = job["limits"]["wall"]
        for retries in (1, 0):
            self.send_job(job)
            begin = time.monotonic()
            reply = self.receive(1.2 * wall + 20 if CAN_FORK else wall)
            seconds = time.monotonic() - begin
            if reply is None or not CAN_FORK:  # without fork, the student's code ran in this very process
                self.close()
            if reply is not None:
                return parse_reply(reply, seconds)
            if seconds >= wall:
                return parse_reply({"ended": "time", "said": ""}, seconds)
            if not (retries and CAN_FORK):  # the first time, the cause may lie outside the job
                return parse_reply({"ended": "quit", "said": ""}, seconds)

    def send_job(self, job):
        for retries in (2, 1, 0):
            try:
                if not self.ready:
                    self.start()
                return self.send(job)
            except (OSError, RuntimeError):
                self.close()
                if not retries:
                    raise

    def kill(self):
        """Kill the process; while our end of its line is open, the PID cannot belong to another process."""
        try:
            if CAN_FORK:
                self.line.shutdown(socket.SHUT_RDWR)
                os.killpg(self.pid, signal.SIGKILL)
            else:
                self.process.kill()
        except (OSError, TypeError):
            pass

    def close(self):
        """Close the line: the process then ends by itself, together with everything that it runs."""
        self.ready = None
        for stream in (self.target, self.source, self.line):
            with contextlib.suppress(OSError):  # closing may fail to flush what was not yet sent
                stream.close() if stream else None
        if self.process:
            self.process.kill()
            self.process.wait()
        self.source = self.target = self.line = self.process = None
