"""Layers and losses as functions of tensors: `torch.nn.functional`."""

import math
import warnings

import numpy as np

from .. import dtypes, exponentials, matrices
from ..arguments import check_argument, checked
from ..autograd.profiler_legacy import note
from ..drawing import dropout_mask
from ..elementwise import floating, set_name
from ..indexing import add_rows
from ..joining import cat
from ..matrices import addmm, matmul
from ..messages import error, refuse
from ..operands import operands
from ..pointwise import sigmoid, tanh  # noqa: F401
from ..rearranging import contiguous
from ..shapes import broadcast_tensors
from ..sparse import SparseTensor
from ..tape import rename_node
from ..tensor import Tensor, record
from .activations import *  # noqa: F403
from .checks import check_fractions, check_indices
from .loss_functions import *  # noqa: F403
from .windows import adaptive_avg_pool1d, avg_pool1d, conv1d, max_pool1d, pad  # noqa: F401


def linear(input: Tensor, weight: Tensor, bias: Tensor = None):
    """Return x Wᵀ + b, for the last axis of x."""
    refuse(not input.ndim or not weight.ndim, "linear axes", input.ndim, weight.ndim)
    if bias is None:
        return matmul(input, weight.t())
    x, w, b = input._array, weight._array, bias._array
    same_type = x.dtype == w.dtype == b.dtype != bool
    if same_type and w.ndim == 2 and x.shape[-1] == w.shape[1] and b.shape == w.shape[:1]:
        return matrices.linear(input, weight, bias)
    if input.ndim > 2 and (bias.ndim != 1 or not x.flags.c_contiguous):
        return matmul(input, weight.t()) + bias
    out = addmm(bias, input.reshape(math.prod(x.shape[:-1]), x.shape[-1]), weight.t())
    return out.reshape(*x.shape[:-1], w.shape[0])


def with_default_dim(operation):
    """Make a softmax that takes torch's axis by default, with torch's warning."""
    name = operation.__name__

    def function(input, dim=None, _stacklevel=3, dtype=None):
        if dim is None:
            advice = "has been deprecated. Change the call to include dim=X as an argument."
            warnings.warn(f"Implicit dimension choice for {name} {advice}", stacklevel=2)
            dim = 0 if input.ndim in (0, 1, 3) else 1
        return operation(input, dim, dtype)

    return set_name(name, function)


softmax, log_softmax = map(with_default_dim, (exponentials.softmax, exponentials.log_softmax))


def dropout(input: Tensor, p=0.5, training=True, inplace=False):
    """Set each number to zero with probability p and divide the others by 1 − p, when training."""
    refuse(p < 0.0 or p > 1.0, "dropout probability has to be between 0 and 1, but got {}", p, kind=ValueError)
    if not training or p == 0 or not input.numel():
        return input
    refuse(input.is_complex() and p < 1, "kernel", "bernoulli_scalar_cpu_", input.dtype.title)
    mask = None if p == 1 else dropout_mask(floating(input)._array, 1 - p)
    refuse(mask is not None and input.dtype.kind < 2, "cast", "Float", input.dtype.title)
    out = input * (input.new_zeros(()) if mask is None else Tensor(mask))
    return input._assign(out) if inplace else out


def embedding(input, weight, padding_idx=None, max_norm=None, norm_type=2.0, scale_grad_by_freq=False, sparse=False):
    """Return row i of the weight for each index i. The row padding_idx gets no gradient."""
    note("aten::embedding")
    check_argument("embedding", "weight", weight, Tensor, 1)
    check_argument("embedding", "indices", input, Tensor, 2)
    check_indices("embedding", input)
    refuse(weight.ndim != 2, "'weight' must be 2-D")
    index, shape = input._array, weight._array.shape
    n = shape[0]
    refuse(index.size and (index.min() < 0 or index.max() >= n), "index")
    if padding_idx is not None:
        assert not padding_idx or -n <= padding_idx < n, "Padding_idx must be within num_embeddings"
        padding_idx += n * (padding_idx < 0)
    if max_norm is not None:  # rows that are looked up are shortened in place
        rows = np.unique(index)
        length = (np.abs(weight._array[rows]) ** norm_type).sum(1) ** (1 / norm_type)
        too_long = length > max_norm
        weight._array[rows[too_long]] *= (max_norm / (length[too_long] + 1e-7))[:, None].astype(weight._array.dtype)
        weight._changes[0] += 1

    def rule(g):
        for name in ("embedding_backward", f"embedding_{'sparse' if sparse else 'dense'}_backward"):
            note(f"aten::{name}")
        places, rows = index.reshape(-1), g._array.reshape(-1, shape[1])
        if sparse:
            has_gradient = places != (-1 if padding_idx is None else padding_idx)
            return SparseTensor(Tensor(places[has_gradient][None]), Tensor(rows[has_gradient]), shape)
        if scale_grad_by_freq:
            counts = np.bincount(places.astype(np.intp), minlength=n)
            rows = rows / counts[places, None].astype(rows.dtype)
        out = np.zeros(shape, g._array.dtype)
        add_rows(out, places, rows)
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
    per_sample_weights: factors of the rows. include_last_offset: offsets also have the end. padding_idx: an index whose
    rows do not count.
    """
    note("aten::embedding_bag")
    factors, n = per_sample_weights, len(weight)
    wrong = weight.dim() != 2 or input.dim() not in (1, 2) or factors is not None and factors.shape != input.shape
    refuse(wrong, "weight has to be 2D, input 1D or 2D, and per_sample_weights in the shape of input", kind=ValueError)
    refuse(mode not in ("sum", "mean", "max"), "mode has to be one of sum, mean or max", kind=ValueError)
    wrong = mode == "max" and (scale_grad_by_freq or sparse)
    refuse(wrong, "max mode does not support sparse weights", kind=ValueError)
    refuse(factors is not None and mode != "sum", "bag factors", mode)
    if input.dim() == 2:
        refuse(offsets is not None, "if input is 2D, then offsets has to be None", kind=ValueError)
        refuse(not input.size(1), "step must be nonzero")
        offsets = Tensor(np.arange(0, input.numel(), input.size(1)))
    found = " but got None" if offsets is None else ""
    refuse(offsets is None or offsets.dim() != 1, "offsets has to be a 1D Tensor{}", found, kind=ValueError)
    for indices in (input, offsets):
        check_indices("embedding_bag", indices)
    wrong = weight.dtype.kind != 2 or factors is not None and factors.dtype is not weight.dtype
    refuse(wrong, "embedding_bag needs weight and per_sample_weights of one floating-point type")
    refuse(padding_idx is not None and not -n <= padding_idx < n, "bag padding", -n, n - 1, padding_idx)

    indices, starts = input.reshape(-1), offsets._array
    factors = None if factors is None else factors.reshape(-1)
    if include_last_offset:
        starts, indices = starts[:-1], indices[: int(offsets[-1])]
    for offset in starts[:1]:
        refuse(offset != 0, "bag begin", offset)
        refuse(starts[-1] > indices.numel(), "bag end", indices.numel(), starts[-1])
    indices = indices if len(starts) else indices[:0]
    for place in np.flatnonzero((indices._array < 0) | (indices._array >= n))[:1]:
        raise error("bag index", place, indices._array[place], n)
    bag = np.searchsorted(starts, np.arange(indices.numel()), "right") - 1
    if padding_idx is not None:
        counted = Tensor(indices._array != padding_idx % n)
        indices, bag = indices[counted], bag[counted._array]
        factors = None if factors is None else factors[counted]
    rows = embedding(indices, weight, None, max_norm, norm_type, scale_grad_by_freq, sparse)
    if mode == "max":
        rows = cat([rows, rows.new_zeros(1, rows.size(1))])  # the last row is an empty bag's
        groups = [np.flatnonzero(bag == k) for k in range(len(starts))]
        found = rows._array.copy()  # as torch, which compares with the largest until then: only a first NaN stays
        found[np.isnan(found) & ~np.isin(np.arange(len(found)), starts)[:, None]] = -np.inf
        winners = [group[found[group].argmax(0)] if len(group) else np.full(rows.size(1), -1) for group in groups]
        return rename_node(rows.gather(0, Tensor(np.array(winners) % len(rows))), "EmbeddingBag")
    rows = rows if factors is None else rows * factors.unsqueeze(1)
    out = rows.new_zeros(len(starts), rows.size(1)).index_add(0, Tensor(bag), rows)
    if mode == "mean":
        counts = np.maximum(np.bincount(bag, minlength=len(starts)), 1)[:, None]
        out = out / Tensor(counts.astype(rows._array.dtype))
    return rename_node(out, "EmbeddingBag", input, offsets)


def one_hot(tensor: Tensor, num_classes=-1):
    """Return vectors with a one at each index, zeros elsewhere."""
    note("aten::one_hot")
    refuse(tensor.dtype is not dtypes.int64, "one_hot is only applicable to index tensor of type LongTensor.")
    index = tensor._array
    refuse(index.size and index.min() < 0, "Class values must be non-negative.")
    refuse(not index.size and num_classes <= 0, "Can not infer total number of classes from empty tensor.")
    count = int(index.max()) + 1 if num_classes == -1 else num_classes
    refuse(index.size and index.max() >= count, "class too large")
    return Tensor((index[..., None] == np.arange(count)).astype(np.int64, order="C"))


def normalize(input, p=2.0, dim=1, eps=1e-12):
    """Return x / ‖x‖ along an axis."""
    return input / input.norm(p, dim, True).clamp_min(eps).expand_as(input)


def cosine_similarity(x1, x2, dim=1, eps=1e-8):
    """Return x₁ · x₂ / ( ‖x₁‖ ‖x₂‖ ), with norms of at least eps, along an axis."""
    dtype = operands(x1, x2)[0].dtype
    refuse(dtype.kind != 2, "expected common dtype to be floating point, yet common dtype is {}", dtype.title)
    x1, x2 = broadcast_tensors(*(x.to(dtype) if x.dtype.kind < 2 else x for x in (x1, x2)))
    x1, x2 = (x / x.norm(2, dim, True).clamp_min(eps) for x in (x1, x2))
    return rename_node((x1 * x2).sum(dim), "Sum.1")


def check_norm_types(kernel, input, *parameters):
    """Raise torch's error unless all have the input's type, or float32 beside a float16 input."""
    types = [tensor.dtype for tensor in parameters if tensor is not None]
    if kernel == "batch_norm" or not types:
        check_fractions(kernel, input)
    if types and types[0] is not input.dtype:
        mixed = types[0] is not dtypes.float32 or input.dtype is not dtypes.float16
        refuse(mixed, "mixed dtype (CPU): all inputs must share same datatype.")
    for type_ in types[1:]:
        refuse(type_ is not types[0], "expected scalar type {} but found {}", types[0].title, type_.title)


def axes_to_normalize(name, input, shape, **parameters):
    """Return the last axes, whose lengths are the shape; raise torch's errors if the tensors do not fit."""
    refuse(not isinstance(shape, tuple | list), "norm shape type", name, type(shape).__name__)
    shape = list(shape)
    refuse(not shape, "norm without axes")
    for name, tensor in parameters.items():
        if tensor is not None:
            refuse(list(tensor.shape) != shape, "norm parameter", name, name, list(tensor.shape), shape)
    wrong = list(input.shape[-len(shape) :]) != shape
    refuse(wrong, "norm input", shape, ", ".join(map(str, shape)), list(input.shape))
    return tuple(range(-len(shape), 0))


def record_norm(name, x, squares, input, shape, weight, bias, eps):
    """Return x / √(squares + ε) · weight + bias, as torch's single operation. shape: that of weight and bias."""
    out = x * (squares + eps).rsqrt()
    out = out if weight is None else out * weight.reshape(shape)
    out = out if bias is None else out + bias.reshape(shape)
    return rename_node(out.to(input.dtype).contiguous(), name, input, weight)


def layer_norm(input: Tensor, normalized_shape, weight=None, bias=None, eps=1e-5):
    """Return (x − mean) / √(variance + ε) · weight + bias, over the last axes."""
    axes = axes_to_normalize("layer_norm", input, normalized_shape, weight=weight, bias=bias)
    check_norm_types("LayerNormKernelImpl", input, weight, bias)
    x = contiguous(input.float() if input.dtype.name == "float16" else input)
    x = x - x.mean(axes, True)
    return record_norm("NativeLayerNorm", x, (x * x).mean(axes, True), input, normalized_shape, weight, bias, eps)


def rms_norm(input, normalized_shape, weight=None, eps=None):
    """Return x / √(mean of x² + ε) · weight, over the last axes."""
    axes = axes_to_normalize("rms_norm", input, normalized_shape, weight=weight)
    eps = float(np.finfo(input._array.dtype).eps) if eps is None else eps
    squares = (input * input).mean(axes, True)
    return record_norm("FusedRmsNorm", input, squares, input, normalized_shape, weight, None, eps)


def batch_norm(input, running_mean, running_var, weight=None, bias=None, training=False, momentum=0.1, eps=1e-5):
    """Normalise each channel (axis 1), by the batch's mean and variance when training, else by the running ones."""
    channels, axes = input.size(1) if input.ndim > 1 else 0, tuple(i for i in range(input.ndim) if i != 1)
    shape = (1, channels) + (1,) * (input.ndim - 2)
    count = input.numel() // channels if channels else 0
    refuse(training and count == 1, "norm of one value", input.shape)
    running = {"running_mean": running_mean, "running_var": running_var}
    for name, tensor in (running | {"weight": weight, "bias": bias}).items():
        if tensor is not None:
            refuse(tensor.numel() != channels, "norm elements", name, channels, tensor.numel())
        refuse(tensor is None and name in running and not training, "{} must be defined in evaluation mode", name)
    check_norm_types("batch_norm", input, weight, bias, running_mean, running_var)
    x = contiguous(input.float() if input.dtype.name == "float16" else input)
    mean, var = x.mean(axes) if training else running_mean, running_var
    x = x - mean.reshape(shape)
    if training:
        var = (x * x).mean(axes)
        if running_mean is not None:
            for kept, new in ((running_mean, mean._array), (running_var, var._array * (count / max(count - 1, 1)))):
                kept._array[...] = (1 - momentum) * kept._array + momentum * new
                kept._changes[0] += 1
    return record_norm("NativeBatchNorm", x, var.reshape(shape), input, shape, weight, bias, eps)


def scaled_dot_product_attention(
    query, key, value, attn_mask=None, dropout_p=0.0, is_causal=False, scale=None, enable_gqa=False
):
    """Return softmax(Q Kᵀ / √d + mask) V."""
    note("aten::scaled_dot_product_attention")
    note("aten::_scaled_dot_product_attention_math")
    dims, types = [[getattr(x, name) for x in (query, key, value)] for name in ("ndim", "dtype")]
    refuse(min(dims) < 2, "attention axes", *dims)
    refuse(types[1:] != types[:-1], "attention types", *(dtype.c_name for dtype in types))
    refuse(types[0].kind < 2, "expected scalar type Float but found {}", types[0].title)
    is_bool = False
    if attn_mask is not None:
        refuse(is_causal, "mask of causal attention")
        is_bool, names = attn_mask.dtype is dtypes.bool_, (attn_mask.dtype.c_name, types[0].c_name)
        refuse(not is_bool and attn_mask.dtype not in (dtypes.float32, types[0]), "attention mask type", *names)
    if enable_gqa:
        key, value = (x.repeat_interleave(query.size(-3) // x.size(-3), -3) for x in (key, value))
    scale = 1 / math.sqrt(query._array.shape[-1]) if scale is None else scale
    scores = (query * scale) @ key.transpose(-2, -1)
    if is_causal:
        scores = scores + Tensor(np.triu(np.full(scores._array.shape[-2:], -math.inf, scores._array.dtype), 1))
    if attn_mask is not None:
        scores = scores.masked_fill(~attn_mask, -math.inf) if is_bool else scores + attn_mask
    weights = softmax(scores, -1)
    if is_bool:  # a query without any key gets zeros
        without_keys = ~np.broadcast_to(attn_mask._array, scores._array.shape).any(-1, keepdims=True)
        weights = weights.masked_fill(Tensor(without_keys), 0.0)
    return rename_node(dropout(weights, dropout_p) @ value, "UnsafeView")


for _name, _function in [*globals().items()]:
    if Tensor in getattr(_function, "__annotations__", {}).values() or hasattr(_function, "__signature__"):
        globals()[_name] = checked(_function, only_types=True)
