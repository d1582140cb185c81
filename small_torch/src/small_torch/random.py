"""torch's random numbers: the same numbers from the same seed.

All come from one sequence of 32-bit words, the Mersenne Twister's (Matsumoto & Nishimura 1998), which numpy has as
well. This file converts them as torch does: how many bits a number takes, and in which order.
"""

import contextlib
import math
import pickle

import numpy as np

MASKS = {
    np.dtype("float32"): 24,
    np.dtype("float64"): 53,
}  # random bits of a uniform number: as many as the type's precision


class Generator:
    """A source of random numbers. All methods that draw return numpy arrays."""

    def __init__(self, device="cpu"):
        self.manual_seed(67280421310721)  # torch's default seed

    def manual_seed(self, seed):
        """Restart the sequence from a seed; return the generator."""
        if not -(2**63) <= seed < 2**64:
            raise RuntimeError("Overflow when unpacking long")
        self.first = seed % 2**64
        self.bits = np.random.RandomState(seed % 2**32)
        self.next_normal = None  # normal numbers are drawn in pairs: the second of a pair
        return self

    def initial_seed(self):
        return self.first

    def get_state(self):
        return np.frombuffer(pickle.dumps((self.first, self.bits.get_state(), self.next_normal)), np.uint8).copy()

    def set_state(self, state):
        self.first, bits, self.next_normal = pickle.loads(bytes(np.asarray(state)))
        self.bits.set_state(bits)

    def words(self, count):
        """Draw unsigned 32-bit integers."""
        return self.bits.randint(0, 2**32, count, dtype=np.uint64)

    def double_words(self, count):
        """Draw unsigned 64-bit integers, the upper half first."""
        words = self.words(2 * count)
        return words[0::2] << np.uint64(32) | words[1::2]

    def unit(self, count, dtype):
        """Draw uniform numbers in [0, 1): a flat array."""
        dtype = np.dtype(dtype)
        if dtype == np.float64:
            return (self.double_words(count) & np.uint64(2**53 - 1)).astype(np.float64) / 2**53
        bits = MASKS.get(dtype, 11)
        return ((self.words(count) & np.uint64(2**bits - 1)).astype(np.float64) / 2**bits).astype(dtype)

    def rand(self, shape, dtype):
        return self.unit(math.prod(shape), dtype).reshape(shape)

    def uniform(self, shape, low, high, dtype):
        """Draw uniform numbers in [low, high)."""
        if low > high:
            raise RuntimeError(f"uniform_ expects to return a [from, to) range, but found from={low:g} > to={high:g}")
        kind = np.dtype(dtype).type
        return multiply_add(self.rand(shape, dtype), kind(kind(high) - kind(low)), kind(low))

    def randn(self, shape, dtype):
        return self.normal(shape, 0.0, 1.0, dtype)

    def normal(self, shape, mean, std, dtype):
        """Draw normal numbers, in pairs from pairs of uniform ones (Box & Muller 1958).

        Fewer than 16 are drawn one by one, as doubles.
        """
        if std < 0:
            raise RuntimeError(f"normal expects std >= 0.0, but found std {std:g}")
        count, kind = math.prod(shape), np.dtype(dtype).type
        if count < 16:
            return np.array([self.one_normal() * std + mean for _ in range(count)], dtype).reshape(shape)
        numbers = self.unit(count, dtype)
        whole = count // 16 * 16
        numbers[:whole] = self.box_muller(numbers[:whole])
        if whole < count:  # torch draws the last 16 again as a full block
            numbers[-16:] = self.box_muller(self.unit(16, dtype))
        return multiply_add(numbers, kind(std), kind(mean)).reshape(shape)

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
        first, second = self.unit(2, np.float64)
        radius = math.sqrt(-2 * math.log1p(-second))
        self.next_normal = radius * math.sin(2 * math.pi * first)
        return radius * math.cos(2 * math.pi * first)

    def randint(self, low, high, shape):
        """Draw integers in [low, high)."""
        if low >= high:
            raise RuntimeError(f"random_ expects 'from' to be less than 'to', but got from={low} >= to={high}")
        count, size = math.prod(shape), high - low
        words = self.words(count) if size < 2**28 else self.double_words(count)
        return ((words % np.uint64(size)).astype(np.int64) + low).reshape(shape)

    def randperm(self, n):
        """Return the numbers below n, shuffled (Fisher & Yates)."""
        order = list(range(n))
        for i, word in enumerate(self.words(max(n - 1, 0)).tolist()):
            j = i + word % (n - i)
            order[i], order[j] = order[j], order[i]
        return np.array(order, np.int64)

    def bernoulli(self, p, shape=None):
        """Draw 1 with probability p, 0 otherwise. p: a number, or an array, which then sets the shape.

        torch draws doubles if p is a number, and numbers of its type if p is a tensor. (With MKL torch uses another
        source for the first case, and its numbers differ.)
        """
        if np.ndim(p) == 0 and shape is not None:
            if not 0 <= p <= 1:
                raise RuntimeError(f"bernoulli_ expects p to be in [0, 1], but got p={p:g}")
            return self.rand(shape, np.float64) < p
        p = np.broadcast_to(p, p.shape if shape is None else shape)
        return self.rand(p.shape, p.dtype) < p

    def exponential(self, shape, dtype):
        return (-np.log1p(-self.rand(shape, np.float64))).astype(dtype)

    def multinomial(self, weights, num_samples, replacement=False):
        """Draw indices in proportion to the weights of each row: (…, num_samples)."""
        if not replacement or num_samples == 1:
            # Of exponential numbers, each divided by its weight, number i is the smallest with probability ∝ weight i.
            with np.errstate(divide="ignore", invalid="ignore"):
                times = weights / self.exponential(weights.shape, weights.dtype)
            return np.argsort(-times, -1, kind="stable")[..., :num_samples]
        rows = weights.reshape(-1, weights.shape[-1])
        indices = np.empty((len(rows), num_samples), np.int64)
        for row, out in zip(rows, indices):
            cumulative = np.cumsum(row, dtype=row.dtype)
            cumulative /= cumulative[-1]
            cumulative[-1] = 1
            out[:] = np.searchsorted(cumulative, self.unit(num_samples, np.float64).astype(row.dtype), "left")
        return indices.reshape(weights.shape[:-1] + (num_samples,))


default_generator = Generator()


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
    """Return x · factor + term, rounded once, as fused multiply-add instructions do."""
    if x.dtype != np.float64:
        return (x.astype(np.float64) * float(factor) + float(term)).astype(x.dtype)
    product = x * factor
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
