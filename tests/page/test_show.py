"""What chapters show besides figures: the package's own lines, and text in colour."""

import re

import pytest

from companion.learning.training import detach
from companion.page.show import coloured, prose, source


def test_source_is_the_functions_own_without_its_description():
    shown = source(detach).data
    assert shown.startswith("```python\ndef detach(state: Any) -> Any:\n") and "gradients end here" not in shown
    assert "tuple(detach(s) for s in state)" in shown


def test_prose_breaks_lines_and_shows_signs_as_they_are():
    shown = prose("a < b & c\nd")
    assert repr(shown) == "a < b & c\nd"
    assert shown._repr_html_() == '<blockquote class="prose" lang="en">a &lt; b &amp; c<br>d</blockquote>'


def test_colour_says_sign_and_size():
    shown = coloured(["a", "<", "\n", "d"], [1.0, -0.5, 0.0, -7.0])
    colours = re.findall(r"rgba\((\d+),\d+,\d+,([\d.]+)\)", shown._repr_html_())
    assert colours == [("217", "0.5"), ("47", "0.25"), ("47", "0"), ("47", "0.5")]  # orange, then blue, at most half
    assert repr(shown) == "a<\nd" and "&lt;" in shown._repr_html_() and "<br>" in shown._repr_html_()
    with pytest.raises(ValueError):
        coloured(["a", "b"], [1.0])
