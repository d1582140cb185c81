"""What of IPython a page's cells need: `display`, and a shell that knows how to show an object.

The package itself is made for terminals and kernels, and large. `IPython.lib.pretty` is its own, unchanged.
"""

from . import display
from .shell import shell

__version__ = "9.0.0"
version_info = 9, 0, 0


def get_ipython():
    return shell
