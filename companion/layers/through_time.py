"""Backpropagation through time, written out in equations: what autograd computes for a recurrent layer.

`by_hand(layer)` lets a layer compute its gradients with the functions below. They use fewer and larger operations than
autograd, which has to undo each small operation of each time step: the factors of a derivative that depend on the
forward pass are computed for all time steps at once, and a weight's gradient is one product over all of them (Werbos,
"Backpropagation through time", Proceedings of the IEEE 78, 1990).

δy is ∂L/∂y. A tensor (N, …) holds the rows of all time steps, one step after another; N is their number. `w` holds
transposed matrices, as everywhere in the companion: W h is `h @ w.hh`.
"""

import warnings
from collections.abc import Iterable
from typing import TypeVar

import torch
from torch import Tensor, nn
from torch._C._functorch import is_legacy_batchedtensor
from torch.autograd.forward_ad import unpack_dual

from companion.layers import errors
from companion.layers.gru import GRUStep
from companion.layers.lstm import LSTMStep
from companion.layers.recurrent import RNNBase, RNNCellBase, over_time
from companion.layers.recurrent import unroll as unroll_by_autograd
from companion.layers.rnn import ElmanStep
from companion.layers.step import Step, Weights
from companion.layers.types import State

Module = TypeVar("Module", bound=nn.Module)
WEIGHTS = ("ih", "hh", "b_ih", "b_hh", "hr")  # RNN and GRU have no projection, `hr`
RECURRENT = (RNNBase, RNNCellBase, nn.RNNBase, nn.RNNCellBase)


def by_hand(module: Module, on: bool = True) -> Module:
    """Make each `RNN`, `LSTM` and `GRU` in `module` compute gradients by hand, or by autograd if not `on`.

    module: a layer, or a network with layers in it. on: False undoes it. Shapes: all stay as they are. Returns
    `module`. The results are the same. Autograd is still used where a derivative of a gradient may be needed
    (`create_graph=True`), in forward-mode AD, under a transformation such as vmap, under autocast, and where operations
    are recorded (torch.export, make_fx, a trace). A warning names the recurrent layers that stay as they are: cells,
    torch's own layers, and layers with a step of their own; or `module`, if no layer in it is recurrent.
    """
    unchanged, found = [], False
    for name, layer in module.named_modules():
        if isinstance(layer, RNNBase):
            layer.unroll_by_hand = unroll if on and kind_of(layer._step) else None
            if layer.unroll_by_hand or layer._step.unroll:  # a scan has its gradient by hand already
                found = True
                continue
        if isinstance(layer, RECURRENT):
            kind = type(layer).__name__
            origin = "torch.nn." if type(layer) is getattr(nn, kind, None) else ""
            unchanged.append(origin + kind + (f" at {name!r}" if name else ""))
    if on and (unchanged or not found):
        names = ", ".join(unchanged) or type(module).__name__
        warnings.warn(
            f"by_hand leaves as it is: {names}. It changes only companion.RNN, companion.LSTM and companion.GRU",
            stacklevel=2,
        )
    return module


def unroll(step: Step, x: Tensor, sizes: list[int], start: State, w: Weights, reverse: bool) -> tuple[Tensor, State]:
    """Run one layer in one direction, and return its output (N, size) and last state, a tuple of (B, size)."""
    kind = kind_of(step)
    inputs = (x, *(getattr(w, name, None) for name in WEIGHTS), *start)
    if kind is None or errors.autocast_dtype(x) or recorded() or transformed() or has_tangent(inputs):
        return unroll_by_autograd(step, x, sizes, start, w, reverse)  # these need autograd's own operations
    output, *end = ThroughTime.apply(kind(step), sizes, reverse, *inputs)
    return output, tuple(end)


def kind_of(step: Step) -> "type[Kind] | None":
    """Return the class with the backward equations of a step, or None.

    Subclasses of a step have none, since they may change its equations.
    """
    return next((kind for kind in Kind.__subclasses__() if kind.step is type(step)), None)


def transformed() -> bool:
    """Return True within a transformation of `torch.func`, such as vmap."""
    return torch._C._are_functorch_transforms_active()


def recorded() -> bool:
    """Return True while operations are recorded or counted: by a trace, torch.export, make_fx or FlopCounterMode.

    A program of the operations below, which write into memory, could not be differentiated.
    """
    if torch.jit.is_tracing() or exporting():
        return True
    # torch.compile cannot read the stack
    return not torch.compiler.is_dynamo_compiling() and torch._C._len_torch_dispatch_stack() > 0


def exporting() -> bool:
    """Return True within torch.export."""
    return getattr(torch.compiler, "is_exporting", bool)()  # torch 2.6 has no `is_exporting`


def has_tangent(tensors: Iterable[Tensor | None]) -> bool:
    """Return True if one of the tensors carries a derivative of forward-mode AD."""
    return any(tensor is not None and unpack_dual(tensor).tangent is not None for tensor in tensors)


def weights(inputs):
    """Return the weights among the first inputs of `ThroughTime`: x, W_ih, W_hh, b_ih, b_hh, W_hr."""
    return Weights(**dict(zip(WEIGHTS, inputs[1:6], strict=True)))


class ThroughTime(torch.autograd.Function):
    """One layer in one direction, forwards and backwards over time; `kind` is one of the three classes below."""

    @staticmethod
    def forward(ctx, kind, sizes, reverse, x, ih, hh, b_ih, b_hh, hr, *start):
        """Run all time steps, and save the tensors that the backward pass needs."""
        inputs = (x, ih, hh, b_ih, b_hh, hr)
        w = weights(inputs)
        step, output, saved = kind.forward(kind.equations.ahead(x, w), w, sizes)
        before = [None] * len(sizes)  # the state before each time step

        def remember(t, state):
            before[t] = state
            return step(t, state)

        end = over_time(remember, sizes, start, reverse)
        before = [torch.cat(states) for states in zip(*before, strict=True)]
        ctx.kind, ctx.sizes, ctx.reverse, ctx.counts = kind, sizes, reverse, (len(saved), len(before))
        ctx.save_for_backward(*inputs, *start, output, *saved, *before)
        # clones, because the last states are parts of the output
        return output, *(state.clone() for state in end)

    @staticmethod
    def backward(ctx, d_output, *d_end):
        """Return the gradients of x, the weights and the first state."""
        saved = ctx.saved_tensors  # read once: under an activation checkpoint torch refuses a second read
        inputs, rest = saved[: 6 + len(d_end)], saved[6 + len(d_end) :]
        # gradients that may be differentiated again, in either mode, or many at once
        given = (d_output, *d_end)
        if torch.is_grad_enabled() or any(map(is_legacy_batchedtensor, given)) or has_tangent(given):
            return None, None, None, *by_autograd(ctx, inputs, d_output, d_end)
        return None, None, None, *by_equations(ctx, inputs, rest, d_output, d_end)


def by_autograd(ctx, inputs, d_output, d_end):
    """Return the gradients of x, the weights and the first state, computed by autograd."""
    create_graph = torch.is_grad_enabled()
    with torch.enable_grad():
        # views, so that each has its own gradient: a parameter may be used in two places
        inputs = [None if tensor is None else tensor.view_as(tensor) for tensor in inputs]
        x, w, start = inputs[0], weights(inputs), tuple(inputs[6:])
        output, end = unroll_by_autograd(ctx.kind.equations, x, ctx.sizes, start, w, ctx.reverse)
        wanted = [tensor for tensor, needed in zip(inputs, ctx.needs_input_grad[3:], strict=True) if needed]
        gradients = iter(torch.autograd.grad((output, *end), wanted, (d_output, *d_end), create_graph=create_graph))
    return [next(gradients) if needed else None for needed in ctx.needs_input_grad[3:]]


def by_equations(ctx, inputs, rest, d_output, d_end):
    """Return the gradients of x, the weights and the first state, computed by the equations below."""
    with torch.no_grad():
        x, w = inputs[0], weights(inputs)
        output, saved, before = rest[0], rest[1 : 1 + ctx.counts[0]], rest[1 + ctx.counts[0] :]
        step, sums = ctx.kind.backward(d_output, w, ctx.sizes, output, saved, before)
        # the gradient runs through time in the other direction, from the last state to the first
        d_start = over_time(step, ctx.sizes, d_end, not ctx.reverse)
        d_a, d_u, d_hr = sums()

        # a_t = W_ih x_t + b_ih:   δx_t = W_ihᵀ δa_t    δW_ih = Σ_t δa_t x_tᵀ    δb_ih = Σ_t δa_t
        d_x = d_a @ w.ih.T if ctx.needs_input_grad[3] else None
        d_ih, d_b_ih = x.T @ d_a, None if w.b_ih is None else d_a.sum(0)
        # u_t = W_hh h_{t-1} + b_hh:   δW_hh = Σ_t δu_t h_{t-1}ᵀ    δb_hh = Σ_t δu_t
        d_hh, d_b_hh = before[0].T @ d_u, None if w.b_hh is None else d_u.sum(0)
        # row by row in memory for W, not for Wᵀ, which `w` holds
        d_ih, d_hh, d_hr = (None if d_w is None else d_w.T.contiguous().T for d_w in (d_ih, d_hh, d_hr))
    return d_x, d_ih, d_hh, d_b_ih, d_b_hh, d_hr, *d_start


def sigmoid_slope(s: Tensor) -> Tensor:
    """Return σ' = σ ( 1 - σ ), from the values of σ."""
    return torch.addcmul(s, s, s, value=-1)


def tanh_slope(y: Tensor) -> Tensor:
    """Return tanh' = 1 - tanh², from the values of tanh."""
    return (y * y).neg_().add_(1)


class Kind:
    """A kind of layer: its time step, forwards and backwards.

    `forward` returns the step, the output that the steps fill, and the tensors that the backward pass needs. `backward`
    returns the backward step and a function that is called after the last one and returns δa (N, gates * hidden_size),
    δu of the same shape, and δW_hr or None.
    """

    step: type[Step]

    def __init__(self, equations: Step) -> None:
        self.equations = equations  # an object of the class `step`


class ElmanThroughTime(Kind):
    """The equation of `ElmanStep.step`, and its derivative."""

    step = ElmanStep

    def forward(self, a, w, sizes):
        """Return the step, the output and the saved tensors, as `Kind` describes."""
        h = a.split(sizes)
        relu = self.equations.nonlinearity == "relu"

        def step(t, state):
            h[t].addmm_(state[0], w.hh)
            return (h[t].relu_() if relu else h[t].tanh_(),)

        return step, a, ()

    def backward(self, d_output, w, sizes, output, saved, before):
        """Return the backward step and the function of the sums, as `Kind` describes."""
        d_output, d_a = d_output.split(sizes), torch.empty_like(output)
        # relu' is 1 above zero
        slope = (output > 0).to(output.dtype) if self.equations.nonlinearity == "relu" else tanh_slope(output)
        slopes, d_as, hh = slope.split(sizes), d_a.split(sizes), w.hh.T

        def step(t, d_state):
            # δa_t = ( δy_t + δh_t ) ⊙ f'
            torch.mul(d_output[t] + d_state[0], slopes[t], out=d_as[t])
            # δh_{t-1} = W_hhᵀ δa_t
            return (d_as[t] @ hh,)

        return step, lambda: (d_a, d_a, None)


class LSTMThroughTime(Kind):
    """The six equations of `LSTMStep.step`, and their derivatives."""

    step = LSTMStep

    def forward(self, a, w, sizes):
        """Return the step, the output and the saved tensors, as `Kind` describes."""
        size = a.size(1) // 4
        i_f, g_, o_ = (part.split(sizes) for part in a.split([2 * size, size, size], dim=1))
        i_, f_ = (part.split(sizes) for part in a[:, : 2 * size].chunk(2, dim=1))
        tanh_c, m = a.new_empty(len(a), size), a.new_empty(len(a), size)
        output = m if w.hr is None else a.new_empty(len(a), w.hr.size(1))
        sums, tanh_cs, ms, outputs = (tensor.split(sizes) for tensor in (a, tanh_c, m, output))

        def step(t, state):
            h, c = state
            # each gate takes the place of its sum
            sums[t].addmm_(h, w.hh)
            i_f[t].sigmoid_(), g_[t].tanh_(), o_[t].sigmoid_()
            # c_t = f_t ⊙ c_{t-1}  +  i_t ⊙ g_t
            c = (f_[t] * c).addcmul_(i_[t], g_[t])
            # m_t = o_t ⊙ tanh( c_t ),   and h_t = m_t or W_hr m_t
            torch.mul(o_[t], torch.tanh(c, out=tanh_cs[t]), out=ms[t])
            if w.hr is not None:
                torch.mm(ms[t], w.hr, out=outputs[t])
            return outputs[t], c

        return step, output, (a, tanh_c)

    def backward(self, d_output, w, sizes, output, saved, before):
        """Return the backward step and the function of the sums, as `Kind` describes."""
        gates, tanh_c = saved
        i, f, g, o = gates.chunk(4, dim=1)
        size = o.size(1)
        # the factors of the gradients, for all time steps at once, in the memory of the sums' gradients
        d_a = torch.empty_like(gates)
        for by, slope, other in zip(
            d_a.chunk(4, dim=1),
            (sigmoid_slope(i), sigmoid_slope(f), tanh_slope(g), sigmoid_slope(o)),
            (g, before[1], i, tanh_c),
            strict=True,
        ):
            torch.mul(slope, other, out=by)
        to_c = tanh_slope(tanh_c).mul_(o).split(sizes)
        d_ifg = d_a[:, : 3 * size].unflatten(1, (3, size)).split(sizes)
        d_o, d_as = d_a[:, 3 * size :].split(sizes), d_a.split(sizes)
        d_output, fs, hh, d_h = d_output.split(sizes), f.split(sizes), w.hh.T, [None] * len(sizes)

        def step(t, d_state):
            # δh_t = δy_t + the gradient from step t+1,   δm_t = δh_t or W_hrᵀ δh_t
            d_m = d_h[t] = d_state[0] + d_output[t]
            if w.hr is not None:
                d_m = d_h[t] @ w.hr.T
            # δc_t = δc_t from step t+1  +  δm_t ⊙ o_t ⊙ tanh'( c_t )
            d_c = torch.addcmul(d_state[1], d_m, to_c[t])
            # δa_i = δc_t ⊙ g_t ⊙ σ'    δa_f = δc_t ⊙ c_{t-1} ⊙ σ'    δa_g = δc_t ⊙ i_t ⊙ tanh'
            d_ifg[t].mul_(d_c.unsqueeze(1))
            # δa_o = δm_t ⊙ tanh( c_t ) ⊙ σ'
            d_o[t].mul_(d_m)
            # δh_{t-1} = W_hhᵀ δa_t    δc_{t-1} = δc_t ⊙ f_t
            return d_as[t] @ hh, d_c * fs[t]

        def sums():
            # h_t = W_hr m_t:   δW_hr = Σ_t δh_t m_tᵀ
            return d_a, d_a, None if w.hr is None else (o * tanh_c).T @ torch.cat(d_h)

        return step, sums


class GRUThroughTime(Kind):
    """The four equations of `GRUStep.step`, and their derivatives."""

    step = GRUStep

    def forward(self, a, w, sizes):
        """Return the step, the output and the saved tensors, as `Kind` describes."""
        size = a.size(1) // 3
        u, output = torch.empty_like(a), a.new_empty(len(a), size)
        us, outputs = u.split(sizes), output.split(sizes)
        r_z, n_ = (part.split(sizes) for part in a.split([2 * size, size], dim=1))
        r_, z_ = (part.split(sizes) for part in a[:, : 2 * size].chunk(2, dim=1))
        u_rz, u_n = (part.split(sizes) for part in u.split([2 * size, size], dim=1))

        def step(t, state):
            (h,) = state
            # u_t = W_hh h_{t-1} + b_hh
            if w.b_hh is None:
                torch.mm(h, w.hh, out=us[t])
            else:
                torch.addmm(w.b_hh, h, w.hh, out=us[t])
            # r_t, z_t and n_t take the place of their sums
            r_z[t].add_(u_rz[t]).sigmoid_()
            n_[t].addcmul_(r_[t], u_n[t]).tanh_()
            # h_t = n_t + z_t ⊙ ( h_{t-1} - n_t )
            return (torch.lerp(n_[t], h, z_[t], out=outputs[t]),)

        return step, output, (a, u)

    def backward(self, d_output, w, sizes, output, saved, before):
        """Return the backward step and the function of the sums, as `Kind` describes."""
        gates, u = saved
        (r, z, n), u_n = gates.chunk(3, dim=1), u.chunk(3, dim=1)[2]
        d_output, d_a, d_u = d_output.split(sizes), torch.empty_like(gates), torch.empty_like(gates)
        # the factors of the gradients, for all time steps at once
        by_z = (sigmoid_slope(z) * (before[0] - n)).split(sizes)
        by_n = (tanh_slope(n) * (1 - z)).split(sizes)
        by_r = (sigmoid_slope(r) * u_n).split(sizes)
        zs, rs, hh, d_us = z.split(sizes), r.split(sizes), w.hh.T, d_u.split(sizes)
        d_r, d_z, d_un = (part.split(sizes) for part in d_u.chunk(3, dim=1))
        d_n = d_a.chunk(3, dim=1)[2].split(sizes)

        def step(t, d_state):
            d_h = d_state[0] + d_output[t]
            # δa_z = δh_t ⊙ ( h_{t-1} - n_t ) ⊙ σ'    δa_n = δh_t ⊙ ( 1 - z_t ) ⊙ tanh'
            torch.mul(d_h, by_z[t], out=d_z[t])
            torch.mul(d_h, by_n[t], out=d_n[t])
            # δa_r = δa_n ⊙ u_n ⊙ σ'    δu_n = δa_n ⊙ r_t
            torch.mul(d_n[t], by_r[t], out=d_r[t])
            torch.mul(d_n[t], rs[t], out=d_un[t])
            # δh_{t-1} = δh_t ⊙ z_t  +  W_hhᵀ δu_t
            return (torch.addmm(d_h * zs[t], d_us[t], hh),)

        def sums():
            # r_t and z_t add a_t and u_t:   δa = δu there
            both = 2 * n.size(1)
            d_a[:, :both] = d_u[:, :both]
            return d_a, d_u, None

        return step, sums
