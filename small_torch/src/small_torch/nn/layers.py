"""Layers without recurrence: each has parameters, initializes them and computes with a function of `functional`."""

import math

from ..absent import EXPLANATION
from ..creation import empty, ones, tensor, zeros
from ..dtypes import int64
from ..messages import refuse
from ..tape import no_grad
from . import functional as F
from . import init
from .module import Module
from .parameter import Parameter, add_parameters, show_changed


class Identity(Module):
    """Module that returns its input and ignores all arguments."""

    def __init__(self, *args, **kwargs):
        super().__init__()

    def forward(self, input):
        """Return the input (*)."""
        return input


def draw_linear(layer):
    """Draw weight and bias from U(-1/√in, 1/√in), where in is the number of inputs of each output."""
    init.kaiming_uniform_(layer.weight, a=math.sqrt(5))  # the same as U(-1/√in, 1/√in)
    if layer.bias is not None:
        fan_in, _ = init.fans(layer.weight)
        bound = 1 / math.sqrt(fan_in) if fan_in > 0 else 0
        init.uniform_(layer.bias, -bound, bound)


class Linear(Module):
    """W x + b for every vector.

    Parameters: `weight` (out_features, in_features) and `bias` (out_features), or None without, both initially from
    U(-1/√in, 1/√in).
    """

    def __init__(self, in_features, out_features, bias=True, device=None, dtype=None):
        super().__init__()
        self.in_features, self.out_features = in_features, out_features
        shapes = {"weight": (out_features, in_features), "bias": (out_features,) if bias else None}
        add_parameters(self, device, dtype, **shapes)
        self.reset_parameters()

    reset_parameters = draw_linear

    def forward(self, input):
        """Return (*, out_features) of an input (*, in_features)."""
        return F.linear(input, self.weight, self.bias)

    def extra_repr(self):
        return f"in_features={self.in_features}, out_features={self.out_features}, bias={self.bias is not None}"


class Conv1d(Module):
    """The same linear function of every window of a signal.

    Parameters: `weight` (out_channels, in_channels / groups, kernel_size) and `bias` (out_channels), or None without,
    initially as a `Linear`'s. The arguments are torch's.
    """

    def __init__(
        self, in_channels, out_channels, kernel_size, stride=1, padding=0, dilation=1, groups=1, bias=True,
        padding_mode="zeros", device=None, dtype=None,
    ):  # fmt: skip
        super().__init__()
        refuse(groups <= 0, "groups must be a positive integer", kind=ValueError)
        for name, channels in (("in", in_channels), ("out", out_channels)):
            refuse(channels % groups != 0, "{}_channels must be divisible by groups", name, kind=ValueError)
        kernel_size, stride, dilation = map(as_tuple, (kernel_size, stride, dilation))
        if isinstance(padding, str):
            names = {"same", "valid"}
            refuse(padding not in names, "padding name", padding, names)
            strided = padding == "same" and stride != (1,)
            refuse(strided, "padding='same' is not supported for strided convolutions", kind=ValueError)
        refuse(padding_mode != "zeros", "padding_mode={!r} " + EXPLANATION, padding_mode, kind=NotImplementedError)
        self.in_channels, self.out_channels, self.groups = in_channels, out_channels, groups
        self.kernel_size, self.stride, self.dilation = kernel_size, stride, dilation
        self.padding = padding if isinstance(padding, str) else as_tuple(padding)
        shape = (out_channels, in_channels // groups, *kernel_size)
        add_parameters(self, device, dtype, weight=shape, bias=(out_channels,) if bias else None)
        self.reset_parameters()

    reset_parameters = draw_linear

    def forward(self, input):
        """Return (N, out_channels, L') of a signal (N, in_channels, L), or of one without N."""
        return F.conv1d(input, self.weight, self.bias, self.stride, self.padding, self.dilation, self.groups)

    def extra_repr(self):
        sizes = f"{self.in_channels}, {self.out_channels}, kernel_size={self.kernel_size}, stride={self.stride}"
        sizes += show_changed(self, padding=(0,), dilation=(1,), groups=1)
        return sizes + (", bias=False" if self.bias is None else "")


def as_tuple(value):
    """Return a number as a tuple of one; a tuple or list as a tuple."""
    return tuple(value) if isinstance(value, tuple | list) else (value,)


class MaxPool1d(Module):
    """The maximum of every window of a signal. The arguments are torch's."""

    def __init__(self, kernel_size, stride=None, padding=0, dilation=1, return_indices=False, ceil_mode=False):
        super().__init__()
        self.kernel_size, self.stride = kernel_size, kernel_size if stride is None else stride
        self.padding, self.dilation, self.return_indices, self.ceil_mode = padding, dilation, return_indices, ceil_mode

    def forward(self, input):
        """Return (N, C, L') of a signal (N, C, L), or of one without N."""
        sizes = (self.kernel_size, self.stride, self.padding, self.dilation)
        return F.max_pool1d(input, *sizes, self.ceil_mode, self.return_indices)

    def extra_repr(self):
        names = ("kernel_size", "stride", "padding", "dilation", "ceil_mode")
        return ", ".join(f"{name}={getattr(self, name)}" for name in names)


class AvgPool1d(Module):
    """The mean of every window of a signal. The arguments are torch's."""

    def __init__(self, kernel_size, stride=None, padding=0, ceil_mode=False, count_include_pad=True):
        super().__init__()
        stride = kernel_size if stride is None else stride
        self.kernel_size, self.stride, self.padding = map(as_tuple, (kernel_size, stride, padding))
        self.ceil_mode, self.count_include_pad = ceil_mode, count_include_pad

    def forward(self, input):
        """Return (N, C, L') of a signal (N, C, L), or of one without N."""
        sizes = (self.kernel_size, self.stride, self.padding)
        return F.avg_pool1d(input, *sizes, self.ceil_mode, self.count_include_pad)

    def extra_repr(self):
        return f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}"


class AdaptiveAvgPool1d(Module):
    """The means of output_size windows that cover a signal evenly."""

    def __init__(self, output_size):
        super().__init__()
        self.output_size = output_size

    def forward(self, input):
        """Return (N, C, output_size) of a signal (N, C, L), or of one without N."""
        return F.adaptive_avg_pool1d(input, self.output_size)

    def extra_repr(self):
        return f"output_size={self.output_size}"


class Embedding(Module):
    """A table of vectors: index i gets row i.

    Parameter: `weight` (num_embeddings, embedding_dim), initially from N(0, 1), the row `padding_idx` zeros. The other
    arguments are those of `functional.embedding`. Raises AssertionError for a padding_idx outside the table.
    """

    _padding_error = "Padding_idx must be within num_embeddings"

    def __init__(
        self, num_embeddings, embedding_dim, padding_idx=None, max_norm=None, norm_type=2.0, scale_grad_by_freq=False,
        sparse=False, _weight=None, _freeze=False, device=None, dtype=None,
    ):  # fmt: skip
        super().__init__()
        if padding_idx is not None:
            in_table = -num_embeddings <= padding_idx < max(num_embeddings, 1)
            refuse(not in_table, self._padding_error, kind=AssertionError)
            padding_idx += num_embeddings if padding_idx < 0 else 0
        self.num_embeddings, self.embedding_dim, self.padding_idx = num_embeddings, embedding_dim, padding_idx
        self.max_norm, self.norm_type = max_norm, norm_type
        self.scale_grad_by_freq, self.sparse = scale_grad_by_freq, sparse
        shape = [num_embeddings, embedding_dim]
        refuse(_weight is not None and list(_weight.shape) != shape, "table size")
        self.weight = Parameter(empty(shape, device=device, dtype=dtype) if _weight is None else _weight, not _freeze)
        if _weight is None:
            self.reset_parameters()

    @classmethod
    def from_pretrained(cls, embeddings, freeze=True, *args, **kwargs):
        """Make an embedding of this table (num_embeddings, embedding_dim). freeze: do not train it."""
        refuse(embeddings.dim() != 2, "Embeddings parameter is expected to be 2-dimensional", kind=AssertionError)
        layer = cls(*embeddings.shape, *args, **kwargs, _weight=embeddings)
        layer.weight.requires_grad = not freeze
        return layer

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
        changed = show_changed(
            self, padding_idx=None, max_norm=None, norm_type=2, scale_grad_by_freq=False, sparse=False
        )
        return f"{self.num_embeddings}, {self.embedding_dim}{changed}"


class EmbeddingBag(Embedding):
    """The mean, the sum or the maximum of the vectors of each bag of indices.

    Parameter: `weight`, as `Embedding`'s. The arguments are those of `functional.embedding_bag`.
    """

    _padding_error = "padding_idx must be within num_embeddings"

    def __init__(
        self, num_embeddings, embedding_dim, max_norm=None, norm_type=2.0, scale_grad_by_freq=False, mode="mean",
        sparse=False, _weight=None, include_last_offset=False, padding_idx=None, device=None, dtype=None,
    ):  # fmt: skip
        super().__init__(
            num_embeddings, embedding_dim, padding_idx, max_norm, norm_type, scale_grad_by_freq, sparse, _weight,
            device=device, dtype=dtype,
        )  # fmt: skip
        self.mode, self.include_last_offset = mode, include_last_offset

    def forward(self, input, offsets=None, per_sample_weights=None):
        """Return (bags, embedding_dim) of indices (bags, n), or of (n) with the first position of each bag."""
        return F.embedding_bag(
            input, self.weight, offsets, self.max_norm, self.norm_type, self.scale_grad_by_freq, self.mode, self.sparse,
            per_sample_weights, self.include_last_offset, self.padding_idx,
        )  # fmt: skip

    def extra_repr(self):
        changed = show_changed(self, max_norm=None, norm_type=2, scale_grad_by_freq=False)
        mode = f", mode={self.mode!r}" + show_changed(self, padding_idx=None)
        return f"{self.num_embeddings}, {self.embedding_dim}{changed}{mode}"


class _DropoutNd(Module):
    def __init__(self, p=0.5, inplace=False):
        super().__init__()
        refuse(p < 0 or p > 1, "dropout probability has to be between 0 and 1, but got {}", p, kind=ValueError)
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
        exists = {"weight": elementwise_affine, "bias": elementwise_affine and bias}
        add_parameters(self, device, dtype, **{name: shape if exists[name] else None for name in exists})
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
        factory, exists = {"device": device, "dtype": dtype}, {"weight": affine, "bias": affine and bias}
        add_parameters(self, **factory, **{name: (num_features,) if exists[name] else None for name in exists})
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
        refuse(input.dim() not in (2, 3), "expected 2D or 3D input (got {}D input)", input.dim(), kind=ValueError)
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
