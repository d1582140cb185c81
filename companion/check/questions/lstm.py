"""The questions of the assignment `lstm`: the gates, the cell, the layer, weights with one bias, and the way back."""

from itertools import permutations

import torch
from torch import nn

from companion.check.question import Question
from companion.check.running import (
    AUTOGRAD,
    RECURRENT,
    Function,
    Module,
    Probe,
    Unfit,
    copy,
    form,
    kind,
    note_changes,
    values,
)

# The orders of the gates that are not torch's, the well-known ones first: papers', TensorFlow's, ONNX's.
KNOWN = ["figo", "ifog", "igfo", "iofg", "fiog", "fogi"]
ORDERS = {
    f"gates_{'_'.join(letters)}": "".join(letters)
    for letters in sorted(permutations("ifgo"), key=lambda order: (*KNOWN, "".join(order)).index("".join(order)))
    if "".join(letters) != "ifgo"
}

# The orders in which the gates are returned, where they are. With g in its place they are orders of the weights.
OTHER_ORDER = "gates_returned_in_other_order"
RETURNED = {OTHER_ORDER: "ifog"} | {
    f"{OTHER_ORDER}~{order}": order for order in ORDERS.values() if order != "ifog" and order[2] != "g"
}

# What goes wrong between the inputs and the four gates.
GATE_MISTAKES = {
    "gates_f_i_g_o": "lstm#wrong-order",
    "gates_i_f_o_g": "lstm#wrong-order",
    "gates_interleaved": "lstm#one-product",
    "hidden_ignored": "",
    "input_ignored": "",
    "bias_ih_missing": "lstm#two-biases",
    "bias_hh_missing": "lstm#two-biases",
    "bias_ih_twice": "lstm#two-biases",
    "bias_hh_twice": "lstm#two-biases",
    "recurrent_weights_transposed": "lstm#one-product",
    "view_for_transpose": "lstm#one-product",
    "view_for_transpose~ih": "",
    "view_for_transpose~hh": "",
    "tanh_missing_on_g": "lstm#input-gate",
    "sigmoid_on_g": "lstm#input-gate",
    "relu_on_g": "lstm#input-gate",
    "sigmoid_missing_on_i": "lstm#input-gate",
    "sigmoid_missing_on_f": "lstm#forget-gate",
    "sigmoid_missing_on_o": "lstm#output-gate",
    "tanh_on_i": "lstm#input-gate",
    "tanh_on_f": "lstm#forget-gate",
    "tanh_on_o": "lstm#output-gate",
    "tanh_on_all_gates": "lstm#six-equations",
    "gates_not_activated": "lstm#sigmoid",
    "hard_sigmoid": "lstm#sigmoid",
    "hard_sigmoid~steeper": "",
    "softmax_over_gates": "lstm#sigmoid",
    "forget_bias_added": "lstm#forget-bias",
    "biases_after_activation": "lstm#six-equations",
    "sigmoid_turned": "lstm#sigmoid",
} | dict.fromkeys(ORDERS, "lstm#wrong-order")

# What goes wrong between the gates and the two new states.
STATE_MISTAKES = {
    "tanh_missing_on_c": "lstm#output-gate",
    "sigmoid_on_c": "lstm#output-gate",
    "c_squashed": "lstm#cell-state",
    "tanh_kept_in_c": "lstm#output-gate",
    "h_from_old_c": "lstm#output-gate",
    "new_h_too_early": "lstm#output-gate",
    "forget_gate_missing": "lstm#cell-state",
    "input_gate_missing": "lstm#cell-state",
    "output_gate_missing": "lstm#output-gate",
    "coupled_gates": "gru#one-gate-for-two",
    "forget_gate_on_sum": "lstm#cell-state",
    "forget_gate_on_new_content": "lstm#cell-state",
    "old_c_ignored": "lstm#cell-state",
    "input_added_not_gated": "lstm#cell-state",
    "tanh_on_product": "lstm#output-gate",
}
EXCLUSIVE = (
    frozenset([*ORDERS, "gates_interleaved"]),
    frozenset({"tanh_missing_on_g", "sigmoid_on_g", "relu_on_g", "gates_not_activated"}),
    *(
        frozenset({f"sigmoid_missing_on_{gate}", f"tanh_on_{gate}", "tanh_on_all_gates", "gates_not_activated"})
        | {"hard_sigmoid", "softmax_over_gates", "sigmoid_turned"}
        for gate in "ifo"
    ),
    frozenset({"bias_ih_missing", "bias_ih_twice"}),
    frozenset({"bias_hh_missing", "bias_hh_twice"}),
    frozenset({"bias_hh_missing", "bias_hh_twice", "one_bias"}),
    frozenset({"recurrent_weights_transposed", "view_for_transpose", "hidden_ignored", "weights_transposed"}),
    frozenset({"tanh_missing_on_c", "sigmoid_on_c", "tanh_kept_in_c", "h_from_old_c", "tanh_on_product"}),
    frozenset({"tanh_kept_in_c", "c_squashed"}),
    frozenset({"output_gate_missing", "new_h_too_early"}),
    frozenset({"forget_gate_missing", "forget_gate_on_sum", "forget_gate_on_new_content", "old_c_ignored"}),
    frozenset({"input_gate_missing", "coupled_gates", "input_added_not_gated"}),
)


def gates_reference(mistakes):
    """i, f, g, o after their sigmoid and tanh, with the weights as torch has them."""

    def gates(x, h, weight_ih, weight_hh, bias_ih, bias_hh):
        size = h.shape[-1]
        view_ih = mistakes & {"view_for_transpose", "view_for_transpose~ih"}
        view_hh = mistakes & {"view_for_transpose", "view_for_transpose~hh"}
        from_x = x @ (weight_ih.reshape(weight_ih.T.shape) if view_ih else weight_ih.T)
        from_h = h @ (weight_hh.reshape(weight_hh.T.shape) if view_hh else weight_hh.T)
        if "recurrent_weights_transposed" in mistakes:
            from_h = torch.cat([h @ block for block in weight_hh.split(size)], dim=-1)
        a = from_x * ("input_ignored" not in mistakes) + from_h * ("hidden_ignored" not in mistakes)
        later = 0 * a if "biases_after_activation" in mistakes else None
        for bias, name in ((bias_ih, "bias_ih"), (bias_hh, "bias_hh")):
            if bias is not None:
                bias = bias * (0 if f"{name}_missing" in mistakes else 2 if f"{name}_twice" in mistakes else 1)
                a, later = (a + bias, None) if later is None else (a, later + bias)

        sums = blocks_reference(mistakes, a, size)
        later = dict.fromkeys("ifgo", 0) if later is None else blocks_reference(mistakes, later, size)
        if "forget_bias_added" in mistakes:
            sums["f"] = sums["f"] + 1
        order = next((RETURNED[name] for name in mistakes if name in RETURNED), "ifgo")
        return tuple(activated_reference(mistakes, gate, sums) + later[gate] for gate in order)

    return gates


def blocks_reference(mistakes, a, size):
    """The four blocks of a sum, by gate."""
    order = next((ORDERS[name] for name in mistakes if name in ORDERS), "ifgo")
    if "gates_interleaved" in mistakes:
        return dict(zip(order, a.reshape(*a.shape[:-1], size, 4).unbind(-1)))
    return dict(zip(order, a.split(size, dim=-1)))


def activated_reference(mistakes, gate, sums):
    a = sums[gate]
    if "gates_not_activated" in mistakes:
        return a
    if gate == "g":
        if "tanh_missing_on_g" in mistakes:
            return a
        if "relu_on_g" in mistakes:
            return a.relu()
        return a.sigmoid() if "sigmoid_on_g" in mistakes else a.tanh()
    if f"sigmoid_missing_on_{gate}" in mistakes:
        return a
    if f"tanh_on_{gate}" in mistakes or "tanh_on_all_gates" in mistakes:
        return a.tanh()
    if "hard_sigmoid" in mistakes:
        return (a / 6 + 0.5).clamp(0, 1)
    if "hard_sigmoid~steeper" in mistakes:  # Keras'
        return (a / 5 + 0.5).clamp(0, 1)
    if "sigmoid_turned" in mistakes:
        return (-a).sigmoid()
    return a.softmax(dim=-1) if "softmax_over_gates" in mistakes else a.sigmoid()


def step_reference(mistakes):
    """The new h and c."""
    gates = gates_reference(mistakes)

    def step(x, h, c, *weights):
        i, f, g, o = gates(x, h, *weights)
        old_c = c
        if "forget_gate_missing" in mistakes:
            f = torch.ones_like(f)
        if "input_gate_missing" in mistakes:
            i = torch.ones_like(i)
        if "coupled_gates" in mistakes:
            i = 1 - f
        if "old_c_ignored" in mistakes:
            c = 0 * c
        new = i + g if "input_added_not_gated" in mistakes else i * g
        if "forget_gate_on_sum" in mistakes:
            c = f * (c + new)
        elif "forget_gate_on_new_content" in mistakes:
            c = c + f * new
        else:
            c = f * c + new
        if "c_squashed" in mistakes or "tanh_kept_in_c" in mistakes:
            c = c.tanh()
        if "new_h_too_early" in mistakes:  # h is overwritten before o has read it
            o = gates(x, c.tanh(), *weights)[3]
        if "output_gate_missing" in mistakes:
            o = torch.ones_like(o)
        if "tanh_on_product" in mistakes:
            return (o * c).tanh(), c
        said = old_c if "h_from_old_c" in mistakes else c
        if "sigmoid_on_c" in mistakes:
            said = said.sigmoid()
        elif not mistakes & {"tanh_missing_on_c", "tanh_kept_in_c"}:
            said = said.tanh()
        return o * said, c

    return step


# The gates


def weights(draw, inputs, hidden, ending=""):
    shapes = {"weight_ih": (inputs,), "weight_hh": (hidden,), "bias_ih": (), "bias_hh": ()}
    return {name + ending: draw(4 * hidden, *shape) for name, shape in shapes.items()}


WEIGHTS = ("weight_ih", "weight_hh", "bias_ih", "bias_hh")


def gates_probes(draw):
    def probe(name, draw, batch, inputs, hidden, calls=1):
        tensors = {"x": draw(batch, inputs), "h": draw(batch, hidden)} | weights(draw, inputs, hidden)
        return Probe(name, tensors, gradients=tuple(tensors), calls=calls)

    return [
        probe("one_number", draw.few, 1, 1, 1),
        probe("batch_1", draw.few, 1, 3, 2),
        probe("several", draw, 3, 4, 5),
        probe("several", draw, 2, 6, 3, calls=2),
    ]


def gates_truth(x, h, weight_ih, weight_hh, bias_ih, bias_hh):
    """Torch keeps its gates to itself: these are its documentation's formulas. A test holds them to its cell."""
    a = nn.functional.linear(x, weight_ih, bias_ih) + nn.functional.linear(h, weight_hh, bias_hh)
    i, f, g, o = a.chunk(4, dim=-1)
    return i.sigmoid(), f.sigmoid(), g.tanh(), o.sigmoid()


GATES = Question(
    name="gates",
    assignment="lstm",
    points=2,
    place="lstm#six-equations",
    call=Function(("x", "h", *WEIGHTS), ("i", "f", "g", "o")),
    truth=gates_truth,
    reference=gates_reference,
    mistakes=GATE_MISTAKES | dict.fromkeys(RETURNED, ""),
    probes=gates_probes,
    exclusive=(
        *EXCLUSIVE,
        frozenset([*ORDERS, OTHER_ORDER]),
        # what treats all gates alike makes of it an order of the weights
        frozenset({OTHER_ORDER, "tanh_on_all_gates", "gates_not_activated"}),
    ),
    axes=dict.fromkeys("ifgoh", ("batch", "unit")) | {"x": ("batch", "feature")},
)


# The cell


# What goes wrong with the module, be it the cell or the layer.
MODULE_MISTAKES = {
    "state_swapped": "lstm#state-order",
    "state_read_as_c_h": "lstm#state-order",
    "state_returned_as_c_h": "lstm#state-order",
    "one_bias": "lstm#two-biases",
    "weights_transposed": "lstm#one-product",
    "state_detached": "lstm#gradient-path",
    "state_detached~h": "",
    "default_state_missing": "lstm#from-cell-to-layer",
    "default_state_ones": "lstm#from-cell-to-layer",
    "default_state_random": "lstm#from-cell-to-layer",
    "default_state_random~uniform": "",
    "state_kept_between_calls": "lstm#from-cell-to-layer",
    "state_kept_between_calls~detached": "",
}
CELL_MISTAKES = {
    "old_c_returned": "lstm#cell-state",
    "only_h_returned": "lstm#two-states",
    "state_returned_nested": "lstm#two-states",
    "c_detached": "lstm#gradient-path",
}
MODULE_EXCLUSIVE = (
    *EXCLUSIVE,
    frozenset(
        {"state_swapped", "state_read_as_c_h", "state_returned_as_c_h", "only_h_returned", "only_output_returned"}
    ),
    frozenset({"state_detached", "c_detached", "state_detached_each_step"}),
    frozenset({"default_state_missing", "default_state_ones", "default_state_random"}),
)


def parameters_reference(module, mistakes, inputs, hidden, ending=""):
    """Gives a module its parameters: as torch does, or with one bias, or transposed."""
    for name, parameter in weights(torch.rand, inputs, hidden).items():
        if name == "bias_hh" and "one_bias" in mistakes:
            continue
        transposed = parameter.dim() == 2 and "weights_transposed" in mistakes
        module.register_parameter(name + ending, nn.Parameter(parameter.T if transposed else parameter))


def stored_reference(module, mistakes, ending=""):
    """The parameters as `gates_reference` takes them."""
    found = [getattr(module, name + ending, None) for name in WEIGHTS]
    return [one.T if one is not None and one.dim() == 2 and "weights_transposed" in mistakes else one for one in found]


def default_reference(mistakes, like, *shape):
    if "default_state_missing" in mistakes:
        raise TypeError("cannot unpack non-iterable NoneType object")
    make = torch.zeros
    if "default_state_ones" in mistakes:
        make = torch.ones
    if "default_state_random" in mistakes:
        make = torch.randn
    if "default_state_random~uniform" in mistakes:
        make = torch.rand
    return make(*shape, dtype=like.dtype), make(*shape, dtype=like.dtype)


def cell_reference(mistakes):
    class LSTMCell(nn.Module):
        def __init__(self, input_size, hidden_size):
            super().__init__()
            self.hidden_size = hidden_size
            self.kept = None
            parameters_reference(self, mistakes, input_size, hidden_size)

        def forward(self, x, state=None):
            if state is None:
                state = self.kept or default_reference(mistakes, x, len(x), self.hidden_size)
            h, c = state
            if mistakes & {"state_swapped", "state_read_as_c_h"}:
                h, c = c, h
            if mistakes & {"state_detached", "state_detached~h"}:
                h = h.detach()
            if mistakes & {"state_detached", "c_detached"}:
                c = c.detach()
            new_h, new_c = step_reference(mistakes)(x, h, c, *stored_reference(self, mistakes))
            if "state_kept_between_calls" in mistakes:
                self.kept = new_h, new_c
            if "state_kept_between_calls~detached" in mistakes:
                self.kept = new_h.detach(), new_c.detach()
            if "only_h_returned" in mistakes:
                return new_h
            if "old_c_returned" in mistakes:
                new_c = c
            if "state_returned_nested" in mistakes:
                return new_h, (new_h, new_c)
            return (new_c, new_h) if mistakes & {"state_swapped", "state_returned_as_c_h"} else (new_h, new_c)

    return LSTMCell


def cell_probes(draw):
    def probe(name, draw, batch, inputs, hidden, state=True, calls=1):
        tensors = {"x": draw(batch, inputs)}
        tensors |= {"h": draw(batch, hidden), "c": draw(batch, hidden)} if state else {}
        gradients = tuple(tensors)
        options = {"input_size": inputs, "hidden_size": hidden}
        tensors |= weights(draw, inputs, hidden)
        return Probe(name, tensors, options, WEIGHTS, gradients, calls)

    return [
        probe("one_number", draw.few, 1, 1, 1),
        probe("batch_1", draw.few, 1, 3, 2),
        probe("no_state", draw, 2, 4, 5, state=False, calls=2),
        probe("several", draw, 3, 4, 5),
    ]


CELL = Question(
    name="lstm_cell",
    answer="LSTMCell",
    assignment="lstm",
    points=3,
    place="lstm#the-step",
    call=Module(("input_size", "hidden_size"), ("x", ("h", "c")), ("h_new", "c_new")),
    truth=nn.LSTMCell,
    reference=cell_reference,
    mistakes=MODULE_MISTAKES | CELL_MISTAKES | STATE_MISTAKES | GATE_MISTAKES,
    probes=cell_probes,
    exclusive=(
        *MODULE_EXCLUSIVE,
        frozenset({"old_c_returned", "only_h_returned"}),
        *(
            frozenset({"state_returned_nested", name})
            for name in ("only_h_returned", "state_swapped", "state_returned_as_c_h")
        ),
    ),
    axes=dict.fromkeys(("h", "c", "h_new", "c_new"), ("batch", "unit")) | {"x": ("batch", "feature")},
)

# The layer


LAYER_MISTAKES = {
    "state_not_carried": "lstm#from-cell-to-layer",
    "c_not_carried": "lstm#from-cell-to-layer",
    "h_not_carried": "lstm#from-cell-to-layer",
    "given_state_ignored": "lstm#from-cell-to-layer",
    "given_state_ignored~h": "",
    "given_state_ignored~c": "",
    "first_input_only": "lstm#from-cell-to-layer",
    "last_step_missing": "lstm#from-cell-to-layer",
    "last_step_missing~zeros": "",
    "first_step_missing": "lstm#from-cell-to-layer",
    "first_step_missing~zeros": "",
    "time_reversed": "lstm#from-cell-to-layer",
    "time_reversed~in_place": "",
    "output_is_c": "lstm#which-is-which",
    "output_one_early": "lstm#from-cell-to-layer",
    "output_only_last": "lstm#from-cell-to-layer",
    "output_concatenated": "lstm#from-cell-to-layer",
    "output_always_batch_first": "lstm_parameters#batch-first",
    "input_always_batch_first": "lstm_parameters#batch-first",
    "batch_first_missing": "lstm_parameters#batch-first",
    "batch_first_by_default": "lstm_parameters#batch-first",
    "batch_first_ignored": "lstm_parameters#batch-first",
    "batch_first_the_other_way": "lstm_parameters#batch-first",
    "output_not_batch_first": "lstm_parameters#batch-first",
    "view_for_batch_first": "lstm_parameters#batch-first",
    "h_n_batch_first": "lstm_parameters#batch-first",
    "h_n_always_batch_first": "lstm_parameters#batch-first",
    "h_0_batch_first": "lstm_parameters#batch-first",
    "h_0_batch_first~always": "",
    "h_n_from_output_last": "lstm_parameters#batch-first",
    "h_n_without_layer": "lstm#which-is-which",
    "layer_in_output": "lstm#which-is-which",
    "layer_in_output~twice": "",
    "h_n_all_steps": "lstm#which-is-which",
    "c_n_is_h_n": "lstm#which-is-which",
    "state_returned_flat": "lstm#state-order",
    "only_output_returned": "lstm#two-states",
    "state_detached_each_step": "lstm#gradient-path",
    "state_detached_each_step~before": "",
    "c_detached_each_step": "lstm#gradient-path",
    "c_detached_each_step~before": "",
    "output_detached": "lstm#gradient-path",
}


def layer_reference(mistakes):
    step = step_reference(mistakes)

    class LSTM(nn.Module):
        def __init__(self, input_size, hidden_size, batch_first=False):
            super().__init__()
            if batch_first and "batch_first_missing" in mistakes:
                raise TypeError("LSTM.__init__() got an unexpected keyword argument 'batch_first'")
            self.hidden_size = hidden_size
            self.batch_first = batch_first
            if "batch_first_by_default" in mistakes:
                self.batch_first = True
            if "batch_first_ignored" in mistakes:
                self.batch_first = False
            if "batch_first_the_other_way" in mistakes:
                self.batch_first = not batch_first
            self.kept = None
            parameters_reference(self, mistakes, input_size, hidden_size, "_l0")

        def forward(self, x, state=None):
            if "view_for_batch_first" in mistakes and self.batch_first:
                x = x.reshape(x.shape[1], x.shape[0], x.shape[2])
            elif self.batch_first or "input_always_batch_first" in mistakes:
                x = x.transpose(0, 1)
            h, c = self.initial(x, state)
            output, h, c = self.loop(x, h, c)
            if not mistakes & {"h_n_all_steps", "layer_in_output"}:
                h, c = h.unsqueeze(0), c.unsqueeze(0)
            return self.returned(output, h, c)

        def initial(self, x, state):
            if state is None and self.kept:
                return self.kept
            if state is None or "given_state_ignored" in mistakes:
                layer = (1,) if mistakes & {"layer_in_output", "layer_in_output~twice"} else ()
                return default_reference(mistakes, x, *layer, x.shape[1], self.hidden_size)
            h, c = state
            first = self.batch_first and "h_0_batch_first" in mistakes or "h_0_batch_first~always" in mistakes
            if not mistakes & {"layer_in_output", "layer_in_output~twice"}:
                h, c = (h[:, 0], c[:, 0]) if first else (h[0], c[0])
            if mistakes & {"state_swapped", "state_read_as_c_h"}:
                h, c = c, h
            if mistakes & {"state_detached", "state_detached~h"}:
                h = h.detach()
            if "state_detached" in mistakes:
                c = c.detach()
            return h * ("given_state_ignored~h" not in mistakes), c * ("given_state_ignored~c" not in mistakes)

        def loop(self, x, h, c):
            weights = stored_reference(self, mistakes, "_l0")
            h_0, c_0 = last = h, c
            output, all_h, all_c = [], [], []
            if mistakes & {"time_reversed", "time_reversed~in_place"}:
                x = x.flip(0)
            first = bool(mistakes & {"first_step_missing", "first_step_missing~zeros"})
            if "first_step_missing~zeros" in mistakes:
                output, all_h, all_c = [0 * h], [h], [c]
            for t in range(first, len(x) - bool(mistakes & {"last_step_missing", "last_step_missing~zeros"})):
                before = h
                if "state_detached_each_step~before" in mistakes:
                    h = h.detach()
                if mistakes & {"state_detached_each_step~before", "c_detached_each_step~before"}:
                    c = c.detach()
                h, c = step(x[0 if "first_input_only" in mistakes else t], h, c, *weights)
                output.append(before if "output_one_early" in mistakes else c if "output_is_c" in mistakes else h)
                all_h.append(h)
                all_c.append(c)
                if "state_detached_each_step" in mistakes:
                    h = h.detach()
                if mistakes & {"state_detached_each_step", "c_detached_each_step"}:
                    c = c.detach()
                last = h, c
                if mistakes & {"state_not_carried", "h_not_carried"}:
                    h = h_0
                if mistakes & {"state_not_carried", "c_not_carried"}:
                    c = c_0
            if "last_step_missing~zeros" in mistakes:
                output = [*output, 0 * h]
            if "time_reversed~in_place" in mistakes:
                output = output[::-1]
            h, c = (torch.stack(all_h), torch.stack(all_c)) if "h_n_all_steps" in mistakes else last
            return output, h, c

        def returned(self, output, h, c):
            if "state_kept_between_calls" in mistakes:
                self.kept = h[-1], c[-1]
            if "state_kept_between_calls~detached" in mistakes:
                self.kept = h[-1].detach(), c[-1].detach()
            if "output_only_last" in mistakes:
                output = output[-1]
            elif "output_concatenated" in mistakes:
                output = torch.cat(output)
            else:
                batch_first = self.batch_first and "output_not_batch_first" not in mistakes
                output = torch.stack(output, dim=1 if batch_first or "output_always_batch_first" in mistakes else 0)
            if "h_n_from_output_last" in mistakes:
                h = output[-1:]
            if "c_n_is_h_n" in mistakes:
                c = h
            if "h_n_always_batch_first" in mistakes or self.batch_first and "h_n_batch_first" in mistakes:
                h, c = h.transpose(0, 1), c.transpose(0, 1)
            if "h_n_without_layer" in mistakes:
                h, c = h[0], c[0]
            if "output_detached" in mistakes:
                output = output.detach()
            if mistakes & {"state_swapped", "state_returned_as_c_h"}:
                h, c = c, h
            if "only_output_returned" in mistakes:
                return output
            return (output, h, c) if "state_returned_flat" in mistakes else (output, (h, c))

    return LSTM


def layer_probes(draw):
    def probe(name, draw, steps, batch, inputs, hidden, state=True, batch_first=None, calls=1):
        tensors = {"input": draw(*((batch, steps) if batch_first else (steps, batch)), inputs)}
        tensors |= {"h_0": draw(1, batch, hidden), "c_0": draw(1, batch, hidden)} if state else {}
        gradients = tuple(tensors)
        options = {"input_size": inputs, "hidden_size": hidden}
        options |= {} if batch_first is None else {"batch_first": batch_first}
        tensors |= weights(draw, inputs, hidden, "_l0")
        return Probe(name, tensors, options, tuple(name + "_l0" for name in WEIGHTS), gradients, calls)

    return [
        probe("one_number", draw.few, 1, 1, 1, 1),
        probe("two_steps", draw.few, 2, 1, 1, 1),
        probe("batch_1", draw.few, 2, 1, 3, 2),
        probe("batch_first", draw.few, 2, 3, 1, 2, batch_first=True),
        probe("no_state", draw, 3, 2, 3, 4, state=False, calls=2),
        probe("batch_first", draw, 3, 2, 3, 4, state=False, batch_first=True),
        probe("several", draw, 4, 3, 2, 5),
    ]


STATES = ("layer", "batch", "unit")
LAYER = Question(
    name="lstm",
    answer="LSTM",
    assignment="lstm",
    points=3,
    place="lstm#from-cell-to-layer",
    call=Module(
        ("input_size", "hidden_size"),
        ("input", ("h_0", "c_0")),
        ("output", ("h_n", "c_n")),
        keywords=("batch_first",),
    ),
    truth=nn.LSTM,
    reference=layer_reference,
    mistakes=LAYER_MISTAKES | MODULE_MISTAKES | STATE_MISTAKES | GATE_MISTAKES,
    probes=layer_probes,
    exclusive=(
        *MODULE_EXCLUSIVE,
        frozenset({"state_not_carried", "c_not_carried", "h_not_carried"}),
        frozenset({"state_detached_each_step", "c_detached_each_step"}),
        frozenset({"first_step_missing", "last_step_missing"}),
        frozenset({"output_is_c", "output_one_early"}),
        frozenset({"output_only_last", "output_concatenated", "output_always_batch_first", "output_not_batch_first"}),
        frozenset(
            {"batch_first_missing", "batch_first_ignored", "batch_first_the_other_way", "batch_first_by_default"}
        ),
        frozenset({"batch_first_by_default", "input_always_batch_first"}),
        frozenset({"batch_first_by_default", "output_always_batch_first"}),
        frozenset({"input_always_batch_first", "batch_first_the_other_way"}),
        frozenset({"batch_first_ignored", "output_not_batch_first", "view_for_batch_first"}),
        frozenset({"batch_first_ignored", "h_n_batch_first"}),
        frozenset(
            {"h_n_batch_first", "h_n_always_batch_first", "h_n_without_layer", "h_n_all_steps", "layer_in_output"}
        ),
        frozenset({"h_0_batch_first", "layer_in_output"}),
        frozenset({"h_0_batch_first", "batch_first_ignored"}),
        frozenset({"given_state_ignored", "state_detached", "state_read_as_c_h", "state_swapped"}),
        frozenset({"only_output_returned", "state_returned_flat"}),
    ),
    axes={
        "output": ("step", "batch", "unit"),
        "input": ("step", "batch", "feature"),
        **dict.fromkeys(("h_n", "c_n", "h_0", "c_0"), STATES),
    },
)


# Weights from elsewhere: one bias, and the gates in the order f, i, g, o


NAMES = tuple(name + "_l0" for name in WEIGHTS)


def one_bias_call(answer, probe, outcome):
    """A function from {"W", "U", "b"} to torch's four. Of the biases only the sum counts."""
    handed = {name: copy(tensor) for name, tensor in probe.tensors.items()}
    returned = answer(dict(handed))
    note_changes(probe.tensors, handed, outcome)
    if returned is None:
        raise Unfit("returns_none", name="dict")
    if not hasattr(returned, "keys"):
        raise Unfit("wrong_form", name="dict", got=form(returned))
    returned = dict(returned)
    for name, tensor in returned.items():
        if not isinstance(tensor, torch.Tensor):
            raise Unfit("not_a_tensor", name=name, got=kind(tensor))
    # under a name without its layer it is the same tensor
    there = {f"{str(name).removesuffix('_l0')}_l0": tensor for name, tensor in returned.items()}
    found = {name: there[name] for name in NAMES[:2] if name in there}
    biases = {name: there[name] for name in NAMES[2:] if name in there}
    if len({bias.shape for bias in biases.values()}) == 1:
        found["bias_ih_l0 + bias_hh_l0"] = sum(biases.values())
    else:  # the one that does not fit is shown
        found |= {name: bias for name, bias in biases.items() if bias.shape != probe.tensors["b"].shape}
    if set(returned) != set(NAMES):
        raise Unfit("wrong_form", found, name=", ".join(NAMES), got=", ".join(sorted(map(str, returned))))
    outcome.values |= values(found)


def one_bias_truth(weights):
    def turn(rows):
        f, i, g, o = rows.chunk(4)
        return torch.cat([i, f, g, o])

    bias = turn(weights["b"])
    return dict(zip(NAMES, [turn(weights["W"]), turn(weights["U"]), bias, torch.zeros_like(bias)]))


ONE_BIAS_MISTAKES = {
    "gates_f_i_g_o": "lstm#wrong-order",
    "weight_ih_order_kept": "lstm#wrong-order",
    "weight_hh_order_kept": "lstm#wrong-order",
    "bias_order_kept": "lstm#wrong-order",
    "bias_loaded_twice": "lstm#exercise-one-bias",
    "bias_lost": "lstm#exercise-one-bias",
    "one_bias": "lstm#two-biases",
    "layer_missing_in_names": "lstm#from-cell-to-layer",
    "weights_transposed": "lstm#one-product",
    "gates_interleaved": "lstm#one-product",
    "matrices_swapped": "lstm#other-notation",
} | dict.fromkeys(ORDERS, "lstm#wrong-order")


def one_bias_reference(mistakes):
    order = next((ORDERS[name] for name in mistakes if name in ORDERS), "ifgo")

    def turn(rows, name):
        if f"{name}_order_kept" in mistakes:
            return rows
        if "gates_interleaved" in mistakes:
            blocks = rows.reshape(-1, 4, *rows.shape[1:]).unbind(1)
        else:
            blocks = rows.chunk(4)
        gates = dict(zip("figo", blocks))
        return torch.cat([gates[gate] for gate in order])

    def one_bias(weights):
        swapped = "matrices_swapped" in mistakes
        keys = {"weight_ih": "U" if swapped else "W", "weight_hh": "W" if swapped else "U", "bias": "b"}
        found = {name: turn(weights[key], name) for name, key in keys.items()}
        bias = found.pop("bias")
        if "weights_transposed" in mistakes:
            found = {name: weight.T for name, weight in found.items()}
        found["bias_ih"] = bias * ("bias_lost" not in mistakes)
        if "one_bias" not in mistakes:
            found["bias_hh"] = bias * ("bias_loaded_twice" in mistakes)
        ending = "" if "layer_missing_in_names" in mistakes else "_l0"
        return {name + ending: tensor for name, tensor in found.items()}

    return one_bias


def one_bias_probes(draw):
    def probe(name, draw, inputs, hidden):
        return Probe(name, {"W": draw(4 * hidden, inputs), "U": draw(4 * hidden, hidden), "b": draw(4 * hidden)})

    return [probe("one_number", draw.few, 1, 1), probe("several", draw.few, 1, 2), probe("several", draw, 3, 5)]


ONE_BIAS = Question(
    name="one_bias",
    assignment="lstm",
    points=2,
    place="lstm#exercise-one-bias",
    call=one_bias_call,
    truth=one_bias_truth,
    reference=one_bias_reference,
    mistakes=ONE_BIAS_MISTAKES,
    probes=one_bias_probes,
    exclusive=(
        frozenset([*ORDERS, "gates_interleaved"]),
        *(frozenset({*ORDERS, f"{name}_order_kept"}) for name in ("weight_ih", "weight_hh", "bias")),
        frozenset({"bias_loaded_twice", "bias_lost", "one_bias"}),
        frozenset({"bias_lost", "bias_order_kept"}),
    ),
    axes=dict.fromkeys(NAMES[:2], ("row", "feature")) | {"bias_ih_l0 + bias_hh_l0": ("row",)},
)


# The way back, by hand


GRADIENTS = tuple(f"grad_{name}" for name in ("x", "h", "c", *WEIGHTS))
BACKWARD_MISTAKES = {
    "sigmoid_slope_missing": "",
    "tanh_slope_missing_on_g": "",
    "tanh_slope_missing_on_c": "",
    "tanh_slope_at_c": "",
    "grad_c_ignored": "lstm#gradient-path",
    "grad_h_not_through_c": "lstm#gradient-path",
    "forget_gate_missing_on_way_back": "lstm#gradient-path",
    "new_c_for_old_c": "",
    "new_h_for_old_h": "",
    "tanh_missing_in_grad_o": "lstm#output-gate",
    "i_and_g_exchanged": "lstm#cell-state",
    "bias_gradient_halved": "lstm#two-biases",
    "sigmoid_slope_on_g": "",
    "tanh_slope_on_gates": "",
    "bias_gradient_not_summed": "",
    "bias_gradient_averaged": "",
    "gradient_averaged": "",
    "weight_gradient_transposed": "",
    "gradients_in_other_order": "",
} | dict.fromkeys(ORDERS, "lstm#wrong-order")


def backward_truth(x, h, c, weight_ih, weight_hh, bias_ih, bias_hh, grad_h, grad_c):
    with torch.enable_grad():
        given = [one.detach().requires_grad_() for one in (x, h, c, weight_ih, weight_hh, bias_ih, bias_hh)]
        x, h, c, *weights = given
        states = torch.lstm_cell(x, (h, c), *weights)
        return torch.autograd.grad(states, given, (grad_h, grad_c))


def backward_reference(mistakes):
    def lstm_backward(x, h, c, weight_ih, weight_hh, bias_ih, bias_hh, grad_h, grad_c):
        a_i, a_f, a_g, a_o = (x @ weight_ih.T + bias_ih + h @ weight_hh.T + bias_hh).chunk(4, dim=-1)
        i, f, g, o = a_i.sigmoid(), a_f.sigmoid(), a_g.tanh(), a_o.sigmoid()
        new_c = f * c + i * g
        said = new_c.tanh()

        slope = 1 - (new_c if "tanh_slope_at_c" in mistakes else said) ** 2
        if "tanh_slope_missing_on_c" in mistakes:
            slope = torch.ones_like(slope)
        d_c = grad_c * ("grad_c_ignored" not in mistakes)
        d_c = d_c + grad_h * o * slope * ("grad_h_not_through_c" not in mistakes)
        d = {
            "i": d_c * (i if "i_and_g_exchanged" in mistakes else g),
            "f": d_c * (new_c if "new_c_for_old_c" in mistakes else c),
            "g": d_c * (g if "i_and_g_exchanged" in mistakes else i),
            "o": grad_h * (new_c if "tanh_missing_in_grad_o" in mistakes else said),
        }
        if "tanh_slope_on_gates" in mistakes:
            d |= {name: d[name] * (1 - gate**2) for name, gate in (("i", i), ("f", f), ("o", o))}
        elif "sigmoid_slope_missing" not in mistakes:
            d |= {name: d[name] * gate * (1 - gate) for name, gate in (("i", i), ("f", f), ("o", o))}
        if "tanh_slope_missing_on_g" not in mistakes:
            d["g"] = d["g"] * (g * (1 - g) if "sigmoid_slope_on_g" in mistakes else 1 - g**2)
        order = next((ORDERS[name] for name in mistakes if name in ORDERS), "ifgo")
        d_a = torch.cat([d[gate] for gate in order], dim=-1)

        share = 1 / len(x) if "gradient_averaged" in mistakes else 1
        bias = d_a if "bias_gradient_not_summed" in mistakes else share * d_a.sum(0)
        if "bias_gradient_averaged" in mistakes:
            bias = d_a.mean(0)
        if "bias_gradient_halved" in mistakes:
            bias = bias / 2
        old_h = o * said if "new_h_for_old_h" in mistakes else h
        by_weight = [share * d_a.T @ x, share * d_a.T @ old_h]
        if "weight_gradient_transposed" in mistakes:
            by_weight = [one.T for one in by_weight]
        by_c = d_c if "forget_gate_missing_on_way_back" in mistakes else d_c * f
        by_states = d_a @ weight_hh, by_c
        if "gradients_in_other_order" in mistakes:
            by_states = by_states[::-1]
        return d_a @ weight_ih, *by_states, *by_weight, bias, bias

    return lstm_backward


def backward_probes(draw):
    def probe(name, draw, batch, inputs, hidden):
        states = {name: draw(batch, hidden) for name in ("h", "c")}
        tensors = {"x": draw(batch, inputs)} | states | weights(draw, inputs, hidden)
        return Probe(name, tensors | {name: draw(batch, hidden) for name in ("grad_h", "grad_c")}, gradients=None)

    return [
        probe("one_number", draw.few, 1, 1, 1),
        probe("batch_1", draw.few, 1, 3, 2),
        probe("several", draw, 3, 4, 5),
    ]


BACKWARD = Question(
    name="lstm_backward",
    assignment="lstm",
    points=3,
    place="lstm#gradient-path",
    call=Function(("x", "h", "c", *WEIGHTS, "grad_h", "grad_c"), GRADIENTS),
    truth=backward_truth,
    reference=backward_reference,
    mistakes=BACKWARD_MISTAKES,
    probes=backward_probes,
    exclusive=(
        frozenset(ORDERS),
        frozenset({"tanh_slope_missing_on_c", "tanh_slope_at_c", "grad_h_not_through_c"}),
        frozenset({"gradient_averaged", "bias_gradient_not_summed", "bias_gradient_averaged"}),
        frozenset({"tanh_slope_on_gates", "sigmoid_slope_missing"}),
        frozenset({"sigmoid_slope_on_g", "tanh_slope_missing_on_g"}),
    ),
    axes={
        **dict.fromkeys(("grad_h", "grad_c"), ("batch", "unit")),
        **dict.fromkeys(("grad_weight_ih", "grad_weight_hh"), ("row", "feature")),
        **dict.fromkeys(("grad_bias_ih", "grad_bias_hh"), ("row",)),
        "grad_x": ("batch", "feature"),
    },
    forbidden=RECURRENT | AUTOGRAD,
    stretch=True,
)

QUESTIONS = [GATES, CELL, LAYER, ONE_BIAS, BACKWARD]
