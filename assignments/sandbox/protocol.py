"""What came back from a process in which students' code ran: a stranger's text.

It is read as numbers of a certain shape, or not at all.
"""

import json
import math
import re

import torch

from companion.check.engine import messages
from companion.check.engine.probe import Outcome

MOST = 200_000  # numbers in a value
OUTPUT = 4 * 2**20  # letters of what an answer says, as in zygote.py
UNFIT = {
    key.removeprefix("unfit_"): set(re.findall(r"\{(\w+)\}", text))
    for key, text in messages.words("en")["results"].items()
    if key.startswith("unfit_")
}


class Forged(ValueError):
    """Not what the process was asked for."""


def ended_of(said, seconds):
    """What a worker says of a job, within bounds: where there is no fork, the student's own process says it."""
    text = said.get("said") if isinstance(said, dict) else None
    if not isinstance(text, str) or not isinstance(said.get("ended"), str):
        return {"ended": "quit", "said": "", "seconds": seconds}
    if len(text) > OUTPUT:
        return {"ended": "output", "said": "", "seconds": seconds}
    return {"ended": word(said["ended"], 100), "said": text, "seconds": seconds}


def walls_of(said):
    """The walls that held, which are said first, and the rest."""
    walls, _, rest = said.partition("\n")
    try:
        return words_of(json.loads(walls)) if walls else [], rest
    except (ValueError, RecursionError):
        return [], rest


def outcomes_of(said, count):
    said = json.loads(said)
    errors = [
        {"cell": whole(one["cell"]), "type": word(one["type"], 100), "text": word(one["text"], 300)}
        for one in said["errors"][:20]
    ]
    others = said["others"] if said["others"] in ("idle", "more") else ""
    if said["outcomes"] is None:
        return None, errors, others
    if not isinstance(said["outcomes"], list) or len(said["outcomes"]) != count:
        raise Forged
    return [outcome_of(one) for one in said["outcomes"]], errors, others


def outcome_of(said):
    """An Outcome from a stranger's JSON. Forged if it is none."""
    if not isinstance(said, dict) or not isinstance(said.get("values"), dict) or len(said["values"]) > 100:
        raise Forged
    values = {word(name): tensor_of(packed) for name, packed in said["values"].items()}
    return Outcome(values, notes_of(said.get("notes")), error_of(said.get("error")))


def word(thing, most=200):
    """A stranger's text for a line of Markdown: what stands between backticks has none itself."""
    if not isinstance(thing, str):
        raise Forged
    return "".join(one if one.isprintable() else " " for one in thing[:most]).replace("`", "'")


def tensor_of(packed):
    if not isinstance(packed, dict):
        raise Forged
    shape, numbers = packed.get("shape"), packed.get("numbers")
    if not isinstance(shape, list) or not isinstance(numbers, list) or len(shape) > 8 or len(numbers) > MOST:
        raise Forged
    if not all(type(size) is int and 0 <= size <= MOST for size in shape) or math.prod(shape) != len(numbers):
        raise Forged
    if not all(type(number) in (float, int) for number in numbers):
        raise Forged
    try:
        return torch.tensor([float(number) for number in numbers], dtype=torch.float64).reshape(shape)
    except (OverflowError, RuntimeError) as error:
        raise Forged from error


def words_of(said, most=50):
    """As many as anyone would read."""
    if not isinstance(said, list):
        raise Forged
    return [word(one) for one in said[:most]]


def notes_of(said):
    if not isinstance(said, dict):
        raise Forged
    notes = {}
    for key in ("library", "missing", "extra", "plain", "changed"):
        if key in said:
            notes[key] = words_of(said[key])
    if "renamed" in said:
        if not isinstance(said["renamed"], list) or any(len(words_of(pair)) != 2 for pair in said["renamed"]):
            raise Forged
        notes["renamed"] = [words_of(pair) for pair in said["renamed"][:50]]
    if "shapes" in said:
        if not isinstance(said["shapes"], dict):
            raise Forged
        notes["shapes"] = {word(name): sizes(one) for name, one in list(said["shapes"].items())[:50]}
    return {key: one for key, one in notes.items() if one}


def whole(thing):
    """A number of a cell or a line."""
    if type(thing) is not int or not 0 <= thing < 10**9:
        raise Forged
    return thing


def sizes(said):
    if not isinstance(said, list) or len(said) > 8 or not all(type(one) is int and abs(one) < 2**40 for one in said):
        raise Forged
    return said


def error_of(said):
    if said is None:
        return None
    if not isinstance(said, dict):
        raise Forged
    kind = word(said.get("kind"))
    if kind == "raises_error":
        error = {"kind": kind, "type": word(said.get("type"), 100), "text": word(said.get("text"), 300)}
        if type(said.get("line")) is int and isinstance(said.get("code"), str):
            error |= {"line": whole(said["line"]), "code": word(said["code"])}
        return error
    more = said.get("said")
    if kind not in UNFIT or not isinstance(more, dict) or not UNFIT[kind] <= set(more):
        raise Forged
    return {"kind": kind, "said": {key: sizes(more[key]) if isinstance(more[key], list) else word(more[key])
                                   for key in UNFIT[kind]}}  # fmt: skip
