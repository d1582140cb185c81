"""Numbers of the questions about *Attention: looking back*."""

import torch

from book.questions.parts import Numbers, count
from companion import MultiheadAttention
from companion.layers.attention import attend


def handed_over(rng):
    hidden_size, words = rng.choice((8, 10, 12, 16, 20, 32)), rng.choice((5, 7, 9, 11))
    mistakes = {
        "only_h": 2 * hidden_size,
        "every_word": 2 * hidden_size * words,
        "every_state": 4 * hidden_size * words,
        "one_direction": hidden_size,
    }
    return Numbers(4 * hidden_size, mistakes, {"hidden_size": hidden_size, "words": words})


def context(rng):
    first, second = rng.sample(range(-2, 5), 2)
    v1, v2 = rng.sample(range(1, 10), 2)
    products, values = torch.tensor([first, second]).double(), torch.tensor([v1, v2]).double()

    def context_of(scores):
        return (torch.softmax(scores, dim=0) @ values).item()

    K = torch.zeros(2, 4, dtype=torch.float64)
    K[:, 0] = products
    C, A = attend(torch.eye(4, dtype=torch.float64)[:1], K, values[:, None])
    mistakes = {
        "scale_missing": context_of(products),
        "scale_without_root": context_of(products / 4),
        "scaled_after_softmax": context_of(products) / 2,
        "best_only": values[products.argmax()].item(),
        "plain_mean": values.mean().item(),
    }
    w1, w2 = (round(weight, 2) for weight in A[0].tolist())
    drawn = {"first": first, "second": second, "v1": v1, "v2": v2, "w1": w1, "w2": w2}
    return Numbers(C.item(), mistakes, drawn, digits=2)


def head_parameters(rng):
    heads = rng.choice((2, 3, 4, 5))
    size = heads * rng.randint(2, 6)
    right = count(MultiheadAttention(size, heads))
    mistakes = {
        "for_each_head": heads * right,
        "no_output": 3 * size * (size + 1),
        "no_bias": 4 * size**2,
        "one_part": size * (size + 1),
    }
    return Numbers(right, mistakes, {"size": size, "heads": heads})
