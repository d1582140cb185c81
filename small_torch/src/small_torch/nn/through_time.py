"""Compute one recurrent layer in one direction: forwards through time, and backwards for gradients.

To autograd a layer is one operation. A tape of every small operation of every time step would give the same gradients
and be many times slower. So the derivatives are written out here, in plain numpy (Werbos 1990). Products that need no
other time step's result are computed at once: W_ih x before the loop, and the weights' gradients after it.

Shapes: N rows in all, sorted by time step; B sequences; H hidden units; P numbers of h (H without a projection). δy
stands for ∂L/∂y. A batch's vectors are rows, so W x is written x @ W.T.
"""

import numpy as np

from ..autograd.engine import grad
from ..elementwise import alias
from ..joining import cat
from ..matrices import addmm, check_same_type, product
from ..tape import enable_grad, recording
from ..tensor import Tensor, record_many

FUSED = "MkldnnRnnLayer"  # torch's node of a whole LSTM layer in float32, which keeps its output for the backward pass


def step_rows(sizes, reverse):
    """Return (rows, their number) of each time step, in the order of computation. sizes: rows of each step."""
    ends = np.cumsum(sizes)
    steps = [(slice(int(end - size), int(end)), int(size)) for size, end in zip(sizes, ends)]
    return steps[::-1] if reverse else steps


def sigmoid_(a):
    """Compute σ in place."""
    np.multiply(a, -1, out=a)  # not np.negative: numpy 2.4's is wrong in place for strides of 16 or 64 bytes
    np.exp(a, out=a)
    a += 1
    np.reciprocal(a, out=a)


class Elman:
    """h_t = f( a_t + W_hh h_{t-1} + b_hh ) with f = tanh or relu."""

    gates = 1

    def __init__(self, relu=False):
        self.relu = relu

    def step(self, a, state, w_hh, b_hh, w_hr):
        """Return the new state, a tuple, of one time step in operations on tensors. a: W_ih x_t + b_ih."""
        a = a + affine(state[0], w_hh, b_hh)
        return (a.relu() if self.relu else a.tanh(),)

    def forward(self, a, w_hh, b_hh, w_hr, state, steps):
        """Compute all time steps; return the output and the arrays that `backward` needs.

        a: (N, H), W_ih x + b_ih. state: changed in place, a tuple of (B, P).
        """
        (h,) = state
        if b_hh is not None:
            a += b_hh
        before = np.empty_like(a)
        for rows, n in steps:
            before[rows] = h[:n]
            now = a[rows]
            now += product(h[:n], w_hh.T)
            np.maximum(now, 0, out=now) if self.relu else np.tanh(now, out=now)
            h[:n] = now
        return a, (a.copy(), before)  # a copy, since the caller may change the output in place

    def backward(self, d_output, saved, w_hh, b_hh, w_hr, d_state, steps):
        """Return δa, h before each step, δ( W_hh h + b_hh ) and δW_hr.

        d_state: gradients of the final state; changed in place into those of the initial state.
        """
        (h, before), (d_h,) = saved, d_state
        slope = h > 0 if self.relu else 1 - h * h
        d_a = np.empty_like(h)
        for rows, n in reversed(steps):
            # δa_t = ( δy_t + δh_t ) ⊙ f',   δh_{t-1} = W_hhᵀ δa_t
            d = d_output[rows] + d_h[:n]
            d_a[rows] = np.where(slope[rows], d, d.dtype.type(0)) if self.relu else d * slope[rows]
            d_h[:n] = product(d_a[rows], w_hh)
        return d_a, before, d_a, None


class Lstm:
    """i, f, o = σ( … ),  g = tanh( … ),  c_t = f ⊙ c_{t-1} + i ⊙ g,  h_t = W_hr ( o ⊙ tanh c_t ).

    The rows are in the order i, f, g, o.
    """

    gates = 4

    def step(self, a, state, w_hh, b_hh, w_hr):
        h, c = state
        i, f, g, o = (a + affine(h, w_hh, b_hh)).chunk(4, dim=1)
        c = f.sigmoid() * c + i.sigmoid() * g.tanh()
        h = o.sigmoid() * c.tanh()
        return h if w_hr is None else h @ w_hr.T, c

    def forward(self, a, w_hh, b_hh, w_hr, state, steps):
        h, c = state
        size = c.shape[1]
        if b_hh is not None:
            a += b_hh
        before_h, before_c = np.empty((len(a), h.shape[1]), a.dtype), np.empty((len(a), size), a.dtype)
        tanh_c, output = np.empty_like(before_c), np.empty_like(before_h)
        for rows, n in steps:
            before_h[rows], before_c[rows] = h[:n], c[:n]
            now = a[rows]
            now += product(h[:n], w_hh.T)
            g, o = now[:, 2 * size : 3 * size], now[:, 3 * size :]
            to_g = g.copy()
            sigmoid_(now)  # of g, too: one pass over whole rows takes less time than two over parts
            np.tanh(to_g, out=g)
            c[:n] *= now[:, size : 2 * size]
            c[:n] += now[:, :size] * g
            np.tanh(c[:n], out=tanh_c[rows])
            m = o * tanh_c[rows]
            h[:n] = output[rows] = m if w_hr is None else product(m, w_hr.T)
        return output, (a, before_h, before_c, tanh_c)

    def backward(self, d_output, saved, w_hh, b_hh, w_hr, d_state, steps):
        (gates, before_h, before_c, tanh_c), (d_h, d_c) = saved, d_state
        i, f, g, o = np.moveaxis(gates.reshape(len(gates), 4, -1), 1, 0)
        # the factors of δc_t and δm_t, for all time steps at once
        factors = [i * (1 - i) * g, f * (1 - f) * before_c, (1 - g * g) * i, o * (1 - o) * tanh_c]
        d_a, d_hs, to_c = np.stack(factors, axis=1), np.empty_like(before_h), o * (1 - tanh_c * tanh_c)
        for rows, n in reversed(steps):
            np.add(d_output[rows], d_h[:n], out=d_hs[rows])
            d_m = d_hs[rows] if w_hr is None else product(d_hs[rows], w_hr)
            # δc_t += δm_t ⊙ o ⊙ tanh'( c_t ),   δa_i,f,g = δc_t ⊙ …,   δa_o = δm_t ⊙ …
            d_c[:n] += d_m * to_c[rows]
            d_a[rows, :3] *= d_c[:n, None]
            d_a[rows, 3] *= d_m
            # δh_{t-1} = W_hhᵀ δa_t,   δc_{t-1} = δc_t ⊙ f
            d_h[:n] = product(d_a[rows].reshape(n, -1), w_hh)
            d_c[:n] *= f[rows]
        d_a = d_a.reshape(len(d_a), -1)
        return d_a, before_h, d_a, None if w_hr is None else product(d_hs.T, o * tanh_c)


class Gru:
    """u = W_hh h_{t-1} + b_hh,  r, z = σ( a + u ),  n = tanh( a + r ⊙ u ),  h_t = n + z ⊙ ( h_{t-1} - n ).

    The rows are in the order r, z, n.
    """

    gates = 3

    def step(self, a, state, w_hh, b_hh, w_hr):
        (h,) = state
        (a_r, a_z, a_n), (u_r, u_z, u_n) = a.chunk(3, dim=1), affine(h, w_hh, b_hh).chunk(3, dim=1)
        n = (a_n + (a_r + u_r).sigmoid() * u_n).tanh()
        return (n + (a_z + u_z).sigmoid() * (h - n),)

    def forward(self, a, w_hh, b_hh, w_hr, state, steps):
        (h,) = state
        size = h.shape[1]
        before, output, u_n = (np.empty((len(a), size), a.dtype) for _ in range(3))
        for rows, k in steps:
            before[rows] = h[:k]
            now, u = a[rows], product(h[:k], w_hh.T)
            if b_hh is not None:
                u += b_hh
            r_z, n = now[:, : 2 * size], now[:, 2 * size :]
            r_z += u[:, : 2 * size]
            sigmoid_(r_z)
            u_n[rows] = u[:, 2 * size :]
            n += r_z[:, :size] * u_n[rows]
            np.tanh(n, out=n)
            h[:k] -= n
            h[:k] *= r_z[:, size:]
            h[:k] += n
            output[rows] = h[:k]
        return output, (a, before, u_n)

    def backward(self, d_output, saved, w_hh, b_hh, w_hr, d_state, steps):
        (gates, before, u_n), (d_h,) = saved, d_state
        r, z, n = np.moveaxis(gates.reshape(len(gates), 3, -1), 1, 0)
        by_r, by_z, by_n = r * (1 - r) * u_n, z * (1 - z) * (before - n), (1 - n * n) * (1 - z)
        d_u, d_n = np.empty((len(n), 3, n.shape[1]), n.dtype), np.empty_like(by_n)
        for rows, k in reversed(steps):
            d = d_output[rows] + d_h[:k]
            # δa_n = δh_t ⊙ ( 1 - z ) ⊙ tanh',   δa_r = δa_n ⊙ u_n ⊙ σ',   δa_z = δh_t ⊙ ( h_{t-1} - n ) ⊙ σ'
            np.multiply(d, by_n[rows], out=d_n[rows])
            np.multiply(d_n[rows], by_r[rows], out=d_u[rows, 0])
            np.multiply(d, by_z[rows], out=d_u[rows, 1])
            # δu_n = δa_n ⊙ r,   δh_{t-1} = δh_t ⊙ z + W_hhᵀ δu
            np.multiply(d_n[rows], r[rows], out=d_u[rows, 2])
            d_h[:k] = d * z[rows] + product(d_u[rows].reshape(k, -1), w_hh)
        d_a = d_u.copy()
        d_a[:, 2] = d_n
        return d_a.reshape(len(n), -1), before, d_u.reshape(len(n), -1), None


def affine(x, weight, bias):
    """Return W x + b for the rows of x: (rows, out)."""
    return x @ weight.T if bias is None else addmm(bias, x, weight.T)


def run(kind, x, sizes, start, weights, reverse=False, title="Stack"):
    """Run one layer in one direction; return the output (*, P), and the final state in the form of `start`.

    kind: an Elman, Lstm or Gru. x: (*, in), N rows in all. sizes: the number of rows of each time step. start: the
    initial state, a tuple of (B, P) and, for an LSTM, (B, H). weights: W_ih, W_hh, b_ih, b_hh, W_hr; None for those
    that do not exist. reverse: from the last time step to the first. title: the node's, or one for each result.
    """
    inputs = [x, *start, *(weight for weight in weights if weight is not None)]
    for tensor in inputs:
        check_same_type(x, tensor)
    w_ih, w_hh, b_ih, b_hh, w_hr = (None if weight is None else weight._array for weight in weights)
    steps, rows = step_rows(sizes, reverse), x._array.reshape(-1, x.size(-1))
    with np.errstate(all="ignore"):
        a = product(rows, w_ih.T)
        if b_ih is not None:
            a += b_ih
        end = tuple(part._array.copy() for part in start)
        output, saved = kind.forward(a, w_hh, b_hh, w_hr, end, steps)

    def rule(d_output, *d_end):
        if recording[0]:  # gradients of the gradients are needed
            return by_tape(kind, x, sizes, start, weights, reverse, (d_output, *d_end))
        with np.errstate(all="ignore"):
            d_state = tuple(gradient._array.copy() for gradient in d_end)
            d_rows = d_output._array.reshape(len(rows), -1)
            d_a, before, d_u, d_hr = kind.backward(d_rows, saved, w_hh, b_hh, w_hr, d_state, steps)
            # a = W_ih x + b_ih,   u = W_hh h + b_hh
            d_x = product(d_a, w_ih).reshape(x.shape) if x.requires_grad else None
            gradients = [d_x, *d_state, product(d_a.T, rows), product(d_u.T, before)]
            gradients += [] if b_ih is None else [d_a.sum(0), d_u.sum(0)]
            gradients += [] if d_hr is None else [d_hr]
        return [None if gradient is None else Tensor(gradient) for gradient in gradients]

    transposed = weights[1].T  # saved first, since torch checks it first for changes in place
    transposed._made_by = "AsStrided"
    output = output.reshape(*x.shape[:-1], output.shape[-1])
    output, *end = record_many([output, *end], title, inputs, rule, [transposed, *inputs])
    if title == FUSED and output._grad_fn is not None:
        kept = alias(output)  # not the output, which holds the node
        kept._made_by = FUSED
        output._grad_fn.saved.append((kept, 0))
    return output, tuple(end)


def by_tape(kind, x, sizes, start, weights, reverse, output_gradients):
    """Compute the gradients of all inputs by operations on tensors, so that they can be differentiated."""
    with enable_grad():
        # views, so that a tensor that is passed twice has two gradients
        x, *start = (tensor.view_as(tensor) for tensor in (x, *start))
        weights = [None if weight is None else weight.view_as(weight) for weight in weights]
        w_ih, w_hh, b_ih, b_hh, w_hr = weights
        a = affine(x.reshape(-1, x.size(-1)), w_ih, b_ih)
        state, outputs = list(start), {}
        for rows, n in step_rows(sizes, reverse):
            step = kind.step(a[rows], [part[:n] for part in state], w_hh, b_hh, w_hr)
            outputs[rows.start] = step[0]
            # sequences that have ended, or not begun, keep their state
            state = [new if n == len(old) else cat([new, old[n:]]) for new, old in zip(step, state)]
        output = cat([outputs[begin] for begin in sorted(outputs)]).reshape(output_gradients[0].shape)
        inputs = [tensor for tensor in (x, *start, *weights) if tensor is not None]
        differentiable = [tensor for tensor in inputs if tensor.requires_grad]
        gradients = iter(grad((output, *state), differentiable, output_gradients, create_graph=True))
    return [next(gradients) if tensor.requires_grad else None for tensor in inputs]
