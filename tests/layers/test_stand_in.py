"""The scratch classes in the place of torch's: whatever is done to a module of torch can be done to them.

torch's own test suite keeps a list of modules with inputs that they must take and inputs that they must refuse.
Here the scratch classes go through it.
"""

import copy
import io
import itertools
import pickle

import pytest
import torch
from torch import nn
from torch.autograd import functional, gradcheck, gradgradcheck
from torch.func import functional_call, grad, jacrev, jvp, stack_module_state, vmap
from torch.nn.utils import parametrizations, parametrize, prune
from torch.nn.utils.rnn import PackedSequence, pack_sequence
from torch.testing._internal.common_modules import ModuleErrorEnum, module_db
from torch.torch_version import TorchVersion
from torch.utils.checkpoint import checkpoint

import companion
from tests.layers.namesakes import flat, pair

LAYERS = ["RNN", "LSTM", "GRU"]
CELLS = ["RNNCell", "LSTMCell", "GRUCell"]
RECURRENT = LAYERS + CELLS
ALL = [*RECURRENT, "Embedding"]
WITH_ATTENTION = [*ALL, "MultiheadAttention", "TransformerEncoderLayer"]
TORCHS = {info.module_cls.__name__: info for info in module_db if info.module_cls.__name__ in WITH_ATTENTION}
float64 = {"dtype": torch.float64}


def torchs_inputs(name, dtype=torch.float64, training=True):
    """(constructor's arguments, call's arguments) from torch's list, twice: for the scratch module and for torch's."""
    for case in TORCHS[name].module_inputs_func(TORCHS[name], "cpu", dtype, True, training):
        make, call = case.constructor_input, case.forward_input
        yield make.args, {**make.kwargs, "dtype": dtype}, call.args, call.kwargs


def close(ours, theirs, dtype=torch.float64):
    bound = 1e-10 if dtype == torch.float64 else 1e-5
    for a, b in zip(flat(ours), flat(theirs), strict=True):
        largest = max(1.0, b.abs().max().item()) if b.numel() else 1.0
        torch.testing.assert_close(a, b, rtol=0, atol=bound * largest)


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
        pytest.fail("torch has no wrong inputs for this class any more: take it off the list")
    for case in info.module_error_inputs_func(info, "cpu", torch.float64, False, True):
        make = case.module_error_input.constructor_input
        construct = lambda make=make: getattr(companion, name)(*make.args, **make.kwargs)  # noqa: E731
        with pytest.raises(case.error_type, match=case.error_regex):
            if case.error_on == ModuleErrorEnum.CONSTRUCTION_ERROR:
                construct()
            else:
                call = case.module_error_input.forward_input
                construct()(*call.args, **call.kwargs)


@pytest.mark.parametrize("name", RECURRENT)
def test_gradients_of_gradients(name):
    """gradcheck and gradgradcheck over the input, the state and all parameters."""
    torch.manual_seed(0)
    module = getattr(companion, name)(2, 3, **float64)
    x = torch.randn(*((3, 2, 2) if name in LAYERS else (2, 2)), **float64, requires_grad=True)
    h = torch.randn(*((1, 2, 3) if name in LAYERS else (2, 3)), **float64, requires_grad=True)
    names, parameters = zip(*module.named_parameters(), strict=True)

    def run(x, h, *parameters):
        state = (h, h * 0.5) if "LSTM" in name else h
        return tuple(flat(functional_call(module, dict(zip(names, parameters, strict=True)), (x, state))))

    assert gradcheck(run, (x, h, *parameters))
    assert gradgradcheck(run, (x, h, *parameters))


@pytest.mark.parametrize("options", [{}, {"bidirectional": True, "num_layers": 2}, {"bias": False}])
@pytest.mark.parametrize("name", LAYERS)
def test_by_hand_passes_gradcheck(name, options):
    torch.manual_seed(0)
    module = companion.by_hand(getattr(companion, name)(2, 3, **options, **float64))
    names, parameters = zip(*module.named_parameters(), strict=True)
    x = torch.randn(3, 2, 2, **float64, requires_grad=True)

    def run(x, *parameters):
        return tuple(flat(functional_call(module, dict(zip(names, parameters, strict=True)), x)))

    assert gradcheck(run, (x, *parameters))


ARCHITECTURES = [{}, {"num_layers": 2, "bidirectional": True, "bias": False}]


@pytest.mark.parametrize("name, options", [*itertools.product(LAYERS, ARCHITECTURES), ("LSTM", {"proj_size": 2})])
def test_second_derivatives_by_hand(name, options):
    """And many gradients at once: whatever is frozen or tied, and though the first state comes from the input."""
    results = []
    ours, theirs = pair(name, 3, 4, **options, **float64)
    x, v = torch.randn(2, 4, 2, 3, **float64)
    for module in (companion.by_hand(ours), theirs):
        names = [key for key, _ in module.named_parameters()]
        directions, size = 2 if module.bidirectional else 1, module.proj_size or 4

        def loss(x, *parameters):
            replaced = functional_call(module, dict(zip(names, parameters, strict=False)), x)  # noqa: B023
            return sum(tensor.sin().sum() for tensor in flat(replaced))

        def begun(x):
            h = x.mean(0)[None, :, :1].expand(module.num_layers * directions, -1, size)  # noqa: B023
            return module(x, (h, h[..., :1].expand(-1, -1, 4)) if name == "LSTM" else h)[0]  # noqa: B023

        found = [functional.hvp(loss, x, v)[1], functional.vhp(loss, x, v)[1], functional.hessian(loss, x[:2, :1])]
        found += [functional.jacobian(begun, x, vectorize=True), functional.hessian(loss, x[:2, :1], vectorize=True)]
        for frozen in ("weight_hh", "weight_ih"):
            for key, parameter in module.named_parameters():
                parameter.requires_grad_(frozen not in key)
            free = [parameter for parameter in module.parameters() if parameter.requires_grad]
            y = x.clone().requires_grad_()
            (slope,) = torch.autograd.grad(begun(y).square().sum(), y, create_graph=True)
            found += [slope, *torch.autograd.grad(slope.sin().sum(), [y, *free])]
        y = x.clone().requires_grad_()
        output, many = begun(y), torch.eye(3, **float64)[:, None, :, None].expand(3, 4, 3, 1)[:, :, :2]
        found += torch.autograd.grad(output, y, many.expand(3, *output.shape), is_grads_batched=True)
        if module.bias:  # one parameter in two places
            module.requires_grad_().bias_hh_l0 = module.bias_ih_l0
            found += torch.autograd.grad(module(y)[0].square().sum(), [*module.parameters()], create_graph=True)
        results.append(found)
    close(*results)


@pytest.mark.parametrize("name", LAYERS)
def test_gradients_by_hand_lie_in_memory_as_torchs(name):
    ours, theirs = pair(name, 3, 4, bidirectional=True, **({"proj_size": 2} if name == "LSTM" else {}), **float64)
    x = torch.randn(4, 2, 3, **float64)
    found = []
    for module in (companion.by_hand(ours), theirs):
        gradients = torch.autograd.grad(module(x)[0].square().sum(), [*module.parameters()])
        assert all(gradient.is_contiguous() for gradient in gradients)
        found.append(nn.utils.parameters_to_vector(gradients))
    close(*found)


@pytest.mark.parametrize("base", [companion.RNN, companion.LSTM, companion.GRU])
@pytest.mark.parametrize("part", ["step", "ahead"])
def test_by_hand_a_layer_with_equations_of_its_own_keeps_them(base, part):
    kind = type(base(3, 4)._step)

    def twice(self, *arguments):
        found = getattr(kind, part)(self, *arguments)
        return tuple(2 * tensor for tensor in found) if part == "step" else 2 * found

    Own = type("Own", (base,), {"_step": type("OwnStep", (kind,), {part: twice})()})
    layer, x = Own(3, 4, **float64), torch.randn(5, 2, 3, **float64)
    found = []
    for hand in (False, True):
        output, state = companion.by_hand(layer, hand)(x)
        found.append([output, state, torch.autograd.grad(output.square().sum(), [*layer.parameters()])])
    close(*found)
    usual = base(3, 4, **float64)
    usual.load_state_dict(layer.state_dict())
    assert not torch.allclose(usual(x)[0], found[0][0])


def test_by_hand_reaches_every_layer_of_a_model():
    model = nn.Sequential(companion.LSTM(2, 3), companion.Embedding(2, 3))
    assert companion.by_hand(model) is model and model[0].unroll_by_hand
    assert not companion.by_hand(model, on=False)[0].unroll_by_hand


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
    assert {p.device.type for p in meta.parameters()} == {
        "meta"
    } and meta.state_dict().keys() == theirs.state_dict().keys()
    assert {p.dtype for p in meta.parameters()} == {torch.bfloat16}
    filled = meta.to_empty(device="cpu")
    filled.reset_parameters()
    assert all(p.isfinite().all() for p in filled.parameters())
    assert {p.dtype for p in filled.double().parameters()} == {torch.float64}


@pytest.mark.parametrize("name", LAYERS)
def test_shapes_on_the_meta_device(name):
    """No number is looked at: shapes come out where there are no numbers."""
    ours, theirs = pair(name, 3, 5, 2, bidirectional=True, device="meta")
    x = torch.empty(7, 4, 3, device="meta")
    assert [t.shape for t in flat(ours(x))] == [t.shape for t in flat(theirs(x))]


@pytest.mark.parametrize("name", LAYERS)
def test_parameters_from_outside(name):
    """functional_call, a parameter set anew, parametrizations, pruning, tied weights."""
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


@pytest.mark.parametrize("name", RECURRENT)
def test_vmap_and_func(name):
    """A gradient for each example, and several models at once."""
    models = [getattr(companion, name)(2, 3, **float64) for _ in range(3)]
    x = torch.randn(*((5, 4, 2) if name in LAYERS else (4, 2)), **float64)
    axis = 1 if name in LAYERS else 0
    module = models[0]
    parameters = dict(module.named_parameters())

    def loss(parameters, example):
        return flat(functional_call(module, parameters, example))[0].square().sum()

    each = vmap(grad(loss), in_dims=(None, axis))(parameters, x)
    for k in range(4):
        one = grad(loss)(parameters, x.select(axis, k))
        close([each[key][k] for key in parameters], [one[key] for key in parameters])
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


@pytest.mark.filterwarnings("ignore:.*torch.jit.script")  # torch uses it itself, and since 2.15 warns in another class
def test_embedding_forward_derivative():
    ours, theirs = pair("Embedding", 5, 3, max_norm=1.0, **float64)
    indices, tangent = torch.tensor([[1, 2], [4, 4]]), torch.randn(5, 3, **float64)
    results = [
        jvp(lambda w, m=m: functional_call(m, {"weight": w}, indices), (m.weight.detach(),), (tangent,))
        for m in (ours, theirs)
    ]
    close(*results)


def sequences_in(form, dtype=torch.float64):
    """Sequences of 3 features as an input of this form."""
    if form == "unbatched":
        return torch.randn(4, 3).to(dtype)
    if form.startswith("packed"):
        return pack_sequence([torch.randn(n, 3).to(dtype) for n in ((4, 4) if "equal" in form else (4, 2))])
    return torch.randn(4, 2, 3).to(dtype)


# an earlier torch gave no packed sequence to oneDNN, of whatever lengths
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
    x = sequences_in(form, dtype)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        ours = flat(ours(x))
        try:
            theirs = flat(theirs(x))
        except RuntimeError as error:  # oneDNN has a bfloat16 LSTM for newer processors only
            assert name == "LSTM" and "primitive descriptor" in str(error)
            assert {tensor.dtype for tensor in ours} == {torch.bfloat16}
            return
    for a, b in zip(ours, theirs, strict=True):
        assert a.dtype == b.dtype
        torch.testing.assert_close(a.float(), b.float(), rtol=0.05, atol=0.02)


@pytest.mark.filterwarnings("ignore:TF32 acceleration on top of oneDNN")
@pytest.mark.parametrize("x, enabled", [(torch.ones(4, 2, 3), False), (torch.ones(4, 0, 3), True)])
def test_autocast_where_onednn_is_not_asked(x, enabled):
    ours, theirs = pair("LSTM", 3, 5)
    with torch.autocast("cpu", dtype=torch.bfloat16), torch.backends.mkldnn.flags(enabled=enabled):
        assert [t.dtype for t in flat(ours(x))] == [t.dtype for t in flat(theirs(x))] == [torch.float32] * 3


@pytest.mark.parametrize("hand", [False, True])
@pytest.mark.parametrize("form", ["padded", "batch first", "packed"])
@pytest.mark.parametrize("name", LAYERS)
def test_what_is_returned_can_be_changed_in_place(name, form, hand):
    """It is no view, but where torch's is one."""
    ours, theirs = pair(name, 3, 4, 2, bidirectional=True, batch_first=form == "batch first", **float64)
    companion.by_hand(ours, hand)
    x = sequences_in(form)
    found = [flat(module(x)) for module in (ours, theirs)]
    assert all(
        is_view or not tensor._is_view()
        for tensor, is_view in zip(found[0], [t._is_view() for t in found[1]], strict=True)
    )
    for tensors in found:
        for tensor in tensors:
            tensor.mul_(2) if tensor._is_view() else tensor.detach_().mul_(2)
    close(*found)
    results = []
    for module in (ours, theirs):
        output, *states = flat(module(x))
        loss = output.mul_(3).sum() + sum(state.add_(1).square().sum() for state in states)
        results.append([*torch.autograd.grad(loss, [*module.parameters()])])
    close(*results)


@pytest.mark.parametrize("name", ["RNN", "RNNCell"])
def test_nonlinearity_set_later(name):
    """A cell does what its `nonlinearity` says; of a layer that is only a name, and its `mode` says what it does."""
    results = []
    for module in pair(name, 3, 4, **float64):
        torch.manual_seed(1)
        x = torch.randn(2, 3, **float64)
        found = [module(x)]
        module.nonlinearity = "relu"
        assert module.nonlinearity == "relu"
        found += [module(x), copy.deepcopy(module)(x)]
        if name == "RNN":
            module.mode = "RNN_RELU"
            found.append(module(x))
        results.append(found)
    close(*results)
    assert not torch.allclose(flat(results[0])[0], flat(results[0])[-1])


@pytest.mark.parametrize("name", LAYERS)
def test_nothing_is_kept_after_the_graph(name):
    """A training step leaves no tensors behind in cycles, which only the garbage collector would find."""
    import gc
    import weakref

    for hand in (False, True):
        layer = companion.by_hand(getattr(companion, name)(2, 3), hand)
        gc.disable()
        try:
            x = torch.randn(4, 2, 2)
            seen = weakref.ref(x)
            output, _ = layer(x)
            del x
            assert seen() is not None  # the graph needs it
            output.sum().backward()
            del output
            assert seen() is None
        finally:
            gc.enable()


def checkpointed(module, arguments, use_reentrant):
    """Run `module` under an activation checkpoint and go back, twice if the graph can stay. Returns outputs and all
    gradients."""
    torch.manual_seed(1)
    leaves = [tensor.clone().requires_grad_(tensor.is_floating_point()) for tensor in arguments]
    outputs = flat(
        checkpoint(lambda x, *h: module(x, *([h] if len(h) > 1 else h)), *leaves, use_reentrant=use_reentrant)
    )
    loss = sum(output.square().sum() for output in outputs)
    if not use_reentrant:  # the reentrant form frees its graph at once
        loss.backward(retain_graph=True)
        module.zero_grad()
        for leaf in leaves:
            leaf.grad = None
    loss.backward()
    learned = [*module.parameters(), *(leaf for leaf in leaves if leaf.requires_grad)]
    return [*outputs, *(parameter.grad.to_dense() for parameter in learned)]


@pytest.mark.parametrize("use_reentrant", [False, True])
@pytest.mark.parametrize("hand", [False, True])
@pytest.mark.parametrize("options", [{}, {"num_layers": 2, "bidirectional": True, "dropout": 0.5}])
@pytest.mark.parametrize("name", LAYERS)
def test_recurrent_layers_under_an_activation_checkpoint(name, options, hand, use_reentrant):
    ours, theirs = pair(name, 3, 4, **options, **float64)
    companion.by_hand(ours, hand)
    states = torch.randn(2 if name == "LSTM" else 1, 4 if options else 1, 2, 4, **float64)
    arguments = (torch.randn(5, 2, 3, **float64), *states)
    close(*(checkpointed(module, arguments, use_reentrant) for module in (ours, theirs)))


@pytest.mark.parametrize("use_reentrant", [False, True])
@pytest.mark.parametrize("options", [{"scale_grad_by_freq": True, "padding_idx": 1}, {"sparse": True}])
def test_embedding_under_an_activation_checkpoint(options, use_reentrant):
    ours, theirs = pair("Embedding", 5, 3, **options, **float64)
    indices, found = torch.tensor([[1, 2], [4, 4]]), []
    for module in (ours, theirs):
        # the reentrant form gives gradients only if one of its arguments has one
        model = nn.ModuleList([module])
        model.forward = lambda x, module=module: x[0, 0] * module(indices)
        found.append(checkpointed(model, (torch.full((1, 1), 0.5, **float64),), use_reentrant))
    close(*found)


@pytest.mark.parametrize("use_reentrant", [False, True])
@pytest.mark.parametrize("name, args", [("MinGRU", (3, 4)), ("MinLSTM", (3, 4)), ("SelectiveSSM", (3, 4))])
def test_scans_under_an_activation_checkpoint(name, args, use_reentrant):
    torch.manual_seed(0)
    module, x = getattr(companion, name)(*args, **float64), torch.randn(5, 2, 3, **float64)
    plain = x.clone().requires_grad_()
    outputs = flat(module(plain))
    expected = torch.autograd.grad(sum(output.square().sum() for output in outputs), [*module.parameters(), plain])
    close(checkpointed(module, (x,), use_reentrant), [*outputs, *expected])


@pytest.mark.parametrize("name", CELLS)
@pytest.mark.parametrize("missing", ["bias_ih", "bias_hh"])
def test_one_bias(name, missing):
    ours, theirs = pair(name, 3, 5, **float64)
    x = torch.randn(4, 3, **float64)
    for module in (ours, theirs):
        setattr(module, missing, None)
    close(ours(x), theirs(x))


@pytest.mark.parametrize("name", LAYERS)
@pytest.mark.parametrize("hand", [False, True])
def test_transformations_of_a_layer(name, hand):
    """torch.func and compilation, where a gradient by hand steps back for autograd."""
    layer = companion.by_hand(getattr(companion, name)(2, 3, **float64), hand)
    x = torch.randn(5, 4, 2, **float64)
    expected = x.clone().requires_grad_()
    layer(expected)[0].sum().backward()
    close(grad(lambda y: layer(y)[0].sum())(x), expected.grad)
    close(vmap(lambda y: layer(y)[0], in_dims=1, out_dims=1)(x), layer(x)[0])
    if not hand:
        torch._dynamo.reset()
        close(torch.compile(layer, backend="eager", fullgraph=True)(x), layer(x))


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore:.*torch.jit.script")
@pytest.mark.parametrize("options", [{}, {"padding_idx": 1}, {"max_norm": 1.0}])
def test_embedding_compiled_and_on_meta(options):
    embedding = companion.Embedding(6, 4, **options)
    indices = torch.tensor([[0, 1], [5, 1]])
    torch._dynamo.reset()
    close(torch.compile(embedding, backend="eager", fullgraph=True)(indices), embedding(indices), torch.float32)
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
def test_packed_states_are_in_the_callers_order(name):
    ours, _ = pair(name, 3, 5, **float64)
    sequences = [torch.randn(n, 3, **float64) for n in (2, 4, 1)]
    h = torch.randn(1, 3, 5, **float64)
    _, state = ours(pack_sequence(sequences, enforce_sorted=False), (h, h) if name == "LSTM" else h)
    for k, sequence in enumerate(sequences):
        h_k = h[:, k]
        _, alone = ours(sequence, (h_k, h_k) if name == "LSTM" else h_k)
        close([s[:, k] for s in flat(state)], flat(alone))


@pytest.mark.parametrize("name", ALL)
def test_the_same_random_numbers_are_drawn(name):
    states = []
    for source in (companion, nn):
        torch.manual_seed(5)
        module = getattr(source, name)(4, 3)
        if name in LAYERS:
            module = getattr(source, name)(4, 3, 3, dropout=0.4)
            module(torch.randn(5, 2, 4))
        states.append(torch.get_rng_state())
    assert states[0].equal(states[1])
