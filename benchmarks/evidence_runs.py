"""Shared parts of the older programs `evidence_<name>.py`, whose rules choose the runs: these are computed once.

A program has `NAME`, `VERSION`, `NAMES` of a run's settings, `EXPERIMENTS`, `run(settings)`, `first_runs(experiment)`,
the settings of the runs that choose learning rates, and `chosen_runs(experiment, first)`, those of the final runs.
"""

import multiprocessing

from evidence_protocol import read_options

from companion.learning import evidence


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
    workers, stored = read_options(program, arguments)
    runs, all_runs = Runs(program, stored, workers), []
    for experiment in program.EXPERIMENTS:
        first = runs.all_of([*program.first_runs(experiment)])
        all_runs += first + runs.all_of([*program.chosen_runs(experiment, first)])
    if all_runs != stored:
        evidence.store(program.NAME, program.VERSION, all_runs)
