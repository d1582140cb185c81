"""Proof that a scratch module equals its counterpart in `torch.nn`: outputs, states and gradients are compared."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import PackedSequence

# The largest difference in float64, and in float32 as a share of the tensor's largest number.
ABSOLUTE_BOUND = 1e-10
RELATIVE_BOUND = 1e-5

STATELESS = nn.Embedding | nn.Linear | nn.MultiheadAttention | nn.TransformerEncoderLayer


@dataclass(frozen=True)
class Row:
    """One tensor of the comparison."""

    tensor: str
    shape: tuple[int, ...]
    difference: float  # the largest absolute difference; inf if the shapes differ, nan if a number is nan
    bound: float

    @property
    def ok(self) -> bool:
        """Return True if the difference is within its bound."""
        return self.difference <= self.bound


class Comparison(list[Row]):
    """The rows of a comparison. It prints bounds instead of digits, so that it prints the same on every machine."""

    def __init__(self, rows: Iterable[Row], bound_text: str) -> None:
        super().__init__(rows)
        self.bound_text = bound_text

    @property
    def ok(self) -> bool:
        """Return True if every difference is within its bound."""
        return all(row.ok for row in self)

    def _cells(self):
        yield "tensor", "shape", "largest difference"
        for row in self:
            shape = "(" + ", ".join(map(str, row.shape)) + ")"
            yield row.tensor, shape, f"below {self.bound_text}" if row.ok else f"{row.difference:.1g}: DIFFERENT"

    def __repr__(self) -> str:
        cells = list(self._cells())
        widths = [max(len(row[k]) for row in cells) for k in range(3)]
        return "\n".join("  ".join(c.ljust(w) for c, w in zip(row, widths)).rstrip() for row in cells)

    def _repr_markdown_(self) -> str:
        head, *rows = self._cells()
        lines = ["| " + " | ".join(head) + " |", "|:--|:--|:--|"]
        return "\n".join(lines + [f"| `{name}` | {shape} | {difference} |" for name, shape, difference in rows])


def compare(
    scratch: nn.Module,
    reference: nn.Module,
    input: Tensor | PackedSequence | tuple[Tensor, ...] | None = None,
    state: Tensor | tuple[Tensor, Tensor] | None = None,
    seed: int = 0,
    **call: Any,
) -> Comparison:
    """Run a scratch module and its torch counterpart on the same numbers, and compare all results.

    scratch, reference: modules of the same shape: cells, layers, embeddings or linear layers; the weights of
    `reference` are copied into `scratch`. input, state: the arguments of both; random where None (embeddings, linear
    layers and attention have no state; the input of attention is a tuple, query, key and value). call: further
    arguments by name, such as masks. seed: of the random input, the state, the loss and, for modules in training mode
    with dropout, the masks.

    The loss is a sum of all outputs and final states with random weights, so that every number counts in the gradients.
    Returns a `Comparison`, one `Row` for `output`, each final state, the gradient of the input and of each initial
    state, and the gradient of each parameter. RuntimeError if the parameters' names or shapes differ.
    """
    scratch.load_state_dict(reference.state_dict(), strict=True)
    generator = torch.Generator("cpu").manual_seed(seed)
    if input is None:
        input = _random_input(reference, generator)
    if state is None and not isinstance(reference, STATELESS):
        state = _random_state(reference, input, generator)

    names = _names(reference)
    ours, theirs = (_run(module, input, state, seed, names, call) for module in (scratch, reference))
    exact = next(reference.parameters()).dtype == torch.float64
    rows = []
    for name, value in theirs.items():
        bound = ABSOLUTE_BOUND if exact else RELATIVE_BOUND * float(value.abs().max()) if value.numel() else 0.0
        rows.append(Row(name, tuple(value.shape), _difference(ours.get(name), value), bound))
    return Comparison(rows, f"{ABSOLUTE_BOUND:.0e}" if exact else f"{RELATIVE_BOUND:.0e} of the largest")


def _random(like, shape, generator):
    # in float64, random numbers are the same on every processor
    numbers = torch.randn(shape, generator=generator, dtype=torch.float64, device="cpu")
    return numbers.to(like.device, like.dtype)


def _random_input(module, generator, time=5, batch=3):
    if isinstance(module, nn.Embedding):
        indices = torch.randint(module.num_embeddings, (batch, time), generator=generator, device="cpu")
        return indices.to(module.weight.device)
    weight = next(module.parameters())
    if isinstance(module, nn.MultiheadAttention):
        sizes = ((time - 1, module.embed_dim), (time, module.kdim), (time, module.vdim))
        shapes = [(batch, t, size) if module.batch_first else (t, batch, size) for t, size in sizes]
        return tuple(_random(weight, shape, generator) for shape in shapes)
    if isinstance(module, nn.TransformerEncoderLayer):
        shape = (batch, time) if module.self_attn.batch_first else (time, batch)
        return _random(weight, (*shape, module.self_attn.embed_dim), generator)
    if isinstance(module, nn.Linear):
        return _random(weight, (batch, module.in_features), generator)
    if isinstance(module, nn.RNNCellBase):
        return _random(weight, (batch, module.input_size), generator)
    shape = (batch, time) if module.batch_first else (time, batch)
    return _random(weight, (*shape, module.input_size), generator)


def _random_state(module, input, generator):
    """Return a random state that fits `input`: a tensor, or for an LSTM the pair (h, c)."""
    weight = next(module.parameters())
    if isinstance(module, nn.RNNCellBase):
        before, sizes = input.shape[:-1], [module.hidden_size]
    else:
        if isinstance(input, PackedSequence):
            batch = (int(input.batch_sizes[0]),)
        elif input.dim() == 3:
            batch = (input.size(0 if module.batch_first else 1),)
        else:
            batch = ()
        before = (module.num_layers * (2 if module.bidirectional else 1), *batch)
        sizes = [module.proj_size or module.hidden_size]
    if isinstance(module, nn.LSTM | nn.LSTMCell):
        sizes.append(module.hidden_size)
    states = tuple(_random(weight, (*before, size), generator) for size in sizes)
    return states if len(states) == 2 else states[0]


def _run(module, input, state, seed, names, call):
    """Return a module's results by name: outputs, final states, gradients."""
    leaves = {}

    def leaf(name, tensor):
        if tensor.is_floating_point():
            leaves[name] = tensor = tensor.detach().clone().requires_grad_()
        return tensor

    if isinstance(input, PackedSequence):
        data, *order = input
        input = PackedSequence(leaf("input.grad", data), *order)
    elif isinstance(input, tuple):
        input = tuple(leaf(f"{name}.grad", x) for name, x in zip(("query", "key", "value"), input, strict=True))
    else:
        input = leaf("input.grad", input)
    if isinstance(state, torch.Tensor):
        state = leaf("h_0.grad", state)
    elif state is not None:
        state = (leaf("h_0.grad", state[0]), leaf("c_0.grad", state[1]))
    module.zero_grad()
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        inputs = input if type(input) is tuple else (input,)
        result = module(*inputs, **call) if state is None else module(*inputs, state, **call)

    values = dict(zip(names, _flat(result), strict=False))
    generator = torch.Generator("cpu").manual_seed(seed + 1)
    # L = Σ r y  over all resulting numbers y, each with a random r of its own
    loss = sum((value * _random(value, value.shape, generator)).sum() for value in values.values())
    if loss.requires_grad:
        loss.backward()
    values = {name: value.detach() for name, value in values.items()}
    for name, tensor in leaves.items():
        values[name] = tensor.grad
    for name, parameter in module.named_parameters():
        if parameter.requires_grad:
            values[f"{name}.grad"] = parameter.grad.to_dense() if parameter.grad is not None else None
    return values


def _names(module):
    """Return the names that torch's documentation gives to a module's results."""
    if isinstance(module, nn.MultiheadAttention):
        return ["attn_output", "attn_output_weights"]
    if isinstance(module, STATELESS):
        return ["output"]
    if isinstance(module, nn.RNNCellBase):
        return ["h_1", "c_1"] if isinstance(module, nn.LSTMCell) else ["h_1"]
    return ["output", "h_n", "c_n"] if isinstance(module, nn.LSTM) else ["output", "h_n"]


def _flat(result):
    """Return the tensors of a nested tuple, in order; of a packed sequence its data."""
    if isinstance(result, PackedSequence):
        return [result.data]
    if isinstance(result, torch.Tensor):
        return [result]
    return [tensor for part in result if part is not None for tensor in _flat(part)]


def _difference(ours, theirs):
    if ours is None or ours.shape != theirs.shape:
        return float("inf")
    return float((ours - theirs).abs().max()) if theirs.numel() else 0.0
