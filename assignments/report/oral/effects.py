"""Classify what a change to a program does to its outputs: an error, another shape, other numbers, or nothing."""

import builtins
import json
from dataclasses import dataclass

from assignments.sandbox import protocol

SAME, OTHER = 1e-6, 1e-3  # relative differences below count as equal, above as different, between as unclear


def parse_runs(content, probes, changes):
    """Return the outcomes of an answer and its changes by probe (None without one), or None for a forged message."""
    try:
        content = json.loads(content)
        if not isinstance(content, list) or len(content) > changes + 1:
            return None
        runs = []
        for run in content:
            if not isinstance(run, list) or len(run) not in (0, probes):
                return None
            runs.append([None if value is None else protocol.parse_outcome(value) for value in run])
        return runs + [[]] * (changes + 1 - len(runs))
    except (ValueError, RecursionError, KeyError, TypeError, AttributeError):
        return None


@dataclass(frozen=True)
class Effect:
    """The effect of a change on one probe. label: the option that describes it; names: of the values that differ."""

    label: tuple
    names: frozenset = frozenset()


def effect_of(before, after):
    """Return the effect of a change, or None if it is unclear."""
    if after is None:
        return None
    if error := after.error:
        if error["kind"] != "raises_error":
            return Effect(("form",))
        error_class = getattr(builtins, error["type"], None)  # a student's own class may have any name
        if not isinstance(error_class, type) or not issubclass(error_class, Exception):
            return Effect(("error", ""))
        return Effect(("error", "NameError" if issubclass(error_class, NameError) else error_class.__name__))
    if after.notes != before.notes or after.values.keys() != before.values.keys():
        return None
    names, label = set(), ("same",)
    for name, value in before.values.items():
        value_after = after.values[name]
        if value.shape != value_after.shape:
            label = label if label[0] == "shape" else ("shape", name, list(value_after.shape))
        else:
            differ_much = differ(value, value_after)
            if differ_much is None:
                return None
            if not differ_much:
                continue
            label = ("numbers",) if label == ("same",) else label
        names.add(name)
    return Effect(label, frozenset(names))


def differ(first, second):
    """Return whether two tensors of one shape differ, or None if that is unclear."""
    if not second.numel():
        return False
    largest = float(((first - second).abs() / first.abs().clamp(min=1)).max())
    return False if largest <= SAME else True if largest >= OTHER else None
