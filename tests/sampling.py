"""Which of many cases `make test` runs. `make prove` runs the others too, so that each runs in one of the two."""

import pytest


def sample(cases, every=8):
    """Cases for `parametrize`: the first of each `every` as it is, the others marked heavy."""
    rows = [case if isinstance(case, tuple) else (case,) for case in cases]
    return [pytest.param(*row, marks=[pytest.mark.heavy] * bool(n % every)) for n, row in enumerate(rows)]
