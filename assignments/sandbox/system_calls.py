"""Call the C library, and install the system call filter (seccomp) for a student's process."""

import ctypes
import errno
import os
import platform
import struct
import sys

LINUX = sys.platform == "linux"
PR_SET_PDEATHSIG, PR_SET_SECCOMP, PR_SET_NO_NEW_PRIVS, PR_SET_DUMPABLE = 1, 22, 38, 4

libc = ctypes.CDLL(None, use_errno=True) if LINUX else None


def call(name, *arguments):
    """Call a function of the C library; raise OSError if it fails."""
    converted = [value.encode() if isinstance(value, str) else value for value in arguments]
    converted = [ctypes.c_ulong(value) if isinstance(value, int) else value for value in converted]
    if getattr(libc, name)(*converted) < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{name}: {os.strerror(number)}")


# System calls that the filter refuses, among them those that Landlock does not check: their numbers on x86-64 and
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
    "sync": (162, 81), "syncfs": (306, 267), "membarrier": (324, 283), "modify_ldt": (154, None),
}  # fmt: skip
# System calls that do nothing and report success: honest programs make them after they save a file, but on a file that
# others use, too, they would keep its disk busy or empty its cache.
IGNORED = {
    "fsync": (74, 82), "fdatasync": (75, 83), "msync": (26, 227), "sync_file_range": (277, 84),
    "fadvise64": (221, 223), "readahead": (187, 213),
}  # fmt: skip
FIRST_UNKNOWN = 448  # calls from this number on are newer than this list; they fail with ENOSYS
# By machine: its column in REFUSED, its architecture's code, and the numbers of the calls that depend on arguments.
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
    """Install a seccomp filter that fails refused calls with EPERM; return False on an unknown machine.

    Ignored calls return 0.

    mounted: all visible files are the process's own or read-only, so O_TRUNC may pass.
    """
    if platform.machine() not in MACHINES:
        return False
    column, architecture, checked = MACHINES[platform.machine()]
    numbers = [pair[column] for pair in REFUSED.values() if pair[column] is not None]
    # BPF: load a word, jump (if equal, at least, any of these bits), mask the word, return
    load, equal, at_least, test, mask, give = 0x20, 0x15, 0x35, 0x45, 0x54, 0x06
    kill, allow, refuse = 0x80000000, 0x7FFF0000, 0x50000
    steps = [(load, 0, 0, 4), (equal, 1, 0, architecture), (give, 0, 0, kill), (load, 0, 0, 0)]
    steps += [(at_least, 0, 1, 0x40000000), (give, 0, 0, refuse | errno.EPERM)]  # the numbers of the x32 ABI
    # no filter can read the flags of clone3 and openat2; after ENOSYS the C library tries clone and openat
    for number in (435, 437):
        steps += [(equal, 0, 1, number), (give, 0, 0, refuse | errno.ENOSYS)]
    steps += [(at_least, 0, 1, FIRST_UNKNOWN), (give, 0, 0, refuse | errno.ENOSYS)]
    for number in numbers:
        steps += [(equal, 0, 1, number), (give, 0, 0, refuse | errno.EPERM)]
    for pair in IGNORED.values():
        steps += [(equal, 0, 1, pair[column]), (give, 0, 0, refuse)]
    # clone may start threads (CLONE_THREAD), no processes
    steps += [(equal, 0, 4, checked["clone"]), (load, 0, 0, 16), (test, 1, 0, 0x10000),
              (give, 0, 0, refuse | errno.EPERM), (give, 0, 0, allow)]  # fmt: skip
    # only this process's own limits, since a limit could kill another process; and no file may send signals to another
    # process: F_SETOWN (8), F_SETSIG (10), F_SETOWN_EX (15)
    steps += [(equal, 0, 4, checked["prlimit64"]), (load, 0, 0, 16), (equal, 0, 1, 0), (give, 0, 0, allow),
              (give, 0, 0, refuse | errno.EPERM)]  # fmt: skip
    steps += [(equal, 0, 6, checked["fcntl"]), (load, 0, 0, 24), (equal, 2, 0, 8), (equal, 1, 0, 10), (equal, 0, 1, 15),
              (give, 0, 0, refuse | errno.EPERM), (give, 0, 0, allow)]  # fmt: skip
    # PR_SET_PDEATHSIG (1) stays as it is: the process ends with its parent
    steps += [(equal, 0, 4, checked["prctl"]), (load, 0, 0, 16), (equal, 0, 1, 1), (give, 0, 0, refuse | errno.EPERM),
              (give, 0, 0, allow)]  # fmt: skip
    # ioctl only for terminals and pipes: other requests let a file's owner change its flags
    steps += [(equal, 0, 5, checked["ioctl"]), (load, 0, 0, 24), (mask, 0, 0, 0xFF00), (equal, 1, 0, 0x5400),
              (give, 0, 0, refuse | errno.EPERM), (give, 0, 0, allow)]  # fmt: skip
    if not mounted:  # Landlock as it is set up here does not see O_TRUNC (0x200) in an open for reading
        for name, flags in (("open", 24), ("openat", 32)):
            if name in checked:
                steps += [(equal, 0, 4, checked[name]), (load, 0, 0, flags), (test, 0, 1, 0x200),
                          (give, 0, 0, refuse | errno.EACCES), (give, 0, 0, allow)]  # fmt: skip
    # No memory is both written and executed, so what is disabled in the libraries' code stays disabled ...
    executable, writable, anonymous, third, fourth = 4, 2, 0x20, 32, 40
    for name in ("mprotect", "pkey_mprotect"):
        steps += [(equal, 0, 4, checked[name]), (load, 0, 0, third), (test, 0, 1, executable),
                  (give, 0, 0, refuse | errno.EACCES), (give, 0, 0, allow)]  # fmt: skip
    # ... and is not reloaded from the file: madvise may give hints only (0 to 3, 8, 10 to 17), mremap is refused
    steps += [(equal, 0, 7, checked["madvise"]), (load, 0, 0, third), (at_least, 0, 4, 4), (equal, 3, 0, 8),
              (at_least, 0, 1, 10), (at_least, 0, 1, 18), (give, 0, 0, refuse | errno.EPERM),
              (give, 0, 0, allow)]  # fmt: skip
    steps += [(equal, 0, 6, checked["mmap"]), (load, 0, 0, third), (test, 0, 4, executable), (test, 2, 0, writable),
              (load, 0, 0, fourth), (test, 0, 1, anonymous), (give, 0, 0, refuse | errno.EACCES)]  # fmt: skip
    steps += [(give, 0, 0, allow)]
    program = b"".join(struct.pack("HBBI", *step) for step in steps)
    buffer = ctypes.create_string_buffer(program)
    filter_ = struct.pack("HxxxxxxP", len(steps), ctypes.addressof(buffer))
    return libc.prctl(PR_SET_SECCOMP, 2, ctypes.c_char_p(filter_), 0, 0) == 0
