"""Right answers of the questions about *What single numbers keep*, computed in another way."""

from itertools import product


def expected_marks(p):
    """Return the mean number of marks over all ways in which marks can stand at the places."""
    total = 0
    for marks in product((0, 1), repeat=len(p)):
        probability = 1
        for mark, place in zip(marks, p.tolist()):
            probability *= place if mark else 1 - place
        total += probability * sum(marks)
    return total
