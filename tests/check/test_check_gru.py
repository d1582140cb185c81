"""The questions of the assignment `gru`: their truth, and answers as students write them."""

import random
import textwrap

import pytest
import torch
from torch import nn
from torch.nn import functional as F

import companion
from companion.check.diagnosis import alike
from companion.check.question import all_questions, bank
from companion.check.running import observe
from gru_answers import LAYER, OTHERWISE, RIGHT, SOURCES, STEP, STEP_WRONG, WRONG
from programs import defined, found, questions, tried
from sampling import UNKNOWN, sample

QUESTIONS = questions("gru")


def answer(source, *edits):
    """What a program defines last, after each `(old, new)` has replaced a piece of it."""
    return defined(source, edits, {"torch": torch, "nn": nn, "F": F})[-1]


# The truth, of each variant, by torch's own cells with the rows put into torch's order


def blocks(weights, order, wanted):
    """Weights whose blocks of rows stand in one order, in another one. A letter with a minus changes the sign."""
    found = []
    for weight in weights:
        parts = dict(zip(order, weight.chunk(len(order))))
        found.append(torch.cat([-parts[one[1]] if one[0] == "-" else parts[one] for one in wanted.split()]))
    return found


def by_gru_cell(order):
    return lambda x, h, *weights: torch.gru_cell(x, h, *blocks(weights, order, "r z n"))


def by_lstm_cell(order, wanted):
    return lambda x, h, c, *weights: torch.lstm_cell(x, (h, c), *blocks(weights, order, wanted))


def by_loops(x, h, c, weight_ih, weight_hh, bias_ih, bias_hh, *peepholes):
    """Number by number, with Python's sums."""
    i, f, g, o = range(4)
    size, new = h.shape[1], ([], [])

    def total(row, place):
        parts = [weight_ih[place, k] * x[row, k] for k in range(x.shape[1])]
        parts += [weight_hh[place, k] * h[row, k] for k in range(size)]
        return sum(parts, bias_ih[place] + bias_hh[place])

    for row in range(len(x)):
        for unit in range(size):
            a = [total(row, gate * size + unit) for gate in range(4)]
            old, (p_i, p_f, p_o) = c[row, unit], (one[unit] for one in peepholes)
            kept = 1 / (1 + (-a[f] - p_f * old).exp()) * old
            cell = kept + 1 / (1 + (-a[i] - p_i * old).exp()) * a[g].tanh()
            new[0].append(cell.tanh() / (1 + (-a[o] - p_o * cell).exp()))
            new[1].append(cell)
    return tuple(torch.stack(one).reshape(len(x), size) for one in new)


def by_torchs_gradients(x, h, *rest):
    cell = nn.GRUCell(x.shape[1], h.shape[1])
    for parameter, number in zip(cell.parameters(), rest):
        parameter.data = number
    x, h = x.requires_grad_(), h.requires_grad_()
    cell(x, h).backward(rest[-1])
    return x.grad, h.grad, *(one.grad for one in cell.parameters())


TRUTHS = {
    ("gru_step", "gates_r_z_n"): by_gru_cell("rzn"),
    ("gru_step", "gates_z_r_n"): by_gru_cell("zrn"),
    ("gru_step", "gates_n_z_r"): by_gru_cell("nzr"),
    ("coupled_lstm_step", "u_keeps_u_g_o"): by_lstm_cell("ugo", "-u u g o"),
    ("coupled_lstm_step", "u_writes_u_g_o"): by_lstm_cell("ugo", "u -u g o"),
    ("coupled_lstm_step", "u_keeps_g_o_u"): by_lstm_cell("gou", "-u u g o"),
    ("coupled_lstm_step", "u_writes_g_o_u"): by_lstm_cell("gou", "u -u g o"),
    ("gru_layer", None): nn.GRU,
    ("peephole_lstm_step", None): by_loops,
    ("gru_backward", None): by_torchs_gradients,
}


def test_there_is_a_truth_for_each_variant():
    asked = {(name, variant) for name in QUESTIONS for variant in all_questions()[name].variants or [None]}
    assert asked == {*TRUTHS}


@pytest.mark.parametrize("name, variant", TRUTHS)
def test_the_truth_is_that_of_torchs_cells(name, variant):
    probed = bank(name, 3, variant)
    for number, probe in enumerate(probed.probes):
        expected = observe(probed.question.call, TRUTHS[name, variant], probe)
        assert expected.error is None
        for ours in (probed.expected[number], probed.outcome(frozenset(), number)):
            assert ours.error is None and set(ours.values) == set(expected.values)
            for value, right in expected.values.items():
                torch.testing.assert_close(ours.values[value], right, rtol=0, atol=1e-12)


@pytest.mark.parametrize("question", QUESTIONS)
def test_the_programs_are_right_before_they_go_wrong(question):
    assert found(question, answer(SOURCES[question])).mistakes == []


@pytest.mark.parametrize("question", QUESTIONS)
def test_there_is_a_program_for_every_mistake(question):
    tried(question, question in SOURCES, WRONG.get(question, ()), "SOURCES and WRONG of tests/gru_answers.py")


@pytest.mark.parametrize("question, name", sample([(question, name) for question in WRONG for name in WRONG[question]], 3))
def test_every_mistake_is_named(question, name):
    assert found(question, answer(SOURCES[question], *WRONG[question][name]), seed=2).mistakes == [name]


@pytest.mark.parametrize("question, name, edits", OTHERWISE)
def test_mistakes_that_are_made_otherwise_have_the_same_name(question, name, edits):
    assert found(question, answer(SOURCES[question], *edits), seed=2).mistakes == [name]


@pytest.mark.heavy
@pytest.mark.parametrize("question", QUESTIONS)
def test_pairs_are_named(question):
    """Of mistakes whose programs change different pieces. What hides the other, or is one with it, is left out."""
    asked, chosen, missed, tries = all_questions()[question], random.Random(0), [], 0
    names = sorted(WRONG[question])
    while tries < 40:
        pair = chosen.sample(names, 2)
        edits = [edit for name in pair for edit in WRONG[question][name]]
        rows = sum("rows" in name or "order" in name or "variant" in name for name in pair)
        # what names rows by their place says nothing about another order, and in another order one gate is the other
        places = any("2*H" in new for _, new in edits) or {"candidate_reads_by_z", "state_mixed_by_r"} & {*pair}
        if not asked.allows(frozenset(pair)) or len({old for old, _ in edits}) < len(edits) or rows and places:
            continue
        try:
            wrong = answer(SOURCES[question], *edits)
        except AssertionError:  # the first changed what the second wants to change
            continue
        tries += 1
        mistakes = found(question, wrong, seed=5, seconds=60).mistakes
        missed += [(pair, mistakes)] * ({*mistakes} != {*pair} and not same_as_another(question, {*pair}, mistakes))
    assert missed == []


def same_as_another(question, pair, mistakes):
    """Whether what is named does the same as the pair: then there is nothing to choose by."""
    probed = bank(question, 5)
    both = (frozenset(pair), frozenset(mistakes))
    return {*mistakes} <= {*probed.question.mistakes} and all(
        alike(*(probed.outcome(one, number) for one in both)) for number in range(len(probed.probes))
    )


@pytest.mark.parametrize("question, name", [(question, name) for question in RIGHT for name in RIGHT[question]])
def test_what_is_written_in_another_way_is_right(question, name):
    assert found(question, answer(textwrap.dedent(RIGHT[question][name])), seed=1).mistakes == []


# What may not be an answer, and what has another form


def by_autograd(*given):
    *given, grad = (one.clone().requires_grad_() for one in given)
    return torch.autograd.grad(answer(STEP)(*given), given, grad)


LIBRARIES = {
    "torch's cell": ("gru_step", lambda *given: torch.gru_cell(*given)),
    "torch's layer": ("gru_layer", nn.GRU),
    "the companion's layer": ("gru_layer", companion.GRU),
    "torch's LSTM with other rows": ("coupled_lstm_step", TRUTHS["coupled_lstm_step", "u_keeps_u_g_o"]),
    "the truth": ("peephole_lstm_step", all_questions()["peephole_lstm_step"].truth),
    "the reference": ("peephole_lstm_step", all_questions()["peephole_lstm_step"].reference(frozenset())),
    "the reference of a class": ("gru_layer", all_questions()["gru_layer"].reference(frozenset())),
    "autograd": ("gru_backward", by_autograd),
}


@pytest.mark.parametrize("name", LIBRARIES)
def test_libraries_own_layers_are_no_answers(name):
    question, one = LIBRARIES[name]
    assert found(question, one).mistakes == ["library_layer"]


@pytest.mark.parametrize("wrong", [False, True])
def test_layers_inside_have_other_names(wrong):
    source = LAYER[: LAYER.index("        self.weight_ih_l0")] + """
        self.h2h, self.x2h = nn.Linear(hidden_size, 3 * hidden_size), nn.Linear(input_size, 3 * hidden_size)
""" + LAYER[LAYER.index("    def forward") :]
    own = "self.x2h.weight, self.h2h.weight, self.x2h.bias, self.h2h.bias"
    edits = [("self.weight_ih_l0, self.weight_hh_l0, self.bias_ih_l0, self.bias_hh_l0", own)]
    edits += STEP_WRONG["update_gate_inverted"] * wrong
    names = ["update_gate_inverted"] * wrong + ["parameter_names"]
    assert found("gru_layer", answer(STEP + source, *edits)).mistakes == names


def test_an_answer_for_one_sequence_only():
    one = "(weight_ih @ x.view(weight_ih.shape[1]) + bias_ih)[None]"
    one_only = answer(STEP.replace("F.linear(x, weight_ih, bias_ih)", one))
    assert found("gru_step", one_only, seconds=UNKNOWN).mistakes == ["single_batch_only"]
