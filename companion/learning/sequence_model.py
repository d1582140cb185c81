"""A model around a recurrent layer: indices → vectors → recurrent layer → a number for each possible output."""

import functools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

import torch
from torch import Tensor, nn
from torch.nn import functional as F

Function = TypeVar("Function", bound=Callable[..., Any])

SMALL = 500_000  # parameters of a model that runs no faster on several threads: those of an LSTM of 256


class OneHot(nn.Module):
    """An embedding without parameters: index i becomes the i-th unit vector, (*) → (*, num_embeddings)."""

    like: Tensor

    def __init__(self, num_embeddings: int, dtype: torch.dtype | None = None) -> None:
        super().__init__()
        self.num_embeddings = self.embedding_dim = num_embeddings
        # an empty buffer, whose type follows the model's when it is converted
        self.register_buffer("like", torch.empty(0, dtype=dtype), persistent=False)

    def forward(self, indices: Tensor) -> Tensor:
        """Return unit vectors (*, num_embeddings) for indices (*)."""
        return F.one_hot(indices, self.num_embeddings).to(self.like.dtype)

    if TYPE_CHECKING:
        __call__ = forward

    def extra_repr(self) -> str:
        """Return the arguments that `repr` shows."""
        return str(self.num_embeddings)


class SequenceModel(nn.Module):
    """Embedding, recurrent layer, linear layer.

    embedding: turns the input into vectors: `companion.Embedding`, `nn.Embedding`, `OneHot`, or `nn.Identity()` if the
    input is vectors. recurrent: a recurrent layer of the companion or of `torch.nn`, or `Blocks` of them. num_outputs:
    numbers per time step; for a language model, the size of the vocabulary.

    ValueError for sizes that do not fit, for a bidirectional layer, which would read the targets in advance, and for
    one with `batch_first`: here time comes first.
    """

    def __init__(self, embedding: Any, recurrent: Any, num_outputs: int) -> None:
        super().__init__()
        size = getattr(embedding, "embedding_dim", recurrent.input_size)
        if size != recurrent.input_size:
            raise ValueError(f"the embedding makes {size} features, the recurrent layer reads {recurrent.input_size}")
        if recurrent.bidirectional:
            raise ValueError("a bidirectional layer sees the future: it cannot be asked to predict it")
        if recurrent.batch_first:
            raise ValueError("sequences come time first here: make the layer with batch_first=False")
        self.embedding = embedding
        self.recurrent = recurrent
        weight = next(recurrent.parameters())
        size = recurrent.proj_size or recurrent.hidden_size
        self.linear = nn.Linear(size, num_outputs, device=weight.device, dtype=weight.dtype)

    if TYPE_CHECKING:

        def __call__(self, inputs: Tensor, state: Any = None) -> tuple[Tensor, Any]:
            """Call `forward`."""

    def forward(self, inputs, state=None):
        """Return the outputs (T, B, num_outputs) and the state after the last time step.

        inputs: indices (T, B), or vectors (T, B, input_size). state: returned by the call before; zeros if None.
        """
        # x_t = W_e[ i_t ]
        x = self.embedding(inputs)
        # h_t = f( x_t, h_{t-1} )
        h, state = self.recurrent(x, state)
        # y_t = W_y h_t + b_y
        return self.linear(h), state


@contextmanager
def evaluation_of(model: nn.Module) -> Iterator[None]:
    """Turn off dropout and gradients within the context, and restore the mode of each part after it, even on errors."""
    training = [module for module in model.modules() if module.training]
    model.eval()
    try:
        with torch.no_grad():
            yield
    finally:
        for module in training:
            module.training = True


def in_few_threads(function: Function) -> Function:
    """Return the function, whose first argument is a model, with torch set to one thread for a model of few parameters.

    A small network's threads mostly wait for each other; on a busy machine it can take ten times as long on two threads
    as on one. A model with `SMALL` parameters or more, not counting embeddings, whose rows are only looked up, keeps
    torch's number of threads. The number is restored at the end, even on errors.
    """

    @functools.wraps(function)
    def run(model, *args, **kwargs):
        threads = torch.get_num_threads()
        multiplied = (module for module in model.modules() if not hasattr(module, "num_embeddings"))
        if sum(p.numel() for module in multiplied for p in module.parameters(recurse=False)) < SMALL:
            torch.set_num_threads(1)
        try:
            return function(model, *args, **kwargs)
        finally:
            torch.set_num_threads(threads)

    return run  # type: ignore[return-value]
