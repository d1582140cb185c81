"""Parse what a process that ran students' code sends back: untrusted text, accepted only in the expected form."""

import json
import math
import re
import sys
import sysconfig
from functools import cache
from pathlib import Path

import torch

from companion.check.engine import messages
from companion.check.engine.probe import Outcome

ROOT = Path(__file__).resolve().parents[2]
MAX_NUMBERS = 200_000  # in a value
MAX_OUTPUT = 4 * 2**20  # characters of a job's output, as in fork_server.py
FORM_FIELDS = {
    key.removeprefix("unfit_"): set(re.findall(r"\{(\w+)\}", text))
    for key, text in messages.words("en")["results"].items()
    if key.startswith("unfit_")
}


class Forged(ValueError):
    """Raised if a message is not of the form that the process was asked for."""


def parse_reply(reply, seconds):
    """Return a worker's reply to a job within bounds: without fork, the student's own process writes it."""
    text = reply.get("said") if isinstance(reply, dict) else None
    if not isinstance(text, str) or not isinstance(reply.get("ended"), str):
        reply, text = {"ended": "quit"}, ""
    if len(text) > MAX_OUTPUT:
        reply, text = {"ended": "output"}, ""
    counted = {name: parse_count(reply.get(name)) for name in ("processor", "steps")}
    return {"ended": parse_text(reply["ended"], 100), "said": text, "seconds": seconds} | counted


def parse_count(number):
    """Return a number of steps or seconds, or 0 for anything else."""
    return number if type(number) in (int, float) and 0 <= number < 10**9 else 0


def split_protections(output):
    """Return the sandbox's active protections, which are the first line of a job's output, and the rest."""
    first, _, rest = output.partition("\n")
    try:
        return parse_texts(json.loads(first)) if first else [], rest
    except (ValueError, RecursionError):
        return [], rest


def parse_outcomes(output, count):
    """Return the outcomes (None without an answer), the cells' errors, and what was left out: "", "idle" or "more"."""
    message = json.loads(output)
    errors = [
        {"cell": parse_index(error["cell"]), "type": parse_text(error["type"], 100),
         "text": parse_text(error["text"], 300)}
        for error in message["errors"][:20]
    ]  # fmt: skip
    others = message["others"] if message["others"] in ("idle", "more") else ""
    if message["outcomes"] is None:
        return None, errors, others
    if not isinstance(message["outcomes"], list) or len(message["outcomes"]) != count:
        raise Forged
    return [parse_outcome(outcome) for outcome in message["outcomes"]], errors, others


def parse_outcome(packed):
    """Return an Outcome from untrusted JSON; raise Forged if it is none."""
    if not isinstance(packed, dict) or not isinstance(packed.get("values"), dict) or len(packed["values"]) > 100:
        raise Forged
    values = {parse_text(name): parse_tensor(value) for name, value in packed["values"].items()}
    return Outcome(values, parse_notes(packed.get("notes")), parse_error(packed.get("error")))


def parse_text(text, length=200):
    """Return untrusted text that is safe in a line of Markdown: printable, cut to `length`, without backticks.

    It names no folder of this machine.
    """
    if not isinstance(text, str):
        raise Forged
    text = remove_folders(text[: length + 1000])[:length]
    return "".join(letter if letter.isprintable() else " " for letter in text).replace("`", "'")


@cache
def own_folders():
    """Return the folders of Python, of its packages and of this project, the longest first."""
    folders = [*sys.path, *sysconfig.get_paths().values(), sys.prefix, sys.base_prefix, sys.executable, *ROOT.parents]
    folders = {str(path) for folder in [*folders, ROOT, Path.home()] for path in (Path(folder), Path(folder).resolve())}
    return sorted((folder for folder in folders if len(Path(folder).parts) > 2), key=len, reverse=True)


def remove_folders(text):
    """Remove this machine's folders from a text, also where the end of a long text cuts a folder's name."""
    if "/" not in text and "\\" not in text:
        return text
    begun = (folder[:size] for folder in own_folders() for size in range(3, len(folder))) if len(text) > 99 else ()
    text = text.removesuffix(max((part for part in begun if text.endswith(part)), key=len, default=""))
    return re.sub(rf"({'|'.join(map(re.escape, own_folders()))})[/\\]?", "", text)


def parse_tensor(packed):
    if not isinstance(packed, dict):
        raise Forged
    shape, numbers = packed.get("shape"), packed.get("numbers")
    if not isinstance(shape, list) or not isinstance(numbers, list) or len(shape) > 8 or len(numbers) > MAX_NUMBERS:
        raise Forged
    if not all(type(size) is int and 0 <= size <= MAX_NUMBERS for size in shape) or math.prod(shape) != len(numbers):
        raise Forged
    if not all(type(number) in (float, int) for number in numbers):
        raise Forged
    try:
        return torch.tensor([float(number) for number in numbers], dtype=torch.float64).reshape(shape)
    except (OverflowError, RuntimeError) as error:
        raise Forged from error


def parse_texts(texts, count=50):
    """Return at most `count` of these texts."""
    if not isinstance(texts, list):
        raise Forged
    return [parse_text(text) for text in texts[:count]]


def parse_notes(packed):
    if not isinstance(packed, dict):
        raise Forged
    notes = {}
    for key in ("library", "missing", "extra", "plain", "changed", "settings"):
        if key in packed:
            notes[key] = parse_texts(packed[key])
    if "renamed" in packed:
        if not isinstance(packed["renamed"], list) or any(len(parse_texts(pair)) != 2 for pair in packed["renamed"]):
            raise Forged
        notes["renamed"] = [parse_texts(pair) for pair in packed["renamed"][:50]]
    if "shapes" in packed:
        if not isinstance(packed["shapes"], dict):
            raise Forged
        notes["shapes"] = {parse_text(name): parse_sizes(shape) for name, shape in list(packed["shapes"].items())[:50]}
    return {key: note for key, note in notes.items() if note}


def parse_index(number):
    """Return the number of a cell or a line."""
    if type(number) is not int or not 0 <= number < 10**9:
        raise Forged
    return number


def parse_sizes(sizes):
    if not isinstance(sizes, list) or len(sizes) > 8:
        raise Forged
    if not all(type(size) is int and abs(size) < 2**40 for size in sizes):
        raise Forged
    return sizes


def parse_error(packed):
    if packed is None:
        return None
    if not isinstance(packed, dict):
        raise Forged
    kind = parse_text(packed.get("kind"))
    if kind == "raises_error":
        error = {"kind": kind, "type": parse_text(packed.get("type"), 100), "text": parse_text(packed.get("text"), 300)}
        if type(packed.get("line")) is int and isinstance(packed.get("code"), str):
            error |= {"line": parse_index(packed["line"]), "code": parse_text(packed["code"])}
            error |= {"function": parse_text(packed.get("function", ""))}
        return error
    fields = packed.get("said")
    if kind not in FORM_FIELDS or not isinstance(fields, dict) or not FORM_FIELDS[kind] <= set(fields):
        raise Forged
    return {"kind": kind, "said": {key: parse_sizes(fields[key]) if isinstance(fields[key], list)
                                   else parse_text(fields[key]) for key in FORM_FIELDS[kind]}}  # fmt: skip
