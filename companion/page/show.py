"""Source code and coloured text as notebook outputs."""

import html
import inspect
import re
import textwrap
from collections.abc import Iterable
from typing import Any

from IPython.display import Markdown

# The ends of the figures' colour scale as red, green, blue: BLUE below zero, ORANGE above.
BLUE, ORANGE = "47,127,193", "217,115,26"
CJK = re.compile("[ぁ-ヿ㐀-鿿가-힣]")  # a character of Chinese, Japanese or Korean


def source(thing: Any) -> Markdown:
    """Return the source of a class or function, without its docstring, as a Markdown code block.

    So the code on a page never differs from the code in the package.
    """
    lines = textwrap.dedent(inspect.getsource(thing))
    if thing.__doc__:
        before, _, after = lines.partition('"""')
        lines = before.rstrip() + after.partition('"""')[2]
    return Markdown(f"```python\n{lines.strip()}\n```")


class Prose:
    """Text as a notebook output that wraps at the page's width, which printed text does not."""

    def __init__(self, text: str, spans: Iterable[str]) -> None:
        self.text, self.spans = text, spans

    def __repr__(self) -> str:
        return self.text

    def _repr_html_(self) -> str:
        # without lang, browsers draw quotation marks in the style of the page's language
        latin = "" if CJK.search(self.text) else ' lang="en"'
        return f'<blockquote class="prose"{latin}>{"".join(self.spans)}</blockquote>'


def prose(text: str) -> Prose:
    """Return a text to be read, such as a model's output, as wrapped prose."""
    return Prose(text, [on_page(text)])


def coloured(characters: Iterable[str], values: Iterable[float]) -> Prose:
    """Return a text in which each character's background shows its value: blue at -1, none at 0, orange at 1.

    characters: a list of strings. values: as many numbers, from -1 to 1.
    """
    spans = []
    for character, value in zip(characters, values, strict=True):
        # at most half opaque, so that letters stay legible in light and dark
        strength = round(min(abs(float(value)), 1.0) / 2, 2)
        colour = ORANGE if value > 0 else BLUE
        spans.append(f'<span style="background:rgba({colour},{strength:g})">{on_page(character)}</span>')
    return Prose("".join(characters), spans)


def on_page(text: str) -> str:
    """Return a text as HTML."""
    return html.escape(text, quote=False).replace("\n", "<br>")
