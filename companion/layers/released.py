"""Weights of released models for the mixers of this package, and back: one table of names for each kind of model.

The names are those of the package transformers, version 5.23, of one layer, without the prefix of its place in a model.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

import torch
from torch import Tensor

from companion.layers.mixer import Mixer


class Place(NamedTuple):
    """Where a released weight belongs: our parameter, and of `weight_ih_l0` and `gate_bias` the parts by position.

    grouped: the rows lie together for each head of keys. shape: of the released tensor, if it has more dimensions.
    """

    name: str
    parts: tuple[int, ...] | None = None
    grouped: bool = False
    shape: tuple[int, ...] | None = None


def rows_of(*parts, grouped=False):
    """Return the place of these parts of the linear map of the input."""
    return Place("weight_ih_l0", parts, grouped)


DELTA = {"conv1d.weight": Place("conv_weight"), "A_log": Place("A_log"), "dt_bias": Place("dt_bias")}
DELTA |= {"norm.weight": Place("norm_weight"), "out_proj.weight": Place("weight_out")}
MAMBA = {"conv1d.weight": Place("conv_weight"), "conv1d.bias": Place("conv_bias"), "A_log": Place("A_log")}
MAMBA |= {"D": Place("D"), "out_proj.weight": Place("weight_out")}

# kind of model → its names; the parts are counted as `rows` of the mixer returns them
NAMES: dict[str, dict[str, Place]] = {
    "qwen3_next": DELTA
    | {"in_proj_qkvz.weight": rows_of(0, 1, 2, 3, grouped=True), "in_proj_ba.weight": rows_of(4, 5, grouped=True)},
    "qwen3_5": DELTA
    | {"in_proj_qkv.weight": rows_of(0, 1, 2), "in_proj_z.weight": rows_of(3)}
    | {"in_proj_b.weight": rows_of(4), "in_proj_a.weight": rows_of(5)},
    "olmo_hybrid": {
        name.replace("norm", "o_norm").replace("out_proj", "o_proj"): place for name, place in DELTA.items()
    }
    | {f"{part}_proj.weight": rows_of(k) for k, part in enumerate("qkvgba")},
    "kimi_linear": {f"{part}_proj.weight": rows_of(k) for k, part in enumerate(("q", "k", "v", "g_a", "b"))}
    | {
        "conv1d.weight": Place("conv_weight"),
        "forget_gate.f_a_proj.weight": rows_of(5),
        "forget_gate.f_b_proj.weight": Place("weight_a"),
        "forget_gate.A_log": Place("A_log", shape=(1, 1, -1, 1)),
        "forget_gate.dt_bias": Place("dt_bias"),
        "g_b_proj.weight": Place("weight_z"),
        "o_norm.weight": Place("norm_weight"),
        "o_proj.weight": Place("weight_out"),
    },
    "mamba": MAMBA
    | {"in_proj.weight": rows_of(0, 1), "x_proj.weight": Place("weight_u")}
    | {"dt_proj.weight": Place("weight_dt"), "dt_proj.bias": Place("dt_bias")},
    "mamba2": MAMBA
    | {"in_proj.weight": rows_of(0, 1, 2, 3, 4), "dt_bias": Place("dt_bias"), "norm.weight": Place("norm_weight")},
    "xlstm": {"multihead_norm.weight": Place("norm_weight"), "out_proj.weight": Place("weight_out")}
    | {f"{part}.weight": rows_of(k) for k, part in enumerate(("q", "k", "v"))}
    | {f"{part}gate_preact.weight": rows_of(k) for k, part in enumerate("oif", 3)}
    | {"igate_preact.bias": Place("gate_bias", (0,)), "fgate_preact.bias": Place("gate_bias", (1,))},
    "recurrent_gemma": {
        "linear_x.weight": rows_of(0),
        "linear_y.weight": rows_of(1),
        "linear_x.bias": Place("bias_in", (0,)),
        "linear_y.bias": Place("bias_in", (1,)),
        "linear_out.weight": Place("weight_out"),
        "linear_out.bias": Place("bias_out"),
        "conv_1d.weight": Place("conv_weight"),
        "conv_1d.bias": Place("conv_bias"),
        "rg_lru.recurrent_param": Place("decay"),
        "rg_lru.input_gate_weight": Place("weight_i"),
        "rg_lru.input_gate_bias": Place("bias_i"),
        "rg_lru.recurrent_gate_weight": Place("weight_r"),
        "rg_lru.recurrent_gate_bias": Place("bias_r"),
    },
}


def places_of(layer: Any, place: Place) -> Tensor:
    """Return the rows of our parameter that a released weight has, in its order."""
    rows = getattr(layer, place.name).size(0)
    if place.parts is None:
        return torch.arange(rows)
    sizes = layer.rows() if place.name == "weight_ih_l0" else [rows // 2] * 2
    parts = torch.arange(rows).split(sizes)
    chosen = [parts[k].unflatten(0, (layer.num_key_heads if place.grouped else 1, -1)) for k in place.parts]
    return torch.cat(chosen, dim=1).flatten()


def released_weights(layer: Mixer, kind: str) -> dict[str, Tensor]:
    """Return the weights of a mixer by the names of a released model; gradients reach the mixer through them.

    kind: "qwen3_next", "qwen3_5" or "olmo_hybrid" for a `DeltaMixer`, "kimi_linear" for a `KimiMixer`, "mamba",
    "mamba2", "xlstm" or "recurrent_gemma". KeyError for another one.
    """
    weights = {}
    for name, place in NAMES[kind].items():
        weight = getattr(layer, place.name)[places_of(layer, place)]
        weights[name] = weight.reshape(place.shape) if place.shape else weight
    return weights


@torch.no_grad()
def load_released(layer: Mixer, weights: Mapping[str, Tensor], kind: str) -> None:
    """Set the weights of a mixer to those of a layer of a released model.

    weights: by the names of that layer, such as its `state_dict()`. kind: as in `released_weights`. ValueError, which
    names the weight, for a name that is missing or unknown, and for a shape that does not fit; the mixer is then as
    before.
    """
    names = NAMES[kind]
    if differing := sorted(names.keys() ^ weights.keys()):
        what = "is missing" if differing[0] in names else "is not one of its weights"
        raise ValueError(f"{kind}: {differing[0]} {what}")
    for name, own in released_weights(layer, kind).items():
        if own.shape != weights[name].shape:
            raise ValueError(f"{kind}: {name} is {tuple(weights[name].shape)}, the layer needs {tuple(own.shape)}")
    for name, place in names.items():
        parameter, rows = getattr(layer, place.name), places_of(layer, place)
        parameter[rows] = weights[name].to(parameter).reshape(len(rows), *parameter.shape[1:])
