"""A progress bar with the time left, in a terminal and in a notebook."""

import io
import sys
from typing import Any

from tqdm import tqdm


class CellBar(tqdm):
    """A progress bar in a notebook cell's output. It leaves an empty line, so that stored outputs contain no times."""

    def __init__(self, **options: Any) -> None:
        from IPython.display import display  # imported late: `pip install unrolled` does not bring it

        self.shown = display({"text/plain": ""}, raw=True, display_id=True)
        super().__init__(file=io.StringIO(), ncols=88, ascii=False, **options)

    def display(self, msg: str | None = None, pos: int | None = None) -> None:
        """Show the bar, or `msg`, in its place in the output."""
        self.shown.update({"text/plain": str(self) if msg is None else msg}, raw=True)


def progress_bar(total: int, done: int, enabled: bool = True) -> tqdm:
    """Return a bar over `total` steps of which `done` are done.

    None is drawn when the output is a file or a pipe.
    """
    options: dict[str, Any] = {"total": total, "initial": done, "leave": False}
    ipython = sys.modules.get("IPython")  # a notebook has imported it
    if enabled and ipython and hasattr(ipython.get_ipython(), "kernel"):
        return CellBar(**options)
    return tqdm(**options, disable=None if enabled else True)  # None: tqdm draws only in a terminal
