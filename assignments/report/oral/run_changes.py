"""Run an answer and its changes in the sandbox, and return the outcomes without judging them.

All runs are one job, since a fork for each change would take ten times as long. A change that damages the process
therefore spoils the later runs, but only of the same student.
"""

import signal
import sys
import types


class Late(BaseException):
    """The time is over. `except Exception` does not catch it."""


def run_within(seconds, function):
    """Return what a function returns, or None if it needs more processor time."""
    if not hasattr(signal, "setitimer"):  # on Windows pool.py limits the time
        return function()

    def raise_late(*_):
        raise Late

    signal.signal(signal.SIGVTALRM, raise_late)
    try:
        signal.setitimer(signal.ITIMER_VIRTUAL, seconds, seconds)  # repeated, in case `except BaseException` catches it
        return function()
    except Late:
        return None
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)


def all_runs(job, cells, kept, call, probes, worker):
    """Return the outcomes of the answer and of each of job["changes"] on each probe.

    cells, kept: the statements of all cells, and those that the answer needs. An outcome is None if it took too long or
    depends on chance: a second run has another seed and other contents in unwritten memory. worker: functions of
    worker.py.
    """
    from companion.check.engine import run_answer

    def timed(statements):
        return run_within(job["each"], lambda: observe_all(job, statements, call, probes, worker))

    runs, seed, too_long = [], run_answer.seed, 0
    for change in [None, *job["changes"]]:
        statements = replace_cell(cells, kept, change, worker["parse_cells"])
        first = second = timed(statements) if statements else None
        too_long += first is None or any(map(timed_out, first))
        if first is not None:
            try:
                disturb_chance(run_answer, seed)
                second = timed(statements)
            finally:
                restore_chance(run_answer, seed)
        certain = [
            outcome if outcome == repeated and not timed_out(outcome) else None
            for outcome, repeated in zip(first or (), second or ())
        ]
        runs.append(certain)
        if too_long > job["endless"] or change is None and not any(certain):
            break
    return runs


def replace_cell(cells, kept, change, statements_of):
    """Return the needed statements with a changed cell, or None if the cell no longer fits."""
    if change is None:
        return kept
    number, source = change
    old = [statement for statement in cells if statement.cell == number]
    new, errors = statements_of([[number, source]])
    if errors or len(old) != len(new):
        return None
    replaced = {id(statement): new_statement for statement, new_statement in zip(old, new)}
    return [replaced.get(id(statement), statement) for statement in kept]


def observe_all(job, statements, call, probes, worker):
    """Return an answer's outcomes on the probes as JSON, or None if it is not defined."""
    from companion.check.engine import run_answer

    main = types.ModuleType("__main__")
    main.display = main.get_ipython = worker["companion_stub"].NullObject()
    sys.modules["__main__"] = main
    worker["companion_stub"].CHECK.answers.clear()
    worker["run_statements"](statements, vars(main))
    answer = worker["find_answer"](job, vars(main))
    return None if answer is None else [run_answer.observe(call, answer, probe).to_json() for probe in probes]


def timed_out(outcome):
    return (outcome["error"] or {}).get("type") == "Late"


def disturb_chance(run_answer, seed):
    """Change the seed, and fill unwritten memory with NaN.

    torch's own function for this would import its compiler.
    """
    import torch

    def other_seed():
        seed()
        torch.default_generator.manual_seed(1)

    run_answer.seed = other_seed
    torch._C._set_deterministic_algorithms(True, warn_only=True)


def restore_chance(run_answer, seed):
    import torch

    run_answer.seed = seed
    torch._C._set_deterministic_algorithms(False)
