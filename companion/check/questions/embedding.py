"""The questions of the assignment `embedding`: one-hot vectors, look-up, its gradient, the layer, means of bags."""

from dataclasses import dataclass

import torch
from torch import nn

from companion.check import running
from companion.check.question import Question
from companion.check.running import AUTOGRAD, EMBEDDING, Function, Probe, Unfit
from companion.check.running import named, note_changes, plain, set_parameters

# Except in its own question torch's one_hot is a way to the answer and not the answer: the book says so itself.
LOOK_UP = EMBEDDING - {"aten::one_hot"}


class SeveralDimensions(Exception):
    """Whatever an answer stopped with at indices of more than one dimension."""


class NoSuchArgument(Exception):
    """An answer was not even entered, because it does not take `padding_idx`."""


@dataclass(frozen=True)
class AnyShape:
    """Calls as `call` does, and gives errors that are known mistakes one type each, so that they have a name.

    The many ways to write a loop over a flat list stop with as many types of errors at a batch. And a TypeError is
    raised by much else than a missing argument.
    """

    call: object

    def __call__(self, answer, probe, outcome):
        try:
            self.call(answer, probe, outcome)
        except (Unfit, NotImplementedError):  # the latter: not written yet, in any shape
            raise
        except Exception as error:
            known = None
            if "padding_idx" in probe.options and isinstance(error, TypeError) and not entered(error):
                known = NoSuchArgument
            elif probe.tensors["indices"].dim() > 1:
                known = SeveralDimensions
            if known is None:
                raise
            raise known(f"{type(error).__name__}: {error}").with_traceback(error.__traceback__) from None


def entered(error):
    """Whether an error comes from inside an answer, and not from the line that calls it."""
    place = error.__traceback__
    while place.tb_next:
        place = place.tb_next
    return place.tb_frame.f_code.co_filename not in (__file__, running.__file__)


def spread(draw, high, *shape):
    """Indices of this shape in a random order, in which all from 0 to high - 1 occur equally often, or nearly so.

    The tables of the probes have more rows than that: so who reads one row too far ends in no error, of which there
    would be as many types as there are ways to read.
    """
    count = torch.Size(shape).numel()
    return (draw(count).argsort() % high).reshape(shape)


def first(index, indices):
    """The same indices with this one first, so that even a loop that ends too early meets it."""
    at = int((indices == index).nonzero()[0])
    indices[[0, at]] = indices[[at, 0]]
    return indices


def read_reference(mistakes, indices):
    """The indices that are read instead of `indices`."""
    if "flat_indices_only" in mistakes and indices.dim() > 1:
        raise SeveralDimensions
    return indices + int("one_too_far" in mistakes) - int("counts_from_one" in mistakes)


def looped_reference(mistakes, indices):
    """Which places a loop has reached, as numbers 1 or 0 of the shape of the indices."""
    reached = torch.ones(indices.numel())
    if "return_in_the_loop" in mistakes:
        reached[1:] = 0
    if "last_place_left_out" in mistakes:
        reached[-1] = 0
    return reached.reshape(indices.shape)


INDEX_MISTAKES = {
    "counts_from_one": "embedding#from-text-to-indices",
    "one_too_far": "embedding#from-text-to-indices",
    "flat_indices_only": "embedding#any-shape",
    "shape_of_indices_lost": "embedding#any-shape",
    "return_in_the_loop": "",
}
INDEX_EXCLUSIVE = (
    frozenset({"counts_from_one", "one_too_far"}),
    frozenset({"return_in_the_loop", "last_place_left_out"}),
    frozenset({"size_from_indices", "one_column_too_many"}),
)


# One-hot vectors


ONE_HOT_MISTAKES = INDEX_MISTAKES | {
    "size_from_indices": "embedding#sizes",
    "one_column_too_many": "embedding#sizes",
    "integers_returned": "embedding#one-row-of-w",
    "index_zero_left_out": "embedding#from-text-to-indices",
    "one_vector_per_row": "embedding#any-shape",
    "one_vector_for_all": "embedding#one-hot-rows",
    "vocabulary_axis_first": "embedding#any-shape",
    "index_for_one": "embedding#no-order",
    "ones_and_zeros_swapped": "",
    "ones_up_to_index": "embedding#no-order",
    "last_place_left_out": "",
}


def one_hot_reference(mistakes):
    def one_hot(indices, num_embeddings):
        read, size = read_reference(mistakes, indices), num_embeddings
        if "size_from_indices" in mistakes:
            size = int(indices.max()) + 1
        if "one_column_too_many" in mistakes:
            size += 1
        marks = torch.eye(size)[read]
        if "ones_up_to_index" in mistakes:
            marks = (torch.arange(size) <= read[..., None]).double()
        if "index_zero_left_out" in mistakes:
            marks = marks.roll(-1, -1) * (indices > 0)[..., None]
        if "ones_and_zeros_swapped" in mistakes:
            marks = 1 - marks
        if "index_for_one" in mistakes:
            marks = marks * indices[..., None]
        marks = marks * looped_reference(mistakes, indices)[..., None]
        if "one_vector_for_all" in mistakes:
            marks = marks.reshape(-1, size).amax(0)
        if "one_vector_per_row" in mistakes and indices.dim() > 1:
            marks = marks.amax(-2)
        if "shape_of_indices_lost" in mistakes:
            marks = marks.reshape(-1, size)
        if "vocabulary_axis_first" in mistakes:
            marks = marks.movedim(-1, 0)
        return marks.long() if "integers_returned" in mistakes else marks

    return one_hot


def call_one_hot(answer, probe, outcome):
    """Remarks as well whether the vectors are of floating point, without which no matrix can be multiplied by them."""
    indices = probe.tensors["indices"].clone()
    returned = named(answer(indices, probe.options["num_embeddings"]), "one_hot")
    note_changes({"indices": probe.tensors["indices"]}, {"indices": indices}, outcome)
    outcome.values["one_hot"] = plain(returned["one_hot"])
    outcome.values["one_hot.is_floating_point()"] = torch.tensor(float(returned["one_hot"].is_floating_point()))


def one_hot_probes(draw):
    def probe(name, size, indices):
        return Probe(name, {"indices": indices}, {"num_embeddings": size})

    return [
        probe("no_repeats", 3, spread(draw, 2, 2)),
        probe("flat", 5, spread(draw, 4, 7)),
        probe("two_dimensions", 6, spread(draw, 4, 2, 3)),
        probe("two_dimensions", 5, spread(draw, 3, 4, 2)),
    ]


ONE_HOT = Question(
    name="one_hot",
    assignment="embedding",
    points=1,
    place="embedding#one-hot",
    call=AnyShape(call_one_hot),
    truth=lambda indices, num_embeddings: nn.functional.one_hot(indices, num_embeddings).double(),
    reference=one_hot_reference,
    mistakes=ONE_HOT_MISTAKES,
    probes=one_hot_probes,
    exclusive=(
        *INDEX_EXCLUSIVE,
        frozenset({"counts_from_one", "one_too_far", "index_zero_left_out"}),
        frozenset({"ones_up_to_index", "index_for_one", "index_zero_left_out"}),
        frozenset({"one_vector_for_all", "one_vector_per_row", "shape_of_indices_lost", "flat_indices_only"}),
        frozenset({"one_vector_for_all", "vocabulary_axis_first"}),
    ),
    axes={"one_hot": ("place", "column")},
    forbidden=EMBEDDING,
)


# The look-up


LOOKUP_MISTAKES = INDEX_MISTAKES | {
    "columns_read": "embedding#one-row-of-w",
    "table_turned": "embedding#one-row-of-w",
    "embedding_dim_first": "embedding#any-shape",
    "places_summed": "embedding#any-shape",
    "places_averaged": "embedding#any-shape",
    "first_column_only": "embedding#one-row-of-w",
    "first_column_only~number": "",
    "one_vector_per_row": "embedding#any-shape",
    "repeats_left_out": "embedding#one-hot-rows",
    "rows_scaled": "",
}
LOOKUP_EXCLUSIVE = (
    *INDEX_EXCLUSIVE,
    frozenset({"columns_read", "table_turned", "first_column_only"}),
    frozenset({"columns_read", "embedding_dim_first"}),
    frozenset({"places_summed", "places_averaged", "shape_of_indices_lost", "repeats_left_out", "return_in_the_loop"}),
    frozenset({"one_vector_per_row", "places_summed", "places_averaged", "repeats_left_out", "return_in_the_loop"}),
    frozenset({"flat_indices_only", "shape_of_indices_lost", "one_vector_per_row"}),
)


def rows_reference(mistakes, table, indices):
    """The rows that are read; `table` is of the right shape."""
    read = read_reference(mistakes, indices)
    if "return_in_the_loop" in mistakes:
        read = read[:1]
    if "repeats_left_out" in mistakes:
        read = read.unique()
    table = table.T if mistakes & {"columns_read", "table_turned"} else table
    rows = table[read]
    if "one_vector_per_row" in mistakes and indices.dim() > 1:
        rows = torch.eye(len(table))[read].amax(-2) @ table
    if "rows_scaled" in mistakes:
        rows = rows * rows.shape[-1] ** 0.5
    if "first_column_only" in mistakes:
        rows = rows[..., :1]
    return rows[..., 0] if "first_column_only~number" in mistakes else rows


def arranged_reference(mistakes, rows):
    """The rows in the shape in which they are returned."""
    if "places_summed" in mistakes:
        rows = rows.sum(-2)
    if "places_averaged" in mistakes:
        rows = rows.mean(-2)
    if "shape_of_indices_lost" in mistakes:
        rows = rows.reshape(-1, rows.shape[-1])
    return rows.movedim(-1, 0) if mistakes & {"columns_read", "embedding_dim_first"} else rows


def lookup_reference(mistakes):
    def lookup(weight, indices):
        return arranged_reference(mistakes, rows_reference(mistakes, weight, indices))

    return lookup


def lookup_probes(draw):
    # fewer rows than columns: so what reads columns finds one for each index, and is seen by what it returns
    def probe(name, draw, rows, columns, indices):
        return Probe(name, {"weight": draw(rows, columns), "indices": indices}, gradients=("weight",))

    return [
        probe("no_repeats", draw.few, 3, 4, spread(draw, 2, 2)),
        probe("flat", draw, 5, 6, spread(draw, 4, 7)),
        probe("two_dimensions", draw, 5, 7, spread(draw, 4, 2, 3)),
    ]


LOOKUP = Question(
    name="lookup",
    assignment="embedding",
    points=2,
    place="embedding#look-up-equation",
    call=AnyShape(Function(("weight", "indices"), "rows")),
    truth=lambda weight, indices: nn.functional.embedding(indices, weight),
    reference=lookup_reference,
    mistakes=LOOKUP_MISTAKES,
    probes=lookup_probes,
    exclusive=LOOKUP_EXCLUSIVE,
    axes={"rows": ("place", "column"), "weight": ("row", "column")},
    forbidden=LOOK_UP,
)


# The gradient of the table


PADDING_MISTAKES = {
    "padding_row_trained": "embedding#padding",
    "padding_idx_zero_ignored": "embedding#padding",
    "padding_always_row_zero": "embedding#padding",
    "padding_by_default": "embedding#padding",
    "padding_idx_missing": "embedding#padding",
}
GRADIENT_MISTAKES = {
    "repeats_lost": "",
    **PADDING_MISTAKES,
    "padding_place_zeroed": "embedding#padding",
    "padding_row_removed": "embedding#padding",
    "repeats_in_row_lost": "embedding#any-shape",
    "divided_by_frequency": "embedding#max-norm-said",
    "divided_by_places": "",
    "grad_output_ignored": "embedding#gradient-rows",
    "gradient_to_all_rows": "embedding#gradient-said",
    "gradient_turned": "",
    "gradient_negated": "embedding#learning",
    "batch_not_summed": "embedding#any-shape",
    "unread_rows_left_out": "embedding#gradient-said",
    "size_from_indices": "embedding#sizes",
    "last_place_left_out": "",
    **{name: place for name, place in INDEX_MISTAKES.items() if name != "shape_of_indices_lost"},
}
PADDING_EXCLUSIVE = frozenset({*PADDING_MISTAKES, "padding_place_zeroed", "padding_row_removed"})


def padding_reference(mistakes, padding_idx):
    """The row that gets no gradient, or None."""
    if padding_idx is not None and "padding_idx_missing" in mistakes:
        raise NoSuchArgument
    if "padding_always_row_zero" in mistakes or "padding_by_default" in mistakes and padding_idx is None:
        return 0
    if "padding_row_trained" in mistakes or "padding_idx_zero_ignored" in mistakes and padding_idx == 0:
        return None
    return padding_idx


def weight_gradient_reference(mistakes):
    def gradient_of(read, grad, size):
        """The sums of `grad` (k, embedding_dim) by row."""
        if "repeats_lost" in mistakes:
            found = grad.new_zeros(size, grad.shape[-1])
            for row, one in zip(read.tolist(), grad):
                found[row] = one
            return found
        # as rows of the identity, which counts negative indices from the end as W[i] does
        return torch.eye(size)[read].to(grad).T @ grad

    def last_of_each(read, grad, size):
        found = grad.new_zeros(size, grad.shape[-1])
        found[read] = grad
        return found

    def weight_gradient(indices, grad_output, num_embeddings, padding_idx=None):
        padding_idx = padding_reference(mistakes, padding_idx)
        read, size, dim = read_reference(mistakes, indices), num_embeddings, grad_output.shape[-1]
        if "size_from_indices" in mistakes:
            size = int(indices.max()) + 1
        grad = torch.ones_like(grad_output) if "grad_output_ignored" in mistakes else grad_output.clone()
        grad = grad * looped_reference(mistakes, indices)[..., None]
        if "padding_place_zeroed" in mistakes and padding_idx is not None:
            grad[padding_idx] = 0
            padding_idx = None
        if "batch_not_summed" in mistakes and indices.dim() > 1:
            found = torch.stack([gradient_of(*row, size) for row in zip(read, grad)])
        elif "repeats_in_row_lost" in mistakes and indices.dim() > 1:
            found = sum(last_of_each(*row, size) for row in zip(read, grad))
        elif "gradient_to_all_rows" in mistakes:
            found = grad.reshape(-1, dim).sum(0).repeat(size, 1)
        else:
            found = gradient_of(read.flatten(), grad.reshape(-1, dim), size)
        if "divided_by_frequency" in mistakes:
            found = found / read.flatten().remainder(size).bincount(minlength=size).clamp(min=1)[:, None]
        if "divided_by_places" in mistakes:
            found = found / indices.numel()
        if "gradient_negated" in mistakes:
            found = -found
        kept = torch.ones(size, dtype=bool)
        if padding_idx is not None:
            found[..., padding_idx, :] = 0
            kept[padding_idx] = "padding_row_removed" not in mistakes
        if "unread_rows_left_out" in mistakes:
            kept &= torch.eye(size)[read.flatten()].any(0)
        found = found[..., kept, :]
        return found.transpose(-1, -2) if "gradient_turned" in mistakes else found

    return weight_gradient


def weight_gradient_truth(indices, grad_output, num_embeddings, padding_idx=None):
    weight = torch.zeros(num_embeddings, grad_output.shape[-1], dtype=grad_output.dtype, requires_grad=True)
    rows = nn.functional.embedding(indices, weight, padding_idx)
    return torch.autograd.grad(rows, weight, grad_output)[0]


def weight_gradient_probes(draw):
    def probe(name, draw, rows, columns, indices, **padding):
        tensors = {"indices": indices, "grad_output": draw(*indices.shape, columns)}
        return Probe(name, tensors, {"num_embeddings": rows} | padding, gradients=None)

    # a row in which an index stands twice, an index that stands in two rows, and rows between that are not read
    batch = 2 * spread(draw, 3, 3, 4)
    batch[1, 0] = batch[0, 0]
    return [
        probe("no_padding", draw.few, 3, 2, spread(draw, 2, 3)),
        probe("padding_zero", draw.few, 4, 2, first(0, spread(draw, 3, 5)), padding_idx=0),
        probe("padding", draw, 5, 3, first(2, spread(draw, 4, 7)), padding_idx=2),
        probe("two_dimensions", draw, 6, 2, batch),
    ]


WEIGHT_GRADIENT = Question(
    name="weight_gradient",
    assignment="embedding",
    points=3,
    place="embedding#gradient",
    call=AnyShape(Function(("indices", "grad_output", "num_embeddings", "padding_idx"), "gradient")),
    truth=weight_gradient_truth,
    reference=weight_gradient_reference,
    mistakes=GRADIENT_MISTAKES,
    probes=weight_gradient_probes,
    exclusive=(
        *INDEX_EXCLUSIVE,
        PADDING_EXCLUSIVE,
        frozenset({"repeats_lost", "repeats_in_row_lost", "batch_not_summed", "gradient_to_all_rows"}),
        frozenset({"gradient_to_all_rows", "unread_rows_left_out", "divided_by_frequency", "size_from_indices"}),
        frozenset({"gradient_to_all_rows", "counts_from_one", "one_too_far"}),
        frozenset({"batch_not_summed", "divided_by_frequency"}),
        frozenset({"flat_indices_only", "repeats_in_row_lost", "batch_not_summed"}),
        frozenset({"divided_by_frequency", "divided_by_places"}),
    ),
    axes={"gradient": ("row", "column")},
    forbidden=LOOK_UP | AUTOGRAD,
)


# The layer


LAYER_MISTAKES = {
    **PADDING_MISTAKES,
    "padding_row_not_zero": "embedding#padding",
    "padding_read_as_zeros": "embedding#padding-overwritten",
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
    """As `Module` calls, and looks at the layer as it was made: whether it learns, and its padding row.

    The gradient is that which `backward` leaves on the weight, as there are hooks that only this one calls.
    """
    options, indices = probe.options, probe.tensors["indices"].clone()
    padding = {"padding_idx": options["padding_idx"]} if "padding_idx" in options else {}
    module = answer(options["num_embeddings"], options["embedding_dim"], **padding)
    made = {id(one): (one.requires_grad, one.detach().clone()) for one in tensors_of(module)}
    weight = set_parameters(module, {"weight": probe.tensors["weight"]}, outcome)["weight"]
    learns, start = made.get(id(weight), (True, torch.zeros(probe.tensors["weight"].shape)))
    if not callable(module):
        raise Unfit("not_callable", got=type(module).__name__)

    rows = named(module(indices), "rows")["rows"]
    note_changes({"indices": probe.tensors["indices"]}, {"indices": indices}, outcome)
    outcome.values["rows"] = plain(rows)
    if padding:
        start = start if start.shape == probe.tensors["weight"].shape else start.T
        is_zero = not start[padding["padding_idx"]].any()
        outcome.values[f"all({NEW}[padding_idx] == 0)"] = torch.tensor(float(is_zero))
    # a plain tensor is a mistake with a name of its own
    outcome.values[f"{NEW}.requires_grad"] = torch.tensor(float(learns or not isinstance(weight, nn.Parameter)))
    if probe.gradients is not None:
        if rows.requires_grad:
            (torch.cos(1 + 1.7 * torch.arange(rows.numel())).reshape(rows.shape).to(rows) * rows).sum().backward()
        outcome.values["grad of weight"] = plain(torch.zeros_like(weight) if weight.grad is None else weight.grad)


def tensors_of(module):
    if not isinstance(module, nn.Module):
        return []
    return [*module.parameters(), *module.buffers(), *(one for one in vars(module).values() if torch.is_tensor(one))]


def layer_probes(draw):
    def probe(name, draw, rows, columns, indices, **padding):
        tensors = {"indices": indices, "weight": draw(rows, columns)}
        options = {"num_embeddings": rows, "embedding_dim": columns} | padding
        return Probe(name, tensors, options, parameters=("weight",))

    return [
        probe("no_padding", draw.few, 3, 4, spread(draw, 2, 2)),
        probe("padding_zero", draw.few, 4, 6, spread(draw, 3, 5), padding_idx=0),
        probe("padding", draw, 5, 6, spread(draw, 4, 7), padding_idx=2),
        probe("two_dimensions", draw, 5, 7, spread(draw, 4, 2, 3)),
    ]


LAYER = Question(
    name="embedding_layer",
    answer="Embedding",
    assignment="embedding",
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


# Means of bags


BAG_MISTAKES = {
    "bag_summed": "",
    "bag_largest": "",
    "last_bag_missing": "",
    "empty_bag_not_a_number": "",
    "empty_bag_left_out": "",
    "offsets_as_lengths": "",
    "last_index_left_out": "",
    "bag_end_included": "",
    "bag_end_included~empty_kept": "",
    "bag_end_too_early": "",
    "bag_start_too_late": "",
    "bags_begin_at_zero": "",
    "divided_by_bags": "",
    "divided_by_places": "",
    "repeats_counted_once": "embedding#one-hot-rows",
    "counts_from_one": "embedding#from-text-to-indices",
    "one_too_far": "embedding#from-text-to-indices",
    "return_in_the_loop": "",
}


def embedding_bag_reference(mistakes):
    def mean(rows, bags, places):
        if "bag_largest" in mistakes:
            return rows.amax(0)
        total = rows.sum(0)
        if "bag_summed" in mistakes:
            return total
        if "divided_by_bags" in mistakes:
            return total / bags
        return total / (places if "divided_by_places" in mistakes else len(rows))

    def embedding_bag(weight, indices, offsets):
        places, starts = len(indices), offsets.tolist()
        ends = [*starts[1:], places - ("last_index_left_out" in mistakes)]
        if "offsets_as_lengths" in mistakes:
            ends = offsets.cumsum(0).tolist()
            starts = [0, *ends[:-1]]
        if "bags_begin_at_zero" in mistakes:
            starts = [0] * len(starts)
        bags = []
        for start, end in zip(starts, ends):
            start += "bag_start_too_late" in mistakes
            empty = end <= start
            end += ("bag_end_included" in mistakes) - ("bag_end_too_early" in mistakes)
            end += "bag_end_included~empty_kept" in mistakes and not empty
            read = read_reference(mistakes, indices[start:end])
            if "repeats_counted_once" in mistakes:
                read = read.unique()
            if len(read):
                bags.append(mean(weight[read], len(offsets), places))
            elif "empty_bag_left_out" not in mistakes:
                nothing = torch.nan if "empty_bag_not_a_number" in mistakes else 0.0
                bags.append(weight.new_full(weight.shape[1:], nothing))
        if "last_bag_missing" in mistakes:
            bags = bags[:-1]
        if "return_in_the_loop" in mistakes:
            bags = bags[:1]
        return torch.stack(bags)

    return embedding_bag


def call_bag(answer, probe, outcome):
    """As `Function` calls. Where a result is not a number its gradient depends on how it came about: it gets none."""
    call = Function(("weight", "indices", "offsets"), "bags")
    call(answer, probe, outcome)
    if outcome.values["bags"].isnan().any():
        outcome.values.pop("grad of weight", None)


def bag_probes(draw):
    # Of six indices, 0 to 3, two stand there twice and two once: so it is seen who counts them once. And the offsets,
    # taken for lengths, add up to the number of indices: so this mistake ends in no error.
    def probe(name, weight, *lengths):
        indices = torch.cat([spread(draw, 4, length) for length in lengths])
        offsets = torch.tensor([0, *lengths[:-1]]).cumsum(0)
        return Probe(name, {"weight": weight, "indices": indices, "offsets": offsets}, gradients=("weight",))

    # as draw.few, but no two of a column are equal, of which each might be the largest
    few = draw.few(4, 2).sign() * (2 + draw(8, 2).argsort(0)[:4]) / 10
    return [
        probe("no_empty_bag", few, 1, 2, 1),
        probe("no_empty_bag", draw(5, 3), 2, 6, 2),
        probe("empty_bag", draw(4, 3), 2, 0, 2),
        probe("empty_bag", draw(5, 2), 3, 0),
    ]


BAG = Question(
    name="embedding_bag",
    assignment="embedding",
    points=3,
    place="embedding#look-up-equation",
    call=call_bag,
    truth=lambda weight, indices, offsets: nn.functional.embedding_bag(indices, weight, offsets, mode="mean"),
    reference=embedding_bag_reference,
    mistakes=BAG_MISTAKES,
    probes=bag_probes,
    exclusive=(
        *INDEX_EXCLUSIVE,
        frozenset({"bag_summed", "bag_largest", "divided_by_bags", "divided_by_places"}),
        frozenset({"bag_largest", "repeats_counted_once"}),
        frozenset({"empty_bag_not_a_number", "empty_bag_left_out"}),
        frozenset({"bag_end_included", "bag_end_too_early", "last_index_left_out", "offsets_as_lengths"}),
        frozenset({"bag_start_too_late", "bags_begin_at_zero"}),
        frozenset({"last_bag_missing", "return_in_the_loop", "last_index_left_out"}),
        *(
            frozenset({one, other})
            for one in ("empty_bag_not_a_number", "empty_bag_left_out")
            for other in ("return_in_the_loop", "bags_begin_at_zero")
        ),
    ),
    axes={"bags": ("bag", "column"), "weight": ("row", "column")},
    forbidden=LOOK_UP,
    stretch=True,
)

QUESTIONS = [ONE_HOT, LOOKUP, WEIGHT_GRADIENT, LAYER, BAG]
