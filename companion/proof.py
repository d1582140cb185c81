"""Proof that a scratch module equals its counterpart in `torch.nn`: outputs, states and gradients are compared."""

import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import PackedSequence

from companion.layers.additive import AdditiveAttention
from companion.layers.attention import MultiheadAttention
from companion.layers.embedding import Embedding
from companion.layers.linear import Linear
from companion.layers.recurrent import RNNBase, RNNCellBase
from companion.layers.sequence_layer import SequenceLayer
from companion.layers.transformer import TransformerEncoderLayer
from companion.words import align, language_of

# The largest difference in float64, and in float32 as a share of the tensor's largest number.
ABSOLUTE_BOUND = 1e-10
RELATIVE_BOUND = 1e-5

WORDS = tomllib.loads((files("companion") / "proof.toml").read_text(encoding="utf-8"))  # language → words

EMBEDDINGS = nn.Embedding | Embedding
LINEAR = nn.Linear | Linear
ATTENTION = nn.MultiheadAttention | MultiheadAttention
ENCODERS = nn.TransformerEncoderLayer | TransformerEncoderLayer
CELLS = nn.RNNCellBase | RNNCellBase
LAYERS = nn.RNNBase | RNNBase
STATEFUL = CELLS | LAYERS | SequenceLayer


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
    """The rows of a comparison. It prints bounds instead of digits, so that it prints the same on every machine.

    rows: a `Row` for each tensor, with `tensor` (its name), `shape`, `difference`, `bound` and `ok`. bound_text: what
    it prints for the bound; by default 1e-10, or a share of the largest number where the bounds of the rows are shares.
    language: of the printed words ("en", "ja", "ko" or "zh"); by default the environment's UNROLLED_LANGUAGE, or
    English. Shapes: the `shape` of a row is a tuple such as (5, 3, 20). No error is raised for a difference: `ok` is
    False.
    """

    def __init__(self, rows: Iterable[Row], bound_text: str | None = None, language: str | None = None) -> None:
        super().__init__(rows)
        self._words = WORDS.get(language_of(language), WORDS["en"])
        if bound_text is None and any(row.bound != ABSOLUTE_BOUND for row in self):
            self._within = self._words["below_share"].format(f"{RELATIVE_BOUND:.0e}")
        else:
            self._within = self._words["below"].format(bound_text or f"{ABSOLUTE_BOUND:.0e}")

    @property
    def ok(self) -> bool:
        """Return True if every difference is within its bound."""
        return all(row.ok for row in self)

    def _cells(self):
        yield self._words["head"]
        for row in self:
            shape = "(" + ", ".join(map(str, row.shape)) + ")"
            different = self._words["different"].format(f"{row.difference:.1g}")
            yield row.tensor, shape, self._within if row.ok else different

    def __repr__(self) -> str:
        return "\n".join(align(self._cells()))

    def _repr_markdown_(self) -> str:
        head, *rows = self._cells()
        lines = ["| " + " | ".join(head) + " |", "|:--|:--|:--|"]
        return "\n".join(lines + [f"| `{name}` | {shape} | {difference} |" for name, shape, difference in rows])


def compare(
    scratch: nn.Module,
    reference: nn.Module,
    input: Tensor | PackedSequence | tuple[Tensor, ...] | None = None,
    state: Tensor | tuple[Tensor, ...] | None = None,
    seed: int = 0,
    language: str | None = None,
    **call: Any,
) -> Comparison:
    """Run a scratch module and its counterpart, of torch or of the companion, on the same numbers; compare all results.

    scratch, reference: modules of the same shape, such as cells, layers, embeddings, linear layers or attention; the
    weights of `reference` are copied into `scratch`. input, state: the arguments of both; random where None (only
    recurrent layers get a state; the input of attention is a tuple, query, key and value). call: further
    arguments by name, such as masks. seed: of the random input, the state, the loss and, for modules in training mode
    with dropout, the masks. language: of the printed words ("en", "ja", "ko" or "zh"); by default that of the
    environment's UNROLLED_LANGUAGE, or English.

    The loss is a sum of all outputs and final states with random weights, so that every number counts in the gradients.
    Returns a `Comparison`, one `Row` for `output`, each final state, the gradient of the input and of each initial
    state, and the gradient of each parameter. Shapes: a random input has 3 sequences of 5 time steps, (5, 3,
    input_size) for a layer and (3, input_size) for a cell. RuntimeError if the parameters' names or shapes differ,
    TypeError for a `reference` of another kind without an `input`.
    """
    scratch.load_state_dict(reference.state_dict(), strict=True)
    generator = torch.Generator("cpu").manual_seed(seed)
    if input is None:
        input = _random_input(reference, generator)
    if state is None and isinstance(reference, STATEFUL):
        state = _random_state(reference, input, generator)

    names = _names(reference)
    ours, theirs = (_run(module, input, state, seed, names, call) for module in (scratch, reference))
    exact = next(reference.parameters()).dtype == torch.float64
    rows = []
    for name, value in theirs.items():
        bound = ABSOLUTE_BOUND if exact else RELATIVE_BOUND * float(value.abs().max()) if value.numel() else 0.0
        rows.append(Row(name, tuple(value.shape), _difference(ours.get(name), value), bound))
    return Comparison(rows, language=language)


def _random(like, shape, generator):
    # in float64, random numbers are the same on every processor
    numbers = torch.randn(shape, generator=generator, dtype=torch.float64, device="cpu")
    return numbers.to(like.device, like.dtype)


def _random_input(module, generator, time=5, batch=3):
    if isinstance(module, EMBEDDINGS):
        indices = torch.randint(module.num_embeddings, (batch, time), generator=generator, device="cpu")
        return indices.to(module.weight.device)
    if isinstance(module, ATTENTION | AdditiveAttention):
        if isinstance(module, AdditiveAttention):
            features = [module.weight_q.size(1), *[module.weight_k.size(1)] * 2]
        else:
            features = [module.embed_dim, module.kdim, module.vdim]
        first = getattr(module, "batch_first", False)
        shapes = [((batch, t) if first else (t, batch), size) for t, size in zip((time - 1, time, time), features)]
        weight = next(module.parameters())
        return tuple(_random(weight, (*shape, size), generator) for shape, size in shapes)
    if isinstance(module, ENCODERS):
        shape = (batch, time) if module.self_attn.batch_first else (time, batch)
        return _random(module.linear1.weight, (*shape, module.self_attn.embed_dim), generator)
    if isinstance(module, LINEAR):
        return _random(module.weight, (batch, module.in_features), generator)
    if not hasattr(module, "input_size"):
        raise TypeError(f"compare cannot make an input for {type(module).__name__}: pass one as `input`")
    shape = (batch,) if isinstance(module, CELLS) else (batch, time) if module.batch_first else (time, batch)
    return _random(next(module.parameters()), (*shape, module.input_size), generator)


def _has_cell_state(module):
    """Return True for a layer or cell whose state is the pair (h, c)."""
    return isinstance(module, nn.LSTM | nn.LSTMCell) or (hasattr(module, "_step") and module._step.is_pair)


def _random_state(module, input, generator):
    """Return a random state that fits `input`: a tensor, or a tuple such as (h, c) of an LSTM."""
    weight = next(module.parameters())
    if isinstance(module, CELLS):
        before = input.shape[:-1]
    else:
        if isinstance(input, PackedSequence):
            batch = (int(input.batch_sizes[0]),)
        elif input.dim() == 3:
            batch = (input.size(0 if module.batch_first else 1),)
        else:
            batch = ()
        before = (module.num_layers * (2 if module.bidirectional else 1), *batch)
    if isinstance(module, SequenceLayer):
        shapes = [(*batch, *shape) for shape in module.state_shapes()]
    else:
        shapes = [(*before, getattr(module, "proj_size", 0) or module.hidden_size)]
        if _has_cell_state(module):
            shapes.append((*before, module.hidden_size))
    states = tuple(_random(weight, shape, generator) for shape in shapes)
    return states if len(states) > 1 else states[0]


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
        starts = ("h_0", "c_0") if len(state) == 2 else [f"state_0[{k}]" for k in range(len(state))]
        state = tuple(leaf(f"{name}.grad", tensor) for name, tensor in zip(starts, state))
    module.zero_grad()
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        inputs = input if type(input) is tuple else (input,)
        result = module(*inputs, **call) if state is None else module(*inputs, state, **call)

    tensors = _flat(result)
    values = dict(zip([*names, *(f"state_n[{k}]" for k in range(len(tensors)))], tensors))
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
    """Return the names that torch's documentation gives to a module's results; further results are `state_n[k]`."""
    if isinstance(module, ATTENTION | AdditiveAttention):
        return ["attn_output", "attn_output_weights"]
    if isinstance(module, CELLS):
        return ["h_1", "c_1"] if _has_cell_state(module) else ["h_1"]
    if isinstance(module, LAYERS):
        return ["output", "h_n", "c_n"] if _has_cell_state(module) else ["output", "h_n"]
    # the layers after the LSTM: one state, or several
    return ["output", "h_n"] if isinstance(module, SequenceLayer) and len(module.state_shapes()) == 1 else ["output"]


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
