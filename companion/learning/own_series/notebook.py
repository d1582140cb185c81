"""A notebook that repeats a comparison of forecasts for a reader's own file."""

from pathlib import PurePath
from typing import Any

from companion.learning.own_series.series import OwnSeries
from companion.learning.own_series.words import language_of, words

INSTALL = """\
# {install}
import importlib.util

if not importlib.util.find_spec("companion"):
    get_ipython().run_line_magic("pip", 'install -qq "unrolled[notebook]"')"""
READ = """\
from companion.learning.own_series import compare, read_csv

series = read_csv(
    {file!r},
    value={value!r},
    time={time!r},  # {time_said}
    machine={machine!r},  # {machine_said}
{encoding})
series"""
PICTURE = """\
import matplotlib.pyplot as plt
{fonts}
figure, ax = plt.subplots(figsize=(8, 3))
for piece in series.pieces:
    steps = range(piece.start, piece.start + len(piece.values))
    ax.plot(steps, piece.values, linewidth=0.7)
ax.set(xlabel={step!r}, ylabel=series.value)
plt.show()"""
# fonts with the characters of a language, if there are any: of Windows, of macOS, of Linux
FONTS = """\
from matplotlib.font_manager import fontManager

fonts = {{{own!r}, "Arial Unicode MS", "Noto Sans CJK JP"}} & {{font.name for font in fontManager.ttflist}}
plt.rcParams["font.family"] = ["sans-serif", *fonts]
"""
WINDOWS_FONTS = {"ja": "Yu Gothic", "ko": "Malgun Gothic", "zh": "Microsoft YaHei"}
COMPARE = """\
result = compare(
    series,
    rates=(0.01, 0.003),  # {rates}
    seeds=(0, 1, 2),  # {seeds}
    hidden_size=16,
    epochs=12,
    most=1200,  # {most}
)
result"""
METHODS = "last", "season", "mean", "linear", "lstm"
LAST = """\
steps, truth, forecasts = result.last
names = {names}
figure, ax = plt.subplots(figsize=(8, 3))
ax.plot(steps, truth, "k", label=series.value)
for name in dict.fromkeys([result.best, "lstm"]):
    ax.plot(steps, forecasts[name], label=names[name])
ax.set(xlabel={step!r}, ylabel=series.value)
ax.legend()
plt.show()"""


def to_notebook(series: OwnSeries, language: str | None = None) -> dict[str, Any]:
    """Return a notebook, as `json.dump` writes it, that reads the series from its file and compares forecasts for it.

    language: of its text. The file must be in the folder of the notebook.
    """
    language = language_of(language)
    said = words(language)["notebook"]
    code = READ.format(
        file=series.file,
        value=series.value,
        time=series.time or "",
        machine=series.machine or "",
        encoding=f"    encoding={series.encoding!r},\n" if series.encoding else "",
        time_said=said["time"],
        machine_said=said["machine"],
    )
    names = "{\n" + "".join(f"    {key!r}: {words(language)['table'][key]!r},\n" for key in METHODS) + "}"
    fonts = FONTS.format(own=WINDOWS_FONTS[language]) if language in WINDOWS_FONTS else ""
    sources = {
        "title": f"# {said['title'].format(file=series.file)}\n\n{said['begin'].format(file=series.file)}",
        "install": INSTALL.format(install=said["install"]),
        "read": code,
        "picture": PICTURE.format(fonts=fonts, step=said["step"]),
        "method": f"## {said['method']}\n\n{said['parts']}",
        "compare": COMPARE.format(rates=said["rates"], seeds=said["seeds"], most=said["most"]),
        "last": LAST.format(names=names, step=said["step"]),
        "try": f"## {said['next']}\n\n{said['tries']}",
    }
    return {
        "cells": [cell(name, source, name in ("title", "method", "try")) for name, source in sources.items()],
        "metadata": {
            "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
            "language_info": {"name": "python"},
        },
        "nbformat": 4,
        "nbformat_minor": 5,
    }


def cell(name: str, source: str, is_text: bool) -> dict[str, Any]:
    """Return a cell of a notebook."""
    found: dict[str, Any] = {"cell_type": "markdown" if is_text else "code", "id": name, "metadata": {}}
    if not is_text:
        found |= {"execution_count": None, "outputs": []}
    return found | {"source": source.splitlines(keepends=True)}


def notebook_name(series: OwnSeries) -> str:
    """Return the name of the notebook's file."""
    return f"{PurePath(series.file).stem}.ipynb"
