"""Layers without recurrence and losses of small_torch, compared with torch's."""

import pytest

from both_torches import FLOATS, agree, compile_row, gradients, numbers, on_both, tensors_in


def indices(t):
    return t.tensor([[1, 4, 1], [0, 2, 0]])


# Layers, whose options k are a type, and their inputs of type d
LAYERS = {
    "nn.Linear(4, 3, bias=False, **k)": "numbers(4, dtype=d)",
    "nn.Embedding(5, 3, padding_idx=-4, **k)": "indices(t)",
    "nn.Embedding(5, 3, max_norm=1.5, scale_grad_by_freq=True, **k)": "indices(t)",
    "nn.Embedding(5, 3, 0, 0.5, 1.0, **k)": "indices(t)",
    "nn.Embedding(5, 3, sparse=True, **k)": "indices(t)",
    "nn.LayerNorm((5, 4), eps=0.1, bias=False, **k)": "numbers(2, 5, 4, dtype=d, grad=True)",
    "nn.BatchNorm1d(4, **k)": "numbers(6, 4, dtype=d, grad=True)",
    "nn.BatchNorm1d(4, momentum=None, affine=False, **k)": "numbers(3, 4, 5, dtype=d, grad=True)",
    "nn.Sequential(nn.Linear(4, 6, **k), nn.ReLU(inplace=True), nn.LeakyReLU(0.1, True), nn.Tanh(), nn.Flatten())": (
        "numbers(2, 3, 4, dtype=d, grad=True)"
    ),
    "nn.Sequential(nn.Sigmoid(), nn.Identity(3), nn.GELU('tanh'), nn.SiLU(), nn.Softplus(2.0), nn.LogSoftmax(1))": (
        "numbers(2, 3, dtype=d, grad=True)"
    ),
    "nn.Dropout(0.3)": "numbers(4, 6, dtype=d, grad=True)",
    "nn.MultiheadAttention(4, 2, **k)": "attention_inputs(t, d, 4, 4)",
    "nn.MultiheadAttention(4, 2, kdim=3, vdim=5, add_bias_kv=True, add_zero_attn=True, **k)": (
        "attention_inputs(t, d, 3, 5)"
    ),
    "nn.TransformerEncoderLayer(4, 2, 6, dropout=0.0, **k)": "numbers(5, 3, 4, dtype=d, grad=True)",
    "nn.TransformerEncoderLayer(4, 2, 6, 0.0, 'gelu', batch_first=True, norm_first=True, bias=False, **k)": (
        "numbers(3, 5, 4, dtype=d, grad=True)"
    ),
}


def attention_inputs(t, dtype, *features):
    shapes = [(3, 2, 4), (5, 2, features[0]), (5, 2, features[1])]
    return tuple(numbers(t, *shape, seed=k, dtype=dtype, grad=True) for k, shape in enumerate(shapes))


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("layer", LAYERS)
def test_layer(layer, dtype):
    """Check that the same seed gives the same initial values, outputs, gradients and buffers."""

    def make(t):
        t.manual_seed(3)
        return compile_row(layer, k={"dtype": getattr(t, dtype)})(t)

    inexact = "Embedding" in layer or "kdim" in layer  # these numbers differ between processors
    agree(make, FLOATS[dtype] if inexact else 0)

    def run(t):
        module, inputs = make(t), compile_row(LAYERS[layer], **globals(), d=dtype)(t)
        outputs = module(*(inputs if isinstance(inputs, tuple) else (inputs,)))
        return tensors_in(outputs), gradients(t, module, outputs, inputs), module, module.state_dict()

    agree(run, 1e-5 if dtype == "float32" else 1e-12)


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


@pytest.mark.parametrize("options", [{}, {"batch_first": True}, {"add_zero_attn": True}])
@pytest.mark.parametrize("need_weights", [True, False])
@pytest.mark.parametrize("name", MASKS)
@on_both()
def test_attention_with_masks(t, name, need_weights, options):
    t.manual_seed(1)
    layer = t.nn.MultiheadAttention(4, 2, **options, dtype=t.float64)
    inputs = attention_inputs(t, "float64", 4, 4)
    arguments = tuple(x.transpose(0, 1) for x in inputs) if layer.batch_first else inputs
    outputs = layer(*arguments, **MASKS[name](t), need_weights=need_weights)
    return outputs, gradients(t, layer, outputs, inputs)


@pytest.mark.parametrize("name", ["MSELoss", "L1Loss", "BCEWithLogitsLoss", "BCELoss", "NLLLoss", "CrossEntropyLoss"])
@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
@on_both()
def test_loss(t, name, reduction):
    options = {"label_smoothing": 0.1} if name == "CrossEntropyLoss" else {}
    has_class_targets = name in ("NLLLoss", "CrossEntropyLoss")
    if has_class_targets:
        options |= {"weight": numbers(t, 4).abs(), "ignore_index": 2}
    loss = getattr(t.nn, name)(reduction=reduction, **options)
    x = numbers(t, 5, 4, grad=True)
    target = t.tensor([0, 3, 2, 1, 3]) if has_class_targets else numbers(t, 5, 4, seed=1).sigmoid()
    value = loss(x.sigmoid() if name == "BCELoss" else x, target)
    value.sum().backward()
    return value, x.grad, loss
