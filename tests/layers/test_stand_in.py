"""Tests of the scratch classes as replacements of torch's modules: copies, devices, functional calls, autocast.

torch's own test suite has a list of modules with inputs that they must accept and inputs that they must refuse. Here
the scratch classes are tested with it.
"""

import copy
import io
import pickle

import pytest
import torch
from torch import nn
from torch.func import functional_call, grad, jacrev, jvp, stack_module_state, vmap
from torch.nn.utils import parametrizations, parametrize, prune
from torch.nn.utils.rnn import PackedSequence, pack_sequence
from torch.testing._internal.common_modules import ModuleErrorEnum, module_db
from torch.torch_version import TorchVersion

import companion
from tests.layers.torch_comparison import ALL, CELLS, LAYERS, close, compiled, flat, float64, pair, without_cudnn

WITH_ATTENTION = [*ALL, "MultiheadAttention", "TransformerEncoderLayer"]
TORCHS = {info.module_cls.__name__: info for info in module_db if info.module_cls.__name__ in WITH_ATTENTION}


def torchs_inputs(name, dtype=torch.float64, training=True):
    """Yield (args, kwargs) of constructor and call from torch's list of module inputs."""
    for case in TORCHS[name].module_inputs_func(TORCHS[name], torch.get_default_device(), dtype, True, training):
        make, call = case.constructor_input, case.forward_input
        yield make.args, {**make.kwargs, "dtype": dtype}, call.args, call.kwargs


@without_cudnn
@pytest.mark.parametrize("training", [True, False])
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
@pytest.mark.parametrize("name", WITH_ATTENTION)
def test_torchs_inputs(name, dtype, training):
    cases = list(torchs_inputs(name, dtype, training))
    assert cases
    for args, kwargs, call_args, call_kwargs in cases:
        ours, theirs = pair(name, *args, **kwargs)
        results = []
        for module in (ours, theirs):
            module.train(training)
            leaves = copy.deepcopy((call_args, call_kwargs))
            result = module(*leaves[0], **leaves[1])
            sum(t.square().sum() for t in flat(result)).backward()
            leaf = leaves[0][0].data if isinstance(leaves[0][0], PackedSequence) else leaves[0][0]
            gradients = [p.grad.to_dense() for p in module.parameters()]
            results.append([*flat(result), *gradients, *([leaf.grad] if leaf.grad is not None else [])])
        close(*results, dtype=dtype)


@pytest.mark.parametrize("name", CELLS + LAYERS)
def test_torchs_error_inputs(name):
    info = TORCHS[name]
    if info.module_error_inputs_func is None:
        pytest.fail("torch has no wrong inputs for this class any more: remove it from the list")
    for case in info.module_error_inputs_func(info, torch.get_default_device(), torch.float64, False, True):
        make = case.module_error_input.constructor_input
        construct = lambda make=make: getattr(companion, name)(*make.args, **make.kwargs)  # noqa: E731
        with pytest.raises(case.error_type, match=case.error_regex):
            if case.error_on == ModuleErrorEnum.CONSTRUCTION_ERROR:
                construct()
            else:
                call = case.module_error_input.forward_input
                construct()(*call.args, **call.kwargs)


@pytest.mark.parametrize("name", WITH_ATTENTION)
@pytest.mark.parametrize("how", ["pickle", "deepcopy", "torch.save"])
def test_copies(name, how):
    for args, kwargs, call_args, call_kwargs in torchs_inputs(name):
        module = getattr(companion, name)(*args, **kwargs)
        call_args = (
            call_args if name == "Embedding" else [a.detach() if isinstance(a, torch.Tensor) else a for a in call_args]
        )
        expected = module.eval()(*call_args, **call_kwargs)
        if how == "pickle":
            twin = pickle.loads(pickle.dumps(module))
        elif how == "deepcopy":
            twin = copy.deepcopy(module)
        else:
            file = io.BytesIO()
            torch.save(module, file)
            file.seek(0)
            twin = torch.load(file, weights_only=False)
        close(twin(*call_args, **call_kwargs), expected)
        with torch.no_grad():
            next(twin.parameters()).add_(1)
        close(module(*call_args, **call_kwargs), expected)  # the copy shares nothing


@pytest.mark.parametrize("name", LAYERS)
def test_state_dict_with_a_prefix(name):
    ours, theirs = (nn.ModuleDict({"encoder": module}) for module in pair(name, 3, 5, 2))
    assert [*ours.state_dict(prefix="model.")] == [*theirs.state_dict(prefix="model.")]
    theirs.load_state_dict(ours.state_dict())
    with pytest.raises(RuntimeError, match="Missing key"):
        ours.load_state_dict({})


@pytest.mark.parametrize("name", ALL)
def test_device_and_dtype(name):
    meta, theirs = pair(name, 4, 3, device="meta", dtype=torch.bfloat16)
    assert {p.device.type for p in meta.parameters()} == {"meta"}
    assert meta.state_dict().keys() == theirs.state_dict().keys()
    assert {p.dtype for p in meta.parameters()} == {torch.bfloat16}
    filled = meta.to_empty(device="cpu")
    filled.reset_parameters()
    assert all(p.isfinite().all() for p in filled.parameters())
    assert {p.dtype for p in filled.double().parameters()} == {torch.float64}


@pytest.mark.parametrize("name", LAYERS)
def test_shapes_on_the_meta_device(name):
    """Check that no numbers are read."""
    ours, theirs = pair(name, 3, 5, 2, bidirectional=True, device="meta")
    x = torch.empty(7, 4, 3, device="meta")
    assert [t.shape for t in flat(ours(x))] == [t.shape for t in flat(theirs(x))]


@pytest.mark.parametrize("name", LAYERS)
def test_replaced_and_tied_parameters(name):
    """Check functional_call, a new parameter, parametrizations, pruning and tied weights."""
    ours, theirs = pair(name, 4, 4, 2, **float64)
    x = torch.randn(3, 2, 4, **float64)
    halves = {key: value * 0.5 for key, value in theirs.named_parameters()}
    close(functional_call(ours, halves, x), functional_call(theirs, halves, x))
    for module in (ours, theirs):
        module.weight_ih_l1 = module.weight_ih_l0  # tied
    close(ours(x), theirs(x))
    assert len([*ours.parameters()]) == len([*theirs.parameters()]) == 7
    torch.manual_seed(1)
    fresh = torch.rand_like(ours.weight_hh_l0)
    for module in (ours, theirs):
        module.weight_hh_l0 = nn.Parameter(fresh.clone())
        module.eval()
    close(ours(x), theirs(x))

    class Half(nn.Module):
        def forward(self, weight):
            return weight / 2

    for module in (ours, theirs):
        parametrize.register_parametrization(module, "weight_hh_l0", Half())
    close(ours(x), theirs(x))
    parametrizations.weight_norm(ours, "weight_ih_l0")(x)[0].sum().backward()
    ours, theirs = pair(name, 4, 4, **float64)
    for module in (ours, theirs):
        prune.l1_unstructured(module, "weight_hh_l0", amount=0.5)
    assert (ours.weight_hh_l0 == 0).any()
    for module in (ours, theirs):
        assert sum(isinstance(weight, nn.Parameter) for weight in module._flat_weights) == 3
    close(ours(x), theirs(x))


def test_recurrent_weights_stay_orthogonal_while_they_learn():
    """Check that torch's parametrization holds for both RNNs, and that they learn the same."""
    x, outputs = torch.randn(9, 2, 4, **float64), []
    for layer in pair("RNN", 4, 6, **float64):
        parametrizations.orthogonal(layer, "weight_hh_l0")
        first = layer.weight_hh_l0.detach().clone()
        optimizer = torch.optim.SGD(layer.parameters(), lr=0.1)
        for _ in range(5):
            optimizer.zero_grad()
            layer(x)[0].square().sum().backward()
            optimizer.step()
        W = layer.weight_hh_l0
        assert torch.allclose(W @ W.T, torch.eye(6, **float64)) and not torch.allclose(W, first, atol=0.01)
        outputs.append(layer(x))
    close(*outputs)


@pytest.mark.parametrize("name", LAYERS + CELLS)
def test_vmap_and_func(name):
    """Check a gradient for each example, and several models at once."""
    models = [getattr(companion, name)(2, 3, **float64) for _ in range(3)]
    x = torch.randn(*((5, 4, 2) if name in LAYERS else (4, 2)), **float64)
    axis = 1 if name in LAYERS else 0
    module = models[0]
    parameters = dict(module.named_parameters())

    def loss(parameters, example):
        return flat(functional_call(module, parameters, example))[0].square().sum()

    each = vmap(grad(loss), in_dims=(None, axis))(parameters, x)
    for k in range(4):
        alone = grad(loss)(parameters, x.select(axis, k))
        close([each[key][k] for key in parameters], [alone[key] for key in parameters])
    stacked, _ = stack_module_state(models)
    together = vmap(lambda p: flat(functional_call(module, p, x))[0])(stacked)
    close(list(together), [flat(model(x))[0] for model in models])
    jacrev(loss)(parameters, x)


def test_embedding_vmap():
    embedding = companion.Embedding(5, 3, **float64)
    indices = torch.tensor([[1, 2], [4, 4]])
    close(vmap(embedding)(indices), embedding(indices))
    weights = torch.stack([embedding.weight.detach(), embedding.weight.detach() + 1])
    together = vmap(lambda w: functional_call(embedding, {"weight": w}, indices))(weights)
    close(together[1], embedding(indices) + 1)


@pytest.mark.filterwarnings(
    "ignore:.*torch.jit.script"
)  # torch uses it itself, and since 2.15 with another class of warning
def test_embedding_forward_derivative():
    ours, theirs = pair("Embedding", 5, 3, max_norm=1.0, **float64)
    indices, tangent = torch.tensor([[1, 2], [4, 4]]), torch.randn(5, 3, **float64)
    results = [
        jvp(lambda w, m=m: functional_call(m, {"weight": w}, indices), (m.weight.detach(),), (tangent,))
        for m in (ours, theirs)
    ]
    close(*results)


def input_in_form(form, dtype=torch.float64):
    """Return sequences of 3 features as an input of this form."""
    if form == "unbatched":
        return torch.randn(4, 3).to(dtype)
    if form.startswith("packed"):
        return pack_sequence([torch.randn(n, 3).to(dtype) for n in ((4, 4) if "equal" in form else (4, 2))])
    return torch.randn(4, 2, 3).to(dtype)


# earlier versions of torch run no packed sequence in oneDNN
FORMS = [
    "padded",
    "unbatched",
    "packed",
    *(["packed, of equal length"] if TorchVersion(torch.__version__) >= (2, 13) else []),
]


@pytest.mark.parametrize("hand", [False, True])
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16])
@pytest.mark.parametrize(
    "name, options", [*((name, {}) for name in LAYERS), ("LSTM", {"proj_size": 2}), ("LSTM", {"num_layers": 2})]
)
def test_autocast(name, options, dtype, form, hand):
    ours, theirs = pair(name, 3, 5, **options, dtype=dtype)
    companion.by_hand(ours, hand)
    x, device = input_in_form(form, dtype), torch.get_default_device().type
    half = torch.bfloat16 if device == "cpu" else torch.float16  # which cuDNN always returns
    with torch.autocast(device, dtype=half):
        ours = flat(ours(x))
        try:
            theirs = flat(theirs(x))
        except RuntimeError as error:  # oneDNN supports a bfloat16 LSTM on newer processors only
            assert name == "LSTM" and "primitive descriptor" in str(error)
            assert {tensor.dtype for tensor in ours} == {half}
            return
    for a, b in zip(ours, theirs, strict=True):
        assert a.dtype == b.dtype
        torch.testing.assert_close(a.float(), b.float(), rtol=0.05, atol=0.02)


@pytest.mark.filterwarnings("ignore:TF32 acceleration on top of oneDNN")
@pytest.mark.parametrize("shape, enabled", [((4, 2, 3), False), ((4, 0, 3), True)])
def test_autocast_without_onednn(shape, enabled):
    (ours, theirs), x = pair("LSTM", 3, 5, device="cpu"), torch.ones(shape, device="cpu")
    with torch.autocast("cpu", dtype=torch.bfloat16), torch.backends.mkldnn.flags(enabled=enabled):
        assert [t.dtype for t in flat(ours(x))] == [t.dtype for t in flat(theirs(x))] == [torch.float32] * 3


@without_cudnn
@pytest.mark.parametrize("hand", [False, True])
@pytest.mark.parametrize("form", ["padded", "batch first", "packed"])
@pytest.mark.parametrize("name", LAYERS)
def test_results_can_be_changed_in_place(name, form, hand):
    """Check that results are views only where torch's are."""
    ours, theirs = pair(name, 3, 4, 2, bidirectional=True, batch_first=form == "batch first", **float64)
    companion.by_hand(ours, hand)
    x = input_in_form(form)
    tensors_of_both = [flat(module(x)) for module in (ours, theirs)]
    assert all(
        is_view or not tensor._is_view()
        for tensor, is_view in zip(tensors_of_both[0], [t._is_view() for t in tensors_of_both[1]], strict=True)
    )
    for tensors in tensors_of_both:
        for tensor in tensors:
            tensor.mul_(2) if tensor._is_view() else tensor.detach_().mul_(2)
    close(*tensors_of_both)
    results = []
    for module in (ours, theirs):
        output, *states = flat(module(x))
        loss = output.mul_(3).sum() + sum(state.add_(1).square().sum() for state in states)
        results.append([*torch.autograd.grad(loss, [*module.parameters()])])
    close(*results)


@pytest.mark.parametrize("name", ["RNN", "RNNCell"])
def test_nonlinearity_set_later(name):
    """Check that `nonlinearity` decides what a cell computes, and `mode` what a layer computes."""
    results = []
    for module in pair(name, 3, 4, **float64):
        torch.manual_seed(1)
        x = torch.randn(2, 3, **float64)
        outputs = [module(x)]
        module.nonlinearity = "relu"
        assert module.nonlinearity == "relu"
        outputs += [module(x), copy.deepcopy(module)(x)]
        if name == "RNN":
            module.mode = "RNN_RELU"
            outputs.append(module(x))
        results.append(outputs)
    close(*results)
    assert not torch.allclose(flat(results[0])[0], flat(results[0])[-1])


@pytest.mark.parametrize("name", CELLS)
@pytest.mark.parametrize("missing", ["bias_ih", "bias_hh"])
def test_cell_with_one_bias(name, missing):
    ours, theirs = pair(name, 3, 5, **float64)
    x = torch.randn(4, 3, **float64)
    for module in (ours, theirs):
        setattr(module, missing, None)
    close(ours(x), theirs(x))


@pytest.mark.parametrize("name", LAYERS)
@pytest.mark.parametrize("hand", [False, True])
def test_transformations_of_a_layer(name, hand):
    """Check torch.func and compilation, where a gradient by hand falls back to autograd."""
    layer = companion.by_hand(getattr(companion, name)(2, 3, **float64), hand)
    x = torch.randn(5, 4, 2, **float64)
    expected = x.clone().requires_grad_()
    layer(expected)[0].sum().backward()
    close(grad(lambda y: layer(y)[0].sum())(x), expected.grad)
    close(vmap(lambda y: layer(y)[0], in_dims=1, out_dims=1)(x), layer(x)[0])
    if not hand:
        close(compiled(layer)(x), layer(x))


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore:.*torch.jit.script")
@pytest.mark.parametrize("options", [{}, {"padding_idx": 1}, {"max_norm": 1.0}])
def test_embedding_compiled_and_on_meta(options):
    embedding = companion.Embedding(6, 4, **options)
    indices = torch.tensor([[0, 1], [5, 1]])
    close(compiled(embedding)(indices), embedding(indices), torch.float32)
    assert embedding.to("meta")(indices.to("meta")).shape == (2, 2, 4)


def test_padding_index_set_later():
    gradients = []
    for module in pair("Embedding", 4, 3):
        module.padding_idx = -3
        module(torch.arange(4)).sum().backward()
        gradients.append(module.weight.grad)
        module.padding_idx = 30
        with pytest.raises(AssertionError, match="Padding_idx must be within num_embeddings"):
            module(torch.arange(4))
    close(*gradients, torch.float32)


@without_cudnn
@pytest.mark.parametrize("name", LAYERS)
@pytest.mark.parametrize("layout", ["strided input", "expanded state", "list state"])
def test_layouts(name, layout):
    ours, theirs = pair(name, 3, 5, **float64)
    x = torch.randn(2, 4, 3, **float64).transpose(0, 1)
    h = torch.randn(1, 1, 5, **float64).expand(1, 2, 5)
    if layout == "strided input":
        arguments = (x,)
    elif layout == "expanded state":
        arguments = (x, (h, h) if name == "LSTM" else h)
    else:
        arguments = (x, [h, h] if name == "LSTM" else h)
    close(ours(*arguments), theirs(*arguments))


@pytest.mark.parametrize("name", LAYERS)
def test_packed_states_are_in_the_order_of_the_batch(name):
    ours, _ = pair(name, 3, 5, **float64)
    sequences = [torch.randn(n, 3, **float64) for n in (2, 4, 1)]
    h = torch.randn(1, 3, 5, **float64)
    _, state = ours(pack_sequence(sequences, enforce_sorted=False), (h, h) if name == "LSTM" else h)
    for k, sequence in enumerate(sequences):
        h_k = h[:, k]
        _, alone = ours(sequence, (h_k, h_k) if name == "LSTM" else h_k)
        close([s[:, k] for s in flat(state)], flat(alone))


@pytest.mark.parametrize("name", ALL)
def test_as_many_random_numbers_are_drawn(name):
    states = []
    for source in (companion, nn):
        torch.manual_seed(5)
        module = getattr(source, name)(4, 3)
        if name in LAYERS:
            module = getattr(source, name)(4, 3, 3, dropout=0.4)
            module(torch.randn(5, 2, 4))
        states.append(torch.get_rng_state())
    assert states[0].equal(states[1])
