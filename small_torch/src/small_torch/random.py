"""torch's random numbers: the same numbers from the same seed.

All come from one sequence of 32-bit words, the Mersenne Twister's (Matsumoto & Nishimura 1998), which numpy has as
well. This file converts them as torch does: how many bits a number takes, and in which order.
"""

import contextlib
import math
import pickle
import secrets
from types import SimpleNamespace

import numpy as np

from . import dtypes
from .messages import refuse
from .tensor import Tensor

HALF, COMPLEX = np.dtype("float16"), {np.dtype("complex64"): np.float32, np.dtype("complex128"): np.float64}


class Generator:
    """A source of random numbers. Methods that draw return numpy arrays."""

    def __init__(self, device="cpu"):
        self.device = dtypes.parse_device(device)
        self.manual_seed(67280421310721)  # torch's default seed

    def manual_seed(self, seed):
        """Restart the sequence from a seed; return the generator."""
        refuse(not -(2**63) <= seed < 2**64, "Overflow when unpacking long long", kind=ValueError)
        self.first = seed % 2**64
        self.bits = np.random.RandomState(seed % 2**32)
        self.next_normal = None  # normal numbers are drawn in pairs: the second of a pair
        return self

    def seed(self):
        """Restart the sequence from a seed that nobody can know; return the seed."""
        self.manual_seed(secrets.randbits(53))
        return self.first

    def initial_seed(self):
        return self.first

    def get_state(self):
        state = pickle.dumps((self.first, self.bits.get_state(), self.next_normal))
        return Tensor(np.frombuffer(state, np.uint8).copy())

    def set_state(self, new_state: Tensor):
        self.first, bits, self.next_normal = pickle.loads(bytes(new_state._array))
        self.bits.set_state(bits)

    def words(self, count):
        """Draw unsigned 32-bit integers."""
        refuse(forbidden[0], "vmap of random")
        return self.bits.randint(0, 2**32, count, dtype=np.uint64)

    def double_words(self, count):
        """Draw unsigned 64-bit integers, the upper half first."""
        words = self.words(2 * count)
        return words[0::2] << np.uint64(32) | words[1::2]

    def unit(self, count, dtype):
        """Draw uniform numbers in [0, 1), with as many random bits as the type is precise: a flat array."""
        if dtype == np.float64:
            return (self.double_words(count) & np.uint64(2**53 - 1)).astype(np.float64) / 2**53
        return ((self.words(count) & np.uint64(2**24 - 1)).astype(np.float32) / np.float32(2**24)).astype(dtype)

    def uniform(self, shape, low=0.0, high=1.0, *, dtype):
        """Draw uniform numbers in [low, high)."""
        dtype = np.dtype(dtype)
        if dtype.kind not in "fc":
            raise not_implemented("check_uniform_bounds", dtype)
        if dtype in COMPLEX:
            return as_complex(self.uniform((*shape, 2), low, high, dtype=COMPLEX[dtype]))
        for bound in (low, high):
            refuse(not abs(bound) <= np.finfo(dtype).max, "uniform_: {} is out of bounds for {}", bound, dtype)
        refuse(low > high, "uniform_ expects to return a [from, to) range, but found from={:g} > to={:g}", low, high)
        if dtype == HALF:
            return self.uniform(shape, low, high, dtype=np.float32).astype(HALF)
        kind, numbers = dtype.type, self.unit(math.prod(shape), dtype)
        if low == 0 and high == 1:
            return numbers.reshape(shape)
        return multiply_add(numbers, kind(kind(high) - kind(low)), kind(low)).reshape(shape)

    def normal(self, shape, mean=0.0, std=1.0, *, dtype, contiguous=True):
        """Draw normal numbers, in pairs from pairs of uniform ones (Box & Muller 1958).

        Fewer than 16, or those for a tensor that is not contiguous, are drawn one by one, as doubles.
        """
        dtype = np.dtype(dtype)
        refuse(not std >= 0, "normal expects std >= 0.0, but found std {:g}", std)
        if 0 in shape:
            return np.zeros(shape, dtype)
        if dtype in COMPLEX:
            return as_complex(self.normal((*shape, 2), mean, std / 2**0.5, dtype=COMPLEX[dtype], contiguous=contiguous))
        if dtype.kind != "f":
            raise not_implemented("normal_kernel_cpu", dtype)
        count = math.prod(shape)
        if count < 16 or not contiguous:
            return np.array([self.one_normal() * std + mean for _ in range(count)], dtype).reshape(shape)
        whole, wide = count // 16 * 16, np.dtype(np.float32) if dtype == HALF else dtype
        numbers, kind = np.empty(count, wide), wide.type
        numbers[:whole] = self.box_muller(self.unit(whole, wide))
        if whole < count:  # torch draws the last 16 again as a full block
            if dtype != HALF:
                self.unit(count - whole, wide)
            numbers[-16:] = self.box_muller(self.unit(16, wide))
        return multiply_add(numbers, kind(std), kind(mean)).astype(dtype).reshape(shape)

    @staticmethod
    def box_muller(uniform):
        """Transform blocks of 16 uniform numbers: the first eight give the radius, the others the angle."""
        first, second = np.moveaxis(uniform.reshape(-1, 2, 8), 1, 0)
        kind = uniform.dtype.type
        radius, angle = np.sqrt(kind(-2) * np.log(1 - first)), kind(2 * math.pi) * second
        return np.stack([radius * np.cos(angle), radius * np.sin(angle)], 1).reshape(-1)

    def one_normal(self):
        """Draw one normal number; keep the second one of its pair."""
        if self.next_normal is not None:
            number, self.next_normal = self.next_normal, None
            return number
        first, second = self.unit(2, np.dtype(np.float64))
        radius = math.sqrt(-2 * math.log1p(-second))
        self.next_normal = radius * math.sin(2 * math.pi * first)
        return radius * math.cos(2 * math.pi * first)

    def randint(self, shape, low, high, dtype):
        """Draw integers in [low, high)."""
        refuse(low >= high, "random_ expects 'from' to be less than 'to', but got from={} >= to={}", low, high)
        type_, size = dtypes.BY_NUMPY_TYPE[np.dtype(dtype)], high - low
        refuse(type_.kind == 3, "check_random_bounds handles only integral, floating-point and boolean types")
        limits = np.finfo(dtype) if type_.kind > 1 else np.iinfo(dtype) if type_.kind else SimpleNamespace(min=0, max=1)
        for name, number in (("from", low), ("to - 1", high - 1)):
            wrong = not float(limits.min) <= number <= float(limits.max)
            refuse(wrong, "{} is out of bounds for {}", name, type_.c_name)
        return self.below(size, shape, size >= 2**28, low).astype(dtype)

    def full_range(self, shape, dtype):
        """Draw whole numbers from 0 to the largest one that the type holds exactly."""
        if dtype.kind == "c":
            raise not_implemented("random_kernel_cpu", dtype)
        if dtype.kind == "f":
            size = 2 ** (np.finfo(dtype).nmant + 1) + 1
        else:
            size = 2 if dtype.kind == "b" else np.iinfo(dtype).max + 1
        return self.below(size, shape, dtype.itemsize == 8).astype(dtype)

    def below(self, size, shape, double, low=0):
        """Draw integers in [low, low + size), from 64 random bits each (double) or from 32."""
        count = math.prod(shape)
        words = self.double_words(count) if double else self.words(count)
        return ((words % np.uint64(size)).astype(np.int64) + low).reshape(shape)

    def randperm(self, n):
        """Return the numbers below n, shuffled (Fisher & Yates)."""
        order = list(range(n))
        for i, word in enumerate(self.words(max(n - 1, 0)).tolist()):
            j = i + word % (n - i)
            order[i], order[j] = order[j], order[i]
        return np.array(order, np.int64)

    def bernoulli(self, shape, p):
        """Draw 1 with probability p, 0 otherwise. p: a number, or an array of the same shape.

        torch draws doubles if p is a number, and numbers of its type if p is a tensor. (With MKL torch uses another
        source for the first case, and its numbers differ.)
        """
        return self.uniform(shape, dtype=getattr(p, "dtype", np.float64)) < p

    def exponential(self, shape, rate=1.0, *, dtype):
        """Draw numbers with density rate · exp(−rate x)."""
        return (-np.log1p(-self.uniform(shape, dtype=np.float64)) / rate).astype(dtype)

    def choose(self, rows, count):
        """Draw indices in proportion to the weights of each row, with replacement: (rows, count)."""
        indices = np.empty((len(rows), count), np.int64)
        for row, out in zip(rows, indices):
            cumulative = np.cumsum(row, dtype=row.dtype)
            cumulative /= cumulative[-1]
            cumulative[-1] = 1
            out[:] = np.searchsorted(cumulative, self.unit(count, np.dtype(np.float64)).astype(row.dtype), "left")
        return indices


def not_implemented(operation, dtype):
    """Return torch's error for an operation on numbers of this type."""
    return NotImplementedError(f'"{operation}" not implemented for {dtypes.BY_NUMPY_TYPE[dtype].title!r}')


def as_complex(pairs):
    """Return pairs of numbers as complex numbers."""
    return pairs.view(np.result_type(pairs, np.complex64))[..., 0]


default_generator = Generator()
forbidden = [False]  # whether drawing is an error


@contextlib.contextmanager
def drawing_in_rows(randomness):
    """Allow random numbers within `vmap`, or not. Yields a function to be called at the begin of each row."""
    before, forbidden[0], state = forbidden[0], randomness == "error", default_generator.get_state()
    try:
        yield lambda: default_generator.set_state(state) if randomness == "same" else None
    finally:
        forbidden[0] = before


@contextlib.contextmanager
def fork_rng(devices=(), enabled=True):
    """Restore the state of the random numbers at the end of a `with`."""
    before = default_generator.get_state()
    try:
        yield
    finally:
        if enabled:
            default_generator.set_state(before)


def multiply_add(x, factor, term):
    """Return x · factor + term, rounded once, as fused multiply-add instructions do. x: floats, or integers."""
    kind = np.result_type(x, factor) if x.dtype.kind == "f" else factor.dtype
    if kind != np.float64:
        return (x.astype(np.float64) * factor + term).astype(kind)
    x, product = x.astype(kind, copy=False), x * factor
    (a, a_rest), (b, b_rest) = halves(x), halves(factor)
    lost = ((a * b - product) + a * b_rest + a_rest * b) + a_rest * b_rest  # rounding error of the product
    total = product + term
    other = total - product
    return total + ((product - (total - other)) + (term - other) + lost)


def halves(x):
    """Split x into two numbers with half the digits each, whose sum is x (Dekker 1971)."""
    upper = x * 134217729.0
    upper = upper - (upper - x)
    return upper, x - upper
