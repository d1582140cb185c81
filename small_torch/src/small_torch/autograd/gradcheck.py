"""Check a function's gradients against differences of its values."""

from ..comparing import allclose
from ..creation import eye
from ..joining import stack
from ..messages import refuse
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
            numerical = differences(lambda x, i=i, j=j: outputs_at(*inputs[:i], x, *inputs[i + 1 :])[j], inputs[i], eps)
            if not allclose(analytical, numerical, rtol, atol):
                if not raise_exception:
                    return False
                raise GradcheckError(
                    f"Jacobian mismatch for output {j} with respect to input"
                    f" {i},\nnumerical:{numerical}\nanalytical:{analytical}\n"
                )
    return True


def differences(func, x, eps):
    """Return ∂ func(x) / ∂ x by central differences: (numbers of x, numbers of the result)."""
    rows, x = [], x.detach()
    for step in (eps * eye(x.numel(), dtype=x.dtype)).reshape(-1, *x.shape):
        values = [func((x + change).requires_grad_()).detach().reshape(-1) for change in (step, -step)]
        rows.append((values[0] - values[1]) / (2 * eps))
    return stack(rows)
