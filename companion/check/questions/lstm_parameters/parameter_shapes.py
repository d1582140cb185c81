"""Question `parameter_shapes`: the shapes of all parameters."""

import sys
from collections.abc import Mapping
from contextlib import contextmanager
from numbers import Integral

import torch
from torch import nn

from companion.check.engine.probe import Probe, Unfit, form
from companion.check.engine.question import Question
from companion.check.questions.lstm_parameters import CHAPTER
from companion.layers.recurrent import RNNBase, RNNCellBase

SHAPE_MISTAKES = {
    "upper_layers_read_input": f"{CHAPTER}#first-look-said",
    "upper_layers_read_one_direction": f"{CHAPTER}#bidirectional",
    "input_doubled": f"{CHAPTER}#bidirectional",
    "weight_hh_doubled": f"{CHAPTER}#bidirectional",
    "rows_doubled": f"{CHAPTER}#bidirectional",
    "reverse_weights_missing": f"{CHAPTER}#bidirectional",
    "reverse_before_layer": f"{CHAPTER}#bidirectional",
    "directions_counted_as_layers": f"{CHAPTER}#bidirectional",
    "layers_counted_from_one": f"{CHAPTER}#first-look-said",
    "num_layers_ignored": f"{CHAPTER}#num-layers",
    "layer_missing_in_names": f"{CHAPTER}#first-look-said",
    "one_gate": f"{CHAPTER}#formula",
    "three_gates": f"{CHAPTER}#formula",
    "weights_transposed": f"{CHAPTER}#formula",
    "weights_ih_hh_swapped": f"{CHAPTER}#first-look-said",
    "one_bias": f"{CHAPTER}#formula",
    "bias_always_there": f"{CHAPTER}#bias",
    "bias_never_there": f"{CHAPTER}#bias",
    "bias_has_two_dimensions": f"{CHAPTER}#formula",
    "bias_has_two_dimensions~row": "",
    "bias_has_column_count": f"{CHAPTER}#formula",
    "shape_is_a_number": f"{CHAPTER}#formula",
    "weight_hr_missing": f"{CHAPTER}#proj-said",
    "weight_hr_transposed": f"{CHAPTER}#proj-said",
    "weight_hr_has_four_gates": f"{CHAPTER}#proj-said",
    "weight_hr_has_four_gates~columns": "",
    "weight_hr_in_top_layer_only": f"{CHAPTER}#proj-said",
    "weight_hr_in_top_layer_only~first": "",
    "weight_hr_always_there": f"{CHAPTER}#proj-size",
    "weight_hr_always_there~square": "",
    "projection_with_bias": f"{CHAPTER}#proj-size",
    "projection_not_in_weight_hh": f"{CHAPTER}#proj-said",
    "projection_not_in_upper_layers": f"{CHAPTER}#proj-said",
    "projection_in_rows": f"{CHAPTER}#proj-said",
}


def parameter_shapes_reference(mistakes):
    def parameter_shapes(input_size, hidden_size, num_layers, bias, bidirectional, proj_size):
        H, R, P = hidden_size, proj_size or hidden_size, proj_size
        if "num_layers_ignored" in mistakes:
            num_layers = 1
        if mistakes & {"bias_always_there", "bias_never_there"}:
            bias = "bias_always_there" in mistakes
        endings = ["", "_reverse"] if bidirectional else [""]
        D = len(endings)
        rows = 4 * (R if "projection_in_rows" in mistakes else H)
        if "one_gate" in mistakes:
            rows = rows // 4
        if "three_gates" in mistakes:
            rows = rows // 4 * 3
        if "rows_doubled" in mistakes:
            rows = rows * D

        shapes = {}
        for layer in range(num_layers):
            for direction, ending in enumerate(endings):
                if ending and "reverse_weights_missing" in mistakes:
                    continue
                below = input_size * (D if "input_doubled" in mistakes else 1)
                if layer and "upper_layers_read_input" not in mistakes:
                    below = H if "projection_not_in_upper_layers" in mistakes else R
                    below = below * (1 if "upper_layers_read_one_direction" in mistakes else D)
                read = H if "projection_not_in_weight_hh" in mistakes else R
                read = read * (D if "weight_hh_doubled" in mistakes else 1)
                matrices = {"weight_ih": (rows, below), "weight_hh": (rows, read)}
                if "weights_ih_hh_swapped" in mistakes:
                    matrices = dict(zip(matrices, [*matrices.values()][::-1]))
                if "weights_transposed" in mistakes:
                    matrices = {name: shape[::-1] for name, shape in matrices.items()}
                length = below if "bias_has_column_count" in mistakes else rows
                shape = (length,)
                if "bias_has_two_dimensions" in mistakes:
                    shape = (length, 1)
                if "bias_has_two_dimensions~row" in mistakes:
                    shape = (1, length)
                if "shape_is_a_number" in mistakes:
                    shape = length
                names = ["bias_ih"] if "one_bias" in mistakes else ["bias_ih", "bias_hh"]
                biases = dict.fromkeys(names if bias else [], shape)
                projection = {}
                has_projection = bool(P)
                if "weight_hr_in_top_layer_only" in mistakes:
                    has_projection = has_projection and layer == num_layers - 1
                if "weight_hr_in_top_layer_only~first" in mistakes:
                    has_projection = has_projection and layer == 0
                if has_projection and "weight_hr_missing" not in mistakes:
                    shape = (P, 4 * H) if "weight_hr_has_four_gates~columns" in mistakes else (P, H)
                    shape = (4 * P, H) if "weight_hr_has_four_gates" in mistakes else shape
                    projection = {"weight_hr": shape[::-1] if "weight_hr_transposed" in mistakes else shape}
                    projection |= {"bias_hr": (P,)} if "projection_with_bias" in mistakes else {}
                if not P and "weight_hr_always_there" in mistakes:
                    projection = {"weight_hr": (0, H)}
                if not P and "weight_hr_always_there~square" in mistakes:
                    projection = {"weight_hr": (H, H)}
                ending = suffix_reference(mistakes, layer, direction, ending, D)
                shapes |= {name + ending: shape for name, shape in (matrices | biases | projection).items()}
        return shapes

    return parameter_shapes


def suffix_reference(mistakes, layer, direction, ending, directions):
    if "layers_counted_from_one" in mistakes:
        layer = layer + 1
    if "layer_missing_in_names" in mistakes:
        return ending
    if "directions_counted_as_layers" in mistakes:
        return f"_l{layer * directions + direction}"
    return f"{ending}_l{layer}" if "reverse_before_layer" in mistakes else f"_l{layer}{ending}"


SHAPE_OPTIONS = ("input_size", "hidden_size", "num_layers", "bias", "bidirectional", "proj_size")
LAYERS = {layer.__init__.__code__: f"nn.{layer.__name__}" for layer in (nn.RNNBase, nn.RNNCellBase)}


LAYERS |= {layer.__init__.__code__: f"companion.{layer.__name__}" for layer in (RNNBase, RNNCellBase)}


@contextmanager
def watch_library_layers(outcome):
    """Note the libraries' layers that are made in the block: their shapes can be read without running them."""
    before, seen = sys.getprofile(), set()

    def look(frame, event, argument):
        if event == "call" and frame.f_code in LAYERS:
            seen.add(LAYERS[frame.f_code])
        if before is not None:
            before(frame, event, argument)

    sys.setprofile(look)
    try:
        yield
    finally:
        sys.setprofile(before)
        if seen:
            outcome.notes["library"] = sorted(seen)


def shapes_call(answer, probe, outcome):
    """Call the answer, and record its shapes as tensors. A single bias `bias_l0` is taken as `bias_ih_l0`."""
    with watch_library_layers(outcome):
        returned = answer(*(probe.options[name] for name in SHAPE_OPTIONS))
    if returned is None:
        raise Unfit("returns_none", name="dict")
    if not isinstance(returned, Mapping):
        raise Unfit("wrong_form", name="dict", got=form(returned))
    for name, shape in dict(returned).items():
        # As in torch, a shape may be a list, and its numbers those of another library.
        if not isinstance(shape, Integral | tuple | list) or not all(
            isinstance(size, Integral) for size in as_list(shape)
        ):
            raise Unfit("wrong_form", name="{name: tuple}", got=f"{{{name!r}: {form(shape)}}}")
        name = str(name)
        if name.startswith("bias_l") and name.replace("bias", "bias_ih", 1) not in returned:
            name = name.replace("bias", "bias_ih", 1)
        outcome.values[name] = torch.tensor(shape, dtype=torch.float64)


def as_list(shape):
    return [shape] if isinstance(shape, Integral) else list(shape)


def shapes_truth(input_size, hidden_size, num_layers, bias, bidirectional, proj_size):
    options = {"bias": bias, "bidirectional": bidirectional, "proj_size": proj_size, "device": "meta"}
    layer = nn.LSTM(input_size, hidden_size, num_layers, **options)
    return {name: tuple(parameter.shape) for name, parameter in layer.named_parameters()}


def shapes_probes(draw):
    def probe(name, num_layers, bias=True, bidirectional=False, proj=False):
        # all different, none a multiple of another: P < I < H
        small, middle, large = (int(draw.whole(3)) + least for least in (2, 5, 9))
        options = {"input_size": middle, "hidden_size": large, "num_layers": num_layers}
        return Probe(name, {}, options | {"bias": bias, "bidirectional": bidirectional, "proj_size": small * proj})

    return [
        probe("one_layer", 1),
        probe("one_layer", 1, bias=False),
        probe("one_direction", 3),
        probe("no_projection", 2, bidirectional=True),
        probe("one_direction", 3, proj=True),
        probe("all", 3, bias=False, bidirectional=True, proj=True),
    ]


QUESTION = Question(
    name="parameter_shapes",
    layers_made=False,
    assignment=CHAPTER,
    task=1,
    points=2,
    place=f"{CHAPTER}#summary-table",
    call=shapes_call,
    truth=shapes_truth,
    reference=parameter_shapes_reference,
    mistakes=SHAPE_MISTAKES,
    probes=shapes_probes,
    exclusive=(
        frozenset({"one_gate", "three_gates"}),
        frozenset({"layers_counted_from_one", "layer_missing_in_names", "num_layers_ignored"}),
        frozenset({"reverse_weights_missing", "reverse_before_layer", "directions_counted_as_layers"}),
        frozenset({"one_bias", "bias_never_there"}),
        frozenset({"bias_always_there", "bias_never_there"}),
        frozenset({"bias_has_two_dimensions", "shape_is_a_number", "bias_never_there", "bias_has_column_count"}),
        frozenset({"upper_layers_read_input", "upper_layers_read_one_direction"}),
        frozenset({"upper_layers_read_input", "projection_not_in_upper_layers"}),
        frozenset({"weight_hr_missing", "weight_hr_transposed", "weight_hr_has_four_gates", "projection_with_bias"}),
        frozenset({"weight_hr_missing", "weight_hr_in_top_layer_only", "weight_hr_always_there"}),
    ),
)
