"""Show the companion's own lines inside a chapter, so that the two can never differ."""

import inspect
import textwrap

from IPython.display import Markdown


def source(thing):
    """The source of a class or function, without its docstring, as a code block."""
    lines = textwrap.dedent(inspect.getsource(thing))
    if thing.__doc__:
        before, _, after = lines.partition('"""')
        lines = before.rstrip() + after.partition('"""')[2]
    return Markdown(f"```python\n{lines.strip()}\n```")
