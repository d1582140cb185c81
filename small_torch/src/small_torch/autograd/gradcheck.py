"""Whether a function's gradients are right: held against differences of its values."""

from ..comparing import allclose
from ..creation import zeros_like
from ..joining import stack
from ..tape import no_grad
from ..tensor import Tensor
from .engine import grad


class GradcheckError(RuntimeError):
    """The gradients are wrong, and where."""


def gradcheck(
    func, inputs, *, eps=1e-06, atol=1e-05, rtol=0.001, raise_exception=True, nondet_tol=0.0, check_undefined_grad=True,
    check_grad_dtypes=False, check_batched_grad=False, check_backward_ad=True, fast_mode=False,
):  # fmt: skip
    """True if each derivative of func at the inputs (a tensor, or a tuple) is the central difference with step eps, to
    the tolerances; a GradcheckError otherwise, or False without raise_exception. Inputs should be float64.
    """
    inputs = (inputs,) if isinstance(inputs, Tensor) else tuple(inputs)
    places = [i for i, one in enumerate(inputs) if isinstance(one, Tensor) and one.requires_grad]
    if not places:
        raise ValueError(
            "gradcheck expects at least one input tensor to require gradient, but none of them have requires_grad=True."
        )
    outputs = func(*inputs)
    outputs = outputs if isinstance(outputs, (tuple, list)) else (outputs,)
    outputs = [one for one in outputs if isinstance(one, Tensor) and one.requires_grad]
    for j, output in enumerate(outputs):
        for i in places:
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
    """∂ output / ∂ x, a column for each number of the output: (numbers of x, numbers of the output)."""
    columns = [grad(one, x, retain_graph=True, allow_unused=True)[0] for one in output.reshape(-1)]
    return stack([(zeros_like(x) if one is None else one).reshape(-1) for one in columns], 1)


def by_differences(func, inputs, i, j, output, eps):
    """The same of the values a little to both sides."""
    flat, rows = inputs[i].detach().reshape(-1), []
    for k in range(flat.numel()):
        both = []
        for step in (eps, -eps):
            moved = flat.clone()
            moved[k] += step
            x = moved.reshape(inputs[i].shape).requires_grad_()
            with no_grad():
                found = func(*inputs[:i], x, *inputs[i + 1 :])
            found = [
                one for one in (found if isinstance(found, (tuple, list)) else (found,)) if isinstance(one, Tensor)
            ]
            both.append(found[j].detach().reshape(-1))
        rows.append((both[0] - both[1]) / (2 * eps))
    return stack(rows)
