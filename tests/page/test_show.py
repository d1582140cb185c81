"""Tests of `companion.page.show`: source code and coloured text as outputs."""

import re

import pytest

from companion.learning.training import detach
from companion.page.show import coloured, prose, source


def test_source_omits_the_docstring():
    shown = source(detach).data
    assert shown.startswith("```python\ndef detach(state: Any) -> Any:\n") and "gradients end here" not in shown
    assert "tuple(detach(s) for s in state)" in shown


def test_prose_escapes_html_and_breaks_lines():
    shown = prose("a < b & c\nd")
    assert repr(shown) == "a < b & c\nd"
    assert shown._repr_html_() == '<blockquote class="prose" lang="en">a &lt; b &amp; c<br>d</blockquote>'


def test_colour_shows_sign_and_size():
    shown = coloured(["a", "<", "\n", "d"], [1.0, -0.5, 0.0, -7.0])
    colours = re.findall(r"rgba\((\d+),\d+,\d+,([\d.]+)\)", shown._repr_html_())
    assert colours == [("217", "0.5"), ("47", "0.25"), ("47", "0"), ("47", "0.5")]  # orange, then blue, at most half
    assert repr(shown) == "a<\nd" and "&lt;" in shown._repr_html_() and "<br>" in shown._repr_html_()
    with pytest.raises(ValueError):
        coloured(["a", "b"], [1.0])
