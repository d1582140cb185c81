"""Connectionist temporal classification (CTC): the loss of outputs whose targets have no marked places.

Alex Graves and others, "Connectionist temporal classification" (2006), section 4.1.
The blank is an output that stands for no letter. A path has one output for each time step; without repeated outputs,
and then without blanks, it is a text. The loss is -log of the probability of all paths of the target.

Shapes: T time steps, N sequences in a batch, C classes, S letters of the longest target.
"""

import math

import torch
from torch import Tensor, nn

NEVER = -1e30  # the logarithm of 0, but with a gradient that is a number


def ctc_loss(
    log_probs: Tensor,
    targets: Tensor,
    input_lengths: Tensor | tuple[int, ...],
    target_lengths: Tensor | tuple[int, ...],
    blank: int = 0,
    reduction: str = "mean",
    zero_infinity: bool = False,
) -> Tensor:
    """Return the CTC loss, as `torch.nn.functional.ctc_loss` does.

    log_probs: (T, N, C) or (T, C), from log_softmax, with T steps, N sequences and C classes. targets: (N, S), or all
    targets one after another, or (S) if there is one; S letters are the most. input_lengths, target_lengths: (N) or
    numbers. blank: the class that stands for no letter. reduction: "mean" of the losses, each divided by the length of
    its target; "sum"; or "none", (N). zero_infinity: zero instead of the infinite loss of a target that does not fit
    into its steps.

    TypeError, RuntimeError and NotImplementedError in torch's words for wrong types, shapes and lengths. ValueError for
    a target that is not a class or is the blank, for which torch computes a number.

    Note: The gradient with respect to `log_probs` is the true one; that of torch is right only after log_softmax.
    Note: Alex Graves and others, "Connectionist temporal classification" (2006).
    """
    log_probs, targets, input_lengths, target_lengths, single = checked(
        log_probs, targets, input_lengths, target_lengths, blank, reduction
    )
    ends = forward(log_probs, targets, input_lengths, target_lengths, blank)
    # without steps, only the empty target has a path
    without_steps = torch.where(target_lengths == 0, 0.0, NEVER).to(ends)
    loss = -torch.where(input_lengths == 0, without_steps, torch.logsumexp(ends, dim=0))
    impossible = loss > -NEVER / 2
    if zero_infinity:
        loss = loss.masked_fill(impossible, 0)
    elif impossible.any():
        # infinite, with nan as the gradient of the logits in all steps of the sequence, as in torch
        used = torch.arange(len(log_probs), device=loss.device)[:, None] < input_lengths
        steps = (log_probs.clamp(min=NEVER).sum(2) * used).sum(0) - 1
        loss = loss - torch.where(impossible, math.inf, 0.0) * steps
    if reduction == "none":
        return loss[0] if single else loss
    if reduction == "sum":
        return loss.sum()
    return (loss / target_lengths.clamp(min=1)).mean()


# fmt: off
# A chapter prints this function.
def forward(log_probs, targets, input_lengths, target_lengths, blank):
    """Return log α of the last blank and of the last letter at the end, (2, N)."""
    T, N, _ = log_probs.shape
    rows = torch.arange(N, device=log_probs.device)
    # l = _ a _ b _:   a blank around each letter, (N, 2 S + 1)
    l = targets.new_full((N, 2 * targets.size(1) + 1), blank)  # noqa: E741
    l[:, 1::2] = targets
    # a letter may follow the one before it without a blank, if they differ
    skips = torch.zeros_like(l, dtype=torch.bool)
    skips[:, 3::2] = l[:, 3::2] != l[:, 1:-2:2]
    # log y_t( l_s ), (T, N, 2 S + 1)
    log_y = log_probs.clamp(min=NEVER).gather(2, l.expand(T, -1, -1))
    # α_1:   a path begins with a blank or with the first letter
    later = torch.arange(l.size(1), device=l.device) > 1
    alphas = [log_y[0].masked_fill(later, NEVER)]
    for t in range(1, T):
        # α_t( s ) = y_t( l_s ) ( α_{t-1}( s ) + α_{t-1}( s - 1 ) + α_{t-1}( s - 2 ) )
        alpha = alphas[-1]
        shifted = torch.cat([alpha.new_full((N, 2), NEVER), alpha], dim=1)
        parts = [alpha, shifted[:, 1:-1], shifted[:, :-2].masked_fill(~skips, NEVER)]
        alphas.append(log_y[t] + torch.logsumexp(torch.stack(parts), dim=0))
    # p = α_T( last blank ) + α_T( last letter )
    last = torch.stack(alphas)[(input_lengths - 1).clamp(min=0), rows]
    letter = last[rows, (2 * target_lengths - 1).clamp(min=0)]
    letter = letter.masked_fill(target_lengths == 0, NEVER)
    return torch.stack([last[rows, 2 * target_lengths], letter])
# fmt: on


def checked(log_probs, targets, input_lengths, target_lengths, blank, reduction):
    """Return log_probs (T, N, C), targets (N, S), both lengths as tensors, and True for a single sequence."""
    if reduction not in ("none", "mean", "sum"):
        raise ValueError(f"{reduction} is not a valid value for reduction")
    for name, tensor in (("log_probs", log_probs), ("targets", targets)):
        if not isinstance(tensor, Tensor):
            raise TypeError(f"ctc_loss: {name} must be a Tensor, not a {type(tensor).__name__}")
    single = log_probs.dim() in (1, 2)
    if single:
        log_probs, targets = log_probs.unsqueeze(-2), targets.reshape(1, -1) if targets.dim() == 1 else targets
    if log_probs.dim() != 3:
        raise RuntimeError(f"Expected 3-dimensional tensor, but got {log_probs.dim()}-dimensional tensor")
    if log_probs.numel() == 0:
        raise RuntimeError("log_probs tensor must not be empty")
    if log_probs.dtype not in (torch.float32, torch.float64):
        kind = str(log_probs.dtype).removeprefix("torch.")
        raise NotImplementedError(f"ctc_loss is implemented for float and double, not for {kind}")
    T, N, C = log_probs.shape
    if not 0 <= blank < C:
        raise RuntimeError("blank must be in label range")
    lengths = [
        checked_lengths("input_lengths", input_lengths, N, T, log_probs.device),
        checked_lengths("target_lengths", target_lengths, N, None, log_probs.device),
    ]
    targets = padded(targets, lengths[1].tolist(), N).to(log_probs.device).long()
    used = torch.arange(targets.size(1), device=log_probs.device) < lengths[1][:, None]
    wrong = used & ((targets < 0) | (targets >= C) | (targets == blank))
    if wrong.any():
        value = targets[wrong][0].item()
        reason = "is the blank" if value == blank else f"is not one of the {C} classes"
        raise ValueError(f"ctc_loss: a target is {value}, which {reason}")
    # what follows a target's end is not used; it must be a class
    return log_probs, targets.masked_fill(~used, 0), *lengths, single


def checked_lengths(name, lengths, N, most, device):
    """Return lengths as a tensor (N), each at least 0 and at most `most`."""
    lengths = torch.as_tensor(lengths, device=device)
    if lengths.is_floating_point():
        raise RuntimeError(f"{name} must be integral")
    if lengths.numel() != N:
        raise RuntimeError(f"{name} must be of size batch_size")
    lengths = lengths.reshape(-1).long()
    for value in lengths.tolist():
        if value < 0:
            raise RuntimeError(f"Expected {name} to have value at least 0, but got value {value}")
        if most is not None and value > most:
            raise RuntimeError(f"Expected {name} to have value at most {most}, but got value {value}")
    return lengths


def padded(targets, lengths, N):
    """Return targets as (N, S), S the longest; targets: (N, S or more), or one after another."""
    S = max(lengths)
    if targets.dim() not in (1, 2):
        raise RuntimeError(f"Expected 1 to 2 dimensions, but got {targets.dim()}-dimensional tensor for 'targets'")
    size = sum(lengths) if targets.dim() == 1 else N
    if len(targets) != size:
        raise RuntimeError(
            f"Expected tensor to have size {size} at dimension 0, but got size {len(targets)} for 'targets'"
        )
    if targets.dim() == 1:
        return nn.utils.rnn.pad_sequence(list(targets.split(lengths)), batch_first=True)
    if targets.size(1) < S:
        raise RuntimeError(
            f"Expected tensor to have size at least {S} at dimension 1, but got size {targets.size(1)} for 'targets'"
        )
    return targets[:, :S]
