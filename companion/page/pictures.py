"""How the book's figures look. Importing this sets matplotlib up; `matrix` and `seeds` draw what recurs.

Figures are stored as SVG and compared to the letter by the tests, so nothing in them may change from run to run.
Only mathematics and numbers are drawn: a figure serves every language, and its words stand in the text around it.
"""

import hashlib
import io
import re
import statistics
from collections.abc import Collection, Sequence
from typing import Any

import matplotlib.pyplot as plt
import torch
from IPython import get_ipython
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from matplotlib_inline.backend_inline import set_matplotlib_formats

# Legible on white and on black alike: the site shows the same figure in light and dark.
BLUE, ORANGE, GREEN, PURPLE, RED = "#2f7fc1", "#d9731a", "#2f9460", "#8e63c7", "#d1495b"
COLOURS = [BLUE, ORANGE, GREEN, PURPLE, RED]
# The site turns these three into the page's own background, text and rules.
PAPER, INK, RULE = "#ffffff", "#1f2328", "#d0d7de"

# Numbers on a square of full colour: dark in both themes.
ON_COLOUR = "#101418"

plt.rcParams.update(
    {
        "figure.figsize": (4.8, 2.6),  # narrow: its letters stay legible on a phone
        "figure.constrained_layout.use": True,
        "figure.facecolor": PAPER,
        "axes.facecolor": PAPER,
        "axes.prop_cycle": plt.cycler(color=COLOURS),
        "axes.edgecolor": INK,
        "axes.labelcolor": INK,
        "axes.grid": True,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "grid.color": RULE,
        "text.color": INK,
        "xtick.color": INK,
        "ytick.color": INK,
        "legend.frameon": False,
        "lines.linewidth": 2,
        "mathtext.fontset": "cm",
        "font.size": 10,
        "svg.hashsalt": "unrolled",  # names inside the file follow from its content
    }
)


def svg(figure: Figure) -> str:
    """A figure as SVG, to a hundredth of a point: finer than the eye, coarser than what two processors differ by."""
    buffer = io.StringIO()
    figure.savefig(buffer, format="svg", metadata={"Date": None, "Creator": None})

    def shorten(match):
        # letters are drawn large and scaled down: their scale needs its digits
        return match[0] if match[0].startswith("scale") else f"{round(float(match[0]), 2) + 0.0:g}"

    return renamed(re.sub(r"scale\([^)]*\)|-?\d+\.\d{3,}", shorten, buffer.getvalue()))


def renamed(text: str) -> str:
    """An SVG whose clips are called after what is printed of them: matplotlib's names follow from their last digits."""
    for name, clip in re.findall(r'<clipPath id="(\w+)">(.*?)</clipPath>', text, re.DOTALL):
        text = text.replace(name, "p" + hashlib.sha256(clip.encode()).hexdigest()[:10])
    return text


if shell := get_ipython():
    set_matplotlib_formats("svg")
    shell.display_formatter.formatters["image/svg+xml"].for_type(Figure, svg)


def matrix(
    ax: Axes,
    values: Any,
    title: str = "",
    rows: Sequence[str] | None = None,
    columns: Sequence[str] | None = None,
    digits: int | None = 1,
    faded: Collection[int] = (),
    limit: float | None = None,
) -> Axes:
    """Draw a matrix (rows, columns) as squares, orange above zero and blue below, with its numbers in them.

    rows, columns: labels. digits: after the point; None draws no numbers. faded: rows drawn pale. limit: the
    number that gets the full colour, by default the largest.
    """
    values = torch.as_tensor(values).detach().cpu().double()
    limit = limit or float(values.abs().max()) or 1.0
    n, m = values.shape
    for r in range(n):
        for c in range(m):
            value = values[r, c].item()
            strength = min(abs(value) / limit, 1.0) * (0.15 if r in faded else 1.0)
            colour = (BLUE if value < 0 else ORANGE, strength)
            ax.add_patch(Rectangle((c, r), 1, 1, facecolor=colour, edgecolor=RULE, linewidth=0.8))
            if digits is not None:
                ink = ON_COLOUR if strength > 0.8 else INK
                ax.text(c + 0.5, r + 0.5, f"{value:.{digits}f}", ha="center", va="center", size=9, color=ink)
    ax.set(title=title, aspect="equal", xlim=(0, m), ylim=(n, 0))
    ax.set_xticks([k + 0.5 for k in range(m)] if columns else [], columns)
    ax.set_yticks([k + 0.5 for k in range(n)] if rows else [], rows)
    ax.tick_params(length=0)
    ax.grid(False)
    ax.spines[:].set_visible(False)
    return ax


def seeds(
    ax: Axes, runs: Sequence[dict[str, Any]], x: str, y: str, colour: str, label: str | None = None, **style: Any
) -> Axes:
    """Draw a point for every run, and a line through the medians: what differs from seed to seed is to be seen.

    runs: dictionaries, as `companion.learning.evidence.load` gives them. x, y: which of their entries. style: of the
    line.
    """
    places = sorted({run[x] for run in runs})
    medians = [statistics.median(run[y] for run in runs if run[x] == place) for place in places]
    ax.plot([run[x] for run in runs], [run[y] for run in runs], "o", color=colour, markersize=4, alpha=0.6, mew=0)
    ax.plot(places, medians, color=colour, label=label, **style)
    return ax
