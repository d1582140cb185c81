"""Display objects on pages: `display`, and classes of text such as Markdown and HTML."""

import itertools

from .shell import shell

numbers = itertools.count(1)


def show(value, output_type, raw=False, metadata=None, transient=None, **more):
    """Emit an object in all its MIME types. raw: `value` is a dictionary of them already."""
    data, own = (value, {}) if raw else shell.format(value)
    output = {"output_type": output_type, "data": data, "metadata": own | (metadata or {})} | more
    shell.emit(output | ({"transient": transient} if transient else {}))


def display(*objs, raw=False, metadata=None, display_id=None, clear=False, **unused):
    """Show objects; with display_id=True or a name, return a handle that can replace the last one."""
    if clear:
        clear_output(wait=True)
    name = f"display-{next(numbers)}" if display_id is True else display_id
    for value in objs:
        show(value, "display_data", raw, metadata, {"display_id": name} if name else None)
    return DisplayHandle(name) if name else None


class DisplayHandle:
    """Handle of an output that can be replaced."""

    def __init__(self, display_id):
        self.display_id = display_id

    def update(self, obj, raw=False, metadata=None):
        """Show another object in its place."""
        show(obj, "update_display_data", raw, metadata, {"display_id": self.display_id})


def clear_output(wait=False):
    """Remove the cell's outputs, at once or (wait=True) when the next one comes."""
    shell.emit({"output_type": "clear_output", "wait": wait})


class Text:
    """Base of texts of one MIME type, from a string or a file."""

    def __init__(self, data=None, filename=None):
        if data is None and filename is not None:
            with open(filename, encoding="utf-8") as file:
                data = file.read()
        self.data = data

    def __repr__(self):
        return f"<IPython.core.display.{type(self).__name__} object>"


class Markdown(Text):
    def _repr_markdown_(self):
        return self.data


class HTML(Text):
    def _repr_html_(self):
        return self.data


class SVG(Text):
    def _repr_svg_(self):
        return self.data


class Latex(Text):
    def _repr_latex_(self):
        return self.data


class Pretty(Text):
    def __repr__(self):
        return self.data
