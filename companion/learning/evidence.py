"""Stored results of runs that take too long for a page: `benchmarks/evidence_<name>.py` computes, chapters draw.

A run is a dictionary of its settings (kind, seed, hidden_size, learning_rate, …) and its measurements. A file,
`companion/learning/evidence/<name>.json`, holds all runs of a program, with the versions that computed them.
"""

import json
import os
import statistics
from collections import namedtuple
from collections.abc import Iterable
from importlib.resources import files
from pathlib import Path
from typing import Any

import torch

from companion.words import fit

FOLDER = Path(str(files("companion.learning") / "evidence"))
Spread = namedtuple("Spread", "mean lowest highest count")


def load(name: str, **settings: Any) -> list[dict[str, Any]]:
    """Return the runs of a program that have these settings; FileNotFoundError for an unknown name."""
    path = FOLDER / f"{name}.json"
    if not path.is_file():
        names = ", ".join(sorted(p.stem for p in FOLDER.glob("*.json"))) or "none"
        raise FileNotFoundError(
            f"there is no evidence {name!r}, only {names}: `python benchmarks/evidence_{name}.py` computes it, if it is"
            " there"
        )
    return having(json.loads(path.read_text(encoding="utf-8"))["runs"], **settings)


def having(runs: Iterable[dict[str, Any]], **settings: Any) -> list[dict[str, Any]]:
    """Return the runs that have these settings."""
    return [run for run in runs if all(run.get(key) == wanted for key, wanted in settings.items())]


def spread(runs: Iterable[dict[str, Any]], measured: str, *settings: str) -> dict[tuple, Spread]:
    """Return mean, lowest, highest and count of a measurement, by setting.

    The result is {(setting, …): Spread}, in the order of the runs.
    """
    groups: dict[tuple, list[float]] = {}
    for run in runs:
        groups.setdefault(tuple(run[key] for key in settings), []).append(run[measured])
    return {
        key: Spread(statistics.mean(values), min(values), max(values), len(values)) for key, values in groups.items()
    }


def percent(runs: Iterable[dict[str, Any]], measured: str = "test") -> str:
    """Return 100 times the mean of a measurement with its range, as "94 87–100"; one number if the runs are equal."""
    ((*values, _),) = spread(runs, measured).values()
    mean, *ends = (f"{100 * value:.0f}" for value in values)
    return mean if {mean} == {*ends} else f"{mean} {'–'.join(ends)}"


def row(name: str, tries: list[list[float]], note: str = "") -> str:
    """Return a line of a table: the mean of each column, and, if there are several, of all, with its range over tries.

    tries: for each seed a list, with a number for each column.
    """
    columns = [statistics.mean(column) for column in zip(*tries, strict=True)]
    means = [statistics.mean(numbers) for numbers in tries]
    shown = [*columns, statistics.mean(means)] if len(columns) > 1 else columns
    spread = f"{min(means):.2f}–{max(means):.2f}" if len(tries) > 1 else ""
    return f"{fit(name, 22)}{''.join(f'{number:7.2f}' for number in shown)}  {spread:12}{note}".rstrip()


def store(name: str, version: Any, runs: Iterable[dict[str, Any]]) -> None:
    """Write the runs as JSON, one on each line, with the versions of the program and of torch.

    An existing file is replaced as a whole: an interruption leaves the old one.
    """
    versions = {"program": version, "torch": torch.__version__.partition("+")[0]}
    lines = ",\n".join(json.dumps(run) for run in runs)
    path = FOLDER / f"{name}.json"
    new = path.with_suffix(".new")
    new.write_text(f'{{"versions": {json.dumps(versions)}, "runs": [\n{lines}\n]}}\n', encoding="utf-8")
    os.replace(new, path)


def versions(name: str) -> dict[str, Any]:
    """Return the versions that computed the runs: {"program": …, "torch": …}."""
    return json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))["versions"]
