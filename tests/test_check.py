"""Every question of the checker: what is right is right, and what is wrong is told apart and named."""

import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import torch
from torch import nn

from companion.check import check, saying
from companion.check.__main__ import mistakes
from companion.check.diagnosis import GENERAL, agree, alike, diagnose
from companion.check.question import all_questions, bank
from companion.check.running import Outcome, Probe, observe, run
from sampling import sample

NAMES = list(all_questions())
SEEDS = (0, 1)


def found(question, answer, seed=0):
    probed = bank(question, seed)
    return diagnose(probed, [observe(probed.question.call, answer, probe) for probe in probed.probes], seconds=30)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("name", NAMES)
def test_the_reference_without_mistakes_is_right(name, seed):
    assert found(name, all_questions()[name].reference(frozenset()), seed).mistakes == []


@pytest.mark.parametrize("seed, name", sample([(seed, name) for seed in SEEDS for name in NAMES], 4))
def test_every_mistake_is_told_from_every_other(name, seed):
    probed = bank(name, seed)
    numbers = range(len(probed.probes))
    mistakes_of = probed.question.mistakes
    all_outcomes = {name: [probed.outcome(frozenset([name]), n) for n in numbers] for name in mistakes_of}
    all_outcomes["nothing"] = probed.expected
    names = list(all_outcomes)
    same = [
        (one, other)
        for place, one in enumerate(names)
        for other in names[place + 1 :]
        if all(map(alike, all_outcomes[one], all_outcomes[other]))
    ]
    assert same == []


@pytest.mark.parametrize("name", NAMES)
def test_probes_and_outcomes_survive_json(name):
    probed = bank(name, 0)
    question = probed.question
    for probe, expected in zip(probed.probes, probed.expected):
        request = json.loads(json.dumps(probe.to_json()))
        assert json.dumps(Probe.from_json(request).to_json()) == json.dumps(probe.to_json())
        answer = json.loads(json.dumps(run(question.call, question.truth, request, frozenset())))
        assert alike(expected, Outcome.from_json(answer))


@pytest.mark.parametrize("name", NAMES)
def test_probes_differ_from_seed_to_seed_and_come_smallest_first(name):
    probes = bank(name, 0).probes
    assert [probe.to_json() for probe in probes] != [probe.to_json() for probe in bank(name, 1).probes]
    assert probes[0].size == min(probe.size for probe in probes)


@pytest.mark.parametrize("name", NAMES)
def test_every_place_is_a_cell_of_the_book(name):
    question = all_questions()[name]
    for place in {question.place, *question.mistakes.values()} - {""}:
        page, cell = place.split("#")
        cells = json.loads(Path(f"book/en/{page}.ipynb").read_text(encoding="utf-8"))["cells"]
        assert cell in {one["id"] for one in cells}, place


def entries(language):
    """A language's own words, by table and key: none that English lends."""
    tables = tomllib.loads((saying.WORDS / f"{language}.toml").read_text(encoding="utf-8"))
    mistakes = tables.pop("mistakes")
    return tables | {f"mistakes.{name}": entry for name, entry in mistakes.items()}


def test_there_are_words_in_four_languages():
    assert saying.languages() == ["en", "ja", "ko", "zh"]


@pytest.mark.parametrize("language", saying.languages())
def test_every_mistake_has_words_and_no_words_are_left_over(language):
    said = {name.removeprefix("mistakes."): one for name, one in entries(language).items() if "mistakes." in name}
    assert set(said) == {"gates_in_order" if saying.ORDER.match(name) else name for name in mistakes()}
    for name, entry in said.items():
        assert set(entry) == {"says", "advice"} and all(entry.values()) and "\n" not in entry["says"], name


@pytest.mark.parametrize("language", saying.languages())
def test_all_languages_say_the_same_and_put_in_the_same(language):
    english, said = entries("en"), entries(language)
    assert set(said) == set(english)
    for table in english:
        assert set(said[table]) == set(english[table]), table
        for key, text in english[table].items():
            put_in = [sorted(re.findall(r"{\w+}", one)) for one in (text, said[table][key])]
            assert put_in[0] == put_in[1], (table, key)


def test_every_axis_is_known():
    axes = saying.words("en")["axes"]
    for question in all_questions().values():
        assert {axis for names in question.axes.values() for axis in names} <= set(axes)


def test_the_list():
    command = [sys.executable, "-m", "companion.check", "--list"]
    lines = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    assert [line.split("\t")[0] for line in lines] == mistakes()
    assert all(re.fullmatch(r"[a-z][a-z0-9_]+\t[^\t]+", line) for line in lines)


def test_a_result_shows_itself():
    right = check("gates", right_gates)
    assert right.ok and right.mistakes == [] and repr(right).startswith("Right.")
    wrong = check("gates", lambda *arguments: right_gates(*arguments)[::-1])
    assert not wrong.ok and "should be" in repr(wrong) and "**" in wrong._repr_markdown_()
    assert check("gates", right_gates, seed=5).ok


def test_an_unknown_question_is_refused():
    with pytest.raises(ValueError, match="there is no question 'lstm_sell'"):
        check("lstm_sell", None)


# What no switch makes: the general mistakes.


def right_gates(x, h, weight_ih, weight_hh, bias_ih, bias_hh):
    i, f, g, o = (x @ weight_ih.T + bias_ih + h @ weight_hh.T + bias_hh).chunk(4, dim=1)
    return torch.sigmoid(i), torch.sigmoid(f), torch.tanh(g), torch.sigmoid(o)


def changes(x, h, *weights):
    gates = right_gates(x, h, *weights)
    h += 1
    return gates


def one_row(x, h, weight_ih, weight_hh, bias_ih, bias_hh):
    a = weight_ih @ x.view(-1)[: weight_ih.shape[1]] + weight_hh @ h.view(weight_hh.shape[1]) + bias_ih + bias_hh
    i, f, g, o = a[None].chunk(4, dim=1)
    return torch.sigmoid(i), torch.sigmoid(f), torch.tanh(g), torch.sigmoid(o)


def only_i_differs(x, h, *weights):
    i, f, g, o = right_gates(x, h, *weights)
    return i + (x.sum() > 100) + 0.1 * (torch.arange(i.shape[1]) > 1), f, g, o


GENERALLY_WRONG = {
    "returns_none": lambda *arguments: None,
    "not_a_tensor": lambda *arguments: [gate.tolist() for gate in right_gates(*arguments)],
    "wrong_form": lambda *arguments: torch.stack(right_gates(*arguments)),
    "raises_error": lambda x, *rest: right_gates(x.T @ x, *rest) + 1,
    "no_gradient": lambda *arguments: [gate.detach() for gate in right_gates(*arguments)],
    "not_a_number": lambda *arguments: [gate / 0 * 0 for gate in right_gates(*arguments)],
    "wrong_shape": lambda *arguments: [gate.sum(0) for gate in right_gates(*arguments)],
    "wrong_values": only_i_differs,
    "wrong_gradient": lambda x, *rest: right_gates(x.detach(), *rest),
    "changes_its_input": changes,
    "single_batch_only": one_row,
}


@pytest.mark.parametrize("name", GENERALLY_WRONG)
def test_general_mistakes(name):
    assert found("gates", GENERALLY_WRONG[name]).mistakes == [name]


def cell(fix=lambda module: None, base=nn.Module):
    """A right LSTMCell, and what a student's `__init__` then does to it."""

    class LSTMCell(base):
        def __init__(self, input_size, hidden_size):
            super().__init__()
            self.weight_ih = nn.Parameter(torch.rand(4 * hidden_size, input_size))
            self.weight_hh = nn.Parameter(torch.rand(4 * hidden_size, hidden_size))
            self.bias_ih = nn.Parameter(torch.rand(4 * hidden_size))
            self.bias_hh = nn.Parameter(torch.rand(4 * hidden_size))
            fix(self)

        def named(self, name):
            return getattr(self, name)

        def forward(self, x, state=None):
            h, c = state if state is not None else (x.new_zeros(len(x), self.named("weight_hh").shape[1]),) * 2
            names = ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
            i, f, g, o = right_gates(x, h, *map(self.named, names))
            c = f * c + i * g
            return o * c.tanh(), c

    return LSTMCell


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
    assert found("lstm_cell", cell()).ok
    assert found("lstm_cell", WRONG_MODULES[name]).mistakes == [name]


def test_general_names_are_in_the_list():
    assert {*GENERALLY_WRONG, *WRONG_MODULES} <= set(GENERAL)
    assert set(GENERAL) <= set(mistakes())


def test_two_at_once_and_a_known_one_beside_an_error():
    def shuffled(x, h, weight_ih, weight_hh, bias_ih, bias_hh):
        f, i, g, o = (x @ weight_ih.T + bias_ih + h @ weight_hh.T).chunk(4, dim=1)
        return torch.sigmoid(i), torch.sigmoid(f), torch.tanh(g), torch.sigmoid(o)

    assert set(found("gates", shuffled).mistakes) == {"gates_f_i_g_o", "bias_hh_missing"}
    detached = found("gates", lambda *arguments: [gate.detach() for gate in shuffled(*arguments)])
    assert set(detached.mistakes) == {"gates_f_i_g_o", "bias_hh_missing", "no_gradient"}


def test_an_error_says_its_line():
    def stops(x, h, weight_ih, *rest):
        return x @ weight_ih

    error = found("gates", stops).error
    assert error["code"] == "return x @ weight_ih" and error["type"] == "RuntimeError"


def test_an_answer_that_insists_on_float32_is_right():
    def insists(x, h, *weights):
        assert x.dtype == torch.float32, "expected scalar type Float"
        return right_gates(x, h, *weights)

    assert found("gates", insists).ok


def test_an_unknown_mistake_is_described():
    finding = found("gates", only_i_differs)
    assert not finding.known and finding.value == "i" and finding.first == (0, 2)
    assert finding.wrong == ["i"] and finding.right == ["one_number", "batch_1"]
    assert "row 0, unit 2" in repr(check("gates", only_i_differs))


def test_nothing_outside_is_changed():
    state, dtype = torch.get_rng_state(), torch.get_default_dtype()
    profiler = sys.getprofile()
    check("lstm_cell", cell())
    assert torch.get_rng_state().equal(state) and torch.get_default_dtype() is dtype and sys.getprofile() is profiler


def test_agreement():
    one = torch.tensor([1.0, torch.nan])
    assert agree(one, one + 1e-6) and not agree(one, one + 1e-2) and not agree(one, one[:1])
