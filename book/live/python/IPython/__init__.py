"""Stand-in for IPython on pages: `display`, and a shell that formats objects.

The real package is large and made for terminals and kernels. `IPython.lib.pretty` is taken from it, unchanged.
"""

from . import display
from .shell import shell

__version__ = "9.0.0"
version_info = 9, 0, 0


def get_ipython():
    return shell
