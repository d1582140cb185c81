"""Initial values of parameters. Each function changes its tensor in place, without a node, and returns it."""

import math
import warnings

from ..creation import empty, empty_like, eye, ones_like
from ..dtypes import bool_
from ..linalg import qr
from ..messages import refuse
from ..tape import no_grad

# factors that compensate for how much a nonlinearity shrinks its inputs
GAINS = {
    **dict.fromkeys(("linear", "conv1d", "conv2d", "conv3d", "sigmoid"), 1),
    **dict.fromkeys(("conv_transpose1d", "conv_transpose2d", "conv_transpose3d"), 1),
    "tanh": 5 / 3,
    "relu": math.sqrt(2),
    "selu": 3 / 4,
}


def calculate_gain(nonlinearity, param=None):
    """Return the factor for weights before this nonlinearity. param: the slope of "leaky_relu"."""
    if nonlinearity == "leaky_relu":
        slope = 0.01 if param is None else param
        refuse(isinstance(slope, bool) or not isinstance(slope, int | float), "slope", param)
        return math.sqrt(2 / (1 + slope**2))
    refuse(nonlinearity not in GAINS, "Unsupported nonlinearity {}", nonlinearity, kind=ValueError)
    return GAINS[nonlinearity]


@no_grad()
def uniform_(tensor, a=0.0, b=1.0, generator=None):
    """Draw from U(a, b)."""
    return tensor.uniform_(a, b, generator=generator)


@no_grad()
def normal_(tensor, mean=0.0, std=1.0, generator=None):
    """Draw from N(mean, std²)."""
    return tensor.normal_(mean, std, generator=generator)


@no_grad()
def constant_(tensor, val):
    """Set all numbers to val."""
    return tensor.fill_(val)


def ones_(tensor):
    """Set all numbers to 1."""
    return constant_(tensor, 1.0)


def zeros_(tensor):
    """Set all numbers to 0."""
    return constant_(tensor, 0.0)


@no_grad()
def eye_(tensor):
    """Set a matrix to the identity."""
    refuse(tensor.dim() != 2, "Only tensors with 2 dimensions are supported", kind=ValueError)
    return tensor.copy_(eye(*tensor.shape))


def fans(tensor):
    """Return how many inputs each output of a weight has, and how many outputs each input has."""
    refuse(tensor.dim() < 2, "fans")
    field = math.prod(tensor.shape[2:])
    return tensor.size(1) * field, tensor.size(0) * field


_calculate_fan_in_and_fan_out = fans


def xavier_uniform_(tensor, gain=1.0, generator=None):
    """Draw from U(-a, a) with a = gain √( 6 / ( in + out ) ) (Glorot and Bengio 2010)."""
    bound = math.sqrt(3) * (gain * math.sqrt(2 / sum(fans(tensor))))
    return uniform_(tensor, -bound, bound, generator)


def xavier_normal_(tensor, gain=1.0, generator=None):
    """Draw from N(0, s²) with s = gain √( 2 / ( in + out ) ) (Glorot and Bengio 2010)."""
    return normal_(tensor, 0.0, gain * math.sqrt(2 / sum(fans(tensor))), generator)


def kaiming_std(tensor, a, mode, nonlinearity):
    """Return the standard deviation that keeps the scale of numbers (He et al. 2015); 0 for an empty tensor."""
    if 0 in tensor.shape:
        warnings.warn("Initializing zero-element tensors is a no-op", stacklevel=3)
        return 0.0
    mode, modes = mode.lower(), ["fan_in", "fan_out"]
    refuse(mode not in modes, "Mode {} not supported, please use one of {}", mode, modes, kind=ValueError)
    return calculate_gain(nonlinearity, a) / math.sqrt(fans(tensor)[modes.index(mode)])


def kaiming_uniform_(tensor, a=0, mode="fan_in", nonlinearity="leaky_relu", generator=None):
    """Draw from U(-√3 s, √3 s) with s = gain / √fan. a: the slope of "leaky_relu"."""
    bound = math.sqrt(3) * kaiming_std(tensor, a, mode, nonlinearity)
    return uniform_(tensor, -bound, bound, generator)


def kaiming_normal_(tensor, a=0, mode="fan_in", nonlinearity="leaky_relu", generator=None):
    """Draw from N(0, s²) with s = gain / √fan. a: the slope of "leaky_relu"."""
    return normal_(tensor, 0.0, kaiming_std(tensor, a, mode, nonlinearity), generator)


@no_grad()
def trunc_normal_(tensor, mean=0.0, std=1.0, a=-2.0, b=2.0, generator=None):
    """Draw from the part of N(mean, std²) that lies in [a, b].

    If it is large, normal numbers outside are drawn again; else uniform numbers are accepted in proportion to the
    density, relative to its maximum.
    """
    low, high = ((1 + math.erf((bound - mean) / std / math.sqrt(2))) / 2 for bound in (a, b))
    peak = -0.5 * ((max(a, min(mean, b)) - mean) / std) ** 2
    pending = ones_like(tensor, dtype=bool_)
    while pending.any():
        new = empty_like(tensor)
        if high - low > 0.3:
            new.normal_(mean, std, generator=generator)
            rejected = (new < a) | (new > b)
        else:
            new.uniform_(a, b, generator=generator)
            log_density = new.clone().sub_(mean).div_(std).pow_(2).mul_(-0.5).sub_(peak)
            rejected = empty_like(tensor).uniform_(generator=generator).log_() > log_density
        tensor.copy_(new.where(pending, tensor))
        pending = pending & rejected
    return tensor


@no_grad()
def orthogonal_(tensor, gain=1, generator=None):
    """Draw an orthogonal matrix (Saxe et al. 2013): the Q of a random matrix, with signs that make it unique."""
    refuse(tensor.dim() < 2, "Only tensors with 2 or more dimensions are supported", kind=ValueError)
    if tensor.numel() == 0:
        return tensor
    rows, columns = tensor.size(0), tensor.numel() // tensor.size(0)
    matrix = empty(rows, columns, dtype=tensor.dtype).normal_(0, 1, generator=generator)
    q, r = qr(matrix.T if rows < columns else matrix)
    q = q * r.diagonal().sign()
    return tensor.copy_((q.T if rows < columns else q).reshape(tensor.shape)).mul_(gain)
