"""What chapters show besides numbers and figures: the companion's own lines, and text in colour."""

import html
import inspect
import re
import textwrap
from collections.abc import Iterable
from typing import Any

from IPython.display import Markdown

# The two ends of the figures' scale, blue below zero and orange above, as red, green, blue.
BLUE, ORANGE = "47,127,193", "217,115,26"
HAN = re.compile("[ぁ-ヿ㐀-鿿가-힣]")  # a sign of Chinese, Japanese or Korean


def source(thing: Any) -> Markdown:
    """The source of a class or function, without its docstring, as a code block: so page and package never differ."""
    lines = textwrap.dedent(inspect.getsource(thing))
    if thing.__doc__:
        before, _, after = lines.partition('"""')
        lines = before.rstrip() + after.partition('"""')[2]
    return Markdown(f"```python\n{lines.strip()}\n```")


class Prose:
    """Text as a notebook's output that breaks its lines where the page ends, as printed text does not."""

    def __init__(self, text: str, spans: Iterable[str]) -> None:
        self.text, self.spans = text, spans

    def __repr__(self) -> str:
        return self.text

    def _repr_html_(self) -> str:
        # in an edition of another language quotation marks would have that language's shapes
        latin = "" if HAN.search(self.text) else ' lang="en"'
        return f'<blockquote class="prose"{latin}>{"".join(self.spans)}</blockquote>'


def prose(text: str) -> Prose:
    """A text to be read, such as one that a model wrote."""
    return Prose(text, [on_page(text)])


def coloured(characters: Iterable[str], values: Iterable[float]) -> Prose:
    """A text in which each character stands on the colour of its value: blue at -1, none at 0, orange at 1.

    characters: a list of strings. values: as many numbers, from -1 to 1.
    """
    spans = []
    for character, value in zip(characters, values, strict=True):
        # at most half of the colour, so that letters stay legible in light and dark
        strength = round(min(abs(float(value)), 1.0) / 2, 2)
        colour = ORANGE if value > 0 else BLUE
        spans.append(f'<span style="background:rgba({colour},{strength:g})">{on_page(character)}</span>')
    return Prose("".join(characters), spans)


def on_page(text: str) -> str:
    """A text as HTML."""
    return html.escape(text, quote=False).replace("\n", "<br>")
