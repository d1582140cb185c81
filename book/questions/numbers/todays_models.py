"""Numbers of the questions about *Today's models*."""

import torch

from book.questions.parts import Numbers, few
from companion import CausalAttention, DeltaMixer


def delta_step_by_hand(rng):
    S, v, k, beta = few(rng), few(rng), rng.choice((-2, 2)), rng.choice((0.1, 0.2, 0.3, 0.4))
    error = v - S * k
    mistakes = {
        "only_added": S + beta * v * k,
        "uphill": S - beta * error * k,
        "key_missing": S + beta * error,
        "rate_missing": S + error * k,
    }
    return Numbers(S + beta * error * k, mistakes, {"S": S, "k": k, "v": v, "beta": beta}, digits=2)


def storage_of_a_hybrid(rng):
    features, steps = rng.choice((8, 16, 32)), rng.choice((20, 50, 100, 200))
    x = torch.zeros(steps, 1, features)

    def stored(layer):
        _, state = layer(features, features, num_heads=4)(x)
        return sum(part.numel() for part in state)

    fixed, growing = stored(DeltaMixer), stored(CausalAttention)
    mistakes = {
        "all_grow": 3 * fixed * steps + growing,
        "keys_only": 3 * fixed + growing // 2,
        "nothing_grows": 3 * fixed + 2 * features,
        "one_matrix": 3 * fixed + features**2,
    }
    return Numbers(3 * fixed + growing, mistakes, {"fixed": fixed, "features": features, "steps": steps})
