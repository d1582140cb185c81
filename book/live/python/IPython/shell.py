"""The notebook's shell, as far as a page has one: it knows how to show objects, and what is to be done at a cell's
end."""

import io
import sys
from types import SimpleNamespace

from .lib.pretty import pretty


class Formatter:
    """How objects are shown in one form: by a function for their type, or by a method of their own."""

    def __init__(self, method):
        self.method, self.of_type = method, {}

    def for_type(self, kind, function=None):
        if function is None:
            return self.of_type.get(kind)
        self.of_type[kind] = function

    def __call__(self, value):
        for kind in type(value).__mro__:
            if kind in self.of_type:
                return self.of_type[kind](value)
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
    """`emit` is the session's, which takes each output; `kernel` is there, as in every notebook."""

    def __init__(self):
        self.kernel = SimpleNamespace()
        self.events = SimpleNamespace(register=lambda *unused: None, unregister=lambda *unused: None)
        self.display_formatter = SimpleNamespace(
            formatters={kind: Formatter(method) for kind, method in METHODS.items()}
        )

    def format(self, value):
        """All forms of an object: (data, metadata), each a dict with the form's name as key."""
        data, metadata = {}, {}
        if not isinstance(value, type) and hasattr(value, "_repr_mimebundle_"):
            bundle = value._repr_mimebundle_(include=None, exclude=None)
            data, metadata = bundle if isinstance(bundle, tuple) else (bundle, {})
        for kind, formatter in self.display_formatter.formatters.items():
            if kind not in data and (found := formatter(value)) is not None:
                data[kind] = found
        return {"text/plain": pretty(value)} | data, metadata

    def end_cell(self):
        """Show the drawings that were begun and not shown."""
        if "matplotlib.pyplot" in sys.modules:
            from matplotlib_inline.backend_inline import show

            show()


def svg(figure):
    """A drawing as Jupyter shows one if nobody says how: with as much paper as it needs."""
    buffer = io.StringIO()
    figure.savefig(buffer, format="svg", bbox_inches="tight")
    return buffer.getvalue()


shell = Shell()
