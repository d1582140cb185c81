"""Outputs beside what is printed: `display`, and texts that say in which form they are."""

import itertools

from .shell import shell

numbers = itertools.count(1)


def show(value, output_type, raw=False, metadata=None, transient=None, **more):
    """Emit an object in all its forms; raw: it is a dict of them already."""
    data, own = (value, {}) if raw else shell.format(value)
    output = {"output_type": output_type, "data": data, "metadata": own | (metadata or {})} | more
    shell.emit(output | ({"transient": transient} if transient else {}))


def display(*objs, raw=False, metadata=None, display_id=None, clear=False, **unused):
    """Show objects; with display_id=True or a name, return a handle by which the last one can be shown anew."""
    if clear:
        clear_output(wait=True)
    name = f"display-{next(numbers)}" if display_id is True else display_id
    for value in objs:
        show(value, "display_data", raw, metadata, {"display_id": name} if name else None)
    return DisplayHandle(name) if name else None


class DisplayHandle:
    """What was shown under a name."""

    def __init__(self, display_id):
        self.display_id = display_id

    def update(self, obj, raw=False, metadata=None):
        """Show another object in its place."""
        show(obj, "update_display_data", raw, metadata, {"display_id": self.display_id})


def clear_output(wait=False):
    """Take the cell's outputs away: at once, or with the next one."""
    shell.emit({"output_type": "clear_output", "wait": wait})


class Text:
    """A text in a form, or a file's."""

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
