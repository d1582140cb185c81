"""Runs an answer as it is and changed, where students' code runs. Nothing is judged here: what came of each is handed
on.

All of it is one job: to fork for each change would take ten times as long. So a change that spoils what the next one
needs spoils its author's questions, and nothing else.
"""

import signal
import sys
import types


class Late(BaseException):
    """It takes too long. No `except Exception` keeps it."""


def within(seconds, function):
    """What a function returns, or None if it takes longer than that of the processor."""
    if not hasattr(signal, "setitimer"):  # Windows has none: pool.py looks at the clock
        return function()

    def late(*_):
        raise Late

    signal.signal(signal.SIGVTALRM, late)
    try:
        signal.setitimer(signal.ITIMER_VIRTUAL, seconds, seconds)  # again, if it is kept all the same
        return function()
    except Late:
        return None
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)


def all_runs(job, cells, kept, call, probes, worker):
    """What each of job["changes"] gives on each probe: first nothing is changed, then one cell at a time.

    cells, kept: the statements of all cells, and those of them that the answer needs. An outcome is None if there was
    none in time, or if chance has a part in it: then another draw, and other numbers where nothing was written, give
    another. worker: the functions of worker.py.
    """
    from companion.check.engine import run_answer

    def timed(statements):
        return within(job["each"], lambda: run(job["names"], statements, call, probes, worker))

    runs, seed, endless = [], run_answer.seed, 0
    for change in [None, *job["changes"]]:
        statements = changed(cells, kept, change, worker["parse_cells"])
        once = again = timed(statements) if statements else None
        endless += once is None or any(map(late, once))
        if once is not None:
            try:
                by_chance(run_answer, seed)
                again = timed(statements)
            finally:
                as_ever(run_answer, seed)
        sure = [one if one == other and not late(one) else None for one, other in zip(once or (), again or ())]
        runs.append(sure)
        if endless > job["endless"] or change is None and not any(sure):
            break
    return runs


def changed(cells, kept, change, statements_of):
    """The statements that are needed, with those of a changed cell in place of its own; None if they do not fit."""
    if change is None:
        return kept
    number, source = change
    old = [one for one in cells if one.cell == number]
    new, errors = statements_of([[number, source]])
    if errors or len(old) != len(new):
        return None
    instead = {id(one): other for one, other in zip(old, new)}
    return [instead.get(id(one), one) for one in kept]


def run(names, statements, call, probes, worker):
    """The outcomes of an answer on the probes, as JSON; None if it is not there."""
    from companion.check.engine import run_answer

    main = types.ModuleType("__main__")
    main.display = main.get_ipython = worker["companion_stub"].NullObject()
    sys.modules["__main__"] = main
    worker["run_statements"](statements, vars(main))
    answer = next((vars(main)[name] for name in names if name in vars(main)), None)
    return None if answer is None else [run_answer.observe(call, answer, probe).to_json() for probe in probes]


def late(said):
    return (said["error"] or {}).get("type") == "Late"


def by_chance(run_answer, seed):
    """Another draw, and what nobody has written is not a number. (torch's own function for this imports its
    compiler.)"""
    import torch

    def other():
        seed()
        torch.default_generator.manual_seed(1)

    run_answer.seed = other
    torch._C._set_deterministic_algorithms(True, warn_only=True)


def as_ever(run_answer, seed):
    import torch

    run_answer.seed = seed
    torch._C._set_deterministic_algorithms(False)
