"""Checks that name a leak: change one input of a model, and see which outputs move that must not.

`find_leaks` looks for four faults, and names the first part of the model that has each:

- "target": the target is among the inputs, as an index or a feature of the same step or an earlier one;
- "future": an input moves an output of an earlier step, as in a bidirectional layer that has to predict;
- "rows": an input moves an output of another row of the batch;
- "padding": an input behind the end of a sequence moves its outputs or its answer.

A model is called as in `companion.learning.checks`, `model(inputs, state)` with state None, and returns outputs
(T, B, …) and a state, for T time steps of B rows; wrap a model with batch first in `TimeFirst`. If lengths are given,
it is called as `model(inputs, lengths)`, as `SequenceClassifier` is, and returns outputs (T, B, …) or an answer for
each row, (B, …), alone or with a state. Only copies of the model are called.
"""

from collections.abc import Iterable
from typing import NamedTuple

import torch
from torch import Tensor, nn

from companion.learning.checks import TimeFirst, check_batch, run_model, without_dropout
from companion.learning.classifier import mask_of
from companion.learning.leak_places import Call, Trace, distance, tensors, watch, ways
from companion.learning.training import IGNORED

KINDS = ("target", "future", "rows", "padding")
LARGEST_SHIFT, FEWEST = 3, 16  # steps, and pairs of a feature and a target, in the search for the target


class Finding(NamedTuple):
    """A leak: what was changed, what moved, each as (step, row), and where. `str` makes sentences of it.

    kind: one of `KINDS`. changed, moved: None for a target. The step that moved is None for an answer or a state of a
    whole row. place: the first part of the model that leaks, or the feature that is the target. training: True if the
    model leaks in training mode only.
    """

    kind: str
    changed: tuple[int, int] | None
    moved: tuple[int | None, int] | None
    place: str
    training: bool = False

    def __str__(self) -> str:
        """Return sentences that say what moves, and where."""
        if self.changed is None or self.moved is None:
            return f"The target is among the inputs: each target is {self.place}."
        (t, b), (moved_t, moved_b) = self.changed, self.moved
        output = f"the answer of row {moved_b}" if moved_t is None else f"the output of row {moved_b} at step {moved_t}"
        changed = f"the padding of row {b} from step {t} on" if self.kind == "padding" else f"row {b} at step {t}"
        fault = {"future": "The future leaks", "rows": "Rows touch", "padding": "Padding is read"}[self.kind]
        mode = " In training mode only." if self.training else ""
        return f"{fault}: a change of {changed} moves {output}. Place: {self.place}.{mode}"


def find_leaks(
    model: nn.Module,
    inputs: Tensor,
    targets: Tensor | None = None,
    lengths: Tensor | None = None,
    *,
    kinds: Iterable[str] = KINDS,
    tries: int = 4,
    seed: int = 0,
) -> list[Finding]:
    """Return the leaks of a model, at most one of each kind; an empty list if none is found.

    inputs: (T, B), indices, or (T, B, input_size). targets: (T, B) or (T, B, size), or None. lengths: (B), the steps of
    each row, or None if nothing is padded. kinds: leave out "future" for a model that may read ahead, such as a tagger,
    and "target" for a task that is to repeat inputs. tries: the number of inputs to change, at random, with `seed`. The
    model runs in evaluation mode, and then in training mode without dropout.
    """
    check_batch(inputs, targets)
    kinds = set(kinds)
    if not kinds <= set(KINDS):
        raise ValueError(f"kinds must be of {', '.join(KINDS)}, not {', '.join(sorted(kinds - set(KINDS)))}")
    findings = []
    if targets is not None and "target" in kinds:
        findings = target_leaks(inputs, targets, valid_steps(inputs, lengths))
    for training in (False, True):
        wanted = kinds - {"target"} - {finding.kind for finding in findings}
        if wanted:
            generator = torch.Generator().manual_seed(seed)
            findings += Runs(model, inputs, lengths, training).leaks(wanted, tries, generator)
    return sorted(findings, key=lambda finding: KINDS.index(finding.kind))


def moved(model: nn.Module, inputs: Tensor, t: int, b: int, lengths: Tensor | None = None) -> Tensor:
    """Return how far each output moves if the input at step t of row b changes, in evaluation mode.

    The input becomes the one in the batch that differs most from it. The result is (T, B), or (B) for an answer for
    each row: the largest change of an output's numbers, 0 if rounding explains it.
    """
    check_batch(inputs)
    runs = Runs(model, inputs, lengths, training=False)
    return runs.differences(runs.exchange(b, t, t + 1))[0]


def target_leaks(inputs: Tensor, targets: Tensor, valid: Tensor) -> list[Finding]:
    """Return a finding if each target is a feature of the input at its step or up to 3 before, up to its scale.

    valid: bool (T, B), False in padding. Fewer than 16 targets, or equal ones, show nothing.
    """
    if targets.shape[:2] != inputs.shape[:2]:
        return []
    x, y = (tensor.reshape(*valid.shape, -1).double() for tensor in (inputs, targets))
    asked = valid & y.isfinite().all(dim=-1) & (y != IGNORED).any(dim=-1)
    for by in range(min(LARGEST_SHIFT + 1, len(x))):
        pairs = asked[by:] & valid[: len(x) - by]
        if pairs.sum() < FEWEST:
            break
        features, answers = x[: len(x) - by][pairs], y[by:][pairs]
        a, c = ((z - z.mean(dim=0)) / z.std(dim=0, correction=0) for z in (features, answers))
        correlations = (a.T @ c / len(a)).nan_to_num().abs().amax(dim=1)
        if correlations.max() > 1 - 1e-9:
            feature = int(correlations.argmax())
            what = f"feature {feature} of the input" if inputs.dim() > 2 else "the input"
            when = f"{by} step{'s' * (by > 1)} before" if by else "at the same step"
            scale = "" if torch.equal(features[:, feature], answers[:, 0]) else ", up to its scale"
            return [Finding("target", None, None, f"{what} {when}{scale}")]
    return []


class Runs:
    """Runs of copies of a model, all with the same random numbers: with the inputs, and with changed ones."""

    def __init__(self, model: nn.Module, inputs: Tensor, lengths: Tensor | None, training: bool) -> None:
        self.model, self.inputs, self.lengths, self.training = model, inputs, lengths, training
        self.valid = valid_steps(inputs, lengths)
        self.T, self.B = self.valid.shape
        self.before, self.calls = self.run(inputs)
        shape = self.before[0].shape
        self.is_per_step = shape[:2] == (self.T, self.B) and (len(shape) > 2 or lengths is None or self.T != self.B)
        if not self.is_per_step and shape[:1] != (self.B,):
            raise ValueError(f"outputs must be (T, B, …) or (B, …) with T={self.T}, B={self.B}, not {tuple(shape)}")

    def run(self, inputs: Tensor) -> tuple[list[Tensor], list[Call]]:
        """Return the tensors that a copy of the model returns, outputs first, and the calls of its parts."""
        model = without_dropout(self.model).train(self.training)
        calls = watch(model.model if isinstance(model, TimeFirst) else model, self.T)
        # every run begins with the same random numbers
        with torch.no_grad(), torch.random.fork_rng(devices=[inputs.device] if inputs.is_cuda else []):
            result = run_model(model, inputs) if self.lengths is None else model(inputs, self.lengths)
        return tensors(result, self.T), calls

    def exchange(self, b: int, begin: int, end: int) -> Tensor:
        """Return the inputs with others in some steps of row b: each becomes that in the batch which differs most."""
        changed, others = self.inputs.clone(), self.inputs[self.valid]
        others = others[:: max(1, len(others) // 256)]  # enough to choose from
        for t in range(begin, end):
            old = self.inputs[t, b]
            distances = (others.double() - old.double()).abs().reshape(len(others), -1).sum(dim=1)
            if distances.max() > 0:
                changed[t, b] = others[distances.argmax()]
            else:
                changed[t, b] = old + 1 if old.is_floating_point() else (old == 0).to(old.dtype)
        return changed

    def differences(self, inputs: Tensor) -> list[Tensor]:
        """Return how far the outputs (T, B) or answers (B) move with other inputs, 0 in padding; then the states."""
        sizes, *states = (distance(x, y) for x, y in zip(self.before, self.run(inputs)[0], strict=True))
        sizes = sizes.reshape(*sizes.shape[: 1 + self.is_per_step], -1).amax(dim=-1)
        return [sizes * self.valid if self.is_per_step else sizes, *states]

    def leaks(self, kinds: set[str], tries: int, generator: torch.Generator) -> list[Finding]:
        """Return the first leak of each of these kinds that shows."""
        ends = self.valid.sum(dim=0).tolist()
        found: dict[str, Finding] = {}
        for _ in range(tries if kinds & {"future", "rows"} else 0):
            u, v = torch.rand(2, generator=generator).tolist()
            b = int(v * self.B)
            t = ends[b] - 1 - int(u * u * ends[b])  # more often late than early
            sizes = self.differences(self.exchange(b, t, t + 1))[0]
            is_row = torch.arange(self.B, device=sizes.device) == b
            if "rows" in kinds - found.keys() and (others := sizes * ~is_row).any():
                found["rows"] = self.finding("rows", (t, b), others, begin=0)
            if "future" in kinds - found.keys() and self.is_per_step and (earlier := sizes[:t] * is_row).any():
                found["future"] = self.finding("future", (t, b), earlier, begin=t)
        padded = sorted((end, b) for b, end in enumerate(ends) if end < self.T)
        for end, b in padded[:tries] if "padding" in kinds else ():
            sizes, *states = self.differences(self.exchange(b, end, self.T))
            ends_of_rows = [way[0] for state in states for way in ways(state, self.T, self.B) if len(way) == 1]
            for moves in (sizes, *ends_of_rows):
                if moves.any() and not found.get("padding"):
                    found["padding"] = self.finding("padding", (end, b), moves, begin=end)
        return [*found.values()]

    def finding(self, kind: str, changed: tuple[int, int], sizes: Tensor, begin: int) -> Finding:
        """Return a finding, with the output that moves most and the place that a change from `begin` on shows."""
        t, b = divmod(int(sizes.double().argmax()), self.B)
        after = self.run(self.exchange(changed[1], begin, self.T))[1]
        place = Trace(kind, self.calls, after, self.T - begin, (self.T, self.B)).place()
        return Finding(kind, changed, (t if sizes.dim() > 1 else None, b), place, self.training)


def valid_steps(inputs: Tensor, lengths: Tensor | None) -> Tensor:
    """Return bool (T, B), False in padding."""
    if lengths is None:
        return torch.ones(inputs.shape[:2], dtype=torch.bool, device=inputs.device)
    return mask_of(lengths, len(inputs)).to(inputs.device)
