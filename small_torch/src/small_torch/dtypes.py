"""Types of numbers (dtypes) and their promotion, shapes and devices."""

import math
import operator

import numpy as np

from .absent import EXPLANATION
from .messages import refuse


class dtype:
    """A type of numbers, such as `torch.float32`. Each is one object, so that `is` compares."""

    def __init__(self, name, kind, title, c_name, array_type=None):
        self.name, self.title, self.c_name, self.np = name, title, c_name, np.dtype(array_type or name)
        self.kind = "bifc".index(kind)  # category: of two categories the later one wins
        self.is_floating_point, self.is_complex = kind == "f", kind == "c"
        self.is_signed = self.kind >= 2 or name.startswith("int")
        self.itemsize = self.np.itemsize

    def __repr__(self):
        return f"torch.{self.name}"

    def __reduce__(self):
        return find, (self.name,)

    def to_complex(self):
        return {"float64": complex128, "float32": complex64}.get(self.name, self)

    def to_real(self):
        return {"complex128": float64, "complex64": float32}.get(self.name, self)


# Name, category, and the names that torch's errors show
bool_ = dtype("bool", "b", "Bool", "bool")
uint8 = dtype("uint8", "i", "Byte", "unsigned char")
int8 = dtype("int8", "i", "Char", "signed char")
int16 = dtype("int16", "i", "Short", "short int")
int32 = dtype("int32", "i", "Int", "int", np.intc)
int64 = dtype("int64", "i", "Long", "long int")
float16 = dtype("float16", "f", "Half", "c10::Half")
float32 = dtype("float32", "f", "Float", "float")
float64 = dtype("float64", "f", "Double", "double")
complex64 = dtype("complex64", "c", "ComplexFloat", "c10::complex<float>")
complex128 = dtype("complex128", "c", "ComplexDouble", "c10::complex<double>")

ALL = [bool_, uint8, int8, int16, int32, int64, float16, float32, float64, complex64, complex128]
BY_PYTHON_TYPE = {bool: bool_, int: int64, float: float64, complex: complex128}
# numpy's default integer has 32 bits in browsers; torch's always has 64. torch's int32 is C's int.
NARROW = "l" if np.dtype("l").itemsize == 4 else ""
BY_NUMPY_TYPE = {dtype.np: dtype for dtype in ALL}
default = [float32]  # a list, so that modules that import it see changes by set_default_dtype


def find(name):
    return next(dtype_ for dtype_ in ALL if dtype_.name == name)


def parse_dtype(type_, function="to"):
    """Return the dtype for a dtype or Python's `int`, `float`, `bool` or `complex`; None stays None."""
    if type_ is None or type_ in ALL:
        return type_
    if type_ in (int, float, bool, complex):
        return BY_PYTHON_TYPE[type_]
    refuse(isinstance(type_, dtype), "A tensor of type {} {}", type_, EXPLANATION, kind=NotImplementedError)
    raise TypeError(f"{function}(): argument 'dtype' must be torch.dtype, not {type(type_).__name__}")


def parse_type(type_):
    """Return the dtype for what `Tensor.type` takes: also `torch.LongTensor`, or its name."""
    for dtype_ in ALL:
        if dtype_ in (type_, getattr(type_, "dtype", None)) or type_ == f"torch.{dtype_.title}Tensor":
            return dtype_
    raise ValueError(f"invalid type: {getattr(type_, '__name__', type_)!r}")


def from_array(array):
    """Return the dtype of a numpy array."""
    if array.dtype.kind == "u" and array.dtype not in BY_NUMPY_TYPE:
        raise NotImplementedError(f"A tensor of type torch.{array.dtype} {EXPLANATION}")
    refuse(array.dtype not in BY_NUMPY_TYPE, "type of array", array.dtype.type.__name__)
    return int64 if array.dtype.char in NARROW else BY_NUMPY_TYPE[array.dtype]


def from_number(number):
    """Return the dtype of a Python number: its category counts, not its size."""
    if isinstance(number, (bool, np.bool_)):
        return bool_
    if isinstance(number, (int, np.integer)):
        return int64
    return default[0].to_complex() if isinstance(number, complex) else default[0]


def promote(first, second):
    """Return the type that holds both: https://pytorch.org/docs/stable/tensor_attributes.html#type-promotion-doc."""
    if first.kind != second.kind and min(first.kind, second.kind) < 2:
        return first if first.kind > second.kind else second
    return BY_NUMPY_TYPE[np.promote_types(first.np, second.np)]


def cast_array(array, dtype):
    """Return an array in another type. Infinities and NaN become the smallest integer, without a warning."""
    if array.dtype.kind == "c" and dtype.kind in (1, 2):
        array = array.real
    with np.errstate(invalid="ignore", over="ignore"):
        return array.astype(dtype.np)


def set_default_dtype(d):
    is_float = isinstance(d, dtype) and d.is_floating_point
    refuse(not is_float, "only floating-point types are supported as the default type", kind=TypeError)
    default[0] = d


def get_default_dtype():
    return default[0]


class finfo:
    """The limits of a floating-point type."""

    def __init__(self, type=None):
        type = (type or default[0]).to_real()
        refuse(not type.is_floating_point, "finfo")
        limits = np.finfo(type.np)
        self.dtype, self.bits, self.resolution = type.name, limits.bits, 10.0**-limits.precision
        self.eps, self.max, self.min = float(limits.eps), float(limits.max), float(limits.min)
        self.tiny = self.smallest_normal = float(limits.tiny)

    def __repr__(self):
        names = "resolution", "min", "max", "eps", "smallest_normal", "tiny"
        return f"finfo({', '.join(f'{name}={getattr(self, name):g}' for name in names)}, dtype={self.dtype})"


class iinfo:
    """The limits of an integer type."""

    def __init__(self, type):
        refuse(type.kind > 1, "torch.iinfo() requires an integer input type", kind=TypeError)
        limits = np.iinfo(type.np if type.kind else np.uint8)
        self.dtype, self.bits, self.min, self.max = type.name, limits.bits, int(limits.min), int(limits.max)

    def __repr__(self):
        return f"iinfo(min={self.min}, max={self.max}, dtype={self.dtype})"


class Size(tuple):
    """A shape: a tuple of integers that prints as torch.Size."""

    __slots__ = ()

    def __new__(cls, lengths=()):
        return tuple.__new__(cls, map(operator.index, lengths))

    def numel(self):
        return math.prod(self)

    def __repr__(self):
        return f"torch.Size([{', '.join(map(str, self))}])"

    def __getitem__(self, index):
        part = tuple.__getitem__(self, index)
        return Size(part) if isinstance(index, slice) else part

    def __add__(self, other):
        return Size(tuple.__add__(self, tuple(other)))

    def __radd__(self, other):
        return Size(tuple.__add__(tuple(other), self))

    def __mul__(self, count):
        return Size(tuple.__mul__(self, count))

    __rmul__ = __mul__


DEVICES = (
    "cpu, cuda, ipu, xpu, mkldnn, opengl, opencl, ideep, hip, ve, fpga, maia, xla, lazy, vulkan, mps, meta, hpu, mtia,"
    " privateuseone"
)


class device:
    """The place of a tensor. Tensors can be on `cpu` and on `meta`, where they have a shape and no numbers."""

    def __init__(self, type="cpu", index=None):
        name, _, number = str(type).partition(":")
        if name not in DEVICES.split(", "):
            raise RuntimeError(f"Expected one of {DEVICES} device type at start of device string: {name}")
        self.type, self.index = name, int(number) if number else index

    def __str__(self):
        return self.type if self.index is None else f"{self.type}:{self.index}"

    def __repr__(self):
        return f"device(type={self.type!r}" + ("" if self.index is None else f", index={self.index}") + ")"

    def __eq__(self, other):
        return isinstance(other, device) and str(self) == str(other)

    def __hash__(self):
        return hash(str(self))


cpu, meta = device("cpu"), device("meta")


def parse_device(place):
    """Return the device of a tensor for a device or its name; None is the cpu."""
    if place is None or place is cpu:
        return cpu
    refuse(isinstance(place, int), "Cannot access accelerator device when none is available.")
    kind = (place if isinstance(place, device) else device(place)).type
    refuse(kind == "cuda", "Torch not compiled with CUDA enabled", kind=AssertionError)
    refuse(kind not in ("cpu", "meta"), "A tensor on the device {} {}", kind, EXPLANATION)
    return meta if kind == "meta" else cpu
