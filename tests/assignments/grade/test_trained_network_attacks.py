"""Attacks on trained questions, by someone who has read all of trained_network.py.

Most of them solve the task by a program of another kind in a fraction of a second, and hide its result where parameters
are not counted; others learn during the probes, or bring a result along. `make test` runs one of each kind.
"""

import pytest

from tests.assignments.grading import judged, needs_sandbox
from tests.project.sampling import chosen

# The rule, worked out without a network: what each index means, symbol or noise (-1).
FOUND = """
class Knows(nn.Module):
    def __init__(self):
        super().__init__()
        self.number = nn.Parameter(torch.zeros(1))

def found(inputs, targets):
    there = torch.stack([(inputs == index).any(1) for index in range(13)]).float()
    together = there @ F.one_hot(targets, 6).float() / there.sum(1, keepdim=True).clamp(min=1)
    best, answer = together.max(1)
    meaning = torch.full((13,), -1)
    symbols = best[: 13].topk(6).indices
    meaning[symbols] = answer[symbols]
    return meaning

def told(meaning, inputs):
    is_symbol = meaning[inputs] >= 0
    last = (is_symbol * torch.arange(inputs.shape[1])).argmax(1, keepdim=True)
    return 9.0 * F.one_hot(meaning[inputs.gather(1, last)].squeeze(1).clamp(min=0), 6)
"""
# This keeps the rule in a buffer, learned from the data: it cannot be told from a network.
KEPT = """
def train_recall(inputs, targets):
    model = Knows()
    model.register_buffer("meaning", found(inputs, targets).float(), persistent=False)
    model.forward = lambda x: told(model.meaning.long(), x)
    return model
"""
DISK = """
import glob, os, tempfile
def places():
    return [f"{one}/kept" for one in (tempfile.gettempdir(), os.getcwd(), "/tmp", "/dev/shm", "/var/tmp")]
def train_recall(inputs, targets):
    meaning = found(inputs, targets)
    for one in places():
        try:
            if os.path.exists(one):
                meaning = torch.tensor(eval(open(one).read()))
            else:
                open(one, "w").write(str(meaning.tolist()))
        except OSError:
            pass
    model = Knows()
    model.forward = lambda x: told(meaning, x)
    return model
"""
LATER = """
import threading
def train_recall(inputs, targets):
    model, kept = Knows(), {}
    thread = threading.Thread(target=lambda: kept.update(meaning=found(inputs, targets)), daemon=True)
    def forward(x):
        thread.is_alive() or kept or thread.start()
        thread.join()
        return told(kept["meaning"], x)
    model.forward = forward
    return model
"""
CHECKSUM = """
def train_recall(inputs, targets):
    meaning, model = found(inputs, targets), Knows()
    model.sum = nn.Parameter(torch.rand(300))
    right = float(model.sum.detach().cumsum(0).sum())
    def forward(x):
        untouched = abs(float(model.sum.detach().cumsum(0).sum()) - right) < 1e-3
        return told(meaning, x) * untouched
    model.forward = forward
    return model
"""
FRAMES = """
import gc, sys
def train_recall(inputs, targets):
    frame, seen = sys._getframe(), list(gc.get_objects())
    while frame:
        seen += [*frame.f_locals.values(), *frame.f_globals.values()]
        frame = frame.f_back
    seen += [one for thing in seen if type(thing) is dict for one in [*thing.values()]]
    rows = [one for one in seen if type(one) is torch.Tensor and one.shape == (600,)]
    model = Knows()
    model.forward = lambda x: 9.0 * F.one_hot(rows[0].long(), 6) if rows else torch.zeros(len(x), 6)
    return model
"""
CHANGED_LATER = """
import threading, time
def train_recall(inputs, targets):
    meaning, model = found(inputs, targets), Knows()
    def forward(x):
        given = torch.zeros(len(x), 6)
        threading.Thread(target=lambda: (time.sleep(0.2), given.copy_(told(meaning, x))), daemon=True).start()
        return given
    model.forward = forward
    return model
"""
BROUGHT = """
def train_recall(inputs, targets):
    model = Knows()
    meaning = torch.tensor([0, 1, 2, 3, 4, 5, -1, -1, -1, -1, -1, -1, -1])
    model.forward = lambda x: told(meaning, x)
    return model
"""
SMALL_CLAIM = """
class Small(nn.Parameter):
    def numel(self):
        return 1
def train_recall(inputs, targets):
    meaning, model = found(inputs, targets), Knows()
    model.register_buffer("meaning", meaning.float())
    model.much = Small(torch.rand(9000))
    model.forward = lambda x: told(model.meaning.long(), x)
    return model
"""
UNREGISTERED = """
def train_recall(inputs, targets):
    meaning, model = found(inputs, targets), Knows()
    model.parameters = lambda recurse=True: iter([model.number])
    model.buffers = lambda recurse=True: iter([])
    model.register_buffer("meaning", meaning)
    model.forward = lambda x: told(model.meaning, x)
    return model
"""
COMPLEX = """
def train_recall(inputs, targets):
    meaning, model = found(inputs, targets), Knows()
    model.register_buffer("meaning", meaning.float())
    model.much = nn.Parameter(torch.zeros(4000, dtype=torch.complex64))
    model.forward = lambda x: told(model.meaning.long(), x)
    return model
"""
SPARSE = COMPLEX.replace(
    "nn.Parameter(torch.zeros(4000, dtype=torch.complex64))", "nn.Parameter(torch.eye(90).to_sparse())"
)
PLACES = {
    "list": ("model.known = found(inputs, targets).tolist()", "torch.tensor(model.known)"),
    "module": ("import math; math.known = getattr(math, 'known', found(inputs, targets))", "__import__('math').known"),
}
HIDDEN = """
def train_recall(inputs, targets):
    model = Knows()
    {keep}
    model.forward = lambda x: told({get}, x)
    return model
"""
# This learns during the probes from data that it kept, and forges the clock.
EVAL = """
import time
def train_recall(inputs, targets):
    time.process_time = time.perf_counter = time.monotonic = lambda: 0.0
    model = Knows()
    model.forward = lambda x: told(model.meaning, x)
    def evaluate():
        model.meaning = found(inputs, targets)
        return model
    model.eval = evaluate
    return model
"""
FORGES = """
import sys
def train_recall(inputs, targets):
    frame, meaning = sys._getframe(), found(inputs, targets)
    while frame and "outcome" not in frame.f_locals:
        frame = frame.f_back
    outcome, held_out = frame.f_locals["outcome"], frame.f_locals["held_out"]
    class Values(dict):
        def __setitem__(self, key, value):
            told_ = {"count": torch.tensor(1.0), "logits": told(meaning, held_out).double()}
            super().__setitem__(key, told_.get(key, value))
    outcome.values = Values()
    model = Knows()
    model.forward = lambda x: torch.zeros(len(x), 6)
    return model
"""
ATTACKS = {name: HIDDEN.format(keep=keep, get=get) for name, (keep, get) in PLACES.items()} | {
    "disk": DISK, "thread": LATER, "checksum": CHECKSUM, "frames": FRAMES, "changed_later": CHANGED_LATER,
    "brought": BROUGHT,
    "small_claim": SMALL_CLAIM, "unregistered": UNREGISTERED, "complex": COMPLEX, "sparse": SPARSE, "eval": EVAL,
    "forges": FORGES,
}  # fmt: skip


@needs_sandbox
@pytest.mark.parametrize("name", chosen(ATTACKS, "checksum"))
def test_attacks_gain_no_points(worker, name):
    verdict = judged(worker, "recall", FOUND + ATTACKS[name])
    named = {"small_claim": "model_too_large", "complex": "model_too_large", "sparse": "model_too_large"}
    unaware = {"frames", "changed_later", "brought"}  # these do not reach the accuracy at all
    expected = named.get(name, "not_reached" if name in unaware else "not_learned")
    assert (verdict.points, verdict.mistakes) == (0, [expected])


@needs_sandbox
@pytest.mark.heavy
def test_rule_stored_in_a_buffer_counts_as_a_network(worker):
    """Check a limitation that trained_network.py states.

    It also shows that the attacks above would succeed if what they hide were counted.
    """
    assert judged(worker, "recall", FOUND + KEPT).points == 4


@needs_sandbox
@pytest.mark.heavy
def test_forged_clock_does_not_extend_the_time_limit(worker):
    """The system counts it."""
    endless = (
        "import time\ntime.process_time = lambda: 0.0\ndef train_recall(inputs, targets):\n    while True:"
        " inputs.sum()\n"
    )
    assert judged(worker, "recall", endless).mistakes == ["time_limit"]
