"""A language model without recurrence: every step attends to all steps before it, whose positions are encoded.

Ashish Vaswani and others, "Attention is all you need" (2017), arXiv 1706.03762; only the decoder, without the encoder.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn


class TransformerModel(nn.Module):
    """Embedding, positions, blocks, linear layer: replaces a `SequenceModel`.

    embedding: `companion.Embedding` or `nn.Embedding`. blocks: a list of `TransformerEncoderLayer`, of the companion or
    of `torch.nn`, time first. num_outputs: numbers per time step. ValueError for `batch_first` and for a `d_model` that
    is not the embedding's size, or odd.
    """

    def __init__(self, embedding: Any, blocks: Sequence[Any], num_outputs: int) -> None:
        super().__init__()
        size = embedding.embedding_dim
        if size % 2:
            raise ValueError(
                f"positions are pairs of a sine and a cosine: the embedding's size must be even, not {size}"
            )
        for block in blocks:
            if block.self_attn.embed_dim != size:
                raise ValueError(f"the embedding makes {size} features, a block reads {block.self_attn.embed_dim}")
            if block.self_attn.batch_first:
                raise ValueError("sequences come time first here: make the blocks with batch_first=False")
        self.embedding = embedding
        self.blocks = nn.ModuleList(blocks)
        weight = embedding.weight
        self.linear = nn.Linear(size, num_outputs, device=weight.device, dtype=weight.dtype)

    def forward(self, inputs: Tensor, state: Any = None) -> tuple[Tensor, tuple[()]]:
        """Return the outputs (T, B, num_outputs) and (), since there is no state.

        inputs: indices (T, B).
        """
        # x_t = W_e[ i_t ] + p_t
        x = self.embedding(inputs)
        x = x + positions(*x.shape[::2]).to(x)[:, None]
        # m_tj = 0 for j ≤ t, -∞ for j > t:   hide the characters that are to be predicted
        later = torch.full((len(x), len(x)), -torch.inf, device=x.device, dtype=x.dtype).triu(1)
        for block in self.blocks:
            x = block(x, src_mask=later, is_causal=True)
        # y_t = W_y x_t + b_y
        return self.linear(x), ()

    if TYPE_CHECKING:
        __call__ = forward


def positions(length: int, size: int) -> Tensor:
    """Return a vector for each position, (length, size): sines and cosines of growing periods (section 3.5).

    The periods grow from 2 π to 10,000 · 2 π steps.
    """
    place = torch.arange(length, dtype=torch.float64)[:, None]
    # p_t,2k = sin( t / 10000^{2k / d} ),   p_t,2k+1 = cos( t / 10000^{2k / d} )
    angle = place / 10000 ** (torch.arange(0, size, 2, dtype=torch.float64) / size)
    return torch.stack([angle.sin(), angle.cos()], dim=-1).flatten(1)
