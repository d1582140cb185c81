"""Backend of matplotlib that shows drawings on the page at `plt.show` and at the end of a cell."""

import matplotlib.pyplot as plt
import numpy as np
from IPython.display import display
from IPython.shell import shell
from matplotlib import cbook
from matplotlib.backend_bases import FigureManagerBase as FigureManager  # noqa: F401
from matplotlib.backends.backend_svg import FigureCanvasSVG as FigureCanvas  # noqa: F401
from matplotlib.figure import Figure

from companion.page.svg import svg

unpack = cbook._unpack_to_numpy
# needed before matplotlib 3.10, which converts tensors itself
cbook._unpack_to_numpy = lambda values: np.asarray(values) if hasattr(values, "grad_fn") else unpack(values)

shell.display_formatter.formatters["image/svg+xml"].for_type(Figure, svg)


def set_matplotlib_formats(*formats, **unused):
    """Do nothing: drawings on pages are always SVG."""


def show(*unused, **too):
    """Show all open drawings and close them."""
    try:
        for number in plt.get_fignums():
            display(plt.figure(number))
    finally:
        plt.close("all")
