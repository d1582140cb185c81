"""Functions of all gradients and parameters of a model: `torch.nn.utils`."""

import warnings
from types import GeneratorType

from ...creation import tensor
from ...joining import cat, stack
from ...messages import refuse
from ...tape import no_grad
from ...tensor import Tensor
from ..parameter import type_name
from . import rnn  # noqa: F401


def gradients(parameters):
    """Return the gradients of a tensor or of several, without those that are None."""
    is_generator = isinstance(parameters, GeneratorType)
    parameters = [parameters] if isinstance(parameters, Tensor) else [*parameters]
    if is_generator and not parameters:
        warnings.warn("`parameters` is an empty generator, no gradient clipping will occur.", stacklevel=4)
    return [parameter.grad for parameter in parameters if parameter.grad is not None]


@no_grad()
def get_total_norm(tensors, norm_type=2.0, error_if_nonfinite=False, foreach=None):
    """Return the norm of several tensors, taken as one vector."""
    norm_type = float(norm_type)
    norms = [x.norm(norm_type) for x in tensors]
    norm = stack(norms).norm(norm_type) if norms else tensor(0.0)
    refuse(error_if_nonfinite and not norm.isfinite(), "norm not finite", norm_type)
    return norm


@no_grad()
def clip_grad_norm_(parameters, max_norm, norm_type=2.0, error_if_nonfinite=False, foreach=None):
    """Scale all gradients, taken as one vector, to a norm of at most max_norm; return the norm before."""
    grads = gradients(parameters)
    norm = get_total_norm(grads, norm_type, error_if_nonfinite)
    factor = (float(max_norm) / (norm + 1e-6)).clamp(max=1.0)
    for gradient in grads:
        gradient.mul_(factor)
    return norm


@no_grad()
def clip_grad_value_(parameters, clip_value, foreach=None):
    """Limit every number of all gradients, in place, to the range from -clip_value to clip_value."""
    grads = gradients(parameters)
    refuse(not grads, "no gradients")
    for gradient in grads:
        gradient.clamp_(min=-float(clip_value), max=float(clip_value))


def parameters_to_vector(parameters):
    """Join all numbers of several tensors into one vector."""
    return cat([parameter.view(-1) for parameter in parameters])


def vector_to_parameters(vec, parameters):
    """Set each tensor to its part of the vector."""
    refuse(not isinstance(vec, Tensor), "expected torch.Tensor, but got: {}", type_name(vec), kind=TypeError)
    begin = 0
    for parameter in parameters:
        end = begin + parameter.numel()
        parameter.data = vec[begin:end].view_as(parameter).data
        begin = end
