"""Check general mistakes, which are in no bank, and objects that are not answers."""

import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import pytest
import torch
from torch import nn

from companion.check import check
from companion.check.__main__ import mistakes
from companion.check.engine.finding import GENERAL
from companion.check.engine.question import all_questions
from tests.check.answers.series.scaled_forecast import PROGRAM as SCALED_FORECAST
from tests.check.programs import finding_of
from tests.check.small_answers import cell, only_i_differs, right_gates
from tests.project.sampling import UNKNOWN

NAMES = list(all_questions())
pytestmark = pytest.mark.usefixtures("short_search")


def changes(x, h, *weights):
    gates = right_gates(x, h, *weights)
    h += 1
    return gates


def changes_settings(*arguments):
    gates = right_gates(*arguments)
    torch.set_grad_enabled(False)
    return gates


def changes_what_the_gradient_needs(wrong):
    def gates(x, h, *weights):
        result = wrong(x, h, *weights)
        h.mul_(2)
        return result

    return gates


def gates_exchanged(*arguments):
    i, f, g, o = right_gates(*arguments)
    return f, i, g, o


def one_row(x, h, weight_ih, weight_hh, bias_ih, bias_hh):
    a = weight_ih @ x.view(-1)[: weight_ih.shape[1]] + weight_hh @ h.view(weight_hh.shape[1]) + bias_ih + bias_hh
    i, f, g, o = a[None].chunk(4, dim=1)
    return torch.sigmoid(i), torch.sigmoid(f), torch.tanh(g), torch.sigmoid(o)


GENERALLY_WRONG = {
    "returns_none": lambda *arguments: None,
    "not_a_tensor": lambda *arguments: [gate.tolist() for gate in right_gates(*arguments)],
    "wrong_form": lambda *arguments: torch.stack(right_gates(*arguments)),
    "raises_error": lambda x, *rest: right_gates(x.T @ x, *rest) + 1,
    "no_gradient": lambda *arguments: [gate.detach() for gate in right_gates(*arguments)],
    "not_a_number": lambda *arguments: [gate / 0 * 0 for gate in right_gates(*arguments)],
    "infinite": lambda *arguments: [gate + torch.inf for gate in right_gates(*arguments)],
    "wrong_shape": lambda *arguments: [gate.sum(0) for gate in right_gates(*arguments)],
    "wrong_values": only_i_differs,
    "wrong_gradient": lambda x, *rest: right_gates(x.detach(), *rest),
    "changes_its_input": changes,
    "changes_settings": changes_settings,
    "single_batch_only": one_row,
}


@pytest.mark.parametrize("name", GENERALLY_WRONG)
def test_general_mistakes(name):
    assert finding_of("gates", GENERALLY_WRONG[name], seconds=UNKNOWN, watched=False).mistakes == [name]
    assert torch.is_grad_enabled()


@pytest.mark.parametrize("answer, mistakes", [
    (right_gates, ["changes_its_input"]),
    (only_i_differs, ["wrong_values", "changes_its_input"]),
    (gates_exchanged, ["gates_f_i_g_o", "changes_its_input"]),
])  # fmt: skip
def test_values_are_compared_if_a_change_in_place_leaves_no_gradients(answer, mistakes):
    """A changed input alone leaves half of the points."""
    changing = changes_what_the_gradient_needs(answer)
    assert finding_of("gates", changing, seconds=UNKNOWN, watched=False).mistakes == mistakes


class Forgetful(dict):
    """Notes that keep nothing."""

    def __setitem__(self, name, note):
        pass


def changes_and_forges_notes(series):
    series += 1
    frame = sys._getframe()
    while frame:
        outcome = frame.f_locals.get("outcome")
        if hasattr(outcome, "notes"):
            outcome.notes = Forgetful()
        frame = frame.f_back


def test_a_hidden_change_in_place_is_noted():
    def scaled_forecast(model, series, learned):
        result = SCALED_FORECAST.answer()(model, series.clone(), learned)
        changes_and_forges_notes(series)
        return result

    assert finding_of("scaled_forecast", scaled_forecast).mistakes == ["changes_its_input"]


def renamed(module):
    module.W = module.weight_ih
    del module.weight_ih
    module.named = lambda name: module.W if name == "weight_ih" else getattr(module, name)


def plain(module):
    weight = module.bias_ih.detach()
    del module.bias_ih
    module.bias_ih = weight.requires_grad_()


def without(module):
    del module.weight_hh


def narrow(module):
    module.weight_ih = nn.Parameter(module.weight_ih[:1])


WRONG_MODULES = {
    "parameter_names": cell(renamed),
    "extra_parameter": cell(lambda module: setattr(module, "peephole", nn.Parameter(torch.ones(3)))),
    "tensor_not_parameter": cell(plain),
    "parameter_missing": cell(without),
    "parameter_shape": cell(narrow),
    "not_a_module": lambda input_size, hidden_size: lambda x, state=None: x,
}


@pytest.mark.parametrize("name", WRONG_MODULES)
def test_general_mistakes_of_modules(name):
    assert finding_of("lstm_cell", WRONG_MODULES[name], seconds=UNKNOWN).mistakes == [name]


def raises(error):
    def answer(*arguments):
        raise error

    return answer


def to_be_done(*arguments):
    raise NotImplementedError("to be done")


class OnlyMade(nn.Module):
    def __init__(self, *sizes):
        super().__init__()


class Stops(cell()):
    def forward(self, x, state=None):
        raise NotImplementedError()


class GatesClass:
    def __init__(self, *arguments):
        self.gates = right_gates(*arguments)


# Objects that are not answers: (question, object).
NO_ANSWERS = {
    "not_written": [
        *((name, raises(NotImplementedError())) for name in NAMES),
        ("gates", to_be_done),
        ("lstm_cell", OnlyMade),
        ("lstm_cell", Stops),
        ("embedding_layer", OnlyMade),
    ],
    "called_already": [("gates", torch.ones(2)), ("lstm_cell", None), ("gates", (torch.ones(2),)), ("lookup", 3)],
    "instance_for_class": [("lstm_cell", cell()(3, 4)), ("lstm", nn.LSTM(3, 4)), ("rnn_cell", OnlyMade(3))],
    "class_for_function": [("gates", cell()), ("gates", GatesClass), ("lookup", nn.Embedding), ("rnn_step", OnlyMade)],
    "stopped_early": [
        ("gates", raises(SystemExit())),
        ("gates", lambda *_: sys.exit(1)),
        ("lookup", raises(SystemExit)),
    ],
}


@pytest.mark.parametrize("name", NO_ANSWERS)
def test_objects_that_are_not_answers_are_named(name):
    for question, answer in NO_ANSWERS[name]:
        result = check(question, answer)
        assert result.mistakes == [name], (question, answer)
        assert name in repr(result) and ("Read again" in repr(result)) == (name == "stopped_early")


def test_not_implemented_error_of_torch_is_an_error_not_unwritten():
    def lacks(x, *rest):
        return x.to_sparse().sort()

    with pytest.raises(NotImplementedError):
        lacks(torch.ones(2, 2))
    assert finding_of("gates", lacks, seconds=UNKNOWN).mistakes == ["raises_error"]


def test_half_written_answer_is_not_called_unwritten():
    def half(x, *rest):
        if len(x) > 1:
            raise NotImplementedError()
        return right_gates(x, *rest)

    assert finding_of("gates", half, seconds=UNKNOWN).mistakes == ["single_batch_only"]


def test_class_or_module_as_function_is_right():
    class Gates(tuple):
        def __new__(cls, *arguments):
            return tuple.__new__(cls, right_gates(*arguments))

    class Module(nn.Module):
        def forward(self, *arguments):
            return right_gates(*arguments)

    assert finding_of("gates", Gates).ok and finding_of("gates", Module()).ok


def test_keyboard_interrupt_is_raised_and_exit_does_not_end_the_notebook(monkeypatch):
    with pytest.raises(KeyboardInterrupt):
        check("gates", raises(KeyboardInterrupt()))

    class Shell:
        asked = 0

        def ask_exit(self):
            self.asked += 1

    shell = Shell()
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: shell))
    assert check("gates", lambda *_: shell.ask_exit()).mistakes == ["stopped_early"] and shell.asked == 0
    shell.ask_exit()
    assert shell.asked == 1


def in_another_thread(function):
    def answer(*arguments):
        with ThreadPoolExecutor(1) as pool:
            return pool.submit(function, *arguments).result()

    return answer


def test_library_layer_in_another_thread_is_recognised():
    class Library(nn.LSTMCell):
        forward = in_another_thread(nn.LSTMCell.forward)

    class Own(cell()):
        forward = in_another_thread(cell().forward)

    assert check("lstm_cell", Own).ok
    assert check("lstm_cell", Library).mistakes == ["library_layer"]
    assert check("lookup", in_another_thread(lambda weight, indices: weight[indices])).ok
    by_torch = in_another_thread(lambda weight, indices: nn.functional.embedding(indices, weight))
    assert check("lookup", by_torch).mistakes == ["library_layer"]
    assert threading.getprofile() is None


def test_general_mistakes_are_in_the_list():
    assert {*GENERALLY_WRONG, *WRONG_MODULES, *NO_ANSWERS} <= set(GENERAL)
    assert set(GENERAL) <= set(mistakes())


def test_answer_that_requires_float32_is_right():
    def insists(x, h, *weights):
        assert x.dtype == torch.float32, "expected scalar type Float"
        return right_gates(x, h, *weights)

    assert finding_of("gates", insists).ok


def test_wrong_numbers_are_named_if_a_changed_input_leaves_no_gradients():
    def wrong(factor):
        def rnn_step(x, h, weight_ih, weight_hh, bias_ih, bias_hh):
            from_h = h @ weight_hh.T
            h *= 2
            return factor * torch.tanh(x @ weight_ih.T + bias_ih + from_h + bias_hh)

        return rnn_step

    assert finding_of("rnn_step", wrong(1), seconds=UNKNOWN).mistakes == ["changes_its_input"]
    assert finding_of("rnn_step", wrong(3), seconds=UNKNOWN).mistakes == ["wrong_values", "changes_its_input"]


@pytest.mark.parametrize("name", ["gates", "rnn_step", "rnn"])
def test_function_that_remembers_its_last_call_is_wrong(name):
    kept, truth = {}, all_questions()[name].truth

    def answer(x, h, *weights):
        h_before = kept.get(h.shape, h)
        kept[h.shape] = h.detach() / 2
        return truth(x, h_before, *weights)

    assert finding_of(name, answer, seconds=UNKNOWN, watched=False).mistakes == ["remembers_last_call"]
