"""The look of the book's plots: importing this module configures matplotlib; `matrix` and `seeds` draw common plots.

Figures are stored as SVG and compared to the letter by the tests, so nothing in them may change from run to run. Words
and numbers are SVG text, which the page shows in its own font; formulas are outlines. A label is one or the other.
"""

import statistics
import warnings
from collections.abc import Collection, Sequence
from typing import Any

import torch

from companion.extra import notebook_extra

with notebook_extra():
    import matplotlib.pyplot as plt
    from IPython import get_ipython
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.patches import Rectangle
    from matplotlib_inline.backend_inline import set_matplotlib_formats

    from companion.page.svg import svg

# Legible on white and on black: the site shows the same figure in light and dark.
BLUE, ORANGE, GREEN, PURPLE, RED = "#2f7fc1", "#d9731a", "#2f9460", "#8e63c7", "#d1495b"
COLOURS = [BLUE, ORANGE, GREEN, PURPLE, RED]
# The site replaces these three by the page's own colours of background, text and rules.
PAPER, INK, RULE = "#ffffff", "#1f2328", "#d0d7de"

# Colour of numbers on a fully coloured square: dark in both themes.
ON_COLOUR = "#101418"

plt.rcParams.update(
    {
        "figure.figsize": (4.8, 2.6),  # narrow, so that letters stay legible on a phone
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
    }
)
warnings.filterwarnings("ignore", "Glyph .* missing from")  # plots are shown as SVG, in fonts of the reader's browser


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
    """Draw a matrix (rows, columns) as squares, orange above zero and blue below, with the numbers in them.

    rows, columns: labels. digits: decimal places; None draws no numbers. faded: rows drawn pale. limit: the number that
    gets the full colour, by default the largest.
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
    """Draw a point for every run and a line through the medians, so that the spread between seeds is visible.

    runs: dictionaries, as `companion.learning.evidence.load` returns them. x, y: keys of these. style: of the line.
    """
    positions = sorted({run[x] for run in runs})
    medians = [statistics.median(run[y] for run in runs if run[x] == position) for position in positions]
    ax.plot([run[x] for run in runs], [run[y] for run in runs], "o", color=colour, markersize=4, alpha=0.6, mew=0)
    ax.plot(positions, medians, color=colour, label=label, **style)
    return ax
