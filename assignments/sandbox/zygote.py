"""Fork a process for each line that is handed in, and in it one for each job: none of them knows of another."""

import json
import os
import select
import signal
import socket
import struct
import time
import traceback

from assignments.sandbox.isolation import Jail, end_with_parent

OUTPUT = 4 * 2**20  # bytes that an answer's numbers may take: right ones take a fortieth


def receive(source):
    head = read(source, 4)
    return json.loads(read(source, struct.unpack("<I", head)[0])) if head else None


def read(source, size):
    pieces = b""
    while len(pieces) < size:
        piece = os.read(source, min(size - len(pieces), 2**20))
        if not piece:
            return b""
        pieces += piece
    return pieces


def send(target, thing):
    said = json.dumps(thing).encode()
    said = struct.pack("<I", len(said)) + said
    while said:
        said = said[os.write(target, said) :]


def bear(line, secret, path, child):
    """Forks one that serves for each line that is handed in. None of them knows of another, and this one reads no
    job.

    child: runs a job behind the walls of a jail, and writes what came of it to a pipe.
    """
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for them
    while lines := socket.recv_fds(line, 1, 1)[1]:
        if os.fork() == 0:
            try:
                line.close()
                signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                os.setsid()
                jail = Jail()
                jail.zygote(secret, path)
                end_with_parent()  # only now: the system forgets it when rights change
                send(lines[0], {"pid": os.getpid()})
                serve(lines[0], jail, child)
            finally:
                os._exit(0)
        os.close(lines[0])


def serve(line, jail, child):
    """Has each job read, run and answered by a fork: what it leaves in memory is not there when the next one comes."""
    while True:
        select.select([line], [], [])
        watcher = os.fork()
        if watcher == 0:
            try:
                end_with_parent()
                job = receive(line)
                if job is not None:
                    send(line, watch(job, jail, line, child))
                    os._exit(0)
            except BaseException:
                traceback.print_exc()
            os._exit(1)
        if os.waitpid(watcher, 0)[1] != 0:
            return


def watch(job, jail, line, child):
    """Runs a job in a child of a child. Returns how it ended, and what came through its pipe."""
    begin = time.monotonic()
    jail.enter()
    result, pipe = os.pipe()
    state, report = os.pipe()
    first = os.fork()
    if first == 0:
        try:
            os.close(result), os.close(state)
            os.setsid()
            end_with_parent()
            # the first process of a namespace is deaf to the kernel's limits: it only waits for the one that is not
            inner = os.fork()
            if inner == 0:
                child(job, jail, pipe)
            os.close(pipe)
            os.write(report, struct.pack("i", inner))
            os.write(report, struct.pack("i", os.waitpid(inner, 0)[1]))
        finally:
            os._exit(0)
    os.close(pipe), os.close(report)
    inner = struct.unpack("i", read(state, 4) or b"\0" * 4)[0]
    end = begin + job["limits"]["wall"]
    said, ended = collected(result, end, line)
    if ended is None and not select.select([state], [], [], max(0.1, min(2, end - time.monotonic())))[0]:
        ended = "quit"  # it closed its pipe, and goes on
    status = read(state, 4) if ended is None else b""
    # where processes have no namespace that ends with its first one, the student's may have left the group
    jail.end(first, inner)
    os.waitpid(first, 0)
    seconds = time.monotonic() - begin
    if ended is None:
        status = struct.unpack("i", status)[0] if status else -1
        ended = ending(status, seconds, job["limits"])
    return {"ended": ended, "seconds": seconds, "said": said.decode("utf-8", "replace")}


def collected(result, end, line):
    """What comes through a pipe until it is closed, and "time" or "output" if that is too late or too much.

    On the line nothing comes before there is an answer, but its end: then nobody waits for one.
    """
    said, size = [], 0
    while True:
        ready, _, _ = select.select([result, line], [], [], max(0, end - time.monotonic()))
        if not ready or line in ready:
            return b"".join(said), "time"
        piece = os.read(result, 2**20)
        if not piece:
            return b"".join(said), None
        said.append(piece)
        size += len(piece)
        if size > OUTPUT:
            return b"", "output"


def ending(status, seconds, limits):
    if status >= 0 and os.WIFSIGNALED(status):
        number = os.WTERMSIG(status)
        if number == getattr(signal, "SIGXCPU", 0) or number == 9 and seconds >= limits["seconds"] * 0.9:
            return "time"
        return "memory" if number == 9 else f"signal {number}"
    return "" if status == 0 else "quit"
