"""Question `windows`: read a sequence in windows, with the state carried and cut between them."""

import torch
from torch import nn
from torch.nn import functional as F

from companion.check.engine.probe import Probe, Unfit, form, gradients, kind, values
from companion.check.engine.question import Question
from companion.check.engine.run_answer import inputs_of, note_changes, seed
from companion.check.questions.weights import WEIGHTS, weights

WINDOW_MISTAKES = {
    "state_not_cut": "vanishing#truncation",
    "state_detached_each_step": "vanishing#truncation",
    "states_detached": "vanishing#truncation",
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
    "earlier_windows_without_gradient": "vanishing#truncation",
    "input_detached": "vanishing#truncation",
}


class Cell(nn.Module):
    """Cell that an answer gets: (x, h) → h, with the rows of a batch."""

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
    """Call the answer with a cell. It may return the states as a list, tuple, generator or stacked tensor.

    The gradient of the first state is not asked for: detaching it as well is not a mistake.
    """
    cell = Cell(*(probe.tensors[name] for name in WEIGHTS))
    tensors = inputs_of(probe, probe.gradients or ())
    seed()
    passed = {name: tensor.clone() for name, tensor in tensors.items()}
    returned = answer(cell, passed["input"], passed["h"], probe.options["size"])
    if returned is None:
        raise Unfit("returns_none", name="[h, …]")
    if isinstance(returned, torch.Tensor) and returned.dim() == 3:
        returned = returned.unbind()
    if isinstance(returned, torch.Tensor | dict | str) or not hasattr(returned, "__iter__"):
        raise Unfit("wrong_form", name="[h, …]", got=form(returned))
    results = {f"states[{number}]": state for number, state in enumerate(returned)}
    note_changes(tensors, passed, outcome)
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
            before, window_states = h, []
            for x_t in window:
                h = cell(x_t, h.detach() if "state_detached_each_step" in mistakes else h)
                window_states.append(h)
            late = "earlier_windows_without_gradient" in mistakes and number < len(windows) - 1
            if late or "states_detached" in mistakes:
                h, window_states = h.detach(), [state.detach() for state in window_states]
            if "states_of_all_steps" in mistakes:
                states += window_states
            elif "outputs_of_windows" in mistakes:
                states.append(torch.stack(window_states))
            else:
                states.append(before if "state_before_window" in mistakes else h)
        if "first_state_in_list" in mistakes:
            states = [first, *states]
        if "only_last_state~tensor" in mistakes:
            return states[-1]
        return states[-1:] if "only_last_state" in mistakes else states

    return read_in_windows


def cut_reference(mistakes, input, size):
    """Return the windows."""
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
        # as many steps as rows: mistaking one for the other raises no error
        probe("several", draw, 5, 5, 2, 3, 2),
        probe("several", draw, 7, 3, 2, 4, 2),
    ]


QUESTION = Question(
    name="windows",
    answer="read_in_windows",
    assignment="rnn",
    task=4,
    points=3,
    place="vanishing#truncation",
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
