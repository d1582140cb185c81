"""A record of the operations that run, as torch keeps one: by it the checker of the assignments sees that an answer leaves its
work to a layer. Here it has those alone: recurrent layers, lookups in a table, and the nodes of a way back.
"""

_records = []  # those being kept, the innermost last


class _Event:
    """That an operation ran. name(): which, as torch calls it."""

    def __init__(self, name):
        self._name = name

    def name(self):
        return self._name


class profile:
    """What torch sets how a record is kept with."""

    def config(self):
        return None


def ran(name):
    """Note an operation, if a record is kept."""
    if _records:
        _records[-1].append(_Event(name))


def begin(config=None):
    """Keep a record from now on."""
    _records.append([])


def end():
    """The record's events, a list for each thread: the page has one."""
    return [_records.pop()]
