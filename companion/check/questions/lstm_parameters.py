"""The questions of the assignment `lstm_parameters`: shapes, layers, directions, projection, lengths, and all at once.

All but the first are one network with switches: `parameter_shapes_reference` says what it has, `direction_reference`
reads a sequence, `network_reference` puts layers and directions together.
"""

import sys
from collections import Counter
from collections.abc import Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from numbers import Integral

import torch
from torch import nn
from torch.nn import functional
from torch.nn.utils.rnn import PackedSequence, pack_padded_sequence, pad_packed_sequence

from companion.check.question import Question
from companion.check.questions.lstm import (
    EXCLUSIVE,
    GATE_MISTAKES,
    STATE_MISTAKES,
    WEIGHTS,
    step_reference,
)
from companion.check.running import Function, Module, Probe, Unfit, form, kind, named, seed, set_parameters
from companion.layers.recurrent import RNNBase, RNNCellBase

CHAPTER = "lstm_parameters"

# The shapes of all parameters

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

        found = {}
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
                here = bool(P)
                if "weight_hr_in_top_layer_only" in mistakes:
                    here = here and layer == num_layers - 1
                if "weight_hr_in_top_layer_only~first" in mistakes:
                    here = here and layer == 0
                if here and "weight_hr_missing" not in mistakes:
                    shape = (P, 4 * H) if "weight_hr_has_four_gates~columns" in mistakes else (P, H)
                    shape = (4 * P, H) if "weight_hr_has_four_gates" in mistakes else shape
                    projection = {"weight_hr": shape[::-1] if "weight_hr_transposed" in mistakes else shape}
                    projection |= {"bias_hr": (P,)} if "projection_with_bias" in mistakes else {}
                if not P and "weight_hr_always_there" in mistakes:
                    projection = {"weight_hr": (0, H)}
                if not P and "weight_hr_always_there~square" in mistakes:
                    projection = {"weight_hr": (H, H)}
                ending = suffix_reference(mistakes, layer, direction, ending, D)
                found |= {name + ending: shape for name, shape in (matrices | biases | projection).items()}
        return found

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
LAYERS = {one.__init__.__code__: f"nn.{one.__name__}" for one in (nn.RNNBase, nn.RNNCellBase)}
LAYERS |= {one.__init__.__code__: f"companion.{one.__name__}" for one in (RNNBase, RNNCellBase)}


@contextmanager
def built(outcome):
    """Notes the libraries' layers that are made meanwhile: the shapes of one need no run."""
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
    """The shapes as tensors of numbers. One bias has no right name to have, so `bias_l0` is `bias_ih_l0`."""
    with built(outcome):
        returned = answer(*(probe.options[name] for name in SHAPE_OPTIONS))
    if returned is None:
        raise Unfit("returns_none", name="dict")
    if not isinstance(returned, Mapping):
        raise Unfit("wrong_form", name="dict", got=form(returned))
    for name, shape in dict(returned).items():
        # Where torch takes a shape, a list does for a tuple, and another library's number for an int: so it does here.
        if not isinstance(shape, Integral | tuple | list) or not all(isinstance(one, Integral) for one in as_list(shape)):
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
        # all different, and no multiple of each other: P < I < H
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


SHAPES = Question(
    name="parameter_shapes",
    layers_made=False,
    assignment=CHAPTER,
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


# One direction of one layer

# What goes wrong in the step or with its weights.
STEP_MISTAKES = {"one_bias": "lstm#two-biases", "weights_transposed": "lstm#one-product"}
STEP_MISTAKES |= STATE_MISTAKES | GATE_MISTAKES
# With a projection h has fewer numbers than c, and `weight_hh` is not square: these cannot be made.
NOT_PROJECTED = {"recurrent_weights_transposed", "new_h_too_early"}
PROJECTED_STEP_MISTAKES = {name: place for name, place in STEP_MISTAKES.items() if name not in NOT_PROJECTED}

# What goes wrong from step to step, and with the states.
SEQUENCE_MISTAKES = {
    "state_not_carried": "lstm#from-cell-to-layer",
    "output_is_c": "lstm#which-is-which",
    "state_detached_each_step": "lstm#gradient-path",
    "state_detached_each_step~before": "",
    "state_detached_each_step~last": "",
}
STATES_MISTAKES = {
    "given_state_ignored": "lstm#from-cell-to-layer",
    "given_state_ignored~h": "",
    "given_state_ignored~c": "",
    "state_detached": "lstm#gradient-path",
    "state_swapped": "lstm#state-order",
    "state_read_as_c_h": "lstm#state-order",
    "state_returned_as_c_h": "lstm#state-order",
    "c_n_is_h_n": "lstm#which-is-which",
    "h_n_always_batch_first": f"{CHAPTER}#batch-first-trap",
    "output_only_last": f"{CHAPTER}#first-look-said",
    "output_detached": "lstm#gradient-path",
}
MODULE_MISTAKES = {
    "default_state_missing": "lstm#from-cell-to-layer",
    "default_state_ones": "lstm#from-cell-to-layer",
    "default_state_random": "lstm#from-cell-to-layer",
    "default_state_random~uniform": "",
    "state_kept_between_calls": "lstm#from-cell-to-layer",
    "state_kept_between_calls~detached": "",
    "input_always_batch_first": f"{CHAPTER}#batch-first",
    "output_always_batch_first": f"{CHAPTER}#batch-first",
    "only_output_returned": "lstm#two-states",
    "state_returned_flat": "lstm#state-order",
}
SEQUENCE_EXCLUSIVE = (
    *EXCLUSIVE,
    frozenset({"given_state_ignored", "state_detached", "state_swapped", "state_read_as_c_h"}),
    frozenset({"state_swapped", "state_read_as_c_h", "state_returned_as_c_h", "only_output_returned"}),
    frozenset({"state_not_carried", "state_detached_each_step"}),
    frozenset({"output_only_last", "output_always_batch_first"}),
    frozenset({"h_n_always_batch_first", "h_n_without_layer", "h_n_joined_by_cat", "only_output_returned"}),
    frozenset({"default_state_missing", "default_state_ones", "default_state_random"}),
    frozenset({"only_output_returned", "state_returned_flat"}),
)


def projected_step_reference(mistakes):
    """The step of `lstm`, and a projection if there is one."""

    def step(x, h, c, weight_ih, weight_hh, bias_ih, bias_hh, weight_hr=None):
        if "view_for_transpose" in mistakes:
            weight_ih, weight_hh = (one.reshape(one.T.shape).T for one in (weight_ih, weight_hh))
        if h.shape[-1] != weight_hh.shape[1]:
            functional.linear(h, weight_hh)  # an error
        # that step takes h and c to be of one size: zeros beside h do nothing
        narrow = len(weight_hh) // 4 - h.shape[-1]
        h, weight_hh = functional.pad(h, (0, narrow)), functional.pad(weight_hh, (0, narrow))
        plain_step = step_reference(mistakes - {"view_for_transpose"})
        h, c = plain_step(x, h, c, weight_ih, weight_hh, bias_ih, bias_hh)
        if weight_hr is not None:
            h = projected_reference(mistakes, h, c, weight_hr)
        return h, c

    return step


def projected_reference(mistakes, h, c, weight_hr):
    weight = weight_hr.T
    if "projection_by_view" in mistakes:
        weight = weight_hr.reshape(weight_hr.T.shape)
    h = (c if "projection_of_c" in mistakes else h) @ weight
    if "projection_squashed" in mistakes:
        h = h.tanh()
    if "projection_squashed~sigmoid" in mistakes:
        h = h.sigmoid()
    if "projection_squashed~relu" in mistakes:
        h = h.relu()
    return h


LATE = {"projection_after_layer", "projection_after_layer~h_n", "output_not_projected"}


def direction_reference(mistakes, weights, x, h, c, lengths=None, reverse=False, drop=None):
    """Reads x (T, N, …) step by step. Returns the output (T, N, …), and the last h and c."""
    step = projected_step_reference(mistakes)
    weight_hr = weights[4] if len(weights) > 4 else None
    if mistakes & LATE:
        weights = weights[:4]
    h_0, c_0 = h, c
    order = range(len(x))
    forwards = {"backward_reads_forwards", "backward_reads_forwards~flipped"}
    if reverse and not mistakes & {*forwards, "flipped_over_batch", "flipped_over_features"}:
        order = order[::-1]
    if reverse and "flipped_over_batch" in mistakes:
        x = x.flip(1)
    if reverse and "flipped_over_features" in mistakes:
        x = x.flip(-1)
    output = [None] * len(x)
    for t in order:
        before = h, c
        if "state_detached_each_step~before" in mistakes:
            h, c = h.detach(), c.detach()
        new_h, new_c = step(x[t], *((h_0, c_0) if "state_not_carried" in mistakes else (h, c)), *weights)
        said = new_c if "output_is_c" in mistakes else new_h
        if weight_hr is not None and "output_not_projected" in mistakes:
            new_h = projected_reference(mistakes, new_h, new_c, weight_hr)
        if drop is not None:
            new_h = drop(new_h)
            said = said if "dropout_between_steps~output_kept" in mistakes else new_h
        output[t], h, c = held_reference(mistakes, said, (new_h, new_c), before, t, len(x), lengths, reverse)
        last = h, c
        if mistakes & {"state_detached_each_step", "state_detached_each_step~last"}:
            h, c = h.detach(), c.detach()
    h, c = (h, c) if "state_detached_each_step~last" in mistakes else last
    if reverse and mistakes & {"backward_not_flipped", "backward_reads_forwards~flipped"}:
        output = output[::-1]
    output = torch.stack(output)
    if reverse and "flipped_over_batch" in mistakes:
        output = output.flip(1)
    if reverse and "flipped_over_features" in mistakes:
        output = output.flip(-1)
    if weight_hr is not None and mistakes & {"projection_after_layer", "projection_after_layer~h_n"}:
        output = output @ weight_hr.T
        h = h @ weight_hr.T if "projection_after_layer~h_n" in mistakes else h
    return output, h, c


def held_reference(mistakes, said, new, old, t, steps, lengths, reverse):
    """What is said and kept at step t: a sequence that has ended says 0, and keeps its last state."""
    if lengths is None:
        return said, *new
    (new_h, new_c), (old_h, old_c) = new, old
    last = lengths
    if "one_step_too_many" in mistakes:
        last = lengths + 1
    if "one_step_too_few" in mistakes:
        last = lengths - 1
    runs = t < last
    if "padding_expected_first" in mistakes:
        runs = t >= steps - lengths
    runs = runs.unsqueeze(-1)
    h, c = torch.where(runs, new_h, old_h), torch.where(runs, new_c, old_c)
    said = torch.where(runs, said, h if "output_repeats_last" in mistakes else torch.zeros_like(said))
    ignored = mistakes & {"packed_ignores_lengths", "packed_ignores_lengths~all_long"}
    from_padding = reverse and mistakes & {"backward_starts_in_padding", "backward_starts_in_padding~said"}
    if ignored or "output_runs_into_padding" in mistakes or from_padding == {"backward_starts_in_padding~said"}:
        said = new_h
    if ignored or mistakes & {"h_n_after_padding", "padding_zeroed_and_read"} or from_padding:
        h, c = new
    if "h_not_held" in mistakes:
        h = new_h
    if "c_not_held" in mistakes:
        c = new_c
    if "state_zeroed_in_padding" in mistakes:
        h, c = new_h * runs, new_c * runs
    return said, h, c


# Layers and directions

STACK_MISTAKES = {
    "upper_layers_read_input": f"{CHAPTER}#equations",
    "upper_layers_read_c": f"{CHAPTER}#equations",
    "first_layer_weights_everywhere": f"{CHAPTER}#num-layers",
    "layers_share_weights": f"{CHAPTER}#num-layers",
    "first_state_for_all_layers": f"{CHAPTER}#num-layers",
    "upper_layers_start_at_zero": f"{CHAPTER}#num-layers",
    "state_passed_up": f"{CHAPTER}#num-layers",
    "h_n_of_top_layer_only": f"{CHAPTER}#first-look-said",
    "h_n_of_first_layer_only": f"{CHAPTER}#first-look-said",
    "h_n_layers_reversed": f"{CHAPTER}#last-row",
    "h_n_joined_by_cat": f"{CHAPTER}#formula",
    "output_of_first_layer": f"{CHAPTER}#num-layers",
    "outputs_of_all_layers": f"{CHAPTER}#num-layers",
    "layers_detached": f"{CHAPTER}#equations",
    "relu_between_layers": f"{CHAPTER}#equations",
    "tanh_between_layers": f"{CHAPTER}#equations",
    "input_added_between_layers": f"{CHAPTER}#equations",
}
DROPOUT_MISTAKES = {
    "upper_layers_read_input~undropped": "",
    "dropout_ignored": f"{CHAPTER}#dropout",
    "dropout_after_last_layer": f"{CHAPTER}#dropout-said",
    "dropout_in_evaluation": f"{CHAPTER}#dropout-eval",
    "dropout_on_input": f"{CHAPTER}#dropout",
    "dropout_between_steps": f"{CHAPTER}#dropout",
    "dropout_between_steps~output_kept": "",
    "dropout_in_states": f"{CHAPTER}#dropout-said",
    "dropout_not_scaled": f"{CHAPTER}#dropout",
    "dropout_scales_in_evaluation": f"{CHAPTER}#dropout",
    "dropout_keeps_p": f"{CHAPTER}#dropout",
    "dropout_keeps_p~none": "",
    "dropout_mask_inverted": f"{CHAPTER}#dropout",
    "dropout_without_seed": f"{CHAPTER}#dropout",
    "dropout_shared_over_time": f"{CHAPTER}#dropout",
    "dropout_shared_over_batch": f"{CHAPTER}#dropout",
    "dropout_shared_over_units": f"{CHAPTER}#dropout",
}
DIRECTION_MISTAKES = {
    "backward_not_flipped": f"{CHAPTER}#bidirectional",
    "backward_reads_forwards": f"{CHAPTER}#bidirectional",
    "backward_reads_forwards~flipped": "",
    "flipped_over_batch": f"{CHAPTER}#bidirectional",
    "flipped_over_features": f"{CHAPTER}#bidirectional",
    "directions_share_weights": f"{CHAPTER}#bidirectional",
    "reverse_weights_missing": f"{CHAPTER}#bidirectional",
    "backward_starts_from_forward": f"{CHAPTER}#where-h-n-sits",
    "directions_share_state": f"{CHAPTER}#where-h-n-sits",
    "directions_share_state~layer": "",
    "directions_before_layers": f"{CHAPTER}#where-h-n-sits",
    "directions_before_layers~h_n": "",
    "directions_before_layers~h_0": "",
    "h_n_backward_first": f"{CHAPTER}#where-h-n-sits",
    "h_n_backward_first~h": "",
    "backward_h_n_from_output_last": f"{CHAPTER}#last-output-trap",
    "h_n_of_forward_only": f"{CHAPTER}#where-h-n-sits",
    "h_n_directions_joined": f"{CHAPTER}#view-directions",
    "output_backward_first": f"{CHAPTER}#view-directions",
    "output_interleaved": f"{CHAPTER}#view-directions",
    "output_of_forward_only": f"{CHAPTER}#bidirectional",
    "output_of_forward_only~top": "",
    "directions_added": f"{CHAPTER}#bidirectional",
    "directions_added~top": "",
    "directions_averaged": f"{CHAPTER}#bidirectional",
    "directions_kept_apart": f"{CHAPTER}#bidirectional",
    "directions_joined_over_time": f"{CHAPTER}#bidirectional",
    "directions_joined_over_batch": f"{CHAPTER}#bidirectional",
    "upper_layers_read_forward_only": f"{CHAPTER}#bidirectional",
}
PROJECTION_MISTAKES = {
    "projection_after_layer": f"{CHAPTER}#proj-size",
    "projection_after_layer~h_n": "",
    "output_not_projected": f"{CHAPTER}#proj-said",
    "weight_hr_missing": f"{CHAPTER}#proj-said",
    "weight_hr_transposed": f"{CHAPTER}#proj-said",
    "projection_in_rows": f"{CHAPTER}#proj-said",
    "projection_by_view": f"{CHAPTER}#proj-size",
    "projection_of_c": f"{CHAPTER}#proj-size",
    "projection_squashed": f"{CHAPTER}#proj-size",
    "projection_squashed~sigmoid": "",
    "projection_squashed~relu": "",
    "c_n_projected": f"{CHAPTER}#proj-said",
    "default_state_size": f"{CHAPTER}#proj-said",
    # h and c differ in size, so that it shows if zeros are exchanged, too
    "state_read_as_c_h~default": "",
}
# Of the mistakes with lengths those that a layer can make that reads a packed sequence.
PACKED_LAYER_MISTAKES = {
    "h_n_after_padding": f"{CHAPTER}#exercise-lengths",
    "backward_starts_in_padding": f"{CHAPTER}#exercise-lengths",
    "backward_starts_in_padding~said": "",
    "packed_ignores_lengths": f"{CHAPTER}#exercise-lengths",
    "packed_ignores_lengths~all_long": "",
    "output_not_packed": f"{CHAPTER}#exercise-lengths",
    "states_not_sorted": f"{CHAPTER}#exercise-lengths",
    "h_n_left_sorted": f"{CHAPTER}#exercise-lengths",
}
BATCH_FIRST_MISTAKES = {
    "batch_first_ignored": f"{CHAPTER}#batch-first",
    "batch_first_the_other_way": f"{CHAPTER}#batch-first",
    "output_not_batch_first": f"{CHAPTER}#batch-first",
    "view_for_batch_first": f"{CHAPTER}#batch-first-same",
    "h_n_batch_first": f"{CHAPTER}#batch-first-trap",
    "h_0_batch_first": f"{CHAPTER}#batch-first-trap",
}
# What a mistake in the shapes of the weights makes impossible: the first product raises an error.
READ_BY_UPPER = {"upper_layers_read_one_direction": f"{CHAPTER}#bidirectional"}
READ_PROJECTED = {
    "projection_not_in_weight_hh": f"{CHAPTER}#proj-said",
    "projection_not_in_upper_layers": f"{CHAPTER}#proj-said",
}
# What a mistake in the arithmetic means for the shapes of the weights.
IMPLIED = {
    "upper_layers_read_input~undropped": "upper_layers_read_input",
    "directions_kept_apart": "upper_layers_read_one_direction",
    "directions_added": "upper_layers_read_one_direction",
    "directions_averaged": "upper_layers_read_one_direction",
    "upper_layers_read_forward_only": "upper_layers_read_one_direction",
    "projection_after_layer": "projection_not_in_weight_hh",
    "projection_after_layer~h_n": "projection_not_in_weight_hh",
    "output_not_projected": "projection_not_in_upper_layers",
}


DEFAULTS = {
    "default_state_ones": torch.ones,
    "default_state_random": torch.randn,
    "default_state_random~uniform": torch.rand,
}


UNSEEDED = torch.Generator()  # which torch.manual_seed leaves alone


def network_reference(mistakes):
    shapes_of = parameter_shapes_reference(mistakes | {IMPLIED[name] for name in mistakes if name in IMPLIED})

    class LSTM(nn.Module):
        def __init__(
            self,
            input_size,
            hidden_size,
            num_layers=1,
            bias=True,
            batch_first=False,
            dropout=0.0,
            bidirectional=False,
            proj_size=0,
        ):
            super().__init__()
            self.sizes = input_size, hidden_size, num_layers, bias, bidirectional, proj_size
            self.batch_first = batch_first and "batch_first_ignored" not in mistakes
            if "batch_first_the_other_way" in mistakes:
                self.batch_first = not batch_first
            self.p, self.directions, self.kept = dropout, 2 if bidirectional else 1, None
            for name, shape in shapes_of(*self.sizes).items():
                self.register_parameter(name, nn.Parameter(torch.rand(shape)))

        def weights(self, layer, direction):
            if "first_layer_weights_everywhere" in mistakes:
                layer = 0
            if "layers_share_weights" in mistakes:
                layer = min(layer, 1)
            shared = mistakes & {"directions_share_weights", "reverse_weights_missing"}
            ending = f"_l{layer}{'_reverse' if direction and not shared else ''}"
            found = [getattr(self, name + ending, None) for name in (*WEIGHTS, "weight_hr")]
            if "weights_transposed" in mistakes:
                found[:2] = [one.T for one in found[:2]]
            if found[4] is None:
                found.pop()
            elif "weight_hr_transposed" in mistakes:
                found[4] = found[4].T
            return found

        def forward(self, input, state=None):
            packed, lengths = isinstance(input, PackedSequence), None
            if packed:
                given, (input, lengths) = input, pad_packed_sequence(input)
            elif self.batch_first and "view_for_batch_first" in mistakes:
                input = input.reshape(input.shape[1], input.shape[0], input.shape[2])
            elif self.batch_first or "input_always_batch_first" in mistakes:
                input = input.transpose(0, 1)
            states = self.initial(input, state)
            if packed and given.unsorted_indices is not None and "states_not_sorted" in mistakes:
                states = [one[:, given.unsorted_indices] for one in states]
            output, h_n, c_n = self.layers(input, *states, lengths)
            if mistakes & {"state_kept_between_calls", "state_kept_between_calls~detached"}:
                detached = "state_kept_between_calls~detached" in mistakes
                self.kept = [torch.stack(one).detach() if detached else torch.stack(one) for one in (h_n, c_n)]
            return self.returned(output, h_n, c_n, given if packed else None)

        def initial(self, input, state):
            _, hidden, layers, _, _, projected = self.sizes
            rows, batch = layers * self.directions, input.shape[1]
            if state is None and self.kept:
                return self.kept
            if state is None or "given_state_ignored" in mistakes:
                wide = mistakes & {"default_state_size", "projection_after_layer", "projection_after_layer~h_n"}
                size = hidden if wide else projected or hidden
                if "default_state_missing" in mistakes:
                    raise TypeError("cannot unpack non-iterable NoneType object")
                make = next((make for name, make in DEFAULTS.items() if name in mistakes), torch.zeros)
                h, c = make(rows, batch, size), make(rows, batch, hidden)
                return (c, h) if "state_read_as_c_h~default" in mistakes else (h, c)
            h, c = state
            if self.batch_first and "h_0_batch_first" in mistakes:
                h, c = h.transpose(0, 1), c.transpose(0, 1)
            if mistakes & {"state_swapped", "state_read_as_c_h", "state_read_as_c_h~default"}:
                h, c = c, h
            if "state_detached" in mistakes:
                h, c = h.detach(), c.detach()
            return h * ("given_state_ignored~h" not in mistakes), c * ("given_state_ignored~c" not in mistakes)

        def layers(self, x, h_0, c_0, lengths):
            """The output, and lists of the last states, a row for each layer and direction."""
            layers, D = self.sizes[2], self.directions
            below = [self.drop(x) if "dropout_on_input" in mistakes else x] * D
            inputs, h_n, c_n, all_outputs = x, [], [], []
            for layer in range(layers):
                outputs, h, c = [], None, None
                for direction in range(D):
                    row = self.row(layer, direction)
                    first_h, first_c = h_0[row], c_0[row]
                    if layer and "upper_layers_start_at_zero" in mistakes:
                        first_h, first_c = 0 * first_h, 0 * first_c
                    if layer and "state_passed_up" in mistakes:
                        first_h, first_c = h_n[-D], c_n[-D]
                    if direction and "backward_starts_from_forward" in mistakes:
                        first_h, first_c = h, c
                    between = mistakes & {"dropout_between_steps", "dropout_between_steps~output_kept"}
                    output, h, c = direction_reference(
                        mistakes,
                        self.weights(layer, direction),
                        below[direction],
                        first_h,
                        first_c,
                        lengths,
                        bool(direction),
                        self.drop if between else None,
                    )
                    outputs.append(output)
                    h_n.append(h)
                    c_n.append(c)
                    if layer < layers - 1 and "upper_layers_read_c" in mistakes:
                        # what c was at every step
                        outputs[-1] = direction_reference(
                            mistakes | {"output_is_c"}, self.weights(layer, direction), below[direction],
                            first_h, first_c, lengths, bool(direction),
                        )[0]  # fmt: skip
                all_outputs.append(self.joined(outputs))
                below = self.above(outputs, layer, inputs, x)
                inputs = below[0]
                if "dropout_in_states" in mistakes and layer < layers - 1:
                    h_n[-D:] = [below[0][-1]] if D == 1 else h_n[-D:]
            output = all_outputs[0 if "output_of_first_layer" in mistakes else -1]
            if "output_of_forward_only~top" in mistakes and D == 2:
                output = output.chunk(2, dim=-1)[0]
            if "directions_added~top" in mistakes and D == 2:
                output = sum(output.chunk(2, dim=-1))
            if "outputs_of_all_layers" in mistakes:
                output = torch.cat(all_outputs, dim=-1)
            if "dropout_after_last_layer" in mistakes:
                output = self.drop(output)
            if "backward_h_n_from_output_last" in mistakes and D == 2:
                ends = [one[-1, :, one.shape[-1] // 2 :] for one in all_outputs]
                h_n[1::2] = ends
            return output, h_n, c_n

        def row(self, layer, direction):
            layers, D = self.sizes[2], self.directions
            if "first_state_for_all_layers" in mistakes:
                layer = 0
            if "directions_share_state" in mistakes:
                direction = 0
            if "directions_share_state~layer" in mistakes:
                return layer
            if mistakes & {"directions_before_layers", "directions_before_layers~h_0"}:
                return direction * layers + layer
            return layer * D + direction

        def joined(self, outputs):
            if len(outputs) == 1:
                return outputs[0]
            forwards, backwards = outputs
            if "directions_added" in mistakes:
                return forwards + backwards
            if "directions_averaged" in mistakes:
                return (forwards + backwards) / 2
            if "output_of_forward_only" in mistakes:
                return forwards
            if "output_backward_first" in mistakes:
                outputs = [backwards, forwards]
            if "output_interleaved" in mistakes:
                return torch.stack(outputs, dim=-1).flatten(-2)
            if "directions_joined_over_time" in mistakes:
                return torch.cat(outputs, dim=0)
            return torch.cat(outputs, dim=1 if "directions_joined_over_batch" in mistakes else -1)

        def above(self, outputs, layer, inputs, x):
            """What the next layer's directions read."""
            if mistakes & {"upper_layers_read_input", "upper_layers_read_input~undropped"}:
                return [x if "upper_layers_read_input~undropped" in mistakes else self.drop(x)] * self.directions
            last = layer == self.sizes[2] - 1
            separate = "directions_kept_apart" in mistakes
            if "upper_layers_read_forward_only" in mistakes:
                outputs = outputs[:1]
            found = []
            for output in outputs if separate else [self.joined(outputs)]:
                if "layers_detached" in mistakes:
                    output = output.detach()
                if "relu_between_layers" in mistakes:
                    output = output.relu()
                if "tanh_between_layers" in mistakes:
                    output = output.tanh()
                if "input_added_between_layers" in mistakes and layer:
                    output = output + inputs
                if not last and "dropout_between_steps" not in mistakes:
                    output = self.drop(output)
                found.append(output)
            return found if separate else found * self.directions

        def drop(self, x):
            if "dropout_keeps_p~none" in mistakes and self.training and not self.p:
                return 0 * x
            if not self.p or "dropout_ignored" in mistakes:
                return x
            p = self.p
            if "dropout_scales_in_evaluation" in mistakes and not self.training:
                return x * (1 - p)
            if not self.training and "dropout_in_evaluation" not in mistakes:
                return x
            shape = list(x.shape)
            for dim, shared in enumerate(("time", "batch", "units"), start=x.dim() - 3):
                if f"dropout_shared_over_{shared}" in mistakes and dim >= 0:
                    shape[dim] = 1
            kept = mistakes & {"dropout_keeps_p", "dropout_keeps_p~none"}
            keeps = p if kept or "dropout_mask_inverted" in mistakes else 1 - p
            generator = UNSEEDED if "dropout_without_seed" in mistakes else None
            mask = torch.full(shape, keeps).bernoulli(generator=generator).to(x)
            if mistakes & {"dropout_not_scaled", "dropout_scales_in_evaluation"}:
                return x * mask
            return x * mask / (p if kept else 1 - p)

        def returned(self, output, h_n, c_n, packed):
            D = self.directions
            if "h_n_backward_first~h" in mistakes:
                h_n = self.exchanged(h_n)
            h, c = (self.rows(states) for states in (h_n, c_n))
            if packed is not None and packed.sorted_indices is not None and "h_n_left_sorted" in mistakes:
                h, c = h[:, packed.sorted_indices], c[:, packed.sorted_indices]
            if "c_n_projected" in mistakes and self.sizes[5]:
                c = torch.stack([one @ self.weights(row // D, row % D)[4].T for row, one in enumerate(c)])
            if "c_n_is_h_n" in mistakes:
                c = h
            if "output_detached" in mistakes:
                output = output.detach()
            if packed is not None:
                if "output_not_packed" not in mistakes:
                    lengths = pad_packed_sequence(packed)[1]
                    if "packed_ignores_lengths~all_long" in mistakes:
                        lengths = lengths.max().expand_as(lengths)
                    output = pack_padded_sequence(output, lengths, enforce_sorted=packed.sorted_indices is None)
            elif "output_only_last" in mistakes:
                output = output[-1]
            elif self.batch_first and "output_not_batch_first" not in mistakes:
                output = output.transpose(0, 1)
            elif "output_always_batch_first" in mistakes:
                output = output.transpose(0, 1)
            if "h_n_always_batch_first" in mistakes or self.batch_first and "h_n_batch_first" in mistakes:
                h, c = h.transpose(0, 1), c.transpose(0, 1)
            if mistakes & {"state_swapped", "state_returned_as_c_h"}:
                h, c = c, h
            if "only_output_returned" in mistakes:
                return output
            return (output, h, c) if "state_returned_flat" in mistakes else (output, (h, c))

        def exchanged(self, states):
            """Backwards before forwards."""
            D = self.directions
            return [states[row + D - 1 - 2 * (row % D)] for row in range(len(states))]

        def rows(self, states):
            D = self.directions
            if mistakes & {"directions_before_layers", "directions_before_layers~h_n"}:
                states = [one for direction in range(D) for one in states[direction::D]]
            if "h_n_backward_first" in mistakes:
                states = self.exchanged(states)
            if "h_n_of_top_layer_only" in mistakes:
                states = states[-D:]
            if "h_n_of_first_layer_only" in mistakes:
                states = states[:D]
            if "h_n_of_forward_only" in mistakes:
                states = states[::D]
            if "h_n_layers_reversed" in mistakes:
                states = states[::-1]
            if "h_n_directions_joined" in mistakes and D == 2:
                states = [torch.cat(pair, dim=-1) for pair in zip(states[::2], states[1::2])]
            if "h_n_joined_by_cat" in mistakes:
                return torch.cat(states)
            return states[0] if "h_n_without_layer" in mistakes and len(states) == 1 else torch.stack(states)

    return LSTM


# The calls

SEEDED = "torch.equal(output, output_from_the_same_seed)"


@dataclass(frozen=True)
class Network(Module):
    """Makes a module and calls it, whatever the columns of its matrices are.

    Which size a matrix reads shows what is done with it, so that numbers are put into one of another width, too, and
    only then is it said that it does not fit. The tensor `lengths` of a probe makes its input a packed sequence. The
    option `drawn` asks for what dropout makes of one sequence, whichever random numbers are drawn.
    """

    def __call__(self, answer, probe, outcome):
        keywords = {name: probe.options[name] for name in self.keywords if name in probe.options}
        module = answer(*(probe.options[name] for name in self.sizes), **keywords)
        probe, unfit = fitted(module, probe)
        try:
            if "lengths" in probe.tensors:
                packs(module, probe.tensors["lengths"])
            if "drawn" in probe.options:
                self.draw(module, probe, outcome)
            else:
                super().__call__(lambda *_, **__: module, probe, outcome)
        except Unfit:
            raise
        except Exception:
            if unfit is None:
                raise
            raise unfit from None
        if unfit is not None:
            raise unfit

    def draw(self, module, probe, outcome):
        """A sequence is read `drawn` times, as all `rows` of a batch. Of each result: what it can be, and mostly is."""
        set_parameters(module, {name: probe.tensors[name] for name in probe.parameters}, outcome)
        module.train(probe.options["training"])
        rows, drawn = probe.options["rows"], probe.options["drawn"]
        x, h, c = (probe.tensors[name].expand(-1, rows, -1) for name in ("input", "h_0", "c_0"))
        found = {}
        seed()
        if drawn == 1:  # from the same seed the same comes again
            first = named(module(x.clone(), (h.clone(), c.clone())), self.results)["output"]
            seed()
            again = named(module(x.clone(), (h.clone(), c.clone())), self.results)["output"]
            outcome.values[SEEDED] = torch.tensor([torch.equal(first, again)], dtype=torch.float64)
            seed()
        for _ in range(drawn):
            for name, result in named(module(x.clone(), (h.clone(), c.clone())), self.results).items():
                # no other size is that of the batch
                batch = [dim for dim, size in enumerate(result.shape) if size == rows]
                result = result.detach().double()
                if batch:
                    found.setdefault(name, []).append(result.movedim(batch[-1], 0).flatten(1).tolist())
                else:
                    outcome.values[name] = result
        for name, results in found.items():
            most = max(len(distinct(one)) for one in results)
            outcome.values[f"len({name}.unique(dim=1))"] = torch.tensor([min(most, 2)], dtype=torch.float64)
            if most == drawn == 1:
                continue  # rows that are all alike may be so by chance, or not: it takes another call to say
            counts = distinct([row for result in results for row in result])
            outcome.values[f"{name}.unique(dim=1)"] = torch.tensor(sorted(counts), dtype=torch.float64)
            if probe.options["dropout"] < 0.5:  # else none is more frequent than the others
                often = max(counts, key=counts.get)
                outcome.values[f"{name}.mode(dim=1)"] = torch.tensor(often, dtype=torch.float64)


def distinct(rows):
    """The different rows, and how many there are of each. Rounding makes no difference.

    In plain Python: each operation of torch is watched here, which takes longer.
    """
    levels = []
    for column in zip(*rows):
        level, known = None, {}
        for number in sorted(set(column)):
            if level is None or not number - last <= 1e-4:
                level = number
            known[number] = level
            last = number
        levels.append([known[number] for number in column])
    return Counter(zip(*levels))


def fitted(module, probe):
    """The probe with numbers for matrices as wide as the module's, and what to say of one that is not right."""
    tensors, unfit = dict(probe.tensors), None
    for name, parameter in module.named_parameters() if isinstance(module, nn.Module) else ():
        wanted = tensors.get(name) if name in probe.parameters else None
        if wanted is None or wanted.dim() < 2 or parameter.dim() != 2 or parameter.shape == wanted.shape:
            continue
        if len(parameter) == len(wanted) and parameter.shape != wanted.T.shape:
            times = -(-parameter.shape[1] // wanted.shape[1])
            tensors[name] = wanted.repeat(1, times)[:, : parameter.shape[1]]
            said = {"expected": list(wanted.shape), "got": list(parameter.shape)}
            unfit = unfit or Unfit("parameter_shape", name=name, **said)
    return replace(probe, tensors=tensors), unfit


def packs(module, lengths):
    """From now on the module gets its input packed, and what it returns is unpacked."""

    def pack(_, arguments):
        return pack_padded_sequence(arguments[0], lengths, enforce_sorted=False), *arguments[1:]

    def unpack(_, arguments, returned):
        if not isinstance(returned, tuple | list) or len(returned) != 2:
            return None
        output, state = returned
        if not isinstance(output, PackedSequence):
            wanted = "(PackedSequence, (h_n, c_n))"
            raise Unfit("wrong_form", {"output": output} if isinstance(output, torch.Tensor) else None,
                        name=wanted, got=f"({kind(output)}, {form(state)})")  # fmt: skip
        return pad_packed_sequence(output)[0], state

    if isinstance(module, nn.Module):
        module.register_forward_pre_hook(pack)
        module.register_forward_hook(unpack)


# The probes


def network_tensors(draw, steps, batch, options, state=True):
    """Input, states and parameters of a layer with these options, and the parameters' names."""
    sizes = {"num_layers": 1, "bias": True, "bidirectional": False, "proj_size": 0} | options
    shapes = parameter_shapes_reference(frozenset())(*(sizes[name] for name in SHAPE_OPTIONS))
    rows, hidden = sizes["num_layers"] * (1 + sizes["bidirectional"]), sizes["hidden_size"]
    outer = (batch, steps) if options.get("batch_first") else (steps, batch)
    tensors = {"input": draw(*outer, sizes["input_size"])}
    if state:
        tensors |= {"h_0": draw(rows, batch, sizes["proj_size"] or hidden), "c_0": draw(rows, batch, hidden)}
    # sums of products of one decimal each have two: so none is 0, where the slope of a relu is anybody's
    more = {name: 0.005 for name in shapes if name.startswith("bias_ih")}
    return tensors, {name: draw(*shape) + more.get(name, 0) for name, shape in shapes.items()}


def network_probe(name, draw, steps, batch, options, state=True, calls=1, lengths=None):
    tensors, parameters = network_tensors(draw, steps, batch, options, state)
    gradients = tuple(tensors)
    if lengths:
        tensors["lengths"] = torch.tensor(lengths)
    return Probe(name, tensors | parameters, options, tuple(parameters), gradients, calls)


def dropout_probes(draw):
    """For what dropout makes of one sequence, through two layers. What is rare must still be seen in so many rows."""

    def positive(*shape):
        """Where all numbers are, each that is dropped makes all results smaller, and none so little that it is not seen."""
        return 0.5 + 0.3 * draw(*shape)

    def probe(name, steps, hidden, dropout, training=True, drawn=1, rows=160):
        # with one feature and several units einsum would make one weight serve all, where `@` raises an error
        options = sizes(2 * hidden - 1, hidden, num_layers=2, dropout=dropout)
        tensors, parameters = network_tensors(positive, steps, 1, options)
        options |= {"training": training, "drawn": drawn, "rows": rows}
        return Probe(name, tensors | parameters, options, tuple(parameters), None)

    return [
        probe("dropout", 1, 1, 0.5, drawn=12, rows=4),  # one mask for the batch
        probe("dropout", 2, 1, 0.5),  # from step to step
        probe("dropout", 1, 2, 0.5),  # from unit to unit
        probe("dropout", 1, 1, 0.25),  # p and 1 - p
        probe("evaluation", 1, 1, 0.25, training=False, drawn=2),
    ]


def sizes(inputs, hidden, **more):
    return {"input_size": inputs, "hidden_size": hidden} | more


AXES = {
    "input": ("step", "batch", "feature"),
    "output": ("step", "batch", "unit"),
    **dict.fromkeys(("h_n", "c_n", "h_0", "c_0"), ("layer", "batch", "unit")),
}
RESULTS = ("output", ("h_n", "c_n"))


# Layer upon layer, with dropout


def stacked_probes(draw):
    def options(inputs, hidden, layers, dropout=0.0):
        return sizes(inputs, hidden, num_layers=layers, dropout=dropout)

    return [
        network_probe("one_number", draw.few, 1, 1, options(1, 1, 2)),
        network_probe("two_steps", draw.few, 2, 1, options(1, 1, 2)),
        network_probe("batch_1", draw.few, 2, 1, options(2, 3, 2)),
        *dropout_probes(draw),
        network_probe("no_state", draw, 3, 2, options(3, 4, 2), state=False, calls=2),
        network_probe("several", draw, 4, 3, options(2, 5, 3)),
    ]


STACKED = Question(
    name="stacked",
    answer="StackedLSTM",
    assignment=CHAPTER,
    points=3,
    place=f"{CHAPTER}#num-layers",
    call=Network(("input_size", "hidden_size", "num_layers", "dropout"), ("input", ("h_0", "c_0")), RESULTS),
    truth=lambda inputs, hidden, layers, dropout: nn.LSTM(inputs, hidden, layers, dropout=dropout),
    reference=lambda mistakes: stacked_reference(network_reference(mistakes)),
    mistakes=STACK_MISTAKES
    | DROPOUT_MISTAKES
    | STATES_MISTAKES
    | MODULE_MISTAKES
    | SEQUENCE_MISTAKES
    | STEP_MISTAKES,
    probes=stacked_probes,
    exclusive=(
        *SEQUENCE_EXCLUSIVE,
        frozenset({"upper_layers_read_input", "upper_layers_read_c", "input_added_between_layers", "layers_detached"}),
        frozenset({"relu_between_layers", "tanh_between_layers", "upper_layers_read_input"}),
        frozenset({"first_layer_weights_everywhere", "layers_share_weights"}),
        frozenset({"first_state_for_all_layers", "upper_layers_start_at_zero", "state_passed_up"}),
        frozenset({"given_state_ignored", "first_state_for_all_layers"}),
        frozenset({"given_state_ignored", "upper_layers_start_at_zero"}),
        frozenset({"h_n_of_top_layer_only", "h_n_of_first_layer_only", "h_n_layers_reversed"}),
        frozenset({"output_of_first_layer", "outputs_of_all_layers"}),
        frozenset({"dropout_ignored", "dropout_in_evaluation", "dropout_scales_in_evaluation"}),
        frozenset({"dropout_ignored", "dropout_between_steps"}),
        frozenset({"dropout_after_last_layer", "dropout_between_steps"}),
        frozenset({"dropout_not_scaled", "dropout_scales_in_evaluation", "dropout_keeps_p", "dropout_mask_inverted"}),
        *(
            frozenset({"dropout_ignored", name})
            for name in DROPOUT_MISTAKES
            if name.startswith(("dropout_not_", "dropout_without", "dropout_keeps", "dropout_mask", "dropout_shared", "dropout_in_states"))
        ),
    ),
    axes=AXES,
)


def stacked_reference(network):
    return lambda inputs, hidden, layers, dropout: network(inputs, hidden, layers, dropout=dropout)


# Two directions


def bidirectional_probes(draw):
    def probe(name, draw, steps, batch, inputs, hidden, layers, **more):
        options = sizes(inputs, hidden, num_layers=layers, bidirectional=True)
        return network_probe(name, draw, steps, batch, options, **more)

    return [
        probe("two_steps", draw.few, 2, 1, 1, 1, 1),
        probe("batch_1", draw.few, 2, 1, 3, 2, 2),
        probe("one_layer", draw, 4, 2, 2, 3, 1),
        probe("no_state", draw, 3, 2, 3, 4, 2, state=False, calls=2),
        probe("several", draw, 4, 3, 2, 5, 3),
    ]


def bidirectional_reference(network):
    return lambda inputs, hidden, layers: network(inputs, hidden, layers, bidirectional=True)


DIRECTION_EXCLUSIVE = (
    frozenset({"backward_not_flipped", "backward_reads_forwards", "flipped_over_batch", "flipped_over_features"}),
    frozenset({"directions_share_weights", "reverse_weights_missing"}),
    frozenset({"backward_starts_from_forward", "directions_share_state"}),
    frozenset({"directions_share_state", "directions_before_layers"}),
    frozenset({"directions_before_layers", "h_n_backward_first", "h_n_of_forward_only", "h_n_directions_joined"}),
    frozenset({
        "output_backward_first", "output_interleaved", "output_of_forward_only", "directions_added",
        "directions_averaged", "directions_kept_apart", "directions_joined_over_time", "directions_joined_over_batch",
        "upper_layers_read_forward_only",
    }),
)  # fmt: skip

BIDIRECTIONAL = Question(
    name="bidirectional",
    answer="BiLSTM",
    assignment=CHAPTER,
    points=3,
    place=f"{CHAPTER}#bidirectional",
    call=Network(("input_size", "hidden_size", "num_layers"), ("input", ("h_0", "c_0")), RESULTS),
    truth=lambda inputs, hidden, layers: nn.LSTM(inputs, hidden, layers, bidirectional=True),
    reference=lambda mistakes: bidirectional_reference(network_reference(mistakes)),
    mistakes=DIRECTION_MISTAKES
    | READ_BY_UPPER
    | {name: place for name, place in STACK_MISTAKES.items() if name != "state_passed_up"}
    | STATES_MISTAKES
    | MODULE_MISTAKES
    | SEQUENCE_MISTAKES
    | STEP_MISTAKES,
    probes=bidirectional_probes,
    exclusive=(*STACKED.exclusive, *DIRECTION_EXCLUSIVE),
    axes=AXES,
)


# A projection


def projected_probes(draw):
    def probe(name, draw, steps, batch, inputs, hidden, projected, **more):
        return network_probe(name, draw, steps, batch, sizes(inputs, hidden, proj_size=projected), **more)

    return [
        probe("two_steps", draw.few, 2, 1, 1, 2, 1),
        probe("batch_1", draw.few, 2, 1, 2, 4, 3),
        probe("no_state", draw, 3, 2, 4, 5, 3, state=False, calls=2),
        probe("several", draw, 4, 3, 5, 6, 2),
    ]


def projected_network_reference(network):
    return lambda inputs, hidden, projected: network(inputs, hidden, proj_size=projected)


PROJECTED = Question(
    name="projected",
    answer="ProjectedLSTM",
    assignment=CHAPTER,
    points=2,
    place=f"{CHAPTER}#proj-size",
    call=Network(("input_size", "hidden_size", "proj_size"), ("input", ("h_0", "c_0")), RESULTS),
    truth=lambda inputs, hidden, projected: nn.LSTM(inputs, hidden, proj_size=projected),
    reference=lambda mistakes: projected_network_reference(network_reference(mistakes)),
    mistakes=PROJECTION_MISTAKES
    | {"h_n_without_layer": f"{CHAPTER}#formula"}
    | STATES_MISTAKES
    | MODULE_MISTAKES
    | SEQUENCE_MISTAKES
    | PROJECTED_STEP_MISTAKES,
    probes=projected_probes,
    exclusive=(
        *SEQUENCE_EXCLUSIVE,
        frozenset({
            "projection_after_layer", "output_not_projected", "weight_hr_missing", "projection_in_rows",
            "projection_of_c",
        }),
        frozenset({"projection_by_view", "weight_hr_transposed", "weight_hr_missing", "projection_in_rows"}),
        frozenset({"projection_squashed", "projection_after_layer", "weight_hr_missing", "projection_in_rows"}),
        frozenset({"c_n_projected", "weight_hr_missing", "projection_in_rows"}),
        frozenset({"default_state_missing", "default_state_size", "projection_after_layer"}),
        frozenset({"output_is_c", "output_not_projected"}),
    ),
    axes=AXES,
)  # fmt: skip


# Sequences of different lengths in one padded batch

LENGTH_MISTAKES = {
    "packed_ignores_lengths": f"{CHAPTER}#exercise-lengths",
    "h_n_after_padding": f"{CHAPTER}#exercise-lengths",
    "output_runs_into_padding": f"{CHAPTER}#exercise-lengths",
    "output_repeats_last": f"{CHAPTER}#exercise-lengths",
    "padding_zeroed_and_read": f"{CHAPTER}#exercise-lengths",
    "h_n_from_padded_output": f"{CHAPTER}#exercise-lengths",
    "state_zeroed_in_padding": f"{CHAPTER}#exercise-lengths",
    "h_not_held": f"{CHAPTER}#exercise-lengths",
    "c_not_held": f"{CHAPTER}#exercise-lengths",
    "one_step_too_many": f"{CHAPTER}#exercise-lengths",
    "one_step_too_few": f"{CHAPTER}#exercise-lengths",
    "padding_expected_first": f"{CHAPTER}#exercise-lengths",
    "batch_left_sorted": f"{CHAPTER}#exercise-lengths",
    "h_n_left_sorted": f"{CHAPTER}#exercise-lengths",
    "output_left_sorted": f"{CHAPTER}#exercise-lengths",
    "sorted_twice": f"{CHAPTER}#exercise-lengths",
    "states_not_sorted": f"{CHAPTER}#exercise-lengths",
    "cut_to_shortest": f"{CHAPTER}#exercise-lengths",
    "h_n_without_layer": f"{CHAPTER}#formula",
}


def packed_reference(mistakes):
    def lstm_packed(input, lengths, h_0, c_0, *weights):
        by_length = lengths.argsort(descending=True)
        rank = by_length.argsort()
        h, c = h_0[0], c_0[0]
        if "input_always_batch_first" in mistakes:
            input = input.transpose(0, 1)
        if mistakes & {"state_swapped", "state_read_as_c_h"}:
            h, c = c, h
        if "state_detached" in mistakes:
            h, c = h.detach(), c.detach()
        if "states_not_sorted" in mistakes:
            h, c = h[rank], c[rank]
        h = h * (not mistakes & {"given_state_ignored", "given_state_ignored~h"})
        c = c * (not mistakes & {"given_state_ignored", "given_state_ignored~c"})
        if "padding_zeroed_and_read" in mistakes:
            input = input * (torch.arange(len(input)).unsqueeze(-1) < lengths).unsqueeze(-1)
        if "cut_to_shortest" in mistakes:
            lengths = lengths.min().expand(len(lengths))
        output, h, c = direction_reference(mistakes, weights, input, h, c, lengths)
        if "h_n_from_padded_output" in mistakes:
            h = output[-1]
        if mistakes & {"batch_left_sorted", "output_left_sorted"}:
            output = output[:, by_length]
        if mistakes & {"batch_left_sorted", "h_n_left_sorted"}:
            h, c = h[by_length], c[by_length]
        if "sorted_twice" in mistakes:
            output, h, c = output[:, by_length][:, by_length], h[by_length][by_length], c[by_length][by_length]
        if "c_n_is_h_n" in mistakes:
            c = h
        if "output_only_last" in mistakes:
            output = output[-1]
        if "output_always_batch_first" in mistakes:
            output = output.transpose(0, 1)
        if "output_detached" in mistakes:
            output = output.detach()
        if "h_n_without_layer" not in mistakes:
            dim = 1 if "h_n_always_batch_first" in mistakes else 0
            h, c = h.unsqueeze(dim), c.unsqueeze(dim)
        return (output, c, h) if mistakes & {"state_swapped", "state_returned_as_c_h"} else (output, h, c)

    return lstm_packed


def packed_truth(input, lengths, h_0, c_0, *weights):
    data, sizes, order, back = pack_padded_sequence(input, lengths, enforce_sorted=False)
    state = [one[:, order] for one in (h_0, c_0)]
    data, h_n, c_n = torch.lstm(data, sizes, state, weights, True, 1, 0.0, False, False)
    output, _ = pad_packed_sequence(PackedSequence(data, sizes, order, back))
    return output, h_n[:, back], c_n[:, back]


class Packed(Function):
    """Calls a function that returns output, h_n, c_n, be the states in a pair of their own or not."""

    def __call__(self, answer, probe, outcome):
        def flat(*arguments):
            returned = answer(*arguments)
            if isinstance(returned, tuple | list) and [*map(kind, returned)][1:] in (["tuple"], ["list"]):
                return returned[0], *returned[1]
            return returned

        super().__call__(flat, probe, outcome)


def packed_probes(draw):
    def probe(name, draw, lengths, inputs, hidden):
        tensors, weights = network_tensors(draw, max(lengths), len(lengths), sizes(inputs, hidden))
        gradients = (*tensors, *WEIGHTS)
        tensors["lengths"] = torch.tensor(lengths)
        tensors |= zip(WEIGHTS, weights.values())
        return Probe(name, tensors, gradients=gradients)

    # from the longest to the shortest is no exchange of two, so that it differs from the way back
    several = ([1, 4, 2, 3], [2, 4, 3, 1], [1, 3, 4, 2], [3, 4, 1, 2])[int(draw.whole(4))]
    return [
        probe("two_sequences", draw.few, [1, 2], 1, 1),
        probe("batch_1", draw.few, [2], 2, 3),
        probe("equal_lengths", draw, [3, 3], 2, 4),
        probe("several", draw, [2, 5, 3], 4, 2),
        probe("several", draw, several, 2, 3),
    ]


PACKED = Question(
    name="packed",
    answer="lstm_packed",
    assignment=CHAPTER,
    points=3,
    place=f"{CHAPTER}#exercise-lengths",
    call=Packed(("input", "lengths", "h_0", "c_0", *WEIGHTS), ("output", "h_n", "c_n")),
    truth=packed_truth,
    reference=packed_reference,
    mistakes=LENGTH_MISTAKES
    | STATES_MISTAKES
    | {name: place for name, place in MODULE_MISTAKES.items() if name.endswith("put_always_batch_first")}
    | SEQUENCE_MISTAKES
    | {name: place for name, place in STEP_MISTAKES.items() if name not in ("one_bias", "weights_transposed")},
    probes=packed_probes,
    exclusive=(
        *SEQUENCE_EXCLUSIVE,
        frozenset({
            "packed_ignores_lengths", "h_n_after_padding", "padding_zeroed_and_read", "state_zeroed_in_padding",
            "h_not_held", "c_not_held", "one_step_too_many", "one_step_too_few", "padding_expected_first",
            "cut_to_shortest",
        }),
        frozenset({"packed_ignores_lengths", "output_runs_into_padding", "output_repeats_last"}),
        frozenset({"batch_left_sorted", "h_n_left_sorted", "output_left_sorted", "sorted_twice"}),
        frozenset({"h_n_from_padded_output", "state_zeroed_in_padding"}),
    ),
    axes=AXES,
)  # fmt: skip


# All at once

ALL_OPTIONS = ("num_layers", "bias", "batch_first", "dropout", "bidirectional", "proj_size")


def all_probes(draw):
    def probe(name, draw, steps, batch, inputs, hidden, state=True, calls=1, lengths=None, **options):
        return network_probe(name, draw, steps, batch, sizes(inputs, hidden, **options), state, calls, lengths)

    everything = {"num_layers": 2, "bidirectional": True, "proj_size": 2}
    return [
        probe("two_steps", draw.few, 2, 1, 1, 1),
        probe("batch_1", draw.few, 2, 1, 2, 3, num_layers=2),
        *dropout_probes(draw),
        probe("batch_first", draw, 3, 2, 3, 4, batch_first=True, bias=False),
        probe("no_state", draw, 3, 2, 4, 3, state=False, calls=2, num_layers=3, proj_size=2),
        probe("one_layer", draw, 3, 4, 2, 3, bidirectional=True),
        probe("no_projection", draw, 3, 2, 4, 3, num_layers=2, bidirectional=True),
        probe("packed", draw, 4, 3, 2, 5, lengths=[1, 4, 2], **everything),
        probe("several", draw, 4, 3, 5, 4, **everything | {"num_layers": 3}),
    ]


ALL_AT_ONCE = Question(
    name="all_at_once",
    answer="LSTM",
    assignment=CHAPTER,
    points=4,
    place=f"{CHAPTER}#summary-table",
    call=Network(("input_size", "hidden_size"), ("input", ("h_0", "c_0")), RESULTS, ALL_OPTIONS),
    truth=nn.LSTM,
    reference=network_reference,
    mistakes=STACK_MISTAKES
    | DROPOUT_MISTAKES
    | DIRECTION_MISTAKES
    | PROJECTION_MISTAKES
    | READ_BY_UPPER
    | READ_PROJECTED
    | PACKED_LAYER_MISTAKES
    | BATCH_FIRST_MISTAKES
    | STATES_MISTAKES
    | MODULE_MISTAKES
    | SEQUENCE_MISTAKES
    | PROJECTED_STEP_MISTAKES,
    probes=all_probes,
    exclusive=(
        *STACKED.exclusive,
        *DIRECTION_EXCLUSIVE,
        *PROJECTED.exclusive,
        frozenset({"batch_first_ignored", "batch_first_the_other_way", "view_for_batch_first"}),
        frozenset({"batch_first_ignored", "output_not_batch_first"}),
        frozenset({"batch_first_ignored", "h_n_batch_first"}),
        frozenset({"batch_first_ignored", "h_0_batch_first"}),
        frozenset(
            {"h_n_after_padding", "backward_starts_in_padding", "packed_ignores_lengths", "output_not_packed"}
        ),
        frozenset({*READ_BY_UPPER, *READ_PROJECTED, *IMPLIED}),
    ),
    axes=AXES,
    stretch=True,
)

QUESTIONS = [SHAPES, STACKED, BIDIRECTIONAL, PROJECTED, PACKED, ALL_AT_ONCE]
