"""Measure a layer of your own, beside those of the companion; `companion/bench/__init__.py` has an example."""

import argparse
import json
import sys
import time
from pathlib import Path
from typing import Any

import torch

import companion.bench
from companion.bench import measure, table
from companion.bench.check import check
from companion.bench.load import Refused, load
from companion.learning import evidence, protocol


class Cache:
    """The finished runs of a layer, in a file that is written after each run; those of another layer are not used."""

    def __init__(self, path: Path, key: dict[str, Any], again: bool, least: int) -> None:
        self.path, self.key, self.least, self.done, self.runs = path, key, least, 0, []
        if path.is_file() and not again:
            stored = json.loads(path.read_text(encoding="utf-8"))
            if stored["key"] == key:
                self.runs = stored["runs"]
            else:
                say(f"{path} is of another version of the layer, of torch or of the bench: its runs are not used")

    def compute(self, wanted: list, make: Any) -> list[dict[str, Any]]:
        """Return the runs of a list of (part, kind), seed and learning rate, in that order, after computing those."""
        runs = []
        for (part, kind), seed, rate in wanted:
            settings = {"part": part, "kind": kind, "seed": seed, "learning_rate": rate}
            found = evidence.having(self.runs, **settings)
            self.done += 1
            if not found:
                began = time.perf_counter()
                try:
                    found = [settings | measure.run(part, make, seed, rate)]
                except FloatingPointError:
                    found = [settings | {"diverged": True}]
                self.runs += found
                self.path.write_text(json.dumps({"key": self.key, "runs": self.runs}), encoding="utf-8")
                shown = table.shown(part, found[0]["choose"]) if "choose" in found[0] else "diverged"
                count, took = f"run {self.done}, of {self.least} at least", time.perf_counter() - began
                say(f"{count}: {part}, rate {rate:g}, seed {seed}: {shown}, {took:.1f} s")
            runs += found
        return runs


def say(line: str) -> None:
    """Print a line of progress."""
    print(line, file=sys.stderr, flush=True)


def parts_of(names: str) -> list[str]:
    """Return the parts with these names, between commas: "recall" is all three, "recall 64" one."""
    chosen = [part for name in names.split(",") for part in measure.PARTS if name in (part, part.partition(" ")[0])]
    chosen += [name for name in names.split(",") if name.startswith("recall ") and name not in chosen]
    if not chosen or not all(part in measure.PARTS or part[7:].isdigit() for part in chosen):
        raise argparse.ArgumentTypeError(f"{names!r} is not a list of recall, recall 64, cups, copying, text")
    return chosen


def stored_rows(parts: list[str]) -> list[dict[str, Any]]:
    """Return the reported runs of the companion's layers; none if they are not stored, or of another version."""
    try:
        runs = evidence.load("bench", chosen=True)
    except FileNotFoundError:
        say("the rows of the companion's layers are missing: this version of the package has none stored")
        return []
    if (version := evidence.versions("bench")["program"]) != measure.VERSION:
        say(f"the stored rows of the companion's layers are left out: they are of version {version} of the bench")
        return []
    return [run for run in runs if run["part"] in parts]


def main(arguments: list[str] | None = None) -> None:
    """Read the command line, measure the layer, and print the tables."""
    form = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(
        prog="python -m companion.bench", description=companion.bench.__doc__, formatter_class=form
    )
    parser.add_argument("layer", help="path.py:Name or package.module:Name")
    parser.add_argument("--only", type=parts_of, default=[*measure.PARTS], help="recall,cups,copying,text, or some")
    parser.add_argument("--quick", action="store_true", help="one network each, to see that all runs: no evidence")
    parser.add_argument("--store", type=Path, help="file for finished runs, instead of Name.bench.json in this folder")
    parser.add_argument("--again", action="store_true", help="repeat finished runs")
    options = parser.parse_args(arguments)
    torch.set_num_threads(1)
    kind = options.layer.rpartition(":")[2]
    parts = []
    try:
        make, digest = load(options.layer)
        say(f"one call equals calls over pieces: the largest difference is {check(make):.0e}")
        for part in options.only:
            try:
                measure.sizes_for(part, make)
                parts.append(part)
            except Refused as error:
                say(f"left out: {part}, because {error}")
        path = options.store or Path(f"{kind}.bench.json")
        key = {"layer": digest, "bench": measure.VERSION, "torch": torch.__version__}
        cache = Cache(path, key, options.again, len(parts) * (1 if options.quick else 14))
        say(f"each finished run is stored in {path}; after an interruption, the same command goes on")
        chosen, seeds = {(part, kind): 0.01 for part in parts}, protocol.REPORTED[:1]
        if not options.quick:
            rank = lambda run: (run["choose"], run["loss"])  # noqa: E731
            chosen, _ = protocol.search(chosen, lambda wanted: cache.compute(wanted, make), rank)
            seeds = protocol.REPORTED
        runs = cache.compute([(method, seed, rate) for method, rate in chosen.items() for seed in seeds], make)
    except Refused as error:
        parser.exit(1, f"refused: {error}\n")
    except KeyboardInterrupt:
        parser.exit(130, "interrupted: the same command goes on\n")
    runs = [run | {"kind": f"{kind} (yours)"} for run in runs] + stored_rows(parts)
    print(table.tables(parts, runs, {part: measure.baselines(part) for part in parts}))
    if options.quick:
        print("\nThis was --quick: one network each, with a learning rate that was not chosen. It is no evidence.")


if __name__ == "__main__":
    main()
