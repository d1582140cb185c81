"""Morse signals as a hand keys them: at any speed, unevenly, with false pulses.

International Morse code (ITU-R M.1677-1): a dot is one unit long, a dash three; one unit is between the parts of a
sign, three between signs, seven between words. At n words a minute, a unit is 1.2 / n seconds.

A signal is a list of pulses, each with the seconds at which the key went down and up. Signs are letters, digits and the
space between words.
"""

import math
import random
import re
from collections.abc import Iterator

import torch
from torch import Tensor

CODES = {
    "A": ".-", "B": "-...", "C": "-.-.", "D": "-..", "E": ".", "F": "..-.", "G": "--.", "H": "....", "I": "..",
    "J": ".---", "K": "-.-", "L": ".-..", "M": "--", "N": "-.", "O": "---", "P": ".--.", "Q": "--.-", "R": ".-.",
    "S": "...", "T": "-", "U": "..-", "V": "...-", "W": ".--", "X": "-..-", "Y": "-.--", "Z": "--..",
    "0": "-----", "1": ".----", "2": "..---", "3": "...--", "4": "....-", "5": ".....", "6": "-....", "7": "--...",
    "8": "---..", "9": "----.",
}  # fmt: skip
SIGNS = " " + "".join(CODES)  # sign k is class k + 1 of a network; class 0 is the blank
Pulses = list[tuple[float, float]]


def signs_of(text: str) -> str:
    """Return a text with letters and digits only, in capitals, words separated by single spaces."""
    return " ".join(re.sub(r"[^A-Z0-9\s—-]", "", text.upper()).replace("—", " ").replace("-", " ").split())


def units_of(text: str) -> Iterator[tuple[bool, int]]:
    """Yield the pulses (True) and pauses of a text, each with its units; ValueError for a sign without a code."""
    for place, word in enumerate(text.split()):
        if place:
            yield False, 7
        for k, sign in enumerate(word):
            if k:
                yield False, 3
            if sign not in CODES:
                raise ValueError(f"{sign!r} has no Morse code here, only A to Z and 0 to 9; see signs_of")
            for j, part in enumerate(CODES[sign]):
                if j:
                    yield False, 1
                yield True, 1 if part == "." else 3


def keyed(
    text: str,
    words_per_minute: float,
    jitter: float = 0.0,
    drift: float = 0.0,
    false_pulses: float = 0.0,
    longest_pause: float = 1.0,
    seed: int = 0,
) -> Pulses:
    """Return the pulses of a text, the first one at 0 seconds.

    jitter: standard deviation of the logarithm of each length. drift: the speed changes evenly, to 1 + drift of that at
    the start. false_pulses: the probability of a pulse of a quarter of a unit in a pause. longest_pause: a pause
    between words is up to so many times as long. ValueError for a text without signs, or a sign without a code.
    """
    chance = random.Random(seed)
    planned = list(units_of(text))
    if not planned:
        raise ValueError("a text must have a sign")
    time, found = 0.0, []
    for place, (down, units) in enumerate(planned):
        unit = 1.2 / words_per_minute / (1 + drift * place / len(planned))
        length = units * unit * math.exp(chance.gauss(0, jitter))
        if units == 7:
            length *= longest_pause ** chance.random()
        if down:
            found.append((time, time + length))
        elif chance.random() < false_pulses and length > unit / 4:
            start = time + (length - unit / 4) * chance.random()
            found.append((start, start + unit / 4))
        time += length
    return found


def steps_of(pulses: Pulses, end: float) -> Tensor:
    """Return what a network reads, (T, 2): a step for each pulse and each pause after one.

    The features of a step are 1 for a pulse and -1 for a pause, and log( 10 × its seconds ). end: the second at which
    the last pause ends. ValueError for pulses that overlap.
    """
    steps = []
    for (down, up), following in zip(pulses, [*(start for start, _ in pulses[1:]), end], strict=True):
        if not down < up < following:
            raise ValueError(
                f"a pulse from {down:g} to {up:g} seconds must end after it begins, and before {following:g}"
            )
        steps += [(1.0, math.log(10 * (up - down))), (-1.0, math.log(10 * (following - up)))]
    return torch.tensor(steps)


def decoded(codes: list[str]) -> str:
    """Return the signs of codes; a code that stands for no sign is left out, and an empty one is a space."""
    signs = {code: sign for sign, code in CODES.items()} | {"": " "}
    return "".join(signs.get(code, "") for code in codes)
