"""Show a process only the files that Python needs: by mounts of its own or, without namespaces, by Landlock."""

import ctypes
import os
import platform
import struct
import sys
import tempfile

from assignments.sandbox.system_calls import call, libc

RDONLY, NOSUID, NODEV, NOEXEC, REMOUNT, BIND, REC, PRIVATE = 1, 2, 4, 8, 32, 4096, 16384, 1 << 18
NOATIME, NODIRATIME, RELATIME = 1024, 2048, 1 << 21


def mount_files(hidden, path):
    """Makes a root of its own, in which only these folders are to be seen, and goes there. Returns where to write."""
    call("mount", "none", "/", None, REC | PRIVATE, None)
    root = tempfile.mkdtemp()
    call("mount", "tmpfs", root, "tmpfs", NOSUID | NODEV, "size=4m,mode=755")
    for one in folders(path):
        target = root + one
        os.makedirs(target, exist_ok=True)
        call("mount", one, target, None, BIND | REC, None)
        call("mount", None, target, None, BIND | REMOUNT | RDONLY | NOSUID | NODEV | kept(target), None)
    for link in ("/lib", "/lib64", "/bin"):
        if os.path.islink(link) and not os.path.lexists(root + link):
            os.symlink(os.readlink(link), root + link)
    os.makedirs(root + "/dev")
    for device in ("null", "zero", "random", "urandom"):
        open(f"{root}/dev/{device}", "w").close()
        call("mount", f"/dev/{device}", f"{root}/dev/{device}", None, BIND, None)
    # a disk of its own comes here, over whatever is there
    scratch = "/scratch" if os.path.isdir(root + "/tmp") else "/tmp"
    os.makedirs(root + scratch)
    os.makedirs(root + "/.nothing")
    open(root + "/.empty", "w").close()
    for one in hidden:
        if os.path.exists(root + one):
            call("mount", root + ("/.nothing" if os.path.isdir(one) else "/.empty"), root + one, None, BIND, None)
    call("mount", None, root, None, REMOUNT | RDONLY | NOSUID | NODEV, None)
    os.chdir(root)
    number = {"x86_64": 155, "aarch64": 41}[platform.machine()]
    call("syscall", number, ".", ".")  # pivot_root
    call("umount2", ".", 2)
    os.chdir("/")
    return scratch


def folders(path):
    """The folders that Python needs, none inside another: itself, its packages, the system's libraries."""
    wanted = {os.path.realpath(one) for one in path if os.path.isdir(one)}
    wanted |= {sys.prefix, os.path.realpath(sys.prefix), os.path.realpath(sys.base_prefix)}
    wanted |= {one for one in ("/usr/lib", "/usr/lib64", "/usr/share/fonts", "/lib", "/lib64", "/etc/fonts")
               if os.path.isdir(one) and not os.path.islink(one)}  # fmt: skip
    if os.path.realpath(sys.base_prefix) == "/usr":
        wanted.add("/usr/local/lib")
    wanted -= {"/", os.path.expanduser("~")}
    return sorted(
        one for one in wanted
        if os.path.isdir(one) and not any(one != other and one.startswith(other + "/") for other in wanted)
    )  # fmt: skip


def kept(target):
    """The flags of a mount that its copy must keep, if no privileges were given."""
    has, flags = os.statvfs(target).f_flag, 0
    for theirs, ours in ((8, NOEXEC), (1024, NOATIME), (2048, NODIRATIME), (4096, RELATIME)):
        flags |= ours if has & theirs else 0
    return flags


def landlock(hidden, path):
    """Without namespaces: only Python's folders can be read, and nothing can be written. False where Linux is older."""
    read, everything = 1 << 2 | 1 << 3, (1 << 13) - 1
    libc.syscall.restype = ctypes.c_long
    ruleset = libc.syscall(444, struct.pack("=Q", everything), ctypes.c_size_t(8), 0)
    if ruleset < 0:
        return False
    for one in readable(folders(path), hidden):
        try:
            folder = os.open(one, os.O_PATH | os.O_CLOEXEC)
        except OSError:
            continue
        allowed = read if os.path.isdir(one) else 1 << 2
        libc.syscall(445, ruleset, 1, struct.pack("=Qi", allowed, folder), 0)
        os.close(folder)
    done = libc.syscall(446, ruleset, 0) == 0
    os.close(ruleset)
    return done


def readable(allowed, hidden):
    """The folders and files to allow, so that those hidden are not: a rule counts for all that is beneath, and for a
    link it counts where that leads, as .venv/lib64 to .venv/lib."""
    for one in allowed:
        if one in hidden or os.path.islink(one):
            continue
        if any(other.startswith(one + "/") for other in hidden):
            yield from readable([os.path.join(one, name) for name in os.listdir(one)], hidden)
        else:
            yield one
