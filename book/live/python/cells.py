"""Run a page's cells as a notebook does, and emit their outputs and errors.

session = Session(emit)         emit: called with each output, a dictionary in the form of Jupyter's messages
session.run("1 + 1")            True, and emits {"output_type": "execute_result", "data": {"text/plain": "2"}, …}
"""

import ast
import builtins
import gc
import io
import json
import linecache
import logging
import re
import sys
import time
import types
import warnings

import ipywidgets
from IPython import shell
from IPython.display import display, show
from tracebacks import format_warning, traceback_lines

MAX_DELAY = 0.05  # seconds for which printed text is buffered, so that the lines of a loop are sent together
MAX_BUFFERED = 8192  # characters
# new objects between collections of reference cycles; with the default of 700 they take a fifth of training
GC_THRESHOLD = 20_000
# A browser's stack holds about 450 calls of `__call__`; if it overflows, Python ends without an error.
RECURSION_LIMIT = 400
# Jupyter's commands, as in `%time f()`, `files = !ls`, `torch.tanh?` and `pip install torch`
JUPYTER_LINE = re.compile(r"\s*(?:[\w, ]+=\s*)?[%!]|\s*\?|\s*[\w.]+\?+\s*$|\s*(?:pip|conda) \w+")


class Session:
    """The namespace of the cells and the number of the last one.

    The session replaces sys.stdout, sys.stderr and __main__. emit: called with each output as soon as it is made.
    """

    def __init__(self, emit):
        self.emit, self.number = emit, 0
        self.main = types.ModuleType("__main__")
        self.main.__dict__.update(In=[""], Out={}, get_ipython=lambda: shell, display=display)
        sys.modules["__main__"] = self.main
        sys.displayhook = self.show_result
        sys.stdout, sys.stderr = self.streams = Stream("stdout", emit), Stream("stderr", emit)
        shell.emit = self.emit_in_order
        builtins.input = no_input
        warnings.formatwarning = format_warning
        gc.set_threshold(GC_THRESHOLD)
        sys.setrecursionlimit(RECURSION_LIMIT)
        warnings.filterwarnings("ignore", message="tqdm:disabling monitor")  # browsers have no threads
        logging.getLogger("matplotlib.font_manager").setLevel(logging.ERROR)  # it reports that it builds its cache

    def emit_in_order(self, output):
        """Emit an output after all text that was printed before it."""
        for stream in self.streams:
            stream.flush()
        self.emit(output)

    def run(self, source):
        """Run a cell; return whether it ended without an error."""
        self.number += 1
        name = f"Cell In[{self.number}]"
        linecache.cache[name] = len(source), None, source.splitlines(keepends=True), name
        self.main.In.append(source)
        errors = []
        for step in (lambda: self.execute(source, name), shell.end_cell):
            try:
                step()
            except BaseException as error:
                errors.append(error)
        for error in errors:
            self.report(error)
        for stream in self.streams:
            stream.flush()
        succeeded = not errors
        errors.clear()  # they hold this frame, and thus themselves
        return succeeded

    def execute(self, source, name):
        """Run the statements of a cell."""
        *statements, last = [*compile_cell(source, name), None]
        for code in statements:
            exec(code, self.main.__dict__)
        if last is not None:
            exec(last, self.main.__dict__)

    def report(self, error):
        """Emit an error."""
        if isinstance(error, MemoryError):
            sys.last_value = None  # free the memory that the traceback holds
        lines = traceback_lines(error)
        try:
            text = str(error)
        except Exception:  # in the reader's __str__
            text = ""
        self.emit_in_order({"output_type": "error", "ename": type(error).__name__, "evalue": text, "traceback": lines})

    def show_result(self, value):
        """Show the value of a cell's last line, and store it in _ and Out."""
        if value is None:
            return
        builtins._ = self.main.Out[self.number] = value
        show(value, "execute_result", execution_count=self.number)

    def change(self, name, values):
        """Set values that a reader changed in a figure. name: the figure's model_id. values: trait → value, as JSON."""
        try:
            ipywidgets.shown[name].receive(json.loads(values))
        except BaseException as error:  # in a function of the reader that observes the figure
            self.report(error)


def compile_cell(source, name):
    """Yield the compiled statements of a cell, and separately the last one if its value is to be shown."""
    try:
        tree = ast.parse(source, name)
    except SyntaxError:
        for number, line in enumerate(source.splitlines(), 1):
            if JUPYTER_LINE.match(line) and not is_continuation(source, number):
                text = "lines with %, !, ? or pip are Jupyter's own: run the notebook for them"
                raise SyntaxError(text, (name, number, 1, line)) from None
        raise
    lines = source.rstrip()
    shown = tree.body and isinstance(tree.body[-1], ast.Expr) and not lines.endswith(";")
    last = [tree.body.pop()] if shown else []
    yield compile(tree, name, "exec")
    if last:
        yield compile(ast.Interactive(last), name, "single")


def is_continuation(source, number):
    """Return whether a line continues the one before, for example in a string of several lines."""
    before = "\n".join(source.splitlines()[: number - 1])
    try:
        ast.parse(before)
    except SyntaxError:
        return True
    return False


class Stream(io.TextIOBase):
    """Standard output that sends text to the page in few pieces, none of them later than MAX_DELAY."""

    def __init__(self, name, emit):
        self.name, self.emit = name, emit
        self.buffer, self.size, self.last = [], 0, time.monotonic()

    encoding = "utf-8"

    def writable(self):
        return True

    def write(self, text):
        if not isinstance(text, str):
            raise TypeError(f"write() argument must be str, not {type(text).__name__}")
        self.buffer.append(text)
        self.size += len(text)
        if self.size > MAX_BUFFERED or time.monotonic() - self.last > MAX_DELAY:
            self.flush()
        return len(text)

    def flush(self):
        if self.buffer:
            text = "".join(self.buffer)
            self.buffer, self.size = [], 0
            self.emit({"output_type": "stream", "name": self.name, "text": text})
        self.last = time.monotonic()


def no_input(prompt="", /):
    raise RuntimeError("a page's cell cannot ask for input: write the answer into the cell instead")
