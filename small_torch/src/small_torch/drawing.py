"""Random tensors: new ones, and numbers drawn into a tensor, in the order of its memory."""

import numpy as np

from . import dtypes
from .arguments import Sizes, check_argument, parse_size, refuse_keywords
from .arithmetic import refuse_gradient
from .creation import check_lengths, default_np, empty, empty_like, factory, zeros_like
from .elementwise import set_name
from .elementwise import zeros as zero_gradient
from .memory import check_memory, make_in_order, memory_order
from .messages import error, refuse
from .random import default_generator, not_implemented
from .tape import no_grad
from .tensor import Tensor, record


def manual_seed(seed):
    """Restart the random numbers: the same seed gives the same numbers as torch."""
    return default_generator.manual_seed(int(seed))


initial_seed, seed = default_generator.initial_seed, default_generator.seed
get_rng_state, set_rng_state = default_generator.get_state, default_generator.set_state


# New tensors


def sized(name, method):
    """Make `rand` and `randn`. method: of the generator."""

    def make(*arguments, dtype, size=None, generator=None):
        shape = check_lengths(parse_size(arguments if size is None else (size,), name))
        return getattr(generator or default_generator, method)(shape, dtype=default_np(dtype))

    return factory(make, name)


rand, randn = sized("rand", "uniform"), sized("randn", "normal")


@factory
def randint(*arguments, dtype, low=0, high=None, size=None, generator=None):
    """Draw integers from low (0) to below high."""
    names = [name for name, value in (("low", low), ("high", high), ("size", size)) if not value]
    names = names[1:] if "low" in names and len(names) > len(arguments) else names
    values = {"low": low, "high": high, "size": size} | dict(zip(names, arguments))
    for name, value in values.items():
        check_argument("randint", name, value, Sizes if name == "size" else int)
    low, high, size = values.values()
    shape, kind = check_lengths(parse_size((size,), "randint")), (dtype or dtypes.int64).np
    return (generator or default_generator).randint(shape, int(low), int(high), kind)


@factory
def randperm(n: int, *, dtype, generator=None):
    """Return the numbers below n in a random order."""
    (n,) = check_lengths(parse_size((n,), "randperm"))
    return (generator or default_generator).randperm(int(n)).astype((dtype or dtypes.int64).np)


def like(name, draw):
    """Make `rand_like` and its relatives. draw: the operation that draws numbers into a tensor."""

    def operation(input: Tensor, *arguments, generator=None, requires_grad=False, **options):
        with no_grad():
            out = draw(empty_like(input.detach(), **options), *arguments, generator=generator)
        out._changes = [0]
        return out.requires_grad_() if requires_grad else out

    return set_name(name, operation)


def draw_integers(tensor, low, high=None, *, generator):
    return random_(tensor, *((0, low) if high is None else (low, high)), generator=generator)


def normal(mean, std=1.0, size=None, *, generator=None, dtype=None, **options):
    """Draw normal numbers. mean, std: numbers, or tensors with one for each."""
    if size is not None:
        with no_grad():
            return normal_(empty(size, dtype=dtype, **options), mean, std, generator=generator)
    inputs = [x for x in (mean, std) if isinstance(x, Tensor)]
    if not inputs or dtype or options:
        raise TypeError("normal() received an invalid combination of arguments")
    refuse(not np.all(getattr(std, "_array", std) >= 0), "normal expects std >= 0.0")
    drawn = empty(np.broadcast_shapes(*(x._array.shape for x in inputs)), dtype=inputs[0].dtype)
    with no_grad():
        drawn.numel() and normal_(drawn, generator=generator).mul_(std).add_(mean)
    return record(drawn._array, "Normal", inputs, lambda g: [zeros_like(x) for x in inputs])


def bernoulli(input: Tensor, p=None, *, generator=None):
    """Draw 1 with the probability that `input` has at each place, or p; 0 otherwise."""
    if p is not None:
        drawn = bernoulli_(empty(input.shape, dtype=input.dtype), p, generator=generator)
        return record(drawn._array, "NotImplemented", (input,), refuse_gradient("bernoulli"))
    drawn = input.detach().clone()
    if input.numel():
        if input.dtype.kind != 2:
            raise not_implemented("bernoulli_tensor_cpu_p_", input._array.dtype)
        drawn = bernoulli_(empty(input.shape, dtype=input.dtype), input.detach(), generator=generator)
    return record(drawn._array, "Bernoulli", (input,), zero_gradient)


def multinomial(input: Tensor, num_samples: int, replacement=False, *, generator=None):
    """Draw indices with probabilities in proportion to the numbers of each row."""
    generator = generator or default_generator
    x = input._array
    refuse(x.ndim not in (1, 2), "prob_dist must be 1 or 2 dim")
    title = input.dtype.title
    refuse(input.dtype.kind != 2, "multinomial only supports floating-point dtypes for input, got: {}", title)
    refuse(num_samples <= 0, "cannot sample n_sample <= 0 samples")
    too_many = not replacement and num_samples > x.shape[-1]
    refuse(too_many, "cannot sample n_sample > prob_dist.size(-1) samples without replacement")
    refuse(not np.isfinite(x).all() or (x < 0).any(), "probability tensor contains either `inf`, `nan` or element < 0")
    refuse((x.sum(-1) <= 0).any(), "invalid multinomial distribution (sum of probabilities <= 0)")
    if replacement and num_samples > 1:
        rows = x.reshape(-1, x.shape[-1])
        return Tensor(generator.choose(rows, num_samples).reshape(*x.shape[:-1], num_samples))
    # Of exponential numbers, each divided by its weight, number i is the smallest with probability ∝ weight i.
    with np.errstate(divide="ignore", invalid="ignore"):
        times = x / make_in_order(x, lambda shape: generator.exponential(shape, dtype=x.dtype))
    return Tensor(np.argsort(-times, -1, kind="stable")[..., :num_samples].copy())


# Numbers drawn into a tensor


def write(tensor, node, generator, method, *values, **options):
    """Write random numbers into a tensor, in the order of its memory. method: of the generator, or of the default one.

    values, options: what the method takes besides a shape.
    """
    tensor._check_may_change()  # before numbers are drawn
    check_memory(tensor._array)
    draw = getattr(generator or default_generator, method)
    array = make_in_order(tensor._array, lambda shape: draw(shape, *values, **options))
    array = array.astype(tensor._array.dtype, copy=False)
    return tensor._assign(record(array, node, (tensor,), zero_gradient))


def parse_bounds(title, low, high, named):
    """Return bounds that may have torch's names, of which `from` is a keyword of Python."""
    low, high = named.pop("from", low), named.pop("to", high)
    refuse_keywords(title, named)
    return low, high


def uniform_(tensor, low=0.0, high=1.0, /, *, generator=None, **named):
    low, high = parse_bounds("uniform_", low, high, named)
    for name, value in {"from": low, "to": high}.items():
        check_argument("uniform_", name, value, float)
    return write(tensor, "Uniform", generator, "uniform", float(low), float(high), dtype=tensor._array.dtype)


def normal_(tensor, mean: float = 0.0, std: float = 1.0, *, generator=None):
    options = {"dtype": tensor._array.dtype, "contiguous": tensor._array.flags.c_contiguous}
    return write(tensor, "Normal", generator, "normal", float(mean), float(std), **options)


def random_(tensor, low=None, high=None, *, generator=None, **named):
    """Draw integers below `low`, or from `low` to below `high`; without either, any that the type holds."""
    low, high = parse_bounds("random_", low, high, named)
    refuse(float in (type(low), type(high)), "random_() received an invalid combination of arguments", kind=TypeError)
    if low is None and high is None:
        return write(tensor, "Random.2", generator, "full_range", tensor._array.dtype)
    node = "Random.1" if high is None else "Random"
    low, high = (0, low) if high is None else (low or 0, high)
    refuse(high >= 2**63, "Overflow when unpacking long long", kind=ValueError)
    return write(tensor, node, generator, "randint", low, high, tensor._array.dtype)


def bernoulli_(tensor, p=0.5, *, generator=None):
    """Draw 1 with probability p, a number or a tensor of them, 0 otherwise."""
    if not isinstance(p, Tensor):
        check_argument("bernoulli_", "p", p, float, 1)
        refuse(not 0 <= p <= 1, "bernoulli_ expects p to be in [0, 1], but got p={:g}", p)
        if tensor.is_complex() and tensor.numel():
            raise not_implemented("bernoulli_scalar_cpu_", tensor._array.dtype)
        return write(tensor, "Bernoulli.2", generator, "bernoulli", p)
    if p.dtype.kind != 2 and p.numel():
        raise not_implemented("bernoulli_tensor_cpu_p_", p._array.dtype)
    order = memory_order(tensor._array.shape, tensor._array.strides)
    chances = p.detach().expand(tensor.shape)._array.transpose(order)
    valid = (chances >= 0) & (chances <= 1)
    if not valid.all():  # torch draws up to the first wrong one
        drawn = (generator or default_generator).bernoulli((valid.argmin(),), chances.reshape(-1)[: valid.argmin()])
        tensor._array.transpose(order).flat[: valid.argmin()] = drawn
        raise error("probability")
    return write(tensor, "Bernoulli.1", generator, "bernoulli", chances)


def dropout_mask(array, p):
    """Return 1 / p with probability p and 0 otherwise, for an array, in the order of its memory."""
    drawn = make_in_order(array, lambda shape: default_generator.bernoulli(shape, p))
    return drawn.astype(array.dtype) / array.dtype.type(p)


def exponential_(tensor, lambd: float = 1.0, *, generator=None):
    """Draw numbers with density λ exp(−λ x)."""
    refuse(tensor.dtype.kind < 2 and tensor.numel(), "exponential type", tensor.dtype.title)
    refuse(not lambd > 0, "exponential_ expects lambda > 0.0, but found lambda={:g}", lambd)
    return write(tensor, "Exponential", generator, "exponential", lambd, dtype=tensor._array.dtype)


rand_like, randn_like = like("rand_like", uniform_), like("randn_like", normal_)
randint_like = like("randint_like", draw_integers)
