"""Right answers of the questions about *Without waiting*, computed with matrices and by counting."""

import torch


def joined_step(a_1, b_1, a_2, b_2):
    """Multiply the steps as matrices that map (h, 1) to (a h + b, 1)."""
    first, second = torch.tensor([[a_1, b_1], [0, 1]]), torch.tensor([[a_2, b_2], [0, 1]])
    return tuple((second @ first)[0].tolist())


def rounds(steps, size, chunks):
    """Count for every state in which round it is known."""
    assert steps == size * chunks
    known = []
    for t in range(steps):
        inside = t % size + 1  # all chunks begin in round 1
        if t < size:
            known.append(inside)
        else:
            end_before = known[t // size * size - 1]
            known.append(1 + max(size, end_before))  # all chunks are finished before one is corrected
    return max(known)
