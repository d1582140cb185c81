"""Run statements on the torch that is there, and describe their variables: used alike by both sides."""

import contextlib
import copy
import io
import pickle
import re
import signal
import warnings

import numpy as np
import torch

SECONDS = 10  # of a processor that a program may take


class Double(torch.autograd.Function):
    """Double a tensor, with a gradient of its own."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * 2

    @staticmethod
    def backward(ctx, gradient):
        return gradient * 2


# names that a program begins with
NAMES = {"torch": torch, "nn": torch.nn, "F": torch.nn.functional, "np": np, "io": io, "copy": copy, "pickle": pickle}
NAMES["Double"] = Double


def close_program():
    """Undo what a program may have set for all."""
    torch.set_default_dtype(torch.float32)
    torch.set_printoptions(profile="default")
    torch.set_grad_enabled(True)


def run_statement(text, names):
    """Run a statement; return its error's type and text, or None, and what it printed."""
    printed = io.StringIO()
    with warnings.catch_warnings(), contextlib.redirect_stdout(printed):
        warnings.simplefilter("ignore")
        try:
            exec(text, names)
            error = None
        except Exception as raised:  # noqa: BLE001  both sides must raise the same error
            words = "\n".join([str(raised), *getattr(raised, "__notes__", ())])
            error = type(raised).__name__, hide_addresses(words.partition("\nException raised from")[0])
    return error, hide_addresses(printed.getvalue())


def hide_addresses(text):
    return re.sub(r"0x[0-9a-f]{6,}", "0x0", text)


RETAINS = hasattr(torch.Tensor, "retains_grad")  # torch warns where no gradient can be


def gradient_of(x):
    try:
        return x.grad if not RETAINS or x.is_leaf or x.retains_grad else None
    except RuntimeError:  # of a view that cannot follow its base
        return None


def plain(x):
    """Return a tensor that numpy can read: torch conjugates later, and has zeros without memory."""
    if RETAINS and isinstance(x, torch.Tensor) and hasattr(x, "_is_zerotensor"):
        x = x.resolve_conj().resolve_neg()
        return x.clone() if x._is_zerotensor() else x
    return x


def describe_tensor(x):
    """Return all that can be seen of a tensor, as plain values and arrays."""
    found = {"type": type(x).__name__, "dtype": str(x.dtype), "shape": tuple(x.shape)}
    try:
        found |= {"requires_grad": x.requires_grad, "is_leaf": x.is_leaf, "grad_fn": x.grad_fn is not None}
        if x.device.type == "cpu":
            found["values"] = plain(x.detach().to_dense() if x.is_sparse else x.detach()).numpy().copy()
        if not x.is_sparse and x.numel():
            found["stride"] = tuple(stride for stride, n in zip(x.stride(), x.shape) if n > 1)
        grad = gradient_of(x)
        return found | {"grad": None if grad is None else describe_tensor(grad), "text": repr(x)}
    except (RuntimeError, TypeError) as error:  # a view whose base has changed in a way that it cannot follow
        return found | {"broken": type(error).__name__}


def describe(value, depth=0):
    """Return all that can be seen of a variable's value."""
    if isinstance(value, torch.Tensor):
        return describe_tensor(value)
    if isinstance(value, np.ndarray | np.generic):
        found = {"type": type(value).__name__, "dtype": str(value.dtype), "shape": value.shape}
        stride = tuple(step for step, n in zip(getattr(value, "strides", ()), value.shape) if n > 1 and value.size)
        return found | {"values": np.array(value), "stride": stride}
    found = {"type": type(value).__name__}
    if isinstance(value, bool | int | float | complex | str | bytes | None | torch.dtype | torch.device):
        return found | ({"values": np.array(value)} if isinstance(value, float | complex) else {"text": repr(value)})
    if isinstance(value, torch.nn.Module):
        found |= {"text": repr(value), "training": value.training}
        parts = [*value.named_parameters(), *value.named_buffers()]
        return found | {"part " + name: describe_tensor(x) for name, x in parts}
    if isinstance(value, torch.optim.Optimizer):
        return found | {"text": repr(value), "state": len(value.state)}
    if isinstance(value, tuple | list) and depth < 4:
        found["length"] = len(value)
        return found | {f"part {k}": describe(part, depth + 1) for k, part in enumerate(value)}
    if hasattr(value, "next_functions"):
        return {"type": "function of the graph"}
    if isinstance(value, dict) and depth < 4:
        found["text"] = repr([*value])
        return found | {f"part {name}": describe(part, depth + 1) for name, part in value.items()}
    return found


def tensors_in(value, gradients=True):
    """Return the tensors and arrays that a variable shows: its value, parts, parameters, gradients."""
    if isinstance(value, torch.Tensor):
        grad = gradient_of(value) if gradients else None
        return [value] if grad is None else [value, grad]
    if isinstance(value, np.ndarray):
        return [value]
    if isinstance(value, torch.nn.Module):
        value = [*value.parameters(), *value.buffers()]
    if isinstance(value, dict):
        value = [*value.values()]
    return [x for part in value for x in tensors_in(part, gradients)] if isinstance(value, tuple | list) else []


def array_of(x):
    """Return the numpy array that shares a tensor's memory, or None."""
    if isinstance(x, np.ndarray):
        return x
    try:
        return plain(x.detach()).numpy() if not x.is_sparse and x.device.type == "cpu" else None
    except (RuntimeError, TypeError):
        return None


def print_of(value):
    """Return what changes whenever the description of a value would."""
    marks = [id(value)]
    try:
        for x in tensors_in(value):
            array = array_of(x)
            if array is None:
                marks.append(repr(x))
                continue
            numbers = np.where(array != array, np.nan, array)  # the bits of NaN mean nothing
            marks += [id(x), numbers.tobytes(), array.strides, array.shape, array.__array_interface__["data"][0]]
            if array is not x:
                marks += [x.requires_grad, x.is_leaf, x.grad_fn is None]
    except (RuntimeError, TypeError) as error:
        return type(error)
    if isinstance(value, torch.nn.Module):
        marks += [value.training, len([*value.modules()])]
    return marks


def next_random():
    """Return the number that would be drawn next."""
    state = torch.get_rng_state()
    number = torch.rand((), dtype=torch.float64).item()
    torch.set_rng_state(state)
    return number


class Watch:
    """Follow the variables of a running program."""

    def __init__(self, seed):
        self.names, self.prints = dict(NAMES), {}
        close_program()
        torch.manual_seed(seed)

    def variables(self):
        return {name: value for name, value in self.names.items() if re.fullmatch(r"v\d+", name)}

    def repeats(self, text):
        """Return whether a statement names a tensor that repeats its numbers."""
        named = [self.names.get(name) for name in re.findall(r"\bv\d+\b", text)]
        return any(0 in x.stride() for x in tensors_in(named, False) if isinstance(x, torch.Tensor))

    def changed(self):
        """Return the names of variables that have changed since the last call."""
        before, self.prints = self.prints, {name: print_of(value) for name, value in self.variables().items()}
        return [name for name, now in self.prints.items() if now != before.get(name)]

    def overlaps(self, name):
        """Return the names of the other variables whose tensors share memory with this one's."""
        arrays = {n: [array_of(x) for x in tensors_in(value, False)] for n, value in self.variables().items()}
        # torch conjugates a view, small_torch copies: memory of complex numbers is not compared
        arrays = {n: [a for a in found if a is not None and a.dtype.kind != "c"] for n, found in arrays.items()}
        mine = arrays.pop(name)
        return [n for n, others in arrays.items() if any(share_memory(a, b) for a in mine for b in others)]

    def record(self, error, printed):
        """Return what a statement did."""
        changed = {name: self.describe(name) for name in self.changed()}
        return {"error": error, "printed": printed, "changed": changed, "random": next_random()}

    def describe(self, name):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return describe(self.names[name]) | {"shares memory with": self.overlaps(name)}


def share_memory(one, other):
    try:
        return np.shares_memory(one, other, max_work=10_000)
    except Exception:  # noqa: BLE001  too hard to decide
        return False


@contextlib.contextmanager
def limited_time():
    def stop(*unused):
        raise TimeoutError("the program takes too long")

    signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        close_program()
