"""Sandbox for the process that runs a student's code, built from what the operating system offers.

On Linux: namespaces for mounts, network, processes and System V memory, in which only Python's and torch's files are
visible, read-only; the user `nobody`; a system call filter under which no program starts, no process forks and no
socket opens; limits on time, memory and files. Where namespaces are refused, Landlock hides the files. Other systems
have limits only. `enter_namespaces` runs once, before any student's code; `restrict` in each process that runs it.

Why no existing sandbox: nearly all escapes found so far lead to torch's own code, inside the process that a sandbox
would enclose. The last two also worked inside bubblewrap with everything unshared: `madvise` reloaded torch's code from
its file, and TorchScript computed gradients. What a sandbox hides (files, network, other processes), the same
namespaces hide here; where a system refuses namespaces, a sandbox does not start either. systemd-run needs systemd as
PID 1, a container needs its daemon. Each of them also starts a program: importing torch takes a second for every
question, a fork takes hundredths. Known gap: with Landlock alone, code that knows a file's name can ask whether the
file exists, and its size.

This module imports neither torch nor the companion.
"""

import contextlib
import os
import struct
import sys
import tempfile
from pathlib import Path

from assignments.sandbox.limits import set_limits
from assignments.sandbox.system_calls import (
    LINUX,
    PR_SET_DUMPABLE,
    PR_SET_NO_NEW_PRIVS,
    PR_SET_PDEATHSIG,
    call,
    libc,
    refuse_calls,
)
from assignments.sandbox.visible_files import BIND, NODEV, NOEXEC, NOSUID, landlock, mount_files

NOBODY = 65534
NEWNS, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET = 0x20000, 0x4000000, 0x8000000, 0x10000000, 0x20000000, 0x40000000


class Sandbox:
    """Sandbox of one server. `active`: its protections, by their keys in the table [walls] of the grader's words."""

    def __init__(self):
        self.active = ["time"]  # the parent process enforces the time limit
        self.root = os.geteuid() == 0 if hasattr(os, "geteuid") else False
        self.has_namespaces, self.hidden = False, set()
        self.scratch = tempfile.gettempdir()  # the only folder that students' code may write to, if any

    def enter_namespaces(self, hidden, path):
        """Enter new namespaces if the system allows it.

        hidden: files and folders that must not be readable. path: Python's folders.
        """
        if not LINUX:
            return
        try:
            self.unshare()
        except OSError:
            return
        self.has_namespaces = True
        self.active += ["network", "processes"]
        try:
            self.scratch, self.hidden = mount_files(hidden, path), set(hidden)
            self.active.append("files")
        except OSError as error:
            print(f"Cannot hide files by mounts: {error}", file=sys.stderr)

    def unshare(self):
        spaces = NEWNS | NEWNET | NEWIPC | NEWUTS
        if self.root:
            try:
                call("unshare", spaces)
                return
            except OSError:
                pass
        # an unprivileged user gets the privileges inside a new user namespace
        uid, gid = os.getuid(), os.getgid()
        call("unshare", spaces | NEWUSER)
        Path("/proc/self/setgroups").write_text("deny")
        Path("/proc/self/uid_map").write_text(f"{uid} {uid} 1")
        Path("/proc/self/gid_map").write_text(f"{gid} {gid} 1")
        self.root = False

    def unshare_processes(self):
        """Put the next child into a new PID namespace, as PID 1: when it ends, the kernel kills all others in it."""
        if self.has_namespaces:
            call("unshare", NEWPID | NEWNS)

    def kill(self, init, inner):
        """Kill the process `init` and its child `inner` (PIDs), and everything that they started."""
        victims = [(os.kill, init), (os.killpg, init)]
        if not self.has_namespaces and inner > 0:  # else it is a PID of another namespace, which ended with `init`
            victims += [(os.kill, inner)]
        for kill, number in victims:
            with contextlib.suppress(OSError):
                kill(number, 9)

    def restrict(self, limits, hidden, path):
        """Restrict this process, just before the student's code runs, and return the protections that are active.

        limits: "seconds", "memory" and "disk" in megabytes.
        """
        active = list(self.active)
        if "files" in active:
            for file in hidden:
                if file not in self.hidden and os.path.isfile(file):
                    call("mount", "/.empty", file, None, BIND, None)
            size = f"size={limits['disk']}m,mode=1777,nr_inodes=4096"
            call("mount", "tmpfs", self.scratch, "tmpfs", NOSUID | NODEV | NOEXEC, size)
        if set_limits(limits, self.has_namespaces):
            active.append("limits")
        if not LINUX:
            return active
        if self.root:
            try:
                os.setgroups([])
                os.setresgid(NOBODY, NOBODY, NOBODY)
                os.setresuid(NOBODY, NOBODY, NOBODY)
            except OSError as error:
                print(f"Cannot give up root: {error}", file=sys.stderr)
        drop_capabilities()
        end_with_parent()  # after the change of user: the kernel resets it when credentials change
        call("prctl", PR_SET_DUMPABLE, 0, 0, 0, 0)
        call("prctl", PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
        if os.geteuid() != 0:
            active.append("privileges")
        mounted = "files" in active
        if not mounted and landlock(hidden, path):
            active.append("files")
        if refuse_calls(mounted):
            active.append("system_calls")
            if "network" not in active:
                active.append("network")  # no socket can be opened
        return active


def end_with_parent():
    """Have the kernel kill this process when its parent ends (PR_SET_PDEATHSIG)."""
    if LINUX:
        call("prctl", PR_SET_PDEATHSIG, 9, 0, 0, 0)


def drop_capabilities():
    header = struct.pack("Ii", 0x20080522, 0)
    libc.capset(header, b"\0" * 24)
