"""Serve one side: read requests from standard input, write answers to standard output, both pickled.

usage: worker.py [FOLDER]   (FOLDER holds the package that is imported as torch)
"""

import os
import pickle
import sys
import warnings

if len(sys.argv) > 1:
    sys.path.insert(0, sys.argv[1])

from comparison import check_program  # noqa: E402  after the path
from execution import Watch, limited_time, run_statement  # noqa: E402
from generator import write_program  # noqa: E402


def record_program(seed, statements):
    """Run a program on torch; return what each statement raised, printed and changed."""
    records = []
    with limited_time():
        watch = Watch(seed)
        for text in statements:
            error, printed = run_statement(text, watch.names)
            records.append(watch.record(error, printed))
    return records


def attempt(task, values):
    try:
        return TASKS[task](*values)
    except Exception as error:  # noqa: BLE001  the other process reports it
        return f"{type(error).__name__}: {error}"


def serve(requests, answers):
    warnings.simplefilter("ignore")
    while True:
        try:
            task, calls = pickle.load(requests)
        except EOFError:
            return
        pickle.dump([attempt(task, values) for values in calls], answers)
        answers.flush()


TASKS = {"write": write_program, "record": record_program, "check": check_program}
if __name__ == "__main__":
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # libraries under torch print, too
    if len(sys.argv) == 1:
        import torch
        import torch._dynamo  # optimizers import it, too late for a limit on time

        torch.set_num_threads(1)
    serve(sys.stdin.buffer, answers)
