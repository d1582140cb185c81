"""Functions of `nn.functional` in small_torch, compared with torch's: values, gradients, types and errors."""

import pytest

from both_torches import agree, compile_row, numbers, on_both, split_rows

LOSSES = """
    mse_loss l1_loss smooth_l1_loss huber_loss binary_cross_entropy binary_cross_entropy_with_logits kl_div
"""
TYPES = "float32 float64 float16 int64 int32 bool"
ACTIVATIONS = "relu relu6 leaky_relu elu selu silu gelu hardtanh softplus logsigmoid"


def back(out, *inputs):
    """Return results, and the gradients of the inputs from a weighted sum of the results."""
    outs = out if isinstance(out, tuple | list) else [out]
    weighted = [y * (y.detach() * 0 + 1).cumsum(-1) if y.ndim else y for y in outs if y.requires_grad]
    sum(y.sum() for y in weighted).backward()
    return [y.detach() for y in outs], [x.grad for x in inputs]


@pytest.mark.parametrize("target", TYPES.split())
@pytest.mark.parametrize("input", TYPES.split())
@pytest.mark.parametrize("name", LOSSES.split())
@on_both(1e-3)
def test_types_of_a_loss(t, name, input, target):
    x, y = (t.tensor(pair).to(getattr(t, kind)) for pair, kind in (([0.25, 0.5], input), ([0.75, 0.5], target)))
    x.requires_grad_(x.is_floating_point())
    loss = getattr(t.nn.functional, name)(x, y, reduction="none")
    return back(loss, x) if loss.requires_grad else loss


@pytest.mark.parametrize("reduction", ["none", "mean", "sum", "all"])
@pytest.mark.parametrize("change", ["nothing", "input", "target", "result"])
@pytest.mark.parametrize("name", [*LOSSES.split(), "nll_loss"])
@on_both()
def test_change_in_place_after_a_loss(t, name, change, reduction):
    x = numbers(t, 4, 3).sigmoid().requires_grad_()
    input, target = x * 1, numbers(t, 4, 3, seed=1).sigmoid()
    target = target.argmax(1) if name == "nll_loss" else target
    loss = getattr(t.nn.functional, name)(input, target, reduction=reduction)
    changed = {"input": input, "target": target, "result": loss}.get(change)
    if changed is not None:
        changed.mul_(1)
    return back(loss, x)


@pytest.mark.parametrize("name", ACTIVATIONS.split())
@on_both(1e-3)
def test_activation(t, name):
    """Check edges of the pieces, infinities and NaN, other types, second derivatives and the change of the input."""
    function = getattr(t.nn.functional, name)
    numbers_ = [[-6.0, -3, -1, -0.0, 0, 1, 3, 6, 50], [float("inf"), float("nan")][: 2 * (name in ("relu6", "elu"))]]
    x = t.tensor(sum(numbers_, []), requires_grad=True)
    y = numbers(t, 5, grad=True)
    (first,) = t.autograd.grad(function(y).sum(), y, create_graph=name != "relu")
    (second,) = t.autograd.grad(first.sum(), y) if name != "relu" else (first,)
    z = y * 1
    in_place = function(z, inplace=True) if name in ("relu6", "leaky_relu", "elu", "silu", "hardtanh") else z
    return back(function(x), x), function(x.detach().half()), first, second, back(in_place, y), in_place is z


CHANGED_LATER = """
    F.layer_norm(y, (3,)) | F.batch_norm(y, None, None, training=True) | F.elu(y) | F.gelu(y)
    F.silu(y) | F.softplus(y)
    F.linear(y, y[:2] * 1, t.ones(2).double()) | F.logsigmoid(y) | F.rms_norm(y, (3,)) | F.normalize(y)
    F.embedding(t.arange(2), y)
"""


@pytest.mark.parametrize("row", split_rows(CHANGED_LATER))
@on_both()
def test_input_changed_in_place(t, row):
    x = numbers(t, 4, 3, grad=True)
    y = x * 1
    out = compile_row(row, y=y)(t)
    y.add_(1)
    return back(out, x)


# Programs for compile_row
PROGRAMS = """
F.elu(t.arange(2)) | F.gelu(t.ones(2), approximate="sin") | F.leaky_relu([1.0]) | F.softplus(t.ones(1), gamma=1) | F.hardtanh(t.ones(1).bool())
F.mse_loss(zeros(2), zeros(3)) | F.mse_loss(zeros(2, 1), zeros(2)) | F.l1_loss(zeros(2), zeros(2), False) | F.mse_loss(1.0, zeros(2))
F.huber_loss(zeros(1), zeros(1), delta=0) | F.kl_div(zeros(2), zeros(2))
F.kl_div(t.tensor(1.0), t.tensor(0.5), reduction="batchmean") | F.binary_cross_entropy(zeros(2) + 2, zeros(2))
F.binary_cross_entropy_with_logits(zeros(2), zeros(2), t.ones(3, 2)) | F.binary_cross_entropy(zeros(2), zeros(2), t.ones(2, requires_grad=True))
F.nll_loss(zeros(2, 3), t.tensor([0, 3])) | F.nll_loss(zeros(2, 3), t.tensor([0.0, 1.0])) | F.nll_loss(zeros(3), t.tensor([0, 1]))
F.nll_loss(zeros(2, 3, 4), t.zeros(2, 3).long()) | F.nll_loss(zeros(2, 3), t.tensor([0, 1]), t.ones(2)) | F.nll_loss(zeros(0, 3), t.zeros(0).long())
back(F.nll_loss(x := numbers(2, 3, grad=True), t.tensor([-100, -100])), x) | F.cross_entropy(zeros(2, 3), t.ones(2, 3).long())
F.cross_entropy(zeros(2, 3), zeros(2, 3), ignore_index=1) | F.cross_entropy(zeros(2, 3), t.tensor([0, 1]), label_smoothing=2.0)
back(F.cross_entropy(x := numbers(3, 4, 2, grad=True), t.ones(3, 2).long(), t.arange(4.0).double(), label_smoothing=0.2), x)
back(F.cross_entropy(x := numbers(3, 4, grad=True), numbers(3, 4, seed=1).softmax(1), label_smoothing=0.2), x) | nn.MSELoss(True, False).reduction
nn.CrossEntropyLoss()(zeros(2, 3)) | nn.MSELoss(weight=1) | nn.BCELoss(1, 2, 3, 4, 5) | nn.HuberLoss(delta=2.0).delta | nn.NLLLoss(weight=[1])
F.linear(t.ones(3), t.ones(3)) | F.linear(zeros(2, 3), zeros(4, 3), zeros(5)) | F.linear(zeros(2, 3), zeros(4, 3), zeros(4).double())
F.linear(t.tensor(1.0), t.ones(2, 1)) | F.linear(zeros(2, 3), 2) | back(F.linear(x := numbers(2, 5, 3, grad=True), numbers(4, 3), b := numbers(4, grad=True)), x, b)
nn.LayerNorm(4)(t.ones(4).half()) | nn.LayerNorm(4)(t.ones(4).double()) | F.layer_norm(zeros(3), 3) | F.layer_norm(zeros(3), (3,), zeros(2))
F.batch_norm(zeros(2, 3), None, None) | F.batch_norm(t.ones(2, 3).long(), zeros(3), zeros(3)) | F.rms_norm(numbers(2, 3), (3,))
F.one_hot(t.zeros(0).long()) | F.embedding(t.arange(2), t.ones(2)) | F.cosine_similarity(t.arange(3), t.arange(3), dim=0)
F.embedding_bag(t.arange(3), numbers(4, 2)) | F.embedding_bag(t.arange(3), numbers(4, 2), t.tensor([1])) | F.embedding_bag(t.arange(3), numbers(4, 2), t.tensor([0, 7]))
F.conv1d(zeros(2, 2, 5), zeros(4, 3, 2)) | F.conv1d(zeros(2, 3, 1), zeros(4, 3, 2)) | F.conv1d(zeros(3), zeros(4, 3, 2)) | F.conv1d(zeros(2, 3, 5), zeros(4, 3, 2), stride=0)
nn.Conv1d(3, 4, 2, groups=2) | repr(nn.Conv1d(4, 8, (3,), 2, "valid", 2, 2, False)) | nn.Conv1d(3, 4, 2, 2, "same") | nn.Conv1d(3, 4, 2)(zeros(2, 3, 5).double())
F.max_pool1d(zeros(2, 3, 5), 3, padding=2) | F.max_pool1d(zeros(5), 2) | F.max_pool1d(zeros(1, 5).long(), 2)
F.avg_pool1d(zeros(5), 2) | F.avg_pool1d(-t.arange(6).view(1, 6), 2) | F.adaptive_avg_pool1d(zeros(1, 5), -1)
nn.Sequential(nn.MaxPool1d(2, 1, 1), nn.AvgPool1d(3), nn.AdaptiveAvgPool1d(1)) | F.scaled_dot_product_attention(*[zeros(2, 4)] * 3, t.ones(2, 2).long())
F.gelu(t.tensor([1.0, t.inf])) | F.softplus(t.tensor([14.0]).half()) | F.leaky_relu(t.ones(1).cfloat()) | F.huber_loss(t.ones(1), zeros(1) + t.inf, delta=t.inf)
F.pad(t.arange(2), (1, 1), value=t.inf) | F.dropout(t.arange(3), 0.3) | F.embedding(t.zeros(0).long(), zeros(0, 3), padding_idx=0) | nn.LayerNorm(3)(t.ones(2, 3).long())
F.cosine_similarity(zeros(2, 3).half(), t.ones(2, 3), dim=1) | F.scaled_dot_product_attention(*[t.tensor([[1.0], [t.nan]])] * 3, is_causal=True)
nn.BatchNorm1d(3).load_state_dict({}, strict=False) | t.rnn_tanh_cell(t.ones(1, 3), t.ones(2, 2), t.ones(2, 3), t.ones(2, 2))
t.gru_cell(t.ones(2, 3), t.ones(2, 2), t.ones(2, 3), t.ones(6, 2)) | t.lstm_cell(t.ones(2, 3), [t.ones(2, 2)] * 2, t.ones(8, 3).long(), t.ones(8, 2))
nn.utils.vector_to_parameters(t.arange(2), [nn.Parameter(t.ones(2))]) | [F.pad(x := t.ones(3, 4).T, (1, 0)).stride(), F.softplus(x).stride(), F.layer_norm(x, (3,)).stride()]
t.rnn_tanh(t.ones(1, 1, 3).long(), t.ones(1, 1, 2), [t.ones(2, 3), t.ones(2, 2)], False, 1, 0.0, False, False, False)
"""  # noqa: E501


@pytest.mark.parametrize("row", split_rows(PROGRAMS))
def test_program(row):
    assert agree(compile_row(row, back=back), 1e-6) is not None


@pytest.mark.parametrize(
    "options", [{}, {"padding_idx": 1}, {"include_last_offset": True}, {"max_norm": 1.0}, {"sparse": True}]
)
@pytest.mark.parametrize("mode", ["sum", "mean", "max"])
@on_both()
def test_embedding_bag(t, mode, options):
    weight = numbers(t, 4, 2, grad=True)
    offsets = t.tensor([0, 2, 2, 5, 6][: 5 if "include_last_offset" in options else 4])
    bags = t.nn.functional.embedding_bag(t.tensor([0, 1, 1, 3, 2, 1]), weight * 1, offsets, mode=mode, **options)
    factors = numbers(t, 2, 3, grad=True)
    weighted = t.nn.functional.embedding_bag(
        t.tensor([[0, 1, 1], [3, 2, 1]]), weight, None, None, 2.0, False, "sum", False, factors
    )
    (bags.pow(2).sum() + weighted.pow(2).sum()).backward()
    t.manual_seed(0)
    return bags, weighted, weight.grad, factors.grad, t.nn.EmbeddingBag(3, 2, mode=mode, padding_idx=-1)


@pytest.mark.parametrize("ceil_mode", [False, True])
@pytest.mark.parametrize("length", [5, 6, 7])
@pytest.mark.parametrize(
    "size, stride, padding", [(1, None, 0), (2, None, 1), (2, 3, 0), (3, 1, 1), (3, 2, 0), (3, 2, 1)]
)
@on_both()
def test_windows(t, size, stride, padding, length, ceil_mode):
    x, functional = numbers(t, 2, 4, length, grad=True), t.nn.functional
    largest, places = functional.max_pool1d(x, size, stride, padding, 1, ceil_mode, True)
    means = functional.avg_pool1d(x, size, stride, padding, ceil_mode, length % 2 == 0)
    evenly = functional.adaptive_avg_pool1d(x, size + 1)
    t.manual_seed(0)
    layer = t.nn.Conv1d(4, 6, size, stride or 1, padding, 1 + ceil_mode, 2, dtype=t.float64)
    return back([largest, means, evenly, layer(x), layer(x[0])], x, *layer.parameters()), places, layer
