"""One call of an answer: the probe that goes in, the outcome that comes out, and the functions that read its results.

No reference is imported here. Probes and outcomes have a form in JSON, so that an answer may live in another process.
"""

from dataclasses import dataclass, field

import torch

MAX_SHOWN = 16  # a tensor with more numbers is shown by its shape
ROUNDING = 1e-9  # smaller numbers are errors of rounding
KINDS = {"float64": torch.float64, "int64": torch.int64, "bool": torch.bool}


class Unfit(Exception):
    """Raised if an answer does not have the form asked for.

    kind: a mistake's name. details: values for the placeholders of its words. tensors: those by name that the answer
    gave nevertheless, in which a second mistake can be recognised.
    """

    def __init__(self, kind, tensors=None, **details):
        super().__init__(kind)
        self.kind, self.details, self.tensors = kind, details, tensors or {}


@dataclass
class Probe:
    """Input of one call of an answer.

    name: also a key of the words' `traits`, for "right if …". tensors: by name, floating-point, integer or bool.
    options: other arguments, such as sizes. parameters: names of the tensors that are set as parameters of a module.
    gradients: names of the tensors, besides the parameters, whose gradients are asked for; None for no gradients at
    all. calls: how many times the answer is called.
    """

    name: str
    tensors: dict
    options: dict = field(default_factory=dict)
    parameters: tuple = ()
    gradients: tuple | None = ()
    calls: int = 1

    def to_json(self):
        """Return the probe as a JSON object."""
        tensors = {name: pack(tensor) for name, tensor in self.tensors.items()}
        return {**vars(self), "tensors": tensors}

    @classmethod
    def from_json(cls, fields):
        """Return the probe that `to_json` gave."""
        tuples = {key: tuple(entry) if isinstance(entry, list) else entry for key, entry in fields.items()}
        return cls(**tuples | {"tensors": {name: unpack(packed) for name, packed in fields["tensors"].items()}})

    @property
    def size(self):
        """How many numbers the tensors have."""
        return sum(tensor.numel() for tensor in self.tensors.values())


@dataclass
class Outcome:
    """Result of a call: values by name, `notes` about the answer, and the error that ended the call, if any."""

    values: dict = field(default_factory=dict)
    notes: dict = field(default_factory=dict)
    error: dict | None = None

    def to_json(self):
        """Return the outcome as a JSON object."""
        return {**vars(self), "values": {name: pack(value) for name, value in self.values.items()}}

    @classmethod
    def from_json(cls, fields):
        """Return the outcome that `to_json` gave."""
        return cls(**fields | {"values": {name: unpack(packed) for name, packed in fields["values"].items()}})


def pack(tensor):
    """Return a tensor as a JSON object."""
    whole = not (tensor.is_floating_point() or tensor.is_complex())
    kind = ("bool" if tensor.dtype == torch.bool else "int64") if whole else "float64"
    tensor = tensor.detach().to("cpu", KINDS[kind])
    return {"kind": kind, "shape": list(tensor.shape), "numbers": tensor.flatten().tolist()}


def unpack(packed):
    """Return the tensor that `pack` gave."""
    return torch.tensor(packed["numbers"], dtype=KINDS[packed["kind"]]).reshape(packed["shape"])


# Results by name


def named(returned, names, prefix=""):
    """Return the tensors that an answer returned, by name. Raise Unfit if it returned something else."""
    if isinstance(names, str):
        if returned is None:
            raise Unfit("returns_none", name=names)
        if not isinstance(returned, torch.Tensor):
            first = next(flat(returned), None)
            tensors = {prefix + names: first} if isinstance(first, torch.Tensor) else {}
            raise Unfit("not_a_tensor", tensors, name=names, got=kind(returned))
        return {prefix + names: returned}
    if returned is None:
        raise Unfit("returns_none", name=spelled(names))
    if isinstance(returned, torch.Tensor) or not isinstance(returned, tuple | list) or len(returned) != len(names):
        leaves, wanted = list(flat(returned)), list(flat(names))
        fit = all(isinstance(leaf, torch.Tensor) for leaf in leaves) and len(leaves) <= len(wanted)
        tensors = {prefix + name: leaf for name, leaf in zip(wanted, leaves)} if fit else {}
        raise Unfit("wrong_form", tensors, name=spelled(names), got=form(returned))
    tensors = {}
    for name, result in zip(names, returned):
        tensors |= named(result, name, prefix)
    return tensors


def flat(nested):
    """Yield the leaves of nested tuples and lists."""
    if isinstance(nested, tuple | list):
        for inner in nested:
            yield from flat(inner)
    else:
        yield nested


def kind(value):
    """Return the name of a value's type."""
    return type(value).__name__


def form(value):
    """Return a value's types, nested as it is: (Tensor, (Tensor, Tensor))."""
    if isinstance(value, tuple | list):
        return f"({', '.join(form(inner) for inner in value[:9])})"
    return kind(value)


def spelled(names):
    """Return nested names as text."""
    return names if isinstance(names, str) else f"({', '.join(map(spelled, names))})"


def values(results):
    """Return plain copies of results by name."""
    return {name: plain(tensor) for name, tensor in results.items()}


def plain(tensor):
    """Return a dense float64 copy of a tensor on the CPU, without gradient."""
    tensor = tensor.detach()
    if tensor.is_sparse:
        tensor = tensor.to_dense()
    return tensor.to("cpu", torch.float64, copy=True)


def gradients(results, tensors):
    """Return the gradients of a fixed projection of all results, by name: `grad of x`, zeros without dependence.

    For a list of tensors, their gradients are concatenated to one.
    """
    if not tensors:
        return {}
    lists = {name: len(parts) for name, parts in tensors.items() if isinstance(parts, list)}
    if lists:
        single = {name: tensor for name, tensor in tensors.items() if name not in lists}
        parts = {f"{name}/{place}": part for name in lists for place, part in enumerate(tensors[name])}
        by_name = gradients(results, single | parts)
        for name, count in lists.items():
            by_name[f"grad of {name}"] = torch.cat([by_name.pop(f"grad of {name}/{place}") for place in range(count)])
        return by_name
    total = sum(
        (torch.cos(1 + place + 1.7 * torch.arange(result.numel())).reshape(result.shape).to(result) * result).sum()
        for place, result in enumerate(results.values())
        if result.is_floating_point()
    )
    by_name = dict.fromkeys(tensors)
    if isinstance(total, torch.Tensor) and total.requires_grad:
        inputs = {name: tensor for name, tensor in tensors.items() if tensor.requires_grad}
        by_name |= zip(inputs, torch.autograd.grad(total, [*inputs.values()], allow_unused=True)) if inputs else {}
    return {
        f"grad of {name}": plain(torch.zeros_like(tensors[name]) if gradient is None else gradient)
        for name, gradient in by_name.items()
    }


# Values as text


def show(value):
    """Return a value as short text: its numbers, or the shape of a large tensor."""
    if not hasattr(value, "numel"):
        return str(value)
    if value.numel() > MAX_SHOWN:
        return show_shape(value)
    return f"`{rounded(value.tolist())}`"


def show_shape(tensor):
    """Return a tensor's shape as text."""
    return f"({', '.join(map(str, tensor.shape))})"


def rounded(numbers):
    """Return a number, or nested lists of numbers, as text with at most four decimals."""
    if isinstance(numbers, list):
        return f"[{', '.join(map(rounded, numbers))}]"
    if not isinstance(numbers, float):
        return str(numbers)
    if abs(numbers) < ROUNDING:
        return "0"
    return f"{numbers:.4f}".rstrip("0").rstrip(".") if abs(numbers) >= 0.00005 else f"{numbers:.2g}"
