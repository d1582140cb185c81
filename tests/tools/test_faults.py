"""The list of faults that tests/faults.py plants: each can be planted, and all of the project is in it."""

from collections import Counter

import faults

FAULTS = faults.faults()


def test_every_fault_can_be_planted():
    """Who changes the code that a fault is planted in writes the fault anew in faults.toml."""
    assert [f"{fault['name']}: {why}" for fault in FAULTS if (why := faults.complaint(fault))] == []


def test_every_area_has_its_faults_and_no_name_is_used_twice():
    counts = Counter(fault["area"] for fault in FAULTS)
    assert len(FAULTS) >= 110 and all(counts[area] >= 8 for area in faults.AREAS)
    assert len({fault["name"] for fault in FAULTS}) == len(FAULTS)
