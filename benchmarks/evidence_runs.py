"""Shared parts of the programs `evidence_<name>.py`: networks of equal size, and runs that are computed once.

A program has `NAME`, `VERSION`, `NAMES` of a run's settings, `EXPERIMENTS`, `run(settings)`, `first_runs(experiment)`,
the settings of the runs that choose learning rates, and `chosen_runs(experiment, first)`, those of the final runs.
"""

import argparse
import multiprocessing

import companion
from companion.learning import evidence


def parameters(kind, input_size, hidden_size):
    """Return the number of parameters of a recurrent layer."""
    layer = getattr(companion, kind)(input_size, hidden_size, device="meta")
    return sum(parameter.numel() for parameter in layer.parameters())


def equal_size(kind, input_size, hidden_size):
    """Return the number of units that gives a layer about as many parameters as an LSTM of `hidden_size`."""
    wanted = parameters("LSTM", input_size, hidden_size)
    return min(range(1, 5 * hidden_size), key=lambda size: abs(parameters(kind, input_size, size) - wanted))


class Runs:
    """The finished runs, by their settings. Stored runs are not computed again."""

    def __init__(self, program, stored, workers):
        self.program, self.workers = program, workers
        self.finished = {tuple(run[name] for name in program.NAMES): run for run in stored}

    def all_of(self, wanted):
        """Return the runs with these settings, in that order, after computing missing ones."""
        missing = [settings for settings in wanted if settings not in self.finished]
        if missing:
            with multiprocessing.get_context("spawn").Pool(self.workers) as pool:
                for settings, run in zip(missing, pool.imap(self.program.run, missing), strict=True):
                    self.finished[settings] = run
                    evidence.store(self.program.NAME, self.program.VERSION, list(self.finished.values()))
                    print(*run.values(), flush=True)
        return [self.finished[settings] for settings in wanted]


def main(program, arguments=None):
    parser = argparse.ArgumentParser(description=program.__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--again", action="store_true", help="recompute stored runs")
    parser.add_argument("--workers", type=int, default=2, help="number of runs at a time")
    options = parser.parse_args(arguments)
    exists = (evidence.FOLDER / f"{program.NAME}.json").is_file()
    is_current = exists and evidence.versions(program.NAME)["program"] == program.VERSION
    stored = evidence.load(program.NAME) if is_current and not options.again else []
    runs, all_runs = Runs(program, stored, options.workers), []
    for experiment in program.EXPERIMENTS:
        first = runs.all_of([*program.first_runs(experiment)])
        all_runs += first + runs.all_of([*program.chosen_runs(experiment, first)])
    if all_runs != stored:
        evidence.store(program.NAME, program.VERSION, all_runs)
