"""Programs of the assignment `gru`, with random pairs of mistakes."""

from tests.check.answers import Program, drawn_pairs


def left_out(pair, edits):
    """Return True if a pair changes a text twice, or selects rows by their place, which may hide another order."""
    rows = any("rows" in name or "order" in name or "variant" in name for name in pair)
    places = any("2*H" in new for _, new in edits) or {"candidate_reads_by_z", "state_mixed_by_r"} & {*pair}
    return len({old for old, _ in edits}) < len(edits) or rows and places


def program(question, source, wrong, also_wrong, also_right):
    pairs = drawn_pairs(question, source, wrong, 40, left_out)
    return Program(source, wrong, also_wrong, also_right, pairs)
