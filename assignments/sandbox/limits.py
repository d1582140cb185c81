"""Limit the time, memory, files and threads of a process."""

import contextlib
import math
import os
import platform
import re

try:
    import resource
except ImportError:  # Windows
    resource = None  # type: ignore[assignment]

from assignments.sandbox.system_calls import LINUX

MB = 2**20
MAX_THREADS = 64
BASE_BYTES = BASE_THREADS = 0  # in use before any student's code has run
# For tests: each processor second counts this many times, as on a slower machine.
SLOWNESS = float(os.environ.get("UNROLLED_SLOWNESS", 1))


def set_limits(limits, has_namespaces):
    """Limit processor seconds, memory beyond what torch uses, files and threads; return False on Windows."""
    if not resource:
        return False
    seconds, memory = math.ceil(limits["seconds"] / SLOWNESS), memory_in_use() + limits["memory"] * MB
    wanted = {
        "RLIMIT_CPU": (seconds, seconds + 1),
        "RLIMIT_AS": (memory, memory),
        "RLIMIT_FSIZE": (limits["disk"] * MB,) * 2,
        "RLIMIT_NOFILE": (64, 64),
        "RLIMIT_CORE": (0, 0),
        "RLIMIT_MEMLOCK": (0, 0),
        "RLIMIT_MSGQUEUE": (0, 0),
    }
    if LINUX:  # on other systems the threads of the user's other processes cannot be counted
        wanted["RLIMIT_NPROC"] = (thread_limit(has_namespaces),) * 2
    for name, pair in wanted.items():
        if hasattr(resource, name):
            with contextlib.suppress(OSError, ValueError):  # macOS refuses some
                resource.setrlimit(getattr(resource, name), pair)
    return True


def processor_seconds(usage):
    """Return the processor seconds in what `os.wait4` tells of a process."""
    return (usage.ru_utime + usage.ru_stime) * SLOWNESS


def thread_limit(has_namespaces):
    """Return the thread limit for a student's process.

    RLIMIT_NPROC counts all processes of the user, so without a user namespace (counted apart since Linux 5.14) the
    threads already in use are added.
    """
    if os.geteuid() == 0 or has_namespaces and kernel_release() >= (5, 14):
        return MAX_THREADS
    soft, _ = resource.getrlimit(resource.RLIMIT_NPROC)
    return BASE_THREADS + (MAX_THREADS if soft < 0 else max(0, min(MAX_THREADS, (soft - BASE_THREADS) // 2)))


def limit_own_memory(megabytes):
    """Limit this process's further memory, so that a submission that is too large raises a MemoryError.

    The hard limit stays, so processes that this one starts may set another limit.
    """
    if LINUX:
        _, hard = resource.getrlimit(resource.RLIMIT_AS)
        limit = address_space() + megabytes * MB
        resource.setrlimit(resource.RLIMIT_AS, (limit if hard < 0 else min(limit, hard), hard))


def memory_in_use():
    """Return the address space in use, in bytes."""
    try:
        return address_space()
    except OSError:  # the sandbox has no /proc: use the value from before
        return BASE_BYTES


def address_space():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[0]) * os.sysconf("SC_PAGESIZE")


def threads_in_use():
    """Count the threads of all processes of this user."""
    count = 0
    for pid in os.listdir("/proc"):
        try:
            if pid.isdigit() and os.stat(f"/proc/{pid}").st_uid == os.getuid():
                count += len(os.listdir(f"/proc/{pid}/task"))
        except OSError:  # the process has ended
            pass
    return count


def kernel_release():
    """Return the kernel's major and minor version: (6, 1)."""
    return tuple(map(int, re.findall(r"\d+", platform.release())[:2]))


def record_usage():
    """Record the memory and threads in use before any student's code runs."""
    global BASE_BYTES, BASE_THREADS
    try:
        BASE_BYTES, BASE_THREADS = address_space(), threads_in_use()
    except OSError:
        BASE_BYTES = 8 * 2**30
