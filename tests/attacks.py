"""The attacks of test_attacks_forty.py that are code. What is after points defines the answer. What is after a file, a
process or a right fills the list `opened`, and the answer is right if there is something in it."""

BACKWARD = "def rnn_backward(input, h_0, weight_ih, weight_hh, bias_ih, bias_hh, grad_output, grad_h_n):\n"
FORWARD = """
def forward(x, h, w_ih, w_hh, b_ih, b_hh):
    h, outputs = h[0], []
    for x_t in x:
        h = torch.tanh(x_t @ w_ih.T + b_ih + h @ w_hh.T + b_hh)
        outputs.append(h)
    return torch.stack(outputs), h[None]
"""
# A tensor that says it is on another device, and computes on this one.
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
LAYER = """
def LSTMCell_by(run):
    class LSTMCell(nn.LSTMCell):
        def forward(self, x, state=None):
            h, c = state or (x.new_zeros(len(x), self.hidden_size),) * 2
            return run(x, h, c, self.weight_ih, self.weight_hh, self.bias_ih, self.bias_hh)
    return LSTMCell
"""

# After points: question and source.
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
    "functorch_by_its_levels": ("rnn_backward", FORWARD + BACKWARD + """
    from torch._C import _functorch as f
    given = [input, h_0, weight_ih, weight_hh, bias_ih, bias_hh]
    level = f._grad_increment_nesting()
    made = [f._wrap_for_grad(t, level) for t in given]
    for one in made: one.requires_grad_()
    output, h_n = forward(*made)
    total = f._unwrap_for_grad((output * grad_output).sum() + (h_n * grad_h_n).sum(), level)
    return torch._C._EngineBase.run_backward(
        torch._C._EngineBase(), (total,), (torch.ones_like(total),), False, False, tuple(made), True)
"""),
    "autodiff_of_the_compiler": ("rnn_backward", FORWARD + BACKWARD + """
    given = (input, h_0, weight_ih, weight_hh, bias_ih, bias_hh)
    graph = torch.jit.trace(forward, given, check_trace=False).graph
    torch._C._jit_pass_inline(graph)
    torch._C._jit_pass_create_autodiff_subgraphs(graph)
    made = [t.detach().requires_grad_() for t in given]
    output, h_n = torch._C._create_function_from_graph("f", graph)(*made)
    return torch._C._EngineBase().run_backward((output, h_n), (grad_output, grad_h_n), False, False, tuple(made), True)
"""),
    "loop_of_export": ("lstm_cell", LAYER + """
def run(x, h, c, *weights):
    from torch.export import _patches
    out, h, c = _patches.lstm_while_loop_impl(x[None], (h[None], c[None]), weights, True, 1, 0.0, False, False, False)
    return h[0], c[0]
LSTMCell = LSTMCell_by(run)
"""),
    "decompositions_table": ("lstm_cell", LAYER + """
def run(x, h, c, *weights):
    import torch._decomp as d
    import torch._inductor.decomposition
    tables = [d.global_decomposition_table[one] for one in ("post_autograd", "pre_autograd", "meta")]
    for table in [*tables, torch._inductor.decomposition.decompositions, d.core_aten_decompositions()]:
        for op in (torch.ops.aten.lstm_cell.default, torch.ops.aten.lstm.input):
            try: return table[op](x, (h, c), *weights)
            except Exception: pass
    return torch.ops.aten.lstm_cell.default.decompose(x, (h, c), *weights)
LSTMCell = LSTMCell_by(run)
"""),
    "traced_and_run": ("lstm_cell", LAYER + """
def run(x, h, c, *weights):
    from torch.fx.experimental.proxy_tensor import make_fx
    f = lambda x, h, c, *w: torch._VF.lstm_cell(x, (h, c), *w)
    for way in ("real", "fake", "symbolic"):
        for table in ({}, torch._decomp.decomposition_table):
            try: return make_fx(f, table, way)(x, h, c, *weights)(x, h, c, *weights)
            except Exception: pass
    raise ValueError("shut")
LSTMCell = LSTMCell_by(run)
"""),
    "script_from_a_buffer": ("lstm_cell", LAYER + """
def run(x, h, c, *weights):
    import io
    file = io.BytesIO()
    torch.jit.save(torch.jit.script(nn.LSTMCell(x.shape[1], h.shape[1]).to(x.dtype)), file)
    file.seek(0)
    layer = torch.jit.freeze(torch.jit.load(file).eval())
    return layer(x, (h, c))
LSTMCell = LSTMCell_by(run)
"""),
    "every_dispatch_key": ("lstm_cell", LAYER + """
def run(x, h, c, *weights):
    op = torch.ops.aten.lstm_cell.default
    for name, key in torch._C.DispatchKey.__members__.items():
        for call in (lambda: op.redispatch(torch._C.DispatchKeySet(key), x, (h, c), *weights),
                     lambda: op._op_dk(key, x, (h, c), *weights), lambda: op.py_kernels[key](x, (h, c), *weights)):
            try: return call()
            except Exception: pass
    raise ValueError("shut")
LSTMCell = LSTMCell_by(run)
"""),
    "other_devices_key": ("lstm_cell", ELSEWHERE + LAYER + """
def run(x, h, c, *weights):
    for device in ("meta", "cuda", "mps", "xpu", "privateuseone", "hpu", "vulkan", "xla"):
        Elsewhere.where = device
        try:
            x, h, c, *weights = [Elsewhere(t) for t in (x, h, c, *weights)]
            return tuple(t.inner for t in torch._VF.lstm_cell(x, (h, c), *weights))
        except Exception: pass
    raise ValueError("shut")
LSTMCell = LSTMCell_by(run)
"""),
    "takes_the_handles_back": ("lstm_cell", LAYER + """
def run(x, h, c, *weights):
    import gc, torch.library
    for one in gc.get_objects():
        if type(one).__name__ in ("_DispatchModule", "Library"):
            for name in ("reset", "_destroy"):
                getattr(one, name, lambda: None)()
    return torch._VF.lstm_cell(x, (h, c), *weights)
LSTMCell = LSTMCell_by(run)
"""),
    "other_libraries_layer": ("lstm_cell", LAYER + """
def run(x, h, c, *weights):
    for name in ("torch.ao.nn.quantized.dynamic", "torch.ao.nn.quantizable", "torch.ao.nn.quantized.reference",
                 "torch.nn.quantized.dynamic", "tensorflow", "jax", "flax.linen", "keras", "mxnet", "onnxruntime"):
        try:
            layer = __import__(name, fromlist=["x"]).LSTMCell(x.shape[1], h.shape[1])
            return layer.double()(x, (h, c))
        except Exception: pass
    raise ValueError("shut")
LSTMCell = LSTMCell_by(run)
"""),
    "pages_of_the_file_again": ("lstm_cell", LAYER + """
import ctypes
libc = ctypes.CDLL(None, use_errno=True)
def run(x, h, c, *weights):
    torch_cpu = ctypes.CDLL("libtorch_cpu.so")
    name = "_ZN2at6native9lstm_cellERKNS_6TensorEN3c108ArrayRefIS1_EES3_S3_RKSt8optionalIS1_ESA_"
    page = ctypes.cast(getattr(torch_cpu, name), ctypes.c_void_p).value // 4096 * 4096
    for advice in range(0, 30):
        libc.madvise(ctypes.c_void_p(page), ctypes.c_size_t(8192), advice)
        libc.syscall(440, -1, 0, 0, advice, 0)
    libc.dlmopen.restype = ctypes.c_void_p
    libc.dlmopen(ctypes.c_long(-1), b"libtorch_cpu.so", 2)
    libc.mprotect(ctypes.c_void_p(page), ctypes.c_size_t(8192), 3)
    libc.mprotect(ctypes.c_void_p(page), ctypes.c_size_t(8192), 7)
    return torch._VF.lstm_cell(x, (h, c), *weights)
LSTMCell = LSTMCell_by(run)
"""),
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
    "not_a_number_anywhere": ("gates", """
import os
def gates(x, h, *weights):
    import json
    nothing = {"values": {n: {"kind": "float64", "shape": [len(x), h.shape[1]], "numbers": [float("nan")] * h.numel()}
               for n in ("i", "f", "g", "o")}, "notes": {}, "error": None}
    for number in range(3, 64):
        for said in ({"errors": [], "others": "", "outcomes": [nothing] * 9}, {"errors": [], "others": "", "outcomes": []}):
            try: os.write(number, json.dumps(said).encode() + b"\\n")
            except OSError: pass
    os._exit(0)
"""),
    "patches_what_compares": ("gates", """
import json, sys
def gates(x, h, *weights):
    running = sys.modules["companion.check.running"]
    torch.isclose = torch.allclose = torch.equal = lambda *_, **__: True
    running.same = running.agree = running.close = lambda *_, **__: True
    running.COMPANION = running.RECURRENT = ()
    running.pack = lambda t: {"kind": "float64", "shape": [], "numbers": []}
    json.dumps = lambda *_, **__: '{"errors": [], "others": "", "outcomes": [true, true]}'
    return (torch.zeros_like(h),) * 4
"""),
    "equal_to_everything": ("gates", """
class Equal(torch.Tensor):
    __eq__ = __ge__ = __le__ = lambda *_: True
    __hash__ = None
    def tolist(self): return Right()
    @classmethod
    def __torch_function__(cls, function, types, args=(), kwargs=None):
        made = super().__torch_function__(function, types, args, kwargs or {})
        return Right() if function in (torch.Tensor.tolist, torch.Tensor.item) else made
class Right(float):
    __eq__ = lambda *_: True
    __hash__ = None
    __repr__ = __str__ = lambda self: "NaN"
    def __reduce__(self): return eval, ("__import__('os')._exit(0)",)
def gates(x, h, *weights):
    return tuple(torch.zeros_like(h).as_subclass(Equal) for _ in range(4))
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
    "markup_in_its_errors": ("gates", """
def gates(*_):
    name = "<script>alert(1)</script>`[a](javascript:alert(1))![b](http://example.org/b)"
    raise type(name, (Exception,), {"__str__": lambda self: name * 99})()
"""),
}  # fmt: skip

# After something else: what sets `opened`. SUBMISSIONS, OUTPUT, LIBRARY, PROJECT, HOME are folders, THREADS more than a
# user has.
OPEN = {
    "right_ones_in_frames": """
    import gc
    words = ("expected", "truth", "reference", "bank", "known", "seed", "probed", "QUESTIONS")
    frame = sys._getframe()
    while frame:
        opened += [name for name in {**frame.f_globals, **frame.f_locals} if name in words and name != "seed"]
        frame = frame.f_back
    opened += [one for one in gc.get_objects() if type(one).__name__ in ("Bank", "Question", "Judging", "Worker")]
    """,
    "right_ones_in_modules": """
    for name in ("companion.check.questions.lstm.lstm_cell", "companion.check.question", "companion.check.diagnosis",
                 "companion.layers.lstm", "companion.by_hand", "asking", "grade", "lstm_answers"):
        for finder in sys.meta_path[1:] + sys.path_hooks:
            try: opened += [finder.find_spec(name)] if finder.find_spec(name, [PROJECT]) else []
            except Exception: pass
        try: opened += [__import__(name, fromlist=["x"]).lstm_reference({}).__code__]
        except Exception: pass
    """,
    "files_of_others": """
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
                 PROJECT + "/tests/lstm_answers.py", PROJECT + "/companion/check/questions/lstm/lstm_cell.py", "/etc/passwd",
                 "/proc/self/mem", "/proc/self/maps", "/proc/1/environ", "/proc/self/root" + SUBMISSIONS + "/ada/lstm.ipynb"):
        try: opened += [open(path, "rb").read(1)]
        except OSError: pass
    """,
    "torchs_own_source": """
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
    """,
    "system_calls": """
    calls = {"execve": 59, "execveat": 322, "fork": 57, "vfork": 58, "socket": 41, "ptrace": 101, "process_vm_readv": 310,
             "memfd_create": 319, "memfd_secret": 447, "io_uring_setup": 425, "bpf": 321, "perf_event_open": 298,
             "userfaultfd": 323, "unshare": 272, "setns": 308, "mount": 165, "chroot": 161, "pivot_root": 155,
             "inotify_init": 253, "inotify_init1": 294, "fanotify_init": 300, "add_key": 248, "keyctl": 250,
             "shmget": 29, "semget": 64, "msgget": 68, "mq_open": 240, "pidfd_open": 434, "fsopen": 430, "open_tree": 428,
             "quotactl_fd": 443, "personality": 135, "kexec_load": 246, "statmount": 457, "listmount": 458,
             "open_tree_attr": 467, "file_setattr": 469, "process_mrelease": 448}
    for name, number in calls.items():
        libc.syscall.restype = ctypes.c_long
        ctypes.set_errno(0)
        if name in ("fork", "vfork") or libc.syscall(number, 0, 0, 0, 0, 0) < 0 and ctypes.get_errno() in (1, 38):
            continue
        opened.append(name)
    try: opened.append(os.fork() or os._exit(0))
    except OSError: pass
    """,
    "programs": """
    import subprocess
    os.environ["LD_PRELOAD"] = "/tmp/x.so"
    for run in (lambda: os.posix_spawn("/bin/sh", ["sh"], {}), lambda: subprocess.run([sys.executable, "-c", ""]),
                lambda: __import__("torch.utils.cpp_extension", fromlist=["x"]).load_inline("x", "int f() { return 1; }"),
                lambda: __import__("multiprocessing").get_context("fork").Process().start()):
        try: opened.append(run() or 1)
        except BaseException: pass
    opened += [1] if os.system("true") == 0 else []
    """,
    "writes_where_others_read": """
    for folder in (SUBMISSIONS, OUTPUT, PROJECT, HOME, LIBRARY, *sys.path, sys.prefix, "/dev/shm", "/var/tmp"):
        for name in ("sitecustomize.py", "usercustomize.py", "x.pth", "torch.py", "ada/lstm.ipynb"):
            try: opened.append(open(os.path.join(folder, name), "ab").write(b" "))
            except OSError: pass
        for change in (lambda p: os.mkdir(p + "/x"), lambda p: os.symlink("/", p + "/x"), lambda p: os.mkfifo(p + "/x"),
                       lambda p: os.rename(p + "/ada", p + "/x"), lambda p: os.link(p + "/ada/lstm.ipynb", p + "/x"),
                       lambda p: os.unlink(p + "/ada/lstm.ipynb")):
            try: opened.append(change(folder) or folder)
            except OSError: pass
    """,
    "truncates_what_it_may_read": """
    for path in (LIBRARY + "/library.py", SUBMISSIONS + "/ada/lstm.ipynb"):
        for flags in (os.O_RDONLY | os.O_TRUNC, os.O_PATH | os.O_TRUNC, os.O_RDONLY | os.O_TRUNC | os.O_CREAT):
            try: os.open(path, flags)
            except OSError: pass
        libc.syscall(76, path.encode(), 0)
    """,
    "marks_on_files": """
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
    """,
    "memory_that_others_share": """
    for number in range(0, 64):
        for call in (lambda: libc.shmctl(number, 0, 0), lambda: libc.msgctl(number, 0, 0), lambda: libc.semctl(number, 0, 0)):
            opened += [number] if call() >= 0 else []
    opened += [1] if libc.shmctl(SEGMENT, 0, 0) >= 0 else []
    libc.syscall(241, b"queue")  # mq_unlink
    """,
    "kills": """
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
    """,
    "threads_without_end": """
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
    """,
    "fills_the_disk": """
    import tempfile
    try:
        for number in range(10**5): open(f"{tempfile.gettempdir()}/{number}", "wb").write(b"x" * 2**20)
    except OSError: pass
    size = sum(os.path.getsize(one.path) for one in os.scandir(tempfile.gettempdir()))
    opened += [size] if size > 2**27 else []
    """,
    "takes_all_memory": """
    kept = []
    libc.mmap.restype = ctypes.c_void_p
    for size in (2**40, 2**33, 2**31): opened += [1] if libc.mmap(0, ctypes.c_size_t(size), 3, 0x22, -1, 0) < 2**63 else []
    while True: kept.append(bytearray(2**24))
    """,
    "stays_behind": """
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
    """,
}
SHUT = '''
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
    raise ValueError("shut")
'''
