"""Starts the processes of worker.py, in which students' code runs, and speaks with them."""

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

from assignments.sandbox.call_source import PARTS
from assignments.sandbox.protocol import OUTPUT, ended_of

HERE = Path(__file__).resolve().parent

FORKS = hasattr(os, "fork")
LARGEST = 8 * OUTPUT  # bytes of what a worker says: JSON has up to six for a letter
KEPT = {"PATH", "HOME", "LANG", "LD_LIBRARY_PATH", "SYSTEMROOT", "TMPDIR", "TEMP", "UNROLLED_DEBUG"}


def begun(**streams):
    """A Python without anything of ours, but for worker.py."""
    environment = {key: one for key, one in os.environ.items() if key in KEPT}
    environment |= {"OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1", "VECLIB_MAXIMUM_THREADS": "1", "MPLBACKEND": "Agg"}
    return subprocess.Popen(
        [sys.executable, "-I", "-B", str(HERE / "worker.py")], **streams, env=environment,
        cwd="/" if os.name == "posix" else None, start_new_session=os.name == "posix",
    )  # fmt: skip


def settings(hidden):
    """What it is told first: where things are, and what nobody may see."""
    companion = Path(PARTS[0].__file__).resolve().parents[2]
    path = [os.path.realpath(one) for one in sys.path if one and os.path.isdir(one)]
    path = [one for one in path if not Path(one, "companion").is_dir() and "site-packages" in one or is_python(one)]
    secret = [*map(os.path.realpath, hidden), str(companion)]
    secret += [str(Path(one, "companion")) for one in path if Path(one, "companion").is_dir()]
    return {"path": path, "parts": {part.__name__: part.__file__ for part in PARTS}, "hidden": secret}


def packed(thing):
    said = json.dumps(thing).encode()
    return struct.pack("<I", len(said)) + said


def is_python(folder):
    """Whether it is one of Python's own folders."""
    return folder.startswith((os.path.realpath(sys.base_prefix), os.path.realpath(sys.prefix), sys.prefix))


class Mother:
    """A process that has torch without its layers, and forks one for each Worker that hands it a line: to import torch
    takes more than a second, to fork a few hundredths. It reads no job."""

    def __init__(self, hidden=()):
        self.line, theirs = socket.socketpair()
        self.process = begun(stdin=theirs, stdout=subprocess.DEVNULL)
        theirs.close()
        atexit.register(self.close)
        self.line.sendall(packed(settings(hidden)))

    def close(self):
        self.line.close()
        self.process.kill()
        self.process.wait()


class Worker:
    """A process that runs students' code, begun anew when it is gone. Used by one thread.

    mothers: the line of a Mother that others have, too. Without it, or when she is gone, the worker has its own.
    """

    def __init__(self, hidden=(), mothers=None):
        self.hidden, self.mothers, self.mother, self.ready = hidden, mothers, None, None
        self.source = self.target = self.line = self.process = None
        atexit.register(self.close)

    def start(self):
        if FORKS:
            self.line, theirs = socket.socketpair()
            self.hand(theirs)
            theirs.close()
            self.source, self.target = self.line.makefile("rb"), self.line.makefile("wb")
        else:
            self.process = begun(stdin=subprocess.PIPE, stdout=subprocess.PIPE)
            self.source, self.target = self.process.stdout, self.process.stdin
            self.send(settings(self.hidden))
        self.ready = self.receive(120)
        if not self.ready:
            self.mothers = None
            raise RuntimeError("the process for students' code does not start")

    def hand(self, line):
        try:
            if self.mothers:
                return socket.send_fds(self.mothers, [b"1"], [line.fileno()])
        except OSError:
            pass
        if self.mother:
            self.mother.close()
        self.mother = Mother(self.hidden)
        self.mothers = self.mother.line
        return socket.send_fds(self.mothers, [b"1"], [line.fileno()])

    @property
    def pid(self):
        return self.ready["pid"]

    def send(self, thing):
        self.target.write(packed(thing))
        self.target.flush()

    def receive(self, seconds):
        """What it says, or None if it ends, or takes longer than that."""
        watch = threading.Timer(seconds, self.kill)
        watch.start()
        try:
            head = self.source.read(4)
            size = struct.unpack("<I", head)[0] if len(head) == 4 else 0
            return json.loads(self.source.read(size)) if 0 < size < LARGEST else None
        except (ValueError, RecursionError, OSError):
            return None
        finally:
            watch.cancel()

    def ask(self, job):
        """How a job ended: {"ended", "said", "seconds"}."""
        wall = job["limits"]["wall"]
        for left in (1, 0):
            self.hand_over(job)
            begin = time.monotonic()
            answer = self.receive(wall + 20 if FORKS else wall)
            seconds = time.monotonic() - begin
            if answer is None or not FORKS:  # without fork, the student's code ran in this very process
                self.close()
            if answer is not None:
                return ended_of(answer, seconds)
            if seconds >= wall:
                return {"ended": "time", "said": "", "seconds": seconds}
            if not (left and FORKS):  # once it may have been ended by something else
                return {"ended": "quit", "said": "", "seconds": seconds}

    def hand_over(self, job):
        for left in (2, 1, 0):
            try:
                if not self.ready:
                    self.start()
                return self.send(job)
            except (OSError, RuntimeError):
                self.close()
                if not left:
                    raise

    def kill(self):
        """While it holds its line, its number is no other's."""
        try:
            if FORKS:
                self.line.shutdown(socket.SHUT_RDWR)
                os.killpg(self.pid, signal.SIGKILL)
            else:
                self.process.kill()
        except (OSError, TypeError):
            pass

    def close(self):
        """Where nobody is at the other end of its line, it ends by itself, with all that it runs."""
        self.ready = None
        for one in (self.target, self.source, self.line):
            with contextlib.suppress(OSError):  # what was still to be written
                one.close() if one else None
        if self.process:
            self.process.kill()
            self.process.wait()
        self.source = self.target = self.line = self.process = None
