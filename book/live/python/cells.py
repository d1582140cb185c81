"""Runs a page's cells as a notebook does, and says what they print, show and complain of.

session = Session(emit)         emit: takes each output, a dict in the form of Jupyter's messages
session.run("1 + 1")            True, and {"output_type": "execute_result", "data": {"text/plain": "2"}, …}
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

QUIET = 0.05  # seconds for which what is printed may wait for more, so that a loop's lines go together
MOST = 8192  # characters that wait at most
AROUND = 4, 3  # lines of a cell or module that a traceback shows before and after the one that failed
# new objects after which Python looks for rings of references; at its own 700, a fifth of training would go there
RINGS = 20_000
RED, GREEN, CYAN, PLAIN = "\033[0;31m", "\033[0;32m", "\033[0;36m", "\033[0m"


class Session:
    """The names that cells have made, and the number of the last one.

    emit: is called with each output when it comes. The session takes over sys.stdout, sys.stderr and __main__.
    """

    def __init__(self, emit):
        self.emit, self.number = emit, 0
        self.main = types.ModuleType("__main__")
        self.main.__dict__.update(In=[""], Out={}, get_ipython=lambda: shell, display=display)
        sys.modules["__main__"] = self.main
        sys.displayhook = self.answer
        sys.stdout, sys.stderr = self.streams = Stream("stdout", emit), Stream("stderr", emit)
        shell.emit = self.say
        builtins.input = no_input
        gc.set_threshold(RINGS)
        warnings.filterwarnings("ignore", message="tqdm:disabling monitor")  # browsers have no threads for it
        logging.getLogger("matplotlib.font_manager").setLevel(logging.ERROR)  # it says that it makes a list

    def say(self, output):
        """Emit an output, after all that was printed before it."""
        for stream in self.streams:
            stream.flush()
        self.emit(output)

    def run(self, source):
        """Run a cell; return whether it came to its end."""
        self.number += 1
        name = f"Cell In[{self.number}]"
        linecache.cache[name] = len(source), None, source.splitlines(keepends=True), name
        self.main.In.append(source)
        try:
            *statements, last = [*parsed(source, name), None]
            for code in statements:
                exec(code, self.main.__dict__)
            if last is not None:
                exec(last, self.main.__dict__)
            shell.end_cell()
            return True
        except BaseException as error:
            if isinstance(error, MemoryError):
                sys.last_value = None  # what filled the memory is not kept
            shell.end_cell()
            self.say(
                {"output_type": "error", "ename": type(error).__name__, "evalue": str(error), "traceback": told(error)}
            )
            return False
        finally:
            for stream in self.streams:
                stream.flush()

    def answer(self, value):
        """What a cell's last line gives."""
        if value is None:
            return
        builtins._ = self.main.Out[self.number] = value
        show(value, "execute_result", execution_count=self.number)

    def change(self, name, values):
        """What a reader moves in a figure: `name` is what it was shown under, values: trait → value, as JSON."""
        ipywidgets.shown[name].take(json.loads(values))


def parsed(source, name):
    """A cell as code: all statements, and apart from them the last one if its value is to be shown."""
    for number, line in enumerate(source.splitlines(), 1):
        if line.lstrip().startswith(("%", "!")) and not inside_a_string(source, number):
            raise SyntaxError("lines with % or ! are Jupyter's own: run the notebook for them", (name, number, 1, line))
    tree = ast.parse(source, name)
    lines = source.rstrip()
    shown = tree.body and isinstance(tree.body[-1], ast.Expr) and not lines.endswith(";")
    last = [tree.body.pop()] if shown else []
    yield compile(tree, name, "exec")
    if last:
        yield compile(ast.Interactive(last), name, "single")


def inside_a_string(source, number):
    """Whether this line begins within a text of several lines, or goes on with the line before it."""
    before = "\n".join(source.splitlines()[: number - 1])
    try:
        ast.parse(before)
    except SyntaxError:
        return True
    return False


class Stream(io.TextIOBase):
    """What is printed, on its way to the page: as few pieces as do not let a reader wait."""

    def __init__(self, name, emit):
        self.name, self.emit = name, emit
        self.waiting, self.size, self.last = [], 0, time.monotonic()

    encoding = "utf-8"

    def writable(self):
        return True

    def write(self, text):
        if not isinstance(text, str):
            raise TypeError(f"write() argument must be str, not {type(text).__name__}")
        self.waiting.append(text)
        self.size += len(text)
        if self.size > MOST or time.monotonic() - self.last > QUIET:
            self.flush()
        return len(text)

    def flush(self):
        if self.waiting:
            text = "".join(self.waiting)
            self.waiting, self.size = [], 0
            self.emit({"output_type": "stream", "name": self.name, "text": text})
        self.last = time.monotonic()


def no_input(prompt="", /):
    raise RuntimeError("a page's cell cannot ask for input: write the answer into the cell instead")


def told(error):
    """A traceback as Jupyter shows one, line by line: from the cell on, with the code around each place."""
    head = f"{RED}{type(error).__name__}{PLAIN}"
    told_last = "".join(traceback.format_exception_only(error)).rstrip("\n")
    if isinstance(error, SyntaxError):
        return [f"  {part}" if k else part for k, part in enumerate(told_last.split("\n"))]
    lines = [
        f"{RED}{'-' * 75}{PLAIN}",
        f"{head}{'Traceback (most recent call last)':>{75 - len(type(error).__name__)}}",
    ]
    for cause, link in causes(error):
        lines += ["", *frames(cause.__traceback__), f"{RED}{type(cause).__name__}{PLAIN}: {cause}", "", link, ""]
    _, _, message = told_last.partition(": ")
    return [*lines, *frames(error.__traceback__), f"{head}: {message}"]


def causes(error):
    """The errors before this one, the first one first, each with how it led to the next."""
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


def frames(place):
    """The places that led to an error, without those of this file."""
    lines = []
    for frame, number in traceback.walk_tb(place):
        code = frame.f_code
        if code.co_filename == __file__:
            continue
        where = code.co_filename if code.co_filename.startswith("Cell In") else f"File {code.co_filename}"
        inside = "" if code.co_name == "<module>" else f", in {CYAN}{code.co_qualname}{PLAIN}"
        lines.append(f"{GREEN}{where}{PLAIN}, line {number}{inside}")
        before, after = AROUND
        for k in range(max(1, number - before), number + after):
            line = linecache.getline(code.co_filename, k).rstrip()
            if k == number:
                lines.append(f"{GREEN}----> {k}{PLAIN} {line}")
            elif linecache.getline(code.co_filename, k):
                lines.append(f"{k:>7} {line}")
        lines.append("")
    return lines
