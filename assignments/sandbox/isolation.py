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
import ctypes
import errno
import os
import platform
import re
import struct
import sys
import tempfile
from pathlib import Path

try:
    import resource
except ImportError:  # Windows
    resource = None

LINUX = sys.platform == "linux"
NOBODY = 65534
MB = 2**20

NEWNS, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET = 0x20000, 0x4000000, 0x8000000, 0x10000000, 0x20000000, 0x40000000
RDONLY, NOSUID, NODEV, NOEXEC, REMOUNT, BIND, REC, PRIVATE = 1, 2, 4, 8, 32, 4096, 16384, 1 << 18
NOATIME, NODIRATIME, RELATIME = 1024, 2048, 1 << 21
PR_SET_PDEATHSIG, PR_SET_SECCOMP, PR_SET_NO_NEW_PRIVS, PR_SET_DUMPABLE = 1, 22, 38, 4

libc = ctypes.CDLL(None, use_errno=True) if LINUX else None


def call(name, *arguments):
    """A function of the C library; OSError if it says no."""
    made = [one.encode() if isinstance(one, str) else one for one in arguments]
    made = [ctypes.c_ulong(one) if isinstance(one, int) else one for one in made]
    if getattr(libc, name)(*made) < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{name}: {os.strerror(number)}")


# The files that are there


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

    def threads(self):
        """How many a student's code may have. The system counts them with all processes of the user, whose limit is the
        grader's, too: nobody has few, as a user has in a namespace of users of their own. Linux counts so since
        5.14."""
        if os.geteuid() == 0 or self.spaces and release() >= (5, 14):
            return THREADS
        most, _ = resource.getrlimit(resource.RLIMIT_NPROC)
        return STARTED_THREADS + (THREADS if most < 0 else max(0, min(THREADS, (most - STARTED_THREADS) // 2)))

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
        if resource:
            limit(limits | {"threads": self.threads()})
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


# Limits and rights


def limit(limits):
    """Of processor seconds, of memory beyond what torch has, of files."""
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
        wanted["RLIMIT_NPROC"] = (limits["threads"],) * 2
    for name, pair in wanted.items():
        if hasattr(resource, name):
            with contextlib.suppress(OSError, ValueError):  # macOS refuses some
                resource.setrlimit(getattr(resource, name), pair)


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


THREADS = 64
STARTED = STARTED_THREADS = 0


def remember():
    """What is in use before any student's code has run."""
    global STARTED, STARTED_THREADS
    try:
        STARTED, STARTED_THREADS = read_pages(), threads_in_use()
    except OSError:
        STARTED = 8 * 2**30


def drop_capabilities():
    header = struct.pack("Ii", 0x20080522, 0)
    libc.capset(header, b"\0" * 24)


# System calls that a student's program is refused, also those that Landlock does not see: by number on x86-64 and
# arm64, None where there is none.
REFUSED = {
    "execve": (59, 221), "execveat": (322, 281), "fork": (57, None), "vfork": (58, None),
    "socket": (41, 198), "socketpair": (53, 199), "connect": (42, 203), "bind": (49, 200),
    "ptrace": (101, 117), "process_vm_readv": (310, 270), "process_vm_writev": (311, 271), "pidfd_open": (434, 434),
    "pidfd_getfd": (438, 438), "kcmp": (312, 272),
    "kill": (62, 129), "tkill": (200, 130), "tgkill": (234, 131), "rt_sigqueueinfo": (129, 138),
    "rt_tgsigqueueinfo": (297, 240), "pidfd_send_signal": (424, 424),
    "truncate": (76, 45), "creat": (85, None), "chmod": (90, None), "fchmod": (91, 52), "fchmodat": (268, 53),
    "chown": (92, None), "fchown": (93, 55), "lchown": (94, None), "fchownat": (260, 54), "utime": (132, None),
    "utimes": (235, None), "futimesat": (261, None), "utimensat": (280, 88), "setxattr": (188, 5), "lsetxattr": (189,
    6),
    "fsetxattr": (190, 7), "removexattr": (197, 14), "lremovexattr": (198, 15), "fremovexattr": (199, 16),
    "setpgid": (109, 154), "setsid": (112, 157),
    "mount": (165, 40), "umount2": (166, 39), "pivot_root": (155, 41), "chroot": (161, 51), "unshare": (272, 97),
    "setns": (308, 268), "open_tree": (428, 428), "move_mount": (429, 429), "fsopen": (430, 430),
    "fsmount": (432, 432), "mount_setattr": (442, 442),
    "process_madvise": (440, 440), "remap_file_pages": (216, 234), "mremap": (25, 216),
    "bpf": (321, 280), "perf_event_open": (298, 241), "userfaultfd": (323, 282),
    "io_uring_setup": (425, 425), "io_uring_enter": (426, 426), "io_uring_register": (427, 427),
    "add_key": (248, 217), "request_key": (249, 218), "keyctl": (250, 219),
    "memfd_create": (319, 279), "memfd_secret": (447, 447),
    "shmget": (29, 194), "shmat": (30, 196), "shmctl": (31, 195), "semget": (64, 190), "semop": (65, 193),
    "semctl": (66, 191), "semtimedop": (220, 192), "msgget": (68, 186), "msgsnd": (69, 189), "msgrcv": (70, 188),
    "msgctl": (71, 187), "mq_open": (240, 180), "mq_unlink": (241, 181),
    "open_by_handle_at": (304, 265), "name_to_handle_at": (303, 264),
    "init_module": (175, 105), "finit_module": (313, 273), "delete_module": (176, 106), "kexec_load": (246, 104),
    "reboot": (169, 142), "swapon": (167, 224), "personality": (135, 92), "setuid": (105, 146),
    "quotactl": (179, 60), "acct": (163, 89), "settimeofday": (164, 170), "sethostname": (170, 161),
    "inotify_init": (253, None), "inotify_init1": (294, 26), "quotactl_fd": (443, 443), "fanotify_init": (300, 262),
    "timer_create": (222, 107), "setpriority": (141, 140),
    "sched_setattr": (314, 274), "sched_setaffinity": (203, 122), "sched_setscheduler": (144, 119),
    "sched_setparam": (142, 118), "ioprio_set": (251, 30), "migrate_pages": (256, 238), "move_pages": (279, 239),
}  # fmt: skip
NEWEST = 448  # from this number on there are calls that are younger than this list, and as if there were none
# Column above, architecture, and by number what depends on arguments.
MACHINES = {
    "x86_64": (
        0,
        0xC000003E,
        {
            "clone": 56,
            "mmap": 9,
            "mprotect": 10,
            "pkey_mprotect": 329,
            "madvise": 28,
            "prlimit64": 302,
            "fcntl": 72,
            "prctl": 157,
            "ioctl": 16,
            "open": 2,
            "openat": 257,
        },
    ),
    "aarch64": (
        1,
        0xC00000B7,
        {
            "clone": 220,
            "mmap": 222,
            "mprotect": 226,
            "pkey_mprotect": 288,
            "madvise": 233,
            "prlimit64": 261,
            "fcntl": 25,
            "prctl": 167,
            "ioctl": 29,
            "openat": 56,
        },
    ),
}


def refuse_calls(mounted):
    """A filter in the kernel. False where the machine is another. Refused is answered as if it were not permitted.

    mounted: whether all files are the process's own or read-only, so that it may empty what it can open."""
    if platform.machine() not in MACHINES:
        return False
    column, architecture, some = MACHINES[platform.machine()]
    numbers = [pair[column] for pair in REFUSED.values() if pair[column] is not None]
    load, equal, at_least, test, mask, give = 0x20, 0x15, 0x35, 0x45, 0x54, 0x06
    kill, allow, refuse = 0x80000000, 0x7FFF0000, 0x50000
    steps = [(load, 0, 0, 4), (equal, 1, 0, architecture), (give, 0, 0, kill), (load, 0, 0, 0)]
    steps += [(at_least, 0, 1, 0x40000000), (give, 0, 0, refuse | errno.EPERM)]  # x86-64's other set of numbers
    # the C library asks clone3 for a thread first, whose flags no filter can read, and then clone; openat2 is alike
    for number in (435, 437):
        steps += [(equal, 0, 1, number), (give, 0, 0, refuse | errno.ENOSYS)]
    steps += [(at_least, 0, 1, NEWEST), (give, 0, 0, refuse | errno.ENOSYS)]
    for number in numbers:
        steps += [(equal, 0, 1, number), (give, 0, 0, refuse | errno.EPERM)]
    # threads may be, processes may not
    steps += [(equal, 0, 4, some["clone"]), (load, 0, 0, 16), (test, 1, 0, 0x10000), (give, 0, 0, refuse | errno.EPERM),
              (give, 0, 0, allow)]  # fmt: skip
    # limits of this process only, else they would end others; and no file's signals are sent to another (F_SETOWN,
    # which is 8, F_SETSIG, F_SETOWN_EX)
    steps += [(equal, 0, 4, some["prlimit64"]), (load, 0, 0, 16), (equal, 0, 1, 0), (give, 0, 0, allow),
              (give, 0, 0, refuse | errno.EPERM)]  # fmt: skip
    steps += [(equal, 0, 6, some["fcntl"]), (load, 0, 0, 24), (equal, 2, 0, 8), (equal, 1, 0, 10), (equal, 0, 1, 15),
              (give, 0, 0, refuse | errno.EPERM), (give, 0, 0, allow)]  # fmt: skip
    # it ends with its parent (1 is PR_SET_PDEATHSIG)
    steps += [(equal, 0, 4, some["prctl"]), (load, 0, 0, 16), (equal, 0, 1, 1), (give, 0, 0, refuse | errno.EPERM),
              (give, 0, 0, allow)]  # fmt: skip
    # of files nothing but what terminals and pipes are asked: else their owner may mark them
    steps += [(equal, 0, 5, some["ioctl"]), (load, 0, 0, 24), (mask, 0, 0, 0xFF00), (equal, 1, 0, 0x5400),
              (give, 0, 0, refuse | errno.EPERM), (give, 0, 0, allow)]  # fmt: skip
    if not mounted:  # to open for reading and yet truncate (0x200) is no writing to Landlock, as it is asked here
        for name, flags in (("open", 24), ("openat", 32)):
            if name in some:
                steps += [(equal, 0, 4, some[name]), (load, 0, 0, flags), (test, 0, 1, 0x200),
                          (give, 0, 0, refuse | errno.EACCES), (give, 0, 0, allow)]  # fmt: skip
    # Code comes from files alone, and is not written: what is shut in the libraries' code stays shut.
    executable, writable, anonymous, third, fourth = 4, 2, 0x20, 32, 40
    for name in ("mprotect", "pkey_mprotect"):
        steps += [(equal, 0, 4, some[name]), (load, 0, 0, third), (test, 0, 1, executable),
                  (give, 0, 0, refuse | errno.EACCES), (give, 0, 0, allow)]  # fmt: skip
    # and never taken from the file again, as `mremap` would: about memory only hints may pass (0 to 3, 8, 10 to 17)
    steps += [(equal, 0, 7, some["madvise"]), (load, 0, 0, third), (at_least, 0, 4, 4), (equal, 3, 0, 8),
              (at_least, 0, 1, 10), (at_least, 0, 1, 18), (give, 0, 0, refuse | errno.EPERM),
              (give, 0, 0, allow)]  # fmt: skip
    steps += [(equal, 0, 6, some["mmap"]), (load, 0, 0, third), (test, 0, 4, executable), (test, 2, 0, writable),
              (load, 0, 0, fourth), (test, 0, 1, anonymous), (give, 0, 0, refuse | errno.EACCES)]  # fmt: skip
    steps += [(give, 0, 0, allow)]
    program = b"".join(struct.pack("HBBI", *step) for step in steps)
    buffer = ctypes.create_string_buffer(program)
    filter_ = struct.pack("HxxxxxxP", len(steps), ctypes.addressof(buffer))
    return libc.prctl(PR_SET_SECCOMP, 2, ctypes.c_char_p(filter_), 0, 0) == 0
