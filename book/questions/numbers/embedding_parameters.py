"""Numbers of the questions about *nn.Embedding*."""

import torch

from book.questions.parts import Numbers
from companion import Embedding


def row_shortened(rng):
    (a, b, length), max_norm = rng.choice(((3, 4, 5), (4, 3, 5), (6, 8, 10), (8, 6, 10))), rng.choice((0.5, 1.5, 2.5))
    embedding = Embedding(2, 2, max_norm=max_norm, dtype=torch.float64)
    with torch.no_grad():
        embedding.weight.copy_(torch.tensor([[a, b], [0.1, 0.2]]))
    embedding(torch.tensor([0]))
    mistakes = {
        "table_unchanged": float(a),
        "each_number_cut": float(min(a, max_norm)),
        "length_one": a / length,
        "divided_by_max_norm": a / max_norm,
    }
    values = {"a": a, "b": b, "length": length, "max_norm": max_norm}
    return Numbers(embedding.weight[0, 0].item(), mistakes, values, digits=2)


def mean_of_places(rng):
    row, other = rng.sample(range(10), 2)
    indices = [row, row, row, other]
    rng.shuffle(indices)
    gradients = [tenths / 10 for tenths in rng.sample(range(1, 10), 4)]
    embedding = Embedding(10, 1, scale_grad_by_freq=True, dtype=torch.float64)
    embedding(torch.tensor(indices)).flatten().dot(torch.tensor(gradients, dtype=torch.float64)).backward()
    read = [gradient for index, gradient in zip(indices, gradients, strict=True) if index == row]
    mistakes = {"sum_of_places": sum(read), "mean_of_batch": sum(read) / len(indices), "last_place": read[-1]}
    values = {"row": row, "indices": torch.tensor(indices), "gradients": torch.tensor(gradients)}
    return Numbers(embedding.weight.grad[row].item(), mistakes, values, digits=2)
