"""Question `embedding_layer`: the layer as a module, with a padding row."""

import torch
from torch import nn

from companion.check.engine.module_parameters import set_parameters
from companion.check.engine.probe import Probe, Unfit, named, plain
from companion.check.engine.question import Question
from companion.check.engine.run_answer import note_changes
from companion.check.questions.embedding.indices import LOOK_UP, AnyShape, balanced_indices
from companion.check.questions.embedding.lookup import (
    LOOKUP_EXCLUSIVE,
    LOOKUP_MISTAKES,
    arranged_reference,
    rows_reference,
)
from companion.check.questions.embedding.weight_gradient import PADDING_MISTAKES, padding_reference

LAYER_MISTAKES = {
    **PADDING_MISTAKES,
    "padding_row_not_zero": "embedding#padding",
    "padding_read_as_zeros": "embedding_parameters#padding-overwritten",
    "table_transposed": "embedding#linear",
    "weight_frozen": "embedding#learning",
    **LOOKUP_MISTAKES,
}
NEW = "Embedding(…).weight"


def layer_reference(mistakes):
    class Embedding(nn.Module):
        def __init__(self, num_embeddings, embedding_dim, padding_idx=None):
            super().__init__()
            self.padding_idx, self.given = padding_reference(mistakes, padding_idx), padding_idx
            weight = torch.randn(num_embeddings, embedding_dim)
            zero = padding_idx if "padding_row_trained" in mistakes else self.padding_idx
            if zero is not None and "padding_row_not_zero" not in mistakes:
                weight[zero] = 0
            weight = weight.T if "table_transposed" in mistakes else weight
            self.weight = nn.Parameter(weight, requires_grad="weight_frozen" not in mistakes)

        def forward(self, indices):
            weight = self.weight.T if "table_transposed" in mistakes else self.weight
            if self.given is not None and "padding_read_as_zeros" in mistakes:
                nothing = torch.zeros_like(weight)
                nothing[self.given] = weight[self.given].detach()
                weight = weight - nothing
            if self.padding_idx is not None:
                trained = torch.ones(len(weight), 1, dtype=bool)
                trained[self.padding_idx] = False
                weight = torch.where(trained, weight, weight.detach())
            return arranged_reference(mistakes, rows_reference(mistakes, weight, indices))

    return Embedding


def call_layer(answer, probe, outcome):
    """Call like `Module`, and record the new layer's requires_grad and padding row.

    The gradient is the one that `backward` leaves on the weight: some hooks are called by `backward` only.
    """
    options, indices = probe.options, probe.tensors["indices"].clone()
    padding = {"padding_idx": options["padding_idx"]} if "padding_idx" in options else {}
    module = answer(options["num_embeddings"], options["embedding_dim"], **padding)
    initial = {id(tensor): (tensor.requires_grad, tensor.detach().clone()) for tensor in tensors_of(module)}
    weight = set_parameters(module, {"weight": probe.tensors["weight"]}, outcome)["weight"]
    learns, start = initial.get(id(weight), (True, torch.zeros(probe.tensors["weight"].shape)))
    if not callable(module):
        raise Unfit("not_callable", got=type(module).__name__)

    rows = named(module(indices), "rows")["rows"]
    note_changes({"indices": probe.tensors["indices"]}, {"indices": indices}, outcome)
    outcome.values["rows"] = plain(rows)
    if padding:
        start = start if start.shape == probe.tensors["weight"].shape else start.T
        is_zero = not start[padding["padding_idx"]].any()
        outcome.values[f"all({NEW}[padding_idx] == 0)"] = torch.tensor(float(is_zero))
    # a tensor that is not a parameter is a mistake of its own
    outcome.values[f"{NEW}.requires_grad"] = torch.tensor(float(learns or not isinstance(weight, nn.Parameter)))
    if probe.gradients is not None:
        if rows.requires_grad:
            (torch.cos(1 + 1.7 * torch.arange(rows.numel())).reshape(rows.shape).to(rows) * rows).sum().backward()
        outcome.values["grad of weight"] = plain(torch.zeros_like(weight) if weight.grad is None else weight.grad)


def tensors_of(module):
    """Return a module's parameters, buffers and other tensors."""
    if not isinstance(module, nn.Module):
        return []
    return [*module.parameters(), *module.buffers(), *filter(torch.is_tensor, vars(module).values())]


def layer_probes(draw):
    def probe(name, draw, rows, columns, indices, **padding):
        tensors = {"indices": indices, "weight": draw(rows, columns)}
        options = {"num_embeddings": rows, "embedding_dim": columns} | padding
        return Probe(name, tensors, options, parameters=("weight",))

    return [
        probe("no_padding", draw.few, 3, 4, balanced_indices(draw, 2, 2)),
        probe("padding_zero", draw.few, 4, 6, balanced_indices(draw, 3, 5), padding_idx=0),
        probe("padding", draw, 5, 6, balanced_indices(draw, 4, 7), padding_idx=2),
        probe("two_dimensions", draw, 5, 7, balanced_indices(draw, 4, 2, 3)),
    ]


QUESTION = Question(
    name="embedding_layer",
    answer="Embedding",
    assignment="embedding",
    task=4,
    points=4,
    place="embedding#from-scratch",
    call=AnyShape(call_layer),
    truth=nn.Embedding,
    reference=layer_reference,
    mistakes=LAYER_MISTAKES,
    probes=layer_probes,
    exclusive=(
        *LOOKUP_EXCLUSIVE,
        frozenset(PADDING_MISTAKES),
        *(frozenset({"padding_idx_missing", name}) for name in ("padding_row_not_zero", "padding_read_as_zeros")),
        frozenset({"padding_always_row_zero", "padding_row_not_zero"}),
        frozenset({"table_transposed", "columns_read", "table_turned"}),
    ),
    axes={"rows": ("place", "column"), "weight": ("row", "column")},
    forbidden=LOOK_UP,
)
