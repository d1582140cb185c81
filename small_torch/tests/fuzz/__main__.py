"""Run random programs on torch and small_torch: print a table, and the shortest program of each difference.

usage: python small_torch/tests/fuzz [options]

The exit status is 1 if there is a silent difference.
"""

import argparse
import json
import sys
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from classes import CLASSES
from sides import Pair

PACKAGE = Path(__file__).parents[2] / "src/small_torch"
BATCH = 25  # programs that a process gets at once


def group(results):
    """Return the differences of one class, kind and row together: the worst and most frequent first."""
    groups = {}
    for difference in (difference for result in results for difference in result["differences"]):
        key = difference["class"], difference["what"], difference["row"]
        groups.setdefault(key, []).append(difference)
    rank = list(CLASSES)
    return dict(sorted(groups.items(), key=lambda item: (-rank.index(item[0][0]), -len(item[1]))))


def table(results, seconds):
    rank = list(CLASSES)
    statements = Counter(verdict for result in results for verdict in result["verdicts"].values())
    worst = Counter(max(result["verdicts"].values(), key=rank.index, default="same") for result in results)
    lines = [f"{'worst thing in a program':70} programs          statements"]
    for class_, title in CLASSES.items():
        shares = [f"{c[class_]:7} {c[class_] / max(c.total(), 1):6.1%}" for c in (worst, statements)]
        lines.append(f"{title:70} {'    '.join(shares)}")
    rate = len(results) / seconds
    return "\n".join([*lines, f"{len(results)} programs in {seconds:.0f} s, {rate:.0f} a second"])


def describe(difference, count):
    lines = [f"## {difference['class']}, {difference['what']}: {difference['row']}  ({count} times)", "```python"]
    lines += [*difference["program"], "```", f"seed {difference['seed']}, {difference['where'] or 'result'}:"]
    lines += [f"- torch: {str(difference['torch'])[:600]}", f"- small: {str(difference['small'])[:600]}", ""]
    return "\n".join(lines)


def run(arguments):
    """Return all results, and the shortest program of each group of differences."""
    seeds = range(arguments.seed, arguments.seed + arguments.programs)
    batches = [seeds[k : k + BATCH] for k in range(0, len(seeds), BATCH)]
    pairs = [Pair(arguments.package.resolve()) for _ in range(arguments.processes)]

    def share(function, items):
        """Return the function's results: each pair of processes works on a part of the items."""

        def work(k):
            return [function(pairs[k], item) for item in items[k :: len(pairs)]]

        with ThreadPoolExecutor(len(pairs)) as pool:
            return [result for part in pool.map(work, range(len(pairs))) for result in part]

    begin = time.perf_counter()
    results = [result for part in share(Pair.compare, batches) for result in part]
    seconds = time.perf_counter() - begin
    groups = {key: found for key, found in group(results).items() if key[0] in arguments.classes.split(",")}
    shortest = [min(found, key=lambda difference: len("".join(difference["program"]))) for found in groups.values()]
    shrunk = share(Pair.shrink, shortest)
    for pair in pairs:
        pair.close()
    counts = {key: len(found) for key, found in groups.items()}
    shrunk.sort(key=lambda d: list(counts).index((d["class"], d["what"], d["row"])))
    report = [describe(d, counts[d["class"], d["what"], d["row"]]) for d in shrunk]
    return results, "\n".join([table(results, seconds), "", *report])


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--programs", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=0, help="seed of the first program")
    parser.add_argument("--package", type=Path, default=PACKAGE, help="folder of the small_torch to run")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--classes", default="silent,stride,fails", help="classes to show programs of")
    parser.add_argument("--json", type=Path, help="file for all programs and differences")
    parser.add_argument("--report", type=Path, help="file for the report")
    arguments = parser.parse_args()
    results, report = run(arguments)
    print(report)
    if arguments.report:
        arguments.report.write_text(report + "\n", encoding="utf-8")
    if arguments.json:
        arguments.json.write_text(json.dumps({"results": results}), encoding="utf-8")
    return int(any("silent" in result["verdicts"].values() for result in results))


if __name__ == "__main__":
    sys.exit(main())
