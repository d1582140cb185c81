"""One call of an answer: the probe that goes in, the outcome that comes out, and how an outcome is read from results.

Neither knows a reference. Both have a form in JSON, so that an answer may live in another process.
"""

from dataclasses import dataclass, field

import torch

KINDS = {"float64": torch.float64, "int64": torch.int64, "bool": torch.bool}


class Unfit(Exception):
    """What the answer gave has not the form asked for.

    kind: a mistake's name. said: what fills in its words. found: tensors by name that are there all the same, so that
    a second mistake can be seen behind the form.
    """

    def __init__(self, kind, found=None, **said):
        super().__init__(kind)
        self.kind, self.said, self.found = kind, said, found or {}


@dataclass
class Probe:
    """One call of an answer: what goes in.

    name: which; also a key of the words' `traits`, said in "right if …". tensors: by name, floating or integer.
    options: what is no tensor, such as sizes. parameters: which tensors are set as parameters of a module.
    gradients: with respect to which tensors besides the parameters; None for no gradients at all. calls: how often it
    is called.
    """

    name: str
    tensors: dict
    options: dict = field(default_factory=dict)
    parameters: tuple = ()
    gradients: tuple | None = ()
    calls: int = 1

    def to_json(self):
        tensors = {name: pack(tensor) for name, tensor in self.tensors.items()}
        return {**vars(self), "tensors": tensors}

    @classmethod
    def from_json(cls, said):
        lists = {key: tuple(one) if isinstance(one, list) else one for key, one in said.items()}
        return cls(**lists | {"tensors": {name: unpack(packed) for name, packed in said["tensors"].items()}})

    @property
    def size(self):
        return sum(tensor.numel() for tensor in self.tensors.values())


@dataclass
class Outcome:
    """What came of a call: values by name, remarks (`notes`), and the error that ended it, if one did."""

    values: dict = field(default_factory=dict)
    notes: dict = field(default_factory=dict)
    error: dict | None = None

    def to_json(self):
        return {**vars(self), "values": {name: pack(value) for name, value in self.values.items()}}

    @classmethod
    def from_json(cls, said):
        return cls(**said | {"values": {name: unpack(packed) for name, packed in said["values"].items()}})


def pack(tensor):
    whole = not (tensor.is_floating_point() or tensor.is_complex())
    kind = ("bool" if tensor.dtype == torch.bool else "int64") if whole else "float64"
    tensor = tensor.detach().to("cpu", KINDS[kind])
    return {"kind": kind, "shape": list(tensor.shape), "numbers": tensor.flatten().tolist()}


def unpack(packed):
    return torch.tensor(packed["numbers"], dtype=KINDS[packed["kind"]]).reshape(packed["shape"])


# Results by name


def named(returned, names, prefix=""):
    """The tensors that an answer returned, by name. Unfit if it returned something else."""
    if isinstance(names, str):
        if returned is None:
            raise Unfit("returns_none", name=names)
        if not isinstance(returned, torch.Tensor):
            first = next(flat(returned), None)
            there = {prefix + names: first} if isinstance(first, torch.Tensor) else {}
            raise Unfit("not_a_tensor", there, name=names, got=kind(returned))
        return {prefix + names: returned}
    if returned is None:
        raise Unfit("returns_none", name=spelled(names))
    if isinstance(returned, torch.Tensor) or not isinstance(returned, tuple | list) or len(returned) != len(names):
        leaves, wanted = list(flat(returned)), list(flat(names))
        fit = all(isinstance(leaf, torch.Tensor) for leaf in leaves) and len(leaves) <= len(wanted)
        there = {prefix + name: leaf for name, leaf in zip(wanted, leaves)} if fit else {}
        raise Unfit("wrong_form", there, name=spelled(names), got=form(returned))
    found = {}
    for name, one in zip(names, returned):
        found |= named(one, name, prefix)
    return found


def flat(things):
    if isinstance(things, tuple | list):
        for thing in things:
            yield from flat(thing)
    else:
        yield things


def kind(thing):
    return type(thing).__name__


def form(thing):
    """A value's form in one word or in parentheses: (Tensor, (Tensor, Tensor))."""
    if isinstance(thing, tuple | list):
        return f"({', '.join(form(one) for one in thing[:9])})"
    return kind(thing)


def spelled(names):
    return names if isinstance(names, str) else f"({', '.join(map(spelled, names))})"


def values(results):
    return {name: plain(tensor) for name, tensor in results.items()}


def plain(tensor):
    tensor = tensor.detach()
    if tensor.is_sparse:
        tensor = tensor.to_dense()
    return tensor.to("cpu", torch.float64, copy=True)


def gradients(results, tensors):
    """The gradients of a fixed projection of all results, by name: `grad of x`. Zeros where there is no way back.

    Of a list of tensors it is one gradient, that of all below each other.
    """
    if not tensors:
        return {}
    lists = {name: len(one) for name, one in tensors.items() if isinstance(one, list)}
    if lists:
        single = {name: one for name, one in tensors.items() if name not in lists}
        parts = {f"{name}/{place}": part for name in lists for place, part in enumerate(tensors[name])}
        found = gradients(results, single | parts)
        for name, count in lists.items():
            found[f"grad of {name}"] = torch.cat([found.pop(f"grad of {name}/{place}") for place in range(count)])
        return found
    total = sum(
        (torch.cos(1 + place + 1.7 * torch.arange(result.numel())).reshape(result.shape).to(result) * result).sum()
        for place, result in enumerate(results.values())
        if result.is_floating_point()
    )
    found = dict.fromkeys(tensors)
    if isinstance(total, torch.Tensor) and total.requires_grad:
        inputs = {name: tensor for name, tensor in tensors.items() if tensor.requires_grad}
        found |= zip(inputs, torch.autograd.grad(total, [*inputs.values()], allow_unused=True)) if inputs else {}
    return {
        f"grad of {name}": plain(torch.zeros_like(tensors[name]) if gradient is None else gradient)
        for name, gradient in found.items()
    }
