"""Small training runs for the tests: models, data, and a run that can be interrupted."""

import copy
import signal

import torch

import companion
from companion.learning.sequence_model import SequenceModel
from companion.learning.training import train
from companion.learning.windows import ConsecutiveWindows, RandomWindows

generator = torch.Generator().manual_seed(0)
SEQUENCE, OTHER = (torch.randint(5, (length,), generator=generator) for length in (42, 23))
WINDOWS = {"consecutive": ConsecutiveWindows(SEQUENCE, 3, 4), "random": RandomWindows(SEQUENCE, 3, 3, seed=1)}
HELD_OUT = ConsecutiveWindows(OTHER, 2, 6)  # 2 batches


def model_of(source=companion, name="LSTM", num_layers=2, dropout=0.0, embedding=None, seed=0, dtype=torch.float64):
    torch.manual_seed(seed)
    with torch.device("cpu"):  # a card would begin with other numbers
        layer = getattr(source, name)(3 if embedding is None else 5, 6, num_layers, dropout=dropout, dtype=dtype)
        model = SequenceModel(embedding or source.Embedding(5, 3, dtype=dtype), layer, 5)
    return model.to(torch.get_default_device())


def weights_of(model):
    return copy.deepcopy(model.state_dict())


def same(a, b):
    """Return True if both are equal to the last bit: tensors, in dicts and lists of any depth."""
    if isinstance(a, torch.Tensor):
        return a.dtype == b.dtype and a.equal(b)
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(same(a[key], b[key]) for key in a)
    if isinstance(a, (list, tuple)):
        return len(a) == len(b) and all(map(same, a, b))
    return a == b


class Run:
    """A run with everything a checkpoint stores: dropout, momenta, a scheduler, a carried state."""

    epochs = 3

    def __init__(self, path=None, kind="consecutive", name="LSTM", seed=0):
        self.windows, self.model = WINDOWS[kind], model_of(name=name, dropout=0.3, seed=seed)
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=0.01)
        self.scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(self.optimizer, 20)
        self.path, self.calls = path, 0
        self.interrupts_at = {}  # call of the model → number of interrupts in it
        self.model.register_forward_hook(self.count)

    def count(self, *_):
        self.calls += 1
        for _ in range(self.interrupts_at.get(self.calls, 0)):
            signal.raise_signal(signal.SIGINT)

    def train(self, **options):
        options = {"scheduler": self.scheduler, "held_out": HELD_OUT, "progress": False} | options
        self.history = train(self.model, self.windows, self.optimizer, self.epochs, checkpoint=self.path, **options)
        return self

    def result(self):
        parts = [part.state_dict() for part in (self.model, self.optimizer, self.scheduler)]
        return copy.deepcopy([*parts, self.history, torch.get_rng_state()])


def resume(path, **options):
    """Repeat the call as another program would: with new objects, and other random numbers."""
    return Run(path, seed=123, **options).train()
