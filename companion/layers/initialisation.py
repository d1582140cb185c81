"""Initial numbers that give a gated layer a memory of some length."""

import math

import torch


def time_steps(like):
    """Return random numbers from 0.001 to 0.1, even over their logarithms, as many and of the kind of `like`.

    Mamba begins with them: Albert Gu and Tri Dao (2023), arXiv 2312.00752, section 3.6.
    """
    return (math.log(1e-3) + torch.rand_like(like) * math.log(100)).exp()


def time_step_biases(like):
    """Return biases whose softplus is `time_steps`, as many and of the kind of `like`."""
    # softplus( b ) = Δ
    return torch.log(torch.expm1(time_steps(like)))


@torch.no_grad()
def chrono_(layer, longest, generator=None):
    """Set the gates' biases of an `LSTM` or `GRU` so that its units begin with memories of 2 to `longest` steps.

    Corentin Tallec and Yann Ollivier, "Can recurrent neural networks warp time?" (2018), arXiv 1804.11188, section 2.
    A gate that keeps the share f of a unit at each step keeps it for about 1 / (1 - f) steps. For a memory of T steps
    f = 1 - 1/T, and σ(b) = f where b = log(T - 1). Each unit gets a T of its own. layer: of the companion or of
    `torch.nn`, changed in place and returned; the sum of both biases is set, in `bias_ih_l{k}`, and the other zeroed.
    TypeError for a layer that has no such gate or no bias, ValueError for `longest` below 3.
    """
    gates = {"LSTM": 4, "GRU": 3}.get(getattr(layer, "mode", None))
    if gates is None or not layer.bias:
        kind = type(layer).__name__
        raise TypeError(f"{kind} has no gate that keeps, or no bias for it")
    if not longest >= 3:
        raise ValueError(f"longest must be at least 3 time steps, not {longest}")
    weights = dict(layer.named_parameters())
    for name in [name for name in weights if name.startswith("bias_ih")]:
        # the first two parts of a bias are i and f in an LSTM, r and z in a GRU
        first, keep, *_ = weights[name].chunk(gates)
        first_hh, keep_hh, *_ = weights[name.replace("_ih", "_hh")].chunk(gates)

        # b_f = log( u ),   u ~ U( 1, T_max - 1 );   in a GRU b_z
        u = torch.rand(len(keep), generator=generator, dtype=torch.float64)
        u = 1 + (longest - 2) * u
        keep.copy_(u.log())
        keep_hh.zero_()
        # b_i = -b_f:   who keeps for long writes rarely
        if gates == 4:
            first.copy_(-u.log())
            first_hh.zero_()
    return layer
