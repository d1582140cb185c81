"""Worker process for students' code. It has a question's call and probes, but no reference and no expected values.

pool.py starts it. It imports torch, disables torch's own layers and then waits for jobs in fork_server.py, which forks
a child for each job. The child enters the sandbox of isolation.py, runs the notebook's cells, calls the answer on the
probes, and writes the numbers to a pipe. The worker itself never reads a job, so no child finds another job in its
memory. Whatever the student's code does to its process, it can only produce numbers, and the layers that would compute
the right ones are disabled.
"""

import ast
import asyncio
import contextlib
import functools
import inspect
import json
import linecache
import os
import selectors
import signal
import socket
import sys
import tempfile
import time
import types
import warnings
from pathlib import Path

TOP_LEVEL_AWAIT = ast.PyCF_ALLOW_TOP_LEVEL_AWAIT


class EventLoop(asyncio.SelectorEventLoop):
    """Event loop that needs no socket, since the sandbox refuses them."""

    def __init__(self):
        super().__init__(selectors.SelectSelector())

    def _make_self_pipe(self):
        self._internal_fds += 1

    def _close_self_pipe(self):
        self._internal_fds -= 1


def compile_nothing(model=None, **_):
    """Stand in for torch.compile, as a function and as a decorator: return the model unchanged."""
    return model if model is not None else compile_nothing


def load_module(name, source):
    """Make a module from its source. Its file's name says where it is in this project, and not where the project is."""
    module = sys.modules[name] = types.ModuleType(name)
    module.__file__ = os.path.abspath(f"/{name.replace('.', '/')}.py")
    exec(compile(source, module.__file__, "exec"), vars(module))
    return module


def forget_editable_packages():
    """Remove the import hooks of packages that are installed from their sources, since these know where they are."""
    for hooks in (sys.meta_path, sys.path_hooks):
        hooks[:] = [hook for hook in hooks if not getattr(hook, "__module__", "").startswith("__editable__")]
    for name in [name for name in sys.modules if name.startswith("__editable__")]:
        del sys.modules[name]
    sys.path_importer_cache.clear()


def rebuild_call(job):
    """Rebuild the question's call from the pieces of source that call_source.py cut out."""
    for piece in job["pieces"]:
        load_module(piece["module"], piece["source"])

    def rebuild(packed):
        if isinstance(packed, dict):
            if "list" in packed:
                return tuple(rebuild(item) for item in packed["list"])
            value = getattr(sys.modules[packed["module"]], packed["name"])
            if "fields" not in packed:
                return value
            return value(**{key: rebuild(field) for key, field in packed["fields"].items()})
        return packed

    return rebuild(job["call"])


# One job, in the child


def parse_cells(cells):
    """Return the statements of cells, and the errors of those that are not Python."""
    statements, errors = [], []
    for number, source in cells:
        file = f"cell {number}"
        linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
        try:
            nodes = [part for node in ast.parse(source, file).body for part in dependencies.split_import(node)]
            statements += [dependencies.Statement(number, file, node) for node in nodes]
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            errors.append({"cell": number, "type": type(error).__name__, "text": str(error)[:300]})
    return statements, errors


def run_statements(statements, namespace):
    """Run statements as a notebook that continues after errors, and return the errors.

    Students run cells in any order: a statement that needs a name bound further below runs again once the name is
    bound. A definition that failed runs again without its annotations, whose module may be missing.
    """
    flags, failed = 0, []
    for statement in statements:
        flags |= dependencies.future_flags(statement.node)
        if error := run_statement(statement, flags, namespace):
            failed.append((statement, flags, error))
    before = None
    while len(failed) != before:
        before = len(failed)
        for place, (statement, flags, error) in enumerate(failed):
            definition = isinstance(statement.node, dependencies.DEFINITIONS)
            if error["type"] == "NameError" and (definition or error["name"] in namespace):
                flags |= dependencies.NO_ANNOTATIONS * definition
                failed[place] = statement, flags, run_statement(statement, flags, namespace)
        failed = [entry for entry in failed if entry[-1]]
    return [error for *_, error in failed]


def run_statement(statement, flags, namespace):
    """Run a statement, and return its error or None."""
    try:
        code = compile(ast.Module([statement.node], []), statement.file, "exec", flags | TOP_LEVEL_AWAIT, True)
        if inspect.iscoroutine(waiting := eval(code, namespace)):
            EventLoop().run_until_complete(waiting)
    except BaseException as error:  # also SystemExit, and exceptions that students define
        name = error.name if type(error) is NameError and isinstance(error.name, str) else ""
        return {"cell": statement.cell, "line": statement.node.lineno, "type": type(error).__name__[:100],
                "text": error_text(error), "name": name[:300]}  # fmt: skip
    return None


def install_modules(modules):
    """Write a student's own modules and files into the working folder, and put it last on the import path."""
    if not modules:
        return
    folder = Path(tempfile.tempdir or tempfile.mkdtemp())
    for name, source in modules.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(source, encoding="utf-8", errors="replace")
    sys.path.append(str(folder))


def find_answer(job, namespace):
    """Return the answer: the first of its names that is bound, or what the notebook gave to `check`; None if absent."""
    given = companion_stub.CHECK.answers
    if job["checked"] in given:
        return given[job["checked"]]
    for name in job["names"]:
        root, *attributes = name.split(".")
        if root in namespace:
            try:
                return functools.reduce(getattr, attributes, namespace[root])
            except BaseException:  # the attribute is missing, or a property raises
                continue
    return given.get(job["question"])


def error_text(error):
    try:
        return str(error)[:300]
    except BaseException:
        return ""


def outcomes_of(job):
    """Run an answer on the job's probes and return its outcomes and errors as JSON."""
    from companion.check.engine.probe import Outcome, Probe
    from companion.check.engine.run_answer import observe

    call = rebuild_call(job)
    probes = [Probe.from_json(probe) for probe in job["probes"]]
    install_modules(job["modules"])
    main = types.ModuleType("__main__")
    main.display = main.get_ipython = companion_stub.NullObject()
    sys.modules["__main__"] = main
    encode, forbidden = json.dumps, frozenset()  # bound before the student's code can replace them
    statements, errors = parse_cells(job["cells"])
    others = ""
    every = statements
    if job["needed"]:
        statements, others = dependencies.needed_statements(statements, job["names"], job["place"], job["checked"])
    if "changes" in job:
        return encode(run_changes.all_runs(job, every, statements, call, probes, globals()))
    errors = [*errors, *run_statements(statements, vars(main))][:20]
    answer = find_answer(job, vars(main))
    if answer is None:
        return encode({"errors": errors, "others": others, "outcomes": None})
    outcomes = []
    for probe in probes:
        disabled_torch.called_layers.clear()
        try:
            outcome = observe(call, answer, probe, forbidden)
        except BaseException as error:  # SystemExit and the like; `observe` handles the others
            error = {"kind": "raises_error", "type": type(error).__name__, "text": error_text(error)}
            outcome = Outcome(error=error)
        if disabled_torch.called_layers:
            outcome.notes["library"] = sorted(disabled_torch.called_layers)
        outcomes.append(outcome.to_json())
    return encode({"errors": errors, "others": others, "outcomes": outcomes})


def enter_sandbox(job, sandbox, hidden, path):
    """Restrict this process, and return the active protections as the line that protocol.py reads first."""
    disabled_torch.disable_for(job)
    active = sandbox.restrict(job["limits"], [*hidden, *disabled_torch.hidden_files_for(job)], path)
    for names in (hidden, path, sandbox.hidden):  # in this process only: students' code could find and report them
        names.clear()
    tempfile.tempdir = sandbox.scratch
    with contextlib.suppress(OSError):  # if the folder is closed to it, the student's code meets the error itself
        os.chdir(sandbox.scratch)  # a notebook can read again what it writes to its folder
    os.environ.clear()
    os.environ.update(
        HOME=sandbox.scratch, TMPDIR=sandbox.scratch, PATH="/nowhere", MPLBACKEND="Agg", MPLCONFIGDIR=sandbox.scratch,
        TORCHINDUCTOR_CACHE_DIR=sandbox.scratch,
    )  # fmt: skip
    return json.dumps(active) + "\n"


def run_child(job, sandbox, pipe, steps, hidden, path):
    """Run a job, write its outcomes to the pipe, and end the process. steps: shared memory that counts training."""
    for number in range(3, 256):
        if number != pipe:
            with contextlib.suppress(OSError):
                os.close(number)
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_DFL)
    write = os.write
    # the protections are reported before the student's code can write anything
    write(pipe, enter_sandbox(job, sandbox, hidden, path).encode())
    disabled_torch.count_steps(steps, job["autograd"])
    output = outcomes_of(job).encode()
    while output:
        output = output[write(pipe, output) :]
    os._exit(0)


def main():
    source, target = os.dup(0), os.dup(1)
    null = os.open(os.devnull, os.O_RDWR)
    for number in (0, 1) if os.environ.get("UNROLLED_DEBUG") else (0, 1, 2):
        os.dup2(null, number)
    settings = globals().pop("settings")
    sources, path, hidden = settings["sources"], settings["path"], settings["hidden"]

    def load(*names):
        return [load_module(name, sources.pop(name)) for name in names]

    sandbox_modules = "system_calls", "limits", "visible_files", "isolation", "fork_server"
    _, limits, _, isolation, fork_server = load(*(f"assignments.sandbox.{name}" for name in sandbox_modules))
    sys.path[:] = path
    forget_editable_packages()
    warnings.simplefilter("ignore")
    import torch

    torch.set_num_threads(1)
    import torch._decomp.decompositions_for_jvp  # needs files that are hidden later  # noqa: F401

    global dependencies, run_changes, disabled_torch, companion_stub
    dependencies, run_changes = load("assignments.read.dependencies", "assignments.report.oral.run_changes")
    disabled_torch, companion_stub = load("assignments.sandbox.disabled_torch", "assignments.sandbox.companion_stub")
    for module in (disabled_torch, companion_stub):
        del sys.modules[module.__name__]  # students' code must not import them
    real_modules = {name: load_module(name, source) for name, source in sources.items()}
    sys.meta_path.insert(0, companion_stub.StubFinder(real_modules))
    # an optimizer imports torch._dynamo when it is made: one second for each answer that makes one
    for module in ("numpy", "matplotlib.pyplot", "torch.nn.functional", "torch.func", "torch._dynamo"):
        with contextlib.suppress(ImportError):
            __import__(module)
    disabled_torch.disable_operations(disabled_torch.RECURRENT)
    disabled_torch.disable_decompositions()
    disabled_torch.locate_native_functions()
    disabled_torch.install_traps("recurrent")
    warm = torch.rand(3, 4, dtype=torch.float64)
    (warm @ warm.T).sigmoid().tanh().sum()
    # compilers at run time need memory that is both written and executed, which the sandbox refuses
    torch.compile = compile_nothing
    disabled_torch.keep_to_one_thread()
    torch.backends.mkldnn.set_flags(False)
    linecache.clearcache()  # torch's compiler has read files that are hidden from now on
    limits.record_usage()
    hidden += disabled_torch.hidden_files()
    isolation.end_with_parent()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the batch handles Ctrl-C
    if hasattr(os, "fork"):
        run = functools.partial(run_child, hidden=hidden, path=path)
        fork_server.serve_connections(socket.socket(fileno=source), hidden, path, run)
        return
    fork_server.send(target, {"pid": os.getpid()})
    if (job := fork_server.receive(source)) is not None:  # one process per job; pool.py enforces the time limit
        begin = time.monotonic()
        active = enter_sandbox(job, isolation.Sandbox(), hidden, path)
        fork_server.send(target, {"ended": "", "said": active + outcomes_of(job), "seconds": time.monotonic() - begin})


if __name__ == "__main__":
    main()
