"""Random numbers: torch's, from the same seed the same.

All come from one sequence of 32 bits, the Mersenne Twister's (Matsumoto & Nishimura 1998), which numpy has as well.
What torch makes of it is written out here: how many bits a number takes, and in which order.
"""

import contextlib
import math
import pickle

import numpy as np

MASKS = {
    np.dtype("float32"): 24,
    np.dtype("float64"): 53,
}  # bits of a uniform number: as many as the type can tell apart


class Generator:
    """A source of random numbers. All methods that draw return numpy arrays."""

    def __init__(self, device="cpu"):
        self.manual_seed(67280421310721)  # torch's, when nobody has said one

    def manual_seed(self, seed):
        """Begin anew; returns the generator."""
        if not -(2**63) <= seed < 2**64:
            raise RuntimeError("Overflow when unpacking long")
        self.first = seed % 2**64
        self.bits = np.random.RandomState(seed % 2**32)
        self.kept = None  # normal numbers come in pairs: the second one waits here
        return self

    def initial_seed(self):
        return self.first

    def get_state(self):
        return np.frombuffer(pickle.dumps((self.first, self.bits.get_state(), self.kept)), np.uint8).copy()

    def set_state(self, state):
        self.first, bits, self.kept = pickle.loads(bytes(np.asarray(state)))
        self.bits.set_state(bits)

    def words(self, count):
        """32 bits each."""
        return self.bits.randint(0, 2**32, count, dtype=np.uint64)

    def double_words(self, count):
        """64 bits each, the upper half first."""
        words = self.words(2 * count)
        return words[0::2] << np.uint64(32) | words[1::2]

    def unit(self, count, dtype):
        """Uniform in [0, 1), a flat array."""
        dtype = np.dtype(dtype)
        if dtype == np.float64:
            return (self.double_words(count) & np.uint64(2**53 - 1)).astype(np.float64) / 2**53
        bits = MASKS.get(dtype, 11)
        return ((self.words(count) & np.uint64(2**bits - 1)).astype(np.float64) / 2**bits).astype(dtype)

    def rand(self, shape, dtype):
        return self.unit(math.prod(shape), dtype).reshape(shape)

    def uniform(self, shape, low, high, dtype):
        """Uniform in [low, high)."""
        if low > high:
            raise RuntimeError(f"uniform_ expects to return a [from, to) range, but found from={low:g} > to={high:g}")
        kind = np.dtype(dtype).type
        return multiply_add(self.rand(shape, dtype), kind(kind(high) - kind(low)), kind(low))

    def randn(self, shape, dtype):
        return self.normal(shape, 0.0, 1.0, dtype)

    def normal(self, shape, mean, std, dtype):
        """Normal numbers, two from two uniform ones (Box & Muller 1958). Fewer than 16 are drawn one by one, as
        doubles."""
        if std < 0:
            raise RuntimeError(f"normal expects std >= 0.0, but found std {std:g}")
        count, kind = math.prod(shape), np.dtype(dtype).type
        if count < 16:
            return np.array([self.one_normal() * std + mean for _ in range(count)], dtype).reshape(shape)
        found = self.unit(count, dtype)
        whole = count // 16 * 16
        found[:whole] = self.box_muller(found[:whole])
        if whole < count:  # the last 16 once more, so that they are whole
            found[-16:] = self.box_muller(self.unit(16, dtype))
        return multiply_add(found, kind(std), kind(mean)).reshape(shape)

    @staticmethod
    def box_muller(uniform):
        """In blocks of 16: the first eight give the radius, the others the angle."""
        first, second = np.moveaxis(uniform.reshape(-1, 2, 8), 1, 0)
        kind = uniform.dtype.type
        radius, angle = np.sqrt(kind(-2) * np.log(1 - first)), kind(2 * math.pi) * second
        return np.stack([radius * np.cos(angle), radius * np.sin(angle)], 1).reshape(-1)

    def one_normal(self):
        if self.kept is not None:
            found, self.kept = self.kept, None
            return found
        first, second = self.unit(2, np.float64)
        radius = math.sqrt(-2 * math.log1p(-second))
        self.kept = radius * math.sin(2 * math.pi * first)
        return radius * math.cos(2 * math.pi * first)

    def randint(self, low, high, shape):
        """Whole numbers in [low, high)."""
        if low >= high:
            raise RuntimeError(f"random_ expects 'from' to be less than 'to', but got from={low} >= to={high}")
        count, many = math.prod(shape), high - low
        words = self.words(count) if many < 2**28 else self.double_words(count)
        return ((words % np.uint64(many)).astype(np.int64) + low).reshape(shape)

    def randperm(self, n):
        """The numbers below n, shuffled (Fisher & Yates)."""
        order = list(range(n))
        for i, word in enumerate(self.words(max(n - 1, 0)).tolist()):
            j = i + word % (n - i)
            order[i], order[j] = order[j], order[i]
        return np.array(order, np.int64)

    def bernoulli(self, p, shape=None):
        """1 with probability p, 0 otherwise. p: a number, or an array, which then says the shape.

        For numbers torch draws doubles, for a tensor's own probabilities numbers of its type. (On a processor of
        Intel's it takes another source for the first, and its numbers are others.)
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
        """Indices drawn in proportion to the weights of each row: (…, num_samples)."""
        if not replacement or num_samples == 1:
            # The smallest of exponential numbers, each divided by its weight, is number i in proportion to weight i.
            with np.errstate(divide="ignore", invalid="ignore"):
                race = weights / self.exponential(weights.shape, weights.dtype)
            return np.argsort(-race, -1, kind="stable")[..., :num_samples]
        rows = weights.reshape(-1, weights.shape[-1])
        found = np.empty((len(rows), num_samples), np.int64)
        for row, out in zip(rows, found):
            up_to = np.cumsum(row, dtype=row.dtype)
            up_to /= up_to[-1]
            up_to[-1] = 1
            out[:] = np.searchsorted(up_to, self.unit(num_samples, np.float64).astype(row.dtype), "left")
        return found.reshape(weights.shape[:-1] + (num_samples,))


default_generator = Generator()


@contextlib.contextmanager
def fork_rng(devices=(), enabled=True):
    """Inside, random numbers may be drawn at will: afterwards all goes on as if none had been."""
    before = default_generator.get_state()
    try:
        yield
    finally:
        if enabled:
            default_generator.set_state(before)


def multiply_add(x, factor, term):
    """x · factor + term, rounded once, as processors do that have one instruction for both."""
    if x.dtype != np.float64:
        return (x.astype(np.float64) * float(factor) + float(term)).astype(x.dtype)
    product = x * factor
    (a, a_rest), (b, b_rest) = halves(x), halves(factor)
    lost = ((a * b - product) + a * b_rest + a_rest * b) + a_rest * b_rest  # what rounding the product has lost
    total = product + term
    other = total - product
    return total + ((product - (total - other)) + (term - other) + lost)


def halves(x):
    """Two numbers with half the digits each, whose sum is x (Dekker 1971)."""
    upper = x * 134217729.0
    upper = upper - (upper - x)
    return upper, x - upper
