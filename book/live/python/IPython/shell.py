"""The part of IPython's shell that pages need: it formats objects and shows open drawings at the end of a cell."""

import sys
from types import SimpleNamespace

from .lib.pretty import pretty


class Formatter:
    """Format objects as one MIME type: by a function for their type, or by a method of their own."""

    def __init__(self, method):
        self.method, self.functions = method, {}

    def for_type(self, kind, function=None):
        if function is None:
            return self.functions.get(kind)
        self.functions[kind] = function

    def __call__(self, value):
        for kind in type(value).__mro__:
            if kind in self.functions:
                return self.functions[kind](value)
        method = getattr(value, self.method, None)
        return None if method is None or isinstance(value, type) else method()


METHODS = {
    "text/html": "_repr_html_",
    "text/markdown": "_repr_markdown_",
    "image/svg+xml": "_repr_svg_",
    "image/png": "_repr_png_",
    "text/latex": "_repr_latex_",
    "application/json": "_repr_json_",
}


class Shell:
    """Stand-in for IPython's shell. The session sets `emit`, which receives each output."""

    def __init__(self):
        self.kernel = SimpleNamespace()
        self.events = SimpleNamespace(register=lambda *unused: None, unregister=lambda *unused: None)
        self.display_formatter = SimpleNamespace(
            formatters={kind: Formatter(method) for kind, method in METHODS.items()}
        )

    def format(self, value):
        """Return (data, metadata) of an object in all its MIME types, each a dictionary by MIME type."""
        data, metadata = {}, {}
        if not isinstance(value, type) and hasattr(value, "_repr_mimebundle_"):
            bundle = value._repr_mimebundle_(include=None, exclude=None)
            data, metadata = bundle if isinstance(bundle, tuple) else (bundle, {})
        for kind, formatter in self.display_formatter.formatters.items():
            if kind not in data and (formatted := formatter(value)) is not None:
                data[kind] = formatted
        return {"text/plain": pretty(value)} | data, metadata

    def end_cell(self):
        """Show the drawings that are open at the end of a cell."""
        if "matplotlib.pyplot" in sys.modules:
            from matplotlib_inline import backend_inline

            backend_inline.show()


shell = Shell()
