"""A record of which operations ran, by the names that torch's own has: the checker of assignments asks for it."""

from typing import NamedTuple

records = []  # those that are being kept


class Event(NamedTuple):
    """That an operation ran."""

    called: str

    def name(self):
        return self.called


class profile:
    """Its settings; there is nothing to set."""

    def config(self):
        return self


def note(name):
    """Write an operation down, if somebody asked."""
    for record in records:
        record.append(Event(name))


def _enable_profiler_legacy(config):
    records.append([])


def _disable_profiler_legacy():
    """End the last record: a list of threads' lists."""
    return [records.pop()]
