"""Checkpoints: a training run stored in a file, so that an interruption loses nothing."""

import hashlib
import io
import os
import pickle
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch
from torch import nn

SECONDS = 30  # between two saves; runs are also saved after every epoch and on an interrupt


class Checkpoint:
    """The complete state of a run: weights, optimizer, random numbers, position in the data, recurrent state.

    path: the file, or None to store nothing. The others are the arguments of `train`; a file that was made with others
    is refused, and so are a folder and empty batches (ValueError).
    """

    def __init__(
        self,
        path: str | Path | None,
        model: nn.Module,
        optimizer: torch.optim.Optimizer,
        scheduler: Any,
        batches: Any,
        clip: float,
    ) -> None:
        if len(batches) == 0:
            raise ValueError("batches are empty: an epoch needs at least one step")
        self.path = None if path is None else Path(path)
        if self.path is None:
            return
        if not self.path.parent.is_dir():
            raise FileNotFoundError(f"there is no folder {str(self.path.parent)!r} to keep {self.path.name} in")
        if self.path.is_dir():
            raise ValueError(f"{str(self.path)!r} is a folder; give the path of a file in it, such as run.pt")
        parts = {"model": model, "optimizer": optimizer, "scheduler": scheduler}
        self.parts = {name: part for name, part in parts.items() if part is not None}
        self.saved_at = time.monotonic()
        first, _ = next(iter(batches.epoch(0)))
        self.settings = {
            "parameters": {name: (str(p.dtype), *p.shape) for name, p in model.named_parameters()},
            "optimizer": type(optimizer).__name__,
            "options of the optimizer": {
                name: value for name, value in optimizer.defaults.items() if isinstance(value, (int, float, tuple))
            },
            "parameters of the optimizer": [len(group["params"]) for group in optimizer.param_groups],
            "scheduler": scheduler and type(scheduler).__name__,
            "clip": clip,
            "steps in an epoch": len(batches),
            "data": hashlib.sha256(first.cpu().numpy().tobytes()).hexdigest(),
        }

    def load(self, epochs: int) -> tuple[list, list[float], Any] | None:
        """Restore the parts, and return (history, losses, state), or None if there is no file.

        ValueError for a file that is no checkpoint, that keeps another run, or one of more than `epochs` epochs.
        """
        if self.path is None or not self.path.exists():
            return None
        raw = self.path.read_bytes()
        try:
            kept = torch.load(io.BytesIO(raw), map_location="cpu", weights_only=True)
            settings = dict(kept["settings"])
        except Exception as error:  # a wrong file can lead to almost any error
            raise ValueError(f"{str(self.path)!r} is not a checkpoint. To start again, delete or rename it") from error
        if other := [name for name, value in self.settings.items() if settings.get(name) != value]:
            raise ValueError(
                f"{str(self.path)!r} keeps another run: it differs in {', '.join(other)}. Call train as that run did, "
                "or give another path"
            )
        if (done := len(kept["history"])) + (len(kept["losses"]) > 0) > epochs:
            begun = f" and {len(kept['losses'])} steps" if kept["losses"] else ""
            raise ValueError(
                f"{str(self.path)!r} keeps a run of {done} epochs{begun}, more than epochs={epochs}, which counts those"
                " of earlier calls. Raise it, or give another path"
            )
        for name, part in self.parts.items():
            part.load_state_dict(kept[name])
        torch.set_rng_state(kept["random"])
        # the run may continue on a machine with fewer GPUs, or none
        torch.cuda.set_rng_state_all(kept["random on cuda"][: torch.cuda.device_count()])
        state = kept["state"]
        device = next(self.parts["model"].parameters()).device
        if state is not None:
            state = state.to(device) if isinstance(state, torch.Tensor) else tuple(s.to(device) for s in state)
        return kept["history"], kept["losses"], state

    def is_due(self) -> bool:
        """Return True if the last save is longer ago than `SECONDS`."""
        return self.path is not None and time.monotonic() - self.saved_at > SECONDS

    def save(self, history: list, losses: list[float], state: Any) -> None:
        """Store the run as it is now.

        The file is replaced as a whole, so that it is never half written.
        """
        if self.path is None:
            return
        kept = {name: part.state_dict() for name, part in self.parts.items()}
        kept |= {"settings": self.settings, "losses": losses, "state": state}
        kept |= {"random": torch.get_rng_state(), "random on cuda": torch.cuda.get_rng_state_all()}
        kept["history"] = [tuple(epoch) for epoch in history]
        unfinished = self.path.with_name(self.path.name + ".unfinished")
        torch.save(kept, unfinished)
        try:
            torch.load(
                unfinished, weights_only=True
            )  # detect an unreadable file now instead of when the run should continue
        except pickle.UnpicklingError as error:
            raise TypeError(
                "the run cannot be stored: its optimizer or scheduler contains a value that is neither a tensor nor a "
                "Python number, such as one of numpy"
            ) from error
        os.replace(unfinished, self.path)
        self.saved_at = time.monotonic()


@contextmanager
def held_interrupts() -> Iterator[list[int]]:
    """Delay Ctrl-C, or a notebook's stop button, and yield a list that an interrupt is appended to.

    Interrupted in the middle of a step, weights would be half updated. A second interrupt is not delayed.
    """
    interrupts: list[int] = []

    def hold(number, frame):
        if interrupts:
            raise KeyboardInterrupt
        interrupts.append(number)

    try:
        before = signal.signal(signal.SIGINT, hold)
    except ValueError:  # only the main thread receives interrupts
        yield interrupts
        return
    try:
        yield interrupts
    finally:
        signal.signal(signal.SIGINT, before)
