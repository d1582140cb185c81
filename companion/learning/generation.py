"""Generation: a trained model continues a text."""

import math

import torch
from torch import Tensor

from companion.learning.sequence_model import evaluation_of, in_few_threads


def probabilities(
    logits: Tensor, temperature: float = 1.0, top_k: int | None = None, top_p: float | None = None
) -> Tensor:
    """Return the probabilities from which the next character is drawn.

    logits: (..., vocab_size). temperature: below 1 likely characters become likelier, above 1 all become more alike; at
    0 the likeliest has probability 1. top_k: the number of likeliest characters that may be drawn. top_p: the
    likeliest, as few as together have this probability (Holtzman et al. 2020, The Curious Case of Neural Text
    Degeneration, section 3.1); applied after `top_k`, if both are given. Index 0, the unknown character, is never
    drawn. ValueError for a meaningless temperature, `top_k` or `top_p`.
    """
    if not (temperature >= 0 and math.isfinite(temperature)):
        raise ValueError(f"temperature must be a number from 0 on, not {temperature}")
    if top_k is not None and top_k < 1:
        raise ValueError(f"top_k must be at least 1, not {top_k}")
    if top_p is not None and not 0 < top_p <= 1:
        raise ValueError(f"top_p must be above 0 and at most 1, not {top_p}")
    logits = logits.to(torch.float64, copy=True)  # in float32 a small temperature would become 0
    logits[..., 0] = -math.inf
    best = logits.max(dim=-1, keepdim=True)
    if temperature == 0 or top_k == 1:
        return torch.zeros_like(logits).scatter(-1, best.indices, 1.0)
    if top_k is not None and top_k < logits.size(-1):
        kept = logits.topk(top_k, dim=-1)
        logits = torch.full_like(logits, -math.inf).scatter(-1, kept.indices, kept.values)
    # p_i = exp( y_i / τ ) / Σ_j exp( y_j / τ );   subtract the largest first, so that no exp overflows
    p = torch.softmax((logits - best.values) / temperature, dim=-1)
    if top_p is not None:
        ordered, places = p.sort(dim=-1, descending=True, stable=True)
        # the next likeliest is allowed as long as those before it have less than top_p
        ordered[ordered.cumsum(dim=-1) - ordered >= top_p] = 0
        p = torch.zeros_like(p).scatter(-1, places, ordered)
        p = p / p.sum(dim=-1, keepdim=True)
    return p


# A chapter prints this function.
# fmt: off
def generate(
    model, vocabulary, prefix, length, *,
    temperature=1.0, top_k=None, top_p=None, generator=None,
):
    """Return `prefix` with the `length` characters with which a model continues it.

    model: a `SequenceModel` over the vocabulary. The state begins at zero and reads the prefix, each character once;
    then each character that is drawn is read in turn. temperature, top_k, top_p: as in `probabilities`. generator: the
    `torch.Generator` for drawing the characters. Threads: `in_few_threads`.

    ValueError for an empty prefix, or one with characters that are not in the vocabulary.
    """
    indices = vocabulary.encode(prefix, strict=True)
    if len(indices) == 0:
        raise ValueError("the prefix is empty: there must be a character to go on from")
    if length < 0:
        raise ValueError(f"length must not be negative, got {length}")
    device = next(model.parameters()).device
    with evaluation_of(model):
        written, state, inputs = [], None, indices.to(device)
        for _ in range(length):
            logits, state = model(inputs[:, None], state)
            # drawn on the processor, where a seed gives the same text on every machine
            p = probabilities(logits[-1, 0].cpu(), temperature, top_k, top_p)
            inputs = torch.multinomial(p, 1, generator=generator).to(device)
            written.append(inputs)
    return vocabulary.decode(torch.cat([indices.to(device), *written]))
# fmt: on


generate = in_few_threads(generate)  # no decorator, because a chapter prints the function
