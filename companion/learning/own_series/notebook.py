"""A notebook that repeats a comparison of forecasts for a reader's own file."""

from typing import Any

from companion.learning.own_series.series import OwnSeries
from companion.learning.own_series.words import words
from companion.words import language_of

# fonts with the characters of a language, if there are any: of Windows, of macOS, of Linux
FONTS = """
from matplotlib.font_manager import fontManager

fonts = {{{names}}} & {{font.name for font in fontManager.ttflist}}
plt.rcParams["font.family"] = ["sans-serif", *fonts]
"""
CELLS = {
    "title": "# {said[title]}\n\n{said[begin]}",
    "install": """\
# {said[install]}
import importlib.util

if not importlib.util.find_spec("companion"):
    get_ipython().run_line_magic("pip", 'install -qq "unrolled[notebook]"')""",
    "read": """\
from companion.learning.own_series import compare, read_csv

series = read_csv(
    {series.file!r},
    value={series.value!r},
    time={time!r},  # {said[time]}
    machine={machine!r},  # {said[machine]}{encoding}
)
series""",
    "picture": """\
import matplotlib.pyplot as plt
{fonts}
figure, ax = plt.subplots(figsize=(8, 3))
for piece in series.pieces:
    steps = range(piece.start, piece.start + len(piece.values))
    ax.plot(steps, piece.values, linewidth=0.7)
ax.set(xlabel={said[step]!r}, ylabel=series.value)
plt.show()""",
    "method": "## {said[method]}\n\n{said[parts]}",
    "compare": """\
result = compare(
    series,
    rates=(0.01, 0.003),  # {said[rates]}
    seeds=(0, 1, 2),  # {said[seeds]}
    hidden_size=16,
    epochs=12,
    most=1200,  # {said[most]}
)
result""",
    "last": """\
from companion.learning.own_series.words import words

steps, truth, forecasts = result.last
names = words({language!r})["table"]
figure, ax = plt.subplots(figsize=(8, 3))
ax.plot(steps, truth, "k", label=series.value)
for name in dict.fromkeys([result.best, "lstm"]):
    ax.plot(steps, forecasts[name], label=names[name])
ax.set(xlabel={said[step]!r}, ylabel=series.value)
ax.legend()
plt.show()""",
    "try": "## {said[next]}\n\n{said[tries]}",
}


def to_notebook(series: OwnSeries, language: str | None = None) -> dict[str, Any]:
    """Return a notebook, as `json.dump` writes it, that reads the series from its file and compares forecasts for it.

    language: of its text. The file must be in the folder of the notebook.
    """
    language = language_of(language)
    said = {key: text.replace("{file}", series.file) for key, text in words(language)["notebook"].items()}
    values = {
        "series": series, "said": said, "language": language, "time": series.time or "",
        "machine": series.machine or "", "fonts": FONTS.format(names=said["fonts"]) if said["fonts"] else "",
        "encoding": f"\n    encoding={series.encoding!r}," if series.encoding else "",
    }  # fmt: skip
    cells = []
    for name, text in CELLS.items():
        source = text.format(**values)
        is_text = name in ("title", "method", "try")
        cell: dict[str, Any] = {"cell_type": "markdown" if is_text else "code", "id": name, "metadata": {}}
        if not is_text:
            cell |= {"execution_count": None, "outputs": []}
        cells.append(cell | {"source": source.splitlines(keepends=True)})
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    metadata = {"kernelspec": kernel, "language_info": {"name": "python"}}
    return {"cells": cells, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}
