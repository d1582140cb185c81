"""What is done with gradients and parameters of a whole model."""

import warnings
from types import GeneratorType

from ...absent import absent
from ...creation import tensor
from ...joining import cat, stack
from ...tape import no_grad
from ...tensor import Tensor
from ..parameter import typename
from . import rnn  # noqa: F401


def gradients(parameters):
    """The gradients of a tensor or of several, as far as there are any."""
    if isinstance(parameters, GeneratorType):
        parameters = list(parameters)
        if not parameters:
            warnings.warn("`parameters` is an empty generator, no gradient clipping will occur.", stacklevel=4)
    parameters = [parameters] if isinstance(parameters, Tensor) else parameters
    return [parameter.grad for parameter in parameters if parameter.grad is not None]


@no_grad()
def get_total_norm(tensors, norm_type=2.0, error_if_nonfinite=False, foreach=None):
    """The norm of several tensors, taken as one vector."""
    norms = [one.norm(norm_type) for one in tensors]
    norm = stack(norms).norm(norm_type) if norms else tensor(0.0)
    if error_if_nonfinite and not norm.isfinite():
        raise RuntimeError(
            f"The total norm of order {float(norm_type)} for gradients from `parameters` is non-finite, so it cannot be"
            " clipped. To disable this error and scale the gradients by the non-finite norm anyway, set"
            " `error_if_nonfinite=False`"
        )
    return norm


@no_grad()
def clip_grad_norm_(parameters, max_norm, norm_type=2.0, error_if_nonfinite=False, foreach=None):
    """Shorten all gradients, taken as one vector, in place, to a norm of at most max_norm. Returns the norm they
    had."""
    found = gradients(parameters)
    norm = get_total_norm(found, norm_type, error_if_nonfinite)
    factor = (float(max_norm) / (norm + 1e-6)).clamp(max=1.0)
    for gradient in found:
        gradient.mul_(factor)
    return norm


@no_grad()
def clip_grad_value_(parameters, clip_value, foreach=None):
    """Bring every number of all gradients, in place, between -clip_value and clip_value."""
    for gradient in gradients(parameters):
        gradient.clamp_(min=-float(clip_value), max=float(clip_value))


def parameters_to_vector(parameters):
    """All numbers of several tensors in one vector."""
    return cat([parameter.view(-1) for parameter in parameters])


def vector_to_parameters(vec, parameters):
    """The other way: each tensor becomes its part of the vector."""
    if not isinstance(vec, Tensor):
        raise TypeError(f"expected torch.Tensor, but got: {typename(vec)}")
    begin = 0
    for parameter in parameters:
        end = begin + parameter.numel()
        parameter.data = vec[begin:end].view_as(parameter).data
        begin = end


__getattr__ = absent("torch.nn.utils")
