"""Fork server: fork one process per connection, which forks one process per job."""

import json
import mmap
import os
import select
import signal
import socket
import struct
import time
import traceback

from assignments.sandbox.isolation import Sandbox, end_with_parent
from assignments.sandbox.limits import processor_seconds

MAX_OUTPUT_BYTES = 4 * 2**20  # of an answer's numbers; correct answers need about 1/40 of this


def receive(source):
    """Return the next message from a file descriptor, or None at its end."""
    header = read_exactly(source, 4)
    return json.loads(read_exactly(source, struct.unpack("<I", header)[0])) if header else None


def read_exactly(source, size):
    """Return `size` bytes, or none if the stream ends before."""
    content = b""
    while len(content) < size:
        chunk = os.read(source, min(size - len(content), 2**20))
        if not chunk:
            return b""
        content += chunk
    return content


def send(target, message):
    content = json.dumps(message).encode()
    content = struct.pack("<I", len(content)) + content
    while content:
        content = content[os.write(target, content) :]


def serve_connections(listener, hidden, path, run_child):
    """Fork a server for each connection that arrives as a file descriptor on `listener`.

    This process never reads a job, so no job is in the memory that its children inherit. run_child: runs a job inside
    a sandbox and writes the result to a pipe.
    """
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # the kernel reaps the servers
    while connections := socket.recv_fds(listener, 1, 1)[1]:
        if os.fork() == 0:
            try:
                listener.close()
                signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                os.setsid()
                sandbox = Sandbox()
                sandbox.enter_namespaces(hidden, path)
                end_with_parent()  # after the namespaces: the kernel resets it when credentials change
                send(connections[0], {"pid": os.getpid()})
                serve_jobs(connections[0], sandbox, run_child)
            finally:
                os._exit(0)
        os.close(connections[0])


def serve_jobs(connection, sandbox, run_child):
    """Read, run and answer each job in a fork, so that the next job does not find it in memory."""
    while True:
        select.select([connection], [], [])
        watcher = os.fork()
        if watcher == 0:
            try:
                end_with_parent()
                job = receive(connection)
                if job is not None:
                    send(connection, run_job(job, sandbox, connection, run_child))
                    os._exit(0)
            except BaseException:
                traceback.print_exc()
            os._exit(1)
        if os.waitpid(watcher, 0)[1] != 0:
            return


def run_job(job, sandbox, connection, run_child):
    """Run a job in a grandchild process, and return how it ended and what it wrote to its pipe.

    The result also has its processor seconds, 0 if the clock ended it, and the steps of training that it claims.
    """
    begin = time.monotonic()
    steps = mmap.mmap(-1, 16)  # shared with the grandchild, which counts its optimizers' steps and calls of backward
    sandbox.unshare_processes()
    result, pipe = os.pipe()
    state, report = os.pipe()
    init = os.fork()
    if init == 0:
        try:
            os.close(result), os.close(state)
            os.setsid()
            end_with_parent()
            # PID 1 of a namespace ignores the signals of the kernel's limits, so the student's code runs in its child
            inner = os.fork()
            if inner == 0:
                run_child(job, sandbox, pipe, steps)
            os.close(pipe)
            os.write(report, struct.pack("i", inner))
            _, status, usage = os.wait4(inner, 0)
            os.write(report, struct.pack("=id", status, processor_seconds(usage)))
        finally:
            os._exit(0)
    os.close(pipe), os.close(report)
    inner = struct.unpack("i", read_exactly(state, 4) or b"\0" * 4)[0]
    deadline = begin + job["limits"]["wall"]
    output, reason = read_output(result, deadline, connection)
    if reason is None and not select.select([state], [], [], job["limits"]["wall"] / 10)[0]:
        reason = "quit"  # it closed its pipe and still runs
    report = read_exactly(state, 12) if reason is None else b""
    # without a PID namespace, the student's process may have left the process group
    sandbox.kill(init, inner)
    os.waitpid(init, 0)
    seconds = time.monotonic() - begin
    status, processor = struct.unpack("=id", report) if report else (-1, 0.0)
    if reason is None:
        reason = exit_reason(status, processor, job["limits"])
    optimizer_steps, backward_calls = struct.unpack("qq", steps)
    return {"ended": reason, "seconds": seconds, "processor": processor, "said": output.decode("utf-8", "replace"),
            "steps": optimizer_steps or backward_calls}  # fmt: skip


def read_output(pipe, deadline, connection):
    """Return the output up to the pipe's end, and None, "time" or "output" (too much).

    The client sends nothing while it waits, so `connection` becomes readable only if the client is gone.
    """
    chunks, size = [], 0
    while True:
        ready, _, _ = select.select([pipe, connection], [], [], max(0, deadline - time.monotonic()))
        if not ready or connection in ready:
            return b"".join(chunks), "time"
        chunk = os.read(pipe, 2**20)
        if not chunk:
            return b"".join(chunks), None
        chunks.append(chunk)
        size += len(chunk)
        if size > MAX_OUTPUT_BYTES:
            return b"", "output"


def exit_reason(status, processor, limits):
    """Return why a process ended: "" if it was done, else "time", "memory", "quit" or "signal N"."""
    if status >= 0 and os.WIFSIGNALED(status):
        number = os.WTERMSIG(status)
        if number == getattr(signal, "SIGXCPU", 0) or number == 9 and processor >= limits["seconds"] * 0.9:
            return "time"
        return "memory" if number == 9 else f"signal {number}"
    return "" if status == 0 else "quit"
