"""Shared parts of the programs `evidence_<name>.py`: networks of equal size, and runs that are computed once.

A program has `NAME`, `VERSION`, `METHOD`, the names of a method's settings, `methods()`, an iterable of their values,
`rank(run)`, the numbers by which a learning rate is chosen (see `companion.learning.protocol`), and `run(settings)`,
which returns the measurements, a dictionary; settings: the values of `METHOD`, then a seed and a learning rate. A
program with `start(method)` begins the search with other rates, one with `seeds(method)` reports other seeds. A run
that ends with FloatingPointError is stored with `diverged`.
"""

import argparse
import bisect
import functools
import importlib
import multiprocessing
import time

import torch

import companion
from companion.bench.load import count
from companion.learning import evidence, protocol
from companion.learning.training import train


def numbers_of_state(state):
    """Return the count of numbers in a state, a tensor or a tuple of states."""
    return state.numel() if isinstance(state, torch.Tensor) else sum(map(numbers_of_state, state))


def parameters(kind, input_size, hidden_size):
    """Return the number of parameters of a recurrent layer."""
    return count(getattr(companion, kind)(input_size, hidden_size, device="meta"))


def nearest(sizes, number_of, wanted):
    """Return the one of some increasing sizes whose number is nearest to the wanted one.

    number_of: a function that increases with the size.
    """
    above = bisect.bisect_left(sizes, wanted, key=number_of)
    return min(sizes[max(0, above - 1) : above + 1], key=lambda size: abs(number_of(size) - wanted))


def equal_size(kind, input_size, hidden_size):
    """Return the number of units that gives a layer about as many parameters as an LSTM of `hidden_size`."""
    wanted = parameters("LSTM", input_size, hidden_size)
    return nearest(range(1, 5 * hidden_size), lambda size: parameters(kind, input_size, size), wanted)


def sized(make, wanted, multiple=2):
    """Return `make(size)` with about `wanted` parameters.

    A multiple, which the heads need, is preferred if one is near enough.
    """
    with torch.device("meta"):
        off = lambda size: abs(count(make(size)) - wanted)  # noqa: E731
        size = nearest(range(multiple, 400, multiple), lambda size: count(make(size)), wanted)
        if off(size) > 0.04 * wanted:
            size = min((size - 1, size + 1), key=off)
    return make(size)


def train_in_one_cycle(model, batches, optimizer, planned, epochs=None):
    """Train with a rate that rises for a tenth of the planned epochs and then falls.

    Return the history, and the processor's seconds for each batch. epochs: fewer than planned stop early, with the same
    learning rates until then.
    """
    scheduler = torch.optim.lr_scheduler.OneCycleLR(
        optimizer, optimizer.defaults["lr"], planned * len(batches), pct_start=0.1, cycle_momentum=False
    )
    began = time.process_time()  # of one thread, not slowed by other programs
    history = train(model, batches, optimizer, epochs or planned, scheduler=scheduler, progress=False)
    return history, round((time.process_time() - began) / (len(history) * len(batches)), 4)


def names_of(program):
    """Return the names of a run's settings."""
    return (*program.METHOD, "seed", "learning_rate")


def computed(program, settings):
    """Return a run: its settings, whether it is reported, and its measurements."""
    run = dict(zip(names_of(program), settings, strict=True)) | {"chosen": settings[-2] not in protocol.CHOOSING}
    try:
        return run | program.run(settings)
    except FloatingPointError:
        return run | {"diverged": True}


def in_worker(name, settings):
    """Return a run, in another process, which imports the program by its name."""
    torch.set_num_threads(1)
    return computed(importlib.import_module(f"evidence_{name}"), settings)


class Runs:
    """The finished runs, by their settings. Stored runs are not computed again."""

    def __init__(self, program, stored, workers):
        self.program, self.workers = program, workers
        self.finished = {tuple(run[name] for name in names_of(program)): run for run in stored}

    def compute(self, wanted):
        """Return the runs of a list of (method, seed, learning rate), in that order, after computing missing ones."""
        wanted = [(*method, seed, rate) for method, seed, rate in wanted]
        missing = [settings for settings in wanted if settings not in self.finished]
        if missing:
            with multiprocessing.get_context("spawn").Pool(self.workers) as pool:
                runs = pool.imap(functools.partial(in_worker, self.program.NAME), missing)
                for settings, run in zip(missing, runs, strict=True):
                    self.finished[settings] = run
                    evidence.store(self.program.NAME, self.program.VERSION, list(self.finished.values()))
                    print(*run.values(), flush=True)
        return [self.finished[settings] for settings in wanted]


def read_options(program, arguments):
    """Return the number of runs at a time and the stored runs that count, as the command line says."""
    parser = argparse.ArgumentParser(description=program.__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--again", action="store_true", help="recompute stored runs")
    parser.add_argument("--workers", type=int, default=2, help="number of runs at a time")
    options = parser.parse_args(arguments)
    exists = (evidence.FOLDER / f"{program.NAME}.json").is_file()
    is_current = exists and evidence.versions(program.NAME)["program"] == program.VERSION
    return options.workers, evidence.load(program.NAME) if is_current and not options.again else []


def main(program, arguments=None):
    workers, stored = read_options(program, arguments)
    runs = Runs(program, stored, workers)
    start = getattr(program, "start", lambda method: protocol.START)
    seeds = getattr(program, "seeds", lambda method: protocol.REPORTED)
    chosen, first = protocol.search(program.methods(), runs.compute, program.rank, start)
    all_runs = first + runs.compute([(method, seed, rate) for method, rate in chosen.items() for seed in seeds(method)])
    if all_runs != stored:
        evidence.store(program.NAME, program.VERSION, all_runs)
