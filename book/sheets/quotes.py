"""Numbers from the chapters' stored outputs."""

import re
import tomllib
from functools import cache
from pathlib import Path

from book.sheets import chapters

FILE = Path(__file__).with_suffix(".toml")
POWER = re.compile(r"(\d(?:\.\d+)?)e([+-])0*(\d+)")
RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


@cache
def numbers():
    """Return name → number, as the chapters print it; ValueError if an output does not have one exactly once."""
    found = {}
    for quote in tomllib.loads(FILE.read_text(encoding="utf-8"))["quote"]:
        new = find(chapters.output(quote["place"]), quote["place"], quote["output"])
        if again := new.keys() & found.keys():
            raise ValueError(f"{FILE.name}: two quotes have the name {min(again)!r}")
        found |= new
    return found


def find(text, place, pattern):
    """Return the named groups of a pattern that an output has exactly once."""
    matches = [*re.finditer(pattern, text)]
    if len(matches) != 1:
        raise ValueError(f"{place}: the stored output has {len(matches)} matches of {pattern!r} instead of 1")
    return {name: show(value) for name, value in matches[0].groupdict().items()}


def show(value):
    """Return a number with its power of ten as raised digits: 6.4e+08 is 6.4 · 10⁸, and 9e-01 is 0.9."""
    match = POWER.fullmatch(value)
    if not match:
        return value
    digits, sign, power = match.groups()
    if int(power) < 2:
        return f"{float(value):g}"
    raised = (power if sign == "+" else f"-{power}").translate(RAISED)
    return f"{digits} · 10{raised}"
