"""Convert tensors to numbers and lists of Python, and to arrays of numpy."""

from .messages import refuse, warn_once


class Conversions:
    """Conversions of a tensor, which inherits them."""

    def numpy(self, force=False):
        """Return the numbers as a numpy array that shares memory."""
        if self.requires_grad and not force:
            raise RuntimeError("Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead.")
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
        """Return the only number, for a conversion to a number of Python."""
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
        if self._array.size != 1:
            raise RuntimeError(
                "Boolean value of Tensor with no values is ambiguous"
                if not self._array.size
                else "Boolean value of Tensor with more than one value is ambiguous"
            )
        return bool(self._array.item())

    def __int__(self):
        return int(self._number("int64_t"))

    def __float__(self):
        return float(self._number("double"))

    def __complex__(self):
        return complex(self._number(""))

    def __index__(self):
        if self._array.size != 1 or self.dtype.kind > 1:
            raise TypeError("only integer tensors of a single element can be converted to an index")
        return int(self._array.item())

    def __len__(self):
        refuse(not self.ndim, "len() of a 0-d tensor", kind=TypeError)
        return self._array.shape[0]

    def __iter__(self):
        refuse(not self.ndim, "iteration over a 0-d tensor", kind=TypeError)
        return iter(self.unbind(0))

    def __contains__(self, element):
        refuse(not isinstance(element, (Conversions, int, float, complex)), "contained type", type(element))
        return bool((self == element).any())

    def __reversed__(self):
        return self.flip(0) if self.ndim else self
