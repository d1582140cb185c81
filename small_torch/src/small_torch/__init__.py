"""torch's interface on numpy: the part that recurrent networks need, small enough to read.

Begin with `tape` and `tensor`. The modules in `_OPERATIONS` contain the operations, each with its gradient rule; `nn`
and `optim` use them. No other module imports this one: here the operations become functions of the package and methods
of tensors. Numbers, types, shapes, messages and random numbers are torch's; tests compare each with the real torch. A
name that is missing raises an error that says so.
"""

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
    memory,
    nn,
    optim,
    pointwise,
    rearranging,
    reductions,
    shapes,
    signatures,
    sorting,
    tape,
    utils,
    views,
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
        square sub
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
        broadcast_tensors broadcast_to diagonal flatten movedim numel permute ravel reshape squeeze swapaxes t
        transpose unflatten unsqueeze
    """,
    rearranging: "clone diag diag_embed flip roll tile tril triu",
    indexing: "index_put",
    gathering: """
        gather index_add index_copy index_fill index_select masked_select nonzero repeat_interleave scatter
        scatter_add
    """,
    joining: "cat chunk concat concatenate hstack narrow select split stack unbind vstack",
    matrices: "addmm bmm cdist cross dot einsum kron matmul mm mv outer pdist trace",
    linalg: "det inverse matrix_power",
}
_METHODS = {shapes: "expand expand_as unfold view view_as", rearranging: "contiguous repeat"}
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
    """Return the function with torch's argument `out`, a tensor that takes the result."""

    def call(*arguments, out=None, **options):
        if out is None:
            return function(*arguments, **options)
        for argument in arguments:
            if isinstance(argument, Tensor) and argument._version is out._version:
                memory.check_memory(out._array, argument._array, whole=function.__name__ == "cat")
        result = function(*arguments, **options)
        if out.shape != result.shape:
            out._array = _np.empty_like(result._array)
        return out._assign(result)

    call.__name__, call.__doc__ = function.__name__, function.__doc__
    call.__wrapped__ = function
    return call


def _in_place(function):
    """Return the operation's variant that changes its first tensor in place."""

    name = function.__name__
    fills, strict = name.endswith("_fill"), name in ("index_add", "index_copy", "scatter", "scatter_add")
    may_repeat = fills or name == "index_put"

    def change(self, *arguments, **options):
        if self._base is not None or self._requires_grad:
            views.check_may_change(self)
        if memory.overlaps_itself(self._array):
            return views.change_windows(change, self, arguments, options)
        before = self
        if tape.recording[0] and self.grad_fn is not None:  # the backward pass needs its old numbers
            before = Tensor(self._array.copy())
            before._grad_fn, before._requires_grad, before._output = self.grad_fn, True, self._output
        values = (*arguments, *options.values())
        shared = [x._array for x in values if isinstance(x, Tensor) and x._version is self._version]
        if fills:  # a number is read before
            shared = [array for array in shared if array.ndim]
        if shared and not strict:
            memory.check_memory(self._array, *shared, whole=may_repeat, may_repeat=may_repeat)
        new = function(before, *arguments, **options)
        if shared:
            memory.check_memory(self._array, *shared, whole=strict or may_repeat, may_repeat=may_repeat)
        return self._assign(new, may_repeat=may_repeat)

    change.__name__ = function.__name__ + "_"
    return change


for _module, _names in _OPERATIONS.items():
    for _name in _names.split():
        _function = getattr(_module, _name)
        globals()[_name] = signatures.checked(_with_out(getattr(_function, "strict", _function)), False)
        setattr(Tensor, _name, signatures.checked(_function, True) if _function.__annotations__ else _function)
for _module, _names in _METHODS.items():
    for _name in _names.split():
        setattr(Tensor, _name, signatures.checked(getattr(_module, _name), True))
for _name in _CREATION.split():
    globals()[_name] = getattr(creation, _name)
for _name in _NEW.split():
    setattr(Tensor, _name, getattr(creation, _name))
for _name in _IN_PLACE.split():
    setattr(Tensor, _name + "_", _in_place(getattr(Tensor, _name)))

Tensor.bernoulli, Tensor.multinomial = creation.bernoulli, creation.multinomial
Tensor.where = lambda self, condition, other: comparing.where(condition, self, other)
Tensor.T = property(lambda self: self.permute(tuple(range(self.ndim))[::-1]))
Tensor.mT = property(matrices.transpose_matrices)
Tensor.H, Tensor.mH = (property(shapes.adjoint(name)) for name in ("H", "mH"))
Tensor.real, Tensor.imag = property(arithmetic.real), property(arithmetic.imag)
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
Tensor.__rsub__ = arithmetic.rsub
# `tensor * list` and `tensor * str` are Python's repetition
Tensor.__rmul__ = lambda self, other: (
    NotImplemented if isinstance(other, (str, list, tuple)) else arithmetic.mul(other, self)
)
Tensor.__rtruediv__ = lambda self, other: arithmetic.reciprocal(self) * other  # as torch rounds it
Tensor.__neg__, Tensor.__abs__, Tensor.__invert__ = arithmetic.neg, arithmetic.abs, comparing.bitwise_not
for _name in "and", "or", "xor":
    for _side in "", "r":
        setattr(Tensor, f"__{_side}{_name}__", getattr(comparing, f"bitwise_{_name}"))
Tensor.__getitem__, Tensor.__setitem__ = indexing.getitem, in_place.setitem
Tensor._assign, Tensor._check_may_change, Tensor._take_graph = in_place.assign, views.check_may_change, views.take_graph
Tensor._refresh, Tensor._share_requirement = views.refresh, views.share_requirement
Tensor.backward = autograd.engine.tensor_backward

true_divide = divide = div  # noqa: F821
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
