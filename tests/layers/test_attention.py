"""Tests of attention, its function, layer and transformer block, against torch, over drawn configurations."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn
from torch.autograd import gradcheck, gradgradcheck
from torch.func import functional_call, grad, vmap
from torch.nn import functional as F

import companion
from companion import AdditiveAttention, compare
from companion import scaled_dot_product_attention as ours_attention
from tests.layers.torch_comparison import agree, examples, flat, outcome, pair, randn

float64 = {"dtype": torch.float64}
few = st.integers(1, 4)


def mask_of(kind, *shape):
    """Return a mask that leaves every query a key: bool, True where it must not look, or floating."""
    hidden = torch.rand(shape, dtype=torch.float64) < 0.4
    hidden[..., 0] = False
    return hidden if kind == "bool" else randn(*shape).masked_fill(hidden, -torch.inf)


@settings(max_examples=examples(100))
@given(
    st.lists(few, max_size=2), few, few, few, few, st.sampled_from([None, "bool", "float", "causal"]),
    st.sampled_from([None, 0.3]), st.sampled_from([0.0, 0.4]), st.integers(0, 99),
)  # fmt: skip
def test_function(before, T, S, d, size, mask, scale, p, seed):
    torch.manual_seed(seed)
    inputs = [randn(*before, *shape) for shape in ((T, d), (S, d), (S, size))]
    options = {"scale": scale, "dropout_p": p, "is_causal": mask == "causal"}
    if mask in ("bool", "float"):
        options["attn_mask"] = mask_of(mask, T, S)
        if mask == "bool":
            options["attn_mask"] = ~options["attn_mask"]
        if T > 1:  # a query without keys
            options["attn_mask"][-1] = False if mask == "bool" else -torch.inf
    results = []
    for attention in (ours_attention, F.scaled_dot_product_attention):
        leaves = [x.clone().requires_grad_() for x in inputs]
        torch.manual_seed(seed)
        result = attention(*leaves, **options)
        (result * torch.arange(result.numel(), **float64).view_as(result)).sum().backward()
        results.append([result.detach(), *(leaf.grad for leaf in leaves)])
    for mine, other in zip(*results, strict=True):
        torch.testing.assert_close(mine, other, rtol=0, atol=1e-10)


@st.composite
def layer_options(draw):
    """Draw constructor arguments of `MultiheadAttention`."""
    heads = draw(st.integers(1, 3))
    options = {
        "embed_dim": heads * draw(st.integers(1, 3)),
        "num_heads": heads,
        "dropout": draw(st.sampled_from([0.0, 0.0, 0.3])),
        "dtype": draw(st.sampled_from([torch.float64, torch.float64, torch.float32])),
    }
    for name in ("bias", "add_bias_kv", "add_zero_attn", "batch_first"):
        options[name] = draw(st.booleans())
    for name in ("kdim", "vdim"):
        options[name] = draw(st.sampled_from([None, None, 2, 5]))
    return options


@pytest.mark.filterwarnings("ignore:Support for mismatched")  # compared with torch's warnings below
@settings(max_examples=examples(150))
@given(
    layer_options(), few, few, few, st.booleans(), st.sampled_from([None, "bool", "float", "heads", "causal"]),
    st.sampled_from([None, "bool", "float"]), st.booleans(), st.booleans(), st.booleans(), st.integers(0, 99),
)  # fmt: skip
def test_layer(options, T, S, B, batched, mask, padding, need_weights, average, training, seed):
    ours, theirs = pair("MultiheadAttention", **options, seed=seed)
    dtype, batch = options["dtype"], (B,) if batched else ()
    sizes = ((T, theirs.embed_dim), (S, theirs.kdim), (S, theirs.vdim))
    shapes = [(*batch, t, size) if options["batch_first"] else (t, *batch, size) for t, size in sizes]
    call = {"need_weights": need_weights, "average_attn_weights": average}
    if padding is not None:
        call["key_padding_mask"] = mask_of(padding, *batch, S)
    if mask == "causal":
        call |= {"attn_mask": torch.ones(T, S, dtype=torch.bool).triu(1), "is_causal": True}
    elif mask is not None:
        shape = (B * theirs.num_heads if batched else theirs.num_heads, T, S) if mask == "heads" else (T, S)
        call["attn_mask"] = mask_of("float" if mask == "float" else "bool", *shape)
    for name in ("attn_mask", "key_padding_mask"):
        if name in call and call[name].is_floating_point():
            call[name] = call[name].to(dtype)
    for module in (ours, theirs):
        module.train(training)
    result = compare(ours, theirs, tuple(randn(*shape, dtype=dtype) for shape in shapes), seed=seed, **call)
    assert agree(result, dtype), f"{options} {call}\n{result}"
    assert len(result) == 4 + need_weights + len([*theirs.parameters()])


@pytest.mark.parametrize("name", ["MultiheadAttention", "TransformerEncoderLayer"])
@pytest.mark.parametrize("bias", [False, True])
def test_repr(name, bias):
    """Compare with torch's, whose output layer has a longer name."""
    ours, theirs = pair(name, 4, 2, bias=bias)
    assert repr(ours) == repr(theirs).replace("NonDynamicallyQuantizableLinear", "Linear")


@pytest.mark.parametrize("is_last", [False, True])
@pytest.mark.parametrize("need_weights", [False, True])
def test_query_without_keys(need_weights, is_last):
    """Check that the result is zeros without weights, and nan with them."""
    ours, theirs = pair("MultiheadAttention", 4, 2, **float64)
    mask = torch.tensor([[True, True], [False, is_last]])
    x = randn(2, 3, 4)
    results = [module(x, x, x, attn_mask=mask, need_weights=need_weights)[0] for module in (ours, theirs)]
    assert results[1][0].isnan().any() == need_weights
    torch.testing.assert_close(*results, rtol=0, atol=1e-10, equal_nan=True)


@settings(max_examples=examples(40))
@given(layer_options(), st.integers(0, 10**6))
def test_parameters(options, seed):
    """Check that names, shapes and initial numbers are equal, and that state dicts are interchangeable."""
    ours, theirs = pair("MultiheadAttention", **options, seed=seed)
    equal_parameters(ours, theirs)
    for name in ("embed_dim", "kdim", "vdim", "num_heads", "head_dim", "dropout", "batch_first", "add_zero_attn"):
        assert getattr(ours, name) == getattr(theirs, name)


def equal_parameters(ours, theirs):
    assert [*ours.state_dict()] == [*theirs.state_dict()]
    for (name, mine), (other_name, other) in zip(ours.named_parameters(), theirs.named_parameters(), strict=True):
        assert name == other_name and mine.dtype == other.dtype and mine.equal(other), name
    with torch.no_grad():
        for parameter in ours.parameters():
            parameter.copy_(torch.rand_like(parameter))
    theirs.load_state_dict(ours.state_dict(), strict=True)
    ours.load_state_dict(theirs.state_dict(), strict=True)


@settings(max_examples=examples(60))
@given(
    st.sampled_from([0.0, 0.3]), st.sampled_from(["relu", "gelu", torch.tanh]), st.booleans(), st.booleans(),
    st.booleans(),
    st.booleans(), st.sampled_from([None, "bool", "causal"]), st.booleans(), st.integers(0, 99),
)  # fmt: skip
def test_block(p, activation, batch_first, norm_first, bias, batched, mask, padding, seed):
    options = {"batch_first": batch_first, "norm_first": norm_first, "bias": bias, **float64}
    ours, theirs = pair("TransformerEncoderLayer", 6, 2, 5, p, activation, seed=seed, **options)
    equal_parameters(ours, theirs)
    x = randn(*((4, 3) if batched else (4,)), 6)
    T, B = (3, 4) if batched and batch_first else (4, 3)
    call = {}
    if mask is not None:
        call["src_mask"] = mask_of("bool", T, T) if mask == "bool" else torch.ones(T, T, dtype=torch.bool).triu(1)
        call["is_causal"] = mask == "causal"
    if padding:
        call["src_key_padding_mask"] = mask_of("bool", *((B,) if batched else ()), T)
    result = compare(ours, theirs, x, seed=seed, **call)
    assert result.ok, f"{options} {call}\n{result}"
    with torch.no_grad():  # in evaluation torch computes the block in one function
        ours, theirs = ours.eval(), theirs.eval()
        torch.testing.assert_close(ours(x, **call), theirs(x, **call), rtol=0, atol=1e-10)


@pytest.mark.parametrize("name", ["MultiheadAttention", "TransformerEncoderLayer"])
def test_gradients_of_gradients_and_of_each_example(name):
    torch.manual_seed(0)
    module = getattr(companion, name)(4, 2, *([3, 0.0, torch.tanh] if "Trans" in name else []), **float64)
    x = randn(3, 2, 4).requires_grad_()
    names, parameters = zip(*module.named_parameters(), strict=True)

    def run(x, *parameters):
        inputs = (x, x, x) if name == "MultiheadAttention" else (x,)
        result = functional_call(module, dict(zip(names, parameters, strict=True)), inputs)
        return result if isinstance(result, torch.Tensor) else result[0]

    assert gradcheck(run, (x, *parameters)) and gradgradcheck(run, (x, *parameters))
    each = vmap(grad(lambda x: run(x[:, None], *parameters).square().sum()), in_dims=1)(x)
    for b in range(2):
        alone = grad(lambda x: run(x[:, None], *parameters).square().sum())(x[:, b])  # noqa: B023
        torch.testing.assert_close(each[b], alone, rtol=0, atol=1e-10)


@pytest.mark.parametrize("name", ["MultiheadAttention", "TransformerEncoderLayer"])
def test_shapes_on_the_meta_device(name):
    """Check that no numbers are read."""
    ours, theirs = pair(name, 4, 2, device="meta")
    x, padding = torch.empty(5, 3, 4, device="meta"), torch.empty(3, 5, dtype=torch.bool, device="meta")
    inputs = (x, x, x, padding) if name == "MultiheadAttention" else (x, None, padding)
    assert [t.shape for t in flat(ours(*inputs))] == [t.shape for t in flat(theirs(*inputs))]


def x_of(*shape):
    return torch.ones(shape)


def hidden(*shape):
    return torch.zeros(shape, dtype=torch.bool)


# arguments of the layer, then of the call: each raises an error or warns
WRONG = {
    "heads that do not divide": ((5, 2), ()),
    "no heads": ((4, 0), ()),
    "nothing to embed": ((0, 1), ()),
    "four dimensions": ((4, 2), (x_of(1, 2, 3, 4),) * 3),
    "a batch of queries alone": ((4, 2), (x_of(2, 3, 4), x_of(2, 4), x_of(2, 4))),
    "a batch of keys alone": ((4, 2), (x_of(2, 4), x_of(2, 3, 4), x_of(2, 4))),
    "another size": ((4, 2), (x_of(2, 3, 5),) * 3),
    "keys and values": ((4, 2), (x_of(2, 3, 4), x_of(2, 3, 4), x_of(5, 3, 4))),
    "keys and values, batch first": (
        (4, 2, 0.0, True, False, False, None, None, True),
        (x_of(2, 3, 4), x_of(2, 3, 4), x_of(2, 5, 4)),
    ),
    "keys and values of other sizes": (
        (4, 2, 0.0, True, False, False, 3),
        (x_of(2, 3, 4), x_of(2, 3, 3), x_of(5, 3, 4)),
    ),
    "a key of another size": ((4, 2, 0.0, True, False, False, 3), (x_of(2, 3, 4), x_of(2, 3, 7), x_of(2, 3, 4))),
    "causal without a mask": ((4, 2), (*(x_of(2, 3, 4),) * 3, None, True, None, True, True)),
    "a mask of numbers": ((4, 2), (*(x_of(2, 3, 4),) * 3, None, True, torch.zeros(2, 2, dtype=torch.int64))),
    "padding of numbers": ((4, 2), (*(x_of(2, 3, 4),) * 3, torch.zeros(3, 2, dtype=torch.int64))),
    "a mask of another size": ((4, 2), (*(x_of(2, 3, 4),) * 3, None, True, hidden(3, 2))),
    "a mask for each sequence": ((4, 2), (*(x_of(2, 3, 4),) * 3, None, True, hidden(3, 2, 2))),
    "a mask of one dimension": ((4, 2), (*(x_of(2, 3, 4),) * 3, None, True, hidden(2))),
    "padding without a batch": ((4, 2), (*(x_of(2, 3, 4),) * 3, hidden(2))),
    "padding of another batch": ((4, 2), (*(x_of(2, 3, 4),) * 3, hidden(2, 2))),
    "padding of another length": ((4, 2), (*(x_of(2, 3, 4),) * 3, hidden(3, 3))),
    "padding with a batch": ((4, 2), (*(x_of(2, 4),) * 3, hidden(3, 2))),
    "a mask for each head": ((4, 2), (*(x_of(2, 4),) * 3, None, True, hidden(3, 2, 2))),
    "masks of two kinds": ((4, 2), (*(x_of(2, 3, 4),) * 3, hidden(3, 2), True, torch.zeros(2, 2))),
}


@pytest.mark.parametrize("case", WRONG)
def test_errors_and_warnings_are_torchs(case):
    arguments, call = WRONG[case]
    outcomes = []
    for source in (companion, nn):
        outcomes.append(outcome(lambda source=source: source.MultiheadAttention(*arguments)(*call)))
    ours, theirs = outcomes
    assert ours == theirs
    assert theirs[0] or theirs[1], "torch takes this"


@pytest.mark.parametrize(
    "masks",
    [
        (torch.zeros(2, 2, dtype=torch.int64), None),
        (None, torch.zeros(3, 2, dtype=torch.int64)),
        (torch.zeros(2, 2), hidden(3, 2)),
        (hidden(3, 2), None),
        (None, None, True),
    ],
)
def test_errors_of_the_block_are_torchs(masks):
    call = x_of(2, 3, 4), *masks
    ours, theirs = (outcome(lambda s=s: s.TransformerEncoderLayer(4, 2)(*call)) for s in (companion, nn))
    assert ours == theirs
    assert theirs[0] or theirs[1], "torch takes this"


def test_warning_has_the_line_of_the_caller():
    x, masks = x_of(2, 3, 4), (torch.zeros(2, 2), hidden(3, 2))
    with pytest.warns(UserWarning, match="mismatched") as caught:
        companion.TransformerEncoderLayer(4, 2)(x, *masks)
        companion.MultiheadAttention(4, 2)(x, x, x, masks[1], True, masks[0])
    assert [warning.filename for warning in caught] == [__file__] * 2


@pytest.mark.parametrize(
    "options",
    [{"attn_mask": torch.zeros(2, 2, dtype=torch.int64)}, {"attn_mask": torch.zeros(2, 2), "is_causal": True}],
)
def test_errors_of_the_function_are_torchs(options):
    ours, theirs = (outcome(f, *(x_of(2, 4),) * 3, **options) for f in (ours_attention, F.scaled_dot_product_attention))
    assert ours[0] is not None and ours[0][0] is theirs[0][0]
    assert ours[0][1].splitlines()[0] == theirs[0][1].splitlines()[0]


@settings(max_examples=examples(30))
@given(few, few, few, few, few, few, st.booleans(), st.integers(0, 99))
def test_additive_attention_equals_a_double_loop(T, S, B, query_size, key_size, size, masked, seed):
    torch.manual_seed(seed)
    layer = AdditiveAttention(query_size, key_size, size, **float64)
    inputs = randn(T, B, query_size), randn(S, B, key_size), randn(S, B, 3)
    padding = mask_of("bool", B, S) if masked else None

    def loop(query, key, value, padding):
        contexts, weights = torch.zeros(T, B, 3, **float64), torch.zeros(B, T, S, **float64)
        for t in range(T):
            for b in range(B):
                visible = [j for j in range(S) if padding is None or not padding[b, j]]
                e = [
                    layer.v @ torch.tanh(layer.weight_q @ query[t, b] + layer.weight_k @ key[j, b] + layer.bias)
                    for j in visible
                ]
                total = sum(score.exp() for score in e)
                for score, j in zip(e, visible, strict=True):
                    weights[b, t, j] = score.exp() / total
                contexts[t, b] = sum(weights[b, t, j].clone() * value[j, b] for j in visible)
        return contexts, weights

    results = []
    for run in (layer, loop):
        leaves = [x.clone().requires_grad_() for x in inputs]
        layer.zero_grad()
        outputs = run(*leaves, padding)
        sum((out * torch.arange(out.numel(), **float64).view_as(out)).sum() for out in outputs).backward()
        results.append(
            [
                *(out.detach() for out in outputs),
                *(x.grad for x in leaves),
                *(p.grad.clone() for p in layer.parameters()),
            ]
        )
    for mine, other in zip(*results, strict=True):
        torch.testing.assert_close(mine, other, rtol=0, atol=1e-10)
