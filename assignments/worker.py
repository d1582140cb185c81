"""The process in which students' code runs. It knows calls and probes, and no answer: no reference, no truth, no bank.

It is started by asking.py. First it imports torch and puts torch's own layers out of order. Then it waits for jobs: for
each it forks a child, which goes behind the walls of isolation.py, runs the notebook's cells, calls the answer on the
probes, and writes the numbers to a pipe. It never reads a job itself, so that no child finds another's in its memory.
Whatever the student's code does to this process, numbers are all it can give, and the layers that would compute the
right ones are not there.
"""

import ast
import importlib.machinery
import importlib.util
import json
import linecache
import os
import re
import select
import signal
import socket
import struct
import sys
import tempfile
import time
import traceback
import types
import warnings
from pathlib import Path

HERE = Path(__file__).resolve().parent
OUTPUT = 4 * 2**20  # bytes that an answer's numbers may take: right ones take a fortieth
OWN = "a library's own layer"  # by these words asking.py knows what was refused
RECURRENT = re.compile(r"(^|[:_])(lstm|gru|rnn)(_|\.|$)")
ATTENDING = re.compile(r"attention(?!\w*choice)|_masked_softmax|_bias_rescale_qkv|_encoder_layer_fwd|_triton_scaled_dot")


class Library(RuntimeError):
    """A library's own layer was called."""


called = set()  # those that were, since the last probe


# Torch's own layers out of order


def registered(pattern):
    import torch

    return [name for name in torch._C._dispatch_get_all_op_names() if pattern.search(name)]


def shut(names):
    """Torch's operations of these names raise `Library` from now on, however they are reached.

    They are replaced where every route comes together, in the dispatcher, for every kind of tensor. The handle that
    could take this back is given away.
    """
    import torch

    def refuse(name):
        def kernel(*_, **__):
            called.add(name)
            raise Library(f"{name}: {OWN}")

        return kernel

    keys = [key for key in torch._C.DispatchKey.__members__ if usual(key)]
    for name in names:
        put(name, keys, refuse(name.split(".")[0]))


def usual(key):
    """Keys of tensors that a processor can have; the rest are devices."""
    parts = ("CUDA", "HIP", "XLA", "MPS", "IPU", "XPU", "HPU", "VE", "Lazy", "MTIA", "MAIA", "PrivateUse", "Of")
    return key != "Undefined" and not any(part in key for part in parts)


def put(name, keys, kernel):
    import torch

    space, operation = name.split("::")
    library = torch._C._dispatch_library("IMPL", space, "", __file__, 0)
    for key in keys:
        try:
            library.impl(operation, key, kernel, False)
        except (RuntimeError, TypeError):
            try:
                library.impl(operation, key, kernel)
            except (RuntimeError, TypeError):
                continue  # not every key takes kernels
    forget(library)


def forget(thing):
    """Keeps it for ever, out of Python's sight."""
    import ctypes

    ctypes.pythonapi.Py_IncRef(ctypes.py_object(thing))


def shut_autograd():
    """No gradients by themselves: torch records nothing that it could go back on, for no kind of tensor: from what it had
    recorded of another device's, whose numbers are this one's, gradients could be fetched node by node."""
    import torch

    def refuse(name):
        def instead(*_, **__):
            called.add(name)
            raise Library(f"{name}: {OWN}")

        return instead

    keys = ("Autograd", "AutogradCPU", "AutogradOther", "AutogradNestedTensor")  # the first stands for all devices'
    fall = torch.library.fallthrough_kernel
    for space in sorted({name.split("::")[0] for name in torch._C._dispatch_get_all_op_names()} & {"aten"}):
        library = torch._C._dispatch_library("IMPL", space, "", __file__, 0)
        for name in torch._C._dispatch_get_all_op_names():
            if not name.startswith(space + "::"):
                continue
            for key in keys:
                try:
                    library.impl(name.split("::")[1], key, fall, False)
                except (RuntimeError, TypeError):
                    pass
        forget(library)
    torch.autograd.grad = torch.autograd.backward = refuse("torch.autograd")
    torch.Tensor.backward = refuse("torch.autograd")
    for name in ("grad", "grad_and_value", "vjp", "jvp", "jacrev", "jacfwd", "hessian", "linearize"):
        setattr(torch.func, name, refuse(f"torch.func.{name}"))
    for name in ("jacobian", "vjp", "jvp", "hessian", "vhp", "hvp"):
        setattr(torch.autograd.functional, name, refuse(f"torch.autograd.functional.{name}"))


def shut_python():
    """Torch has its layers in Python as well, for its compiler. Their code is exchanged, so that no reference helps."""
    import torch._decomp.decompositions as decompositions

    layers = re.compile(r"lstm|gru|rnn|^embedding|one_layer")
    for name, thing in vars(decompositions).items():
        if layers.search(name):
            exchange(thing)
    for name, module in list(sys.modules.items()):
        if name.startswith("torch.ao.") and name.endswith("rnn"):
            for thing in vars(module).values():
                if isinstance(thing, type) and thing.__module__ == name:
                    for method in vars(thing).values():
                        if isinstance(method, types.FunctionType) and method.__name__ in ("__init__", "forward"):
                            exchange_code(method)


# Where torch has attention in Python, from products and a softmax: modules, and the one function in the last.
ATTENTION = (
    "torch.nn.attention", "torch._higher_order_ops.flex_attention", "torch._inductor.fx_passes.fuse_attention",
    "torch.ao.nn.quantizable.modules.activation", "torch.onnx.ops", "torch.nn.functional",
)  # fmt: skip


def shut_attention():
    """Torch's attention in Python refuses, too, and its text cannot be had: `attention_files` says what is hidden."""
    for name, thing in vars(sys.modules["torch._decomp.decompositions"]).items():
        if "attention" in name:
            exchange(thing)
    for name, module in list(sys.modules.items()):
        if not name.startswith(ATTENTION):
            continue
        things = [module.multi_head_attention_forward] if name == ATTENTION[-1] else vars(module).values()
        methods = [one for thing in things if isinstance(thing, type) for one in vars(thing).values()]
        for thing in [*things, *methods]:
            if isinstance(thing, types.FunctionType) and thing.__module__ == name:
                exchange(thing)


def attention_files(torch):
    inside = Path(torch.__file__).parent
    found = [str(file) for folder in ("nn/attention", "onnx/ops") for file in (inside / folder).rglob("*.py*")]
    for name in ("nn/functional.py", "_higher_order_ops/flex_attention.py", "_inductor/fx_passes/fuse_attention.py"):
        found += with_cache(inside / name)
    return found


def exchange(thing):
    seen = set()
    while thing is not None and id(thing) not in seen:
        seen.add(id(thing))
        if isinstance(thing, types.FunctionType):
            for cell in thing.__closure__ or ():
                if isinstance(cell.cell_contents, types.FunctionType) and id(cell.cell_contents) not in seen:
                    exchange_code(cell.cell_contents)
            exchange_code(thing)
        thing = getattr(thing, "__wrapped__", None)


def exchange_code(function):
    """Python takes code only that closes over as many names."""
    names = function.__code__.co_freevars
    lines = ["def outer():", *(f"    {name} = None" for name in names), "    def inner(*_, **__):"]
    lines += [*(f"        {name}" for name in names), f"        raise RuntimeError({OWN!r})", "    return inner"]
    space = {}
    exec("\n".join(lines), space)
    function.__code__ = space["outer"]().__code__


def shut_layers():
    """No layer can even be made: for the question in which its parameters' shapes are the answer."""
    from torch import nn

    def made(self, *_, **__):
        called.add("torch.nn")
        raise Library(OWN)

    for layer in (nn.RNNBase, nn.RNNCellBase):
        layer.__init__ = made
        for inner in layer.__subclasses__():
            inner.__init__ = made


def hidden(torch):
    """Files that hold a library's layer: nobody may read them."""
    inside = Path(torch.__file__).parent
    found = with_cache(inside / "_decomp/decompositions.py")
    found += [str(inside / "ao/nn" / name) for name in ("quantizable", "quantized", "qat", "intrinsic")]
    # it is loaded; a second copy of it would have all that is shut in the first
    return [*found, str(inside / "lib" / "libtorch_cpu.so")]


def with_cache(file):
    return [str(file), *map(str, (file.parent / "__pycache__").glob(f"{file.stem}.*.pyc"))]


# The functions behind the operations, in the machine's own code

NATIVE = {
    "recurrent": re.compile(rb"_ZN2at6native\d+_?(?:[a-z]+_)*(?:lstm|gru|rnn)(?:_[a-z_]+)?E[RN]"),
    "embedding": re.compile(rb"_ZN2at6native\d+_?embedding(?!_renorm)[a-z_]*E[RN]"),
    "one_hot": re.compile(rb"_ZN2at6native7one_hotE"),
    "attention": re.compile(
        rb"_ZN2at6native\d+_?(?:[a-z]+_)*(?:attention|masked_softmax|bias_rescale_qkv|encoder_layer)(?:_[a-z_0-9]+)?E[RN]"
    ),
    "autograd": re.compile(rb"_ZN5torch(?:8autograd6Engine7execute|3jit13differentiate)E"),
}
TRAPS = {"x86_64": b"\x0f\x0b", "aarch64": b"\x00\x00\x00\x00"}  # an instruction that there is not
places = {}  # address and size of each, by kind


def find_natives(torch):
    """Where these functions are, by kind, if this is Linux: its libraries can be read."""
    import ctypes

    library = Path(torch.__file__).parent / "lib" / "libtorch_cpu.so"
    machine = os.uname().machine if hasattr(os, "uname") else ""
    if sys.platform != "linux" or machine not in TRAPS or not library.is_file():
        return
    loaded = ctypes.CDLL(str(library))
    functions = list(exported(library))
    for kind, pattern in NATIVE.items():
        places[kind] = [
            (ctypes.cast(getattr(loaded, name.decode()), ctypes.c_void_p).value, size)
            for name, size in functions
            if pattern.match(name)
        ]


def exported(library):
    """Name and size of each function that an ELF library gives to others."""
    with open(library, "rb") as file:
        head = file.read(64)
        start, (size, count) = struct.unpack_from("<Q", head, 40)[0], struct.unpack_from("<HH", head, 58)
        file.seek(start)
        sections = list(struct.iter_unpack("<IIQQQQIIQQ", file.read(size * count)))
        table = next(one for one in sections if one[1] == 11)
        strings = sections[table[6]]
        file.seek(strings[4])
        names = file.read(strings[5])
        file.seek(table[4])
        for name, info, _, section, _, length in struct.iter_unpack("<IBBHQQ", file.read(table[5])):
            if info & 15 == 2 and section:
                yield names[name : names.index(b"\0", name)], length


def trap(kind):
    """Who calls one of these functions, or jumps into it, is ended by the processor: nothing of it is left."""
    import ctypes

    page, everything = os.sysconf("SC_PAGESIZE"), 7
    libc = ctypes.CDLL(None)
    for address, size in places.get(kind, ()):
        start = address // page * page
        length = ctypes.c_size_t(address + size - start)
        code = TRAPS[os.uname().machine]
        if libc.mprotect(ctypes.c_void_p(start), length, everything) == 0:
            ctypes.memmove(address, code * (size // len(code)), size // len(code) * len(code))
            libc.mprotect(ctypes.c_void_p(start), length, everything & ~2)


# A companion that has no layers


class Refused(types.ModuleType):
    """Stands for any module of the companion: its layers refuse, all else is swallowed."""

    __path__ = []

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return layer(f"{self.__name__}.{name}")


def layer(name):
    class Layer:
        def __init__(self, *_, **__):
            called.add(name)
            raise Library(f"{name}: {OWN}")

        def __class_getitem__(cls, _):
            return cls

    Layer.__name__ = Layer.__qualname__ = name.split(".")[-1]
    return Layer


class Swallows:
    """What a cell's own call of the checker gives, and what shows something."""

    ok, mistakes = True, ()

    def __call__(self, *_, **__):
        return self

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return self

    def __repr__(self):
        return ""


class Finder:
    """Finds every module of the companion, and gives nothing of it."""

    def find_spec(self, name, path=None, target=None):
        if name == "companion" or name.startswith("companion."):
            return importlib.machinery.ModuleSpec(name, self, is_package=True)
        return None

    def create_module(self, spec):
        module = Refused(spec.name)
        if spec.name == "companion.check":
            module.check = module.progress = module.student = module.variant = Swallows()
            module.running = sys.modules["companion.check.running"]
        if spec.name in ("companion.page.show", "companion.page.pictures", "companion.proof"):
            module.source = module.table = module.compare = Swallows()
        return module

    def exec_module(self, module):
        pass


def as_it_is(model=None, **_):
    """torch.compile, which changes no number: as a function and as a decorator."""
    return model if model is not None else as_it_is


def load(name, file):
    spec = importlib.util.spec_from_file_location(name, file)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def called_by(job):
    """The question's call, from the pieces that asking.py cut out of its module."""
    from companion.check import running

    for piece in job["pieces"]:
        module = types.ModuleType(piece["module"])
        module.__file__ = piece["file"]
        sys.modules[piece["module"]] = module
        exec(compile(piece["source"], piece["file"], "exec"), vars(module))

    def make(said):
        if isinstance(said, dict):
            if "list" in said:
                return tuple(make(one) for one in said["list"])
            space = running if said["module"] == "companion.check.running" else sys.modules[said["module"]]
            thing = getattr(space, said["name"])
            return thing(**{key: make(one) for key, one in said["fields"].items()}) if "fields" in said else thing
        return said

    return make(job["call"])


# One job, in the child


def statements_of(cells):
    """The statements of cells, and the errors of those that are no Python."""
    statements, errors = [], []
    for number, source in cells:
        file = f"cell {number}"
        linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
        try:
            nodes = [one for node in ast.parse(source, file).body for one in needing.single(node)]
            statements += [needing.Statement(number, file, node) for node in nodes]
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            errors.append({"cell": number, "type": type(error).__name__, "text": str(error)[:300]})
    return statements, errors


def execute(statements, space):
    """Runs statements as a notebook does that goes on after errors. Returns the errors.

    Students run cells in any order: what needs a name that is bound further below is run again when the name is there.
    And a definition is read again without its notes on types, whose module may be missing.
    """
    flags, failed = 0, []
    for one in statements:
        flags |= needing.future(one.node)
        if said := attempt(one, flags, space):
            failed.append((one, flags, said))
    before = None
    while len(failed) != before:
        before = len(failed)
        for place, (one, flags, said) in enumerate(failed):
            definition = isinstance(one.node, needing.DEFINITIONS)
            if said["type"] == "NameError" and (definition or said["name"] in space):
                flags |= needing.NO_TYPES * definition
                failed[place] = one, flags, attempt(one, flags, space)
        failed = [one for one in failed if one[-1]]
    return [said for *_, said in failed]


def attempt(one, flags, space):
    """Runs a statement. Returns its error."""
    try:
        exec(compile(ast.Module([one.node], []), one.file, "exec", flags, True), space)
    except BaseException as error:  # also SystemExit, and what is made by hand
        name = error.name if type(error) is NameError and isinstance(error.name, str) else ""
        return {"cell": one.cell, "line": one.node.lineno, "type": type(error).__name__[:100], "text": text(error),
                "name": name[:300]}  # fmt: skip
    return None


def put_beside(modules):
    """A student's own modules, to be imported after all others."""
    if not modules:
        return
    folder = Path(tempfile.mkdtemp())
    for name, source in modules.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(source, encoding="utf-8", errors="replace")
    sys.path.append(str(folder))


def text(error):
    try:
        return str(error)[:300]
    except BaseException:
        return ""


def work(job):
    """The numbers that an answer gives, as JSON."""
    from companion.check import running

    call = called_by(job)
    probes = [running.Probe.from_json(probe) for probe in job["probes"]]
    put_beside(job["modules"])
    main = types.ModuleType("__main__")
    main.display = main.get_ipython = Swallows()
    sys.modules["__main__"] = main
    observe, encode, wall = running.observe, json.dumps, frozenset()
    statements, errors = statements_of(job["cells"])
    others = ""
    every = statements
    if job["needed"]:
        statements, others = needing.needed(statements, job["names"], job["place"])
    if "changes" in job:
        return encode(rerun.all_runs(job, every, statements, call, probes, globals()))
    errors = [*errors, *execute(statements, vars(main))][:20]
    answer = next((vars(main)[name] for name in job["names"] if name in vars(main)), None)
    if answer is None:
        return encode({"errors": errors, "others": others, "outcomes": None})
    outcomes = []
    for probe in probes:
        called.clear()
        try:
            outcome = observe(call, answer, probe, wall)
        except BaseException as error:  # SystemExit and its like; `observe` has seen to the others
            error = {"kind": "raises_error", "type": type(error).__name__, "text": text(error)}
            outcome = running.Outcome(error=error)
        if called:
            outcome.notes["library"] = sorted(called)
        outcomes.append(outcome.to_json())
    return encode({"errors": errors, "others": others, "outcomes": outcomes})


def prepare(job, jail, secret, path):
    """Goes behind the walls. Returns those that hold, as the line that asking.py reads first."""
    close_for(job)
    if not job["layers"]:
        import torch

        secret = [*secret, *with_cache(Path(torch.__file__).parent / "nn/modules/rnn.py")]
    if attends_for(job):
        import torch

        secret = [*secret, *attention_files(torch)]
    walls = jail.child(job["limits"], secret, path)
    tempfile.tempdir = jail.scratch
    try:
        os.chdir(jail.scratch)  # what a notebook writes beside it, it may read again
    except OSError:
        pass  # it may not, and is told so
    os.environ.clear()
    os.environ.update(
        HOME=jail.scratch, TMPDIR=jail.scratch, PATH="/nowhere", MPLBACKEND="Agg", MPLCONFIGDIR=jail.scratch,
        TORCHINDUCTOR_CACHE_DIR=jail.scratch,
    )  # fmt: skip
    return json.dumps(walls) + "\n"


def child(job, jail, pipe, secret, path):
    """Never returns."""
    for number in range(3, 256):
        if number != pipe:
            try:
                os.close(number)
            except OSError:
                pass
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_DFL)
    write = os.write
    # the walls that hold are said before the student can say anything
    write(pipe, prepare(job, jail, secret, path).encode())
    said = work(job).encode()
    while said:
        said = said[write(pipe, said) :]
    os._exit(0)


def attends_for(job):
    return any("attention" in name for name in job["forbidden"])


def close_for(job):
    shut(registered(re.compile("^(%s)$" % "|".join(map(re.escape, job["forbidden"])) or "$^")))
    if any("embedding" in name for name in job["forbidden"]):
        shut(registered(re.compile(r"::_?embedding(?!_renorm)")))
        trap("embedding")
        if any("one_hot" in name for name in job["forbidden"]):  # which may be a step of a lookup
            trap("one_hot")
    if attends_for(job):
        shut(registered(ATTENDING))
        shut_attention()
        trap("attention")
    if job["autograd"]:
        shut_autograd()
        trap("autograd")
    if not job["layers"]:
        shut_layers()


# The zygote


def receive(source):
    head = read(source, 4)
    return json.loads(read(source, struct.unpack("<I", head)[0])) if head else None


def read(source, size):
    pieces = b""
    while len(pieces) < size:
        piece = os.read(source, min(size - len(pieces), 2**20))
        if not piece:
            return b""
        pieces += piece
    return pieces


def send(target, thing):
    said = json.dumps(thing).encode()
    said = struct.pack("<I", len(said)) + said
    while said:
        said = said[os.write(target, said) :]


def bear(line, secret, path):
    """Forks one that serves for each line that is handed in. None of them knows of another, and this one reads no job."""
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for them
    while lines := socket.recv_fds(line, 1, 1)[1]:
        if os.fork() == 0:
            try:
                line.close()
                signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                os.setsid()
                jail = isolation.Jail()
                jail.zygote(secret, path)
                isolation.end_with_parent()  # only now: the system forgets it when rights change
                send(lines[0], {"pid": os.getpid()})
                serve(lines[0], jail, secret, path)
            finally:
                os._exit(0)
        os.close(lines[0])


def serve(line, jail, secret, path):
    """Has each job read, run and answered by a fork: what it leaves in memory is not there when the next one comes."""
    while True:
        select.select([line], [], [])
        watcher = os.fork()
        if watcher == 0:
            try:
                isolation.end_with_parent()
                job = receive(line)
                if job is not None:
                    send(line, watch(job, jail, secret, path, line))
                    os._exit(0)
            except BaseException:
                traceback.print_exc()
            os._exit(1)
        if os.waitpid(watcher, 0)[1] != 0:
            return


def watch(job, jail, secret, path, line):
    """Runs a job in a child of a child. Returns how it ended, and what came through its pipe."""
    begin = time.monotonic()
    jail.enter()
    result, pipe = os.pipe()
    state, report = os.pipe()
    first = os.fork()
    if first == 0:
        try:
            os.close(result), os.close(state)
            os.setsid()
            isolation.end_with_parent()
            # the first process of a namespace is deaf to the kernel's limits: it only waits for the one that is not
            inner = os.fork()
            if inner == 0:
                child(job, jail, pipe, secret, path)
            os.close(pipe)
            os.write(report, struct.pack("i", inner))
            os.write(report, struct.pack("i", os.waitpid(inner, 0)[1]))
        finally:
            os._exit(0)
    os.close(pipe), os.close(report)
    inner = struct.unpack("i", read(state, 4) or b"\0" * 4)[0]
    end = begin + job["limits"]["wall"]
    said, ended = collected(result, end, line)
    if ended is None and not select.select([state], [], [], max(0.1, min(2, end - time.monotonic())))[0]:
        ended = "quit"  # it closed its pipe, and goes on
    status = read(state, 4) if ended is None else b""
    # where processes have no namespace that ends with its first one, the student's may have left the group
    jail.end(first, inner)
    os.waitpid(first, 0)
    seconds = time.monotonic() - begin
    if ended is None:
        status = struct.unpack("i", status)[0] if status else -1
        ended = ending(status, seconds, job["limits"])
    return {"ended": ended, "seconds": seconds, "said": said.decode("utf-8", "replace")}


def collected(result, end, line):
    """What comes through a pipe until it is closed, and "time" or "output" if that is too late or too much.

    On the line nothing comes before there is an answer, but its end: then nobody waits for one.
    """
    said, size = [], 0
    while True:
        ready, _, _ = select.select([result, line], [], [], max(0, end - time.monotonic()))
        if not ready or line in ready:
            return b"".join(said), "time"
        piece = os.read(result, 2**20)
        if not piece:
            return b"".join(said), None
        said.append(piece)
        size += len(piece)
        if size > OUTPUT:
            return b"", "output"


def ending(status, seconds, limits):
    if status >= 0 and os.WIFSIGNALED(status):
        number = os.WTERMSIG(status)
        if number == getattr(signal, "SIGXCPU", 0) or number == 9 and seconds >= limits["seconds"] * 0.9:
            return "time"
        return "memory" if number == 9 else f"signal {number}"
    return "" if status == 0 else "quit"


def main():
    source, target = os.dup(0), os.dup(1)
    null = os.open(os.devnull, os.O_RDWR)
    for number in (0, 1) if os.environ.get("UNROLLED_DEBUG") else (0, 1, 2):
        os.dup2(null, number)
    settings = receive(source)
    sys.path[:] = settings["path"]
    warnings.simplefilter("ignore")
    import torch

    torch.set_num_threads(1)
    import torch._decomp.decompositions_for_jvp  # needs files that are hidden later  # noqa: F401

    global isolation, needing, rerun
    isolation = load("isolation", HERE / "isolation.py")
    needing = load("needing", HERE / "needing.py")
    rerun = load("rerun", HERE / "rerun.py")
    running = load("companion.check.running", settings["running"])
    sys.meta_path.insert(0, Finder())
    sys.modules["companion.check.running"] = running
    # the last is what an optimizer imports as it is made: a second, for each answer that makes one
    for module in ("numpy", "matplotlib.pyplot", "torch.nn.functional", "torch.func", "torch._dynamo"):
        try:
            __import__(module)
        except ImportError:
            pass
    shut(registered(RECURRENT))
    shut_python()
    find_natives(torch)
    trap("recurrent")
    warm = torch.rand(3, 4, dtype=torch.float64)
    (warm @ warm.T).sigmoid().tanh().sum()
    # what compiles code while it runs would need memory that is written and executed, which the walls refuse
    torch.compile = as_it_is
    torch.backends.mkldnn.set_flags(False)
    linecache.clearcache()  # torch's compiler has read files here that are hidden from now on
    isolation.remember()
    secret, path = [*hidden(torch), *settings["hidden"]], settings["path"]
    isolation.end_with_parent()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # a Ctrl-C is the batch's to take
    if hasattr(os, "fork"):
        bear(socket.socket(fileno=source), secret, path)
        return
    send(target, {"pid": os.getpid()})
    if (job := receive(source)) is not None:  # a process for each job; asking.py looks at the clock
        begin = time.monotonic()
        walls = prepare(job, isolation.Jail(), secret, path)
        send(target, {"ended": "", "said": walls + work(job), "seconds": time.monotonic() - begin})


if __name__ == "__main__":
    main()
