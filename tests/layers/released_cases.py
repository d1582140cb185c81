"""Mixers of small sizes, and weights for them that follow from a formula.

`released_outputs.json` has what the package transformers computes with these weights: `against_released.py` writes and
checks it, where that package is installed, and `test_mixers.py` compares the mixers with it, where it is not.
"""

import json
from pathlib import Path

import torch

from companion.layers.delta_mixer import DeltaMixer, KimiMixer
from companion.layers.griffin_mixer import GriffinMixer
from companion.layers.mamba_mixer import Mamba2Mixer, MambaMixer
from companion.layers.mlstm_mixer import MLSTMMixer
from companion.layers.released import load_released, released_weights

STORED = Path(__file__).with_name("released_outputs.json")
FEATURES = 10  # of layers whose size is not that of their heads
float64 = {"dtype": torch.float64}


def delta(heads, groups, size, **options):
    return DeltaMixer(FEATURES, FEATURES, heads * groups, groups, size, size + 1, **options, **float64)


def mamba2(heads, groups, size):
    features = heads * groups * size
    return Mamba2Mixer(features, features, heads * groups, 2 * size, size + 1, groups, **float64)


# kind of released model → our layer of a number of heads, in groups, and a size of each
MIXERS = {
    "qwen3_next": delta,
    "qwen3_5": delta,
    "olmo_hybrid": lambda *sizes: delta(*sizes, most=2.0, eps=1e-5),
    "kimi_linear": lambda heads, groups, size: KimiMixer(FEATURES, FEATURES, heads * groups, size, eps=1e-5, **float64),
    "mamba": lambda heads, groups, size: MambaMixer(FEATURES, FEATURES, size, rank=heads, **float64),
    "mamba2": mamba2,
    "xlstm": lambda heads, groups, size: MLSTMMixer(2 * heads * size, 2 * heads * size, heads, **float64),
    "recurrent_gemma": lambda heads, groups, size: GriffinMixer(2 * heads * size, 2 * heads * size, heads, **float64),
}
SIZES = 2, 2, 3  # of the stored cases


def fixed(shape, place):
    """Return numbers between -0.7 and 0.7 that follow from a formula."""
    count = torch.Size(shape).numel()
    return 0.7 * torch.sin(1.7 * torch.arange(1, count + 1, **float64) ** 1.1 + place).reshape(shape)


def fixed_case(kind):
    """Return a mixer with fixed weights, and its input, (T, B, features)."""
    layer = MIXERS[kind](*SIZES)
    weights = released_weights(layer, kind)
    load_released(layer, {name: fixed(w.shape, k) for k, (name, w) in enumerate(weights.items())}, kind)
    return layer, fixed((6, 2, layer.input_size), 0.5)


def stored_output(kind):
    """Return what transformers computed for a fixed case, (T, B, features)."""
    return torch.tensor(json.loads(STORED.read_text(encoding="utf-8"))[kind], **float64)
