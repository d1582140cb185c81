"""Modules of small_torch and the files they are saved in, compared with torch's."""

import copy
import io
import pickle

import pytest
import torch

import small_torch
from both_torches import agree, compile_row, example, numbers, on_both, split_rows


@pytest.mark.parametrize("t", [torch, small_torch])
def test_module_to_refuses_unknown_keywords(t):
    """Only the type of the error is compared: torch's text lists all forms of `to`."""
    with pytest.raises(TypeError, match=r"to\(\)"):
        t.nn.Linear(2, 3).to(dtipe=t.float64)
    assert t.nn.Linear(2, 3).to(device="cpu", dtype=t.float64, non_blocking=True).weight.dtype is t.float64


def with_extra_repr(t):
    class Named(t.nn.Module):
        def extra_repr(self):
            return "one,\ntwo"

    t.manual_seed(4)
    module = Named()
    module.part = t.nn.Sequential(t.nn.LSTM(2, 3, num_layers=2), t.nn.Sequential())
    module.parts = t.nn.ModuleList([t.nn.GRU(2, 3), t.nn.RNN(2, 3, bias=False)])
    module.empty = t.nn.ModuleList()
    return module


def with_attribute(t, name, value):
    module = example(t)
    setattr(module, name, value)
    return [*dict(module.named_parameters())], [*dict(module.named_buffers())], [*dict(module.named_children())], module


def without_init(t, act):
    """Make a module whose `__init__` calls `act` without Module's `__init__`."""

    class Uninitialised(t.nn.Module):
        def __init__(self):
            act(self)

    return Uninitialised()


def load_changed_state(t, change, **options):
    module, state = example(t), example(t).double().state_dict()
    change(state)
    keys = module.load_state_dict(state, **options)
    return repr(keys), list(keys), module


def call_with_keyword_hooks(t):
    module, calls = t.nn.Linear(2, 2), []

    def before(module, args, kwargs):
        calls.append((len(args), [*kwargs]))
        return args, {"input": kwargs["input"] * 0}

    def first(module, args, kwargs):
        calls.append("first")

    module.register_forward_pre_hook(before, with_kwargs=True)
    module.register_forward_pre_hook(first, with_kwargs=True, prepend=True)
    module.register_forward_hook(lambda module, args, kwargs, y: y + len(kwargs), with_kwargs=True)
    return module(input=t.ones(3, 2)) - module.bias, calls


def deep_copied(t):
    module = example(t)
    module(numbers(t, 4, 3, dtype="float32")).sum().backward()
    other = copy.deepcopy(module)
    with t.no_grad():
        other.scale.add_(1)
    return module, other, other.scale.grad is None, other.same is other.inner, other.inner is module.inner


def converted(t):
    module = example(t)
    weight = module.inner.weight
    module.register_buffer("count", t.tensor(3))
    module(numbers(t, 4, 3, dtype="float32")).sum().backward()
    module.double()
    inner = module.inner.weight
    return module, inner is weight, inner.grad, module.half().float().to(t.float64), module.scale.grad


def module_lists(t):
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
(example(t), example(t).state_dict(), dir(example(t)).count("inner")) | with_extra_repr(t)
[name for name, _ in example(t).named_modules()] | [name for name, _ in example(t).named_modules(remove_duplicate=False)]
[name for name, _ in example(t).named_parameters(remove_duplicate=False)]
[name for name, _ in example(t).named_parameters("here", recurse=False)] | [*map(repr, example(t).children())]
[*map(repr, example(t).modules())] | [*example(t).buffers()] | example(t).weigth | nn.Module()(3) | nn.Module(3)
without_init(t, lambda self: setattr(self, "w", nn.Parameter(t.ones(1))))
without_init(t, lambda self: setattr(self, "w", nn.Tanh())) | without_init(t, lambda self: self.register_parameter("w", None))
without_init(t, lambda self: self.register_buffer("w", None)) | with_attribute(t, "scale", t.ones(2)) | with_attribute(t, "scale", "text")
with_attribute(t, "scale", None) | with_attribute(t, "scale", nn.Tanh()) | with_attribute(t, "scale", nn.Parameter(t.zeros(3)))
with_attribute(t, "inner", 3) | with_attribute(t, "inner", None) | with_attribute(t, "inner", nn.Parameter(t.zeros(3)))
with_attribute(t, "mean", t.ones(3)) | with_attribute(t, "mean", 3.0) | with_attribute(t, "mean", nn.Parameter(t.zeros(3)))
with_attribute(t, "nothing", nn.Parameter(t.zeros(3))) | with_attribute(t, "training", False)[3].training
[delattr(m := example(t), "scale"), m][1] | [delattr(m := example(t), "inner"), m][1] | delattr(example(t), "outer")
example(t).register_parameter("inner", None) | example(t).register_buffer("forward", None)
example(t).register_parameter("a.b", None) | example(t).add_module("a.b", None) | example(t).register_buffer("", None)
example(t).register_buffer(3, None) | example(t).register_parameter("w", t.ones(1)) | example(t).register_buffer("w", 1)
example(t).add_module("w", "text") | example(t).register_parameter("w", nn.Parameter(t.ones(1)) * 1)
[m := example(t), m.state_dict()["scale"].zero_()] | [part.training for part in example(t).eval().modules()]
example(t).train("hard") | example(t).requires_grad_(False) | example(t).to(t.int64) | converted(t) | deep_copied(t)
call_with_keyword_hooks(t) | load_changed_state(t, lambda state: None) | load_changed_state(t, lambda state: None, assign=True)
load_changed_state(t, lambda state: [state.pop("scale"), state.pop("inner.bias")])
load_changed_state(t, lambda state: state.update({"scale.x": t.ones(1), "outer": t.ones(1)}))
load_changed_state(t, lambda state: [state.pop("mean"), state.update({"scale": t.ones(3), "layers.7.x": t.ones(1), "inner.bias": 3.0})])
load_changed_state(t, lambda state: [state.pop("scale"), state.update(x=t.ones(1))], strict=False) | example(t).load_state_dict([1])
nn.LSTM(4, 6, num_layers=2).load_state_dict(nn.LSTM(4, 5).state_dict())
t.func.functional_call(example(t), {"inner.weight": t.ones(2, 3)}, (t.ones(3),))
t.func.functional_call(example(t), [{"scale": t.ones(2)}] * 2, t.ones(3))
(repr(nn.Parameter(t.ones(2))), repr(nn.Parameter(t.ones(1), requires_grad=False))) | nn.Parameter(t.tensor([1]))
[nn.Parameter(x := t.ones(2)).data.zero_(), x][1] | nn.Parameter().shape | module_lists(t) | nn.ModuleList()[0]
nn.Sequential(nn.Tanh())[1] | nn.ModuleList([nn.Tanh()])(3)
"""  # noqa: E501


@pytest.mark.parametrize("row", split_rows(MODULES))
def test_module(row):
    agree(compile_row(row, **globals()), 1e-6)


@on_both(1e-6)
def test_saved_file_is_loaded(t, tmp_path):
    module, path = example(t), tmp_path / "kept.pt"
    saved = {"state": module.state_dict(), "two": [module.scale] * 2, "dtype": t.float64, "shape": module.scale.shape}
    t.save(saved | {"x": (1, None), "optimizer": t.optim.AdamW(module.parameters()).state_dict()}, path)
    loaded = t.load(path, map_location="cpu", weights_only=True)
    assert loaded.pop("dtype") is t.float64
    return loaded, loaded["two"][0] is loaded["two"][1], type(loaded["two"][0]).__name__, repr(loaded["shape"])


@pytest.mark.parametrize("t", [torch, small_torch])
def test_file_with_other_objects_is_refused(t):
    file = io.BytesIO()
    t.save({"path": io.StringIO}, file)
    file.seek(0)
    with pytest.raises(pickle.UnpicklingError):
        t.load(file)
