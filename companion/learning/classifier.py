"""Sequence classification: a classifier around a recurrent layer, its training, accuracy and confusion matrix.

Shapes: T time steps of the longest sequence in a batch, B sequences, D directions (2 if bidirectional, else 1).
"""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from companion.learning.indices import check_indices, whole
from companion.learning.sequence_model import evaluation_of, in_few_threads
from companion.learning.training import check, clip_gradients

Batches = Iterable[tuple[Tensor, Tensor, Tensor]]  # (indices, lengths, targets)
EMPTY = ": give a list or a `DataLoader` with examples; a generator is empty after its first use"
SUMMARIES = ("h_n", "mean", "max")


def check_lengths(lengths: Tensor) -> None:
    """Raise ValueError unless lengths are a tensor of one dimension, with whole numbers of at least 1."""
    if not isinstance(lengths, Tensor) or lengths.dim() != 1:
        found = tuple(lengths.shape) if isinstance(lengths, Tensor) else f"a {type(lengths).__name__}"
        raise ValueError(f"lengths must be a tensor (B), such as torch.tensor([3, 1]), not {found}")
    if (short := (whole("lengths", lengths) < 1).nonzero().tolist()) or len(lengths) == 0:
        where = f"lengths[{short[0][0]}] is {lengths[short[0][0]].item()}" if short else "lengths are empty"
        raise ValueError(f"{where}: a batch needs sequences, and each of them at least one element")


def mask_of(lengths: Tensor, steps: int | None = None) -> Tensor:
    """Return bool (T, B), True in a sequence, False in padding.

    lengths: (B), int64, each from 1 to T. steps: T, the longest if None. ValueError for other lengths.
    """
    check_lengths(lengths)
    steps = int(lengths.max()) if steps is None else steps
    if long := (lengths > steps).nonzero().tolist():
        raise ValueError(f"lengths[{long[0][0]}] is {lengths[long[0][0]].item()}; there are {steps} steps")
    return torch.arange(steps, device=lengths.device)[:, None] < lengths


def mean_over_time(output, lengths):
    """Return the mean of each sequence's own elements, (B, size).

    output: (T, B, size). lengths: (B), from 1 to T, else ValueError.
    """
    mask = mask_of(lengths, len(output))[:, :, None].to(output.device)
    return output.masked_fill(~mask, 0).sum(0) / lengths[:, None].to(output.device)


def max_over_time(output, lengths):
    """Return each feature's largest value among a sequence's own elements, (B, size).

    output: (T, B, size). lengths: (B), from 1 to T, else ValueError.
    """
    mask = mask_of(lengths, len(output))[:, :, None].to(output.device)
    return output.masked_fill(~mask, -torch.inf).amax(0)


def last_states(h_n: Tensor, bidirectional: bool = False) -> Tensor:
    """Return the last state of the top layer, of all directions: (L * D, B, size) → (B, D * size)."""
    return torch.cat([h_n[-2], h_n[-1]], dim=-1) if bidirectional else h_n[-1]


class SequenceClassifier(nn.Module):
    """Embedding, recurrent layer, one summary of each sequence, linear layer.

    embedding: `companion.Embedding` or `nn.Embedding`. recurrent: an `RNN`, `GRU` or `LSTM` of the companion or of
    `torch.nn`, time first. num_classes: the number of classes. summary: "h_n", the last state of each direction; "mean"
    or "max" of all outputs over time. packed: False lets the layer read padding as if it were part of the sequences,
    and takes `output[-1]` for "h_n", to show the effect.

    ValueError for sizes that do not fit, for a layer with `batch_first`, and for an unknown summary.
    """

    def __init__(
        self, embedding: Any, recurrent: Any, num_classes: int, summary: str = "h_n", packed: bool = True
    ) -> None:
        super().__init__()
        if embedding.embedding_dim != recurrent.input_size:
            raise ValueError(
                f"the embedding makes {embedding.embedding_dim} features, the recurrent layer reads"
                f" {recurrent.input_size}"
            )
        if recurrent.batch_first:
            raise ValueError("sequences come time first here: make the layer with batch_first=False")
        if summary not in SUMMARIES:
            raise ValueError(f"summary must be one of {', '.join(SUMMARIES)}, not {summary!r}")
        self.embedding, self.recurrent = embedding, recurrent
        self.summary, self.packed = summary, packed
        weight = recurrent.weight_ih_l0
        size = (recurrent.proj_size or recurrent.hidden_size) * (2 if recurrent.bidirectional else 1)
        self.linear = nn.Linear(size, num_classes, device=weight.device, dtype=weight.dtype)

    def forward(self, indices: Tensor, lengths: Tensor | Sequence[int]) -> Tensor:
        """Return the logits (B, num_classes).

        indices: (T, B), padded. lengths: (B), or a list. ValueError for lengths that do not belong to these indices,
        which torch may accept silently.
        """
        lengths = torch.as_tensor(lengths, device="cpu")
        check_lengths(lengths)
        if tuple(lengths.shape) != (indices.size(1),) or int(lengths.max()) > indices.size(0):
            raise ValueError(
                f"indices {tuple(indices.shape)} are {indices.size(1)} sequences of up to {indices.size(0)} elements, "
                f"with a length for each; the lengths are {tuple(lengths.shape)}, the longest {int(lengths.max())}"
            )
        return self.linear(self.summarise(self.embedding(indices), lengths))

    if TYPE_CHECKING:
        __call__ = forward

    def summarise(self, x, lengths):
        """Return one vector for each sequence: (T, B, input_size) → (B, D * size)."""
        if not self.packed:
            return self.recurrent(x)[0][-1]
        packed = pack_padded_sequence(x, lengths, enforce_sorted=False)
        output, state = self.recurrent(packed)
        if self.summary == "h_n":
            h_n = state[0] if isinstance(state, tuple) else state
            return last_states(h_n, self.recurrent.bidirectional)
        output, _ = pad_packed_sequence(output)
        over_time = mean_over_time if self.summary == "mean" else max_over_time
        return over_time(output, lengths)


@in_few_threads
def learn(
    model: nn.Module, batches: Batches, optimizer: torch.optim.Optimizer, epochs: int, clip: float = 1.0
) -> list[float]:
    """Train on labelled batches, and return the mean loss of each epoch, a list of floats.

    model: called as `model(indices, lengths)`, returns logits. batches: (indices, lengths, targets), iterated once per
    epoch, such as a `DataLoader` with `collate`. clip: the largest norm of the gradients. Threads: `in_few_threads`.
    FloatingPointError for a loss that is not finite; ValueError for an epoch without batches.
    """
    history = []
    for epoch in range(epochs):
        model.train()
        losses: list[float] = []
        for indices, lengths, targets in batches:
            loss = F.cross_entropy(model(indices, lengths), targets)
            check(loss, "loss", epoch, len(losses))
            optimizer.zero_grad()
            loss.backward()
            clip_gradients(model.parameters(), clip)
            optimizer.step()
            losses.append(loss.item())
        if not losses:
            raise ValueError(f"epoch {epoch + 1} has no batches{EMPTY}")
        history.append(sum(losses) / len(losses))
    return history


def answers(model: nn.Module, batches: Batches) -> tuple[Tensor, Tensor]:
    """Return the predicted and the right classes, int64 (N) each, for all N examples in the order of the batches.

    ValueError if there are no batches.
    """
    predicted, right = [], []
    with evaluation_of(model):
        for indices, lengths, targets in batches:
            predicted.append(model(indices, lengths).argmax(dim=-1))
            right.append(targets)
    if not predicted:
        raise ValueError(f"there are no batches{EMPTY}")
    return torch.cat(predicted), torch.cat(right)


def accuracy(model: nn.Module, batches: Batches) -> float:
    """Return the share of examples that a model classifies correctly; ValueError if there are none."""
    predicted, right = answers(model, batches)
    return (predicted == right).double().mean().item()


def confusion(found: Tensor, right: Tensor, num_classes: int) -> Tensor:
    """Return the confusion matrix, int64 (num_classes, num_classes): rows are right classes, columns predictions.

    found, right: int64 (N). ValueError if their shapes differ, or for a class that is not from 0 to num_classes - 1.
    """
    if found.shape != right.shape:
        raise ValueError(f"found {tuple(found.shape)} and right {tuple(right.shape)} must have the same shape")
    check_indices("found", found, num_classes)
    check_indices("right", right, num_classes)
    return torch.bincount(right * num_classes + found, minlength=num_classes**2).view(num_classes, num_classes)
