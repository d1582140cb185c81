"""Tests of gradients, by autograd and by hand: first and second order, and under activation checkpoints."""

import itertools

import pytest
import torch
from torch import nn
from torch.autograd import functional, gradcheck, gradgradcheck
from torch.func import functional_call
from torch.utils.checkpoint import checkpoint

import companion
from tests.layers.torch_comparison import LAYERS, RECURRENT, close, flat, float64, pair


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


def test_by_hand_applies_to_every_layer_of_a_model():
    model = nn.Sequential(companion.LSTM(2, 3), companion.Embedding(2, 3))
    assert companion.by_hand(model) is model and model[0].unroll_by_hand
    assert not companion.by_hand(model, on=False)[0].unroll_by_hand


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
@pytest.mark.parametrize("name, args", [("MinGRU", (3, 4)), ("MinLSTM", (3, 4)), ("SelectiveSSM", (3, 4))])
def test_scans_under_an_activation_checkpoint(name, args, use_reentrant):
    torch.manual_seed(0)
    module, x = getattr(companion, name)(*args, **float64), torch.randn(5, 2, 3, **float64)
    plain = x.clone().requires_grad_()
    outputs = flat(module(plain))
    expected = torch.autograd.grad(sum(output.square().sum() for output in outputs), [*module.parameters(), plain])
    close(checkpointed(module, (x,), use_reentrant), [*outputs, *expected])
