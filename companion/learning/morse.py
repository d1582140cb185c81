"""Morse signals as a hand keys them: at any speed, unevenly, with false pulses.

International Morse code (ITU-R M.1677-1): a dot is one unit long, a dash three; one unit is between the parts of a
sign, three between signs, seven between words. At n words a minute, a unit is 1.2 / n seconds.

A signal has one number for each frame of 1 / `RATE` seconds: the share of the frame in which the key was down.

Shapes: T frames, N signals in a batch, S signs of the longest text.
"""

import math
import random
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
RATE = 25  # frames a second


def runs(text: str) -> Iterator[tuple[bool, int]]:
    """Yield the pulses (True) and pauses of a text, each with its units. A space is a pause between words."""
    for place, word in enumerate(text.split()):
        if place:
            yield False, 7
        for k, sign in enumerate(word):
            if k:
                yield False, 3
            for j, part in enumerate(CODES[sign]):
                if j:
                    yield False, 1
                yield True, 1 if part == "." else 3


def pulses(
    text: str,
    words_per_minute: float,
    jitter: float = 0.0,
    drift: float = 0.0,
    false_pulses: float = 0.0,
    seed: int = 0,
) -> list[tuple[float, float]]:
    """Return the start and the end of each pulse, in seconds, after a pause of three units.

    jitter: standard deviation of the logarithm of each length. drift: at the end, the speed is 1 + drift of that at the
    start. false_pulses: the probability of a pulse of a quarter of a unit in a pause.
    """
    chance = random.Random(seed)
    planned = list(runs(text))
    unit = 1.2 / words_per_minute
    time, found = 3 * unit, []
    for place, (down, units) in enumerate(planned):
        now = unit / (1 + drift * place / len(planned))
        length = units * now * math.exp(chance.gauss(0, jitter))
        if down:
            found.append((time, time + length))
        elif chance.random() < false_pulses:
            start = time + (length - now / 4) * chance.random()
            found.append((start, start + now / 4))
        time += length
    return found


def signal_of(pulses: list[tuple[float, float]], end: float) -> Tensor:
    """Return the signal of pulses, (T): the share of each frame in which the key was down; end: in seconds."""
    signal = [0.0] * math.ceil(end * RATE)
    for start, stop in pulses:
        first, last = start * RATE, stop * RATE
        for frame in range(int(first), min(math.ceil(last), len(signal))):
            signal[frame] += min(last, frame + 1) - max(first, frame)
    return torch.tensor(signal)
