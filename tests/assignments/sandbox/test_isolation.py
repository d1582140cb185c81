"""Test each protection of the sandbox alone: hidden files, refused system calls, limits."""

import json
import os
import platform
import subprocess
import sys

import pytest

from assignments.grade.judge import LIMITS
from assignments.sandbox.system_calls import REFUSED
from tests.assignments.grading import error_of, linux, needs_sandbox, worker_reply
from tests.project.paths import ROOT


@linux
def test_files_and_processes_of_others_are_hidden(worker):
    source = f"""
import os, resource, sys
def succeeds(attempt):
    try: return bool(attempt())
    except Exception: return False

def one_bias(weights):
    root = {str(ROOT)!r}
    seen = [
        succeeds(lambda: os.listdir({worker.secret!r})),
        succeeds(lambda: open({worker.secret!r} + "/answer.txt").read()),
        succeeds(lambda: open(root + "/companion/check/questions/lstm/lstm_cell.py").read()),
        succeeds(lambda: open(root + "/companion/layers/lstm.py").read()),
        succeeds(lambda: open(root + "/assignments/grade/judge.py").read()),
        succeeds(lambda: open("/etc/passwd").read()),
        succeeds(lambda: os.listdir("/home")),
        succeeds(lambda: open("/proc/1/environ", "rb").read()),
        succeeds(lambda: os.listdir("/proc")),
        succeeds(lambda: open(torch.__path__[0] + "/_decomp/decompositions.py").read()),
        succeeds(lambda: open(torch.__path__[0] + "/written", "w")),
        succeeds(lambda: os.getuid() == 0),
        *(not 0 <= resource.getrlimit(getattr(resource, "RLIMIT_" + name))[1] <= most for name, most in
          (("CPU", 11), ("NOFILE", 64), ("CORE", 0), ("FSIZE", 2**26), ("AS", 2**38))),
        succeeds(lambda: set(os.environ) - {{
            "HOME", "TMPDIR", "PATH", "MPLBACKEND", "MPLCONFIGDIR", "TORCHINDUCTOR_CACHE_DIR",
        }}),
    ]
    raise ValueError(str([number for number, success in enumerate(seen) if success]))
"""
    kept = worker_reply(worker, "one_bias", [source])
    protections = json.loads(kept["said"].partition("\n")[0])
    assert "files" not in protections or error_of(kept)["text"] == "[]"
    if "processes" in protections:  # there are namespaces
        network = [os.readlink(f"/proc/{process}/ns/net") for process in ("self", worker.pid)]
        assert network[0] != network[1]


PREAMBLE = """
import os, socket, sys
from assignments.sandbox import isolation, system_calls, visible_files
system_calls.call("prctl", system_calls.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
def refused(*calls):
    for number, call in enumerate(calls):
        try:
            call()
            print(number, "is not refused")
        except PermissionError:
            pass
"""


def run_alone(source, *arguments):
    """Return the output of a process that sandboxes itself."""
    command = [sys.executable, "-c", PREAMBLE + source, *map(str, arguments)]
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


@needs_sandbox
def test_the_filter_alone_refuses_system_calls():
    assert (
        run_alone("""
assert system_calls.refuse_calls(True)
refused(socket.socket, socket.socketpair, os.fork, lambda: os.execv("/bin/true", ["true"]), lambda: os.kill(os.getpid(), 0),
        isolation.end_with_parent)
system_calls.libc.syscall(448, -1, 0)  # newer than the list
assert system_calls.ctypes.get_errno() == system_calls.errno.ENOSYS
""")  # noqa: E501
        == ""
    )


@needs_sandbox
def test_the_filter_lets_owners_only_read_their_files(tmp_path):
    """Check the changes that a file's owner may make and that Landlock does not see."""
    (tmp_path / "library.py").write_text("answer = 42")
    before = (tmp_path / "library.py").stat()
    assert (
        run_alone(
            """
path = sys.argv[1] + "/library.py"
assert system_calls.refuse_calls(False)
file = os.open(path, os.O_RDONLY)
refused(lambda: os.open(path, os.O_RDONLY | os.O_TRUNC), lambda: os.fchmod(file, 0), lambda: os.utime(path),
        lambda: os.chown(path, -1, os.getgid()), lambda: os.setxattr(path, "user.mark", b"1"),
        lambda: __import__("fcntl").ioctl(file, 0x80086601, bytes(8)))  # FS_IOC_GETFLAGS
""",
            tmp_path,
        )
        == ""
    )
    after = (tmp_path / "library.py").stat()
    assert (after.st_size, after.st_mode, after.st_mtime_ns) == (11, before.st_mode, before.st_mtime_ns)


@needs_sandbox
def test_without_namespaces_landlock_hides_the_files(tmp_path):
    for name in ("seen", "hidden", "outside"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "answer.txt").write_text("42")
    (tmp_path / "hidden").rename(tmp_path / "seen/hidden")
    (tmp_path / "seen/link").symlink_to(tmp_path / "seen/hidden")
    assert (
        run_alone(
            """
root = sys.argv[1]
if visible_files.landlock([root + "/seen/hidden"], [root + "/seen"]):
    print(open(root + "/seen/answer.txt").read())
    refused(*[lambda name=name: open(root + name) for name in ("/seen/hidden/answer.txt", "/seen/link/answer.txt", "/outside/answer.txt")],
            lambda: open(root + "/seen/new", "w"), lambda: open("/etc/passwd"))
else:  # an older Linux
    print(42)
""",  # noqa: E501
            tmp_path,
        )
        == "42\n"
    )


# Numbers on x86-64. Without a filter these calls fail or do nothing.
CALLS = {
    "execve": 59, "execveat": 322, "socket": 41, "socketpair": 53, "connect": 42, "bind": 49, "ptrace": 101,
    "process_vm_readv": 310, "process_vm_writev": 311, "pidfd_open": 434, "pidfd_getfd": 438, "kcmp": 312, "kill": 62,
    "tkill": 200, "tgkill": 234, "rt_sigqueueinfo": 129, "pidfd_send_signal": 424, "truncate": 76, "chmod": 90,
    "fchmodat": 268, "setpgid": 109, "unshare": 272, "setns": 308, "io_uring_setup": 425, "io_uring_enter": 426,
    "add_key": 248, "request_key": 249, "keyctl": 250, "memfd_create": 319, "shmget": 29, "semget": 64, "msgget": 68,
    "mq_open": 240, "name_to_handle_at": 303, "personality": 135, "quotactl": 179, "inotify_init1": 294,
    "timer_create": 222, "setpriority": 141, "sched_setattr": 314, "sched_setaffinity": 203, "memfd_secret": 447,
    "bpf": 321,
    "perf_event_open": 298, "userfaultfd": 323, "mount": 165, "chroot": 161, "pivot_root": 155, "inotify_init": 253,
    "fanotify_init": 300, "fsopen": 430, "open_tree": 428, "quotactl_fd": 443, "kexec_load": 246, "statmount": 457,
    "listmount": 458, "open_tree_attr": 467, "file_setattr": 469, "process_mrelease": 448,
    "sync": 162, "syncfs": 306, "membarrier": 324, "modify_ldt": 154,
}  # fmt: skip
# Calls on no file: those that are ignored report success.
IGNORED_CALLS = {"fsync": 74, "fdatasync": 75, "msync": 26, "sync_file_range": 277, "fadvise64": 221, "readahead": 187}
CALL_EACH = f"""
import ctypes
libc = ctypes.CDLL(None, use_errno=True)
def errors(calls):
    return {{name: libc.syscall(number, -1, 1, 1, 0, 0) and ctypes.get_errno() for name, number in calls.items()}}
wrong = [name for name, number in errors({CALLS}).items() if number not in (1, 38)]
wrong += [name for name, number in errors({IGNORED_CALLS}).items() if number]
def gates(*a): raise ValueError(str(sorted(wrong)))
"""


@linux
@pytest.mark.skipif(platform.machine() != "x86_64", reason="the numbers are x86-64's")
def test_system_calls_are_refused(worker):
    assert error_of(worker_reply(worker, "gates", [CALL_EACH]))["text"] == "[]"
    assert all(len(pair) == 2 for pair in REFUSED.values())


SEARCH_FOR_PATHS = """
import gc, sys
texts = {{*sys.argv, *sys.orig_argv}}
frame = sys._getframe()
while frame:
    texts |= {{frame.f_code.co_filename, *(value for value in frame.f_locals.values() if type(value) is str)}}
    frame = frame.f_back
texts |= {{one for thing in gc.get_objects() for one in gc.get_referents(thing) if type(one) is str}}
parts = [part[::-1] for part in {parts}]  # reversed until now, so that the search does not find itself
def gates(*a):
    found = [part for part in parts if any(part in text for text in texts)]
    raise ValueError(str([len(texts) > 10**4, any(text.endswith("/torch/__init__.py") for text in texts), found])[::-1])
"""


@linux
def test_a_process_does_not_know_where_the_grader_and_submissions_are(worker):
    """Check arguments, frames and all texts; the answer reverses them, as the judge removes folders from messages."""
    parts = [f"{ROOT}/assignments", f"{ROOT}/companion", worker.secret]
    source = SEARCH_FOR_PATHS.format(parts=[part[::-1] for part in parts])
    assert error_of(worker_reply(worker, "gates", [source], limits=LIMITS))["text"][::-1] == "[True, True, []]"


@linux
def test_a_grading_process_has_a_memory_limit():
    command = (
        "from assignments.sandbox import limits; limits.limit_own_memory(100); bytearray(50 << 20); print(1);"
        " bytearray(200 << 20)"
    )
    done = subprocess.run([sys.executable, "-c", command], capture_output=True, text=True, cwd=ROOT)
    assert done.stdout == "1\n" and done.stderr.endswith("MemoryError\n")
