"""Numbers of the questions about *A network that writes, in ten lines*."""

import torch

from book.questions.parts import Numbers
from companion.learning.windows import ConsecutiveWindows


def weight_changes(rng):
    rows, window = rng.choice([4, 5, 8, 10]), rng.choice([10, 20, 25])
    batches, passes = rng.randint(6, 15), rng.randint(2, 5)
    predictions = rows * window * batches
    right = passes * len(ConsecutiveWindows(torch.arange(predictions + 1), rows, window))
    mistakes = {
        "once_a_pass": passes,
        "each_prediction": passes * predictions,
        "row_by_row": rows * right,
        "one_pass": batches,
    }
    values = {"predictions": predictions, "rows": rows, "window": window, "passes": passes}
    return Numbers(right, mistakes, values)


def pieces_of(text, size):
    """Return all pieces of a text that have this size."""
    return [text[start : start + size] for start in range(len(text) - size + 1)]


def known_pieces(rng):
    text, sample = "".join(rng.choices("abc", k=9)), "".join(rng.choices("abc", k=6))
    pieces, known = pieces_of(sample, 3), share(pieces_of(sample, 3), text)
    if known in (0, 1) or len({*pieces}) < len(pieces):
        return known_pieces(rng)
    mistakes = {
        "pieces_of_two": 100 * share(pieces_of(sample, 2), text),
        "divided_by_length": 100 * known * len(pieces) / len(sample),
        "pieces_of_the_text": 100 * share(pieces_of(text, 3), sample),
    }
    values = {"sample": sample, "text": text, "pieces": ", ".join(f"`{piece}`" for piece in pieces)}
    return Numbers(100 * known, mistakes, values, digits=0)


def share(pieces, text):
    """Return the share of the pieces that occur in a text."""
    return sum(piece in text for piece in pieces) / len(pieces)
