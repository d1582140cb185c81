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
        return input


class _Linear(Module):
    """Base class of layers with `weight` and `bias` from U(-1/√in, 1/√in), where in counts an output's inputs."""

    def reset_parameters(self):
        init.kaiming_uniform_(self.weight, a=math.sqrt(5))  # the same as U(-1/√in, 1/√in)
        if self.bias is not None:
            fan_in, _ = init.fans(self.weight)
            bound = 1 / math.sqrt(fan_in) if fan_in > 0 else 0
            init.uniform_(self.bias, -bound, bound)


class Linear(_Linear):
    """W x + b for every vector: (*, out_features) of (*, in_features).

    Parameters: `weight` (out_features, in_features) and `bias` (out_features), or None.
    """

    def __init__(self, in_features, out_features, bias=True, device=None, dtype=None):
        super().__init__()
        self.in_features, self.out_features = in_features, out_features
        shapes = {"weight": (out_features, in_features), "bias": (out_features,) if bias else None}
        add_parameters(self, device, dtype, **shapes)
        self.reset_parameters()

    def forward(self, input):
        return F.linear(input, self.weight, self.bias)

    def extra_repr(self):
        return f"in_features={self.in_features}, out_features={self.out_features}, bias={self.bias is not None}"


class Conv1d(_Linear):
    """The same linear function of every window of a signal: (N, out_channels, L') of (N, in_channels, L).

    Parameters: `weight` (out_channels, in_channels / groups, kernel_size) and `bias` (out_channels), or None.
    """

    def __init__(
        self, in_channels, out_channels, kernel_size, stride=1, padding=0, dilation=1, groups=1, bias=True,
        padding_mode="zeros", device=None, dtype=None,
    ):  # fmt: skip
        super().__init__()
        refuse(groups <= 0, "groups must be a positive integer", kind=ValueError)
        for name, channels in (("in", in_channels), ("out", out_channels)):
            refuse(channels % groups != 0, "{}_channels must be divisible by groups", name, kind=ValueError)
        self.in_channels, self.out_channels, self.groups = in_channels, out_channels, groups
        self.kernel_size, self.stride, self.dilation = map(as_tuple, (kernel_size, stride, dilation))
        self.padding = padding if isinstance(padding, str) else as_tuple(padding)
        if isinstance(padding, str):
            refuse(padding not in ("same", "valid"), "padding name", padding, {"same", "valid"})
            strided = padding == "same" and self.stride != (1,)
            refuse(strided, "padding='same' is not supported for strided convolutions", kind=ValueError)
        refuse(padding_mode != "zeros", "padding_mode={!r} " + EXPLANATION, padding_mode, kind=NotImplementedError)
        shape = (out_channels, in_channels // groups, *self.kernel_size)
        add_parameters(self, device, dtype, weight=shape, bias=(out_channels,) if bias else None)
        self.reset_parameters()

    def forward(self, input):
        return F.conv1d(input, self.weight, self.bias, self.stride, self.padding, self.dilation, self.groups)

    def extra_repr(self):
        sizes = f"{self.in_channels}, {self.out_channels}, kernel_size={self.kernel_size}, stride={self.stride}"
        sizes += show_changed(self, padding=(0,), dilation=(1,), groups=1)
        return sizes + (", bias=False" if self.bias is None else "")


def as_tuple(value):
    """Return a number as a tuple of one; a tuple or list as a tuple."""
    return tuple(value) if isinstance(value, tuple | list) else (value,)


class _Plain(Module):
    """Base class of layers without parameters, which give their options to a function.

    The text of a layer shows all options but those in _hidden.
    """

    _hidden = ()

    def __init__(self, **options):
        super().__init__()
        self.__dict__.update(options, _options=[*options])

    def forward(self, input):
        return self._function(input, **{name: getattr(self, name) for name in self._options})

    def extra_repr(self):
        return ", ".join(f"{name}={getattr(self, name)}" for name in self._options if name not in self._hidden)


class MaxPool1d(_Plain):
    """The maximum of every window of a signal: (N, C, L') of (N, C, L)."""

    _function, _hidden = staticmethod(F.max_pool1d), ("return_indices",)

    def __init__(self, kernel_size, stride=None, padding=0, dilation=1, return_indices=False, ceil_mode=False):
        sizes = {"kernel_size": kernel_size, "stride": kernel_size if stride is None else stride, "padding": padding}
        super().__init__(**sizes, dilation=dilation, return_indices=return_indices, ceil_mode=ceil_mode)


class AvgPool1d(_Plain):
    """The mean of every window of a signal: (N, C, L') of (N, C, L)."""

    _function, _hidden = staticmethod(F.avg_pool1d), ("ceil_mode", "count_include_pad")

    def __init__(self, kernel_size, stride=None, padding=0, ceil_mode=False, count_include_pad=True):
        stride = kernel_size if stride is None else stride
        sizes = {"kernel_size": as_tuple(kernel_size), "stride": as_tuple(stride), "padding": as_tuple(padding)}
        super().__init__(**sizes, ceil_mode=ceil_mode, count_include_pad=count_include_pad)


class AdaptiveAvgPool1d(_Plain):
    """The means of output_size windows that cover a signal evenly: (N, C, output_size) of (N, C, L)."""

    _function = staticmethod(F.adaptive_avg_pool1d)

    def __init__(self, output_size):
        super().__init__(output_size=output_size)


class Flatten(_Plain):
    """Module that merges the axes from start_dim to end_dim."""

    def __init__(self, start_dim=1, end_dim=-1):
        super().__init__(start_dim=start_dim, end_dim=end_dim)

    def forward(self, input):
        return input.flatten(self.start_dim, self.end_dim)


class _DropoutNd(_Plain):
    def __init__(self, p=0.5, inplace=False):
        refuse(p < 0 or p > 1, "dropout probability has to be between 0 and 1, but got {}", p, kind=ValueError)
        super().__init__(p=p, inplace=inplace)


class Dropout(_DropoutNd):
    """While training, set each number to zero with probability p and divide the others by 1 - p."""

    def forward(self, input):
        return F.dropout(input, self.p, self.training, self.inplace)


class Embedding(Module):
    """A table of vectors: index i gets row i, indices (*) a tensor (*, embedding_dim).

    Parameter: `weight` (num_embeddings, embedding_dim), initially from N(0, 1), the row `padding_idx` zeros. The other
    arguments are those of `functional.embedding`.
    """

    def __init__(
        self, num_embeddings, embedding_dim, padding_idx=None, max_norm=None, norm_type=2.0, scale_grad_by_freq=False,
        sparse=False, _weight=None, _freeze=False, device=None, dtype=None,
    ):  # fmt: skip
        super().__init__()
        if padding_idx is not None:
            within = -num_embeddings <= padding_idx < num_embeddings or padding_idx == 0
            refuse(not within, "Padding_idx must be within num_embeddings", kind=AssertionError)
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
        init.normal_(self.weight)
        if self.padding_idx is not None:
            with no_grad():
                self.weight[self.padding_idx].fill_(0)

    def forward(self, input):
        return F.embedding(
            input, self.weight, self.padding_idx, self.max_norm, self.norm_type, self.scale_grad_by_freq, self.sparse
        )

    def extra_repr(self):
        names = {"padding_idx": None, "max_norm": None, "norm_type": 2, "scale_grad_by_freq": False, "sparse": False}
        return f"{self.num_embeddings}, {self.embedding_dim}{show_changed(self, **names)}"


class EmbeddingBag(Embedding):
    """The mean, the sum or the maximum of the vectors of each bag of indices.

    Parameter: `weight`, as `Embedding`'s. The arguments are those of `functional.embedding_bag`.
    """

    def __init__(
        self, num_embeddings, embedding_dim, max_norm=None, norm_type=2.0, scale_grad_by_freq=False, mode="mean",
        sparse=False, _weight=None, include_last_offset=False, padding_idx=None, device=None, dtype=None,
    ):  # fmt: skip
        options = {"scale_grad_by_freq": scale_grad_by_freq, "sparse": sparse, "device": device, "dtype": dtype}
        super().__init__(num_embeddings, embedding_dim, padding_idx, max_norm, norm_type, _weight=_weight, **options)
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


class _Norm(Module):
    """Base class of layers with `weight`, initially ones, and `bias`, zeros, both of one shape, or None."""

    def _add_parameters(self, shape, affine, bias, device, dtype):
        shapes = {"weight": shape if affine else None, "bias": shape if affine and bias else None}
        add_parameters(self, device, dtype, **shapes)
        self.reset_parameters()

    def reset_parameters(self):
        if self.weight is not None:
            init.ones_(self.weight)
        if self.bias is not None:
            init.zeros_(self.bias)


class LayerNorm(_Norm):
    """Every vector with mean 0 and variance 1, then scaled and shifted: the shape is the input's.

    normalized_shape: the last axes, which together are one vector, and the shape of the parameters.
    """

    def __init__(self, normalized_shape, eps=1e-5, elementwise_affine=True, bias=True, device=None, dtype=None):
        super().__init__()
        shape = (normalized_shape,) if isinstance(normalized_shape, int) else tuple(normalized_shape)
        self.normalized_shape, self.eps, self.elementwise_affine = shape, eps, elementwise_affine
        self._add_parameters(shape, elementwise_affine, bias, device, dtype)

    def forward(self, input):
        return F.layer_norm(input, self.normalized_shape, self.weight, self.bias, self.eps)

    def extra_repr(self):
        affine = f"elementwise_affine={self.elementwise_affine}, bias={self.bias is not None}"
        return f"{self.normalized_shape}, eps={self.eps}, {affine}"


class BatchNorm1d(_Norm):
    """Every feature with mean 0 and variance 1 over the batch, then scaled and shifted.

    Input and output: (B, num_features) or (B, num_features, T). While training, mean and variance are those of the
    batch, and their running means are kept in the buffers `running_mean` and `running_var` for evaluation. momentum:
    the weight of the new ones; None for plain means.
    """

    def __init__(
        self, num_features, eps=1e-5, momentum=0.1, affine=True, track_running_stats=True, device=None, dtype=None, *,
        bias=True,
    ):  # fmt: skip
        super().__init__()
        self.num_features, self.eps, self.momentum = num_features, eps, momentum
        self.affine, self.track_running_stats = affine, track_running_stats
        factory = {"device": device, "dtype": dtype}
        self.register_buffer("running_mean", zeros(num_features, **factory) if track_running_stats else None)
        self.register_buffer("running_var", ones(num_features, **factory) if track_running_stats else None)
        self.register_buffer("num_batches_tracked", tensor(0, dtype=int64) if track_running_stats else None)
        self._add_parameters((num_features,), affine, bias, device, dtype)

    def reset_parameters(self):
        super().reset_parameters()
        if self.track_running_stats:
            self.running_mean.zero_()
            self.running_var.fill_(1)
            self.num_batches_tracked.zero_()

    def forward(self, input):
        refuse(input.dim() not in (2, 3), "expected 2D or 3D input (got {}D input)", input.dim(), kind=ValueError)
        use_batch, momentum = self.training or self.running_mean is None, self.momentum or 0.0
        running = (self.running_mean, self.running_var)
        if self.training and self.track_running_stats:
            self.num_batches_tracked.add_(1)
            momentum = 1 / float(self.num_batches_tracked) if self.momentum is None else self.momentum
        elif self.training:
            running = (None, None)
        return F.batch_norm(input, *running, self.weight, self.bias, use_batch, momentum, self.eps)

    def extra_repr(self):
        return (
            f"{self.num_features}, eps={self.eps}, momentum={self.momentum}, affine={self.affine}, "
            f"bias={self.bias is not None}, track_running_stats={self.track_running_stats}"
        )
