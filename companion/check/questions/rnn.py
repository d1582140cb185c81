"""The questions of the assignment `rnn`: the step, the cell, the loop, reading in windows, and the way back."""

import torch
from torch import nn
from torch.nn import functional as F

from companion.check.question import Question
from companion.check.running import (
    AUTOGRAD,
    RECURRENT,
    Function,
    Module,
    Probe,
    Unfit,
    form,
    gradients,
    kind,
    note_changes,
    ready,
    seed,
    values,
)

WEIGHTS = ("weight_ih", "weight_hh", "bias_ih", "bias_hh")


def weights(draw, inputs, hidden):
    shapes = {"weight_ih": (inputs,), "weight_hh": (hidden,), "bias_ih": (), "bias_hh": ()}
    return {name: draw(hidden, *shape) for name, shape in shapes.items()}


# The step

STEP_MISTAKES = {
    "tanh_missing": "rnn#equation",
    "recurrent_weights_transposed": "rnn#batch-of-rows",
    "view_for_transpose": "rnn#batch-of-rows",
    "view_for_transpose~ih": "",
    "bias_ih_missing": "rnn#equation",
    "bias_hh_missing": "rnn#equation",
    "bias_ih_twice": "rnn#equation",
    "bias_hh_twice": "rnn#equation",
    "hidden_ignored": "rnn#state-instead",
    "input_ignored": "rnn#state-instead",
    "sigmoid_for_tanh": "rnn#equation",
    "relu_for_tanh": "rnn#equation",
    "concatenated_in_other_order": "rnn#concatenation",
    "concatenated_in_other_order~weights": "",
    "tanh_on_each_part": "rnn#equation",
    "tanh_on_input_only": "rnn#equation",
    "tanh_on_hidden_only": "rnn#equation",
    "biases_after_tanh": "rnn#equation",
    "biases_after_tanh~ih": "",
    "biases_after_tanh~hh": "",
    "tanh_twice": "rnn#equation",
    "tanh_by_sigmoid": "rnn#equation",
    "hard_tanh": "rnn#equation",
    "softmax_for_tanh": "rnn#equation",
    "parts_multiplied": "rnn#equation",
    "recurrent_weights_missing": "rnn#equation",
    "old_h_added": "rnn#equation",
    "state_detached": "through_time#long-chains",
    "weights_detached": "through_time#long-chains",
    "input_detached": "through_time#long-chains",
}
ACTIVATIONS = {
    "tanh_missing": lambda a: a,
    "sigmoid_for_tanh": torch.sigmoid,
    "relu_for_tanh": torch.relu,
    "tanh_twice": lambda a: a.tanh().tanh(),
    "tanh_by_sigmoid": lambda a: 2 * a.sigmoid() - 1,
    "hard_tanh": lambda a: a.clamp(-1, 1),
    "softmax_for_tanh": lambda a: a.softmax(dim=-1),
}
STEP_EXCLUSIVE = (
    frozenset(ACTIVATIONS),
    frozenset({"tanh_missing", "biases_after_tanh"}),
    frozenset(
        {"tanh_on_each_part", "tanh_on_input_only", "tanh_on_hidden_only", "biases_after_tanh", "parts_multiplied"}
    ),
    frozenset({"tanh_missing", "tanh_on_each_part", "tanh_on_input_only", "tanh_on_hidden_only"}),
    frozenset({"bias_ih_missing", "bias_ih_twice", "no_bias"}),
    frozenset({"bias_hh_missing", "bias_hh_twice", "no_bias", "one_bias"}),
    frozenset(
        {
            "recurrent_weights_transposed",
            "view_for_transpose",
            "hidden_ignored",
            "recurrent_weights_missing",
            "concatenated_in_other_order",
            "weights_transposed",
        }
    ),
    frozenset({"view_for_transpose", "input_ignored", "concatenated_in_other_order"}),
    frozenset({"input_ignored", "input_detached"}),
)


def step_reference(mistakes):
    """The new h."""
    activated = next((ACTIVATIONS[name] for name in ACTIVATIONS if name in mistakes), torch.tanh)

    def rnn_step(x, h, weight_ih, weight_hh, bias_ih, bias_hh):
        given = weight_ih, weight_hh, bias_ih, bias_hh
        if "weights_detached" in mistakes:
            weight_ih, weight_hh, bias_ih, bias_hh = (one if one is None else one.detach() for one in given)
        if "state_detached" in mistakes:
            h = h.detach()
        if "input_detached" in mistakes:
            x = x.detach()

        viewed = mistakes & {"view_for_transpose", "view_for_transpose~ih"}
        from_x = x @ (weight_ih.reshape(weight_ih.T.shape) if viewed else weight_ih.T)
        from_h = h @ (weight_hh if mistakes & {"recurrent_weights_transposed", "view_for_transpose"} else weight_hh.T)
        if "recurrent_weights_missing" in mistakes:
            from_h = h
        if "concatenated_in_other_order" in mistakes:
            from_x, from_h = torch.cat([h, x], dim=-1) @ torch.cat([weight_ih, weight_hh], dim=-1).T, 0 * from_h
        if "concatenated_in_other_order~weights" in mistakes:
            from_x, from_h = torch.cat([x, h], dim=-1) @ torch.cat([weight_hh, weight_ih], dim=-1).T, 0 * from_h
        from_x, from_h = from_x * ("input_ignored" not in mistakes), from_h * ("hidden_ignored" not in mistakes)
        b_ih, b_hh = (
            0 if bias is None or f"{name}_missing" in mistakes else 2 * bias if f"{name}_twice" in mistakes else bias
            for name, bias in (("bias_ih", bias_ih), ("bias_hh", bias_hh))
        )

        if "biases_after_tanh" in mistakes:
            new = activated(from_x + from_h) + b_ih + b_hh
        elif "tanh_on_each_part" in mistakes:
            new = activated(from_x + b_ih) + activated(from_h + b_hh)
        elif "tanh_on_input_only" in mistakes:
            new = activated(from_x + b_ih) + from_h + b_hh
        elif "tanh_on_hidden_only" in mistakes:
            new = from_x + b_ih + activated(from_h + b_hh)
        elif "parts_multiplied" in mistakes:
            new = activated((from_x + b_ih) * (from_h + b_hh))
        elif "biases_after_tanh~ih" in mistakes:
            new = activated(from_x + from_h + b_hh) + b_ih
        elif "biases_after_tanh~hh" in mistakes:
            new = activated(from_x + b_ih + from_h) + b_hh
        else:
            new = activated(from_x + b_ih + from_h + b_hh)
        if "old_h_added" in mistakes:
            new = new + h
        return (new,) if "state_in_tuple" in mistakes else new

    return rnn_step


def step_probes(draw):
    def probe(name, draw, batch, inputs, hidden, zero=False, calls=1):
        h = torch.zeros(batch, hidden, dtype=torch.float64) if zero else draw(batch, hidden)
        tensors = {"x": draw(batch, inputs), "h": h} | weights(draw, inputs, hidden)
        return Probe(name, tensors, gradients=tuple(tensors), calls=calls)

    return [
        probe("one_number", draw.few, 1, 1, 1),
        probe("batch_1", draw.few, 1, 3, 2),
        probe("zero_state", draw.few, 2, 1, 2, zero=True),
        probe("several", draw, 3, 4, 5),
        probe("several", draw, 2, 6, 3, calls=2),
    ]


def step_truth(x, h, *weights):
    return torch.rnn_tanh_cell(x, h, *weights)


STEP = Question(
    name="rnn_step",
    assignment="rnn",
    points=2,
    place="rnn#equation",
    call=Function(("x", "h", *WEIGHTS), "h_new"),
    truth=step_truth,
    reference=step_reference,
    mistakes=STEP_MISTAKES | {"state_in_tuple": "rnn#mistake"},
    probes=step_probes,
    exclusive=STEP_EXCLUSIVE,
    axes={"h_new": ("batch", "unit"), "h": ("batch", "unit"), "x": ("batch", "feature")},
)


# The cell

CELL_MISTAKES = {
    "state_in_tuple": "rnn#mistake",
    "one_bias": "rnn#equation",
    "no_bias": "rnn#equation",
    "weights_transposed": "rnn#batch-of-rows",
    "weights_transposed~ih": "",
    "default_state_missing": "rnn#the-loop",
    "default_state_ones": "rnn#the-loop",
    "default_state_random": "rnn#the-loop",
    "default_state_random~uniform": "",
    "state_kept_between_calls": "rnn#two-results",
}


def cell_reference(mistakes):
    absent = {"one_bias": ["bias_hh"], "no_bias": ["bias_ih", "bias_hh"]}
    turned = [name for name in WEIGHTS[:2] if "weights_transposed" in mistakes]
    turned += ["weight_ih"] if "weights_transposed~ih" in mistakes else []

    def default(x, size):
        if "default_state_missing" in mistakes:
            raise TypeError("forward() missing 1 required positional argument: 'h'")
        if "default_state_ones" in mistakes:
            return torch.ones(len(x), size, dtype=x.dtype)
        if "default_state_random" in mistakes:
            return torch.randn(len(x), size, dtype=x.dtype)
        if "default_state_random~uniform" in mistakes:
            return torch.rand(len(x), size, dtype=x.dtype)
        return torch.zeros(len(x), size, dtype=x.dtype)

    class RNNCell(nn.Module):
        def __init__(self, input_size, hidden_size):
            super().__init__()
            self.hidden_size = hidden_size
            self.kept = None
            missing = [one for name in mistakes & set(absent) for one in absent[name]]
            for name, parameter in weights(torch.rand, input_size, hidden_size).items():
                if name not in missing:
                    self.register_parameter(name, nn.Parameter(parameter.T if name in turned else parameter))

        def forward(self, x, h=None):
            if h is None:
                h = default(x, self.hidden_size) if self.kept is None else self.kept
            stored = {name: getattr(self, name, None) for name in WEIGHTS}
            new = step_reference(mistakes)(x, h, *(one.T if name in turned else one for name, one in stored.items()))
            if "state_kept_between_calls" in mistakes:
                self.kept = new
            return new

    return RNNCell


def cell_probes(draw):
    def probe(name, draw, batch, inputs, hidden, state=True, calls=1):
        tensors = {"x": draw(batch, inputs)} | ({"h": draw(batch, hidden)} if state else {})
        options = {"input_size": inputs, "hidden_size": hidden}
        return Probe(name, tensors | weights(draw, inputs, hidden), options, WEIGHTS, tuple(tensors), calls)

    return [
        probe("one_number", draw.few, 1, 1, 1),
        probe("batch_1", draw.few, 1, 3, 2),
        probe("no_state", draw, 2, 4, 3, state=False, calls=2),
        probe("several", draw, 3, 4, 5),
    ]


CELL = Question(
    name="rnn_cell",
    answer="RNNCell",
    assignment="rnn",
    points=2,
    place="rnn#equation",
    call=Module(("input_size", "hidden_size"), ("x", "h"), "h_new"),
    truth=nn.RNNCell,
    reference=cell_reference,
    mistakes=CELL_MISTAKES | STEP_MISTAKES,
    probes=cell_probes,
    exclusive=(
        *STEP_EXCLUSIVE,
        frozenset({"default_state_missing", "default_state_ones", "default_state_random", "state_kept_between_calls"}),
        frozenset({"one_bias", "no_bias"}),
        frozenset({"view_for_transpose", "weights_transposed"}),
    ),
    axes=STEP.axes,
)


# The loop

LOOP_MISTAKES = {
    "output_always_batch_first": "rnn#time-first",
    "input_always_batch_first": "rnn#exercise-order",
    "all_batch_first": "rnn#time-first",
    "h_n_without_layer": "rnn#h-n-has-layers",
    "h_n_always_batch_first": "rnn#h-n-has-layers",
    "h_n_from_last_row": "rnn#two-results",
    "h_n_from_last_row~layer": "",
    "h_n_is_output": "rnn#two-results",
    "h_n_is_h_0": "rnn#two-results",
    "h_n_from_first_step": "rnn#two-results",
    "layer_in_output": "rnn#h-n-has-layers",
    "layer_in_output~twice": "",
    "output_concatenated": "rnn#the-loop",
    "output_not_stacked": "rnn#the-loop",
    "output_only_last": "rnn#two-results",
    "only_output_returned": "rnn#two-results",
    "results_swapped": "rnn#two-results",
    "state_not_carried": "rnn#the-loop",
    "given_state_ignored": "rnn#the-loop",
    "first_input_only": "rnn#the-loop",
    "last_step_missing": "rnn#the-loop",
    "last_step_missing~zeros": "",
    "first_step_missing": "rnn#the-loop",
    "first_step_missing~zeros": "",
    "time_reversed": "rnn#unrolled",
    "time_reversed~in_place": "",
    "output_reversed": "rnn#the-loop",
    "output_one_early": "rnn#the-loop",
    "output_with_h_0": "rnn#the-loop",
    "tanh_not_in_state": "rnn#equation",
    "tanh_not_in_state~h_n": "",
    "state_detached_each_step": "through_time#long-chains",
    "state_detached_each_step~after": "",
    "state_detached_each_step~between": "",
    "output_detached": "through_time#long-chains",
    "h_n_detached": "through_time#long-chains",
    "h_0_detached": "through_time#long-chains",
}


def rnn_reference(mistakes):
    squashed_late = bool(mistakes & {"tanh_not_in_state", "tanh_not_in_state~h_n"})
    step = step_reference(mistakes | ({"tanh_missing"} if squashed_late else set()))

    def rnn(input, h_0, *weights):
        h = h_0 if mistakes & {"layer_in_output", "layer_in_output~twice"} else h_0[0]
        if "given_state_ignored" in mistakes:
            h = torch.zeros_like(h)
        if "h_0_detached" in mistakes:
            h = h.detach()
        first, output = h, []
        for x_t in inputs_reference(mistakes, input):
            old = first if "state_not_carried" in mistakes else h
            h = step(x_t, old.detach() if "state_detached_each_step" in mistakes else old, *weights)
            said = old if "output_one_early" in mistakes else h
            said = said.tanh() if squashed_late else said
            output.append(said.detach() if "output_detached" in mistakes else said)
            last = h
            if mistakes & {"state_detached_each_step~after", "state_detached_each_step~between"}:
                h = h.detach()
        h = last if "state_detached_each_step~between" in mistakes else h
        # a step that was left out of a tensor of zeros made beforehand
        if "last_step_missing~zeros" in mistakes:
            output = [*output, torch.zeros_like(h)]
        if "first_step_missing~zeros" in mistakes:
            output = [torch.zeros_like(h), *output]
        if "output_reversed" in mistakes or "time_reversed~in_place" in mistakes:
            output = output[::-1]
        if "output_with_h_0" in mistakes:
            output = [first, *output]
        h_n = h_n_reference(mistakes, h.tanh() if "tanh_not_in_state~h_n" in mistakes else h, first, output)
        output = joined_reference(mistakes, output)
        if "only_output_returned" in mistakes:
            return output
        return (h_n, output) if "results_swapped" in mistakes else (output, h_n)

    return rnn


def inputs_reference(mistakes, input):
    """The inputs of the steps."""
    if mistakes & {"input_always_batch_first", "all_batch_first"}:
        input = input.transpose(0, 1)
    if mistakes & {"time_reversed", "time_reversed~in_place"}:
        input = input.flip(0)
    if "first_input_only" in mistakes:
        input = input[:1].expand_as(input)
    if mistakes & {"first_step_missing", "first_step_missing~zeros"}:
        input = input[1:]
    return input[:-1] if mistakes & {"last_step_missing", "last_step_missing~zeros"} else input


def h_n_reference(mistakes, h, first, output):
    if "h_n_is_h_0" in mistakes:
        h = first
    if "h_n_from_first_step" in mistakes:
        h = output[0]
    if "h_n_detached" in mistakes:
        h = h.detach()
    if "h_n_is_output" in mistakes:
        return torch.stack(output)
    if mistakes & {"h_n_from_last_row", "h_n_from_last_row~layer"}:
        h = torch.stack(output)[:, -1]
        return h if "h_n_from_last_row" in mistakes else h.unsqueeze(0)
    if "h_n_without_layer" in mistakes or "layer_in_output" in mistakes:
        return h
    return h.unsqueeze(1 if "h_n_always_batch_first" in mistakes else 0)


def joined_reference(mistakes, output):
    if "output_not_stacked" in mistakes:
        return output
    if "output_only_last" in mistakes:
        return output[-1]
    if "output_concatenated" in mistakes:
        return torch.cat(output)
    return torch.stack(output, dim=int(bool(mistakes & {"output_always_batch_first", "all_batch_first"})))


def rnn_probes(draw):
    def probe(name, draw, steps, batch, inputs, hidden, calls=1):
        tensors = {"input": draw(steps, batch, inputs), "h_0": draw(1, batch, hidden)} | weights(draw, inputs, hidden)
        return Probe(name, tensors, gradients=tuple(tensors), calls=calls)

    return [
        # the smallest, and yet two steps: with one, most mistakes would be right
        probe("two_steps", draw.few, 2, 1, 1, 1),
        probe("batch_1", draw.few, 2, 1, 3, 2),
        probe("one_step", draw.few, 1, 2, 1, 3),
        # as many steps as rows: what takes the one for the other raises no error
        probe("several", draw, 3, 3, 2, 4),
        probe("several", draw, 4, 3, 2, 5, calls=2),
    ]


def rnn_truth(input, h_0, *weights):
    return torch.rnn_tanh(input, h_0, weights, True, 1, 0.0, False, False, False)


RNN = Question(
    name="rnn",
    assignment="rnn",
    points=3,
    place="rnn#the-loop",
    call=Function(("input", "h_0", *WEIGHTS), ("output", "h_n")),
    truth=rnn_truth,
    reference=rnn_reference,
    mistakes=LOOP_MISTAKES | {name: place for name, place in STEP_MISTAKES.items() if name != "state_detached"},
    probes=rnn_probes,
    exclusive=(
        *STEP_EXCLUSIVE,
        frozenset(
            {
                "output_always_batch_first",
                "all_batch_first",
                "output_concatenated",
                "output_not_stacked",
                "output_only_last",
                "layer_in_output",
            }
        ),
        frozenset({"input_always_batch_first", "all_batch_first"}),
        frozenset(
            {
                "h_n_without_layer",
                "h_n_always_batch_first",
                "h_n_from_last_row",
                "h_n_is_output",
                "h_n_is_h_0",
                "h_n_from_first_step",
                "h_n_detached",
                "layer_in_output",
                "only_output_returned",
            }
        ),
        frozenset(
            {
                "h_n_without_layer",
                "h_n_always_batch_first",
                "h_n_from_last_row",
                "h_n_is_output",
                "layer_in_output",
                "only_output_returned",
            }
        ),
        frozenset({"results_swapped", "only_output_returned", "output_not_stacked"}),
        frozenset({"first_step_missing", "last_step_missing", "first_input_only"}),
        frozenset({"output_one_early", "output_with_h_0"}),
        frozenset({"state_not_carried", "hidden_ignored", "state_detached_each_step"}),
        frozenset({"state_detached_each_step", "h_0_detached", "given_state_ignored"}),
        frozenset({"tanh_not_in_state", *ACTIVATIONS, "biases_after_tanh"}),
        frozenset({"tanh_not_in_state", "tanh_on_each_part", "tanh_on_input_only", "tanh_on_hidden_only"}),
    ),
    axes={
        "output": ("step", "batch", "unit"),
        "input": ("step", "batch", "feature"),
        **dict.fromkeys(("h_0", "h_n"), ("layer", "batch", "unit")),
    },
)


# In windows

WINDOW_MISTAKES = {
    "state_not_cut": "through_time#truncation",
    "state_detached_each_step": "through_time#truncation",
    "states_detached": "through_time#truncation",
    "state_not_carried": "training#windows-said",
    "state_not_carried~zeros": "",
    "last_window_dropped": "training#windows-said",
    "last_window_dropped~but_not_the_first": "",
    "size_as_number_of_windows": "training#windows",
    "states_of_all_steps": "training#windows-said",
    "only_last_state": "training#windows-said",
    "only_last_state~tensor": "",
    "outputs_of_windows": "training#windows-said",
    "state_before_window": "training#windows-said",
    "first_state_in_list": "training#windows-said",
    "windows_end_one_late": "training#windows",
    "windows_begin_one_late": "training#windows",
    "windows_end_one_early": "training#windows",
    "windows_overlap": "training#windows",
    "last_window_padded": "training#windows-said",
    "first_window_missing": "training#windows",
    "windows_reversed": "training#windows",
    "time_in_second_dimension": "rnn#time-first",
    "earlier_windows_without_gradient": "through_time#truncation",
    "input_detached": "through_time#truncation",
}


class Cell(nn.Module):
    """What an answer reads with: (x, h) → h, rows of a batch."""

    def __init__(self, weight_ih, weight_hh, bias_ih, bias_hh):
        super().__init__()
        self.hidden_size, self.input_size = weight_ih.shape
        self.weight_ih, self.weight_hh = nn.Parameter(weight_ih), nn.Parameter(weight_hh)
        self.bias_ih, self.bias_hh = nn.Parameter(bias_ih), nn.Parameter(bias_hh)

    def forward(self, x, h=None):
        if h is None:
            h = x.new_zeros(len(x), self.hidden_size)
        return torch.tanh(F.linear(x, self.weight_ih, self.bias_ih) + F.linear(h, self.weight_hh, self.bias_hh))


def windows_call(answer, probe, outcome):
    """Calls the answer with a cell. Its list of states is taken in any wrapping: a tuple, a generator, stacked.

    Of these, too, each state can be had by its place and in a loop, with the same numbers and gradients.

    The gradient of the first state is not asked for: cutting it off as well is no mistake.
    """
    cell = Cell(*(probe.tensors[name] for name in WEIGHTS))
    tensors = ready(probe, probe.gradients or ())
    seed()
    handed = {name: tensor.clone() for name, tensor in tensors.items()}
    returned = answer(cell, handed["input"], handed["h"], probe.options["size"])
    if returned is None:
        raise Unfit("returns_none", name="[h, …]")
    if isinstance(returned, torch.Tensor) and returned.dim() == 3:
        returned = returned.unbind()
    if isinstance(returned, torch.Tensor | dict | str) or not hasattr(returned, "__iter__"):
        raise Unfit("wrong_form", name="[h, …]", got=form(returned))
    results = {f"states[{number}]": state for number, state in enumerate(returned)}
    note_changes(tensors, handed, outcome)
    for name, state in results.items():
        if not isinstance(state, torch.Tensor):
            raise Unfit("not_a_tensor", name=name, got=kind(state))
    outcome.values |= values(results)
    if probe.gradients is not None:
        wanted = {name: tensors[name] for name in probe.gradients} | dict(cell.named_parameters())
        outcome.values |= gradients(results, wanted)


def windows_reference(mistakes):
    def read_in_windows(cell, input, h, size):
        if "time_in_second_dimension" in mistakes:
            input = input.transpose(0, 1)
        if "input_detached" in mistakes:
            input = input.detach()
        states, first = [], h
        windows = cut_reference(mistakes, input, size)
        for number, window in enumerate(windows):
            if "state_not_carried" in mistakes:
                h = first
            if "state_not_carried~zeros" in mistakes:
                h = torch.zeros_like(h)
            if "state_not_cut" not in mistakes:
                h = h.detach()
            before, passed = h, []
            for x_t in window:
                h = cell(x_t, h.detach() if "state_detached_each_step" in mistakes else h)
                passed.append(h)
            late = "earlier_windows_without_gradient" in mistakes and number < len(windows) - 1
            if late or "states_detached" in mistakes:
                h, passed = h.detach(), [one.detach() for one in passed]
            if "states_of_all_steps" in mistakes:
                states += passed
            elif "outputs_of_windows" in mistakes:
                states.append(torch.stack(passed))
            else:
                states.append(before if "state_before_window" in mistakes else h)
        if "first_state_in_list" in mistakes:
            states = [first, *states]
        if "only_last_state~tensor" in mistakes:
            return states[-1]
        return states[-1:] if "only_last_state" in mistakes else states

    return read_in_windows


def cut_reference(mistakes, input, size):
    """The windows."""
    length = len(input)
    if "last_window_padded" in mistakes:
        input = torch.cat([input, input.new_zeros(-length % size, *input.shape[1:])])
    end = len(input)
    if "last_window_dropped" in mistakes:
        end = length // size * size
    if "last_window_dropped~but_not_the_first" in mistakes:
        end = max(length // size, 1) * size
    begins = range(0, end, size)
    if "size_as_number_of_windows" in mistakes:
        windows = [*input.chunk(size)]
    elif "windows_overlap" in mistakes:
        windows = [input[t : t + size] for t in range(length - size + 1)]
    elif "windows_begin_one_late" in mistakes:  # cut where t is divisible by size, after step t
        windows = [input[max(t - size + 1, 0) : t + 1] for t in begins]
    else:
        more = ("windows_end_one_late" in mistakes) - ("windows_end_one_early" in mistakes)
        windows = [input[t : t + size + more] for t in begins]
    if "first_window_missing" in mistakes:
        windows = windows[1:]
    return windows[::-1] if "windows_reversed" in mistakes else windows


def windows_truth(cell, input, h, size):
    states, weights = [], [getattr(cell, name) for name in WEIGHTS]
    for window in input.split(size):
        h = torch.rnn_tanh(window, h.detach()[None], weights, True, 1, 0.0, False, False, False)[1][0]
        states.append(h)
    return states


def windows_probes(draw):
    def probe(name, draw, steps, batch, inputs, hidden, size):
        tensors = {"input": draw(steps, batch, inputs), "h": draw(batch, hidden)} | weights(draw, inputs, hidden)
        return Probe(name, tensors, {"size": size}, WEIGHTS, ("input",))

    return [
        probe("batch_1", draw.few, 3, 1, 1, 1, 2),
        probe("one_window", draw.few, 2, 2, 1, 1, 3),
        probe("whole_windows", draw, 6, 3, 2, 4, 3),
        # as many steps as rows: what takes the one for the other raises no error
        probe("several", draw, 5, 5, 2, 3, 2),
        probe("several", draw, 7, 3, 2, 4, 2),
    ]


WINDOWS = Question(
    name="windows",
    answer="read_in_windows",
    assignment="rnn",
    points=3,
    place="through_time#truncation",
    call=windows_call,
    truth=windows_truth,
    reference=windows_reference,
    mistakes=WINDOW_MISTAKES,
    probes=windows_probes,
    exclusive=(
        frozenset({"states_of_all_steps", "only_last_state", "outputs_of_windows", "state_before_window"}),
        frozenset({"first_state_in_list", "only_last_state"}),
        frozenset({"state_not_cut", "state_detached_each_step", "states_detached", "state_not_carried"}),
        frozenset({"state_not_cut", "states_detached", "earlier_windows_without_gradient"}),
        frozenset({"input_detached", "states_detached"}),
        frozenset(
            {
                "size_as_number_of_windows",
                "windows_overlap",
                "windows_begin_one_late",
                "windows_end_one_late",
                "windows_end_one_early",
            }
        ),
        frozenset({"last_window_dropped", "last_window_padded", "windows_overlap"}),
        frozenset({"last_window_dropped", "size_as_number_of_windows"}),
    ),
    axes={f"states[{number}]": ("batch", "unit") for number in range(8)} | {"input": ("step", "batch", "feature")},
)


# The way back, by hand

GRADIENTS = tuple(f"grad_{name}" for name in ("input", "h_0", *WEIGHTS))
BACKWARD_MISTAKES = {
    "tanh_slope_missing": "through_time#by-hand",
    "future_ignored": "through_time#through-time",
    "future_ignored~but_grad_h_n": "",
    "input_gradient_reversed": "through_time#by-hand",
    "new_h_for_old_h": "through_time#by-hand",
    "recurrent_weights_transposed_on_way_back": "through_time#by-hand",
    "tanh_slope_at_old_h": "through_time#by-hand",
    "tanh_slope_not_squared": "through_time#by-hand",
    "tanh_slope_at_sum": "through_time#by-hand",
    "sigmoid_slope": "through_time#by-hand",
    "tanh_slope_missing_on_way_back": "through_time#long-chains",
    "tanh_slope_missing_for_future": "through_time#by-hand",
    "recurrent_weights_missing_on_way_back": "through_time#long-chains",
    "one_step_back_only": "through_time#truncation",
    "time_not_reversed": "through_time#by-hand-said",
    "grad_h_n_ignored": "rnn#two-results",
    "grad_output_last_only": "through_time#through-time",
    "gradient_overwritten": "through_time#by-hand",
    "h_0_missing_in_gradient": "through_time#by-hand",
    "h_0_gradient_missing": "through_time#long-chains",
    "h_0_gradient_without_weights": "through_time#long-chains",
    "h_0_gradient_without_layer": "rnn#h-n-has-layers",
    "bias_gradient_halved": "rnn#equation",
    "one_bias_gradient": "rnn#equation",
    "bias_gradient_not_summed": "through_time#by-hand",
    "gradient_averaged": "through_time#by-hand",
    "gradient_averaged_over_time": "through_time#by-hand",
    "weight_gradient_transposed": "through_time#by-hand",
    "weight_gradient_transposed~hh": "",
}


def backward_reference(mistakes):
    def rnn_backward(input, h_0, weight_ih, weight_hh, bias_ih, bias_hh, grad_output, grad_h_n):
        sums, h = [], [h_0[0]]
        for x_t in input:
            sums.append(x_t @ weight_ih.T + bias_ih + h[-1] @ weight_hh.T + bias_hh)
            h.append(sums[-1].tanh())

        from_future = grad_h_n[0] * ("grad_h_n_ignored" not in mistakes)
        steps = list(range(len(input)))
        steps = steps if "time_not_reversed" in mistakes else steps[::-1]
        d_as = [None] * len(steps)
        for t in steps:
            here = grad_output[t] * ("grad_output_last_only" not in mistakes or t == len(steps) - 1)
            last = t == len(steps) - 1
            cut = "future_ignored" in mistakes or "future_ignored~but_grad_h_n" in mistakes and not last
            after = 0 * from_future if cut else from_future
            slope = slope_reference(mistakes, h[t], h[t + 1], sums[t])
            d_as[t] = here * slope + after * (1 if "tanh_slope_missing_for_future" in mistakes else slope)
            back = d_as[t]
            if "tanh_slope_missing_on_way_back" in mistakes:
                back = here + after
            if "one_step_back_only" in mistakes:
                back = here * slope
            if "recurrent_weights_missing_on_way_back" in mistakes:
                from_future = back
            else:
                from_future = back @ (
                    weight_hh.T if "recurrent_weights_transposed_on_way_back" in mistakes else weight_hh
                )

        by_h = from_future
        if "h_0_gradient_missing" in mistakes:
            by_h = torch.zeros_like(by_h)
        if "h_0_gradient_without_weights" in mistakes:
            by_h = d_as[0]
        if "h_0_gradient_without_layer" not in mistakes:
            by_h = by_h[None]
        by_input = torch.stack([d_a @ weight_ih for d_a in d_as])
        if "input_gradient_reversed" in mistakes:
            by_input = by_input.flip(0)
        return by_input, by_h, *weights_back_reference(mistakes, input, h, d_as, steps)

    return rnn_backward


def slope_reference(mistakes, old, new, a):
    if "tanh_slope_missing" in mistakes:
        return torch.ones_like(new)
    if "tanh_slope_at_old_h" in mistakes:
        return 1 - old**2
    if "tanh_slope_not_squared" in mistakes:
        return 1 - new
    if "tanh_slope_at_sum" in mistakes:
        return 1 - a**2
    return new * (1 - new) if "sigmoid_slope" in mistakes else 1 - new**2


def weights_back_reference(mistakes, input, h, d_as, steps):
    """The gradients of weights and biases."""
    old = h[1:] if "new_h_for_old_h" in mistakes else h[:-1]
    if "h_0_missing_in_gradient" in mistakes:
        old = [0 * old[0], *old[1:]]
    steps = steps[-1:] if "gradient_overwritten" in mistakes else steps
    share = 1
    if "gradient_averaged" in mistakes:
        share = share / input.shape[1]
    if "gradient_averaged_over_time" in mistakes:
        share = share / len(input)
    by_ih = share * sum(d_as[t].T @ input[t] for t in steps)
    by_hh = share * sum(d_as[t].T @ old[t] for t in steps)
    bias = share * sum(d_as[t] if "bias_gradient_not_summed" in mistakes else d_as[t].sum(0) for t in steps)
    if "bias_gradient_halved" in mistakes:
        bias = bias / 2
    if "weight_gradient_transposed" in mistakes:
        by_ih = by_ih.T
    if mistakes & {"weight_gradient_transposed", "weight_gradient_transposed~hh"}:
        by_hh = by_hh.T
    return (by_ih, by_hh, bias) if "one_bias_gradient" in mistakes else (by_ih, by_hh, bias, bias)


def backward_truth(input, h_0, weight_ih, weight_hh, bias_ih, bias_hh, grad_output, grad_h_n):
    with torch.enable_grad():
        given = [one.detach().requires_grad_() for one in (input, h_0, weight_ih, weight_hh, bias_ih, bias_hh)]
        return torch.autograd.grad(rnn_truth(*given), given, (grad_output, grad_h_n))


def backward_probes(draw):
    def probe(name, draw, steps, batch, inputs, hidden):
        tensors = {"input": draw(steps, batch, inputs), "h_0": draw(1, batch, hidden)} | weights(draw, inputs, hidden)
        grads = {"grad_output": draw(steps, batch, hidden), "grad_h_n": draw(1, batch, hidden)}
        return Probe(name, tensors | grads, gradients=None)

    return [
        # the smallest, and yet two steps: with one, most mistakes would be right
        probe("two_steps", draw.few, 2, 1, 1, 1),
        probe("batch_1", draw.few, 2, 1, 3, 2),
        probe("one_step", draw.few, 1, 2, 1, 3),
        probe("several", draw, 4, 3, 2, 5),
    ]


BACKWARD = Question(
    name="rnn_backward",
    assignment="rnn",
    points=3,
    place="through_time#by-hand",
    call=Function(("input", "h_0", *WEIGHTS, "grad_output", "grad_h_n"), GRADIENTS),
    truth=backward_truth,
    reference=backward_reference,
    mistakes=BACKWARD_MISTAKES,
    probes=backward_probes,
    exclusive=(
        frozenset(
            {
                "tanh_slope_missing",
                "tanh_slope_at_old_h",
                "tanh_slope_not_squared",
                "tanh_slope_at_sum",
                "sigmoid_slope",
            }
        ),
        frozenset(
            {
                "tanh_slope_missing",
                "future_ignored",
                "tanh_slope_missing_on_way_back",
                "tanh_slope_missing_for_future",
                "one_step_back_only",
            }
        ),
        frozenset({"recurrent_weights_transposed_on_way_back", "recurrent_weights_missing_on_way_back"}),
        frozenset({"future_ignored", "grad_h_n_ignored"}),
        frozenset({"h_0_gradient_missing", "h_0_gradient_without_weights", "recurrent_weights_missing_on_way_back"}),
        frozenset({"new_h_for_old_h", "h_0_missing_in_gradient"}),
        frozenset({"gradient_averaged", "bias_gradient_not_summed"}),
        frozenset({"bias_gradient_halved", "one_bias_gradient"}),
    ),
    axes={
        "grad_input": ("step", "batch", "feature"),
        "grad_h_0": ("layer", "batch", "unit"),
        **dict.fromkeys(("grad_weight_ih", "grad_weight_hh"), ("row", "feature")),
        **dict.fromkeys(("grad_bias_ih", "grad_bias_hh"), ("row",)),
    },
    forbidden=RECURRENT | AUTOGRAD,
    stretch=True,
)

QUESTIONS = [STEP, CELL, RNN, WINDOWS, BACKWARD]
