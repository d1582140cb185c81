"""Check a function's gradients against differences of its values."""

from ..comparing import allclose
from ..joining import stack
from ..messages import refuse
from ..tape import no_grad
from ..tensor import Tensor
from .functional import derivatives


class GradcheckError(RuntimeError):
    """Error that names the output and input whose gradients are wrong."""


def gradcheck(
    func, inputs, *, eps=1e-06, atol=1e-05, rtol=0.001, raise_exception=True, nondet_tol=0.0, fast_mode=False
):
    """Return True if the tape's derivatives of func at the inputs equal central differences with step eps.

    inputs: a tensor or a tuple, which should be float64. Otherwise raise GradcheckError, or return False without
    raise_exception.
    """

    def outputs_at(*xs):
        outputs = func(*xs)
        outputs = outputs if isinstance(outputs, (tuple, list)) else (outputs,)
        return [y for y in outputs if isinstance(y, Tensor) and y.dtype.kind > 1]

    inputs = (inputs,) if isinstance(inputs, Tensor) else tuple(inputs)
    differentiable = [i for i, x in enumerate(inputs) if isinstance(x, Tensor) and x.requires_grad]
    refuse(not differentiable, "gradcheck inputs")
    for j, output in enumerate(outputs_at(*inputs)):
        for i in differentiable if output.requires_grad else ():
            analytical = derivatives(output, [inputs[i]], False)[0].reshape(output.numel(), -1).T
            numerical = differences(lambda *xs, j=j: outputs_at(*xs)[j], inputs, i, eps)
            if not allclose(analytical, numerical, rtol, atol):
                if not raise_exception:
                    return False
                raise GradcheckError(
                    f"Jacobian mismatch for output {j} with respect to input"
                    f" {i},\nnumerical:{numerical}\nanalytical:{analytical}\n"
                )
    return True


def differences(func, inputs, i, eps):
    """Return ∂ func / ∂ input i by central differences: (numbers of the input, numbers of the output)."""
    flat, rows = inputs[i].detach().reshape(-1), []
    for k in range(flat.numel()):
        both = []
        for step in (eps, -eps):
            moved = flat.clone()
            moved[k] += step
            x = moved.reshape(inputs[i].shape).requires_grad_()
            with no_grad():
                both.append(func(*inputs[:i], x, *inputs[i + 1 :]).detach().reshape(-1))
        rows.append((both[0] - both[1]) / (2 * eps))
    return stack(rows)
