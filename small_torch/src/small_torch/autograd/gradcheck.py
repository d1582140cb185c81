"""Check a function's gradients against differences of its values."""

from ..comparing import allclose
from ..creation import zeros_like
from ..joining import stack
from ..messages import refuse
from ..tape import no_grad
from ..tensor import Tensor
from .engine import grad


class GradcheckError(RuntimeError):
    """Error that names the output and input whose gradients are wrong."""


def gradcheck(
    func, inputs, *, eps=1e-06, atol=1e-05, rtol=0.001, raise_exception=True, nondet_tol=0.0, check_undefined_grad=True,
    check_grad_dtypes=False, check_batched_grad=False, check_backward_ad=True, fast_mode=False,
):  # fmt: skip
    """Return True if the tape's derivatives of func at the inputs equal central differences with step eps.

    inputs: a tensor or a tuple, which should be float64. Otherwise raise GradcheckError, or return False without
    raise_exception.
    """
    inputs = (inputs,) if isinstance(inputs, Tensor) else tuple(inputs)
    differentiable = [i for i, x in enumerate(inputs) if isinstance(x, Tensor) and x.requires_grad]
    refuse(not differentiable, "gradcheck inputs")
    outputs = func(*inputs)
    outputs = outputs if isinstance(outputs, (tuple, list)) else (outputs,)
    outputs = [y for y in outputs if isinstance(y, Tensor) and y.requires_grad]
    for j, output in enumerate(outputs):
        for i in differentiable:
            analytical, numerical = by_tape(output, inputs[i]), by_differences(func, inputs, i, j, output, eps)
            if not allclose(analytical, numerical, rtol, atol):
                if not raise_exception:
                    return False
                raise GradcheckError(
                    f"Jacobian mismatch for output {j} with respect to input"
                    f" {i},\nnumerical:{numerical}\nanalytical:{analytical}\n"
                )
    return True


def by_tape(output, x):
    """Return ∂ output / ∂ x by the tape: (numbers of x, numbers of the output)."""
    columns = [grad(y, x, retain_graph=True, allow_unused=True)[0] for y in output.reshape(-1)]
    return stack([(zeros_like(x) if column is None else column).reshape(-1) for column in columns], 1)


def by_differences(func, inputs, i, j, output, eps):
    """Return ∂ output j / ∂ input i by central differences: the same shape as `by_tape`."""
    flat, rows = inputs[i].detach().reshape(-1), []
    for k in range(flat.numel()):
        both = []
        for step in (eps, -eps):
            moved = flat.clone()
            moved[k] += step
            x = moved.reshape(inputs[i].shape).requires_grad_()
            with no_grad():
                outputs = func(*inputs[:i], x, *inputs[i + 1 :])
            outputs = outputs if isinstance(outputs, (tuple, list)) else (outputs,)
            both.append([y for y in outputs if isinstance(y, Tensor)][j].detach().reshape(-1))
        rows.append((both[0] - both[1]) / (2 * eps))
    return stack(rows)
