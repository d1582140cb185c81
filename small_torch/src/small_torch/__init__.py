"""The torch of the pages: what of torch the chapters use, in numpy, small enough to be read.

Begin with `autograd`: the tape. `tensor` is what it records, `pointwise`, `reductions`, `shapes` and `matrices` are the
operations, each with its rule for gradients; `nn` and `optim` stand on them. Numbers, types, shapes, messages and
random numbers are torch's; tests hold each to the real one. What is not here says so.
"""

import inspect as _inspect
import math as _math

import numpy as _np

from . import autograd, creation, dtypes, linalg, matrices, pointwise, reductions, shapes
from .absent import absent, always, idle_modules
from .autograd import enable_grad, inference_mode, is_grad_enabled, no_grad, set_grad_enabled  # noqa: F401
from .creation import default_generator  # noqa: F401
from .dtypes import (  # noqa: F401
    Size,
    complex64,
    complex128,
    device,
    dtype,
    finfo,
    float16,
    float32,
    float64,
    get_default_dtype,
    int8,
    int16,
    int32,
    int64,
    set_default_dtype,
    uint8,
)  # fmt: skip
from .printing import set_printoptions  # noqa: F401
from .random import Generator  # noqa: F401
from .tensor import Tensor, result_type  # noqa: F401

__version__ = "2.13.0+small"  # whose numbers and messages these are
bool, half, float, double, short, int, long = dtypes.bool_, float16, float32, float64, int16, int32, int64  # noqa: A001
cfloat, cdouble = complex64, complex128
bfloat16 = dtypes.dtype("bfloat16", "float32", "f", "BFloat16")  # a name to compare with; no tensor is of this type
inf, nan, pi, e = _math.inf, _math.nan, _math.pi, _math.e
strided, contiguous_format, preserve_format = "torch.strided", "torch.contiguous_format", "torch.preserve_format"

# Operations on tensors are functions of torch and methods of tensors, the same ones.
_POINTWISE = """
    abs acos add addcmul allclose angle asin atan atan2 atanh ceil clamp clamp_max clamp_min clip
    conj cos cosh div eq equal erf exp exp2 expm1 floor floor_divide ge gt imag isclose isfinite isinf isnan le lerp
    log log10 log1p log2 logical_and logical_not logical_or logical_xor lt masked_fill maximum minimum mul nan_to_num ne neg
    pow real reciprocal relu remainder round rsqrt rsub sgn sigmoid sign sin sinh sqrt square sub tan tanh trunc where
"""  # noqa: E501
_REDUCTIONS = """
    all amax amin aminmax any argmax argmin argsort bincount corrcoef count_nonzero cov cummax cumprod cumsum diff
    log_softmax logcumsumexp logsumexp max mean median min mode nansum norm prod quantile softmax sort std
    sum topk unique var
"""
_SHAPES = """
    broadcast_tensors broadcast_to cat chunk clone concat concatenate diag diag_embed
    diagonal flatten flip gather hstack index_add index_copy index_fill index_put index_select masked_select
    movedim narrow nonzero numel permute ravel repeat_interleave reshape roll scatter scatter_add
    select split squeeze stack swapaxes t tile transpose tril triu unbind unflatten unsqueeze vstack
"""
_METHODS = "contiguous expand expand_as repeat unfold view view_as"
_MATRICES = """
    addmm bmm cdist cross dot einsum kron matmul mm mv outer pdist trace
"""
_LINALG = "det inverse matrix_power"
_CREATION = """
    arange as_tensor asarray bernoulli complex empty empty_like eye from_numpy full full_like get_rng_state initial_seed linspace
    manual_seed multinomial normal ones ones_like rand rand_like randint randn randn_like randperm
    set_rng_state tensor zeros zeros_like
"""  # noqa: E501
_NEW = """
    bernoulli_ copy_ fill_ fill_diagonal_ new_empty new_full new_ones new_tensor new_zeros normal_ random_
    uniform_ zero_
"""
_IN_PLACE = """
    abs add addcmul addmm ceil clamp clamp_max clamp_min clip cos cumsum div exp expm1 floor index_add index_copy index_fill index_put
    lerp log log1p logical_and logical_not logical_or logical_xor masked_fill mul neg pow reciprocal relu
    remainder round rsqrt scatter scatter_add sigmoid sign sin sqrt square sub tanh tril triu trunc
"""  # noqa: E501


def _with_out(function):
    """The function, which puts its result into `out`, if that is given."""

    def call(*arguments, out=None, **options):
        try:
            result = function(*arguments, **options)
        except AttributeError as error:
            for place, one in enumerate(arguments, 1):
                if isinstance(one, (tuple, list, str)) or one is None:
                    name = _inspect.unwrap(function).__code__.co_varnames[place - 1]
                    kind = type(one).__name__
                    raise TypeError(
                        f"{function.__name__}(): argument {name!r} (position {place}) must be Tensor, not {kind}"
                    ) from error
            raise
        if out is None:
            return result
        if out.shape != result.shape:
            out._array = _np.empty_like(result._array)
        return out._become(result)

    call.__name__, call.__doc__ = function.__name__, function.__doc__
    call.__wrapped__ = function
    return call


def _in_place(function):
    def change(self, *arguments, **options):
        before = self
        if autograd.recording[0] and self.grad_fn is not None:  # what the way back needs of it is as it was before
            before = Tensor(self._array.copy())
            before._grad_fn, before._requires_grad, before._output = self.grad_fn, True, self._output
        return self._become(function(before, *arguments, **options))

    change.__name__ = function.__name__ + "_"
    return change


for _module, _names in (
    (pointwise, _POINTWISE),
    (reductions, _REDUCTIONS),
    (shapes, _SHAPES),
    (matrices, _MATRICES),
    (linalg, _LINALG),
):
    for _name in _names.split():
        _function = getattr(_module, _name)
        globals()[_name] = _with_out(_function)
        setattr(Tensor, _name, _function)
for _name in _METHODS.split():
    setattr(Tensor, _name, getattr(shapes, _name))
for _name in _CREATION.split():
    globals()[_name] = getattr(creation, _name)
for _name in _NEW.split():
    setattr(Tensor, _name, getattr(creation, _name))
for _name in _IN_PLACE.split():
    setattr(Tensor, _name + "_", _in_place(getattr(Tensor, _name)))

Tensor.bernoulli, Tensor.multinomial = creation.bernoulli, creation.multinomial
Tensor.where = lambda self, condition, other: pointwise.where(condition, self, other)
Tensor.T = property(lambda self: self.permute(*range(self.ndim)[::-1]))
Tensor.mT = property(matrices.transposed)
Tensor.H = Tensor.mH = property(lambda self: self.transpose(-2, -1).conj())
Tensor.real, Tensor.imag = property(pointwise.real), property(pointwise.imag)
for _name, _dtype in dict(
    bool=bool, half=half, float=float, double=double, short=short, int=int, long=long, cfloat=cfloat, cdouble=cdouble
).items():
    setattr(Tensor, _name, lambda self, _dtype=_dtype: self.to(_dtype))
for _name in "add sub mul floordiv:floor_divide truediv:div mod:remainder pow matmul eq ne lt le gt ge".split():
    _operator, _, _name = _name.partition(":")
    setattr(Tensor, f"__{_operator}__", getattr(Tensor, _name or _operator))
    if _operator not in ("eq", "ne", "lt", "le", "gt", "ge"):
        _swapped = lambda self, other, _f=getattr(Tensor, _name or _operator): _f(other, self)  # noqa: E731
        setattr(Tensor, f"__r{_operator}__", _swapped)
        setattr(Tensor, f"__i{_operator}__", _in_place(getattr(Tensor, _name or _operator)))
Tensor.__module__ = "torch"
Tensor.__rsub__ = pointwise.rsub
# Python repeats lists and texts by itself
Tensor.__rmul__ = lambda self, other: (
    NotImplemented if isinstance(other, (str, list, tuple)) else pointwise.mul(other, self)
)
Tensor.__rtruediv__ = lambda self, other: pointwise.reciprocal(self) * other  # as torch rounds it
Tensor.__neg__, Tensor.__abs__ = pointwise.neg, pointwise.abs

true_divide = divide = div  # noqa: F821
multiply, subtract, greater, less = mul, sub, gt, lt  # noqa: F821
is_floating_point, is_complex = Tensor.is_floating_point, Tensor.is_complex


def _made_of(dtype):
    """`torch.LongTensor` and the like: of sizes or of a list."""
    return lambda *given: Tensor(*given).to(dtype)


FloatTensor, DoubleTensor, LongTensor, IntTensor, BoolTensor = map(_made_of, (float32, float64, int64, int32, bool))


def is_tensor(obj):
    return isinstance(obj, Tensor)


from . import func, nn, optim, utils  # noqa: E402, F401
from .func import vmap  # noqa: E402, F401
from .nn.recurrent import FUNCTIONS as _RECURRENT  # noqa: E402
from .serialization import load, save  # noqa: E402, F401
from .sparse import sparse_coo_tensor  # noqa: E402, F401

idle_modules(__name__)
get_autocast_dtype = always(bfloat16)
globals().update(_RECURRENT)
__getattr__ = absent("torch")
