"""The rows of the bench as text: results by layer, and for each part the chosen rates, with sizes and spread."""

import math
import statistics
from collections.abc import Iterable
from typing import Any

from companion.bench.measure import TITLES
from companion.learning import evidence

Run = dict[str, Any]
UNITS = """Means of five networks; recall, cups and copying: % right answers; text: perplexity. time: forward and \
backward,
as a multiple of nn.LSTM with as many parameters. state: bytes of one sequence's state, kept: bytes that each step
keeps for the backward pass, both of the layer for the text."""


def shown(part: str, value: float) -> str:
    """Return a result as readers know it: a perplexity, or right answers in percent."""
    return f"{math.exp(value):.2f}" if part == "text" else f"{100 * (1 - value):.1f}"


def aligned(rows: list[list[str]]) -> list[str]:
    """Return lines, with the first column on the left and the others on the right of equal widths."""
    widths = [max(map(len, column)) for column in zip(*rows)]
    return [f"  {row[0]:{widths[0]}}" + "".join(f"  {c:>{w}}" for c, w in zip(row[1:], widths[1:])) for row in rows]


def tables(parts: Iterable[str], runs: list[Run], baselines: dict[str, dict[str, float]]) -> str:
    """Return a table for each part, and one of all parts. runs: reported ones, with their "kind"."""
    kinds, lines, parts = {run["kind"]: None for run in runs}, [], [*parts]
    summary = [["", *parts, "time", "state", "kept"]]
    cells: dict[str, list[str]] = {kind: [] for kind in (*kinds, "guessing", "counts")}
    for part in parts:
        rows = [["", "mean", "lowest", "highest", "rate", "parameters", "state"]]
        for kind in kinds:
            of_kind = evidence.having(runs, kind=kind, part=part)
            values = [run["test"] for run in of_kind if "test" in run]  # others diverged
            cells[kind].append(shown(part, statistics.mean(values)) if values else "–")
            if values:
                good = next(run for run in of_kind if "test" in run)
                ends = sorted((shown(part, value) for value in (min(values), max(values))), key=float)
                numbers = (f"{good['parameters']:,}", f"{good['state']:,}")
                diverged = f", {len(of_kind) - len(values)} diverged" if len(values) < len(of_kind) else ""
                rows.append([kind + diverged, cells[kind][-1], *ends, f"{good['learning_rate']:g}", *numbers])
        for name, value in baselines[part].items():
            cells[name].append(shown(part, value))
            rows.append([name, shown(part, value), "", "", "", "", ""])
        name, _, numbers = part.partition(" ")
        lines += ["", TITLES[name] + (f", by a state of {int(numbers):,} numbers" if numbers else ""), *aligned(rows)]
    for kind, row in cells.items():
        costs = evidence.having(runs, kind=kind, part="text")
        texts = ["–"] * 3
        if costs:
            took, numbers, kept = (statistics.median(run[what] for run in costs) for what in ("time", "state", "kept"))
            texts = [f"{took:.1f}", f"{4 * numbers:,}", f"{kept:,}"]
        summary.append([kind, *row, *texts])
    return "\n".join([*lines, "", "All parts", *aligned(summary), "", UNITS])
