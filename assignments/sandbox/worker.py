"""The process in which students' code runs. It knows calls and probes, and no answer: no reference, no truth, no bank.

It is started by pool.py. First it imports torch and puts torch's own layers out of order. Then it waits for jobs with
zygote.py: for each it forks a child, which goes behind the walls of isolation.py, runs the notebook's cells, calls the
answer on the probes, and writes the numbers to a pipe. It never reads a job itself, so that no child finds another's in
its memory. Whatever the student's code does to this process, numbers are all it can give, and the layers that would
compute the right ones are not there.
"""

import ast
import contextlib
import importlib.util
import json
import linecache
import os
import signal
import socket
import sys
import tempfile
import time
import types
import warnings
from functools import partial
from pathlib import Path

HERE = Path(__file__).resolve().parent


def as_it_is(model=None, **_):
    """torch.compile, which changes no number: as a function and as a decorator."""
    return model if model is not None else as_it_is


def load(name, file):
    spec = importlib.util.spec_from_file_location(name, file)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def load_own(name):
    """Load a module of this folder under its full name, by which the others of the folder import it."""
    return load(f"assignments.sandbox.{name}", HERE / f"{name}.py")


def called_by(job):
    """The question's call, from the pieces that call_source.py cut out of its module."""
    for piece in job["pieces"]:
        module = types.ModuleType(piece["module"])
        module.__file__ = piece["file"]
        sys.modules[piece["module"]] = module
        exec(compile(piece["source"], piece["file"], "exec"), vars(module))

    def make(said):
        if isinstance(said, dict):
            if "list" in said:
                return tuple(make(one) for one in said["list"])
            thing = getattr(sys.modules[said["module"]], said["name"])
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
    from companion.check.engine.probe import Outcome, Probe
    from companion.check.engine.run_answer import observe

    call = called_by(job)
    probes = [Probe.from_json(probe) for probe in job["probes"]]
    put_beside(job["modules"])
    main = types.ModuleType("__main__")
    main.display = main.get_ipython = bare_companion.Swallows()
    sys.modules["__main__"] = main
    encode, wall = json.dumps, frozenset()
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
            outcome = Outcome(error=error)
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


def main():
    source, target = os.dup(0), os.dup(1)
    null = os.open(os.devnull, os.O_RDWR)
    for number in (0, 1) if os.environ.get("UNROLLED_DEBUG") else (0, 1, 2):
        os.dup2(null, number)
    load_own("system_calls")
    limits = load_own("limits")
    load_own("visible_files")
    isolation, zygote = load_own("isolation"), load_own("zygote")
    settings = zygote.receive(source)
    sys.path[:] = settings["path"]
    warnings.simplefilter("ignore")
    import torch

    torch.set_num_threads(1)
    import torch._decomp.decompositions_for_jvp  # needs files that are hidden later  # noqa: F401

    global dependencies, run_changes, disabled_torch, bare_companion
    dependencies = load("dependencies", HERE.parent / "read" / "dependencies.py")
    run_changes = load("run_changes", HERE.parent / "report" / "oral" / "run_changes.py")
    disabled_torch, bare_companion = load_own("disabled_torch"), load_own("bare_companion")
    for module in (disabled_torch, bare_companion):
        del sys.modules[module.__name__]  # nobody is to find it
    parts = {name: load(name, file) for name, file in settings["parts"].items()}
    sys.meta_path.insert(0, bare_companion.Finder(parts))
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
    limits.remember()
    secret, path = [*disabled_torch.hidden(), *settings["hidden"]], settings["path"]
    isolation.end_with_parent()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # a Ctrl-C is the batch's to take
    if hasattr(os, "fork"):
        zygote.bear(socket.socket(fileno=source), secret, path, partial(child, secret=secret, path=path))
        return
    zygote.send(target, {"pid": os.getpid()})
    if (job := zygote.receive(source)) is not None:  # a process for each job; pool.py looks at the clock
        begin = time.monotonic()
        walls = prepare(job, isolation.Jail(), secret, path)
        zygote.send(target, {"ended": "", "said": walls + work(job), "seconds": time.monotonic() - begin})


if __name__ == "__main__":
    main()
