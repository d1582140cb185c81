"""Mixers with the weights of layers of the package transformers 5.23.0, compared number by number.

`make outside` installs that package into an environment of its own, and runs this file. The layers are randomly
initialised: nothing is downloaded. They convert numbers to float32 at some places. `wide` makes these
places convert to float64, so that equality can be tested to 1e-10; `test_as_they_are` compares without it.
"""

import copy
import functools
import importlib
import json
from contextlib import ExitStack, contextmanager
from unittest import mock

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from transformers import DynamicCache
from transformers.models.kimi_linear import modeling_kimi_linear as kimi
from transformers.models.mamba import modeling_mamba as mamba
from transformers.models.mamba2 import modeling_mamba2 as mamba2
from transformers.models.olmo_hybrid import modeling_olmo_hybrid as olmo
from transformers.models.qwen3_5 import modeling_qwen3_5 as qwen3_5
from transformers.models.qwen3_next import modeling_qwen3_next as qwen3_next
from transformers.models.recurrent_gemma import modeling_recurrent_gemma as griffin
from transformers.models.xlstm import modeling_xlstm as xlstm

from companion.layers.released import NAMES, load_released, released_weights
from tests.layers.released_cases import FEATURES, MIXERS, SIZES, STORED, fixed_case, stored_output
from tests.project.paths import ROOT

float64 = {"dtype": torch.float64}
LINEAR = ["linear_attention", "full_attention"]


class Float64:
    """The module torch, whose float32 is float64."""

    float32 = torch.float64

    def __getattr__(self, name):
        return getattr(torch, name)


@contextmanager
def wide(module):
    """Let a module of transformers convert to float64 where it converts to float32."""
    with ExitStack() as stack:
        stack.enter_context(mock.patch.object(module, "torch", Float64()))
        stack.enter_context(mock.patch.object(torch.Tensor, "float", torch.Tensor.double))
        if module is griffin:
            scan = module.RecurrentGemmaRglru._rnn_scan
            stack.enter_context(mock.patch.object(scan, "__defaults__", (torch.float64,)))
        yield


class Cached:
    """A layer of transformers with a cache, called as `layer(x, more)`: the second call goes on after the first."""

    def __init__(self, kind, layer, config):
        self.kind, self.layer, self.config, self.cache = kind, layer.double().eval(), config, None

    def __call__(self, x, goes_on=None):
        """Return the outputs for x (B, T, features). goes_on: False to begin a cache, True to go on; None without."""
        if goes_on is not True:
            self.cache, self.steps = None, 0
        if goes_on is False:
            self.cache = DynamicCache(config=self.config)
        return self.run(x, goes_on)

    def run(self, x, goes_on):
        return self.layer(x, cache_params=self.cache)

    def states(self):
        """Return the convolution's state and the recurrence's, laid out as ours."""
        cached = self.cache.layers[0]
        conv, S = cached.conv_states[0][..., -3:], cached.recurrent_states[0]
        return [conv, S if self.kind in ("mamba", "mamba2") else S.mT]


class Xlstm(Cached):
    def run(self, x, goes_on):
        y, self.cache = self.layer(x, self.cache if goes_on else None)
        return y

    def states(self):
        c, n, m = self.cache
        return [c.mT, n, m[..., 0]]


class Griffin(Cached):
    def run(self, x, goes_on):
        if goes_on is not True:
            self.layer.conv1d_state = self.layer.rg_lru.recurrent_states = None
        places = torch.arange(self.steps, self.steps + x.size(1))[None].expand(len(x), -1)
        self.steps += x.size(1)
        y, _ = self.layer(x, places, None, use_cache=goes_on is not None)
        return y

    def states(self):
        state = self.layer.rg_lru.recurrent_states
        return [self.layer.conv1d_state, state, torch.ones_like(state[:, :1])]


def delta(module, config, layer, heads, groups, size):
    """Return their layer with the gated delta rule, and its configuration."""
    sizes = {"linear_num_key_heads": groups, "linear_num_value_heads": heads * groups, "linear_key_head_dim": size}
    sizes |= {"linear_value_head_dim": size + 1, "num_hidden_layers": 2, "layer_types": LINEAR}
    config = getattr(module, config)(hidden_size=FEATURES, **sizes)
    return getattr(module, layer)(config, 0), config


def make_kimi(heads, groups, size):
    config = kimi.KimiLinearConfig(
        hidden_size=FEATURES, linear_head_dim=size, linear_num_heads=heads * groups, num_hidden_layers=2,
        layer_types=LINEAR,
    )  # fmt: skip
    return kimi.KimiLinearDeltaAttention(config, 0), config


def make_mamba(heads, groups, size):
    config = mamba.MambaConfig(hidden_size=FEATURES, state_size=size, num_hidden_layers=1, time_step_rank=heads)
    return mamba.MambaMixer(config, 0), config


def make_mamba2(heads, groups, size):
    heads *= groups
    config = mamba2.Mamba2Config(
        hidden_size=heads * size, expand=2, head_dim=2 * size, num_heads=heads, n_groups=groups, state_size=size + 1,
        num_hidden_layers=1, chunk_size=8,
    )  # fmt: skip
    return mamba2.Mamba2Mixer(config, 0), config


def make_xlstm(heads, groups, size):
    config = xlstm.xLSTMConfig(
        hidden_size=2 * heads * size, num_heads=heads, num_hidden_layers=1, chunk_size=16, mode="inference",
        autocast_kernel_dtype="float32",
    )  # fmt: skip
    return xlstm.xLSTMLayer(config), config


def make_griffin(heads, groups, size):
    features = 2 * heads * size
    config = griffin.RecurrentGemmaConfig(hidden_size=features, lru_width=features, num_attention_heads=heads)
    return griffin.RecurrentGemmaRecurrentBlock(config, 0), config


DELTAS = {
    "qwen3_next": (qwen3_next, "Qwen3NextConfig", "Qwen3NextGatedDeltaNet"),
    "qwen3_5": (qwen3_5, "Qwen3_5TextConfig", "Qwen3_5GatedDeltaNet"),
    "olmo_hybrid": (olmo, "OlmoHybridConfig", "OlmoHybridGatedDeltaNet"),
}
MAKERS = {kind: functools.partial(delta, *names) for kind, names in DELTAS.items()}
MAKERS |= {"kimi_linear": make_kimi, "mamba": make_mamba, "mamba2": make_mamba2, "xlstm": make_xlstm}
MAKERS |= {"recurrent_gemma": make_griffin}
CALLERS = {"xlstm": Xlstm, "recurrent_gemma": Griffin}
MODULES = {kind: names[0] for kind, names in DELTAS.items()}
MODULES |= {"kimi_linear": kimi, "mamba": mamba, "mamba2": mamba2, "xlstm": xlstm, "recurrent_gemma": griffin}


def make(kind, *sizes):
    """Return a layer of transformers, which is called as a `Cached`."""
    return CALLERS.get(kind, Cached)(kind, *MAKERS[kind](*sizes))


def pair(kind, heads=2, groups=2, size=3, seed=0):
    """Return a layer of transformers and ours, with the same random weights."""
    torch.manual_seed(seed)
    theirs, ours = make(kind, heads, groups, size), MIXERS[kind](heads, groups, size)
    with torch.no_grad():
        for parameter in theirs.layer.parameters():
            parameter.normal_(0, 1 if parameter.dim() < 2 else 0.5)
    load_released(ours, theirs.layer.state_dict(), kind)
    return theirs, ours


def close(ours, theirs, atol):
    """Check that tensors are within `atol`, relative to the largest number where that is above 1."""
    for mine, other in zip(ours, theirs, strict=True):
        assert other.abs().max() > 1e-4
        torch.testing.assert_close(mine, other.to(mine), rtol=0, atol=atol * max(1.0, other.abs().max().item()))


def compare(kind, theirs, ours, lengths, batch, atol):
    """Compare outputs, gradients, and the states after calls of these lengths; those of length 1 are single steps."""
    x = torch.randn(sum(lengths), batch, ours.input_size, **float64)
    inputs = [x.clone().requires_grad_(), x.transpose(0, 1).clone().requires_grad_()]
    outputs = [ours(inputs[0])[0], theirs(inputs[1]).transpose(0, 1)]
    close([outputs[0]], [outputs[1]], atol)
    weight = torch.randn_like(outputs[0])
    for output in outputs:
        (weight * output).sum().backward()
    close([inputs[0].grad], [inputs[1].grad.transpose(0, 1)], atol)
    gradients = copy.deepcopy(ours)
    for name, parameter in ours.named_parameters():
        getattr(gradients, name).data = parameter.grad
    expected = {name: parameter.grad for name, parameter in theirs.layer.named_parameters()}
    found = released_weights(gradients, kind)
    close([found[name] for name in expected], expected.values(), atol)
    with torch.no_grad():
        state = None
        for k, part in enumerate(x.split(lengths)):
            mine, state = ours(part, state)
            close([mine], [theirs(part.transpose(0, 1), goes_on=k > 0).transpose(0, 1)], atol)
            close(state, theirs.states(), atol)


@pytest.mark.parametrize("kind", MAKERS)
@settings(max_examples=12)
@given(
    st.integers(1, 3), st.integers(1, 2), st.integers(2, 4), st.integers(1, 3), st.integers(4, 40), st.integers(0, 99)
)
def test_equal_to_transformers(kind, heads, groups, size, batch, first, seed):
    with wide(MODULES[kind]):
        theirs, ours = pair(kind, heads, groups, size, seed)
        compare(kind, theirs, ours, [first, 1, 1, 1], batch, 1e-10)


@pytest.mark.parametrize("kind", MAKERS)
def test_as_they_are(kind):
    theirs, ours = pair(kind)
    compare(kind, theirs, ours, [30, 1, 1], 2, 2e-5)


@pytest.mark.parametrize("kind", MAKERS)
def test_weights_go_both_ways(kind):
    theirs, ours = pair(kind)
    expected, found = theirs.layer.state_dict(), released_weights(ours, kind)
    assert found.keys() == expected.keys() == NAMES[kind].keys()
    assert all(torch.equal(found[name], expected[name]) for name in expected)
    assert sum(weight.numel() for weight in found.values()) == sum(p.numel() for p in ours.parameters())


def fixed_output(kind):
    """Return the output of a layer of transformers with fixed weights, (T, B, features)."""
    ours, x = fixed_case(kind)
    with wide(MODULES[kind]), torch.no_grad():
        theirs = make(kind, *SIZES)
        theirs.layer.load_state_dict(released_weights(ours, kind))
        return theirs(x.transpose(0, 1)).transpose(0, 1)


@pytest.mark.parametrize("kind", MAKERS)
def test_stored_outputs_are_those_of_transformers(kind):
    close([fixed_output(kind)], [stored_output(kind)], 1e-11)


def test_the_page_prints_the_stored_comparison(monkeypatch, capsys):
    """Run the cells of released#compared with transformers: they must print what pages without it show."""
    monkeypatch.syspath_prepend(ROOT / "benchmarks")
    _, stored = importlib.import_module("evidence_released").run_cells()
    assert capsys.readouterr().out == stored


if __name__ == "__main__":
    outputs = {kind: fixed_output(kind).numpy().round(12).tolist() for kind in MAKERS}
    lines = [f"{json.dumps(kind)}: {json.dumps(output)}" for kind, output in outputs.items()]
    STORED.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
