"""A reader's layer: found by the name of its file, built in a wanted size, and called so that errors are named."""

import ast
import difflib
import functools
import hashlib
import importlib
import importlib.util
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils._pytree import tree_flatten, tree_unflatten

from companion.layers.recurrent import RNNBase
from companion.layers.step import Step

Make = Callable[[int, int], nn.Module]  # input_size, hidden_size → a layer
MOST_PARAMETERS = 30_000_000  # no larger layers are built in a search for a size
LISTS = "a plain list hides parameters, nn.ParameterList and nn.ModuleList do not"
HINT = """
An input is (T, B, features); the check runs in float64 (`input.new_zeros` makes a state of that type); \
a layer must not change its input or state in place"""


class Refused(Exception):
    """A layer that cannot be measured; the message says why."""


def calling(what: str, function: Callable, *arguments: Any) -> Any:
    """Call a function; Refused for any error in it, with the line of the reader's file that raised it."""
    try:
        return function(*arguments)
    except (Refused, FloatingPointError):
        raise
    except Exception as error:
        frames = [f for f in traceback.extract_tb(error.__traceback__) if "<" not in f.filename]
        own = [f for f in frames if not {"torch", "companion", "importlib"} & {*Path(f.filename).parts}]
        place = "".join(f" ({Path(f.filename).name}, line {f.lineno})" for f in own[-1:])
        hint = HINT if isinstance(error, RuntimeError) else ""  # what torch raises for sizes, types, changes in place
        raise Refused(f"{what} failed: {type(error).__name__}: {error}{place}{hint}") from error


def load(where: str) -> tuple[Make, str]:
    """Return what `path.py:Name` or `package.module:Name` names, and a hash of the code there and of its definition."""
    source, _, name = where.rpartition(":")
    if not source:
        raise Refused(f"{where!r} does not name a layer: write path.py:Name or package.module:Name")
    reader = import_file if source.endswith(".py") else importlib.import_module
    module = calling(f"importing {source}", reader, source)
    found = getattr(module, name, None)
    if not callable(found):
        near = difflib.get_close_matches(name, vars(module), cutoff=0.4)
        raise Refused(f"{source} has no class or function {name!r}; it has {', '.join(near) or 'none like it'}")
    files = [Path(str(of.__file__)).read_bytes() for of in (module, sys.modules[found.__module__])]
    digest = hashlib.sha256("".join(ast.dump(ast.parse(file)) for file in files).encode()).hexdigest()
    if isinstance(found, type) and issubclass(found, Step):  # a layer repeats it over time
        init = functools.partialmethod(RNNBase.__init__, found.__name__)
        found = type(found.__name__, (RNNBase,), {"_step": found(), "__init__": init})
    return found, digest


def import_file(source: str) -> Any:
    """Import a Python file, which may import its neighbours."""
    path = Path(source).resolve()
    if not path.is_file():
        raise Refused(f"there is no file {source!r} in {Path.cwd()}")
    sys.path.insert(0, str(path.parent))
    spec: Any = importlib.util.spec_from_file_location(path.stem, path)
    module = sys.modules[path.stem] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class Wrapped(nn.Module):
    """A layer with the attributes that `SequenceModel` asks for; its state becomes a tuple of tensors, None at first.

    hidden_size: features of the output. numbers: how many numbers the state of one sequence has.
    """

    bidirectional, batch_first, proj_size = False, False, 0
    form: Any  # of the layer's own state, for `tree_unflatten`

    def __init__(self, make: Make, input_size: int, size: int) -> None:
        super().__init__()
        self.input_size, self.name = input_size, f"{getattr(make, '__name__', 'the layer')}({input_size}, {size})"
        self.layer = calling(self.name, make, input_size, size)
        if not isinstance(self.layer, nn.Module):
            raise Refused(f"{self.name} is a {type(self.layer).__name__}, not a torch.nn.Module")
        if not any(parameter.requires_grad for parameter in self.layer.parameters()):
            raise Refused(f"{self.name} does not learn: it has no parameters ({LISTS})")
        with torch.no_grad():
            output, state = self(torch.zeros(1, 1, input_size))
        self.hidden_size, self.numbers = output.size(-1), sum(tensor.numel() for tensor in state)

    def forward(self, input: Tensor, state: tuple[Tensor, ...] | None = None) -> tuple[Tensor, tuple[Tensor, ...]]:
        """Return the output (T, B, hidden_size) and the state, after checking their form."""
        shape, given = tuple(input.shape), None if state is None else tree_unflatten([*state], self.form)
        with_state = "without a state" if state is None else "with the state that it returned"
        result = calling(f"{self.name} called with an input {shape} {with_state}", self.layer, input, given)
        if not (isinstance(result, tuple) and len(result) == 2 and isinstance(result[0], Tensor)):
            raise Refused(f"{self.name} must return (output, state), not {type(result).__name__}")
        if result[0].dim() != 3 or result[0].shape[:2] != input.shape[:2]:
            raise Refused(f"{self.name} turned an input (T, B, features) {shape} into {tuple(result[0].shape)}")
        state, self.form = tree_flatten(result[1])
        if not state or not all(isinstance(tensor, Tensor) for tensor in state):
            raise Refused(f"{self.name} returned a state that cannot be handed on: it must consist of tensors")
        if any(tensor.is_complex() for tensor in (result[0], *state, *self.parameters())):
            raise Refused(f"{self.name} has complex numbers: a tuple of two real tensors can replace a tensor of them")
        return result[0], tuple(state)


def count(module: nn.Module) -> int:
    """Return the number of parameters."""
    return sum(parameter.numel() for parameter in module.parameters())


@functools.cache
def size_of(make: Make, input_size: int, wanted: int, of_state: bool) -> int:
    """Return the hidden_size with the nearest number of parameters, or of numbers in the state.

    Sizes that the layer refuses, such as those that heads do not divide, are passed over. Refused if the nearest number
    is less than half of the wanted one, or more than twice as large.
    """
    tried: dict[int, int] = {}

    def reaches(size):
        for larger in range(size, size + 16):
            try:
                layer = Wrapped(make, input_size, larger)
                break
            except Refused as error:
                if not isinstance(error.__cause__, ValueError | AssertionError) or larger == size + 15:
                    raise
        tried[larger] = layer.numbers if of_state else count(layer)
        return tried[larger] >= wanted or count(layer) > MOST_PARAMETERS

    high = 1
    while not reaches(high) and high < 2**15:
        high *= 2
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if reaches(middle) else (middle, high)
    best = min(tried, key=lambda size: abs(tried[size] - wanted))
    if not wanted / 2 <= tried[best] <= 2 * wanted:
        what = "numbers of state" if of_state else "parameters"
        raise Refused(f"no hidden_size gives about {wanted:,} {what}; the nearest, {best}, gives {tried[best]:,}")
    return best
