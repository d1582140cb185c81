"""The process in which students' code runs. It knows calls and probes, and no answer: no reference, no truth, no bank.

It is started by pool.py. First it imports torch and puts torch's own layers out of order. Then it waits for jobs:
for each it forks a child, which goes behind the walls of isolation.py, runs the notebook's cells, calls the answer on
the probes, and writes the numbers to a pipe. It never reads a job itself, so that no child finds another's in its
memory. Whatever the student's code does to this process, numbers are all it can give, and the layers that would compute
the right ones are not there.
"""

import ast
import contextlib
import importlib.machinery
import importlib.util
import json
import linecache
import os
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
            disabled_torch.called.add(name)
            raise disabled_torch.Library(f"{name}: {disabled_torch.OWN}")

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
        if spec.name == "companion.check.engine":
            module.run_answer = sys.modules["companion.check.engine.run_answer"]
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
    """The question's call, from the pieces that call_source.py cut out of its module."""
    from companion.check.engine import run_answer

    for piece in job["pieces"]:
        module = types.ModuleType(piece["module"])
        module.__file__ = piece["file"]
        sys.modules[piece["module"]] = module
        exec(compile(piece["source"], piece["file"], "exec"), vars(module))

    def make(said):
        if isinstance(said, dict):
            if "list" in said:
                return tuple(make(one) for one in said["list"])
            space = run_answer if said["module"] == "companion.check.engine.run_answer" else sys.modules[said["module"]]
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
            nodes = [one for node in ast.parse(source, file).body for one in dependencies.single(node)]
            statements += [dependencies.Statement(number, file, node) for node in nodes]
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
        flags |= dependencies.future(one.node)
        if said := attempt(one, flags, space):
            failed.append((one, flags, said))
    before = None
    while len(failed) != before:
        before = len(failed)
        for place, (one, flags, said) in enumerate(failed):
            definition = isinstance(one.node, dependencies.DEFINITIONS)
            if said["type"] == "NameError" and (definition or said["name"] in space):
                flags |= dependencies.NO_TYPES * definition
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
    from companion.check.engine import run_answer

    call = called_by(job)
    probes = [run_answer.Probe.from_json(probe) for probe in job["probes"]]
    put_beside(job["modules"])
    main = types.ModuleType("__main__")
    main.display = main.get_ipython = Swallows()
    sys.modules["__main__"] = main
    observe, encode, wall = run_answer.observe, json.dumps, frozenset()
    statements, errors = statements_of(job["cells"])
    others = ""
    every = statements
    if job["needed"]:
        statements, others = dependencies.needed(statements, job["names"], job["place"])
    if "changes" in job:
        return encode(run_changes.all_runs(job, every, statements, call, probes, globals()))
    errors = [*errors, *execute(statements, vars(main))][:20]
    answer = next((vars(main)[name] for name in job["names"] if name in vars(main)), None)
    if answer is None:
        return encode({"errors": errors, "others": others, "outcomes": None})
    outcomes = []
    for probe in probes:
        disabled_torch.called.clear()
        try:
            outcome = observe(call, answer, probe, wall)
        except BaseException as error:  # SystemExit and its like; `observe` has seen to the others
            error = {"kind": "raises_error", "type": type(error).__name__, "text": text(error)}
            outcome = run_answer.Outcome(error=error)
        if disabled_torch.called:
            outcome.notes["library"] = sorted(disabled_torch.called)
        outcomes.append(outcome.to_json())
    return encode({"errors": errors, "others": others, "outcomes": outcomes})


def prepare(job, jail, secret, path):
    """Goes behind the walls. Returns those that hold, as the line that protocol.py reads first."""
    disabled_torch.close_for(job)
    walls = jail.child(job["limits"], [*secret, *disabled_torch.hidden_for(job)], path)
    tempfile.tempdir = jail.scratch
    with contextlib.suppress(OSError):  # if it may not, it is told so
        os.chdir(jail.scratch)  # what a notebook writes beside it, it may read again
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
            with contextlib.suppress(OSError):
                os.close(number)
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_DFL)
    write = os.write
    # the walls that hold are said before the student can say anything
    write(pipe, prepare(job, jail, secret, path).encode())
    said = work(job).encode()
    while said:
        said = said[write(pipe, said) :]
    os._exit(0)


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
    """Forks one that serves for each line that is handed in. None of them knows of another, and this one reads no
    job."""
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

    global isolation, dependencies, run_changes, disabled_torch
    isolation = load("isolation", HERE / "isolation.py")
    dependencies = load("dependencies", HERE.parent / "read" / "dependencies.py")
    run_changes = load("run_changes", HERE.parent / "report" / "oral" / "run_changes.py")
    disabled_torch = load("disabled_torch", HERE / "disabled_torch.py")
    del sys.modules["disabled_torch"]  # nobody is to find it
    run_answer = load("companion.check.engine.run_answer", settings["running"])
    sys.meta_path.insert(0, Finder())
    sys.modules["companion.check.engine.run_answer"] = run_answer
    # the last is what an optimizer imports as it is made: a second, for each answer that makes one
    for module in ("numpy", "matplotlib.pyplot", "torch.nn.functional", "torch.func", "torch._dynamo"):
        with contextlib.suppress(ImportError):
            __import__(module)
    disabled_torch.shut(disabled_torch.registered(disabled_torch.RECURRENT))
    disabled_torch.shut_python()
    disabled_torch.find_natives()
    disabled_torch.trap("recurrent")
    warm = torch.rand(3, 4, dtype=torch.float64)
    (warm @ warm.T).sigmoid().tanh().sum()
    # what compiles code while it runs would need memory that is written and executed, which the walls refuse
    torch.compile = as_it_is
    torch.backends.mkldnn.set_flags(False)
    linecache.clearcache()  # torch's compiler has read files here that are hidden from now on
    isolation.remember()
    secret, path = [*disabled_torch.hidden(), *settings["hidden"]], settings["path"]
    isolation.end_with_parent()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # a Ctrl-C is the batch's to take
    if hasattr(os, "fork"):
        bear(socket.socket(fileno=source), secret, path)
        return
    send(target, {"pid": os.getpid()})
    if (job := receive(source)) is not None:  # a process for each job; pool.py looks at the clock
        begin = time.monotonic()
        walls = prepare(job, isolation.Jail(), secret, path)
        send(target, {"ended": "", "said": walls + work(job), "seconds": time.monotonic() - begin})


if __name__ == "__main__":
    main()
