"""A stack of recurrent layers with residual connections, layer norm and a small network after each."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from torch import nn
from torch.nn.utils.rnn import PackedSequence

from companion.layers.linear import Linear
from companion.layers.transformer import LayerNorm
from companion.layers.types import Sequences


class Blocks(nn.Module):
    """A stack of recurrent layers, called like one of them: `output, state = blocks(input, state)`.

    Layer norm precedes each recurrent layer and each pair of linear layers, which has twice as many features between;
    their outputs are added (the placement of Xiong et al. 2020, arXiv 2002.04745). layers: with as many features out as
    in, and without `batch_first`. Called with an input (T, B, hidden_size), T time steps of B sequences, or a
    PackedSequence; the output has the same form. The state is a tuple of the layers' states. ValueError for no layer,
    for sizes that differ, and for a wrong number of states; other errors are those of the layers.
    """

    num_layers, bidirectional, batch_first, proj_size = 1, False, False, 0

    def __init__(self, layers: Iterable[Any]) -> None:
        super().__init__()
        layers = list(layers)
        sizes = {size for layer in layers for size in (layer.input_size, layer.proj_size or layer.hidden_size)}
        if len(sizes) != 1 or any(layer.batch_first or layer.bidirectional for layer in layers):
            raise ValueError(
                "layers must have one size, that of what they read and make, one direction, and time first"
            )
        (size,) = sizes
        self.input_size = self.hidden_size = size
        like: dict[str, Any] = {"device": (weight := next(layers[0].parameters())).device, "dtype": weight.dtype}
        self.layers = nn.ModuleList(layers)
        self.norms = nn.ModuleList(LayerNorm(size, **like) for _ in layers)
        self.networks = nn.ModuleList(
            nn.Sequential(
                LayerNorm(size, **like), Linear(size, 2 * size, **like), nn.GELU(), Linear(2 * size, size, **like)
            )
            for _ in layers
        )

    if TYPE_CHECKING:

        def __call__(self, x: Sequences, state: tuple[Any, ...] | None = None) -> tuple[Sequences, tuple[Any, ...]]:
            """Call `forward`."""

    # A chapter prints this method.
    # fmt: off
    def forward(self, x, state=None):
        """Return the output and the state.

        x: (T, B, hidden_size), or packed. state: returned by the call before, or None.
        """
        like, x, after = x, rows(x), []
        states = self._checked(x, state)
        for layer, norm, network, before in zip(
            self.layers, self.norms, self.networks, states, strict=True
        ):
            # x ← x + layer( norm( x ) ):   what is new is added, the way back to x is free
            y, new = layer(packed(norm(x), like), before)
            x = x + rows(y)
            # x ← x + W_2 gelu( W_1 norm( x ) )
            x = x + network(x)
            after.append(new)
        return packed(x, like), tuple(after)

    # fmt: on
    def _checked(self, x, state):
        """Check the arguments, and return the states, one for each layer."""
        weight = self.norms[0].weight
        if x.dtype != weight.dtype:
            raise ValueError(
                f"Blocks: input is {x.dtype}, the weights are {weight.dtype}. Convert input: input.to({weight.dtype})"
            )
        if x.size(-1) != self.input_size:
            raise RuntimeError(
                f"input.size(-1) must be equal to input_size. Expected {self.input_size}, got {x.size(-1)}"
            )
        states = [None] * len(self.layers) if state is None else state
        if len(states) != len(self.layers):
            raise ValueError(f"Blocks: Expected {len(self.layers)} states, one for each layer, got {len(states)}")
        return states


def rows(x):
    """Return the data of a packed sequence, and a tensor as it is."""
    return x.data if isinstance(x, PackedSequence) else x


def packed(rows, like):
    """Return rows as a packed sequence if `like` is one, and as they are if not."""
    return PackedSequence(rows, *like[1:]) if isinstance(like, PackedSequence) else rows
