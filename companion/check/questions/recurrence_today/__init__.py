"""Questions of the assignment `recurrence_today`: scans, the delta rule, chunks, and streams in pieces."""


def chunk_probes(probe, draw):
    """Return the probes of a question about a chunk. probe: makes one of name, draw, N, C, K, V."""
    return [
        probe("one_number", draw.few, 1, 1, 1, 1),
        probe("two_steps", draw.few, 1, 2, 1, 1),
        probe("batch_1", draw, 1, 4, 3, 2),
        probe("several", draw, 2, 4, 3, 5),
        # a size of 1 in a batch: `squeeze()` without an axis drops it
        probe("one_step", draw, 3, 1, 2, 1),
        # as many values as keys: to mistake one for the other raises no error
        probe("several", draw, 3, 5, 2, 2),
    ]
