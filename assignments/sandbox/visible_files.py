"""Hide all files that Python does not need, with mounts or, where there are no namespaces, with Landlock."""

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
    """Move to a new root folder that shows only Python's folders, read-only; return the folder for temporary files."""
    call("mount", "none", "/", None, REC | PRIVATE, None)
    root = tempfile.mkdtemp()
    call("mount", "tmpfs", root, "tmpfs", NOSUID | NODEV, "size=4m,mode=755")
    for folder in python_folders(path):
        target = root + folder
        os.makedirs(target, exist_ok=True)
        call("mount", folder, target, None, BIND | REC, None)
        call("mount", None, target, None, BIND | REMOUNT | RDONLY | NOSUID | NODEV | inherited_flags(target), None)
    for link in ("/lib", "/lib64", "/bin"):
        if os.path.islink(link) and not os.path.lexists(root + link):
            os.symlink(os.readlink(link), root + link)
    os.makedirs(root + "/dev")
    for device in ("null", "zero", "random", "urandom"):
        open(f"{root}/dev/{device}", "w").close()
        call("mount", f"/dev/{device}", f"{root}/dev/{device}", None, BIND, None)
    # `Sandbox.restrict` mounts an empty disk here
    scratch = "/scratch" if os.path.isdir(root + "/tmp") else "/tmp"
    os.makedirs(root + scratch)
    os.makedirs(root + "/.nothing")
    open(root + "/.empty", "w").close()
    for file in hidden:
        if os.path.exists(root + file):
            call("mount", root + ("/.nothing" if os.path.isdir(file) else "/.empty"), root + file, None, BIND, None)
    call("mount", None, root, None, REMOUNT | RDONLY | NOSUID | NODEV, None)
    os.chdir(root)
    number = {"x86_64": 155, "aarch64": 41}[platform.machine()]
    call("syscall", number, ".", ".")  # pivot_root
    call("umount2", ".", 2)
    os.chdir("/")
    return scratch


def python_folders(path):
    """Return the folders that Python needs, none inside another: Python, its packages, the system's libraries."""
    wanted = {os.path.realpath(folder) for folder in path if os.path.isdir(folder)}
    wanted |= {sys.prefix, os.path.realpath(sys.prefix), os.path.realpath(sys.base_prefix)}
    wanted |= {folder for folder in ("/usr/lib", "/usr/lib64", "/usr/share/fonts", "/lib", "/lib64", "/etc/fonts")
               if os.path.isdir(folder) and not os.path.islink(folder)}  # fmt: skip
    if os.path.realpath(sys.base_prefix) == "/usr":
        wanted.add("/usr/local/lib")
    wanted -= {"/", os.path.expanduser("~")}
    return sorted(
        folder for folder in wanted
        if os.path.isdir(folder) and not any(folder != other and folder.startswith(other + "/") for other in wanted)
    )  # fmt: skip


def inherited_flags(target):
    """Return the flags that an unprivileged process must keep when it remounts `target`."""
    current, flags = os.statvfs(target).f_flag, 0
    for statvfs_flag, mount_flag in ((8, NOEXEC), (1024, NOATIME), (2048, NODIRATIME), (4096, RELATIME)):
        flags |= mount_flag if current & statvfs_flag else 0
    return flags


def landlock(hidden, path):
    """Allow this process to read Python's folders and write nothing; return False if Linux has no Landlock."""
    read, everything = 1 << 2 | 1 << 3, (1 << 13) - 1
    libc.syscall.restype = ctypes.c_long
    ruleset = libc.syscall(444, struct.pack("=Q", everything), ctypes.c_size_t(8), 0)
    if ruleset < 0:
        return False
    for file in readable(python_folders(path), hidden):
        try:
            descriptor = os.open(file, os.O_PATH | os.O_CLOEXEC)
        except OSError:
            continue
        allowed = read if os.path.isdir(file) else 1 << 2
        libc.syscall(445, ruleset, 1, struct.pack("=Qi", allowed, descriptor), 0)
        os.close(descriptor)
    restricted = libc.syscall(446, ruleset, 0) == 0
    os.close(ruleset)
    return restricted


def readable(allowed, hidden):
    """Yield the folders and files to allow so that the hidden ones stay hidden.

    A rule covers everything below a folder, and for a link its target (.venv/lib64 is a link to .venv/lib).
    """
    for file in allowed:
        if file in hidden or os.path.islink(file):
            continue
        if any(other.startswith(file + "/") for other in hidden):
            yield from readable([os.path.join(file, name) for name in os.listdir(file)], hidden)
        else:
            yield file
