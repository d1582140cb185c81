"""Decoding: find the sequence that a model considers likeliest, greedily, by beam search, or among all sequences.

A model is an `EncoderDecoder`. Sequences are lists of indices without the final 0; their scores are log p, in nats,
with the end; where a sequence must end, its end has probability 1.
"""

import itertools
from typing import NamedTuple

import torch
from torch import Tensor

from companion.learning.encoder_decoder import EncoderDecoder, Read
from companion.learning.sequence_model import evaluation_of


class Found(NamedTuple):
    """A sequence and its log probability.

    From `greedy` also the probability of each sign, and the weights (T, S) or None.
    """

    sequence: list[int]
    log_p: float
    p: list[float] | None = None
    weights: Tensor | None = None


def greedy(model: EncoderDecoder, source: Tensor, lengths: Tensor, longest: int = 20) -> list[Found]:
    """Return the sequences made of the likeliest sign at each step, one for each sequence of a batch.

    source: (S, B), padded. lengths: (B). longest: the largest number of signs before the end.
    """
    with evaluation_of(model):
        read, state = model.read(source, lengths)
        sign, signs, scores, looks = source.new_zeros(1, source.size(1)), [], [], []
        for step in range(longest + 1):
            logits, state, weights = model.write(sign, read, state)
            score, sign = log_p_of(logits, step == longest).max(dim=-1)
            signs.append(sign[0])
            scores.append(score[0])
            looks.append(weights)
    signs, scores, results = torch.stack(signs, dim=1).tolist(), torch.stack(scores, dim=1), []
    for b, row in enumerate(signs):
        steps = row.index(0) + 1
        weights = None if looks[0] is None else torch.cat([look[b, :, : lengths[b]] for look in looks[:steps]])
        log_p, p = scores[b, :steps].sum().item(), scores[b, :steps].exp().tolist()
        results.append(Found(row[: steps - 1], log_p, p, weights))
    return results


def beam(model: EncoderDecoder, source: Tensor, width: int, longest: int = 20, alpha: float = 0.0) -> list[Found]:
    """Return the sequences that a beam search of this width ends with, best first.

    source: (S), one sequence. longest: as in `greedy`, which equals a width of 1. alpha: results are ranked by log p /
    length ** alpha: 0 ranks by log p, which favours short ones, 1 by the mean of all signs, the end counted as one (Wu
    et al. 2016, arXiv 1609.08144, section 7). ValueError for a width below 1.
    """
    if width < 1:
        raise ValueError(f"the beam must be at least 1 wide, not {width}")
    with evaluation_of(model):
        read, state = model.read(source[:, None], torch.tensor([len(source)]))
        begun: list[list[int]] = [[]]
        ended: list[Found] = []
        scores = torch.zeros(1, dtype=read.memory.dtype)
        for step in range(longest + 1):
            last = source.new_tensor([[signs[-1] if signs else 0 for signs in begun]])
            logits, state, _ = model.write(last, several(read, len(begun)), state)
            # log p( y_1 … y_t ) = log p( y_1 … y_{t-1} ) + log p( y_t | y_1 … y_{t-1} )
            scores = scores[:, None] + log_p_of(logits, step == longest)[0]
            # the best of all continuations by one sign; those that end leave the beam
            best = scores.flatten().topk(min(width - len(ended), int(scores.isfinite().sum())))
            rows, signs = best.indices // scores.size(1), best.indices % scores.size(1)
            longer = [[*begun[row], sign] for row, sign in zip(rows.tolist(), signs.tolist(), strict=True)]
            ended += [Found(seq[:-1], p) for seq, p in zip(longer, best.values.tolist(), strict=True) if seq[-1] == 0]
            goes_on = signs != 0
            begun, scores = [seq for seq in longer if seq[-1] != 0], best.values[goes_on]
            state = tuple(part[:, rows[goes_on]] for part in state)
            if not begun:
                break
    return sorted(ended, key=lambda result: -result.log_p / (len(result.sequence) + 1) ** alpha)


def enumerated(model: EncoderDecoder, source: Tensor, longest: int) -> list[Found]:
    """Return all sequences of up to `longest` signs with their log probabilities, likeliest first.

    source: (S), one sequence. With V signs there are 1 + V + V² + … of them: of up to four digits, 11,111.
    """
    signs = range(1, model.linear.out_features)
    results: list[Found] = []
    with evaluation_of(model):
        read, state = model.read(source[:, None], torch.tensor([len(source)]))
        for length in range(longest + 1):
            sequences = [*itertools.product(signs, repeat=length)]
            count = len(sequences)
            ended = torch.tensor([(0, *sequence, 0) for sequence in sequences]).T
            begin = tuple(part.expand(-1, count, -1).contiguous() for part in state)
            logits, _, _ = model.write(ended[:-1], several(read, count), begin)
            log_p = log_p_of(logits, length == longest)
            # every sequence ends here: at the last place the end has probability 1
            log_p = log_p.gather(-1, ended[1:, :, None]).sum(dim=(0, 2))
            results += map(Found, map(list, sequences), log_p.tolist())
    return sorted(results, key=lambda result: -result.log_p)


def log_p_of(logits: Tensor, is_last: bool) -> Tensor:
    """Return log softmax of the logits (T, B, V).

    is_last: at the last of these steps the end has probability 1.
    """
    log_p = torch.log_softmax(logits, dim=-1)
    if is_last:
        log_p[-1] = -torch.inf
        log_p[-1, :, 0] = 0.0
    return log_p


def several(read: Read, count: int) -> Read:
    """Return the encoder's result for one sequence, repeated `count` times."""
    return Read(read.memory.expand(-1, count, -1), read.padding.expand(count, -1))
