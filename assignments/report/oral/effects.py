"""What a change does: from what a program gave, and gave when it was changed, to an error, another shape or other
numbers."""

import builtins
import json
from dataclasses import dataclass

from assignments.sandbox import protocol

SAME, OTHER = 1e-6, 1e-3  # numbers that differ less are the same, and more others; between, nothing is said


def runs_of(said, probes, tried):
    """What a worker says of an answer and its changes: outcomes by probe, None where there is none. None if it is
    forged."""
    try:
        said = json.loads(said)
        if not isinstance(said, list) or len(said) > tried + 1:
            return None
        runs = []
        for run in said:
            if not isinstance(run, list) or len(run) not in (0, probes):
                return None
            runs.append([None if one is None else protocol.parse_outcome(one) for one in run])
        return runs + [[]] * (tried + 1 - len(runs))
    except (ValueError, RecursionError, KeyError, TypeError, AttributeError):
        return None


@dataclass(frozen=True)
class Effect:
    """On a probe. label: how it is said, as an option. names: of the values that are others."""

    label: tuple
    names: frozenset = frozenset()


def effect(before, after):
    """None where it cannot be said for certain."""
    if after is None:
        return None
    if error := after.error:
        if error["kind"] != "raises_error":
            return Effect(("form",))
        known = getattr(builtins, error["type"], None)  # an error of one's own may have any name
        if not isinstance(known, type) or not issubclass(known, Exception):
            return Effect(("error", ""))
        return Effect(("error", "NameError" if issubclass(known, NameError) else known.__name__))
    if after.notes != before.notes or after.values.keys() != before.values.keys():
        return None
    names, label = set(), ("same",)
    for name, value in before.values.items():
        other = after.values[name]
        if value.shape != other.shape:
            label = label if label[0] == "shape" else ("shape", name, list(other.shape))
        else:
            differs = far(value, other)
            if differs is None:
                return None
            if not differs:
                continue
            label = ("numbers",) if label == ("same",) else label
        names.add(name)
    return Effect(label, frozenset(names))


def far(one, other):
    """Whether two tensors of a shape are others; None if that is not clear."""
    if not other.numel():
        return False
    largest = float(((one - other).abs() / one.abs().clamp(min=1)).max())
    return False if largest <= SAME else True if largest >= OTHER else None
