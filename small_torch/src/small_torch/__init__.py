"""torch's interface on numpy: the part that recurrent networks need, small enough to read.

Begin with `tape` and `tensor`. The modules in `_OPERATIONS` contain the operations, each with its gradient rule; `nn`
and `optim` use them. No other module imports this one: here the operations become functions of the package and methods
of tensors. Numbers, types, shapes, messages and random numbers are torch's; tests compare each with the real torch. A
name that is missing raises an error that says so.
"""

import inspect as _inspect
import math as _math

import numpy as _np

from . import (
    arithmetic,
    autograd,
    comparing,
    creation,
    cumulative,
    dtypes,
    exponentials,
    func,
    gathering,
    in_place,
    indexing,
    joining,
    linalg,
    matrices,
    nn,
    optim,
    pointwise,
    reductions,
    shapes,
    sorting,
    tape,
    utils,
)  # fmt: skip
from .absent import absent, add_modules_without_effect, always
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
from .func import vmap  # noqa: F401
from .nn.recurrent import FUNCTIONS as _RECURRENT
from .operands import result_type  # noqa: F401
from .operators import add_operators
from .printing import set_printoptions  # noqa: F401
from .random import Generator, default_generator  # noqa: F401
from .serialization import load, save  # noqa: F401
from .sparse import sparse_coo_tensor  # noqa: F401
from .tape import enable_grad, inference_mode, is_grad_enabled, no_grad, set_grad_enabled  # noqa: F401
from .tensor import Tensor  # noqa: F401

__version__ = "2.13.0+small"  # the version of torch whose numbers and messages these are
bool, half, float, double, short, int, long = dtypes.bool_, float16, float32, float64, int16, int32, int64  # noqa: A001
cfloat, cdouble = complex64, complex128
bfloat16 = dtypes.dtype("bfloat16", "float32", "f", "BFloat16")  # only for comparisons; no tensor has this type
inf, nan, pi, e = _math.inf, _math.nan, _math.pi, _math.e
strided, contiguous_format, preserve_format = "torch.strided", "torch.contiguous_format", "torch.preserve_format"

# Each operation is a function of torch and a method of tensors.
_OPERATIONS = {
    arithmetic: """
        abs add addcmul angle conj div floor_divide imag lerp mul neg pow real reciprocal remainder rsub sgn sign
        square sub true_divide
    """,
    comparing: """
        allclose clamp clamp_max clamp_min clip eq equal ge gt isclose isfinite isinf isnan le logical_and
        logical_not logical_or logical_xor lt masked_fill maximum minimum ne where
    """,
    pointwise: """
        acos asin atan atan2 atanh ceil cos cosh erf exp exp2 expm1 floor log log10 log1p log2 nan_to_num relu round
        rsqrt sigmoid sin sinh sqrt tan tanh trunc
    """,
    reductions: """
        all amax amin aminmax any argmax argmin corrcoef count_nonzero cov max mean min nansum norm prod std sum var
    """,
    cumulative: "cummax cumprod cumsum diff",
    exponentials: "log_softmax logcumsumexp logsumexp softmax",
    sorting: "argsort bincount median mode quantile sort topk unique",
    shapes: """
        broadcast_tensors broadcast_to clone diag diag_embed diagonal flatten flip movedim numel permute ravel
        reshape roll squeeze swapaxes t tile transpose tril triu unflatten unsqueeze
    """,
    indexing: "index_put",
    gathering: """
        gather index_add index_copy index_fill index_select masked_select nonzero repeat_interleave scatter
        scatter_add
    """,
    joining: "cat chunk concat concatenate hstack narrow select split stack unbind vstack",
    matrices: "addmm bmm cdist cross dot einsum kron matmul mm mv outer pdist trace",
    linalg: "det inverse matrix_power",
}
_METHODS = "contiguous expand expand_as repeat unfold view view_as"
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
    abs acos add addcmul addmm asin atan atan2 atanh ceil clamp clamp_max clamp_min clip cos cosh cumprod cumsum div eq
    erf exp exp2 expm1 floor floor_divide ge gt index_add index_copy index_fill index_put le lerp log log10 log1p log2
    logical_and logical_not logical_or logical_xor lt masked_fill mul nan_to_num ne neg pow reciprocal relu remainder
    round rsqrt scatter scatter_add sgn sigmoid sign sin sinh sqrt square sub tan tanh tril triu true_divide trunc
"""


def _with_out(function):
    """Return the function with torch's argument `out`, a tensor that takes the result."""

    def call(*arguments, out=None, **options):
        try:
            result = function(*arguments, **options)
        except AttributeError as error:
            for position, argument in enumerate(arguments, 1):
                if isinstance(argument, (tuple, list, str)) or argument is None:
                    name = _inspect.unwrap(function).__code__.co_varnames[position - 1]
                    kind = type(argument).__name__
                    raise TypeError(
                        f"{function.__name__}(): argument {name!r} (position {position}) must be Tensor, not {kind}"
                    ) from error
            raise
        if out is None:
            return result
        if out.shape != result.shape:
            out._array = _np.empty_like(result._array)
        return out._assign(result)

    call.__name__, call.__doc__ = function.__name__, function.__doc__
    call.__wrapped__ = function
    return call


def _in_place(function):
    """Return the operation's variant that changes its first tensor in place."""
    is_logical = function.__name__.startswith("logical_")

    def change(self, *arguments, **options):
        if is_logical and tape.recording[0]:  # torch does not record these
            with tape.no_grad():
                return change(self, *arguments, **options)
        before = self
        given = [x for x in (self, *arguments, *options.values()) if isinstance(x, Tensor) and x.requires_grad]
        if tape.recording[0] and given:
            before = Tensor(self._array.copy())  # the backward pass needs its old numbers
            before._grad_fn, before._requires_grad, before._output = self.grad_fn, self._requires_grad, self._output
        return self._assign(function(before, *arguments, **options))

    change.__name__ = function.__name__ + "_"
    return change


for _module, _names in _OPERATIONS.items():
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
Tensor.where = lambda self, condition, other: comparing.where(condition, self, other)
Tensor.T = property(lambda self: self.permute(*range(self.ndim)[::-1]))
Tensor.mT = property(matrices.transpose_matrices)
Tensor.H = Tensor.mH = property(lambda self: self.transpose(-2, -1).conj())
Tensor.real, Tensor.imag = property(arithmetic.real), property(arithmetic.imag)
for _name, _dtype in dict(
    bool=bool, half=half, float=float, double=double, short=short, int=int, long=long, cfloat=cfloat, cdouble=cdouble
).items():
    setattr(Tensor, _name, lambda self, _dtype=_dtype: self.to(_dtype))
add_operators(_in_place)
Tensor.__module__ = "torch"
Tensor.__getitem__, Tensor.__setitem__ = indexing.getitem, in_place.setitem
Tensor._assign, Tensor._check_may_change, Tensor._take_graph = (
    in_place.assign,
    in_place.check_may_change,
    in_place.take_graph,
)
Tensor.backward = autograd.engine.tensor_backward

divide = div  # noqa: F821
multiply, subtract, greater, less = mul, sub, gt, lt  # noqa: F821
is_floating_point, is_complex = Tensor.is_floating_point, Tensor.is_complex


def _legacy_type(dtype):
    """Make `torch.LongTensor` and its relatives, which take sizes or a list."""
    return lambda *arguments: Tensor(*arguments).to(dtype)


FloatTensor, DoubleTensor, LongTensor, IntTensor, BoolTensor = map(_legacy_type, (float32, float64, int64, int32, bool))


def is_tensor(obj):
    return isinstance(obj, Tensor)


add_modules_without_effect(__name__)
get_autocast_dtype = always(bfloat16)
globals().update(_RECURRENT)
__getattr__ = absent("torch")
