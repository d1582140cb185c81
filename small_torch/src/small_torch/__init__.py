"""torch's interface on numpy: the part that recurrent networks need, small enough to read.

Begin with `tape` and `tensor`. The modules in `_OPERATIONS` contain the operations, each with its gradient rule; `nn`
and `optim` use them. No other module imports this one: here the operations become functions of the package and methods
of tensors. Numbers, types, shapes, messages and random numbers are torch's; tests compare each with the real torch. A
name that is missing raises an error that says so.
"""

import inspect as _inspect
import math as _math
from importlib import import_module as _load

from . import autograd, creation, dtypes, linalg, nn, optim, random, shapes, tape, utils, views
from .absent import EXPLANATION, add_modules_without_effect, refuse_missing_names
from .arguments import checked
from .arithmetic import imag, real
from .comparing import where
from .dtypes import Size, device, dtype, finfo, get_default_dtype, iinfo, set_default_dtype
from .func import vmap
from .in_place import assign, clone_graph, give_to, setitem
from .indexing import getitem
from .matrices import tensordot, transpose_matrices
from .memory import check_memory, has_repeats, overlaps_itself
from .messages import refuse
from .nn.parameter import type_name
from .nn.recurrent import FUNCTIONS
from .operands import result_type
from .operators import add_operators
from .printing import set_printoptions
from .random import Generator, default_generator
from .serialization import load, save
from .sparse import SparseTensor, sparse_coo_tensor
from .tape import enable_grad, inference_mode, is_grad_enabled, no_grad, set_grad_enabled
from .tensor import Tensor

__version__ = "2.13.0+small"  # the version of torch whose numbers and messages these are
bfloat16 = dtype("bfloat16", "f", "BFloat16", "c10::BFloat16", "float32")  # only for comparisons
inf, nan, pi, e = _math.inf, _math.nan, _math.pi, _math.e

_OTHER_NAMES = {"half": "float16", "float": "float32", "double": "float64", "short": "int16", "int": "int32"}
_OTHER_NAMES |= {"long": "int64", "cfloat": "complex64", "cdouble": "complex128"}


class layout(str):
    """The kind of a tensor's memory."""

    __repr__ = str.__str__


class memory_format(layout):
    """The order of numbers in memory."""


strided, sparse_coo = layout("torch.strided"), layout("torch.sparse_coo")
contiguous_format, preserve_format = memory_format("torch.contiguous_format"), memory_format("torch.preserve_format")
Tensor.layout, SparseTensor.layout = strided, sparse_coo

# Each operation is a function of torch and a method of tensors.
_OPERATIONS = {
    "arithmetic": """
        abs add addcmul angle conj div floor_divide imag lerp mul neg pow real reciprocal remainder rsub sgn sign
        square sub true_divide
    """,
    "comparing": """
        allclose clamp clamp_max clamp_min clip eq equal ge gt isclose isfinite isinf isnan le logical_and
        logical_not logical_or logical_xor lt masked_fill maximum minimum ne where
    """,
    "pointwise": """
        acos asin atan atan2 atanh ceil cos cosh erf exp exp2 expm1 floor log log10 log1p log2 nan_to_num relu round
        rsqrt sigmoid sin sinh sqrt tan tanh trunc
    """,
    "reductions": """
        all amax amin aminmax any argmax argmin corrcoef count_nonzero cov max mean min nansum norm prod std sum var
    """,
    "cumulative": "cummax cumprod cumsum diff",
    "exponentials": "log_softmax logcumsumexp logsumexp softmax",
    "sorting": "argsort bincount median mode quantile sort topk unique",
    "shapes": """
        broadcast_tensors broadcast_to diagonal flatten movedim numel permute reshape squeeze swapaxes t
        transpose unflatten unsqueeze
    """,
    "rearranging": "clone diag diag_embed flip ravel roll tile tril triu",
    "indexing": "index_put",
    "gathering": """
        gather index_add index_copy index_fill index_select masked_select nonzero repeat_interleave scatter
        scatter_add
    """,
    "joining": "cat chunk concat concatenate hstack narrow select split stack unbind vstack",
    "einsum": "einsum",
    "matrices": "addmm baddbmm bmm cdist cross dot kron matmul mm mv outer pdist trace",
    "linalg": "det inverse matrix_power",
}
_METHODS = {"shapes": "expand expand_as unfold view view_as", "rearranging": "contiguous repeat"}
_CREATION = {
    "creation": """
        arange as_tensor asarray empty empty_like eye from_numpy full full_like linspace logspace ones ones_like tensor
        tril_indices triu_indices zeros zeros_like
    """,
    "drawing": """
        bernoulli get_rng_state initial_seed manual_seed multinomial normal rand rand_like randint randint_like randn
        randn_like randperm seed set_rng_state
    """,
}
_NEW = {
    "creation": "copy_ fill_ fill_diagonal_ new_empty new_full new_ones new_tensor new_zeros zero_",
    "drawing": "bernoulli bernoulli_ exponential_ multinomial normal_ random_ uniform_",
}
_IN_PLACE = """
    abs acos add addcmul addmm asin atan atan2 atanh ceil clamp clamp_max clamp_min clip cos cosh cumprod cumsum div eq
    erf exp exp2 expm1 floor floor_divide ge gt index_add index_copy index_fill index_put le lerp log log10 log1p log2
    logical_and logical_not logical_or logical_xor lt masked_fill mul nan_to_num ne neg pow reciprocal relu remainder
    round rsqrt scatter scatter_add sgn sigmoid sign sin sinh sqrt square sub tan tanh tril triu true_divide trunc
"""


def _with_out(operation):
    """Return the operation with torch's argument `out`, a tensor that takes the result, and with torch's errors."""

    def fill(out, arguments, options):
        for argument in arguments:
            if isinstance(argument, Tensor) and argument._changes is out._changes:
                check_memory(out._array, argument._array, whole=operation.__name__ == "cat")
        return give_to(out, operation(*arguments, **options), operation.__name__)

    return checked(operation, fill=fill)


def _in_place(function):
    """Return the operation's variant that changes its first tensor in place."""
    name = function.__name__
    is_logical = name.startswith("logical_")
    fills, strict = name.endswith("_fill"), name in ("index_add", "scatter", "scatter_add")
    may_repeat = fills or name in ("index_put", "tril", "triu")
    whole = name in ("index_copy", "index_fill", "index_put")

    def change(self, *arguments, **options):
        if is_logical and tape.recording[0]:  # torch does not record these
            with tape.no_grad():
                return change(self, *arguments, **options)
        if self._base is not None or self._requires_grad:
            views.check_may_change(self)
        if not self._array.flags.c_contiguous and overlaps_itself(self._array):
            return views.change_windows(change, self, arguments, options)
        if name == "index_put" and has_repeats(self._array):
            adds = options.get("accumulate") or arguments[2:3] == (True,)
            refuse(adds, "{} an expanded tensor in place {}", "index_put with accumulate on", EXPLANATION)
        before, has_graph, shared = self, self._requires_grad, []
        for x in (*arguments, *options.values()) if options else arguments:
            if isinstance(x, Tensor):
                has_graph |= x._requires_grad
                if x._changes is self._changes and (x._array.ndim or not fills):  # a number to fill with is read before
                    shared.append(x._array)
        if has_graph and tape.recording[0]:
            before = clone_graph(self, self._array.copy())  # the backward pass needs its old numbers
        if shared and not strict:
            check_memory(self._array, *shared, whole=whole, may_repeat=may_repeat)
        if name in ("cumsum", "cumprod"):
            options.setdefault("dtype", self.dtype)
        new = function(before, *arguments, **options)
        if shared:
            check_memory(self._array, *shared, whole=strict or whole, may_repeat=may_repeat)
        return self._assign(new, may_repeat=may_repeat)

    change.__name__, change.__doc__, change.__wrapped__ = f"{name}_", function.__doc__, function
    return change


def _find(table):
    """Yield the names in a table, and the function of each."""
    for module, names in table.items():
        for name in names.split():
            yield name, getattr(_load(f".{module}", __name__), name)


for _name, _function in _find(_OPERATIONS):
    _inspect.unwrap(_function).__annotations__.setdefault("input", Tensor)
    globals()[_name] = _with_out(getattr(_function, "strict", _function))
for _name, _function in [*_find(_OPERATIONS), *_find(_METHODS), *_find(_NEW)]:
    setattr(Tensor, _name, checked(_function, True))
for _name, _function in _find(_CREATION):
    globals()[_name] = checked(_function)
    if "state" in _name or "seed" in _name:
        setattr(random, _name, _function)
for _name in "squeeze", "t", "transpose", "unsqueeze":
    setattr(Tensor, f"{_name}_", checked(views.change_shape(getattr(shapes, _name)), True))
for _name in _IN_PLACE.split():
    setattr(Tensor, _name + "_", checked(_in_place(getattr(Tensor, _name).__wrapped__), True))

Tensor.where = lambda self, condition, other: where(condition, self, other)
Tensor.T, Tensor.mT = property(shapes.reverse_axes), property(transpose_matrices)
Tensor.H, Tensor.mH = (property(shapes.adjoint(name)) for name in ("H", "mH"))
Tensor.real, Tensor.imag = property(real), property(imag)
for _dtype in dtypes.ALL:
    globals()[_dtype.name] = _dtype
for _name, _other in {"bool": "bool", **_OTHER_NAMES}.items():
    globals()[_name] = _dtype = dtypes.find(_other)
    setattr(Tensor, _name, lambda self, _dtype=_dtype: self.to(_dtype))
for _class in (*Tensor.__bases__, Tensor):  # Python's errors name methods as torch's do
    for _name, _function in vars(_class).items():
        if _inspect.isfunction(_function):
            _function.__qualname__ = _name
add_operators(_in_place)
Tensor.__module__ = "torch"
Tensor.__getitem__, Tensor.__setitem__ = getitem, setitem
Tensor._assign, Tensor._check_may_change, Tensor._take_graph = assign, views.check_may_change, views.take_graph
Tensor._refresh, Tensor._share_requirement = views.refresh, views.share_requirement
Tensor.backward = autograd.engine.tensor_backward

divide, multiply, subtract, greater, less = div, mul, sub, gt, lt  # noqa: F821


class _LegacyType(type):
    """Type of `torch.LongTensor` and its relatives, which make tensors of one dtype and are their type."""

    def __new__(cls, dtype):
        return super().__new__(cls, f"{dtype.title}Tensor", (), {"__module__": "torch", "dtype": dtype})

    def __init__(cls, dtype):
        pass

    def __call__(cls, *arguments):
        if arguments and isinstance(arguments[0], Tensor) and arguments[0].dtype is not cls.dtype:
            raise TypeError(f"expected a tensor of type {cls.dtype} (got {arguments[0].dtype})")
        return Tensor(*arguments).to(cls.dtype)

    def __instancecheck__(cls, obj):
        return isinstance(obj, Tensor) and obj.dtype is cls.dtype


globals().update({f"{_dtype.title}Tensor": _LegacyType(_dtype) for _dtype in dtypes.ALL if _dtype.kind < 3})


def is_tensor(obj):
    return isinstance(obj, Tensor)


@checked
def is_floating_point(input: Tensor):
    return input.is_floating_point()


@checked
def is_complex(input: Tensor):
    return input.is_complex()


def get_autocast_dtype(device_type):
    return bfloat16


def typename(obj, /):
    """Return the name of an object's type, with torch's module of an optimizer."""
    kind = obj if isinstance(obj, type) else type(obj)
    if kind.__module__ == optim.__name__:
        return f"torch.optim.{kind.__name__.lower()}.{kind.__name__}"
    return type_name(obj).replace(__name__, "torch")


add_modules_without_effect(__name__)
globals().update(FUNCTIONS)
promote_types = dtypes.promote
svd = Tensor.svd = linalg.legacy_svd
complex = creation.complex_
refuse_missing_names(__name__)
