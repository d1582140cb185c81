"""What the programs `evidence_<name>.py` share: networks of equal size, and runs that are computed once and kept.

A program has `NAME`, `VERSION`, `NAMES` of a run's settings, `EXPERIMENTS`, `run(settings)`, `first_runs(experiment)`,
the settings of the networks by which learning rates are chosen, and `chosen_runs(experiment, first)`, those of the
others.
"""

import argparse
import multiprocessing

import companion
from companion.learning import evidence


def parameters(kind, input_size, hidden_size):
    """How many parameters a recurrent layer has."""
    layer = getattr(companion, kind)(input_size, hidden_size, device="meta")
    return sum(parameter.numel() for parameter in layer.parameters())


def equal_size(kind, input_size, hidden_size):
    """The number of units with which a layer has about as many parameters as an LSTM of `hidden_size`."""
    wanted = parameters("LSTM", input_size, hidden_size)
    return min(range(1, 5 * hidden_size), key=lambda size: abs(parameters(kind, input_size, size) - wanted))


class Runs:
    """The runs so far, by their settings. Those that are there are not computed again."""

    def __init__(self, program, stored, workers):
        self.program, self.workers = program, workers
        self.found = {tuple(run[name] for name in program.NAMES): run for run in stored}

    def all_of(self, wanted):
        """The runs with the settings that are wanted, in that order."""
        missing = [settings for settings in wanted if settings not in self.found]
        if missing:
            with multiprocessing.get_context("spawn").Pool(self.workers) as pool:
                for settings, one in zip(missing, pool.imap(self.program.run, missing), strict=True):
                    self.found[settings] = one
                    evidence.store(self.program.NAME, self.program.VERSION, list(self.found.values()))
                    print(*one.values(), flush=True)
        return [self.found[settings] for settings in wanted]


def main(program, arguments=None):
    parser = argparse.ArgumentParser(description=program.__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--again", action="store_true", help="compute anew what is stored")
    parser.add_argument("--workers", type=int, default=2, help="how many runs at a time")
    options = parser.parse_args(arguments)
    is_there = (evidence.FOLDER / f"{program.NAME}.json").is_file()
    is_ours = is_there and evidence.versions(program.NAME)["program"] == program.VERSION
    stored = evidence.load(program.NAME) if is_ours and not options.again else []
    runs, all_runs = Runs(program, stored, options.workers), []
    for experiment in program.EXPERIMENTS:
        first = runs.all_of([*program.first_runs(experiment)])
        all_runs += first + runs.all_of([*program.chosen_runs(experiment, first)])
    if all_runs != stored:
        evidence.store(program.NAME, program.VERSION, all_runs)
