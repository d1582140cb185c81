"""The assignment `embedding`: answers as they come in, wrong in one way or two, or right in a way of their own."""

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch import nn

import companion
from companion.check import check
from companion.check.question import all_questions
from programs import found, questions, tried
from sampling import sample

QUESTIONS = questions("embedding")
SEEDS = (0, 3)


# Wrong in one way. Each is a function of its own, as somebody would write it; its docstring is the mistake.

WRONG = {question: [] for question in QUESTIONS}


def wrong(question, *mistakes):
    def keep(answer):
        WRONG[question].append((mistakes, answer))
        return answer

    return keep


@wrong("one_hot", "counts_from_one")
def _(indices, num_embeddings):
    flat = indices.reshape(-1)
    out = torch.zeros(len(flat), num_embeddings)
    for k in range(len(flat)):
        out[k, flat[k] - 1] = 1
    return out.reshape(*indices.shape, num_embeddings)


@wrong("one_hot", "one_too_far")
def _(indices, n):
    return torch.zeros(*indices.shape, n).scatter_(-1, indices.unsqueeze(-1) + 1, 1.0)


@wrong("one_hot", "one_too_far")
def _(indices, n):
    return (torch.arange(n) == indices[..., None] + 1).double()


@wrong("one_hot", "index_zero_left_out")
def _(indices, n):
    return (indices.unsqueeze(-1) == torch.arange(1, n + 1)).to(torch.float64)


@wrong("one_hot", "flat_indices_only")
def _(indices, n):
    out = torch.zeros(len(indices), n, dtype=torch.float64)
    out[torch.arange(len(indices)), indices] = 1.0
    return out


@wrong("one_hot", "flat_indices_only")
def _(indices, n):
    rows = []
    for i in indices:
        row = [0.0] * n
        row[int(i)] = 1.0
        rows.append(row)
    return torch.tensor(rows)


@wrong("one_hot", "flat_indices_only")
def _(indices, n):
    return torch.stack([torch.eye(n)[int(i)] for i in indices])


@wrong("one_hot", "shape_of_indices_lost")
def _(indices, n):
    flat = indices.flatten()
    out = torch.zeros(flat.numel(), n)
    out[range(flat.numel()), flat] = 1
    return out


@wrong("one_hot", "return_in_the_loop")
def _(indices, n):
    flat = indices.flatten()
    out = torch.zeros(flat.numel(), n)
    for place, index in enumerate(flat):
        out[place, index] = 1
        return out.view(*indices.shape, n)


@wrong("one_hot", "last_place_left_out")
def _(indices, n):
    out = torch.zeros(indices.numel(), n)
    for k in range(indices.numel() - 1):
        out[k][indices.flatten()[k]] = 1
    return out.view(indices.shape + (n,))


@wrong("one_hot", "size_from_indices")
def _(indices, n):
    return (indices[..., None] == torch.arange(indices.max() + 1)).double()


@wrong("one_hot", "one_column_too_many")
def _(indices, n):
    return torch.eye(n + 1)[indices]


@wrong("one_hot", "integers_returned")
def _(indices, n):
    return indices[..., None] == torch.arange(n)


@wrong("one_hot", "integers_returned")
def _(indices, n):
    return torch.eye(n, dtype=torch.int64)[indices]


@wrong("one_hot", "one_vector_per_row")
def _(indices, n):
    out = torch.zeros(len(indices), n)
    for k, i in enumerate(indices):
        out[k, i] = 1
    return out


@wrong("one_hot", "one_vector_for_all")
def _(indices, n):
    out = torch.zeros(n)
    out[indices] = 1
    return out


@wrong("one_hot", "vocabulary_axis_first")
def _(indices, n):
    return torch.stack([(indices == v).double() for v in range(n)])


@wrong("one_hot", "index_for_one")
def _(indices, n):
    return torch.zeros(*indices.shape, n).scatter_(-1, indices[..., None], indices[..., None].double())


@wrong("one_hot", "ones_and_zeros_swapped")
def _(indices, n):
    return (indices[..., None] != torch.arange(n)).double()


@wrong("one_hot", "ones_up_to_index")
def _(indices, n):
    return (torch.arange(n) <= indices[..., None]).double()


# The look-up: as functions, and the same lines as the forward of a class below


@wrong("lookup", "counts_from_one")
def _(weight, indices):
    return weight[indices - 1]


@wrong("lookup", "one_too_far")
def _(weight, indices):
    return torch.index_select(weight, 0, indices.reshape(-1) + 1).view(*indices.shape, -1)


@wrong("lookup", "flat_indices_only")
def _(weight, indices):
    return torch.stack([weight[i.item()] for i in indices])


@wrong("lookup", "flat_indices_only")
def _(weight, indices):
    return weight.index_select(0, indices)


@wrong("lookup", "one_vector_per_row")
def _(weight, indices):
    one_hot = torch.zeros(len(indices), len(weight))
    for k, i in enumerate(indices.tolist()):
        one_hot[k, i] = 1.0
    return one_hot @ weight


@wrong("lookup", "shape_of_indices_lost")
def _(weight, indices):
    return weight.index_select(0, indices.flatten())


@wrong("lookup", "return_in_the_loop")
def _(weight, indices):
    rows = []
    for i in indices:
        rows.append(weight[i])
        return torch.stack(rows)


@wrong("lookup", "columns_read")
def _(weight, indices):
    return weight[:, indices]


@wrong("lookup", "table_turned")
def _(weight, indices):
    return weight.t()[indices]


@wrong("lookup", "embedding_dim_first")
def _(weight, indices):
    return torch.stack([weight[:, column][indices] for column in range(weight.shape[1])])


@wrong("lookup", "places_summed")
def _(weight, indices):
    hot = torch.eye(weight.size(0))[indices]
    return hot.sum(dim=-2) @ weight


@wrong("lookup", "places_averaged")
def _(weight, indices):
    return weight[indices].mean(dim=-2)


@wrong("lookup", "first_column_only")
def _(weight, indices):
    return torch.gather(weight, 0, indices.reshape(-1, 1)).reshape(*indices.shape, 1)


@wrong("lookup", "repeats_left_out")
def _(weight, indices):
    read = sorted(set(indices.flatten().tolist()))
    return torch.stack([weight[i] for i in read])


@wrong("lookup", "rows_scaled")
def _(weight, indices):
    return weight[indices] * torch.sqrt(torch.tensor(float(weight.shape[-1])))


# The gradient


@wrong("weight_gradient", "repeats_lost")
def _(indices, grad_output, num_embeddings, padding_idx=None):
    grad = torch.zeros(num_embeddings, grad_output.shape[-1])
    grad[indices] += grad_output
    if padding_idx is not None:
        grad[padding_idx] = 0
    return grad


@wrong("weight_gradient", "repeats_lost")
def _(indices, grad_output, n, padding_idx=None):
    flat, g = indices.flatten().tolist(), grad_output.flatten(0, -2)
    grad = torch.zeros(n, g.size(1))
    for i, row in zip(flat, g):
        if i != padding_idx:
            grad[i] = row
    return grad


@wrong("weight_gradient", "padding_row_trained")
def _(indices, grad_output, n, padding_idx=None):
    grad_output = grad_output.reshape(indices.numel(), -1)
    return torch.zeros(n, grad_output.shape[-1]).index_add_(0, indices.flatten(), grad_output)


@wrong("weight_gradient", "padding_idx_zero_ignored")
def _(indices, grad_output, n, padding_idx=None):
    hot = torch.eye(n)[indices.reshape(-1)]
    grad = hot.T @ grad_output.reshape(-1, grad_output.shape[-1])
    if padding_idx:
        grad[padding_idx] = 0
    return grad


@wrong("weight_gradient", "padding_by_default")
def _(indices, grad_output, n, padding_idx=0):
    grad = torch.zeros(n, grad_output.shape[-1])
    grad.index_add_(0, indices.flatten(), grad_output.flatten(0, -2))
    grad[padding_idx] = 0
    return grad


@wrong("weight_gradient", "padding_always_row_zero")
def _(indices, grad_output, n, padding_idx=None):
    grad = torch.zeros(n, grad_output.shape[-1])
    for i, g in zip(indices.flatten(), grad_output.flatten(0, -2)):
        if i > 0:
            grad[i] += g
    return grad


@wrong("weight_gradient", "padding_idx_missing")
def _(indices, grad_output, n):
    grad = torch.zeros(n, grad_output.shape[-1])
    return grad.index_put((indices,), grad_output, accumulate=True)


@wrong("weight_gradient", "padding_place_zeroed")
def _(indices, grad_output, n, padding_idx=None):
    grad_output = grad_output.clone().flatten(0, -2)
    if padding_idx is not None:
        grad_output[padding_idx] = 0
    grad = torch.zeros(n, grad_output.shape[-1])
    grad.index_add_(0, indices.flatten(), grad_output)
    return grad


@wrong("weight_gradient", "padding_row_removed")
def _(indices, grad_output, n, padding_idx=None):
    rows = []
    for v in range(n):
        if v != padding_idx:
            rows.append(grad_output[indices == v].sum(0))
    return torch.stack(rows)


@wrong("weight_gradient", "repeats_in_row_lost")
def _(indices, grad_output, n, padding_idx=None):
    grad = torch.zeros(n, grad_output.shape[-1])
    for sequence, g in zip(indices, grad_output):
        grad[sequence] += g
    if padding_idx is not None:
        grad[padding_idx] = 0
    return grad


@wrong("weight_gradient", "divided_by_frequency")
def _(indices, grad_output, n, padding_idx=None):
    rows = []
    for v in range(n):
        mine = grad_output[indices == v]
        rows.append(mine.mean(0) if len(mine) and v != padding_idx else torch.zeros(grad_output.shape[-1]))
    return torch.stack(rows)


@wrong("weight_gradient", "divided_by_places")
def _(indices, grad_output, n, padding_idx=None):
    grad = torch.zeros(n, grad_output.shape[-1])
    for i, g in zip(indices.view(-1), grad_output.view(indices.numel(), -1)):
        if padding_idx is None or i != padding_idx:
            grad[i] += g / indices.numel()
    return grad


@wrong("weight_gradient", "grad_output_ignored")
def _(indices, grad_output, n, padding_idx=None):
    grad = torch.zeros(n, grad_output.shape[-1])
    for i in indices.flatten():
        grad[i] += 1
    if padding_idx is not None:
        grad[padding_idx] = 0
    return grad


@wrong("weight_gradient", "gradient_to_all_rows")
def _(indices, grad_output, n, padding_idx=None):
    grad = torch.zeros(n, grad_output.shape[-1])
    for g in grad_output.flatten(0, -2):
        grad += g
    if padding_idx is not None:
        grad[padding_idx] = 0
    return grad


@wrong("weight_gradient", "gradient_turned")
def _(indices, grad_output, n, padding_idx=None):
    hot = (indices.flatten()[:, None] == torch.arange(n)).double()
    if padding_idx is not None:
        hot[:, padding_idx] = 0
    return grad_output.flatten(0, -2).T @ hot


@wrong("weight_gradient", "gradient_negated")
def _(indices, grad_output, n, padding_idx=None):
    grad = torch.zeros(n, grad_output.shape[-1])
    for i, g in zip(indices.flatten(), grad_output.flatten(0, -2)):
        if i != padding_idx:
            grad[i] -= g
    return grad


@wrong("weight_gradient", "batch_not_summed")
def _(indices, grad_output, n, padding_idx=None):
    hot = torch.eye(n)[indices]
    grad = hot.transpose(-2, -1) @ grad_output
    if padding_idx is not None:
        grad[..., padding_idx, :] = 0
    return grad


@wrong("weight_gradient", "unread_rows_left_out")
def _(indices, grad_output, n, padding_idx=None):
    sums = {}
    for i, g in zip(indices.flatten().tolist(), grad_output.flatten(0, -2)):
        sums[i] = sums.get(i, 0) + g * (i != padding_idx)
    return torch.stack([sums[i] for i in sorted(sums)])


@wrong("weight_gradient", "size_from_indices")
def _(indices, grad_output, n, padding_idx=None):
    grad = torch.zeros(max(indices.flatten().tolist()) + 1, grad_output.shape[-1])
    grad.index_add_(0, indices.flatten(), grad_output.flatten(0, -2))
    if padding_idx is not None:
        grad[padding_idx].zero_()
    return grad


@wrong("weight_gradient", "last_place_left_out")
def _(indices, grad_output, n, padding_idx=None):
    i, g = indices.flatten(), grad_output.flatten(0, -2)
    grad = torch.zeros(n, g.shape[1])
    for k in range(len(i) - 1):
        if i[k] != padding_idx:
            grad[i[k]] += g[k]
    return grad


@wrong("weight_gradient", "counts_from_one")
def _(indices, grad_output, n, padding_idx=None):
    grad = torch.zeros(n, grad_output.shape[-1])
    for i, g in zip(indices.flatten(), grad_output.flatten(0, -2)):
        grad[i - 1] += g
    if padding_idx is not None:
        grad[padding_idx] = 0
    return grad


@wrong("weight_gradient", "one_too_far")
def _(indices, grad_output, n, padding_idx=None):
    grad = torch.zeros(n, grad_output.shape[-1]).index_add(0, 1 + indices.flatten(), grad_output.flatten(0, -2))
    if padding_idx is not None:
        grad[padding_idx] = 0
    return grad


@wrong("weight_gradient", "flat_indices_only")
def _(indices, grad_output, n, padding_idx=None):
    grad = torch.zeros(n, grad_output.shape[-1])
    for k in range(len(indices)):
        if indices[k].item() != padding_idx:
            grad[indices[k]] += grad_output[k]
    return grad


@wrong("weight_gradient", "return_in_the_loop")
def _(indices, grad_output, n, padding_idx=None):
    grad = torch.zeros(n, grad_output.shape[-1])
    for i, g in zip(indices.flatten(), grad_output.flatten(0, -2)):
        grad[i] += g
        if padding_idx is not None:
            grad[padding_idx] = 0
        return grad


# The layer


class Right(nn.Module):
    """A right layer, whose parts the wrong ones replace."""

    def __init__(self, num_embeddings, embedding_dim, padding_idx=None):
        super().__init__()
        self.padding_idx = padding_idx
        self.weight = nn.Parameter(torch.randn(num_embeddings, embedding_dim))
        if padding_idx is not None:
            self.weight.data[padding_idx] = 0

    def table(self):
        if self.padding_idx is None:
            return self.weight
        mask = (torch.arange(len(self.weight)) == self.padding_idx).unsqueeze(1)
        return torch.where(mask, self.weight.detach(), self.weight)

    def forward(self, indices):
        return self.table()[indices]


for mistakes, look_up in WRONG["lookup"]:

    def forward(self, indices, look_up=look_up):
        return look_up(self.table(), indices)

    wrong("embedding_layer", *mistakes)(type("Embedding", (Right,), {"forward": forward}))


@wrong("embedding_layer", "padding_row_trained")
class _(nn.Module):
    def __init__(self, num_embeddings, embedding_dim, padding_idx=None):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(num_embeddings, embedding_dim))
        if padding_idx is not None:
            with torch.no_grad():
                self.weight[padding_idx].fill_(0)

    def forward(self, x):
        return self.weight[x]


@wrong("embedding_layer", "padding_idx_zero_ignored")
class _(nn.Module):
    def __init__(self, num_embeddings, embedding_dim, padding_idx=None):
        super().__init__()
        self.padding_idx = padding_idx
        w = torch.randn(num_embeddings, embedding_dim)
        if padding_idx:
            w[padding_idx] = 0
        self.weight = nn.Parameter(w)
        if padding_idx:
            self.weight.register_hook(self.no_padding)

    def no_padding(self, gradient):
        gradient = gradient.clone()
        gradient[self.padding_idx] = 0
        return gradient

    def forward(self, x):
        return self.weight[x]


@wrong("embedding_layer", "padding_by_default")
class _(nn.Module):
    def __init__(self, num_embeddings, embedding_dim, padding_idx=0):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(num_embeddings, embedding_dim))
        self.weight.data[padding_idx] = 0
        self.weight.register_hook(lambda grad: grad * (torch.arange(len(grad)) != padding_idx).unsqueeze(1))

    def forward(self, indices):
        return self.weight[indices]


@wrong("lookup", "first_column_only")
def _(weight, indices):
    return weight.gather(0, indices.flatten().unsqueeze(1)).view(indices.shape)


@wrong("embedding_bag", "bag_end_included")
def _(weight, indices, offsets):
    means = []
    for start, end in zip(offsets.tolist(), [*offsets.tolist()[1:], len(indices)]):
        if start == end:
            means.append(torch.zeros(weight.shape[1]))
        else:
            means.append(weight[indices[start : end + 1]].mean(0))
    return torch.stack(means)


@wrong("embedding_layer", "padding_always_row_zero")
class _(nn.Module):
    def __init__(self, num_embeddings, embedding_dim, padding_idx=None):
        super().__init__()
        w = torch.randn(num_embeddings, embedding_dim)
        w[0] = 0
        self.weight = nn.Parameter(w)

    def forward(self, x):
        rows = self.weight[x]
        return torch.where((x == 0)[..., None], rows.detach(), rows)


@wrong("embedding_layer", "padding_idx_missing")
class _(nn.Module):
    def __init__(self, num_embeddings, embedding_dim):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(num_embeddings, embedding_dim))

    def forward(self, x):
        return self.weight[x]


@wrong("embedding_layer", "padding_row_not_zero")
class _(Right):
    def __init__(self, num_embeddings, embedding_dim, padding_idx=None):
        super().__init__(num_embeddings, embedding_dim, padding_idx)
        nn.init.uniform_(self.weight)


@wrong("embedding_layer", "padding_read_as_zeros")
class _(Right):
    def forward(self, x):
        rows = self.weight[x]
        if self.padding_idx is not None:
            rows = rows * (x != self.padding_idx).unsqueeze(-1)
        return rows


@wrong("embedding_layer", "table_transposed")
class _(nn.Module):
    def __init__(self, num_embeddings, embedding_dim, padding_idx=None):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(embedding_dim, num_embeddings))
        self.hidden = padding_idx
        if padding_idx is not None:
            self.weight.data[:, padding_idx] = 0
            self.weight.register_post_accumulate_grad_hook(self.clear)

    def clear(self, weight):
        weight.grad[:, self.hidden] = 0

    def forward(self, x):
        return self.weight.T[x]


@wrong("embedding_layer", "weight_frozen")
class _(Right):
    def __init__(self, *arguments, **options):
        super().__init__(*arguments, **options)
        self.weight = nn.Parameter(self.weight.data, requires_grad=False)


# The bags


def lengths_of(indices, offsets):
    return torch.diff(torch.cat([offsets, torch.tensor([len(indices)])])).tolist()


@wrong("embedding_bag", "bag_summed")
def _(weight, indices, offsets):
    return torch.stack([weight[bag].sum(0) for bag in indices.split(lengths_of(indices, offsets))])


@wrong("embedding_bag", "bag_largest")
def _(weight, indices, offsets):
    bags = [weight[bag] for bag in indices.split(lengths_of(indices, offsets))]
    return torch.stack([bag.max(0).values if len(bag) else torch.zeros(weight.shape[1]) for bag in bags])


def mean(rows):
    return rows.sum(0) / max(len(rows), 1)


@wrong("embedding_bag", "last_bag_missing")
def _(weight, indices, offsets):
    return torch.stack([mean(weight[indices[a:b]]) for a, b in zip(offsets, offsets[1:])])


@wrong("embedding_bag", "empty_bag_not_a_number")
def _(weight, indices, offsets):
    return torch.stack([weight[bag].mean(0) for bag in indices.split(lengths_of(indices, offsets))])


@wrong("embedding_bag", "empty_bag_not_a_number")
def _(weight, indices, offsets):
    which = (torch.arange(len(indices)) >= offsets[:, None]).sum(0) - 1
    member = (which == torch.arange(len(offsets))[:, None]).to(weight)
    return (member / member.sum(1, keepdim=True)) @ weight[indices]


@wrong("embedding_bag", "empty_bag_left_out")
def _(weight, indices, offsets):
    bags = indices.split(lengths_of(indices, offsets))
    return torch.stack([weight[bag].mean(0) for bag in bags if bag.numel() > 0])


@wrong("embedding_bag", "offsets_as_lengths")
def _(weight, indices, offsets):
    return torch.stack([mean(weight[bag]) for bag in indices.split(offsets.tolist())])


@wrong("embedding_bag", "last_index_left_out")
def _(weight, indices, offsets):
    ends = offsets.tolist()[1:] + [-1]
    return torch.stack([mean(weight[indices[start:end]]) for start, end in zip(offsets.tolist(), ends)])


@wrong("embedding_bag", "bag_end_included")
def _(weight, indices, offsets):
    ends = offsets.tolist()[1:] + [len(indices)]
    return torch.stack([mean(weight[indices[start : end + 1]]) for start, end in zip(offsets.tolist(), ends)])


@wrong("embedding_bag", "bag_end_too_early")
def _(weight, indices, offsets):
    ends = offsets.tolist()[1:] + [len(indices)]
    bags = []
    for start, end in zip(offsets.tolist(), ends):
        total, count = torch.zeros(weight.shape[1]), 0
        for k in range(start, end - 1):
            total = total + weight[indices[k]]
            count += 1
        bags.append(total / count if count else total)
    return torch.stack(bags)


@wrong("embedding_bag", "bag_start_too_late")
def _(weight, indices, offsets):
    ends = offsets.tolist()[1:] + [len(indices)]
    return torch.stack([mean(weight[indices[start + 1 : end]]) for start, end in zip(offsets.tolist(), ends)])


@wrong("embedding_bag", "bags_begin_at_zero")
def _(weight, indices, offsets):
    sums = weight[indices].cumsum(0)
    return torch.stack([sums[end - 1] / end for end in [*offsets.tolist()[1:], len(indices)]])


@wrong("embedding_bag", "divided_by_bags")
def _(weight, indices, offsets):
    bags = indices.split(lengths_of(indices, offsets))
    return torch.stack([weight[bag].sum(0) / len(bags) for bag in bags])


@wrong("embedding_bag", "divided_by_places")
def _(weight, indices, offsets):
    bags = indices.split(lengths_of(indices, offsets))
    return torch.stack([weight[bag].sum(0) / len(indices) for bag in bags])


@wrong("embedding_bag", "repeats_counted_once")
def _(weight, indices, offsets):
    out = torch.zeros(len(offsets), len(weight))
    for b, bag in enumerate(indices.split(lengths_of(indices, offsets))):
        out[b, bag] = 1
    return out @ weight / out.sum(1, keepdim=True).clamp(min=1)


@wrong("embedding_bag", "counts_from_one")
def _(weight, indices, offsets):
    return torch.stack([mean(weight[bag - 1]) for bag in indices.split(lengths_of(indices, offsets))])


@wrong("embedding_bag", "one_too_far")
def _(weight, indices, offsets):
    return torch.stack([mean(weight[bag + 1]) for bag in indices.split(lengths_of(indices, offsets))])


@wrong("embedding_bag", "return_in_the_loop")
def _(weight, indices, offsets):
    bags = []
    for bag in indices.split(lengths_of(indices, offsets)):
        bags.append(mean(weight[bag]))
        return torch.stack(bags)


@pytest.mark.parametrize("question", QUESTIONS)
def test_every_mistake_of_the_bank_is_made_below(question):
    made = dict.fromkeys(one for mistakes, _ in WRONG[question] for one in mistakes)
    tried(question, RIGHT[question], made, f'functions below @right("{question}") and @wrong("{question}", …)')


@pytest.mark.parametrize("seed", sample(SEEDS, 2))
@pytest.mark.parametrize(
    "question, mistakes, answer",
    sample([(question, *one) for question, answers in WRONG.items() for one in answers], 4),
)
def test_a_mistake_is_named(question, mistakes, answer, seed):
    assert found(question, answer, seed).mistakes == [*mistakes]


# Wrong in two ways.

PAIRS = {question: [] for question in QUESTIONS}


def twice_wrong(question, *mistakes):
    def keep(answer):
        PAIRS[question].append((mistakes, answer))
        return answer

    return keep


@twice_wrong("one_hot", "counts_from_one", "shape_of_indices_lost")
def _(indices, n):
    return torch.eye(n)[indices.flatten() - 1]


@twice_wrong("one_hot", "integers_returned", "size_from_indices")
def _(indices, n):
    return torch.eye(int(indices.max()) + 1).long()[indices]


@twice_wrong("one_hot", "one_vector_for_all", "integers_returned")
def _(indices, n):
    return torch.tensor([int(v in indices) for v in range(n)])


@twice_wrong("one_hot", "ones_and_zeros_swapped", "integers_returned")
def _(indices, n):
    return indices[..., None] != torch.arange(n)


@twice_wrong("one_hot", "index_for_one", "vocabulary_axis_first")
def _(indices, n):
    return torch.stack([indices * (indices == v).double() for v in range(n)])


@twice_wrong("lookup", "counts_from_one", "shape_of_indices_lost")
def _(weight, indices):
    return torch.stack([weight[i - 1] for i in indices.flatten()])


@twice_wrong("lookup", "table_turned", "flat_indices_only")
def _(weight, indices):
    return torch.stack([weight[:, int(i)] for i in indices])


@twice_wrong("lookup", "rows_scaled", "places_summed")
def _(weight, indices):
    return weight[indices].sum(-2) * weight.shape[1] ** 0.5


@twice_wrong("lookup", "one_too_far", "no_gradient")
def _(weight, indices):
    return weight.data[indices + 1]


@twice_wrong("weight_gradient", "repeats_lost", "padding_row_trained")
def _(indices, grad_output, n, padding_idx=None):
    grad = torch.zeros(n, grad_output.shape[-1])
    grad[indices] = grad_output
    return grad


@twice_wrong("weight_gradient", "padding_idx_zero_ignored", "grad_output_ignored")
def _(indices, grad_output, n, padding_idx=None):
    grad = indices.flatten().bincount(minlength=n).double()[:, None].expand(n, grad_output.shape[-1]).clone()
    if padding_idx:
        grad[padding_idx] = 0
    return grad


@twice_wrong("weight_gradient", "flat_indices_only", "padding_row_trained")
def _(indices, grad_output, n, padding_idx=None):
    grad = torch.zeros(n, grad_output.shape[-1])
    grad.index_add_(0, indices, grad_output)
    return grad


@twice_wrong("weight_gradient", "gradient_turned", "gradient_negated")
def _(indices, grad_output, n, padding_idx=None):
    grad = torch.zeros(n, grad_output.shape[-1])
    for i, g in zip(indices.flatten(), grad_output.flatten(0, -2)):
        grad[i] -= g * (i != padding_idx)
    return grad.T


@twice_wrong("weight_gradient", "size_from_indices", "padding_idx_missing")
def _(indices, grad_output, n):
    return torch.stack([grad_output[indices == v].sum(0) for v in range(indices.max() + 1)])


@twice_wrong("embedding_layer", "padding_row_trained", "padding_row_not_zero")
class _(nn.Module):
    def __init__(self, num_embeddings, embedding_dim, padding_idx=None):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(num_embeddings, embedding_dim))

    def forward(self, x):
        return self.weight[x]


@twice_wrong("embedding_layer", "padding_row_trained", "padding_read_as_zeros")
class _(nn.Module):
    def __init__(self, num_embeddings, embedding_dim, padding_idx=None):
        super().__init__()
        self.padding_idx = padding_idx
        self.weight = nn.Parameter(torch.zeros(num_embeddings, embedding_dim))

    def forward(self, x):
        if self.padding_idx is not None:
            self.weight.data[self.padding_idx] = 0
        return self.weight[x]


@twice_wrong("embedding_layer", "table_transposed", "padding_row_trained")
class _(nn.Module):
    def __init__(self, num_embeddings, embedding_dim, padding_idx=None):
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(embedding_dim, num_embeddings))

    def forward(self, x):
        return self.weight[:, x].movedim(0, -1)


@twice_wrong("embedding_layer", "padding_row_trained", "flat_indices_only")
class _(nn.Module):
    def __init__(self, num_embeddings, embedding_dim, padding_idx=None):
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(num_embeddings, embedding_dim))

    def forward(self, x):
        return torch.stack([self.weight[int(i)] for i in x])


@twice_wrong("embedding_layer", "padding_row_not_zero", "parameter_names")
class _(Right):
    def __init__(self, num_embeddings, embedding_dim, padding_idx=None):
        super().__init__(num_embeddings, embedding_dim, padding_idx)
        del self.weight
        self.rows = nn.Parameter(torch.randn(num_embeddings, embedding_dim))

    def table(self):
        if self.padding_idx is None:
            return self.rows
        return torch.stack([row.detach() if i == self.padding_idx else row for i, row in enumerate(self.rows)])


@twice_wrong("embedding_layer", "table_transposed", "parameter_names")
class _(nn.Module):
    def __init__(self, num_embeddings, embedding_dim, padding_idx=None):
        super().__init__()
        self.n, self.padding_idx = num_embeddings, padding_idx
        self.linear = nn.Linear(num_embeddings, embedding_dim, bias=False)
        if padding_idx is not None:
            self.linear.weight.data[:, padding_idx] = 0
            self.linear.weight.register_hook(lambda g: g * (torch.arange(self.n) != padding_idx))

    def forward(self, x):
        return self.linear(F.one_hot(x, self.n).double())


@twice_wrong("embedding_bag", "bag_summed", "last_bag_missing")
def _(weight, indices, offsets):
    return torch.stack([weight[indices[a:b]].sum(0) for a, b in zip(offsets, offsets[1:])])


@twice_wrong("embedding_bag", "empty_bag_not_a_number", "counts_from_one")
def _(weight, indices, offsets):
    return torch.stack([weight[bag - 1].mean(0) for bag in indices.split(lengths_of(indices, offsets))])


@twice_wrong("embedding_bag", "last_index_left_out", "empty_bag_not_a_number")
def _(weight, indices, offsets):
    ends = [*offsets[1:], -1]
    return torch.stack([weight[indices[a:b]].mean(0) for a, b in zip(offsets, ends)])


@twice_wrong("embedding_bag", "bag_summed", "bag_end_included")
def _(weight, indices, offsets):
    ends = offsets.tolist()[1:] + [len(indices)]
    return torch.stack([weight[indices[start : end + 1]].sum(0) for start, end in zip(offsets.tolist(), ends)])


@pytest.mark.parametrize("seed", sample(SEEDS, 2))
@pytest.mark.parametrize(
    "question, mistakes, answer",
    sample([(question, *one) for question, answers in PAIRS.items() for one in answers], 4),
)
def test_two_mistakes_are_named(question, mistakes, answer, seed):
    assert set(found(question, answer, seed).mistakes) == {*mistakes}


# Right, each in its own way.

RIGHT = {question: [] for question in QUESTIONS}


def right(question):
    return lambda answer: RIGHT[question].append(answer) or answer


@right("one_hot")
def _(indices, n):
    return torch.eye(n, dtype=torch.float64)[indices]


@right("one_hot")
def _(indices, n):  # numbers of 32 bits
    return (indices[..., None] == torch.arange(n)).float()


@right("one_hot")
def _(indices, n):
    return torch.from_numpy(np.eye(n)[indices.numpy()])


@right("one_hot")
def _(indices, n):
    if indices.dim() > 0:
        return torch.stack([RIGHT["one_hot"][3](one, n) for one in indices])
    return torch.tensor([1.0 if v == int(indices) else 0.0 for v in range(n)])


@right("one_hot")
def _(indices, n):
    out = torch.zeros(indices.shape + (n,), dtype=torch.float64)
    out.scatter_(-1, indices.unsqueeze(-1), 1)
    return out


@right("one_hot")
def _(indices, n):
    def nested(one):
        return [nested(inner) for inner in one] if isinstance(one, list) else [float(v == one) for v in range(n)]

    return torch.tensor(nested(indices.tolist()), dtype=torch.float64)


@right("one_hot")
def _(indices, n):
    return torch.func.vmap(lambda i: (torch.arange(n) == i).double())(indices.flatten()).unflatten(0, indices.shape)


@right("one_hot")
def _(indices, n):
    out = torch.zeros(indices.numel() * n, dtype=torch.float64)
    out[torch.arange(indices.numel()) * n + indices.reshape(-1)] = 1
    return out.reshape(*indices.shape, n)


@right("one_hot")
def _(indices, n):
    count = indices.numel()
    where = torch.stack([torch.arange(count), indices.flatten()])
    return torch.sparse_coo_tensor(where, torch.ones(count), (count, n)).to_dense().view(*indices.shape, n)


@right("lookup")
def _(weight, indices):
    return weight[indices]


@right("lookup")
def _(weight, indices):
    return F.one_hot(indices, len(weight)).to(weight.dtype) @ weight


@right("lookup")
def _(weight, indices):
    return torch.einsum("...v,vd->...d", torch.eye(len(weight))[indices], weight)


@right("lookup")
def _(weight, indices):
    index = indices.reshape(-1, 1).expand(-1, weight.shape[1])
    return torch.gather(weight, 0, index).reshape(*indices.shape, weight.shape[1])


@right("lookup")
def _(weight, indices):
    numbers = [weight[i, j] for i in indices.flatten().tolist() for j in range(weight.shape[1])]
    return torch.stack(numbers).reshape(*indices.shape, -1)


@right("lookup")
def _(weight, indices):
    return torch.take_along_dim(weight, indices.flatten()[:, None], 0).unflatten(0, indices.shape)


@right("lookup")
def _(weight, indices):
    out = torch.empty(*indices.shape, weight.shape[1])
    for place in np.ndindex(*indices.shape):
        out[place] = weight[indices[place]]
    return out


@right("lookup")
def _(weight, indices):  # inside, 32 bits
    return weight.float()[indices].double()


@right("lookup")
def _(weight, indices):
    return torch.cat([weight[i : i + 1] for i in indices.flatten()]).view(*indices.shape, -1)


class Rows(torch.autograd.Function):
    @staticmethod
    def forward(ctx, weight, indices):
        ctx.save_for_backward(indices)
        ctx.rows = len(weight)
        return weight.detach()[indices].clone()

    @staticmethod
    def backward(ctx, grad):
        (indices,) = ctx.saved_tensors
        table = grad.new_zeros(ctx.rows, grad.shape[-1])
        for i, g in zip(indices.flatten(), grad.flatten(0, -2)):
            table[i] += g
        return table, None


right("lookup")(Rows.apply)


@right("weight_gradient")
def _(indices, grad_output, num_embeddings, padding_idx=None):
    grad = torch.zeros(num_embeddings, grad_output.shape[-1])
    grad.index_add_(0, indices.flatten(), grad_output.flatten(0, -2))
    if padding_idx is not None:
        grad[padding_idx] = 0
    return grad


@right("weight_gradient")
def _(indices, grad_output, num_embeddings, padding_idx=None):
    hot = F.one_hot(indices, num_embeddings).double()
    if padding_idx is not None:
        hot[..., padding_idx] = 0
    return torch.einsum("...n,...d->nd", hot, grad_output)


@right("weight_gradient")
def _(indices, grad_output, num_embeddings, padding_idx=None):
    grad = np.zeros((num_embeddings, grad_output.shape[-1]))
    np.add.at(grad, indices.numpy(), grad_output.numpy())
    grad[padding_idx if padding_idx is not None else []] = 0
    return torch.tensor(grad)


@right("weight_gradient")
def _(indices, grad_output, num_embeddings, padding_idx=None):
    kept = indices != (-1 if padding_idx is None else padding_idx)
    grad = torch.zeros(num_embeddings, grad_output.size(-1))
    return grad.index_put_((indices[kept],), grad_output[kept], accumulate=True)


@right("weight_gradient")
def _(indices, grad_output, num_embeddings, padding_idx=None):
    columns = [
        torch.bincount(indices.flatten(), weights=column, minlength=num_embeddings)
        for column in grad_output.flatten(0, -2).T
    ]
    grad = torch.stack(columns, dim=1)
    return grad if padding_idx is None else grad * (torch.arange(num_embeddings) != padding_idx)[:, None]


@right("weight_gradient")
def _(indices, grad_output, num_embeddings, padding_idx=None):
    i, g = indices.flatten().tolist(), grad_output.flatten(0, -2).tolist()
    table = [[0.0] * grad_output.shape[-1] for _ in range(num_embeddings)]
    for k, row in enumerate(i):
        for j, number in enumerate(g[k]):
            if row != padding_idx:
                table[row][j] += number
    return torch.tensor(table)


@right("weight_gradient")
def _(indices, grad_output, num_embeddings, padding_idx=None):
    rows = [grad_output[indices == v].sum(0) * (v != padding_idx) for v in range(num_embeddings)]
    return torch.vstack(rows)


@right("weight_gradient")
def _(indices, grad_output, num_embeddings, padding_idx=None):
    index = indices.reshape(-1, 1).expand(-1, grad_output.shape[-1])
    source = grad_output.reshape(index.shape).masked_fill(index == (-1 if padding_idx is None else padding_idx), 0)
    return torch.zeros(num_embeddings, index.shape[1], dtype=source.dtype).scatter_add(0, index, source)


@right("embedding_layer")
class _(nn.Module):
    def __init__(self, num_embeddings, embedding_dim, padding_idx=None):
        super().__init__()
        self.register_buffer("trained", torch.ones(num_embeddings, 1))
        self.weight = nn.Parameter(torch.randn(num_embeddings, embedding_dim))
        if padding_idx is not None:
            self.trained[padding_idx] = 0
            with torch.no_grad():
                self.weight.mul_(self.trained)

    def forward(self, x):
        table = self.weight * self.trained + (self.weight * (1 - self.trained)).detach()
        return table[x]


@right("embedding_layer")
class _(nn.Module):
    def __init__(self, num_embeddings, embedding_dim, padding_idx=None):
        super().__init__()
        table = torch.empty(num_embeddings, embedding_dim).normal_()
        if padding_idx is not None:
            table[padding_idx, :] = 0.0
        self.weight = nn.Parameter(table)
        if padding_idx is not None:
            self.weight.register_hook(lambda g: g.index_fill(0, torch.tensor(padding_idx), 0))

    def forward(self, x):
        return torch.index_select(self.weight, 0, x.flatten()).view(x.shape + self.weight.shape[1:])


@right("embedding_layer")
class _(nn.Module):
    def __init__(self, num_embeddings, embedding_dim, padding_idx=None):
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(num_embeddings, embedding_dim))
        if padding_idx is not None:
            self.padding_idx = padding_idx
            self.weight.register_post_accumulate_grad_hook(self.clear)

    def clear(self, weight):
        weight.grad[self.padding_idx] = 0

    def forward(self, x):
        return torch.stack([self.weight[int(i)] for i in x.flatten()]).reshape(*x.shape, -1)


@right("embedding_layer")
class _(nn.Module):
    def __init__(self, num_embeddings, embedding_dim, padding_idx=None):
        super().__init__()
        self.weight = nn.Parameter(torch.rand(num_embeddings, embedding_dim))
        self.padding_idx = -1 if padding_idx is None else padding_idx
        if padding_idx is not None:
            nn.init.zeros_(self.weight[padding_idx])

    def forward(self, x):
        rows = F.one_hot(x, len(self.weight)).to(self.weight.dtype) @ self.weight
        is_padding = x.eq(self.padding_idx).unsqueeze(-1)
        return rows.masked_fill(is_padding, 0) + rows.detach() * is_padding


class Table(torch.autograd.Function):
    @staticmethod
    def forward(ctx, weight, indices, padding_idx):
        ctx.save_for_backward(indices)
        ctx.shape, ctx.padding_idx = weight.shape, padding_idx
        return weight[indices]

    @staticmethod
    def backward(ctx, grad):
        grad = torch.zeros(ctx.shape).index_add(0, ctx.saved_tensors[0].flatten(), grad.flatten(0, -2))
        if ctx.padding_idx is not None:
            grad[ctx.padding_idx] = 0
        return grad, None, None


@right("embedding_layer")
class _(Right):
    def forward(self, x):
        return Table.apply(self.weight, x, self.padding_idx)


@right("embedding_layer")
class _(Right):
    def forward(self, x):  # 32 bits
        return self.table().to(torch.float32)[x]


right("embedding_layer")(Right)


@right("embedding_bag")
def _(weight, indices, offsets):
    return torch.stack([mean(weight[bag]) for bag in indices.split(lengths_of(indices, offsets))])


@right("embedding_bag")
def _(weight, indices, offsets):
    which = torch.searchsorted(offsets, torch.arange(len(indices)), right=True) - 1
    sums = torch.zeros(len(offsets), weight.shape[1]).index_add(0, which, weight[indices])
    return sums / torch.bincount(which, minlength=len(offsets)).clamp(min=1).unsqueeze(1)


@right("embedding_bag")
def _(weight, indices, offsets):
    counts = torch.zeros(len(offsets), len(weight))
    ends = [*offsets.tolist()[1:], len(indices)]
    for b, (start, end) in enumerate(zip(offsets.tolist(), ends)):
        for k in range(start, end):
            counts[b, indices[k]] += 1 / (end - start)
    return counts @ weight


@right("embedding_bag")
def _(weight, indices, offsets):
    sums = torch.cat([weight.new_zeros(1, weight.shape[1]), weight[indices].cumsum(0)])
    ends = torch.cat([offsets[1:], offsets.new_tensor([len(indices)])])
    return (sums[ends] - sums[offsets]) / (ends - offsets).clamp(min=1)[:, None]


@right("embedding_bag")
def _(weight, indices, offsets):
    means = [weight[bag].mean(0).nan_to_num() for bag in torch.tensor_split(indices, offsets[1:])]
    return torch.stack(means)


@right("embedding_bag")
def _(weight, indices, offsets):
    lengths = torch.tensor(lengths_of(indices, offsets))
    return torch.segment_reduce(weight[indices], "sum", lengths=lengths, axis=0) / lengths.clamp(min=1)[:, None]


@pytest.mark.parametrize("seed", sample(SEEDS, 2))
@pytest.mark.parametrize("question, answer", [(question, one) for question in QUESTIONS for one in RIGHT[question]])
def test_right_in_its_own_way(question, answer, seed):
    result = check(question, answer, seed=seed)
    assert result.ok, result


# Not the student's own.


def of_autograd(indices, grad_output, n, padding_idx=None):
    weight = torch.zeros(n, grad_output.shape[-1], requires_grad=True)
    return torch.autograd.grad(weight[indices], weight, grad_output)[0]


class Inside(nn.Module):
    def __init__(self, *arguments, **options):
        super().__init__()
        self.weight = nn.Embedding(*arguments, **options).weight

    def forward(self, x):
        return torch.embedding(self.weight, x)


LIBRARY = [
    ("one_hot", F.one_hot),
    ("one_hot", lambda indices, n: F.embedding(indices, torch.eye(n))),
    ("one_hot", lambda indices, n: torch.ops.aten.one_hot(indices, n).double()),
    ("lookup", lambda weight, indices: F.embedding(indices, weight)),
    ("lookup", lambda weight, indices: torch.ops.aten.embedding(weight, indices)),
    ("lookup", lambda weight, indices: nn.Embedding.from_pretrained(weight)(indices)),
    ("lookup", all_questions()["lookup"].reference(frozenset())),
    ("weight_gradient", lambda i, g, n, p=-1: torch.ops.aten.embedding_dense_backward(g, i, n, p, False)),
    ("weight_gradient", of_autograd),
    ("embedding_layer", nn.Embedding),
    ("embedding_layer", companion.Embedding),
    ("embedding_layer", Inside),
    ("embedding_bag", lambda weight, indices, offsets: F.embedding_bag(indices, weight, offsets)),
    ("embedding_bag", lambda weight, indices, offsets: nn.EmbeddingBag.from_pretrained(weight)(indices, offsets)),
]


@pytest.mark.parametrize("question, answer", LIBRARY)
def test_a_library_does_not_answer(question, answer):
    assert check(question, answer).mistakes == ["library_layer"]


# General mistakes, as they look here.

GENERAL = [
    ("one_hot", lambda indices, n: np.eye(n)[indices.numpy()], "not_a_tensor"),
    ("one_hot", lambda indices, n: print(end=""), "returns_none"),
    ("lookup", lambda weight, indices: weight.detach()[indices], "no_gradient"),
    ("lookup", lambda weight, indices: torch.tensor(weight.detach().numpy()[indices.numpy()]), "no_gradient"),
    ("lookup", lambda weight, indices: weight[indices] + 0.5, "wrong_values"),
    ("lookup", lambda weight, indices: weight.numpy()[indices.numpy()], "raises_error"),
    ("embedding_layer", lambda *arguments, **options: lambda x: x, "not_a_module"),
]


@pytest.mark.parametrize("question, answer, mistake", GENERAL)
def test_general_mistakes(question, answer, mistake):
    assert check(question, answer).mistakes == [mistake]


def test_a_table_that_is_no_parameter():
    class Embedding(Right):
        def __init__(self, *arguments, **options):
            super().__init__(*arguments, **options)
            weight = self.weight.detach()
            del self.weight
            self.weight = weight

    assert check("embedding_layer", Embedding).mistakes == ["tensor_not_parameter"]


def test_an_input_that_is_changed():
    def weight_gradient(indices, grad_output, n, padding_idx=None):
        grad_output[indices == padding_idx] = 0
        return torch.eye(n)[indices.flatten()].T @ grad_output.flatten(0, -2)

    assert check("weight_gradient", weight_gradient).mistakes == ["changes_its_input"]


def test_only_a_missing_argument_is_called_missing():
    def weight_gradient(indices, grad_output, n, padding_idx=None):
        grad = torch.zeros(n, grad_output.shape[-1]).index_add(0, indices.flatten(), grad_output.flatten(0, -2))
        if padding_idx is not None:
            del grad[padding_idx]
        return grad

    result = check("weight_gradient", weight_gradient)
    assert "raises_error" in result.mistakes and "padding_idx_missing" not in result.mistakes
    assert "del grad[padding_idx]" in repr(result)


def test_the_error_at_a_batch_says_what_and_where():
    said = repr(check("lookup", lambda weight, indices: weight.index_select(0, indices)))
    assert "IndexError: index_select()" in said and "Line" in said
