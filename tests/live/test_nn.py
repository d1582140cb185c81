"""Modules, layers, first numbers and packed sequences of the small torch, held to torch's."""

import copy
import io
import pickle

import pytest
import small_torch
import torch
from hypothesis import given, settings
from hypothesis import example as also
from hypothesis import strategies as st
from twins import agree, flat, gradients, numbers, on_both, program_of, rows_of

FLOATS = {"float64": 1e-12, "float32": 2e-6}


# Layers without a memory: how they are made, what they compute, and their gradients


def indices(t):
    return t.tensor([[1, 4, 1], [0, 2, 0]])


LAYERS = {
    "linear without bias": (lambda t, **k: t.nn.Linear(4, 3, bias=False, **k), lambda t, d: numbers(t, 4, dtype=d)),
    "embedding, padding": (lambda t, **k: t.nn.Embedding(5, 3, padding_idx=-4, **k), lambda t, d: indices(t)),
    "embedding, shortened": (
        lambda t, **k: t.nn.Embedding(5, 3, max_norm=1.5, scale_grad_by_freq=True, **k),
        lambda t, d: indices(t),
    ),
    "embedding, one-norm": (lambda t, **k: t.nn.Embedding(5, 3, 0, 0.5, 1.0, **k), lambda t, d: indices(t)),
    "embedding, sparse": (lambda t, **k: t.nn.Embedding(5, 3, sparse=True, **k), lambda t, d: indices(t)),
    "layer norm of two axes": (
        lambda t, **k: t.nn.LayerNorm((5, 4), eps=0.1, bias=False, **k),
        lambda t, d: numbers(t, 2, 5, 4, dtype=d, grad=True),
    ),
    "batch norm": (lambda t, **k: t.nn.BatchNorm1d(4, **k), lambda t, d: numbers(t, 6, 4, dtype=d, grad=True)),
    "batch norm over time": (
        lambda t, **k: t.nn.BatchNorm1d(4, momentum=None, affine=False, **k),
        lambda t, d: numbers(t, 3, 4, 5, dtype=d, grad=True),
    ),
    "sequential": (
        lambda t, **k: t.nn.Sequential(
            t.nn.Linear(4, 6, **k), t.nn.ReLU(inplace=True), t.nn.Linear(6, 6, **k), t.nn.LeakyReLU(0.1, True), t.nn.Tanh(), t.nn.Linear(6, 5, **k), t.nn.ReLU(), t.nn.Sigmoid(), t.nn.Flatten(),
            t.nn.Identity(3, x=4), t.nn.GELU(), t.nn.SiLU(), t.nn.Softplus(2.0), t.nn.LeakyReLU(), t.nn.GELU("tanh"),
            t.nn.LogSoftmax(1), t.nn.Softmax(dim=-1), t.nn.Dropout(0.0),
        ),
        lambda t, d: numbers(t, 2, 3, 4, dtype=d, grad=True),
    ),
    "dropout": (lambda t, **k: t.nn.Dropout(0.3), lambda t, d: numbers(t, 4, 6, dtype=d, grad=True)),
    "attention": (lambda t, **k: t.nn.MultiheadAttention(4, 2, **k), lambda t, d: attended(t, d, 4, 4)),
    "attention, other keys": (
        lambda t, **k: t.nn.MultiheadAttention(4, 2, kdim=3, vdim=5, add_bias_kv=True, add_zero_attn=True, **k),
        lambda t, d: attended(t, d, 3, 5),
    ),
    "transformer": (
        lambda t, **k: t.nn.TransformerEncoderLayer(4, 2, 6, dropout=0.0, **k),
        lambda t, d: numbers(t, 5, 3, 4, dtype=d, grad=True),
    ),
    "transformer, norm first": (
        lambda t, **k: t.nn.TransformerEncoderLayer(4, 2, 6, 0.0, "gelu", batch_first=True, norm_first=True, bias=False, **k),
        lambda t, d: numbers(t, 3, 5, 4, dtype=d, grad=True),
    ),
}  # fmt: skip


def attended(t, dtype, *features):
    shapes = [(3, 2, 4), (5, 2, features[0]), (5, 2, features[1])]
    return tuple(numbers(t, *shape, seed=k, dtype=dtype, grad=True) for k, shape in enumerate(shapes))


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("name", LAYERS)
def test_layer(name, dtype):
    """The same seed, the same first numbers bit for bit; and the same outputs, gradients and buffers."""
    make, give = LAYERS[name]

    def made(t):
        t.manual_seed(3)
        return make(t, dtype=getattr(t, dtype))

    normal = "embedding" in name or "other keys" in name  # these differ between processors, torch's too
    agree(made, FLOATS[dtype] if normal else 0)

    def ran(t):
        module, inputs = made(t), give(t, dtype)
        outputs = module(*(inputs if isinstance(inputs, tuple) else (inputs,)))
        return flat(outputs), gradients(t, module, outputs, inputs), module, module.state_dict()

    agree(ran, 1e-5 if dtype == "float32" else 1e-12)


MASKS = {
    "none": lambda t: {},
    "one by one": lambda t: {"attn_mask": t.ones(3, 5, dtype=t.bool).triu(1)},
    "added": lambda t: {"attn_mask": numbers(t, 3, 5)},
    "for each head": lambda t: {"attn_mask": numbers(t, 4, 3, 5), "average_attn_weights": False},
    "padding": lambda t: {"key_padding_mask": t.tensor([[False] * 5, [False, True, False, True, True]])},
    "both": lambda t: {
        "attn_mask": t.ones(3, 5, dtype=t.bool).triu(1),
        "key_padding_mask": t.tensor([[False] * 5, [False, True, False, True, True]]),
    },
}


@pytest.mark.parametrize("more", [{}, {"batch_first": True}, {"add_zero_attn": True}])
@pytest.mark.parametrize("need_weights", [True, False])
@pytest.mark.parametrize("name", MASKS)
@on_both()
def test_masks_of_attention(t, name, need_weights, more):
    t.manual_seed(1)
    layer = t.nn.MultiheadAttention(4, 2, **more, dtype=t.float64)
    inputs = attended(t, "float64", 4, 4)
    given = tuple(x.transpose(0, 1) for x in inputs) if layer.batch_first else inputs
    outputs = layer(*given, **MASKS[name](t), need_weights=need_weights)
    return outputs, gradients(t, layer, outputs, inputs)


@pytest.mark.parametrize("name", ["MSELoss", "L1Loss", "BCEWithLogitsLoss", "BCELoss", "NLLLoss", "CrossEntropyLoss"])
@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
@on_both()
def test_loss(t, name, reduction):
    kinds = {"label_smoothing": 0.1} if name == "CrossEntropyLoss" else {}
    of_classes = name in ("NLLLoss", "CrossEntropyLoss")
    if of_classes:
        kinds |= {"weight": numbers(t, 4).abs(), "ignore_index": 2}
    loss = getattr(t.nn, name)(reduction=reduction, **kinds)
    x = numbers(t, 5, 4, grad=True)
    target = t.tensor([0, 3, 2, 1, 3]) if of_classes else numbers(t, 5, 4, seed=1).sigmoid()
    value = loss(x.sigmoid() if name == "BCELoss" else x, target)
    value.sum().backward()
    return value, x.grad, loss


# Recurrent layers


@st.composite
def recurrent(draw):
    """How a layer is made and called."""
    name = draw(st.sampled_from(["RNN", "LSTM", "GRU"]))
    options = {
        "num_layers": draw(st.integers(1, 2)),
        "bidirectional": draw(st.booleans()),
        "bias": draw(st.booleans()),
        "batch_first": draw(st.booleans()),
    }
    hidden = draw(st.integers(1, 4))
    if name == "LSTM" and hidden > 1:
        options["proj_size"] = draw(st.integers(0, hidden - 1))
    if name == "RNN":
        options["nonlinearity"] = draw(st.sampled_from(["tanh", "relu"]))
    if options["num_layers"] > 1:
        options["dropout"] = draw(st.sampled_from([0.0, 0.4]))
    lengths = draw(st.lists(st.integers(1, 4), min_size=1, max_size=4))
    form = draw(st.sampled_from(["batch", "packed", "one"]))
    state, dtype = draw(st.booleans()), draw(st.sampled_from(["float64", "float64", "float32"]))
    return name, (draw(st.integers(1, 3)), hidden), options, lengths, form, state, dtype


def call(t, case):
    """A layer, its inputs, and its input and state in the form in which it is called."""
    name, sizes, options, lengths, form, with_state, dtype = case
    t.manual_seed(0)
    layer = getattr(t.nn, name)(*sizes, **options, dtype=getattr(t, dtype))
    T, B, count = max(lengths), len(lengths), options["num_layers"] * (1 + options["bidirectional"])
    time_and_batch = (B, T) if options["batch_first"] else (T, B)
    x = numbers(t, *(time_and_batch if form != "one" else (T,)), sizes[0], dtype=dtype, grad=True)
    size = options.get("proj_size") or sizes[1]
    shapes = [(count, *([B] if form != "one" else []), n) for n in ([size, sizes[1]] if name == "LSTM" else [size])]
    state = [numbers(t, *shape, seed=k, dtype=dtype, grad=True) for k, shape in enumerate(shapes)] if with_state else []
    given = x
    if form == "packed":
        pack = t.nn.utils.rnn.pack_padded_sequence
        given = pack(x, lengths, batch_first=options["batch_first"], enforce_sorted=False)
    return layer, (x, *state), (given, *([tuple(state) if name == "LSTM" else state[0]] if state else []))


ONE_WAY = {"num_layers": 1, "bidirectional": False, "bias": False, "batch_first": False}


@settings(max_examples=60)
@also(("LSTM", (1, 1), ONE_WAY, [1, 1], "batch", False, "float32"))
@given(recurrent())
def test_recurrent_layer(case):
    def ran(t):
        layer, inputs, given = call(t, case)
        t.manual_seed(1)
        output, state = layer(*given)
        data = output.data if case[4] == "packed" else output
        return layer, data, state, gradients(t, layer, (data, state), inputs), list(output[1:]) if data is not output else None

    agree(ran, FLOATS[case[-1]])


BOTH_WAYS = {"num_layers": 2, "bidirectional": True, "bias": True, "batch_first": False, "proj_size": 2}


@settings(max_examples=12)
@also(("LSTM", (2, 3), BOTH_WAYS, [2, 4, 1], "packed", True, "float64"))
@given(recurrent())
@on_both(1e-11)
def test_gradients_of_gradients(t, case):
    layer, inputs, given = call(t, (*case[:-1], "float64"))
    layer.eval()
    output, state = layer(*given)
    data = output.data if case[4] == "packed" else output
    loss = data.pow(2).sum() + sum(one.pow(3).sum() for one in flat(state))
    wanted = [*inputs, *layer.parameters()]
    found = t.autograd.grad(loss, wanted, create_graph=True)
    again = t.autograd.grad(sum(one.pow(2).sum() for one in found), wanted, allow_unused=True)
    return found, [t.zeros_like(x) if g is None else g for x, g in zip(wanted, again, strict=True)]


@pytest.mark.parametrize("name", ["RNNCell", "LSTMCell", "GRUCell"])
@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("shape", [(3, 4), (4,)])
@on_both()
def test_cell(t, name, bias, shape):
    t.manual_seed(2)
    cell = getattr(t.nn, name)(4, 5, bias=bias, dtype=t.float64)
    x, h, c = (numbers(t, *shape[:-1], n, seed=k, grad=True) for k, n in enumerate((4, 5, 5)))
    state = (h, c) if name == "LSTMCell" else h
    for _ in range(3):
        state = cell(x, state)
    first = cell(x)
    return state, first, gradients(t, cell, (state, first), (x, h, c)[: 3 if name == "LSTMCell" else 2]), cell


@on_both()
def test_what_is_returned_can_be_changed(t):
    """In place, and the gradients are as if it had been another tensor."""
    found = []
    for name in ("RNN", "LSTM", "GRU"):
        t.manual_seed(0)
        layer = getattr(t.nn, name)(2, 3, dtype=t.float64)
        x = numbers(t, 4, 2, 2, grad=True)
        output, _ = layer(x)
        output.mul_(2)
        output[0] = 0
        output.sum().backward()
        found += [x.grad, layer.weight_hh_l0.grad, output.detach()]
    return found


# Calls: most are refused, in torch's words


def clipped_nan(t):
    x = t.ones(2, requires_grad=True)
    x.grad = t.tensor([1.0, float("nan")])
    return t.nn.utils.clip_grad_norm_(x, 1.0, error_if_nonfinite=True)


SEVEN = "linear", "conv1d", "sigmoid", "tanh", "relu", "leaky_relu", "selu"
# Programs of a torch, as program_of takes them.
CALLS = """
nn.LSTM(4, 5, dropout=0.5).dropout | nn.LSTM(4, 5, 2, dropout=1.5) | nn.LSTM(4.0, 5) | nn.GRU(4, 0) | nn.RNN(4, 5, 0)
nn.RNN(4, 5, bias=1) | nn.RNN(4, 5, batch_first=0) | nn.LSTM(4, 5, proj_size=5) | nn.LSTM(4, 5, proj_size=-1)
nn.GRU(4, 5, proj_size=1) | nn.RNN(4, 5, proj_size=1) | nn.RNN(4, 5, nonlinearity="sin") | nn.RNN(4, 5, 1, "sin")
nn.Sequential(hidden=3) | nn.LSTM(4, 5, layers=2) | nn.LSTM(4, 5, dtype=t.int64) | nn.LSTM(4, 5)(zeros(4))
nn.RNN(4, 5)(zeros(4, 1, 1, 1)) | nn.GRU(4, 5)(zeros(7, 4, 3)) | nn.GRU(4, 5)(rnn.pack_sequence([zeros(2, 3)]))
nn.GRU(4, 5)(rnn.pack_sequence([zeros(2)])) | nn.LSTM(4, 5)(zeros(2, 2, 4).double())
nn.GRU(4, 5)(zeros(2, 2, 4), zeros(1, 2, 5).double()) | nn.GRU(4, 5, bias=False)(zeros(2, 2, 4), zeros(1, 2, 5).double())
nn.GRU(4, 5)(zeros(7, 3, 4), zeros(1, 8, 5)) | nn.LSTM(4, 5)(zeros(7, 3, 4), (zeros(1, 8, 5),) * 2)
nn.LSTM(4, 5, 2)(zeros(7, 3, 4), (zeros(2, 3, 5), zeros(1, 3, 5))) | nn.GRU(4, 5)(zeros(7, 3, 4), zeros(3, 5))
nn.LSTM(4, 5)(zeros(7, 3, 4), (zeros(3, 5),) * 2) | nn.GRU(4, 5)(zeros(7, 4), zeros(1, 1, 5))
nn.GRU(4, 5)(zeros(7, 3, 4), (zeros(1, 3, 5),) * 2) | nn.LSTM(4, 5)(zeros(7, 3, 4), zeros(1, 3, 5))
nn.LSTM(4, 5)(zeros(7, 3, 4), (zeros(1, 3, 5),)) | nn.LSTM(4, 5)(zeros(7, 3, 4), (zeros(1, 3, 5),) * 3)
nn.LSTM(4, 5)(zeros(0, 3, 4)) | nn.LSTM(4, 5)(zeros(7, 3, 4).to("meta"))
nn.GRU(4, 5)(zeros(7, 3, 4), zeros(1, 3, 5, device="meta")) | nn.LSTMCell(4, 5)(zeros(2, 3, 4))
nn.GRUCell(4, 5)(zeros(3, 4), zeros(1, 3, 5)) | nn.LSTMCell(4, 5)(zeros(3, 4), (zeros(3, 5), zeros(1, 3, 5)))
nn.RNNCell(4, 5)(zeros(3, 5)) | nn.RNNCell(4, 5)(zeros(3, 4), zeros(2, 5))
nn.LSTMCell(4, 5)(zeros(3, 4), (zeros(3, 5), zeros(3, 4))) | nn.LSTMCell(4, 5)(zeros(3, 4), zeros(3, 5))
nn.LSTMCell(4, 5)(zeros(3, 4).double()) | nn.RNNCell(4, 5, nonlinearity="sin")(zeros(3, 4))
nn.Linear(5, 2)((zeros(3, 5), zeros(3, 5))) | nn.Linear(5, 2)(zeros(7, 3, 10)) | zeros(3, 2) @ t.ones(2).long()
nn.Embedding(4, 3, padding_idx=4) | nn.Embedding.from_pretrained(zeros(3)) | nn.Embedding(4, 3, _weight=zeros(3, 3))
nn.Embedding(4, 3)(t.tensor([4])) | nn.Embedding(4, 3)(t.tensor([1.0])) | nn.Embedding(4, 3)(3) | F.one_hot(t.tensor([0, 3]), 6)
F.one_hot(t.tensor([0, 7]), 6) | F.cosine_similarity(numbers(1, 3), numbers(4, 3)) | F.normalize(numbers(4, 3), dim=1)
F.cross_entropy(numbers(4, 5), numbers(4, 5, seed=1).softmax(1)) | F.cross_entropy(zeros(4, 5), t.tensor([0, 3, 1]))
F.cross_entropy(zeros(2, 5), t.tensor([0, 5])) | F.cross_entropy(zeros(2, 5), t.tensor([0.0, 1.0]))
F.cross_entropy(zeros(2, 5), t.tensor([[0], [1]])) | F.layer_norm(zeros(2, 4, 6), (5,)) | nn.Dropout(1.5)
nn.BatchNorm1d(3)(zeros(3)) | nn.BatchNorm1d(10)(zeros(7, 3, 10)) | nn.MultiheadAttention(5, 2) | nn.MultiheadAttention(5, 0)
[t.manual_seed(1), nn.MultiheadAttention(4, 2, dtype=t.float64)(*(numbers(3, 4),) * 3, need_weights=False)][1]
F.scaled_dot_product_attention(*(numbers(2, 4, 6, seed=k) for k in range(3)), is_causal=True)
nn.MultiheadAttention(4, 2)(*(zeros(3, 1, 6),) * 3) | nn.MultiheadAttention(4, 2)(*(zeros(4),) * 3)
nn.MultiheadAttention(4, 2)(zeros(3, 4), *(zeros(3, 1, 4),) * 2)
nn.MultiheadAttention(4, 2)(*(zeros(n, 1, 4) for n in (3, 3, 5)))
nn.MultiheadAttention(4, 2)(*(zeros(3, 1, 4),) * 3, attn_mask=zeros(2, 3))
nn.MultiheadAttention(4, 2)(*(zeros(3, 1, 4),) * 3, zeros(2, 3))
nn.MultiheadAttention(4, 2)(*(zeros(3, 1, 4),) * 3, attn_mask=zeros(3, 3, dtype=t.int64))
nn.MultiheadAttention(4, 2)(*(zeros(3, 1, 4),) * 3, is_causal=True) | nn.TransformerEncoderLayer(4, 2, activation="sin")
nn.TransformerEncoderLayer(4, 2, 4, dropout=0.0)(zeros(3, 1, 4), zeros(3, 3), t.tensor([[False, False, True]])).shape
[init.calculate_gain("leaky_relu", 0.3), *(float(init.calculate_gain(name)) for name in SEVEN)] | init.calculate_gain("sin")
init.calculate_gain("leaky_relu", "steep") | init.xavier_uniform_(zeros(3)) | init.kaiming_uniform_(zeros(3, 3), mode="fan")
init.kaiming_uniform_(zeros(0, 3)).shape | init.eye_(zeros(3)) | init.orthogonal_(zeros(3))
rnn.pack_padded_sequence(zeros(7, 3, 4), [2, 5, 7]) | rnn.pack_padded_sequence(zeros(7, 3, 4), [7, 5, 0])
rnn.pack_padded_sequence(zeros(7, 3, 4), [7, 5]) | rnn.pack_padded_sequence(zeros(7, 3, 4), t.tensor([7, 5, 2], device="meta"))
rnn.pack_padded_sequence(zeros(7, 3, 4), t.ones(3, 1, dtype=t.int64)) | rnn.pack_padded_sequence(zeros(0, 3, 4), [1, 1, 1])
rnn.pad_packed_sequence(rnn.pack_padded_sequence(zeros(7, 3, 4), [9, 8, 2])) | rnn.pad_packed_sequence(zeros(7, 3, 4))
rnn.pad_packed_sequence(rnn.pack_sequence([zeros(3, 1)]), total_length=2) | rnn.pad_sequence([]) | rnn.pad_sequence(3)
rnn.pad_sequence([zeros(2)], padding_side="top") | nn.Linear(2, 3).to(t.float64, copy=True)
t.sparse_coo_tensor(t.tensor([[1]]), zeros(1), (3,), check_invariants=False).clone(form=1)
t.autograd.gradcheck(t.sin, (zeros(2),), epsilon=1e-6) | utils.clip_grad_norm_(nn.Linear(1, 1).parameters(), 1.0)
utils.clip_grad_norm_((one for one in ()), 1.0) | clipped_nan(t)
repr(rnn.pack_sequence([t.ones(2), t.zeros(3)], enforce_sorted=False)) | list(rnn.PackedSequence((t.ones(2), t.tensor([1, 1]))))
t.utils.data.DataLoader([1, 2], shuffle=True, sampler=[1]) | t.utils.data.DataLoader([1, 2], batch_sampler=[[1]], batch_size=2)
t.utils.data.DataLoader([1, 2], batch_size=0) | t.autograd.functional.hessian(lambda x: x.pow(3).sum(), numbers(3))
utils.vector_to_parameters([1.0], []) | t.einsum("ij,j->i", zeros(2, 3), zeros(2, 3)) | zeros(2, 3).to("meta")[0].device.type
"""


@pytest.mark.parametrize("row", rows_of(CALLS))
def test_call(row):
    assert agree(program_of(row, **globals())) is not None


@pytest.mark.parametrize("t", [torch, small_torch])
def test_a_module_goes_nowhere_by_an_unknown_keyword(t):
    """torch's sentence lists all forms of `to`."""
    with pytest.raises(TypeError, match=r"to\(\)"):
        t.nn.Linear(2, 3).to(dtipe=t.float64)
    assert t.nn.Linear(2, 3).to(device="cpu", dtype=t.float64, non_blocking=True).weight.dtype is t.float64


# Modules


def example(t):
    class Cell(t.nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = t.nn.Linear(3, 2)
            self.scale = t.nn.Parameter(t.ones(2))
            self.layers = t.nn.ModuleList([t.nn.Tanh(), t.nn.Linear(2, 2), t.nn.Linear(2, 2)])
            self.register_buffer("mean", t.zeros(2))
            self.register_buffer("like", t.zeros(1), persistent=False)
            self.register_parameter("nothing", None)
            self.same = self.inner

        def forward(self, x):
            return self.scale * self.inner(x) - self.mean

    t.manual_seed(4)
    return Cell()


def with_extra(t):
    class Named(t.nn.Module):
        def extra_repr(self):
            return "one,\ntwo"

    t.manual_seed(4)
    module = Named()
    module.part = t.nn.Sequential(t.nn.LSTM(2, 3, num_layers=2), t.nn.Sequential())
    module.parts = t.nn.ModuleList([t.nn.GRU(2, 3), t.nn.RNN(2, 3, bias=False)])
    module.empty = t.nn.ModuleList()
    return module


def changed(t, name, value):
    module = example(t)
    setattr(module, name, value)
    return [*dict(module.named_parameters())], [*dict(module.named_buffers())], [*dict(module.named_children())], module


def not_started(t, act):
    """Make a module whose `__init__` does something without that of Module having run."""

    class Late(t.nn.Module):
        def __init__(self):
            act(self)

    return Late()


def loaded(t, change, **options):
    module, state = example(t), example(t).double().state_dict()
    change(state)
    found = module.load_state_dict(state, **options)
    return repr(found), list(found), module


def hooked(t):
    module, said = example(t), []

    def before(module, args):
        said.append(("before", tuple(args[0].shape)))
        return (args[0] * 2,)

    def after(module, args, output):
        said.append(("after", args[0].detach(), output.detach()))
        return output + 1

    handles = [module.inner.register_forward_pre_hook(before), module.register_forward_hook(after)]
    x = numbers(t, 4, 3, dtype="float32", grad=True)
    module(x).pow(2).sum().backward()
    for handle in handles:
        handle.remove()
    module(x)
    return said, x.grad, module.scale.grad


def with_keywords(t):
    module, said = t.nn.Linear(2, 2), []

    def before(module, args, kwargs):
        said.append((len(args), [*kwargs]))
        return args, {"input": kwargs["input"] * 0}

    def first(module, args, kwargs):
        said.append("first")

    module.register_forward_pre_hook(before, with_kwargs=True)
    module.register_forward_pre_hook(first, with_kwargs=True, prepend=True)
    module.register_forward_hook(lambda module, args, kwargs, y: y + len(kwargs), with_kwargs=True)
    return module(input=t.ones(3, 2)) - module.bias, said


def copied(t):
    module = example(t)
    module(numbers(t, 4, 3, dtype="float32")).sum().backward()
    other = copy.deepcopy(module)
    with t.no_grad():
        other.scale.add_(1)
    return module, other, other.scale.grad is None, other.same is other.inner, other.inner is module.inner


def applied(t):
    names = []
    module = example(t)
    result = module.apply(lambda part: names.append(type(part).__name__))
    return names, result is module


def moved(t):
    module = example(t)
    weight = module.inner.weight
    module.register_buffer("count", t.tensor(3))
    module(numbers(t, 4, 3, dtype="float32")).sum().backward()
    module.double()
    return module, module.inner.weight is weight, module.inner.weight.grad, module.half().float().to(t.float64), module.scale.grad


def rows(t):
    t.manual_seed(4)
    layers = t.nn.ModuleList([t.nn.Linear(1, k) for k in range(1, 5)])
    layers.append(t.nn.Tanh()).extend([t.nn.Tanh(), t.nn.Linear(1, 1)])
    layers[0] = t.nn.Sigmoid()
    del layers[2]
    layers += [t.nn.Identity()]
    sequence = t.nn.Sequential(*layers[1:3]).append(t.nn.Tanh())
    sequence[-1] = t.nn.ReLU()
    more = t.nn.ModuleList([t.nn.Tanh()]) + [t.nn.ReLU()]
    return layers, len(layers), layers[-1], layers[1:], sequence, sequence[:2], more, [*sequence.state_dict()]


MODULES = """
(example(t), example(t).state_dict(), dir(example(t)).count("inner")) | with_extra(t)
[name for name, _ in example(t).named_modules()] | [name for name, _ in example(t).named_modules(remove_duplicate=False)]
[name for name, _ in example(t).named_parameters(remove_duplicate=False)]
[name for name, _ in example(t).named_parameters("here", recurse=False)] | [*map(repr, example(t).children())]
[*map(repr, example(t).modules())] | [*example(t).buffers()] | example(t).weigth | nn.Module()(3) | nn.Module(3)
not_started(t, lambda self: setattr(self, "w", nn.Parameter(t.ones(1))))
not_started(t, lambda self: setattr(self, "w", nn.Tanh())) | not_started(t, lambda self: self.register_parameter("w", None))
not_started(t, lambda self: self.register_buffer("w", None)) | changed(t, "scale", t.ones(2)) | changed(t, "scale", "text")
changed(t, "scale", None) | changed(t, "scale", nn.Tanh()) | changed(t, "scale", nn.Parameter(t.zeros(3)))
changed(t, "inner", 3) | changed(t, "inner", None) | changed(t, "inner", nn.Parameter(t.zeros(3)))
changed(t, "mean", t.ones(3)) | changed(t, "mean", 3.0) | changed(t, "mean", nn.Parameter(t.zeros(3)))
changed(t, "nothing", nn.Parameter(t.zeros(3))) | changed(t, "training", False)[3].training
[delattr(m := example(t), "scale"), m][1] | [delattr(m := example(t), "inner"), m][1] | delattr(example(t), "outer")
example(t).register_parameter("inner", None) | example(t).register_buffer("forward", None)
example(t).register_parameter("a.b", None) | example(t).add_module("a.b", None) | example(t).register_buffer("", None)
example(t).register_buffer(3, None) | example(t).register_parameter("w", t.ones(1)) | example(t).register_buffer("w", 1)
example(t).add_module("w", "text") | example(t).register_parameter("w", nn.Parameter(t.ones(1)) * 1)
[m := example(t), m.state_dict()["scale"].zero_()] | [part.training for part in example(t).eval().modules()]
example(t).train("hard") | example(t).requires_grad_(False) | example(t).to(t.int64) | moved(t) | applied(t) | copied(t)
hooked(t) | with_keywords(t) | loaded(t, lambda state: None) | loaded(t, lambda state: None, assign=True)
loaded(t, lambda state: [state.pop("scale"), state.pop("inner.bias")])
loaded(t, lambda state: state.update({"scale.x": t.ones(1), "outer": t.ones(1)}))
loaded(t, lambda state: [state.pop("mean"), state.update({"scale": t.ones(3), "layers.7.x": t.ones(1), "inner.bias": 3.0})])
loaded(t, lambda state: [state.pop("scale"), state.update(x=t.ones(1))], strict=False) | example(t).load_state_dict([1])
nn.LSTM(4, 6, num_layers=2).load_state_dict(nn.LSTM(4, 5).state_dict())
t.func.functional_call(example(t), {"inner.weight": t.ones(2, 3)}, (t.ones(3),))
t.func.functional_call(example(t), [{"scale": t.ones(2)}] * 2, t.ones(3))
(repr(nn.Parameter(t.ones(2))), repr(nn.Parameter(t.ones(1), requires_grad=False))) | nn.Parameter(t.tensor([1]))
[nn.Parameter(x := t.ones(2)).data.zero_(), x][1] | nn.Parameter().shape | rows(t) | nn.ModuleList()[0]
nn.Sequential(nn.Tanh())[1] | nn.ModuleList([nn.Tanh()])(3)
"""


@pytest.mark.parametrize("row", rows_of(MODULES))
def test_module(row):
    agree(program_of(row, **globals()), 1e-6)


@on_both(1e-6)
def test_zero_grad(t):
    module = example(t)
    module(numbers(t, 4, 3, dtype="float32")).sum().backward()
    first = module.scale.grad
    module.zero_grad(set_to_none=False)
    second = module.scale.grad
    module.zero_grad()
    return first, second, module.scale.grad, module.inner.weight.grad


# First numbers, and what is done with all parameters

FIRST = {
    "uniform": lambda t, x: t.nn.init.uniform_(x, -2, 3),
    "normal": lambda t, x: t.nn.init.normal_(x, 1.0, 0.5),
    "normal of a generator": lambda t, x: t.nn.init.normal_(x, generator=t.Generator().manual_seed(3)),
    "constant": lambda t, x: t.nn.init.constant_(x, 0.3),
    "ones": lambda t, x: t.nn.init.ones_(x),
    "zeros": lambda t, x: t.nn.init.zeros_(x),
    "eye": lambda t, x: t.nn.init.eye_(x),
    "xavier": lambda t, x: t.nn.init.xavier_uniform_(x, gain=2.0),
    "xavier, normal": lambda t, x: t.nn.init.xavier_normal_(x),
    "kaiming": lambda t, x: t.nn.init.kaiming_uniform_(x, 0.2, mode="fan_out"),
    "orthogonal, a part": lambda t, x: t.nn.init.orthogonal_(x[:3]),
    "kaiming, relu": lambda t, x: t.nn.init.kaiming_uniform_(x, nonlinearity="relu"),
}


@pytest.mark.parametrize("name", FIRST)
@pytest.mark.parametrize("shape", [(5, 3), (20, 7)])
def test_first_numbers(name, shape):
    def drawn(t):
        t.manual_seed(9)
        x = t.zeros(shape, requires_grad=True)
        returned = FIRST[name](t, x)
        return x, returned is x, x.grad_fn is None, t.rand(1)

    agree(drawn, 2e-6 if "normal" in name or "orthogonal" in name else 0)


@pytest.mark.parametrize("shape", [(5, 3), (3, 5), (4, 2, 3)])
@on_both()
def test_orthogonal(t, shape):
    t.manual_seed(9)
    return t.nn.init.orthogonal_(t.zeros(shape, dtype=t.float64), gain=1.5), t.rand(1)


@settings(max_examples=15)
@given(
    max_norm=st.floats(0.01, 100), norm_type=st.sampled_from([1.0, 2.0, 3.0, float("inf")]), seed=st.integers(0, 99)
)
@on_both()
def test_clipping(t, max_norm, norm_type, seed):
    parameters = [numbers(t, 3, k, seed=seed, grad=True) for k in (1, 4)] + [t.zeros(2, requires_grad=True)]
    for one in parameters[:2]:
        one.grad = one.detach() * 3
    norm = t.nn.utils.clip_grad_norm_(iter(parameters), max_norm, norm_type)
    first = [one.grad.clone() for one in parameters[:2]]
    t.nn.utils.clip_grad_value_(parameters, 0.05)
    return norm, first, [one.grad for one in parameters]


@on_both(1e-6)
def test_vectors(t):
    module = example(t)
    vector = t.nn.utils.parameters_to_vector(module.parameters())
    t.nn.utils.vector_to_parameters(numbers(t, len(vector), dtype="float32"), module.parameters())
    return vector, module


# Packed sequences


@settings(max_examples=25)
@given(lengths=st.lists(st.integers(1, 5), min_size=1, max_size=5), batch_first=st.booleans(), grad=st.booleans(), sort=st.booleans())
@on_both()
def test_packed_sequences(t, lengths, batch_first, grad, sort):
    lengths = sorted(lengths, reverse=True) if sort else lengths
    rnn = t.nn.utils.rnn
    sequences = [numbers(t, n, 2, seed=k, grad=grad) for k, n in enumerate(lengths)]
    padded = rnn.pad_sequence(sequences, batch_first, 0.5)
    left = rnn.pad_sequence(sequences, batch_first, padding_side="left")
    packed = rnn.pack_padded_sequence(padded, t.tensor(lengths), batch_first, enforce_sorted=sort)
    again, found = rnn.pad_packed_sequence(packed, batch_first, -1.0, total_length=max(lengths) + 1)
    if grad:
        (again * numbers(t, *again.shape)).sum().backward()
    alone = rnn.unpack_sequence(rnn.pack_sequence(sequences, enforce_sorted=sort))
    double = packed.float().to(t.float64)
    return padded, left, list(packed), again, found, alone, [one.grad for one in sequences], list(double)


# Functions of functions, loaders, files


@on_both()
def test_functional_call(t):
    layer = t.nn.LSTM(2, 3, dtype=t.float64)
    names = dict(layer.named_parameters())
    weights = {name: numbers(t, *one.shape, seed=1, grad=True) for name, one in names.items()}
    biases = {name: weights.pop(name) for name in [*weights] if "bias" in name}
    output, (h, c) = t.func.functional_call(layer, (weights, biases), numbers(t, 4, 2))
    output.sum().backward()
    same = all(getattr(layer, name) is one for name, one in names.items())
    return output, h, c, [one.grad for one in (*weights.values(), *biases.values())], same


@on_both()
def test_maps_and_derivatives(t):
    func, x, w = t.func, numbers(t, 4, 3), numbers(t, 3, 2, seed=1, grad=True)

    def f(x, w):
        return (x @ w).tanh()

    rows = func.vmap(f, in_dims=(0, None))(x, w)
    columns = func.vmap(lambda a, b: (a * b, a.sum()), in_dims=1, out_dims=(1, 0))(x, x)
    slopes = func.vmap(func.jacrev(f), in_dims=(0, None))(x, w)
    (of_slopes,) = t.autograd.grad(slopes.sum(), w)
    nested = func.vmap(func.vmap(lambda a: a * a))(x)
    second = func.jacrev(func.jacrev(lambda a: a.pow(3).sum()))(x[0])
    gradient = func.grad(lambda a, b: (a * b.detach()).sum(), argnums=1)(w.detach(), x[:3, :2])
    return rows, columns, slopes, of_slopes, nested, second, gradient


@on_both(0)
def test_loaders(t):
    data = t.utils.data
    t.manual_seed(6)
    items = data.TensorDataset(t.arange(7), t.arange(14.0).view(7, 2))
    pairs = [(k, float(k), "abc"[k % 3], {"x": t.tensor(k)}) for k in range(5)]
    loaders = [
        data.DataLoader(items), data.DataLoader(items, 3, shuffle=True), data.DataLoader(pairs, 2, drop_last=True),
        data.DataLoader(items, 4, shuffle=True, generator=t.Generator().manual_seed(2)), data.DataLoader(items, batch_size=None),
        data.DataLoader(pairs, batch_sampler=[[0, 3], [1]], collate_fn=lambda batch: [one[0] for one in batch]),
        data.DataLoader(data.random_split(items, [0.5, 0.5])[0], 2),
    ]  # fmt: skip
    return [len(one) for one in loaders[:-2]], [[*one] for one in loaders for _ in range(2)], t.rand(2)


@on_both(1e-6)
def test_files(t, tmp_path):
    """What is written is read again."""
    module, place = example(t), tmp_path / "kept.pt"
    kept = {"state": module.state_dict(), "two": [module.scale] * 2, "dtype": t.float64, "shape": module.scale.shape}
    t.save(kept | {"x": (1, None), "optimizer": t.optim.AdamW(module.parameters()).state_dict()}, place)
    found = t.load(place, map_location="cpu", weights_only=True)
    assert found.pop("dtype") is t.float64
    return found, found["two"][0] is found["two"][1], type(found["two"][0]).__name__, repr(found["shape"])


@pytest.mark.parametrize("t", [torch, small_torch])
def test_a_file_that_could_run_something_is_refused(t):
    file = io.BytesIO()
    t.save({"path": io.StringIO}, file)
    file.seek(0)
    with pytest.raises(pickle.UnpicklingError):
        t.load(file)
