"""Messages to a page about a reader's file: its columns, the best forecast, a picture and a notebook."""

import json
from html import escape
from pathlib import Path
from typing import Any

from companion.extra import notebook_extra
from companion.learning.own_series.comparison import Comparison, compare, decimals
from companion.learning.own_series.notebook import to_notebook
from companion.learning.own_series.series import read_csv
from companion.learning.own_series.words import FileProblem, Note, words
from companion.words import language_of

MIME = "application/vnd.unrolled.series+json"
WIDTH, HEIGHT, LEFT, TOP, BOTTOM, LINE = 460, 260, 66, 66, 28, 19
# as in the pictures of chapters
COLOURS = {"truth": "#1f2328", "best": "#2f7fc1", "lstm": "#d9731a"}


def show(file: str, value: str | None = None, time: str | None = None, machine: str | None = None) -> None:
    """Compare forecasts for a file, and send the page what to show, as soon as there is something.

    The page is sent dictionaries: "columns" with "value", "time" and "machine"; "progress"; "table", "picture",
    "notebook" and "name"; or "problem", each in the language of the page.
    """
    language = language_of(None)
    try:
        series = read_csv(Path(file), value, time, machine)
        send(columns=series.columns, value=series.value, time=series.time, machine=series.machine, said=series.text())
        result = compare(series, progress=report)
    except FileProblem as problem:
        send(problem=problem.text(language), columns=problem.columns, value=value, time=time, machine=machine)
        return
    send(
        table=result.text(language),
        picture=picture(result, language),
        notebook=json.dumps(to_notebook(series, language), ensure_ascii=False, indent=1) + "\n",
        name=f"{Path(file).stem}.ipynb",
    )


def send(**message: Any) -> None:
    """Send the page a message."""
    with notebook_extra():
        from IPython.display import display

    display({MIME: message, "text/plain": ""}, raw=True)


def report(number: int, count: int) -> None:
    """Tell the page which network learns."""
    send(progress=Note("page", "learns", {"number": number, "count": count}).text())


def picture(result: Comparison, language: str) -> str:
    """Return a drawing (SVG) of the last steps that were tested: truth, best forecast and LSTM."""
    steps, truth, forecasts = result.last
    names = words(language)["table"]
    name = result.series.value + (f" ({result.shown})" if result.shown else "")
    lines = {"truth": (name, truth)}
    lines |= {"best": (names[result.best], forecasts[result.best])} if result.best != "lstm" else {}
    lines["lstm"] = names["lstm"], forecasts["lstm"]
    shown = [value for _, values in lines.values() for value in values]
    low, high = min(shown), max(shown)
    span = high - low or 1.0

    def at(step: int, value: float) -> str:
        x = LEFT + (WIDTH - LEFT - 10) * (step - steps[0]) / max(1, steps[-1] - steps[0])
        return f"{x:.1f} {HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * (value - low) / span:.1f}"

    parts = []
    for row, (key, (name, values)) in enumerate(lines.items()):
        colour, y = COLOURS[key], LINE * row + 14
        parts.append(f'<rect x="{LEFT}" y="{y - 7}" width="16" height="4" fill="{colour}"/>')
        parts.append(f'<text x="{LEFT + 24}" y="{y}">{escape(name[:40])}</text>')
        path, before = "", None
        for step, value in zip(steps, values, strict=True):
            path += f"{'L' if before == step - 1 else 'M'}{at(step, value)}"
            before = step
        parts.append(f'<path d="{path}" fill="none" stroke="{colour}" stroke-width="1.5"/>')
    digits = decimals([span])
    for value in (low, high):
        y = at(steps[0], value).split()[1]
        parts.append(f'<path d="M{LEFT} {y}H{WIDTH - 10}" stroke="#d0d7de"/>')
        parts.append(f'<text x="{LEFT - 6}" y="{float(y) + 4:.1f}" text-anchor="end">{value:,.{digits}f}</text>')
    for step, anchor in ((steps[0], "start"), (steps[-1], "end")):
        place = at(step, low).split()[0]
        when = escape(result.series.when(step))
        parts.append(f'<text x="{place}" y="{HEIGHT - 8}" text-anchor="{anchor}">{when}</text>')
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}" viewBox="0 0 {WIDTH} {HEIGHT}"'
        f' font-size="14">{"".join(parts)}</svg>'
    )
