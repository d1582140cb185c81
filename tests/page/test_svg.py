"""Test plots as SVG: words and numbers are text, formulas are outlines, and nothing depends on the order of drawing."""

import re

import matplotlib.pyplot as plt

from companion.page.svg import svg


def drawing():
    figure, ax = plt.subplots(figsize=(4, 3))
    ax.plot([0.001, 0.002], [1, 2], label="損失 <a & b>")
    ax.set(title="$h_t = W x_t$", xlabel="epoch", xticks=[0.001, 0.0015])
    ax.legend()
    plt.close(figure)
    return figure


def test_words_are_text_and_formulas_are_outlines(recwarn):
    text = svg(drawing())
    written = re.findall("<text [^>]*>(.*?)</text>", text)
    assert {"epoch", "損失 &lt;a &amp; b&gt;", "0.0010", "0.0015"} <= {*written}
    assert not any("h_t" in label or "$" in label for label in written) and text.count("<use ") > 5
    assert not recwarn.list  # matplotlib's font lacks the Japanese letters


def test_a_figure_is_the_same_when_it_is_drawn_again():
    figure = drawing()
    canvas, dpi = figure.canvas, figure.dpi
    first = svg(figure)
    assert svg(figure) == first == svg(drawing())
    assert (figure.canvas, figure.dpi) == (canvas, dpi)
