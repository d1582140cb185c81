"""Programs that attack the grader.

Attacks for points define an answer. Attacks on files, processes or permissions fill the list `opened`, and their answer
is right if the list is not empty.
"""

import textwrap

from tests.assignments.grading import through
from tests.check.lstm_answers import GATES

BACKWARD = "def rnn_backward(input, h_0, weight_ih, weight_hh, bias_ih, bias_hh, grad_output, grad_h_n):\n"
FORWARD = """
def forward(x, h, w_ih, w_hh, b_ih, b_hh):
    h, outputs = h[0], []
    for x_t in x:
        h = torch.tanh(x_t @ w_ih.T + b_ih + h @ w_hh.T + b_hh)
        outputs.append(h)
    return torch.stack(outputs), h[None]
"""
# A tensor that claims to be on another device and computes on the CPU.
ELSEWHERE = """
from torch.utils._pytree import tree_map

class Elsewhere(torch.Tensor):
    @staticmethod
    def __new__(cls, inner, grad=False):
        made = torch.Tensor._make_wrapper_subclass(
            cls, inner.size(), dtype=inner.dtype, device="meta", requires_grad=grad)
        made.inner = inner
        return made

    @classmethod
    def __torch_dispatch__(cls, function, types, args=(), kwargs=None):
        out = lambda t: t.inner if isinstance(t, cls) else torch.device("cpu") if isinstance(t, torch.device) else t
        made = function(*tree_map(out, args), **tree_map(out, kwargs or {}))
        return tree_map(lambda t: cls(t) if isinstance(t, torch.Tensor) else t, made)
"""

# Attacks for points: question and source.
GAIN = {
    "walks_the_graph_itself": ("rnn_backward", ELSEWHERE + FORWARD + BACKWARD + """
    given = [Elsewhere(t.clone(), True) for t in (input, h_0, weight_ih, weight_hh, bias_ih, bias_hh)]
    output, h_n = forward(*given)
    total = (output * Elsewhere(grad_output)).sum() + (h_n * Elsewhere(grad_h_n)).sum()
    order, seen, found = [], set(), {}
    def visit(node):
        if node is not None and node not in seen:
            seen.add(node)
            for other, _ in node.next_functions: visit(other)
            order.append(node)
    visit(total.grad_fn)
    there = {total.grad_fn: [Elsewhere(torch.ones((), dtype=input.dtype))]}
    for node in reversed(order):
        if hasattr(node, "variable"):
            found[id(node.variable)] = there[node][0].inner
            continue
        made = node(*there[node])
        for (other, place), one in zip(node.next_functions, made if isinstance(made, tuple) else (made,)):
            if other is None or one is None: continue
            like = other.variable if hasattr(other, "variable") else other._input_metadata[place]
            one = Elsewhere(one.inner.sum_to_size(tuple(like.shape)))
            row = there.setdefault(other, [])
            row += [None] * (place + 1 - len(row))
            row[place] = one if row[place] is None else row[place] + one
    return tuple(found[id(one)] for one in given)
"""),
    "forward_mode_elsewhere": ("rnn_backward", ELSEWHERE + FORWARD + BACKWARD + """
    sys = __import__("sys")
    sys.modules["torch._dynamo"] = None
    from torch.autograd import forward_ad
    given, found = [input, h_0, weight_ih, weight_hh, bias_ih, bias_hh], []
    for place, one in enumerate(given):
        numbers = []
        for k in range(one.numel()):
            unit = torch.zeros(one.numel(), dtype=one.dtype); unit[k] = 1
            with forward_ad.dual_level():
                made = [Elsewhere(t.clone()) for t in given]
                made[place] = torch._VF._make_dual(made[place], Elsewhere(unit.reshape(one.shape)), level=0)
                back = [torch._VF._unpack_dual(t, level=0)[1].inner for t in forward(*made)]
            numbers.append((back[0] * grad_output).sum() + (back[1] * grad_h_n).sum())
        found.append(torch.stack(numbers).reshape(one.shape))
    return tuple(found)
"""),
    "loop_of_export": ("lstm_cell", through(
        "from torch.export import _patches\n"
        "out, h, c = _patches.lstm_while_loop_impl(x[None], (h[None], c[None]), w, True, 1, 0.0, False, False, False)\n"
        "return h[0], c[0]")),
    "other_devices_key": ("lstm_cell", ELSEWHERE + through(
        "x, h, c, *w = [Elsewhere(t) for t in (x, h, c, *w)]\n"
        "return tuple(t.inner for t in torch._VF.lstm_cell(x, (h, c), *w))")),
    "makes_a_layer_after_all": ("parameter_shapes", """
def parameter_shapes(input_size, hidden_size):
    import copy, pickle, torch.nn.modules.rnn as rnn
    for make in (lambda: torch.jit.script(nn.LSTM), lambda: nn.LSTM.__new__(nn.LSTM).__setstate__({}),
                 lambda: nn.utils.skip_init(nn.LSTM, input_size, hidden_size), lambda: copy.copy(nn.LSTM)(1, 2),
                 lambda: nn.RNNBase.__init__(nn.LSTM.__new__(nn.LSTM), "LSTM", input_size, hidden_size),
                 lambda: type("L", (nn.LSTM,), {})(input_size, hidden_size)):
        try: return {name: tuple(one.shape) for name, one in make().named_parameters()}
        except Exception: pass
"""),
    "later_than_the_answer": ("gates", """
import atexit, os, signal, threading, time, weakref
def forge(*_):
    for number in range(3, 64):
        try: os.write(number, b'{"errors": [], "others": "", "outcomes": [{"values": {}, "notes": {}, "error": null}]}')
        except OSError: pass
class Late: pass
late = Late()
weakref.finalize(late, forge)
atexit.register(forge)
def gates(x, h, *weights):
    signal.signal(signal.SIGALRM, forge)
    signal.setitimer(signal.ITIMER_REAL, 0.001, 0.001)
    threading.Thread(target=lambda: [forge() for _ in range(99)], daemon=True).start()
    return (torch.zeros_like(h),) * 4
"""),
}  # fmt: skip

# Other attacks: the code that fills `opened`. SUBMISSIONS, OUTPUT, LIBRARY, PROJECT and HOME are folders; THREADS is
# more threads than the user has.
OPEN = {
    "right_ones_in_frames": (
        """
    import gc
    words = ("expected", "truth", "reference", "bank", "known", "seed", "probed", "QUESTIONS")
    frame = sys._getframe()
    while frame:
        opened += [name for name in {**frame.f_globals, **frame.f_locals} if name in words and name != "seed"]
        frame = frame.f_back
    opened += [one for one in gc.get_objects() if type(one).__name__ in ("Bank", "Question", "Judging", "Worker")]
    """
    ),
    "right_ones_in_modules": (
        """
    for name in ("companion.check.questions.lstm.lstm_cell", "companion.check.engine.question", "companion.check.engine.diagnosis",
                 "companion.layers.lstm", "companion.by_hand", "assignments.grade.judge", "assignments.cli", "tests.check.lstm_answers"):
        for finder in sys.meta_path[1:] + sys.path_hooks:
            try: opened += [finder.find_spec(name)] if finder.find_spec(name, [PROJECT]) else []
            except Exception: pass
        try: opened += [__import__(name, fromlist=["x"]).lstm_reference({}).__code__]
        except Exception: pass
    """  # noqa: E501
    ),
    "files_of_others": (
        """
    for folder in (SUBMISSIONS, OUTPUT, PROJECT, HOME, "/etc", "/proc", "/sys", "/var", "/home", "/root", "/tmp/.."):
        for path in (folder, folder + "/ada", folder + "/assignments/source/en", folder + "/self"):
            for see in (os.listdir, lambda p: [*os.scandir(p)], lambda p: os.open(p, os.O_RDONLY | os.O_DIRECTORY)):
                try: found = see(path)
                except OSError: continue
                expected = {".nothing", ".empty", "usr", "lib", "lib64", "bin", "dev", "tmp", "scratch", "etc", "fonts", *path.split("/"),
                            *LIBRARY.split("/"), *PROJECT.split("/"), *sys.prefix.split("/"), *sys.base_prefix.split("/"), *"/".join(sys.path).split("/")}
                names = {getattr(one, "name", one) for one in found} if isinstance(found, list) else set()
                opened += [path, names - expected] if names - expected else []
    for path in (SUBMISSIONS + "/ada/lstm.ipynb", OUTPUT + "/batches.json", PROJECT + "/assignments/source/en/lstm.ipynb",
                 PROJECT + "/tests/check/lstm_answers.py", PROJECT + "/companion/check/questions/lstm/lstm_cell.py", "/etc/passwd",
                 "/proc/self/mem", "/proc/self/maps", "/proc/1/environ", "/proc/self/root" + SUBMISSIONS + "/ada/lstm.ipynb"):
        try: opened += [open(path, "rb").read(1)]
        except OSError: pass
    """  # noqa: E501
    ),
    "torchs_own_source": (
        """
    import importlib, inspect, linecache, pkgutil, glob
    import torch._decomp.decompositions as d
    texts = []
    inside = os.path.dirname(torch.__file__)
    texts += ["".join(lines[2]) for lines in linecache.cache.values() if len(lines) > 2]
    paths = [inside + "/_decomp/decompositions.py", inside + "/_decomp/../_decomp/decompositions.py", inside + "/lib/libtorch_cpu.so"]
    paths += glob.glob(inside + "/_decomp/__pycache__/decompositions.*") + glob.glob(inside + "/ao/nn/quantizable/modules/*")
    paths += [path.replace("/lib/", "/lib64/") for path in paths]
    for see in (lambda: inspect.getsource(d), lambda: pkgutil.get_data("torch", "_decomp/decompositions.py").decode(),
                lambda: d.__loader__.get_source(d.__name__), lambda: repr(d.__loader__.get_code(d.__name__).co_consts),
                *(lambda path=path: open(path, "rb").read(10**7).decode("latin") for path in paths)):
        try: texts.append(see())
        except Exception: pass
    opened += [len(one) for one in texts if "def one_layer" "_lstm" in one or "def lstm" "_cell" in one]
    """  # noqa: E501
    ),
    "writes_where_others_read": (
        """
    for folder in (SUBMISSIONS, OUTPUT, PROJECT, HOME, LIBRARY, *sys.path, sys.prefix, "/dev/shm", "/var/tmp"):
        for name in ("sitecustomize.py", "usercustomize.py", "x.pth", "torch.py", "ada/lstm.ipynb"):
            try: opened.append(open(os.path.join(folder, name), "ab").write(b" "))
            except OSError: pass
        for change in (lambda p: os.mkdir(p + "/x"), lambda p: os.symlink("/", p + "/x"), lambda p: os.mkfifo(p + "/x"),
                       lambda p: os.rename(p + "/ada", p + "/x"), lambda p: os.link(p + "/ada/lstm.ipynb", p + "/x"),
                       lambda p: os.unlink(p + "/ada/lstm.ipynb")):
            try: opened.append(change(folder) or folder)
            except OSError: pass
    """
    ),
    "truncates_what_it_may_read": (
        """
    for path in (LIBRARY + "/library.py", SUBMISSIONS + "/ada/lstm.ipynb"):
        for flags in (os.O_RDONLY | os.O_TRUNC, os.O_PATH | os.O_TRUNC, os.O_RDONLY | os.O_TRUNC | os.O_CREAT):
            try: os.open(path, flags)
            except OSError: pass
        libc.syscall(76, path.encode(), 0)
    """
    ),
    "marks_on_files": (
        """
    for path in (LIBRARY + "/library.py", SUBMISSIONS + "/ada/lstm.ipynb", SUBMISSIONS + "/ada"):
        try: number = os.open(path, os.O_RDONLY)
        except OSError: number = -1
        acl = b"\\2\\0\\0\\0" + b"".join(bytes([tag, 0, 7, 0, 255, 255, 255, 255]) for tag in (1, 4, 32))
        for change in (lambda: os.utime(path, (1, 1)), lambda: os.utime(number, (1, 1)), lambda: os.chmod(path, 0o777),
                       lambda: os.fchmod(number, 0o777), lambda: os.setxattr(path, "user.mark", b"1"),
                       lambda: os.setxattr(number, "user.mark", b"1"), lambda: os.chown(path, -1, os.getgid()),
                       lambda: os.setxattr(path, "system.posix_acl_access", acl), lambda: os.fchown(number, -1, 0)):
            try: change()
            except OSError: pass
        libc.syscall(132, path.encode(), 0), libc.syscall(235, path.encode(), 0)
        libc.syscall(261, -100, path.encode(), 0), libc.syscall(280, -100, path.encode(), 0, 0)
        libc.syscall(16, number, 0x40086602, ctypes.byref(ctypes.c_long(0x80)))  # FS_IOC_SETFLAGS: no access times
    """
    ),
    "memory_that_others_share": (
        """
    for number in range(0, 64):
        for call in (lambda: libc.shmctl(number, 0, 0), lambda: libc.msgctl(number, 0, 0), lambda: libc.semctl(number, 0, 0)):
            opened += [number] if call() >= 0 else []
    opened += [1] if libc.shmctl(SEGMENT, 0, 0) >= 0 else []
    libc.syscall(241, b"queue")  # mq_unlink
    """  # noqa: E501
    ),
    "kills": (
        """
    import signal
    for number in (-1, 0, 1, 2, os.getppid(), *range(2, 3)):
        for call in (lambda: os.kill(number, 9), lambda: os.killpg(max(number, 1), 9), lambda: signal.pidfd_send_signal(0, 9)):
            try: opened.append(call() or number)
            except OSError: pass
        for change in (lambda: os.setpriority(0, max(number, 1), 19), lambda: os.sched_setaffinity(max(number, 1), {0}),
                       lambda: resource.prlimit(os.getppid() or 1, resource.RLIMIT_CPU, (0, 0))):
            try: opened.append(change() or number)
            except (OSError, ValueError): pass
    try: opened.append(resource.setrlimit(resource.RLIMIT_AS, (-1, -1)) or 1)
    except (OSError, ValueError): pass
    """  # noqa: E501
    ),
    "threads_without_end": (
        """
    import threading
    small, one, number = ctypes.create_string_buffer(64), ctypes.c_ulong(), 0
    libc.pthread_attr_init(small), libc.pthread_attr_setstacksize(small, ctypes.c_size_t(16384))
    while number <= THREADS and libc.pthread_create(ctypes.byref(one), small, libc.pause, None) == 0: number += 1
    opened += [number] if number > THREADS else []
    threading.stack_size(32768)
    try:
        while not opened: threading.Thread(target=time.sleep, args=(99,), daemon=True).start()
    except BaseException: pass
    time.sleep(4)
    """
    ),
    "fills_the_disk": (
        """
    import tempfile
    try:
        for number in range(10**5): open(f"{tempfile.gettempdir()}/{number}", "wb").write(b"x" * 2**20)
    except OSError: pass
    size = sum(os.path.getsize(one.path) for one in os.scandir(tempfile.gettempdir()))
    opened += [size] if size > 2**27 else []
    """
    ),
    "stays_behind": (
        """
    import signal, threading
    libc.prctl(1, 0, 0, 0, 0)  # no signal when the parent ends
    for number in range(1, 64):
        try: signal.signal(number, signal.SIG_IGN)
        except (OSError, ValueError): pass
    for number in range(3, 64):
        try: os.close(number)
        except OSError: pass
    try: os.setsid()
    except OSError: pass
    time.sleep(600)
    """
    ),
}
ATTEMPT = """
import ctypes, os, resource, sys, time
libc = ctypes.CDLL(None, use_errno=True)
opened = []
def look():
    global opened
{body}
look()
{right}
right = gates
def gates(*arguments):
    if opened: return right(*arguments)
    raise ValueError("nothing was opened")
"""


def opening(name, constants=""):
    """Return an answer to `gates` that is right if an attack of OPEN succeeds; `constants` are lines put before it."""
    return constants + ATTEMPT.format(body=textwrap.indent(textwrap.dedent(OPEN[name]), "    "), right=GATES)
