"""Right answers of the questions about *A network that writes, in ten lines*, computed with tensors."""

import torch


def weight_changes(predictions, rows, window, passes):
    """Return how many windows the rows of a text have, in all passes."""
    return passes * len(torch.zeros(rows, predictions // rows).split(window, dim=1))


def known_pieces(sample, text, pieces):
    """Return the percentage of windows over the sample's codes that are equal to one over the text's."""
    windows, known = (torch.tensor([*string.encode()]).unfold(0, 3, 1) for string in (sample, text))
    assert pieces == ", ".join(f"`{bytes(window.tolist()).decode()}`" for window in windows)
    equal = (windows[:, None] == known[None]).all(dim=2).any(dim=1)
    return 100 * equal.double().mean().item()
