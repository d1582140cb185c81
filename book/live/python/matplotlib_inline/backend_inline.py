"""matplotlib's way to a page: drawings are shown where `plt.show` asks for them, and at a cell's end."""

import matplotlib.pyplot as plt
import numpy as np
from IPython.display import display
from IPython.shell import shell, svg
from matplotlib import cbook
from matplotlib.backend_bases import FigureManagerBase as FigureManager  # noqa: F401
from matplotlib.backends.backend_svg import FigureCanvasSVG as FigureCanvas  # noqa: F401
from matplotlib.figure import Figure

as_array = cbook._unpack_to_numpy
# matplotlib knows tensors from 3.10 on
cbook._unpack_to_numpy = lambda values: np.asarray(values) if hasattr(values, "grad_fn") else as_array(values)

shell.display_formatter.formatters["image/svg+xml"].for_type(Figure, svg)


def set_matplotlib_formats(*formats, **unused):
    """A page's drawings are SVG: they grow with the letters, and know dark and light."""


def show(*unused, **too):
    """Show the drawings that were begun, and begin anew."""
    for number in plt.get_fignums():
        display(plt.figure(number))
    plt.close("all")
