"""Tests of gradients, by autograd and by hand: first and second order, recorded, and under activation checkpoints."""

import itertools
import warnings

import pytest
import torch
from torch import nn
from torch.autograd import forward_ad, functional, gradcheck, gradgradcheck
from torch.func import functional_call
from torch.fx.experimental.proxy_tensor import make_fx
from torch.utils.checkpoint import checkpoint
from torch.utils.flop_counter import FlopCounterMode

import companion
from companion.layers.rnn import ElmanStep
from tests.layers.torch_comparison import LAYERS, RECURRENT, close, flat, float64, pair, without_cudnn


@pytest.mark.parametrize("name", RECURRENT)
def test_gradients_of_gradients(name):
    """Run gradcheck and gradgradcheck over the input, the state and all parameters."""
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


@without_cudnn
@pytest.mark.parametrize("name, options", [*itertools.product(LAYERS, ARCHITECTURES), ("LSTM", {"proj_size": 2})])
def test_second_derivatives_by_hand(name, options):
    """Check also batched gradients, frozen and tied weights, and a first state that depends on the input."""
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

        derivatives = [
            functional.hvp(loss, x, v)[1],
            functional.vhp(loss, x, v)[1],
            functional.hessian(loss, x[:2, :1]),
        ]
        derivatives += [
            functional.jacobian(begun, x, vectorize=True),
            functional.hessian(loss, x[:2, :1], vectorize=True),
        ]
        for frozen in ("weight_hh", "weight_ih"):
            for key, parameter in module.named_parameters():
                parameter.requires_grad_(frozen not in key)
            free = [parameter for parameter in module.parameters() if parameter.requires_grad]
            y = x.clone().requires_grad_()
            (slope,) = torch.autograd.grad(begun(y).square().sum(), y, create_graph=True)
            derivatives += [slope, *torch.autograd.grad(slope.sin().sum(), [y, *free])]
        y = x.clone().requires_grad_()
        output, many = begun(y), torch.eye(3, **float64)[:, None, :, None].expand(3, 4, 3, 1)[:, :, :2]
        derivatives += torch.autograd.grad(output, y, many.expand(3, *output.shape), is_grads_batched=True)
        if module.bias:  # tied weights
            module.requires_grad_().bias_hh_l0 = module.bias_ih_l0
            derivatives += torch.autograd.grad(module(y)[0].square().sum(), [*module.parameters()], create_graph=True)
        results.append(derivatives)
    close(*results)


@pytest.mark.parametrize("name", LAYERS)
def test_gradients_by_hand_have_torchs_memory_layout(name):
    ours, theirs = pair(name, 3, 4, bidirectional=True, **({"proj_size": 2} if name == "LSTM" else {}), **float64)
    x = torch.randn(4, 2, 3, **float64)
    vectors = []
    for module in (companion.by_hand(ours), theirs):
        gradients = torch.autograd.grad(module(x)[0].square().sum(), [*module.parameters()])
        assert all(gradient.is_contiguous() for gradient in gradients)
        vectors.append(nn.utils.parameters_to_vector(gradients))
    close(*vectors)


@pytest.mark.filterwarnings("ignore:by_hand leaves as it is")
@pytest.mark.parametrize("base", [companion.RNN, companion.LSTM, companion.GRU])
@pytest.mark.parametrize("part", ["step", "ahead"])
def test_by_hand_keeps_the_equations_of_a_subclass(base, part):
    kind = type(base(3, 4)._step)

    def twice(self, *arguments):
        results = getattr(kind, part)(self, *arguments)
        return tuple(2 * tensor for tensor in results) if part == "step" else 2 * results

    Own = type("Own", (base,), {"_step": type("OwnStep", (kind,), {part: twice})()})
    layer, x = Own(3, 4, **float64), torch.randn(5, 2, 3, **float64)
    results = []
    for hand in (False, True):
        output, state = companion.by_hand(layer, hand)(x)
        results.append([output, state, torch.autograd.grad(output.square().sum(), [*layer.parameters()])])
    close(*results)
    usual = base(3, 4, **float64)
    usual.load_state_dict(layer.state_dict())
    assert not torch.allclose(usual(x)[0], results[0][0])


@pytest.mark.parametrize(
    "layers, unchanged",
    [
        ([companion.LSTM(2, 3), companion.Embedding(2, 3), companion.MinGRU(2, 3)], None),
        ([companion.GRU(2, 3), nn.LSTM(2, 3), companion.LSTMCell(2, 3)], "torch.nn.LSTM at '1', LSTMCell at '2'."),
        ([type("Own", (companion.RNN,), {"_step": type("OwnStep", (ElmanStep,), {})()})(2, 3)], "Own at '0'."),
        ([companion.DeltaNet(2, 3)], "Sequential."),
    ],
)
def test_by_hand_applies_to_a_whole_model_and_names_the_layers_that_it_leaves(layers, unchanged):
    model = nn.Sequential(*layers)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        assert companion.by_hand(model) is model
    assert [str(warning.message).partition(": ")[2].split(" It")[0] for warning in caught] == [unchanged] * bool(
        unchanged
    )
    assert [bool(getattr(layer, "unroll_by_hand", False)) for layer in layers] == [
        type(layer) in (companion.LSTM, companion.GRU) for layer in layers
    ]
    companion.by_hand(model, on=False)  # without a warning
    assert not any(getattr(layer, "unroll_by_hand", False) for layer in layers)


BATCH = {"input": {1: torch.export.Dim("batch")}}


def exported(strict):
    return lambda module, x, sizes=BATCH: torch.export.export(
        module, (x,), dynamic_shapes=sizes, strict=strict
    ).module()


RECORDERS = {
    "export": exported(False),
    "strict export": exported(True),
    "make_fx": lambda module, x, sizes=None: make_fx(module)(x),
}


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("recorder", RECORDERS)
@pytest.mark.parametrize("name", ["MinGRU", "LogMinGRU", "MinLSTM", "SelectiveSSM"])
def test_recorded_scan_has_gradients(name, recorder):
    layer, x = getattr(companion, name)(3, 4, **float64), torch.randn(5, 2, 3, **float64, requires_grad=True)
    recorded = RECORDERS[recorder](layer, x.detach(), None)
    close(*([y := module(x)[0], torch.autograd.grad(y.square().sum(), x)] for module in (recorded, layer)))


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("recorder", RECORDERS)
@pytest.mark.parametrize("options", [{"scale_grad_by_freq": True, "padding_idx": 1}, {"sparse": True}])
def test_recorded_embedding_has_gradients(options, recorder):
    ours, theirs = pair("Embedding", 5, 3, **options, **float64)
    indices, v = torch.tensor([[1, 2], [4, 4]]), torch.randn(5, 3, **float64)
    recorded, results = RECORDERS[recorder](ours, indices, None), []
    for module in (ours if recorder == "make_fx" else recorded, theirs):  # make_fx keeps no parameters
        loss = module(indices).square().sum()
        results.append([loss, torch.autograd.grad(loss, [*module.parameters()])[0].to_dense()])
    close(*results)
    close(recorded(indices), theirs(indices))
    with forward_ad.dual_level():
        close(
            *(
                forward_ad.unpack_dual(
                    functional_call(m, {"weight": forward_ad.make_dual(m.weight, v)}, (indices,))
                ).tangent
                for m in (ours, theirs)
            )
        )


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("recorder", RECORDERS)
@pytest.mark.parametrize("name", LAYERS)
def test_recorded_layer_by_hand_has_gradients(name, recorder):
    ours, theirs = pair(name, 3, 4, **float64)
    recorded = RECORDERS[recorder](companion.by_hand(ours), torch.randn(5, 2, 3, **float64))
    x = torch.randn(5, 2 if recorder == "make_fx" else 7, 3, **float64, requires_grad=True)
    close(*([y := layer(x)[0], torch.autograd.grad(y.square().sum(), x)] for layer in (recorded, theirs)))


@pytest.mark.filterwarnings("ignore:`torch.jit.script` is deprecated")  # torch scripts some of its own derivatives
@without_cudnn
@pytest.mark.parametrize("name", LAYERS)
def test_forward_mode_derivatives_by_hand(name):
    """Check the derivative along the input, along a weight, and of a gradient along the output's gradient."""
    results = []
    for module in pair(name, 3, 4, **float64):
        if isinstance(module, companion.layers.recurrent.RNNBase):
            companion.by_hand(module)
        torch.manual_seed(1)
        x, v, w = (torch.randn(shape, **float64) for shape in ((5, 2, 3), (5, 2, 3), module.weight_hh_l0.shape))
        leaf = x.clone().requires_grad_()
        output = module(leaf)[0]
        with forward_ad.dual_level():
            tangents = [module(forward_ad.make_dual(x, v))]
            parameters = {"weight_hh_l0": forward_ad.make_dual(module.weight_hh_l0, w)}
            tangents.append(functional_call(module, parameters, (x,)))
            ones = forward_ad.make_dual(torch.ones_like(output), output.detach())
            tangents.append(torch.autograd.grad(output, leaf, ones))
            results.append([forward_ad.unpack_dual(tensor).tangent for tensor in flat(tangents)])
    close(*results)


@pytest.mark.parametrize("name", LAYERS)
def test_operations_by_hand_are_counted(name):
    counts = []
    for hand in (False, True):
        layer = companion.by_hand(getattr(companion, name)(3, 4, bias=False), hand)
        with FlopCounterMode(display=False) as counter:
            layer(torch.ones(5, 2, 3))[0].sum().backward()
        counts.append(counter.get_total_flops())
    assert counts[0] == counts[1] > 0


@pytest.mark.parametrize("name", LAYERS)
def test_tensors_are_freed_with_the_graph(name):
    """Check that a training step leaves no reference cycles, which only the garbage collector would free."""
    import gc
    import weakref

    for hand in (False, True):
        layer = companion.by_hand(getattr(companion, name)(2, 3), hand)
        gc.disable()
        try:
            x = torch.randn(4, 2, 2)
            reference = weakref.ref(x)
            output, _ = layer(x)
            del x
            assert reference() is not None  # used by the graph
            output.sum().backward()
            del output
            assert reference() is None
        finally:
            gc.enable()


def checkpointed(module, arguments, use_reentrant):
    """Return outputs and gradients of `module` under an activation checkpoint.

    The backward pass runs twice if the graph can stay.
    """
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


@without_cudnn
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
    indices, results = torch.tensor([[1, 2], [4, 4]]), []
    for module in (ours, theirs):
        # the reentrant form needs an argument that requires a gradient
        model = nn.ModuleList([module])
        model.forward = lambda x, module=module: x[0, 0] * module(indices)
        results.append(checkpointed(model, (torch.full((1, 1), 0.5, **float64),), use_reentrant))
    close(*results)


@pytest.mark.parametrize("use_reentrant", [False, True])
@pytest.mark.parametrize(
    "name, args", [("MinGRU", (3, 4)), ("LogMinGRU", (3, 4)), ("MinLSTM", (3, 4)), ("SelectiveSSM", (3, 4))]
)
def test_scans_under_an_activation_checkpoint(name, args, use_reentrant):
    torch.manual_seed(0)
    module, x = getattr(companion, name)(*args, **float64), torch.randn(5, 2, 3, **float64)
    plain = x.clone().requires_grad_()
    outputs = flat(module(plain))
    expected = torch.autograd.grad(sum(output.square().sum() for output in outputs), [*module.parameters(), plain])
    close(checkpointed(module, (x,), use_reentrant), [*outputs, *expected])
