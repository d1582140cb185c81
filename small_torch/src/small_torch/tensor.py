"""The tensor: a numpy array and the node of the tape that it came from.

Operations are in other files (`arithmetic`, `reductions`, `shapes`, `matrices`, …); `__init__` makes methods and
operators of them. Views share their numbers, as in numpy. `_changes` counts changes in place, for a tensor and all its
views together: so the backward pass notices when numbers that it needs were overwritten.
"""

import warnings
import weakref

import numpy as np

from . import dtypes
from .absent import no_method
from .dtypes import NARROW, Size, cast_array, cpu
from .memory import arrange
from .messages import refuse, warn_once
from .nested import legacy_array
from .printing import meta_text, tensor_text
from .tape import DetachedVersion, FixedVersion, Node, RemovableHandle, recording

NO_LEAF = (
    "The .grad attribute of a Tensor that is not a leaf Tensor is being accessed. Its .grad attribute won't be"
    " populated during autograd.backward(). If you indeed want the .grad field to be populated for a non-leaf Tensor,"
    " use .retain_grad() on the non-leaf Tensor. If you access the non-leaf Tensor by mistake, make sure you access the"
    " leaf Tensor instead. See github.com/pytorch/pytorch/pull/30531 for more information."
)


def axis(dim, ndim, wrap_scalar=True):
    """Return an axis counted from the front; raise IndexError if it does not exist.

    wrap_scalar: whether a tensor without axes counts as one with one axis.
    """
    if not ndim and not wrap_scalar:
        raise IndexError(f"Dimension specified as {dim} but tensor has no dimensions")
    size = max(ndim, 1)
    if not -size <= dim < size:
        raise IndexError(f"Dimension out of range (expected to be in range of [{-size}, {size - 1}], but got {dim})")
    return dim % size


class Tensor:
    """A multi-dimensional array of numbers of one type."""

    _requires_grad, _grad_fn, _output, _hooks, _base, _replay, _views = False, None, 0, None, None, None, None
    _end = None  # weak reference to the node that adds to the grad of a leaf
    _grad, retains_grad, device = None, False, cpu
    is_sparse, is_nested, is_quantized, is_cuda, layout = False, False, False, False, "torch.strided"
    __array_priority__ = 1000  # numpy's arrays leave operators to Tensor

    def __new__(cls, *arguments, **options):
        return object.__new__(cls)

    def __init__(self, array=(), *sizes):
        if type(array) is not np.ndarray:
            array = legacy_array(array, sizes)
        self._array = array.astype(np.int64) if array.dtype.char in NARROW else array
        self._changes = [0]

    __getattr__ = no_method  # Python calls it only for missing attributes

    # Type and shape

    dtype = property(lambda self: dtypes.BY_NUMPY_TYPE[self._array.dtype])
    ndim = property(lambda self: self._array.ndim)
    is_meta = property(lambda self: self.device.type == "meta")
    shape = property(lambda self: tuple.__new__(Size, self._array.shape))
    itemsize = property(lambda self: self._array.itemsize)
    nbytes = property(lambda self: self._array.nbytes)

    def dim(self):
        """Return the number of axes."""
        return self._array.ndim

    def size(self, dim=None):
        """Return the shape, or the length of one axis."""
        return self.shape if dim is None else self._array.shape[axis(dim, self.ndim, False)]

    def numel(self):
        return self._array.size

    nelement = numel

    def element_size(self):
        return self._array.itemsize

    def stride(self, dim=None):
        """Return, for each axis, the distance of neighbours in memory, in numbers."""
        shape, steps = self._array.shape, [step // self._array.itemsize for step in self._array.strides]
        for at in reversed(range(self.ndim)):
            if not self._array.size or shape[at] == 1 and steps[at] < 1:  # numpy's is 0; torch's fits the next axis
                steps[at] = max(shape[at + 1], 1) * steps[at + 1] if at + 1 < self.ndim else 1
        return tuple(steps) if dim is None else steps[axis(dim, self.ndim, False)]

    def data_ptr(self):
        return self._array.__array_interface__["data"][0] if self._array.size else 0

    def is_contiguous(self, memory_format=None):
        return self._array.flags.c_contiguous

    def is_floating_point(self):
        return self.dtype.kind == 2

    def is_complex(self):
        return self.dtype.kind == 3

    # Gradients

    is_leaf = property(lambda self: self.grad_fn is None)

    @property
    def _version(self):
        refuse(type(self._changes) is FixedVersion, "Inference tensors do not track version counter.")
        return self._changes[0]

    @property
    def grad(self):
        """The accumulated gradient of a leaf; None before the first one."""
        if self._grad is None and self.grad_fn is not None and not self.retains_grad:
            warnings.warn(NO_LEAF, stacklevel=2)
        return self._grad

    @grad.setter
    def grad(self, gradient):
        if gradient is not None:
            text = "assigned grad expected to be a Tensor or None but got grad of type {}"
            refuse(not isinstance(gradient, Tensor), text, type(gradient).__name__, kind=TypeError)
            refuse(gradient is self, "can't assign Variable as its own grad")
            refuse(gradient.dtype is not self.dtype, "grad type", gradient.dtype.c_name, self.dtype.title)
            refuse(gradient.shape != self.shape, "grad shape", list(gradient.shape), list(self.shape))
        self._grad = gradient

    @property
    def requires_grad(self):
        return self._requires_grad

    @requires_grad.setter
    def requires_grad(self, value):
        refuse(not isinstance(value, bool), "requires_grad must be a bool")
        refuse(self._grad_fn is not None and not value, "flag of no leaf")
        refuse(value and self.dtype.kind < 2, "only Tensors of floating point and complex dtype can require gradients")
        refuse(value and type(self._changes) is FixedVersion and recording[0] is not None, "inference gradient")
        self._requires_grad = value
        if value and self._views:
            self._share_requirement()

    def requires_grad_(self, requires_grad=True):
        text = "requires_grad_(): argument 'requires_grad' (position 1) must be bool, not {}"
        refuse(not isinstance(requires_grad, bool), text, type(requires_grad).__name__, kind=TypeError)
        refuse(requires_grad and self.dtype.kind < 2, "only Tensors of floating point dtype can require gradients")
        self.requires_grad = requires_grad
        return self

    @property
    def grad_fn(self):
        if self._base is not None and self._seen != self._changes[0]:
            self._refresh()
        return self._grad_fn

    def retain_grad(self):
        """Keep the gradient of a tensor that is not a leaf, too."""
        refuse(not self.requires_grad, "can't retain_grad on Tensor that has requires_grad=False")
        node = self.grad_fn
        if node is not None:
            node.retained = {**node.retained, self._output: weakref.ref(self)}
            self.retains_grad = True

    def register_hook(self, hook):
        """Call the hook with this tensor's gradient; if it returns a gradient, use that instead."""
        refuse(not self.requires_grad, "cannot register a hook on a tensor that doesn't require gradient")
        if self.grad_fn is not None:
            return RemovableHandle(self.grad_fn.hooks.setdefault(self._output, {}), hook)
        self._hooks = {} if self._hooks is None else self._hooks
        return RemovableHandle(self._hooks, hook)

    def detach(self):
        """Return a tensor of the same numbers without a graph."""
        out = self.data
        out._changes = self._changes
        return out

    def to_dense(self):
        """Return the tensor itself: only a SparseTensor leaves zeros out."""
        return self

    def detach_(self):
        refuse(self._base is not None, "detached view")
        if self._grad_fn is not None:
            self._changes = DetachedVersion([self._changes[0] + 1])
        self._grad_fn, self._requires_grad, self._output = None, False, 0
        return self

    @property
    def data(self):
        """The same numbers without a graph; changes of them are not counted by `_version`."""
        out = Tensor(self._array)
        out.device = self.device
        return out

    @data.setter
    def data(self, other):
        wrong = not isinstance(other, Tensor)
        refuse(wrong, "Variable data has to be a tensor, but got {}", type(other).__name__, kind=TypeError)
        refuse(self._requires_grad and other.dtype.kind < 2, "data of integers")
        self._array = other._array

    # Conversions

    def numpy(self, force=False):
        """Return the numbers as a numpy array that shares memory."""
        wrong = self.requires_grad and not force
        refuse(wrong, "Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead.")
        return self._array

    def __array__(self, dtype=None):
        array = self.numpy()
        return array if dtype is None else array.astype(dtype, copy=False)

    def tolist(self):
        return self._array.tolist()

    def item(self):
        """Return the only number as a Python number."""
        refuse(self._array.size != 1, "a Tensor with {} elements cannot be converted to Scalar", self._array.size)
        return self._array.item()

    def _number(self, name):
        """Return the only number, for a conversion to torch's type of this name; "" stands for complex."""
        refuse(self._array.size != 1, "only one element tensors can be converted to Python scalars", kind=ValueError)
        number = self._array.item()
        is_complex = name and isinstance(number, complex)
        refuse(is_complex and number.imag, "value cannot be converted to type {} without overflow", name)
        if name != "int64_t" and self.requires_grad:
            warn_once(
                "Converting a tensor with requires_grad=True to a scalar may lead to unexpected behavior.\n"
                "Consider using tensor.detach() first."
            )
        return number.real if is_complex else number

    def __bool__(self):
        values = "more than one value" if self._array.size else "no values"
        refuse(self._array.size != 1, "Boolean value of Tensor with {} is ambiguous", values)
        return bool(self._array.item())

    def __int__(self):
        return int(self._number("int64_t"))

    def __float__(self):
        return float(self._number("double"))

    def __complex__(self):
        return complex(self._number(""))

    def __index__(self):
        wrong = self._array.size != 1 or self.dtype.kind > 1
        refuse(wrong, "only integer tensors of a single element can be converted to an index", kind=TypeError)
        return int(self._array.item())

    def __len__(self):
        refuse(not self.ndim, "len() of a 0-d tensor", kind=TypeError)
        return self._array.shape[0]

    def __iter__(self):
        refuse(not self.ndim, "iteration over a 0-d tensor", kind=TypeError)
        return iter(self.unbind(0))

    def __contains__(self, element):
        refuse(not isinstance(element, (Tensor, int, float, complex)), "contained type", type(element))
        return bool((self == element).any())

    def __reversed__(self):
        return self.flip(0) if self.ndim else self

    # Text and copies

    def __hash__(self):
        return id(self)

    def __repr__(self, *, tensor_contents=None):
        if self.is_meta:
            return meta_text(tuple(self.shape), self.dtype, dtypes.default[0])
        try:
            node = self.grad_fn
            origin = node and node.name_of(self._output)
        except RuntimeError:  # a view whose base was changed, though it must not be
            origin = "Invalid"
        requires_grad = self._requires_grad and origin is None
        return tensor_text(self._array, self.dtype.name, dtypes.default[0].name, requires_grad, origin)

    def __format__(self, spec):
        return format(self.item(), spec) if not self.ndim else object.__format__(self, spec)

    def __deepcopy__(self, memo):
        refuse(self.grad_fn is not None, "copy of no leaf")
        out = object.__new__(type(self))
        memo[id(self)] = out
        Tensor.__init__(out, self._array.copy(order="K"))
        out._requires_grad, out.device = self._requires_grad, self.device
        out._changes = [int(type(self) is Tensor)]  # torch copies memory into an empty tensor
        if self.grad is not None:
            out.grad = self.grad.detach().clone()
        return out

    def __reduce_ex__(self, protocol):
        return rebuild_tensor, (type(self), self._array, self._requires_grad)

    # Type and device

    def to(self, *arguments, dtype=None, device=None, copy=False, non_blocking=False, memory_format=None):
        """Return the tensor in another type or on another device; itself if neither changes."""
        for argument in arguments:
            if isinstance(argument, (dtypes.dtype, type)):
                dtype = argument
            elif isinstance(argument, Tensor):
                dtype, device = argument.dtype, argument.device
            elif isinstance(argument, (str, int, dtypes.device)):
                device = argument
        dtype = dtypes.parse_dtype(dtype)
        target = self.device if device is None else dtypes.parse_device(device)
        out = self
        if dtype is not None and dtype is not self.dtype:
            before = self.dtype
            array = cast_array(self._array, dtype)
            array = arrange(array, self._array.strides) if 0 in self._array.strides and array.ndim > 1 else array
            out = record(array, "ToCopy", (self,), lambda g: g.to(before)) if dtype.kind > 1 else Tensor(array)
        elif copy:
            out = self.clone()
        if target != self.device:
            refuse(self.is_meta, "Cannot copy out of meta tensor; no data!", kind=NotImplementedError)
            out = out.detach() if out is self else out
            out.device = target
        return out

    def type(self, dtype=None):
        return f"torch.{self.dtype.title}Tensor" if dtype is None else self.to(dtypes.parse_type(dtype))

    def cpu(self):
        return self.to("cpu")

    def cuda(self, device=None):
        return self.to("cuda")


def rebuild_tensor(cls, array, requires_grad):
    """Return a tensor from its pickled parts."""
    out = object.__new__(cls)
    Tensor.__init__(out, array)
    out._requires_grad, out._changes = requires_grad, [1]  # torch copies memory into an empty tensor
    return out


def wrap(array, new=object.__new__):
    """Return numpy's array or number as a tensor: a faster `Tensor(array)`."""
    if type(array) is not np.ndarray:
        array = np.asarray(array)
    if NARROW and array.dtype.char in NARROW:
        array = array.astype(np.int64)
    out = new(Tensor)
    out._array, out._changes = array, [0]
    return out


def record(array, name, inputs, rule, saved=()):
    """Return an operation's result as a tensor, with a node if an input requires a gradient."""
    out = wrap(array)
    if recording[0]:
        for tensor in inputs:
            if tensor._requires_grad:
                if out.dtype.kind < 2 and tensor.dtype.kind < 2:  # only writing makes integers require a gradient
                    raise RuntimeError(f"Autograd not support dtype: {out.dtype.title}")
                out._grad_fn, out._requires_grad = Node(name, inputs, rule, saved), True
                break
    elif recording[0] is None:
        out._changes = FixedVersion([0])
    return out


def record_many(arrays, name, inputs, rule, saved=(), differentiable=None):
    """Record an operation with several results.

    Its rule takes a gradient for each result, zeros where there is none.
    """
    outs = [wrap(array) for array in arrays]
    if recording[0] and any(tensor._requires_grad for tensor in inputs):
        node = Node(name, inputs, rule, saved, len(outs))
        for number, out in enumerate(outs):
            if out.dtype.kind >= 2 and (differentiable is None or differentiable[number]):
                out._grad_fn, out._requires_grad, out._output = node, True, number
            node.shapes[number] = out._array.shape, out._array.dtype
    return outs
