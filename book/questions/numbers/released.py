"""Numbers of the questions about *Layers as they are released*."""

import torch

from book.questions.parts import Numbers
from companion import DeltaMixer
from companion.layers.mixer import short_convolution


def convolution_by_hand(rng):
    x, w = rng.sample(range(1, 8), 3), rng.sample(range(-2, 4), 4)
    inputs, weights = torch.tensor(x, dtype=torch.float64), torch.tensor(w, dtype=torch.float64)
    before = torch.zeros(1, 1, 3, dtype=torch.float64)
    sums, _ = short_convolution(inputs.view(3, 1, 1), weights.view(1, 1, 4), None, before)
    mistakes = {
        "reversed": w[0] * x[2] + w[1] * x[1] + w[2] * x[0],
        "zeros_behind": w[0] * x[0] + w[1] * x[1] + w[2] * x[2],
        "newest_only": w[3] * x[2],
    }
    return Numbers(int(sums[-1]), mistakes, {"w": weights, "x": inputs})


def state_between_steps(rng):
    heads, size = rng.randint(2, 5), rng.choice((4, 6, 8, 10))
    width = heads * size
    _, state = DeltaMixer(width, width, num_heads=heads)(torch.zeros(1, 1, width))
    right = sum(part.numel() for part in state)
    mistakes = {
        "matrices_only": width * size,
        "four_inputs": right + 3 * width,
        "keys_only": right - 2 * 3 * width,
        "one_large_matrix": 3 * 3 * width + width**2,
    }
    return Numbers(right, mistakes, {"heads": heads, "size": size})
