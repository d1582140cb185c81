"""One call over all steps equals calls over pieces and over single steps, with the state handed on.

Outputs, last states and all gradients are compared in float64, to 1e-10.
"""

import itertools

import torch
from torch import nn

from companion.bench.load import LISTS, Make, Refused, Wrapped, calling, size_of
from companion.proof import compare

STEPS, BATCH, FEATURES = 37, 3, 5
CHUNKS = [1, 16, 5, 2, 13]


class InPieces(nn.Module):
    """A layer that is called for one piece of a sequence after another."""

    def __init__(self, layer, lengths):
        super().__init__()
        self.layer, self.lengths = layer, lengths

    def forward(self, x, state=None):
        """Return the output and the last state."""
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
            size = size_of(make, FEATURES, 600, of_state=False)
            layer, frozen = (Wrapped(make, FEATURES, size) for _ in range(2))
            x = torch.randn(STEPS, BATCH, FEATURES)
            later = tuple(tensor.detach() for tensor in layer(torch.randn(4, BATCH, FEATURES))[1])
            if frozen.requires_grad_(False)(x)[0].requires_grad:
                raise Refused(f"{layer.name} learns numbers that parameters() lacks: {LISTS}")
            calling(f"the check of {layer.name}", check_call, layer, x, later)
            return calling(f"the check of {layer.name}", difference, layer, x, later)
    finally:
        torch.set_default_dtype(before)


def check_call(layer, x, state):
    """Check that numbers are finite and always the same, that the state keeps its size, and that all learns."""
    x, *leaves = (tensor.clone().requires_grad_(tensor.is_floating_point()) for tensor in (x, *state))
    output, end = layer(x, tuple(leaves))
    sizes, grown = ([tuple(s.shape) for s in states] for states in (state, end))
    if sizes != grown:
        raise Refused(f"the state of {layer.name} grows: {sizes} after 4 steps, {grown} after {STEPS} more")
    if not torch.allclose(output, layer.eval()(x, state)[0], atol=1e-10, equal_nan=True):
        raise Refused(f"{layer.name} returns other numbers in evaluation mode, or when called again, as dropout does")
    other = x.detach().clone()
    other[0, 0] += 1
    change = (layer.train()(other, state)[0] - output).detach().abs()
    if change[:, 1:].max() > 1e-10:
        raise Refused(f"{layer.name} mixes the sequences of a batch: the input of one changes the output of another")
    if not output.requires_grad:
        raise Refused(f"{layer.name} does not learn: its output depends on no parameter")
    sources = {name: tensor for name, tensor in layer.layer.named_parameters() if tensor.requires_grad}
    sources |= {f"tensor {k} of the state handed in": leaf for k, leaf in enumerate(leaves, 1) if leaf.requires_grad}
    total = sum(values.sum() for values in (output, *end))
    gradients = torch.autograd.grad(total, [*sources.values()], allow_unused=True, retain_graph=True)
    if unused := [name for name, gradient in zip(sources, gradients) if gradient is None]:
        raise Refused(f"no gradient of what {layer.name} returns reaches {', '.join(unused)}: unused, or detached")
    if not all(values.isfinite().all() for values in (output, *end, *gradients)):
        raise Refused(f"{layer.name} has numbers or gradients that are not finite, for inputs near 1")
    last = (output[-1] * torch.randn_like(output[-1])).sum()
    (gradient,) = torch.autograd.grad(last, x, allow_unused=True, retain_graph=True)
    if change[-1].any() and (gradient is None or not gradient[0].any()):
        raise Refused(f"no gradient of the last output of {layer.name} reaches the first input: usually a detach()")


def difference(layer, x, later):
    """Return the largest difference between one call and calls over pieces, from no state and from a later one."""
    whole, largest = InPieces(layer, [STEPS]), 0.0
    forms = {"one step at a time": [1] * STEPS, f"pieces of {str(CHUNKS)[1:-1]} steps": CHUNKS}
    for start, (form, lengths) in itertools.product((None, later), forms.items()):
        pieces = InPieces(layer, lengths)
        rows = compare(pieces, whole, x, start)
        largest = max(largest, *(row.difference for row in rows))
        if wrong := [row for row in rows if not row.ok]:
            with torch.no_grad():
                apart = (whole(x, start)[0] - pieces(x, start)[0]).abs().flatten(1).amax(1) > wrong[0].bound
            place = f"first in the output of step {int(apart.nonzero()[0])}" if apart.any() else "not in the output"
            raise Refused(
                f"{layer.name}: one call over {STEPS} steps differs from {form}, {place},"
                f" at most by {largest:.2g}. Different: "
                + ", ".join(row.tensor.replace("layer.layer.", "") for row in wrong)
            )
    return largest
