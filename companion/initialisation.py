"""Initial biases with which a gated layer remembers for about as long as a task needs.

Corentin Tallec and Yann Ollivier, "Can recurrent neural networks warp time?" (2018), arXiv 1804.11188, section 3.
"""

import torch


@torch.no_grad()
def chrono_(layer, longest, generator=None):
    """Set the gates' biases of an `LSTM` or `GRU` so that its units begin with memories of 1 to `longest` steps.

    A gate that keeps the share f of a unit at each step keeps it for about 1 / (1 - f) steps. So for a memory of T steps
    f = 1 - 1/T, and σ(b) = f where b = log(T - 1). Each unit gets a T of its own. layer: of the companion or of
    `torch.nn`, changed in place and returned; the sum of both biases is set, in `bias_ih_l{k}`, and the other zeroed.
    TypeError for a layer that has no such gate or no bias, ValueError for `longest` below 3.
    """
    kind = type(layer).__name__
    gates = {"LSTM": 4, "GRU": 3}.get(getattr(layer, "mode", None))
    if gates is None or not layer.bias:
        raise TypeError(f"{kind} has no bias of a gate that keeps: chrono_ is for LSTM and GRU layers with biases")
    if not longest >= 3:
        raise ValueError(f"longest must be at least 3 time steps, not {longest}")
    for name, bias in layer.named_parameters():
        if name.startswith("bias_ih"):
            first, keep, *_ = bias.chunk(gates)
            hidden = getattr(layer, name.replace("bias_ih", "bias_hh")).chunk(gates)
            # b_keep = log( u ),   u ~ U( 1, T_max - 1 )
            u = torch.rand(len(keep), generator=generator, dtype=torch.float64) * (longest - 2) + 1
            keep.copy_(u.log())
            hidden[1].zero_()
            if gates == 4:  # the LSTM's input gate lets in what the forget gate lets go:  b_i = -b_f
                first.copy_(-u.log())
                hidden[0].zero_()
    return layer
