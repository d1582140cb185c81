"""Compare small_torch with torch in random programs: prints a table, and the shortest program of each difference.

usage: python small_torch/tests/fuzz [options]
"""

import argparse
import json
import os
import pickle
import re
import subprocess
import sys
import tempfile
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

HERE = Path(__file__).parent
PACKAGE = HERE.parents[1] / "src/small_torch"
BATCH = 50
ROUNDS = 7  # a statement that differs is taken out, and the program goes on: so many times
CLASSES = ["same", "exception", "error text", "refused", "fails", "stride", "silent"]
TITLES = {
    "same": "the same",
    "exception": "order of equal elements, last digit, sign of zero, grad_fn's name",
    "error text": "another error text",
    "refused": "refused in small_torch's sentence",
    "fails": "fails in small_torch only",
    "stride": "another memory order of a result",
    "silent": "silent difference",
}
BLOCKING = ("silent", "stride", "fails", "refused")


class Side:
    """A process that runs programs on one of the two torches."""

    def __init__(self, *folder):
        self.folder = folder
        self.start()

    def start(self):
        command = [sys.executable, str(HERE / "worker.py"), *self.folder]
        environment = os.environ | {"OMP_NUM_THREADS": "1", "PYTHONPATH": str(HERE)}
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment)

    def ask(self, name, arguments):
        """Return the results of calls; a call that ends the process has the result None."""
        if not arguments:
            return []
        try:
            pickle.dump((name, arguments), self.process.stdin)
            self.process.stdin.flush()
            return pickle.load(self.process.stdout)
        except (EOFError, BrokenPipeError, pickle.UnpicklingError):
            self.process.kill()
            self.start()
            if len(arguments) == 1:
                return ["the process ended"]
            return [self.ask(name, [values])[0] for values in arguments]

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def names_in(statement):
    """Return the names of variables that a statement uses, and those that it creates."""
    used = set(re.findall(r"\bv\d+\b", statement))
    created = set(re.findall(r"(?:^|[:;] )(v\d+) = ", statement))
    return used - created, created


def remove(statements, position):
    """Return the positions that stay when a statement and all that depend on it are taken out."""
    lost, stay = set(), []
    for k, statement in enumerate(statements):
        used, created = names_in(statement)
        if k == position or used & lost:
            lost |= created
        else:
            stay.append(k)
    return stay


class Pair:
    """Both sides, one after the other."""

    def __init__(self, package):
        self.layout = tempfile.TemporaryDirectory()
        os.symlink(package, Path(self.layout.name) / "torch")
        self.torch, self.small = Side(), Side(self.layout.name)

    def close(self):
        self.torch.close()
        self.small.close()
        self.layout.cleanup()

    def check(self, programs, records):
        """Return the verdicts on programs (seed, statements), given torch's records."""
        return self.small.ask("check", [(*program, record) for program, record in zip(programs, records)])

    def run(self, programs):
        return self.check(programs, self.torch.ask("record", programs))

    def compare(self, seeds):
        """Return one result for each seed: rows, statements, verdicts by position, and differences."""
        written = self.torch.ask("write", [(seed,) for seed in seeds])
        results, open_ = [], []
        for seed, answer in zip(seeds, written):
            if isinstance(answer, str):
                print(f"seed {seed}: {answer}", file=sys.stderr)
                continue
            statements, rows, records = answer
            result = {"seed": seed, "statements": statements, "rows": rows, "verdicts": {}, "differences": []}
            results.append(result)
            open_.append((result, [*range(len(statements))], records))
        for round_ in range(ROUNDS + 1):
            programs = [(r["seed"], [r["statements"][k] for k in left]) for r, left, _ in open_]
            if round_ == 0:
                answers = self.check(programs, [records for _, _, records in open_])
            else:
                answers = self.run(programs)
            still = []
            for (result, left, _), verdicts in zip(open_, answers):
                if isinstance(verdicts, str):
                    verdicts = [("fails", "process", "", "", verdicts)]
                for k, verdict in zip(left, verdicts):
                    if k not in result["verdicts"]:
                        result["verdicts"][k] = verdict[0]
                        if verdict[0] != "same":
                            program = [result["statements"][j] for j in left[: left.index(k) + 1]]
                            result["differences"].append(difference(result, k, program, verdict))
                if verdicts and verdicts[-1][0] in BLOCKING:
                    stay = remove([result["statements"][k] for k in left], len(verdicts) - 1)
                    still.append((result, [left[k] for k in stay], None))
            open_ = still
        return results

    def shrink(self, found):
        """Return the difference with a program that is as short as possible."""
        program, wanted = found["program"], (found["class"], found["what"])
        changed = True
        while changed:
            changed = False
            for k in range(len(program) - 2, -1, -1):
                if k >= len(program) - 1:
                    continue
                stay = remove(program, k)
                if not stay or program[stay[-1]] != program[-1]:
                    continue
                shorter = [program[j] for j in stay]
                verdicts = self.run([(found["seed"], shorter)])[0]
                if not isinstance(verdicts, str) and len(verdicts) == len(shorter) and verdicts[-1][:2] == wanted:
                    program, changed = shorter, True
                    found = found | {
                        "program": program,
                        "where": verdicts[-1][2],
                        "torch": verdicts[-1][3],
                        "small": verdicts[-1][4],
                    }
        return found


def difference(result, k, program, verdict):
    class_, what, where, theirs, ours = verdict
    return {
        "seed": result["seed"], "class": class_, "what": what, "where": where, "row": result["rows"][k],
        "statement": result["statements"][k], "program": program, "torch": theirs, "small": ours,
    }  # fmt: skip


def operation(found):
    """Return the name of the operation in a statement: what its row fills in, otherwise the row's first name."""
    text = re.sub(r"^v\d+ = ", "", found["statement"])
    names = [
        name
        for name in re.findall(r"(?<![\w.])(?:torch\.|nn\.|F\.|init\.|utils\.|rnn\.|linalg\.)*\w+(?=\()|\.\w+", text)
    ]
    names = [name.split(".")[-1] for name in names]
    skip = {
        "tensor",
        "randn",
        "rand",
        "reshape",
        "requires_grad_",
        "arange",
        "permute",
        "zeros",
        "ones",
        "v",
        "float32",
        "float64",
        "int64",
    }
    skip |= {"torch", "nn", "F", "bool", "data", "int32", "float16", "complex64", "uint8", "nan", "inf"}
    rest = [name for name in names if name not in skip and not re.fullmatch(r"v?\d+|v\d+", name)]
    return rest[0] if rest else found["row"]


def group(differences):
    """Return the differences in groups of one class, kind and operation, the most frequent first."""
    groups = {}
    for found in differences:
        groups.setdefault((found["class"], found["what"], operation(found)), []).append(found)
    return dict(sorted(groups.items(), key=lambda item: (CLASSES.index(item[0][0]) * -1, -len(item[1]))))


def write_report(groups, shrunk, table):
    lines = [table, ""]
    for key, members in groups.items():
        if key not in shrunk:
            continue
        found = shrunk[key]
        lines += [
            f"## {found['class']}: {found['what']} · {key[2]} · {len(members)} × (seed {found['seed']})",
            "```python",
        ]
        lines += [
            *found["program"],
            "```",
            f"- {found['where'] or 'result'}, torch: {found['torch'][:400]}",
            f"- small_torch: {found['small'][:400]}",
            "",
        ]
    return "\n".join(lines)


def summarize(results):
    statements = Counter(verdict for result in results for verdict in result["verdicts"].values())
    worst = Counter(max(result["verdicts"].values(), key=CLASSES.index, default="same") for result in results)
    lines = [f"{'worst in a program':68} programs            statements"]
    total = sum(statements.values())
    for class_ in CLASSES:
        n, m = worst[class_], statements[class_]
        lines.append(f"{TITLES[class_]:68} {n:6} {n / max(len(results), 1):6.1%}   {m:8} {m / max(total, 1):7.2%}")
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--programs", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=0, help="seed of the first program")
    parser.add_argument("--package", type=Path, default=PACKAGE, help="folder of small_torch")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--json", type=Path, help="file for all differences")
    parser.add_argument("--report", type=Path, help="file for the shortest programs")
    parser.add_argument("--classes", default="silent,stride,fails", help="classes to show programs of")
    arguments = parser.parse_args()
    seeds = range(arguments.seed, arguments.seed + arguments.programs)
    batches = [seeds[k : k + BATCH] for k in range(0, len(seeds), BATCH)]
    begin = time.perf_counter()
    pairs = [Pair(arguments.package.resolve()) for _ in range(arguments.processes)]
    with ThreadPoolExecutor(len(pairs)) as pool:

        def work(k):
            return [result for batch in batches[k :: len(pairs)] for result in pairs[k].compare(batch)]

        results = [result for part in pool.map(work, range(len(pairs))) for result in part]
        seconds = time.perf_counter() - begin
        differences = [found for result in results for found in result["differences"]]
        groups = group(differences)
        shown = [key for key in groups if key[0] in arguments.classes.split(",")]

        def shrink(k):
            return {
                key: pairs[k].shrink(min(groups[key], key=lambda f: len("".join(f["program"]))))
                for key in shown[k :: len(pairs)]
            }

        shrunk = {key: found for part in pool.map(shrink, range(len(pairs))) for key, found in part.items()}
    for pair in pairs:
        pair.close()
    table = summarize(results) + f"\n{len(results)} programs in {seconds:.0f} s: {len(results) / seconds:.0f} a second"
    report = write_report(groups, shrunk, table)
    print(report)
    if arguments.report:
        arguments.report.write_text(report)
    if arguments.json:
        arguments.json.write_text(json.dumps({"results": results}, indent=1))
    return int(any(key[0] in ("silent", "stride") for key in groups))


if __name__ == "__main__":
    sys.exit(main())
