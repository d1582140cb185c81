"""Limit the time, memory, files and threads of a process."""

import contextlib
import os
import platform
import re

try:
    import resource
except ImportError:  # Windows
    resource = None  # type: ignore[assignment]

from assignments.sandbox.system_calls import LINUX

MB = 2**20
THREADS = 64
STARTED = STARTED_THREADS = 0  # bytes and threads in use before any student's code has run


def limit(limits, spaces):
    """Limit processor seconds, memory beyond what torch has, files and threads. Return whether the system can.

    spaces: whether the process has namespaces of its own.
    """
    if not resource:
        return False
    seconds, most = limits["seconds"], memory_in_use() + limits["memory"] * MB
    wanted = {
        "RLIMIT_CPU": (seconds, seconds + 1),
        "RLIMIT_AS": (most, most),
        "RLIMIT_FSIZE": (limits["disk"] * MB,) * 2,
        "RLIMIT_NOFILE": (64, 64),
        "RLIMIT_CORE": (0, 0),
        "RLIMIT_MEMLOCK": (0, 0),
        "RLIMIT_MSGQUEUE": (0, 0),
    }
    if LINUX:  # elsewhere the instructor's own are not known
        wanted["RLIMIT_NPROC"] = (threads(spaces),) * 2
    for name, pair in wanted.items():
        if hasattr(resource, name):
            with contextlib.suppress(OSError, ValueError):  # macOS refuses some
                resource.setrlimit(getattr(resource, name), pair)
    return True


def threads(spaces):
    """How many a student's code may have. The system counts them with all processes of the user, whose limit is the
    grader's, too: nobody has few, as a user has in a namespace of users of their own. Linux counts so since 5.14."""
    if os.geteuid() == 0 or spaces and release() >= (5, 14):
        return THREADS
    most, _ = resource.getrlimit(resource.RLIMIT_NPROC)
    return STARTED_THREADS + (THREADS if most < 0 else max(0, min(THREADS, (most - STARTED_THREADS) // 2)))


def limit_own_memory(megabytes):
    """Of a process that reads what students send: beyond this it gets a MemoryError. Processes that it starts may set
    another limit."""
    if LINUX:
        _, most = resource.getrlimit(resource.RLIMIT_AS)
        wanted = read_pages() + megabytes * MB
        resource.setrlimit(resource.RLIMIT_AS, (wanted if most < 0 else min(wanted, most), most))


def memory_in_use():
    """Addresses in use, in bytes."""
    try:
        return read_pages()
    except OSError:  # /proc is not there in the jail: asked before
        return STARTED


def read_pages():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[0]) * os.sysconf("SC_PAGESIZE")


def threads_in_use():
    """Of all processes of this user."""
    found = 0
    for one in os.listdir("/proc"):
        try:
            if one.isdigit() and os.stat(f"/proc/{one}").st_uid == os.getuid():
                found += len(os.listdir(f"/proc/{one}/task"))
        except OSError:  # it has ended
            pass
    return found


def release():
    """Of the system: (6, 1)."""
    return tuple(map(int, re.findall(r"\d+", platform.release())[:2]))


def remember():
    """What is in use before any student's code has run."""
    global STARTED, STARTED_THREADS
    try:
        STARTED, STARTED_THREADS = read_pages(), threads_in_use()
    except OSError:
        STARTED = 8 * 2**30
