"""Parts of a question: drawn numbers, choices, the words around them, and how numbers are shown."""

import re
import tomllib
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal
from functools import cache
from pathlib import Path

import torch

from book.editions import ORIGINAL

WORDS = Path(__file__).parent / "words"
WRONG = 3  # wrong choices that are shown


@dataclass(frozen=True)
class Numbers:
    """The drawn numbers of a question.

    right: the right answer. mistakes: the answer that each mistake gives. values: the numbers and tensors in the text,
    by name. digits: decimals of the answers. An answer is an integer, a float, a tuple (a shape) or Markdown.
    """

    right: object
    mistakes: dict
    values: dict
    digits: int = 3


@dataclass(frozen=True)
class Choice:
    """An answer to choose. said: the reason why it is right, or the mistake behind it."""

    text: str
    right: bool
    said: str


@cache
def interface(language):
    """Return the words around the questions, in a language that has them, else in English."""
    path = WORDS / f"{language}.toml"
    path = path if path.is_file() else WORDS / f"{ORIGINAL}.toml"
    return tomllib.loads(path.read_text(encoding="utf-8"))


def fill(text, values):
    """Put values into a text: `{name}` for each name. Other braces remain."""
    return re.sub(r"\{(\w+)\}", lambda match: values.get(match[1], match[0]), text)


def show(value, digits=None):
    """Return a number, a tensor's numbers, a shape or a text as Markdown. digits: decimals, by default as needed."""
    if isinstance(value, torch.Tensor):
        return ", ".join(show(number) for number in value.flatten().tolist())
    if isinstance(value, tuple):
        return f"`{value}`"
    if isinstance(value, float):
        text = f"{value:g}" if digits is None else str(round_half_up(value, digits))
        value = text.removeprefix("-") if not float(text) else text
    return re.sub(r"^-(?=[\d.]+$)", "−", str(value))


def round_half_up(value, digits):
    """Return a number rounded as at school: 0.355 is 0.36, also if its float is a little less."""
    return Decimal(repr(round(value, 12))).quantize(Decimal(1).scaleb(-digits), ROUND_HALF_UP)


def shuffled(choices, rng):
    return rng.sample(choices, len(choices))


def count(module):
    """Return how many numbers a module learns."""
    return sum(parameter.numel() for parameter in module.parameters())


def few(rng):
    """Return a number with one decimal that is not near zero: ±0.2 … ±0.9."""
    return rng.choice((-1, 1)) * rng.randint(2, 9) / 10


def block(lines, text):
    """Return a text in Markdown and a block of code below it."""
    return "\n".join([text, "", "```python", *lines, "```"])


def without_comments(code):
    """Return the lines of code without comments at their ends."""
    return re.sub(r"  #.*", "", code).rstrip().splitlines()
