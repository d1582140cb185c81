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
import sys
import time
import traceback
import types
import warnings

import ipywidgets
from IPython import shell
from IPython.display import display, show

MAX_DELAY = 0.05  # seconds for which printed text is buffered, so that the lines of a loop are sent together
MAX_BUFFERED = 8192  # characters
CONTEXT = 4, 3  # lines that a traceback shows before and after the one that failed
# new objects between collections of reference cycles; with the default of 700 they take a fifth of training
GC_THRESHOLD = 20_000
RED, GREEN, CYAN, PLAIN = "\033[0;31m", "\033[0;32m", "\033[0;36m", "\033[0m"


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
        gc.set_threshold(GC_THRESHOLD)
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
        try:
            *statements, last = [*compile_cell(source, name), None]
            for code in statements:
                exec(code, self.main.__dict__)
            if last is not None:
                exec(last, self.main.__dict__)
            shell.end_cell()
            return True
        except BaseException as error:
            if isinstance(error, MemoryError):
                sys.last_value = None  # free the memory that the traceback holds
            shell.end_cell()
            self.emit_error(error)
            return False
        finally:
            for stream in self.streams:
                stream.flush()

    def emit_error(self, error):
        """Emit an error with its traceback."""
        lines = traceback_lines(error)
        self.emit_in_order(
            {"output_type": "error", "ename": type(error).__name__, "evalue": str(error), "traceback": lines}
        )

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
        except Exception as error:  # of the reader's code that observes the figure
            self.emit_error(error)


def compile_cell(source, name):
    """Yield the compiled statements of a cell, and separately the last one if its value is to be shown."""
    for number, line in enumerate(source.splitlines(), 1):
        if line.lstrip().startswith(("%", "!")) and not is_continuation(source, number):
            raise SyntaxError("lines with % or ! are Jupyter's own: run the notebook for them", (name, number, 1, line))
    tree = ast.parse(source, name)
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


def traceback_lines(error):
    """Return a traceback in Jupyter's form, line by line: from the cell on, with code around each failed line."""
    head = f"{RED}{type(error).__name__}{PLAIN}"
    last_lines = "".join(traceback.format_exception_only(error)).rstrip("\n")
    if isinstance(error, SyntaxError):
        return [f"  {part}" if k else part for k, part in enumerate(last_lines.split("\n"))]
    lines = [
        f"{RED}{'-' * 75}{PLAIN}",
        f"{head}{'Traceback (most recent call last)':>{75 - len(type(error).__name__)}}",
    ]
    for cause, link in causes(error):
        lines += ["", *frames(cause.__traceback__), f"{RED}{type(cause).__name__}{PLAIN}: {cause}", "", link, ""]
    _, _, message = last_lines.partition(": ")
    return [*lines, *frames(error.__traceback__), f"{head}: {message}"]


def causes(error):
    """Return the errors that led to this one, oldest first, each with the sentence that links it to the next."""
    if error.__cause__:
        return [
            *causes(error.__cause__),
            (error.__cause__, "The above exception was the direct cause of the following exception:"),
        ]
    if error.__context__ and not error.__suppress_context__:
        return [
            *causes(error.__context__),
            (error.__context__, "During handling of the above exception, another exception occurred:"),
        ]
    return []


def frames(tb):
    """Return the lines for the frames of a traceback, without those of this file."""
    lines = []
    for frame, number in traceback.walk_tb(tb):
        code = frame.f_code
        if code.co_filename == __file__:
            continue
        where = code.co_filename if code.co_filename.startswith("Cell In") else f"File {code.co_filename}"
        inside = "" if code.co_name == "<module>" else f", in {CYAN}{code.co_qualname}{PLAIN}"
        lines.append(f"{GREEN}{where}{PLAIN}, line {number}{inside}")
        before, after = CONTEXT
        for k in range(max(1, number - before), number + after):
            line = linecache.getline(code.co_filename, k).rstrip()
            if k == number:
                lines.append(f"{GREEN}----> {k}{PLAIN} {line}")
            elif linecache.getline(code.co_filename, k):
                lines.append(f"{k:>7} {line}")
        lines.append("")
    return lines
