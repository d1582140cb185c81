"""Layers without recurrence: each has parameters, initializes them and computes with a function of `functional`."""

import math

from ..creation import empty, ones, tensor, zeros
from ..dtypes import int64
from ..tape import no_grad
from . import functional as F
from . import init
from .module import Module
from .parameter import Parameter


class Identity(Module):
    """Module that returns its input and ignores all arguments."""

    def __init__(self, *args, **kwargs):
        super().__init__()

    def forward(self, input):
        """Return the input (*)."""
        return input


class Linear(Module):
    """W x + b for every vector.

    Parameters: `weight` (out_features, in_features) and `bias` (out_features), or None without, both initially from
    U(-1/√in, 1/√in).
    """

    def __init__(self, in_features, out_features, bias=True, device=None, dtype=None):
        super().__init__()
        self.in_features, self.out_features = in_features, out_features
        self.weight = Parameter(empty(out_features, in_features, device=device, dtype=dtype))
        self.register_parameter("bias", Parameter(empty(out_features, device=device, dtype=dtype)) if bias else None)
        self.reset_parameters()

    def reset_parameters(self):
        """Draw the initial values."""
        init.kaiming_uniform_(self.weight, a=math.sqrt(5))  # the same as U(-1/√in, 1/√in)
        if self.bias is not None:
            bound = 1 / math.sqrt(self.in_features) if self.in_features > 0 else 0
            init.uniform_(self.bias, -bound, bound)

    def forward(self, input):
        """Return (*, out_features) of an input (*, in_features)."""
        return F.linear(input, self.weight, self.bias)

    def extra_repr(self):
        return f"in_features={self.in_features}, out_features={self.out_features}, bias={self.bias is not None}"


class Embedding(Module):
    """A table of vectors: index i gets row i.

    Parameter: `weight` (num_embeddings, embedding_dim), initially from N(0, 1), the row `padding_idx` zeros. The other
    arguments are those of `functional.embedding`. Raises AssertionError for a padding_idx outside the table.
    """

    def __init__(
        self, num_embeddings, embedding_dim, padding_idx=None, max_norm=None, norm_type=2.0, scale_grad_by_freq=False,
        sparse=False, _weight=None, _freeze=False, device=None, dtype=None,
    ):  # fmt: skip
        super().__init__()
        if padding_idx is not None:
            if not -num_embeddings <= padding_idx < max(num_embeddings, 1):
                raise AssertionError("Padding_idx must be within num_embeddings")
            padding_idx += num_embeddings if padding_idx < 0 else 0
        self.num_embeddings, self.embedding_dim, self.padding_idx = num_embeddings, embedding_dim, padding_idx
        self.max_norm, self.norm_type = max_norm, norm_type
        self.scale_grad_by_freq, self.sparse = scale_grad_by_freq, sparse
        shape = [num_embeddings, embedding_dim]
        if _weight is not None and list(_weight.shape) != shape:
            raise AssertionError("Shape of weight does not match num_embeddings and embedding_dim")
        self.weight = Parameter(empty(shape, device=device, dtype=dtype) if _weight is None else _weight, not _freeze)
        if _weight is None:
            self.reset_parameters()

    @classmethod
    def from_pretrained(cls, embeddings, freeze=True, *args, **kwargs):
        """Make an embedding of this table (num_embeddings, embedding_dim). freeze: do not train it."""
        if embeddings.dim() != 2:
            raise AssertionError("Embeddings parameter is expected to be 2-dimensional")
        return cls(*embeddings.shape, *args, **kwargs, _weight=embeddings, _freeze=freeze)

    def reset_parameters(self):
        """Draw the initial values."""
        init.normal_(self.weight)
        if self.padding_idx is not None:
            with no_grad():
                self.weight[self.padding_idx].fill_(0)

    def forward(self, input):
        """Return (*, embedding_dim) of indices (*)."""
        return F.embedding(
            input, self.weight, self.padding_idx, self.max_norm, self.norm_type, self.scale_grad_by_freq, self.sparse
        )

    def extra_repr(self):
        defaults = {"padding_idx": None, "max_norm": None, "norm_type": 2, "scale_grad_by_freq": False, "sparse": False}
        changed = [
            f", {name}={getattr(self, name)}" for name, value in defaults.items() if getattr(self, name) != value
        ]
        return f"{self.num_embeddings}, {self.embedding_dim}" + "".join(changed)


class _DropoutNd(Module):
    def __init__(self, p=0.5, inplace=False):
        super().__init__()
        if not 0 <= p <= 1:
            raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")
        self.p, self.inplace = p, inplace

    def extra_repr(self):
        return f"p={self.p}, inplace={self.inplace}"


class Dropout(_DropoutNd):
    """While training, set each number to zero with probability p and divide the others by 1 - p."""

    def forward(self, input):
        """Return a tensor of the input's shape (*)."""
        return F.dropout(input, self.p, self.training, self.inplace)


class LayerNorm(Module):
    """Every vector with mean 0 and variance 1, then scaled and shifted.

    normalized_shape: the last axes, which together are one vector. Parameters: `weight`, initially ones, and `bias`,
    zeros, both of this shape.
    """

    def __init__(self, normalized_shape, eps=1e-5, elementwise_affine=True, bias=True, device=None, dtype=None):
        super().__init__()
        shape = (normalized_shape,) if isinstance(normalized_shape, int) else tuple(normalized_shape)
        self.normalized_shape, self.eps, self.elementwise_affine = shape, eps, elementwise_affine
        for name, exists in (("weight", elementwise_affine), ("bias", elementwise_affine and bias)):
            self.register_parameter(name, Parameter(empty(shape, device=device, dtype=dtype)) if exists else None)
        self.reset_parameters()

    def reset_parameters(self):
        """Set the weight to ones and the bias to zeros."""
        if self.weight is not None:
            init.ones_(self.weight)
        if self.bias is not None:
            init.zeros_(self.bias)

    def forward(self, input):
        """Return a tensor of the input's shape (*, *normalized_shape)."""
        return F.layer_norm(input, self.normalized_shape, self.weight, self.bias, self.eps)

    def extra_repr(self):
        affine = f"elementwise_affine={self.elementwise_affine}, bias={self.bias is not None}"
        return f"{self.normalized_shape}, eps={self.eps}, {affine}"


class BatchNorm1d(Module):
    """Every feature with mean 0 and variance 1 over the batch, then scaled and shifted.

    While training, mean and variance are those of the batch, and their running means are kept in the buffers
    `running_mean` and `running_var` for evaluation. momentum: the weight of the new ones; None for plain means.
    """

    _version = 2

    def __init__(
        self, num_features, eps=1e-5, momentum=0.1, affine=True, track_running_stats=True, device=None, dtype=None, *,
        bias=True,
    ):  # fmt: skip
        super().__init__()
        self.num_features, self.eps, self.momentum = num_features, eps, momentum
        self.affine, self.track_running_stats = affine, track_running_stats
        factory = {"device": device, "dtype": dtype}
        for name, exists in (("weight", affine), ("bias", affine and bias)):
            self.register_parameter(name, Parameter(empty(num_features, **factory)) if exists else None)
        self.register_buffer("running_mean", zeros(num_features, **factory) if track_running_stats else None)
        self.register_buffer("running_var", ones(num_features, **factory) if track_running_stats else None)
        self.register_buffer("num_batches_tracked", tensor(0, dtype=int64) if track_running_stats else None)
        self.reset_parameters()

    def reset_parameters(self):
        """Set weights and running variances to ones, biases and running means to zeros."""
        if self.track_running_stats:
            self.running_mean.zero_()
            self.running_var.fill_(1)
            self.num_batches_tracked.zero_()
        if self.weight is not None:
            init.ones_(self.weight)
        if self.bias is not None:
            init.zeros_(self.bias)

    def forward(self, input):
        """Return a tensor of the input's shape, (B, num_features) or (B, num_features, T)."""
        if input.dim() not in (2, 3):
            raise ValueError(f"expected 2D or 3D input (got {input.dim()}D input)")
        momentum = self.momentum or 0.0
        if self.training and self.track_running_stats:
            self.num_batches_tracked.add_(1)
            momentum = 1 / float(self.num_batches_tracked) if self.momentum is None else self.momentum
        running = (
            (self.running_mean, self.running_var) if not self.training or self.track_running_stats else (None, None)
        )
        use_batch = self.training or self.running_mean is None
        return F.batch_norm(input, *running, self.weight, self.bias, use_batch, momentum, self.eps)

    def extra_repr(self):
        return (
            f"{self.num_features}, eps={self.eps}, momentum={self.momentum}, affine={self.affine}, "
            f"bias={self.bias is not None}, track_running_stats={self.track_running_stats}"
        )


class Flatten(Module):
    """Module that merges the axes from start_dim to end_dim."""

    def __init__(self, start_dim=1, end_dim=-1):
        super().__init__()
        self.start_dim, self.end_dim = start_dim, end_dim

    def forward(self, input):
        """Return the input (*) with fewer axes."""
        return input.flatten(self.start_dim, self.end_dim)

    def extra_repr(self):
        return f"start_dim={self.start_dim}, end_dim={self.end_dim}"


# Modules made from functions


class _Function(Module):
    """Base class of modules that call a function of `functional`.

    The function's arguments are kept: those in `tensors` as buffers, others as attributes. max_positional: how many may
    be positional.
    """

    function, tensors, options, max_positional = "", (), {}, 0

    def __init__(self, *args, **kwargs):
        defaults = dict.fromkeys(self.tensors) | self.options
        if len(args) > self.max_positional:
            takes = (
                f"from 1 to {self.max_positional + 1} positional arguments"
                if self.max_positional
                else "1 positional argument"
            )
            raise TypeError(f"{type(self).__name__}.__init__() takes {takes} but {len(args) + 1} were given")
        super().__init__(
            **{name: value for name, value in kwargs.items() if name not in defaults}
        )  # which raises TypeError for them
        for name, value in (defaults | dict(zip(defaults, args)) | kwargs).items():
            if name in self.tensors:
                self.register_buffer(name, value)
            else:
                setattr(self, name, value)

    def _call_function(self, *inputs):
        arguments = {name: getattr(self, name) for name in (*self.tensors, *self.options)}
        return getattr(F, self.function)(*inputs, **arguments)


def as_module(name, forward, doc, **attributes):
    """Make a subclass of _Function with this name. forward: a function of the module and its inputs."""
    forward.__name__, forward.__qualname__ = "forward", f"{name}.forward"
    return type(name, (_Function,), {"__doc__": doc, "__module__": __name__, "forward": forward, **attributes})


def activation(name, doc, **options):
    """Make a module of an elementwise function. options: its arguments' defaults."""

    def extra_repr(self):
        shown = {option: getattr(self, option) for option in options}
        return ", ".join(f"{option}={value!r}" for option, value in shown.items() if option != "inplace" or value)

    return as_module(
        name, lambda self, input: self._call_function(input), doc,
        function=FUNCTIONS.get(name, name.lower()), options=options, max_positional=len(options), extra_repr=extra_repr,
    )  # fmt: skip


FUNCTIONS = {"LeakyReLU": "leaky_relu", "LogSoftmax": "log_softmax"}
Tanh = activation("Tanh", "tanh( x )")
Sigmoid = activation("Sigmoid", "σ( x ) = 1 / ( 1 + exp( -x ) )")
ReLU = activation("ReLU", "max( 0, x )", inplace=False)
GELU = activation(
    "GELU", 'x Φ( x ), with Φ the normal distribution; nearly the same for approximate="tanh".', approximate="none"
)
SiLU = activation("SiLU", "x σ( x )")
Softplus = activation(
    "Softplus", "log( 1 + exp( β x ) ) / β; x itself where β x is above the threshold.", beta=1.0, threshold=20.0
)
LeakyReLU = activation(
    "LeakyReLU", "x where it is positive, else negative_slope · x.", negative_slope=0.01, inplace=False
)
Softmax = activation("Softmax", "exp( x ), divided by its sum along an axis.", dim=None)
LogSoftmax = activation("LogSoftmax", "log softmax( x ) along an axis.", dim=None)
