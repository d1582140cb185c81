"""Walls around the process that runs a student's code: what the system gives, and in words what it does not.

On Linux: namespaces of its own for mounts, network, processes and System V memory, in which only Python's and torch's
files are to be seen, read-only; nobody's rights; a filter of system calls that lets no program start, no process fork
and no socket open; limits on time, memory, files. Where namespaces are refused, Landlock hides the files. Elsewhere
there are limits only. `zygote` runs once, before any student's code; `child` in each process that runs some.

Why not an audited sandbox where there is one: nearly all doors that were ever found lead to torch's own code, in the
very process that it would put its walls around. Both that were found last stayed open within bubblewrap with all
unshared: `madvise` fetched torch's code from its file again, and TorchScript gave gradients. What a sandbox does hide,
files, network and other processes, the same namespaces hide here; where a system refuses those, it does not start
either. systemd-run needs systemd as the first process, a container its daemon. And each starts a program: to import
torch takes a second for every question, where a fork takes hundredths. So these walls stay. What is left open: with
Landlock alone, who knows a file's name can ask whether it is there, and for its size.

Nothing here imports torch or the companion.
"""

import contextlib
import os
import struct
import sys
import tempfile
from pathlib import Path

from assignments.sandbox.limits import limit
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


class Jail:
    """The walls of one zygote. `built`: those that hold, by their keys in the words' [walls]."""

    def __init__(self):
        self.built = ["time"]  # whoever started the process looks at the clock
        self.root = os.geteuid() == 0 if hasattr(os, "geteuid") else False
        self.spaces = False
        self.scratch = tempfile.gettempdir()  # where students' code may write, if anywhere

    def zygote(self, hidden, path):
        """Into namespaces, if they are to be had. hidden: files and folders nobody may read. path: Python's folders."""
        if not LINUX:
            return
        try:
            self.unshare()
        except OSError:
            return
        self.spaces = True
        self.built += ["network", "processes"]
        try:
            self.scratch, self.hidden = mount_files(hidden, path), set(hidden)
            self.built.append("files")
        except OSError as error:
            print(f"The files stay in sight: {error}", file=sys.stderr)

    def unshare(self):
        spaces = NEWNS | NEWNET | NEWIPC | NEWUTS
        if self.root:
            try:
                call("unshare", spaces)
                return
            except OSError:
                pass
        # without privileges: those of a namespace of one's own
        uid, gid = os.getuid(), os.getgid()
        call("unshare", spaces | NEWUSER)
        Path("/proc/self/setgroups").write_text("deny")
        Path("/proc/self/uid_map").write_text(f"{uid} {uid} 1")
        Path("/proc/self/gid_map").write_text(f"{gid} {gid} 1")
        self.root = False

    def enter(self):
        """In the process whose child will be the first one of its namespace, with which all others end."""
        if self.spaces:
            call("unshare", NEWPID | NEWNS)

    def end(self, first, inner):
        """Ends the first process and its child, by their numbers, and all that they started."""
        victims = [(os.kill, first), (os.killpg, first)]
        if not self.spaces and inner > 0:  # else it is a number in another namespace, and ended with it
            victims += [(os.kill, inner)]
        for end, number in victims:
            with contextlib.suppress(OSError):
                end(number, 9)

    def child(self, limits, hidden, path):
        """In the child, just before the student's code. limits: seconds, megabytes. Returns what holds."""
        built = list(self.built)
        if "files" in built:
            for one in hidden:
                if one not in self.hidden and os.path.isfile(one):
                    call("mount", "/.empty", one, None, BIND, None)
            size = f"size={limits['disk']}m,mode=1777,nr_inodes=4096"
            call("mount", "tmpfs", self.scratch, "tmpfs", NOSUID | NODEV | NOEXEC, size)
        if limit(limits, self.spaces):
            built.append("limits")
        if not LINUX:
            return built
        if self.root:
            try:
                os.setgroups([])
                os.setresgid(NOBODY, NOBODY, NOBODY)
                os.setresuid(NOBODY, NOBODY, NOBODY)
            except OSError as error:
                print(f"The rights stay: {error}", file=sys.stderr)
        drop_capabilities()
        end_with_parent()  # only now: the system forgets it when rights change
        call("prctl", PR_SET_DUMPABLE, 0, 0, 0, 0)
        call("prctl", PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
        if os.geteuid() != 0:
            built.append("privileges")
        mounted = "files" in built
        if not mounted and landlock(hidden, path):
            built.append("files")
        if refuse_calls(mounted):
            built.append("system_calls")
            if "network" not in built:
                built.append("network")  # no socket can be opened
        return built


def end_with_parent():
    """Has the system end this process when the one that started it is gone."""
    if LINUX:
        call("prctl", PR_SET_PDEATHSIG, 9, 0, 0, 0)


def drop_capabilities():
    header = struct.pack("Ii", 0x20080522, 0)
    libc.capset(header, b"\0" * 24)
