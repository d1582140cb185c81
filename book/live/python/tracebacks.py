"""Format errors and warnings of cells: they show the lines of the reader and of the companion, and no library's.

Libraries are small_torch, matplotlib and Python's own, and the modules that run the cells.
"""

import linecache
import os
import sys
import sysconfig
import traceback
import types
from collections import Counter
from itertools import groupby

from missing_modules import explain

CONTEXT = 4, 3  # lines that a traceback shows before and after a failed line of a cell
MAX_WITH_CONTEXT = 3  # if more lines failed, each is shown alone
MAX_REPEATS = 3  # a recursion that repeats a line more often shows it the first and the last time
RED, GREEN, CYAN, PLAIN = "\033[0;31m", "\033[0;32m", "\033[0;36m", "\033[0m"
CELL = "Cell In["
HERE = os.path.dirname(__file__)
COMPANION = os.path.join(HERE, "companion", "")
LIBRARIES = tuple(
    os.path.join(folder, "") for folder in (HERE, os.path.dirname(traceback.__file__), sysconfig.get_path("purelib"))
)
CAUSE = "The above exception was the direct cause of the following exception:"
CONTEXT_OF = "During handling of the above exception, another exception occurred:"


def traceback_lines(error):
    """Return a traceback in Jupyter's form, line by line: from the cell on, with code around each failed line."""
    if isinstance(error, SyntaxError) and not shown_frames(error):  # the cell itself does not compile
        return message_lines(error)
    name = type(error).__name__
    lines = [f"{RED}{'-' * 75}{PLAIN}", f"{RED}{name}{PLAIN}{'Traceback (most recent call last)':>{75 - len(name)}}"]
    for cause, link in causes(error):
        lines += ["", *error_lines(cause), "", link, ""]
    return [*lines, *error_lines(error)]


def error_lines(error):
    """Return the lines of one error without its causes; those of a group's errors come after its own."""
    first, *more = message_lines(error)
    name, colon, text = first.partition(":")
    if isinstance(error, SyntaxError):  # the last of its lines has the name
        lines = [*frame_lines(error), first, *more]
    else:
        lines = [*frame_lines(error), f"{RED}{type(error).__name__}{PLAIN}{colon}{text}", *more]
    if isinstance(error, BaseExceptionGroup):
        for number, part in enumerate(error.exceptions, 1):
            lines += ["", f"  Error {number} of {len(error.exceptions)}:"]
            for one, link in [*causes(part), (part, None)]:
                lines += [f"  {line}" for line in [*error_lines(one), *(["", link, ""] if link else [])]]
    return lines


def message_lines(error):
    """Return the lines that name an error, with its notes and a sentence about a missing module or a recursion."""
    lines = "".join(traceback.format_exception_only(error)).rstrip("\n").split("\n")
    if isinstance(error, SyntaxError):
        return [f"  {line}" if number else line for number, line in enumerate(lines)]
    sentence = explain(error)
    if isinstance(error, RecursionError):
        sentence = f"A page allows {sys.getrecursionlimit()} calls within calls, a notebook more."
    return lines + ([sentence] if sentence else [])


def causes(error):
    """Return the errors that led to this one, oldest first, each with the sentence that links it to the next.

    Errors that a library raised and handled itself are left out.
    """
    found, seen = [], {id(error)}
    while True:
        cause, link = error.__cause__, CAUSE
        if cause is None and not error.__suppress_context__:
            cause, link = error.__context__, CONTEXT_OF
        if cause is None or id(cause) in seen:
            return found[::-1]
        if link == CAUSE or shown_frames(cause):
            found.append((cause, link))
        seen.add(id(cause))
        error = cause


def is_shown(path):
    """Return whether tracebacks show the lines of a file: those of the reader and of the companion."""
    return path.startswith(COMPANION) or not path.startswith((*LIBRARIES, "<frozen"))


def shown_frames(error):
    """Return (code, line number) of each frame of an error that tracebacks show."""
    frames = [(frame.f_code, number) for frame, number in traceback.walk_tb(error.__traceback__)]
    generated = "__create_fn__"  # by dataclasses
    return [
        (code, number)
        for code, number in frames
        if is_shown(code.co_filename) and not code.co_qualname.startswith(generated)
    ]


def frame_lines(error):
    """Return the lines of an error's frames. A long recursion is cut to its first and its last round."""
    frames = shown_frames(error)
    repeats, seen, parts = Counter(frames), set(), []
    last = {frame: index for index, frame in enumerate(frames)}
    for index, frame in enumerate(frames):
        is_cut = repeats[frame] > MAX_REPEATS and frame in seen and index != last[frame]
        parts.append((is_cut, frame))
        seen.add(frame)
    with_context = sum(not is_cut for is_cut, _ in parts) <= MAX_WITH_CONTEXT
    lines = []
    for is_cut, group in groupby(parts, key=lambda part: part[0]):
        group = [frame for _, frame in group]
        if is_cut:
            lines += [f"... {len(group)} more calls of the same lines ...", ""]
        else:
            for code, number in group:
                lines += [*code_lines(code, number, with_context), ""]
    return lines


def code_lines(code: types.CodeType, number, with_context):
    """Return where a line is and its code, for a cell with the lines around it."""
    path = code.co_filename
    where = path if path.startswith(CELL) else f"File {path.removeprefix(os.path.join(HERE, ''))}"
    inside = "" if code.co_name == "<module>" else f", in {CYAN}{code.co_qualname}{PLAIN}"
    before, after = CONTEXT if with_context and path.startswith(CELL) else (0, 1)
    lines = [f"{GREEN}{where}{PLAIN}, line {number}{inside}"]
    for k in range(max(1, number - before), number + after):
        if line := linecache.getline(path, k):
            mark = f"{GREEN}----> {k}{PLAIN}" if k == number else f"{k:>7}"
            lines.append(f"{mark} {line.rstrip()}")
    return lines


def format_warning(message, category, filename, lineno, line=None):
    """Return the text of a warning, with the reader's line that led to it."""
    frame = sys._getframe()
    while frame and not frame.f_code.co_filename.startswith(CELL):
        frame = frame.f_back
    if frame and not filename.startswith(CELL):
        filename, lineno, line = frame.f_code.co_filename, frame.f_lineno, None
    line = (line or linecache.getline(filename, lineno)).strip()
    return f"{filename}, line {lineno}: {category.__name__}: {message}\n" + (f"  {line}\n" if line else "")
