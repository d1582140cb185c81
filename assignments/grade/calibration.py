"""Calibration: measure how slow this machine is, and lengthen time limits by that, so that no verdict depends on it.

The measure is a short training by the official solution of `recall`, which runs in the sandbox as answers do. A batch
measures once at its start, and again when an answer's time is over: if the machine has become slower since, that answer
is run once more. Limits are never shorter than they are on the machine whose time is REFERENCE.
"""

import json
import math
import re
from functools import cache
from multiprocessing import RawArray
from pathlib import Path
from types import SimpleNamespace

import torch

from assignments.grade import judge
from assignments.read.answers import Answer
from assignments.sandbox.call_source import pack_call
from companion.check.engine.probe import Probe
from companion.check.engine.question import all_questions
from companion.check.engine.run_answer import Function

SOLUTIONS = Path(__file__).resolve().parents[1] / "source" / "en" / "language_model.ipynb"
STEPS = 30  # of the training
REFERENCE = 0.34  # seconds that these steps take where limits hold as they are, of the processor and by the clock
NOTABLE = 1.25  # a rise by less than this does not change a verdict, and is not worth a message
PATIENCE = judge.time_limits(100)  # limits of the measure itself
CALL = """
def calibrate(numbers):
    torch.set_default_dtype(torch.float32)
    train_recall(torch.randint(13, (3000, 44)), torch.randint(6, (3000,)))
    return numbers
"""


@cache
def job():
    """Return the job of a worker that trains for a few steps."""
    cells = {cell["id"]: "".join(cell["source"]) for cell in json.loads(SOLUTIONS.read_text(encoding="utf-8"))["cells"]}
    solution = re.sub(r"range\(\d{3}\)", f"range({STEPS})", cells["recall"])
    imports = "import torch\nfrom torch import nn\nfrom torch.nn import functional as F"
    answer = Answer([[1, imports], [2, solution], [3, CALL]], ["calibrate"], True, cell=3)
    probe_set = SimpleNamespace(probes=[Probe("numbers", {"numbers": torch.zeros(1)}, gradients=None)])
    limits = judge.LIMITS | PATIENCE
    call = pack_call(Function(("numbers",), "numbers"))
    return judge.build_job(all_questions()["recall"], probe_set, answer, limits, needed=False) | call


class Calibration:
    """How many times as long as on the reference machine things take here: `processor` and `clock`, at least 1.

    All processes of a batch share it. fixed: the limits were given by hand, and stay as they are.
    """

    def __init__(self, fixed=False):
        self.factors, self.fixed = RawArray("d", [1.0, 1.0]), fixed

    @property
    def processor(self):
        return self.factors[0]

    @property
    def clock(self):
        return self.factors[1]

    def measure(self, worker):
        """Measure this machine with a worker; a measure that fails changes nothing."""
        if self.fixed:
            return
        reply = worker.ask(job())
        if not reply["ended"]:
            processor = max(1.0, reply["processor"] / REFERENCE)
            self.factors[:] = processor, max(processor, reply["seconds"] / REFERENCE)

    def scale(self, limits):
        """Return limits with their times lengthened for this machine."""
        seconds = math.ceil(limits["seconds"] * self.processor)  # the system takes whole ones
        return limits | {"seconds": seconds, "wall": limits["wall"] * self.clock}


class CalibratedWorker:
    """A worker of pool.py whose time limits follow the speed of the machine."""

    def __init__(self, worker, calibration):
        self.worker, self.calibration = worker, calibration

    @property
    def slowness(self):
        return self.calibration.processor

    def ask(self, job):
        """Run a job as `Worker.ask` does, twice if its time was over on a machine that has become slower.

        The reply also has the `limits` of the last run.
        """
        before, limits = [*self.calibration.factors], self.calibration.scale(job["limits"])
        reply = self.run(job, limits)
        if reply["ended"] == "time" and not self.calibration.fixed:
            self.calibration.measure(self.worker)
            ended_by_clock = reply["processor"] < 0.9 * limits["seconds"]
            if self.calibration.factors[ended_by_clock] > NOTABLE * before[ended_by_clock]:
                limits = self.calibration.scale(job["limits"])
                reply = self.run(job, limits)
        return reply | {"limits": limits}

    def run(self, job, limits):
        each = {"each": job["each"] * self.slowness} if "each" in job else {}  # the limit of a changed copy
        return self.worker.ask(job | each | {"limits": limits})
