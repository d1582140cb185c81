"""Decoding of the outputs of a network that was trained by CTC.

Alex Graves and others, "Connectionist temporal classification" (2006), section 3.2; the beam search: Awni Hannun and
others, "First-pass large vocabulary continuous speech recognition using bi-directional recurrent DNNs" (2014). A path
has one output for each time step; without repeated outputs, and then without blanks, it is a text.

Shapes: T time steps, C classes.
"""

import itertools
import math
from collections import defaultdict

from torch import Tensor


def best_path(log_probs: Tensor, blank: int = 0) -> list[int]:
    """Return the letters of the path of the likeliest outputs. log_probs: (T, C)."""
    outputs = itertools.groupby(log_probs.argmax(dim=-1).tolist())
    return [output for output, _ in outputs if output != blank]


def beam_search(log_probs: Tensor, width: int = 10, blank: int = 0) -> list[tuple[list[int], float]]:
    """Return the likeliest texts, the best first, each with the logarithm of its probability.

    log_probs: (T, C). width: texts that are kept after each step. A text that ends in a blank and the same text without
    one are counted apart: only after a blank, the same letter begins a new one.
    """
    beams = {(): (0.0, -math.inf)}  # text → log p of its paths that end in a blank, and in its last letter
    for y in log_probs.tolist():
        new: dict[tuple, list[float]] = defaultdict(lambda: [-math.inf, -math.inf])
        for text, (after_blank, after_letter) in beams.items():
            both = log_add(after_blank, after_letter)
            new[text][0] = log_add(new[text][0], both + y[blank])
            if text:
                new[text][1] = log_add(new[text][1], after_letter + y[text[-1]])
            for letter in range(len(y)):
                if letter != blank:
                    before = after_blank if text[-1:] == (letter,) else both
                    longer = (*text, letter)
                    new[longer][1] = log_add(new[longer][1], before + y[letter])
        possible = [text for text, parts in new.items() if max(parts) > -math.inf]
        best = sorted(possible, key=lambda text: -log_add(*new[text]))[:width]
        beams = {text: (new[text][0], new[text][1]) for text in best}
    return [(list(text), log_add(*beams[text])) for text in beams]


def log_add(a: float, b: float) -> float:
    """Return log( eᵃ + eᵇ )."""
    high, low = max(a, b), min(a, b)
    return high if low == -math.inf else high + math.log1p(math.exp(low - high))
