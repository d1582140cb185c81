"""The rows of the bench as text: results by layer, and for each part the chosen rates, with sizes and spread."""

import math
import statistics
from itertools import zip_longest
from typing import Any

from companion.bench.measure import TITLES
from companion.learning import evidence

Run = dict[str, Any]
UNITS = """recall, cups and copying: % right answers; text: perplexity. time: forward and backward, as a multiple of the
time of nn.LSTM with as many parameters. kept: what each step of a sequence keeps for the backward pass."""


def shown(part: str, value: float) -> str:
    """Return a result as readers know it: a perplexity, or right answers in percent."""
    return f"{math.exp(value):.2f}" if part == "text" else f"{100 * (1 - value):.1f}"


def aligned(rows: list[list[str]]) -> list[str]:
    """Return lines, with the first column on the left and the others on the right of equal widths."""
    widths = [max(map(len, column)) for column in zip_longest(*rows, fillvalue="")]
    return [f"  {row[0]:{widths[0]}}" + "".join(f"  {c:>{w}}" for c, w in zip(row[1:], widths[1:])) for row in rows]


def tables(parts: list[str], runs: list[Run], baselines: dict[str, dict[str, float]]) -> str:
    """Return a table for each part, and one of several parts. runs: reported ones, with their "kind"."""
    lines: list[str] = []
    summary: dict[str, list[str]] = {run["kind"]: [] for run in runs}
    for part in parts:
        name, _, numbers = part.partition(" ")
        sizes = ("hidden_size", "parameters", "state")
        costs = {"time": ("time", ".1f"), "kept, bytes": ("kept", ",")} if name == "text" else {}
        rows = [["", "mean", "lowest", "highest", "rate", *sizes[:2], "numbers of state", *costs]]
        for kind in dict.fromkeys(run["kind"] for run in runs):
            of_kind = evidence.having(runs, kind=kind, part=part)
            good = [run for run in of_kind if "test" in run]  # others diverged
            values = [run["test"] for run in good]
            row = [shown(part, statistics.mean(values)) if values else "–"]
            summary[kind] += row
            if good:
                row += sorted((shown(part, value) for value in (min(values), max(values))), key=float)
                row += [f"{good[0]['learning_rate']:g}", *(f"{good[0][size]:,}" for size in sizes)]
                row += [format(statistics.median(run[cost] for run in good), form) for cost, form in costs.values()]
            if of_kind:
                diverged = f", {len(of_kind) - len(good)} diverged" if len(good) < len(of_kind) else ""
                rows.append([kind + diverged, *row])
        for kind, value in baselines[part].items():
            summary.setdefault(kind, []).append(shown(part, value))
            rows.append([kind, shown(part, value)])
        lines += ["", TITLES[name] + (f", by a state of {int(numbers):,} numbers" if numbers else ""), *aligned(rows)]
    if len(parts) > 1:
        lines += ["", "All parts", *aligned([["", *parts], *([kind, *row] for kind, row in summary.items())])]
    return "\n".join([*lines, "", UNITS])
