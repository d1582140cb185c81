"""Convert tensors to numbers and lists of Python, and to arrays of numpy."""

from .messages import warn_once


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
        if self._array.size != 1:
            raise RuntimeError(f"a Tensor with {self._array.size} elements cannot be converted to Scalar")
        return self._array.item()

    def _number(self, name):
        """Return the only number, for a conversion to a number of Python."""
        if self._array.size != 1:
            raise ValueError("only one element tensors can be converted to Python scalars")
        if name and self.is_complex():
            raise RuntimeError(f"value cannot be converted to type {name} without overflow")
        if name != "int64_t" and self.requires_grad:
            warn_once(
                "Converting a tensor with requires_grad=True to a scalar may lead to unexpected behavior.\n"
                "Consider using tensor.detach() first."
            )
        return self._array.item()

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
        if not self.ndim:
            raise TypeError("len() of a 0-d tensor")
        return self._array.shape[0]

    def __iter__(self):
        if not self.ndim:
            raise TypeError("iteration over a 0-d tensor")
        return iter(self.unbind(0))

    def __contains__(self, element):
        if not isinstance(element, (Conversions, int, float, complex)):
            raise RuntimeError(
                f"Tensor.__contains__ only supports Tensor or scalar, but you passed in a {type(element)}."
            )
        return bool((self == element).any())

    def __reversed__(self):
        return self.flip(0) if self.ndim else self
