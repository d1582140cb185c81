"""The loop against the parallel form: one call over all steps equals calls over pieces, with the state handed on.

Outputs, last states and all gradients are compared in float64, to 1e-10.
"""

import torch
from torch import nn

from companion.bench.load import Make, Refused, Wrapped, size_of
from companion.proof import compare

STEPS, BATCH, FEATURES = 37, 3, 5
CHUNKS = [1, 16, 5, 2, 13]


class InPieces(nn.Module):
    """A layer that is called for one piece of a sequence after another, in training or in evaluation mode."""

    def __init__(self, layer, lengths, is_training=True):
        super().__init__()
        self.layer, self.lengths, self.is_training = layer, lengths, is_training

    def forward(self, x, state=None):
        """Return the output and the last state."""
        self.layer.train(self.is_training)
        outputs = []
        for piece in x.split(self.lengths):
            output, state = self.layer(piece, state)
            outputs.append(output)
        return torch.cat(outputs), state


def check(make: Make) -> float:
    """Return the largest difference; Refused for one above 1e-10, with its tensor and the step where the forms part."""
    before = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)
    try:
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(0)
            layer = Wrapped(make, FEATURES, size_of(make, FEATURES, 600, of_state=False))
            x = torch.randn(STEPS, BATCH, FEATURES)
            later = layer(torch.randn(4, BATCH, FEATURES))[1]
            check_call(layer, x, tuple(tensor.detach() for tensor in later))
            return max(difference(layer, x, start) for start in (None, tuple(tensor.detach() for tensor in later)))
    finally:
        torch.set_default_dtype(before)


def check_call(layer, x, state):
    """Check that a layer's numbers are finite and not random, that its state keeps its size, and that all learns."""
    leaves = [s.clone().requires_grad_() for s in state if s.is_floating_point()]
    output, end = layer(x, tuple(leaves) if len(leaves) == len(state) else state)
    if [s.shape for s in end] != [s.shape for s in state]:
        shapes = [[tuple(s.shape) for s in states] for states in (state, end)]
        raise Refused(f"the state of {layer.name} grows: {shapes[0]} after 4 steps, {shapes[1]} after {STEPS} more")
    if not all(values.isfinite().all() for values in (output, *end)):
        raise Refused(f"{layer.name} returns numbers that are not finite, for inputs near 1")
    if not torch.allclose(output, layer(x, state)[0], atol=1e-10):
        raise Refused(f"{layer.name} returns other numbers when called again: it must not draw any, as dropout does")
    if not output.requires_grad:
        raise Refused(f"{layer.name} does not learn: its output depends on no parameter")
    sources = dict(layer.layer.named_parameters()) | {f"state {k}": leaf for k, leaf in enumerate(leaves)}
    gradients = torch.autograd.grad(
        sum(values.sum() for values in (output, *end)), [*sources.values()], allow_unused=True
    )
    if unused := [name for name, gradient in zip(sources, gradients) if gradient is None]:
        raise Refused(f"{', '.join(unused)}: without effect on what {layer.name} returns")
    if not all(gradient.isfinite().all() for gradient in gradients):
        raise Refused(f"{layer.name} has gradients that are not finite, for inputs near 1")


def difference(layer, x, start):
    """Return the largest difference between one call and calls over pieces, or a call in evaluation mode."""
    whole, largest = InPieces(layer, [STEPS]), 0.0
    for form, pieces in (
        ("one step at a time", InPieces(layer, [1] * STEPS)),
        (f"pieces of {', '.join(map(str, CHUNKS))} steps", InPieces(layer, CHUNKS)),
        ("one call in evaluation mode", InPieces(layer, [STEPS], is_training=False)),
    ):
        rows = compare(pieces, whole, x, start)
        if not rows.ok:
            wrong = max((row for row in rows if not row.ok), key=lambda row: row.difference)
            with torch.no_grad():
                apart = (whole(x, start)[0] - pieces(x, start)[0]).abs().flatten(1).amax(1) > wrong.bound
            place = f"first in the output of step {int(apart.nonzero()[0])}" if apart.any() else "not in the output"
            tensors = ", ".join(row.tensor.replace("layer.layer.", "") for row in rows if not row.ok)
            raise Refused(
                f"{layer.name}: one call over {STEPS} steps differs from {form}, {place}, at most by"
                f" {wrong.difference:.2g}. Different: {tensors}"
            )
        largest = max(largest, *(row.difference for row in rows))
    return largest
