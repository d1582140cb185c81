"""Types of numbers (dtypes) and their promotion, shapes and devices."""

import math
import operator

import numpy as np

from .absent import EXPLANATION
from .messages import error, refuse


class dtype:
    """A type of numbers, such as `torch.float32`. Each is one object, so that `is` compares."""

    def __init__(self, name, array_type, kind, title):
        self.name, self.np, self.title = name, np.dtype(array_type), title
        self.kind = "bifc".index(kind)  # category: of two categories the later one wins
        self.is_floating_point, self.is_complex = kind == "f", kind == "c"
        self.itemsize = self.np.itemsize

    def __repr__(self):
        return f"torch.{self.name}"

    @property
    def c_name(self):
        """Name of the type in C, which some of torch's messages show."""
        return {
            "bool": "bool", "uint8": "unsigned char", "int8": "signed char", "int16": "short int", "int32": "int",
            "int64": "long int", "float32": "float", "float64": "double", "complex64": "c10::complex<float>",
            "complex128": "c10::complex<double>",
        }.get(self.name, "c10::" + self.title)  # fmt: skip

    def __reduce__(self):
        return find, (self.name,)

    @property
    def is_signed(self):
        return self.kind >= 2 or self.name.startswith("int")

    def to_complex(self):
        return {"float64": complex128, "float32": complex64}.get(self.name, self)

    def to_real(self):
        return {"complex128": float64, "complex64": float32}.get(self.name, self)


bool_ = dtype("bool", "bool", "b", "Bool")
uint8 = dtype("uint8", "uint8", "i", "Byte")
int8 = dtype("int8", "int8", "i", "Char")
int16 = dtype("int16", "int16", "i", "Short")
int32 = dtype("int32", np.intc, "i", "Int")
int64 = dtype("int64", "int64", "i", "Long")
float16 = dtype("float16", "float16", "f", "Half")
float32 = dtype("float32", "float32", "f", "Float")
float64 = dtype("float64", "float64", "f", "Double")
complex64 = dtype("complex64", "complex64", "c", "ComplexFloat")
complex128 = dtype("complex128", "complex128", "c", "ComplexDouble")

ALL = [bool_, uint8, int8, int16, int32, int64, float16, float32, float64, complex64, complex128]
BY_PYTHON_TYPE = {bool: bool_, int: int64, float: float64, complex: complex128}
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
    if isinstance(type_, str):
        for dtype_ in ALL:
            if type_ == f"torch.{dtype_.title}Tensor":
                return dtype_
    dtype_ = getattr(type_, "dtype", type_)
    if not isinstance(dtype_, dtype):
        raise ValueError(f"invalid type: {getattr(type_, '__name__', type_)!r}")
    return dtype_


def from_array(array):
    """Return the dtype of a numpy array."""
    try:
        return BY_NUMPY_TYPE[array.dtype]
    except KeyError:
        if array.dtype.kind == "u":
            raise NotImplementedError(f"A tensor of type torch.{array.dtype} {EXPLANATION}") from None
        raise error("type of array", array.dtype.type.__name__) from None


def from_number(number):
    """Return the dtype of a Python number: its category counts, not its size."""
    if isinstance(number, (bool, np.bool_)):
        return bool_
    if isinstance(number, (int, np.integer)):
        return int64
    return default[0].to_complex() if isinstance(number, complex) else default[0]


def promote(first, second):
    """Return the type that holds both: https://pytorch.org/docs/stable/tensor_attributes.html#type-promotion-doc."""
    return (
        first
        if first is second
        else BY_NUMPY_TYPE[np.promote_types(first.np, second.np)]
        if first.kind == second.kind
        else (
            max(first, second, key=lambda dtype: dtype.kind)
            if 3 not in (first.kind, second.kind)
            else _complex(first, second)
        )
    )


def _complex(first, second):
    other, complex_ = sorted((first, second), key=lambda dtype: dtype.kind)
    return complex128 if other is float64 else complex_


def cast_array(array, dtype):
    """Return an array in another type. Infinities and NaN become the smallest integer, without a warning."""
    if dtype.kind < 2 and array.dtype.kind in "fc":
        with np.errstate(invalid="ignore"):
            return array.astype(dtype.np)
    if array.dtype.kind == "c" and dtype.kind < 3:
        return array.real.astype(dtype.np)
    with np.errstate(over="ignore"):
        return array.astype(dtype.np)


def set_default_dtype(d):
    if not isinstance(d, dtype):
        raise TypeError("invalid dtype object: only floating-point types are supported as the default type")
    refuse(not d.is_floating_point, "only floating-point types are supported as the default type", kind=TypeError)
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
        if type.kind > 1:
            raise TypeError(f"torch.iinfo() requires an integer input type. Use torch.finfo to handle '{type.name}'")
        limits = np.iinfo(type.np if type.kind else np.uint8)
        self.dtype, self.bits, self.min, self.max = type.name, limits.bits, int(limits.min), int(limits.max)

    def __repr__(self):
        return f"iinfo(min={self.min}, max={self.max}, dtype={self.dtype})"


class Size(tuple):
    """A shape: a tuple of integers that prints as torch.Size."""

    __slots__ = ()

    def __new__(cls, lengths=()):
        size = tuple.__new__(cls, lengths)
        for place, length in enumerate(size):
            if type(length) is not int:
                refuse(not hasattr(length, "__index__"), "item of size", place, type(length).__name__)
                return tuple.__new__(cls, map(operator.index, size))
        return size

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


DEVICES = """
    cpu, cuda, ipu, xpu, mkldnn, opengl, opencl, ideep, hip, ve, fpga, maia, xla, lazy, vulkan, mps, meta, hpu, mtia,
    privateuseone
""".split()


class device:
    """The place of a tensor. Tensors can be on `cpu` and on `meta`, where they have a shape and no numbers."""

    def __init__(self, type="cpu", index=None):
        name, _, number = str(type).partition(":")
        if name + "," not in DEVICES and name != DEVICES[-1]:
            if not name.isidentifier() or any(digit in name for digit in "0123456789"):
                raise RuntimeError(f"Invalid device string: {name!r}")
            raise RuntimeError(f"Expected one of {' '.join(DEVICES)} device type at start of device string: {name}")
        self.type, self.index = name, int(number) if number else index

    def __str__(self):
        return self.type if self.index is None else f"{self.type}:{self.index}"

    def __repr__(self):
        return f"device(type={self.type!r}" + ("" if self.index is None else f", index={self.index}") + ")"

    def __eq__(self, other):
        return isinstance(other, device) and (self.type, self.index) == (other.type, other.index)

    def __hash__(self):
        return hash((self.type, self.index))


cpu, meta = device("cpu"), device("meta")


def parse_device(place):
    """Return the device of a tensor for a device or its name; None is the cpu."""
    if place is None or place is cpu:
        return cpu
    refuse(isinstance(place, int), "Cannot access accelerator device when none is available.")
    kind = (place if isinstance(place, device) else device(place)).type
    if kind == "cuda":
        raise AssertionError("Torch not compiled with CUDA enabled")
    refuse(kind not in ("cpu", "meta"), "A tensor on the device {} {}", kind, EXPLANATION)
    return meta if kind == "meta" else cpu
