"""Measure a layer of your own, beside those of the companion; `companion/bench/__init__.py` has an example."""

import argparse
import json
import operator
import re
import sys
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import torch

import companion.bench
from companion.bench import measure, table
from companion.bench.check import check
from companion.bench.load import Make, Refused, load
from companion.learning import evidence, protocol


class Cache:
    """The finished runs in a file that is written after each run. A layer uses its own, and keeps those of others."""

    def __init__(self, path: Path, key: dict[str, Any], again: bool, make: Make) -> None:
        self.path, self.key, self.make, self.done = path, key, make, 0
        runs = json.loads(path.read_text(encoding="utf-8"))["runs"] if path.is_file() else []
        self.runs = [run for run in runs if not again or not evidence.having([run], **key)]
        own = len(evidence.having(self.runs, **key))
        say(f"{path} has {own} runs of this layer as it is now; after an interruption, the same command goes on")

    def compute(self, wanted: Iterable) -> list[dict[str, Any]]:
        """Return the runs of a list of (part,), seed and learning rate, in that order, after computing new ones."""
        runs = []
        for (part,), seed, rate in wanted:
            settings = self.key | {"part": part, "seed": seed, "learning_rate": rate}
            found, took = evidence.having(self.runs, **settings), "stored"
            if not found:
                began = time.perf_counter()
                try:
                    found = [settings | measure.run(part, self.make, seed, rate)]
                except FloatingPointError:
                    found = [settings | {"diverged": True}]
                self.runs += found
                self.path.write_text(json.dumps({"runs": self.runs}), encoding="utf-8")
                took = f"{time.perf_counter() - began:.1f} s"
            self.done += 1
            shown = table.shown(part, found[0]["choose"]) if "choose" in found[0] else "diverged"
            say(f"run {self.done}: {part}, rate {rate:g}, seed {seed}: {shown}, {took}")
            runs += found
        return runs


def say(line: str) -> None:
    """Print a line of progress."""
    print(line, file=sys.stderr, flush=True)


def parts_of(names: str) -> list[str]:
    """Return the parts with these names, between commas: "recall" is all three, "recall 64" one."""
    chosen = [part for name in names.split(",") for part in (measure.PARTS[:3] if name == "recall" else [name])]
    if not all(re.fullmatch(r"recall \d+|cups|copying|text", part) for part in chosen):
        raise argparse.ArgumentTypeError(f"{names!r} is not a list of recall, recall 64, cups, copying, text")
    return chosen


def stored_rows(parts: list[str]) -> list[dict[str, Any]]:
    """Return the reported runs of the companion's layers; none if they are not stored, or of another version."""
    is_current = (evidence.FOLDER / "bench.json").is_file() and evidence.versions("bench")["program"] == measure.VERSION
    runs = evidence.load("bench", chosen=True) if is_current else []
    if not runs:
        say(f"no rows of the companion's layers: none are stored for version {measure.VERSION} of the bench")
    return [run for run in runs if run["part"] in parts]


def main(arguments: list[str] | None = None) -> None:
    """Read the command line, measure the layer, and print the tables."""
    parser = argparse.ArgumentParser("python -m companion.bench", description=companion.bench.__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("layer", help="path.py:Name or package.module:Name")
    names = "some of recall,cups,copying,text; 'recall 64' is recall with 64 numbers of state"
    parser.add_argument("--only", type=parts_of, default=[*measure.PARTS], help=names)
    parser.add_argument("--quick", action="store_true", help="one network each, to see that all runs: no evidence")
    parser.add_argument("--store", type=Path, help="file for finished runs, instead of Name.bench.json in this folder")
    parser.add_argument("--again", action="store_true", help="repeat finished runs")
    options = parser.parse_args(arguments)
    torch.set_num_threads(1)
    kind = options.layer.rpartition(":")[2]
    parts = []
    try:
        make, digest = load(options.layer)
        say(f"one call equals calls over pieces and single steps: the largest difference is {check(make):.0e}")
        for part in options.only:
            try:
                measure.sizes_for(part, make)
                parts.append(part)
            except Refused as error:
                say(f"left out: {part}, because {error}")
        key = {"kind": kind, "layer": digest, "bench": measure.VERSION, "torch": torch.__version__}
        cache = Cache(options.store or Path(f"{kind}.bench.json"), key, options.again, make)
        say("each part takes 1 run" if options.quick else "each part takes 14 runs, or more to find the best rate")
        chosen, seeds = {(part,): 0.01 for part in parts}, protocol.REPORTED[: 1 if options.quick else None]
        if not options.quick:
            chosen, _ = protocol.search(chosen, cache.compute, operator.itemgetter("choose", "loss"))
        runs = cache.compute([(method, seed, rate) for method, rate in chosen.items() for seed in seeds])
    except Refused as error:
        parser.exit(1, f"refused: {error}\n")
    except KeyboardInterrupt:
        parser.exit(130, "interrupted: the same command goes on\n")
    runs = [run | {"kind": f"{kind} (yours)"} for run in runs] + stored_rows(parts)
    print(table.tables(parts, runs, {part: measure.baselines(part) for part in parts}))
    quick = "This was --quick: one network of your layer, with a learning rate that was not chosen. It is no evidence."
    print(quick if options.quick else "mean, lowest, highest: of five networks.")


if __name__ == "__main__":
    main()
