"""A stream as a program: a line says what arrived from whom, and is answered by a line.

    python -m companion.learning.stream run.safetensors < what_arrived > predictions

`Stream.save` makes the file. A line is JSON: {"user": "anna", "values": "I am"}, or with numbers {"user": "pump 7",
"values": 3.2, "time": 1200}; see `Arrived`. Its answer has its number and the prediction after the last value: numbers,
or for a text the likeliest next characters. A line that cannot be read is answered by {"line": …, "error": …}, and
changes nothing.

The states are stored in the same file at the end of the input, on SIGTERM and Ctrl-C, and after --seconds or --lines.
After SIGTERM nothing is lost: what was read and not answered is kept, also the beginning of a line, and is answered
when the program starts again. After SIGKILL or a power failure it goes on from the last snapshot, and says on the
standard error which line was the last one kept: send those after it again. One program at a time can use a file.
"""

import argparse
import json
import math
import os
import selectors
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from companion.learning.generation import probabilities
from companion.learning.stream import Arrived, Stream

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

LIKELIEST = 3  # next characters in an answer
KEYS = ("user", "values", "time", "session")
OWN = "program"  # key of the program's notes in the stream's


def answer(stream: Stream, line: bytes) -> dict[str, Any]:
    """Return the answer to a line, without its number: a prediction, or an error."""
    try:
        read = parse(line)
        (outputs,) = stream.push([Arrived(**read)])
    except (ValueError, FloatingPointError) as error:
        return {"error": str(error)}
    last = outputs[-1]
    if stream.vocabulary is None or len(last) != len(stream.vocabulary):
        return {"user": read["user"], "prediction": last.tolist()}
    likeliest = probabilities(last).topk(min(LIKELIEST, len(last)))
    characters = map(stream.vocabulary.decode, likeliest.indices[:, None])
    return {"user": read["user"], "next": dict(zip(characters, (round(p, 4) for p in likeliest.values.tolist())))}


def parse(line: bytes) -> dict[str, Any]:
    """Return the object that a line has; ValueError for a line without user and values, and for other names."""
    try:
        read = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"not JSON: {error}") from None
    if not isinstance(read, dict) or not {"user", "values"} <= read.keys() <= {*KEYS}:
        raise ValueError(f"expected an object with user and values, and possibly {' and '.join(KEYS[2:])}")
    return read


@contextmanager
def stop_signals() -> Iterator[int]:
    """Yield a file descriptor that gets a byte at SIGTERM and at Ctrl-C, which do nothing else within the context."""
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    before = {number: signal.signal(number, lambda *_: None) for number in (signal.SIGTERM, signal.SIGINT)}
    woken = signal.set_wakeup_fd(writer)
    try:
        yield reader
    finally:
        signal.set_wakeup_fd(woken)
        for number, handler in before.items():
            signal.signal(number, handler)
        os.close(reader)
        os.close(writer)


def notes_of(stream: Stream) -> dict[str, Any]:
    """Return the program's notes: how many lines it has answered, and what it had read beyond them."""
    notes = stream.notes.get(OWN)
    if not isinstance(notes, dict) or notes.keys() != {"line", "unread"}:
        notes = {"line": 0, "unread": ""}
    return notes


def parsed(line: bytes) -> bool:
    """Return True for a line that can be read."""
    try:
        return bool(parse(line))
    except ValueError:
        return False


def run(stream: Stream, path: Path, source: int, write: Any, seconds: float, lines: int) -> None:
    """Answer lines from a file descriptor until its end or a signal, and store the stream.

    write: called with each answer, as one line of text.
    """
    notes = stream.notes[OWN] = notes_of(stream)
    waiting, beginning = split_kept(notes)
    saved_line, saved_at = notes["line"], time.monotonic()

    def save(unread: bytes) -> None:
        nonlocal saved_line, saved_at
        notes["unread"] = unread.decode("latin-1")  # a character for each byte
        stream.save(path)
        saved_line, saved_at = notes["line"], time.monotonic()

    with stop_signals() as stop, selectors.DefaultSelector() as selector:
        selector.register(stop, selectors.EVENT_READ)
        always = False  # a file, which cannot be waited for and need not be
        try:
            selector.register(source, selectors.EVENT_READ)
        except PermissionError:
            always = True
        ended = False
        while True:
            late = notes["line"] - saved_line >= lines or time.monotonic() - saved_at >= seconds
            if late and notes["line"] > saved_line:
                save(waiting[: waiting.rfind(b"\n") + 1])  # whole lines: what follows is sent again
            has_line = b"\n" in waiting or (ended and waiting)
            ready = {key.fd for key, _ in selector.select(0 if has_line or always or ended else seconds)}
            if stop in ready:
                break
            if has_line:
                line, _, waiting = waiting.partition(b"\n")
                result = answer(stream, line)
                notes["line"] += 1
                write(json.dumps({"line": notes["line"]} | result, ensure_ascii=False) + "\n")
            elif ended:
                break
            elif always or source in ready:
                read = os.read(source, 1 << 16)
                waiting, ended = waiting + read, not read
                if beginning and (ended or b"\n" in waiting):  # of a line that the program before had begun to read
                    first = waiting.partition(b"\n")[0]
                    is_new = parsed(first) and not parsed(beginning + first)  # the sender has sent the whole line again
                    waiting, beginning = (waiting if is_new else beginning + waiting), b""
        save(waiting + beginning)


def split_kept(notes: dict[str, Any]) -> tuple[bytes, bytes]:
    """Return the whole lines that were read and not answered, and the beginning of one."""
    unread = notes["unread"].encode("latin-1")
    end = unread.rfind(b"\n") + 1
    return unread[:end], unread[end:]


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold a lock on a file beside `path`; ValueError if another program has it."""
    lock = path.with_name(path.name + ".lock")
    with lock.open("w") as file:
        if fcntl is not None:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                raise ValueError(f"another program uses {str(path)!r}") from None
        for left in path.parent.glob(f"{path.name}.*.unfinished"):  # by a program that was killed
            left.unlink(missing_ok=True)
        yield


def positive(text: str) -> float:
    """Return a positive number of the command line."""
    if not 0 < (number := float(text)) < math.inf:
        raise ValueError(text)
    return number


def main(arguments: list[str] | None = None) -> None:
    """Run the program; `arguments` are those of the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path, help="made by Stream.save; the states are stored in it")
    parser.add_argument("--seconds", type=positive, default=10.0, help="most seconds between snapshots (default: 10)")
    parser.add_argument("--lines", type=positive, default=1000, help="most lines between snapshots (default: 1000)")
    options = parser.parse_args(arguments)
    try:
        with locked(options.file):
            start(options)
    except (ValueError, OSError) as error:
        sys.stderr.write(f"{error}\n")
        raise SystemExit(1) from None


def start(options: argparse.Namespace) -> None:
    """Load the stream, try to store it, and answer lines."""
    stream = Stream.load(options.file)
    notes = notes_of(stream)
    stream.save(options.file)  # an error of permission or space comes now, and not after many lines
    kept, _ = split_kept(notes)
    if (line := notes["line"]) or kept:
        unread = kept.count(b"\n")
        also = f" {unread} lines after it were read and are answered now." if unread else ""
        print(f"line {line:,} was the last one kept.{also} Send those after {line + unread:,}.", file=sys.stderr)
    sys.stdout.reconfigure(encoding="utf-8", errors="backslashreplace")  # type: ignore[union-attr]

    def write(text: str) -> None:
        sys.stdout.write(text)
        sys.stdout.flush()

    run(stream, options.file, sys.stdin.fileno(), write, options.seconds, options.lines)


if __name__ == "__main__":
    main()
