"""Layers and losses as functions of tensors: `torch.nn.functional`."""

import math
import warnings

import numpy as np

from .. import dtypes, exponentials, matrices, pointwise
from ..autograd.profiler_legacy import note
from ..comparing import where
from ..drawing import dropout_mask
from ..indexing import add_rows, getitem
from ..joining import cat, stack
from ..matrices import matmul
from ..pointwise import logsigmoid, sigmoid, softplus_array, tanh  # noqa: F401
from ..sparse import SparseTensor
from ..tape import rename_node
from ..tensor import Tensor, record
from .loss_functions import (  # noqa: F401
    binary_cross_entropy,
    binary_cross_entropy_with_logits,
    cross_entropy,
    huber_loss,
    l1_loss,
    mse_loss,
    nll_loss,
    smooth_l1_loss,
)  # fmt: skip


def linear(input, weight, bias=None):
    """Return x Wᵀ + b, for the last axis of x."""
    if not isinstance(input, Tensor):
        raise TypeError(f"linear(): argument 'input' (position 1) must be Tensor, not {type(input).__name__}")
    if input._array.shape[-1:] != weight._array.shape[1:]:
        rows = math.prod(input._array.shape[:-1])
        raise RuntimeError(
            f"mat1 and mat2 shapes cannot be multiplied ({rows}x{input._array.shape[-1]} and "
            f"{weight._array.shape[1]}x{weight._array.shape[0]})"
        )
    if input.dtype is not weight.dtype:
        raise RuntimeError(
            f"mat1 and mat2 must have the same dtype, but got {input.dtype.title} and {weight.dtype.title}"
        )
    if bias is not None and input._array.dtype == bias._array.dtype and bias._array.shape == weight._array.shape[:-1]:
        return matrices.linear(input, weight, bias)
    product = matmul(input, weight.t() if weight.ndim == 2 else weight)
    return product if bias is None else rename_node(product + bias, "Addmm" if input.ndim == 2 else "View")


def softmax(input, dim=None, _stacklevel=3, dtype=None):
    """Return eˣ / Σ eˣ along an axis."""
    return exponentials.softmax(input, default_dim(input) if dim is None else dim, dtype)


def log_softmax(input, dim=None, _stacklevel=3, dtype=None):
    """Return x − log Σ eˣ along an axis."""
    return exponentials.log_softmax(input, default_dim(input) if dim is None else dim, dtype)


def default_dim(input):
    """Return the axis that torch takes by default, with torch's warning."""
    warnings.warn(
        "Implicit dimension choice for softmax has been deprecated. Change the call to include dim=X as an argument.",
        stacklevel=3,
    )
    return 0 if input.ndim in (0, 1, 3) else 1


def relu(input, inplace=False):
    return input._assign(pointwise.relu(input)) if inplace else pointwise.relu(input)


def leaky_relu(input, negative_slope=0.01, inplace=False):
    out = rename_node(where(input > 0, input, input * negative_slope), "LeakyRelu")
    return input._assign(out) if inplace else out


def elu(input, alpha=1.0):
    return rename_node(where(input > 0, input, alpha * pointwise.expm1(input.clamp(max=0))), "Elu")


def gelu(input, approximate="none"):
    """Return x · Φ(x)."""
    if approximate == "tanh":
        return rename_node(0.5 * input * (1 + tanh(math.sqrt(2 / math.pi) * (input + 0.044715 * input**3))), "Gelu")
    return rename_node(input * 0.5 * (1 + pointwise.erf(input * math.sqrt(0.5))), "Gelu")


def silu(input, inplace=False):
    return rename_node(input * sigmoid(input), "Silu")


def softplus(input, beta=1, threshold=20):
    """Return log(1 + eᵝˣ) / β; x itself where βx is above the threshold."""
    scaled = input._array * beta
    with np.errstate(all="ignore"):
        array = np.where(scaled > threshold, input._array, softplus_array(scaled) / beta).astype(input._array.dtype)
    high = scaled > threshold
    return record(array, "Softplus", (input,), lambda g: where(Tensor(high), g, g * sigmoid(input * beta)), [input])


def dropout(input, p=0.5, training=True, inplace=False):
    """Set each number to zero with probability p and divide the others by 1 − p, when training."""
    if not 0 <= p <= 1:
        raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")
    if not training or p == 0 or not input.numel():
        return input
    if input.dtype.kind < 2 and p < 1:
        raise RuntimeError(f"result type Float can't be cast to the desired output type {input.dtype.title}")
    out = input * 0 if p == 1 else input * Tensor(dropout_mask(input._array, 1 - p))
    return input._assign(out) if inplace else out


def embedding(input, weight, padding_idx=None, max_norm=None, norm_type=2.0, scale_grad_by_freq=False, sparse=False):
    """Return row i of the weight for each index i. The row padding_idx gets no gradient."""
    if not isinstance(input, Tensor):
        raise TypeError(f"embedding(): argument 'indices' (position 2) must be Tensor, not {type(input).__name__}")
    note("aten::embedding")
    if input.dtype not in (dtypes.int64, dtypes.int32):
        raise RuntimeError(
            "Expected tensor for argument #1 'indices' to have one of the following scalar types: Long, Int; but got "
            f"torch.{input.dtype.title}Tensor instead (while checking arguments for embedding)"
        )
    n = weight._array.shape[0]
    if input.numel() and (input._array.min() < 0 or input._array.max() >= n):
        raise IndexError("index out of range in self")
    if padding_idx is not None:
        assert -n <= padding_idx < n, "Padding_idx must be within num_embeddings"
        padding_idx %= n
    if max_norm is not None:  # rows that are looked up are shortened in place
        rows = np.unique(input._array)
        length = (np.abs(weight._array[rows]) ** norm_type).sum(1) ** (1 / norm_type)
        too_long = length > max_norm
        weight._array[rows[too_long]] *= (max_norm / (length[too_long] + 1e-7))[:, None].astype(weight._array.dtype)
        weight._changes[0] += 1
    index, shape = input._array, weight._array.shape

    def rule(g):
        for name in ("embedding_backward", f"embedding_{'sparse' if sparse else 'dense'}_backward"):
            note(f"aten::{name}")
        rows = g._array.reshape(-1, shape[1])
        if sparse:
            has_gradient = index.reshape(-1) != (-1 if padding_idx is None else padding_idx)
            return SparseTensor(Tensor(index.reshape(-1)[has_gradient][None]), Tensor(rows[has_gradient]), shape)
        out = np.zeros(shape, g._array.dtype)
        if scale_grad_by_freq:
            counts = np.bincount(index.reshape(-1).astype(np.intp), minlength=n)
            rows = rows / counts[index.reshape(-1), None].astype(rows.dtype)
        add_rows(out, index, rows)
        if padding_idx is not None:
            out[padding_idx] = 0
        return record(out, "EmbeddingBackward", (g,), lambda h: embedding(input, h, padding_idx))

    return record(weight._array[index], "Embedding", (weight,), rule, [input])


def embedding_bag(
    input, weight, offsets=None, max_norm=None, norm_type=2.0, scale_grad_by_freq=False, mode="mean", sparse=False,
    per_sample_weights=None, include_last_offset=False, padding_idx=None,
):  # fmt: skip
    """Return the mean, the sum or the maximum of each bag's rows: (bags, embedding_dim). Empty bags give zeros.

    input: (n), with the first position of each bag as offsets, or (bags, n). mode: "mean", "sum" or "max".
    """
    note("aten::embedding_bag")
    if include_last_offset or padding_idx is not None:
        raise NotImplementedError("small_torch has no include_last_offset and no padding_idx of embedding_bag")
    if input.ndim == 2:
        offsets, input = Tensor(np.arange(len(input)) * input.size(1)), input.reshape(-1)
    rows = embedding(input, weight, None, max_norm, norm_type, scale_grad_by_freq, sparse)
    if per_sample_weights is not None:
        rows = rows * per_sample_weights.reshape(-1, 1)
    starts = offsets._array
    bag = np.searchsorted(starts, np.arange(len(input._array)), "right") - 1
    if mode == "max":
        parts = [rows[bag == k] for k in range(len(starts))]
        return stack([part.amax(0) if len(part) else rows.new_zeros(rows.size(1)) for part in parts])
    out = rows.new_zeros(len(starts), rows.size(1)).index_add(0, Tensor(bag), rows)
    counts = np.maximum(np.bincount(bag, minlength=len(starts)), 1)[:, None]
    return out / Tensor(counts.astype(rows._array.dtype)) if mode == "mean" else out


def one_hot(tensor, num_classes=-1):
    """Return vectors with a one at each index, zeros elsewhere."""
    note("aten::one_hot")
    if tensor.dtype is not dtypes.int64:
        raise RuntimeError("one_hot is only applicable to index tensor of type LongTensor.")
    index = tensor._array
    if index.size and index.min() < 0:
        raise RuntimeError("Class values must be non-negative.")
    if num_classes == -1:
        num_classes = int(index.max()) + 1
    elif index.size and index.max() >= num_classes:
        raise RuntimeError("Class values must be smaller than num_classes.")
    return Tensor((index[..., None] == np.arange(num_classes)).astype(np.int64))


def normalize(input, p=2.0, dim=1, eps=1e-12):
    """Return x / ‖x‖ along an axis."""
    return input / input.norm(p, dim, True).clamp_min(eps).expand_as(input)


def cosine_similarity(x1, x2, dim=1, eps=1e-8):
    return rename_node((x1 * x2).sum(dim) / (x1.norm(2, dim).clamp_min(eps) * x2.norm(2, dim).clamp_min(eps)), "Sum.1")


def layer_norm(input, normalized_shape, weight=None, bias=None, eps=1e-5):
    """Return (x − mean) / √(variance + ε) · weight + bias, over the last axes."""
    axes = tuple(range(-len(tuple(normalized_shape)), 0))
    if tuple(input._array.shape[axes[0] :]) != tuple(normalized_shape):
        raise RuntimeError(
            f"Given normalized_shape={list(normalized_shape)}, expected input with shape [*,"
            f" {', '.join(map(str, normalized_shape))}], but got input of size{list(input.shape)}"
        )
    centered = input - input.mean(axes, True)
    out = centered * (centered * centered).mean(axes, True).add(eps).rsqrt()
    out = out if weight is None else out * weight
    return rename_node(out if bias is None else out + bias, "NativeLayerNorm")


def batch_norm(input, running_mean, running_var, weight=None, bias=None, training=False, momentum=0.1, eps=1e-5):
    """Normalise each channel (axis 1), by the batch's mean and variance when training, else by the running ones."""
    channels, axes = input._array.shape[1], tuple(i for i in range(input.ndim) if i != 1)
    for name, tensor in (
        ("running_mean", running_mean),
        ("running_var", running_var),
        ("weight", weight),
        ("bias", bias),
    ):
        if tensor is not None and tensor.numel() != channels:
            raise RuntimeError(f"{name} should contain {channels} elements not {tensor.numel()}")
    shape = (1, channels) + (1,) * (input.ndim - 2)
    if training and input.numel() == channels:
        raise ValueError(f"Expected more than 1 value per channel when training, got input size {input.shape}")
    if training:
        mean = input.mean(axes)
        centered = input - mean.reshape(shape)
        var = (centered * centered).mean(axes)
        if running_mean is not None:
            count = input.numel() // channels
            running_mean._array[...] = (1 - momentum) * running_mean._array + momentum * mean._array
            running_var._array[...] = (1 - momentum) * running_var._array + momentum * var._array * (
                count / (count - 1)
            )
    else:
        mean, var = running_mean, running_var
        centered = input - mean.reshape(shape)
    out = centered * (var.reshape(shape) + eps).rsqrt()
    out = out if weight is None else out * weight.reshape(shape)
    return rename_node(out if bias is None else out + bias.reshape(shape), "NativeBatchNorm")


def scaled_dot_product_attention(
    query, key, value, attn_mask=None, dropout_p=0.0, is_causal=False, scale=None, enable_gqa=False
):
    """Return softmax(Q Kᵀ / √d + mask) V."""
    note("aten::scaled_dot_product_attention")
    note("aten::_scaled_dot_product_attention_math")
    scale = 1 / math.sqrt(query._array.shape[-1]) if scale is None else scale
    scores = (query * scale) @ key.transpose(-2, -1)
    if is_causal:
        scores = scores.masked_fill(Tensor(np.triu(np.ones(scores._array.shape[-2:], bool), 1)), -math.inf)
    if attn_mask is not None:
        scores = scores.masked_fill(~attn_mask, -math.inf) if attn_mask.dtype is dtypes.bool_ else scores + attn_mask
    weights = softmax(scores, -1)
    if attn_mask is not None and attn_mask.dtype is dtypes.bool_:  # a query without any key gets zeros
        without_keys = ~np.broadcast_to(attn_mask._array, scores._array.shape).any(-1, keepdims=True)
        weights = weights.masked_fill(Tensor(without_keys), 0.0)
    return rename_node(dropout(weights, dropout_p) @ value, "UnsafeView")


def pad(input, pad, mode="constant", value=None):
    """Add numbers at the ends. pad: (left, right) of the last axis, then of the one before, …."""
    if mode != "constant":
        raise NotImplementedError(f"pad with mode={mode!r} is not in small_torch")
    widths = [(0, 0)] * (input.ndim - len(pad) // 2) + [(pad[i], pad[i + 1]) for i in range(len(pad) - 2, -1, -2)]
    if min(min(pair) for pair in widths) < 0:
        cut = tuple(slice(max(-a, 0), n - max(-b, 0)) for (a, b), n in zip(widths, input._array.shape))
        flat = [width for pair in reversed(widths) for width in (max(pair[0], 0), max(pair[1], 0))]
        return globals()["pad"](getitem(input, cut), flat, value=value)
    inside = tuple(slice(a, a + n) for (a, _), n in zip(widths, input._array.shape))
    array = np.pad(input._array, widths, constant_values=0 if value is None else value)
    return record(array, "ConstantPadNd", (input,), lambda g: getitem(g, inside))


def conv1d(input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1):
    """Convolve along the last axis. input: (N, C, L), weight: (C_out, C / groups, k)."""
    if dilation != 1:
        raise NotImplementedError("conv1d with dilation is not in small_torch")
    x = pad(input, (padding, padding)) if padding else input
    windows = x.unfold(-1, weight._array.shape[-1], stride)  # (N, C, L', k)
    if groups == 1:
        out = (windows.transpose(1, 2).flatten(2) @ weight.flatten(1).t()).transpose(1, 2)
    elif groups == weight._array.shape[0] == x._array.shape[1]:
        out = (windows * weight[:, 0][:, None, :]).sum(-1)
    else:
        parts = zip(windows.chunk(groups, 1), weight.chunk(groups, 0))
        out = cat(
            [(x_part.transpose(1, 2).flatten(2) @ w_part.flatten(1).t()).transpose(1, 2) for x_part, w_part in parts], 1
        )
    return rename_node(out if bias is None else out + bias[:, None], "Convolution")
