"""A progress bar with the time left, in a terminal and in a notebook."""

import io
from typing import Any

from IPython import get_ipython
from IPython.display import display
from tqdm import tqdm


class CellBar(tqdm):
    """A bar in the output of a notebook's cell. It leaves an empty line there: how long a run took is not an output."""

    def __init__(self, **options: Any) -> None:
        self.shown = display({"text/plain": ""}, raw=True, display_id=True)
        super().__init__(file=io.StringIO(), ncols=88, ascii=False, **options)

    def display(self, msg: str | None = None, pos: int | None = None) -> None:
        """Put the bar, or `msg`, where the bar was."""
        self.shown.update({"text/plain": str(self) if msg is None else msg}, raw=True)


def progress_bar(total: int, done: int, enabled: bool = True) -> tqdm:
    """A bar over `total` steps of which `done` are done. In a file or a pipe, where none can be drawn, none is."""
    options: dict[str, Any] = {"total": total, "initial": done, "leave": False}
    if enabled and hasattr(get_ipython(), "kernel"):
        return CellBar(**options)
    return tqdm(**options, disable=None if enabled else True)  # None: tqdm looks whether there is a terminal
