"""Check that the truth of each question is the result of torch or the book; test_questions.py compares references."""

from dataclasses import replace

import pytest
import torch
from torch import nn

import companion
from companion.check.engine.question import all_questions, bank
from companion.check.engine.run_answer import observe
from companion.learning.generation import probabilities
from tests.check.answers.attention.beam_search import PROGRAM as BEAM_SEARCH
from tests.check.answers.language_model.generate import PROGRAM as GENERATE
from tests.check.programs import questions


def assert_same(outcome, expected):
    assert outcome.error is None and expected.error is None and set(outcome.values) == set(expected.values)
    for value, number in outcome.values.items():
        torch.testing.assert_close(number, expected.values[value], rtol=0, atol=1e-12)


# Each variant of the assignment `gru` by torch's own cells, with the rows in torch's order


def blocks(weights, order, wanted):
    """Return weights with their blocks of rows in another order. A minus before a letter changes the sign."""
    reordered = []
    for weight in weights:
        parts = dict(zip(order, weight.chunk(len(order))))
        reordered.append(
            torch.cat([-parts[letter[1]] if letter[0] == "-" else parts[letter] for letter in wanted.split()])
        )
    return reordered


def by_gru_cell(order):
    return lambda x, h, *weights: torch.gru_cell(x, h, *blocks(weights, order, "r z n"))


def by_lstm_cell(order, wanted):
    return lambda x, h, c, *weights: torch.lstm_cell(x, (h, c), *blocks(weights, order, wanted))


def by_loops(x, h, c, weight_ih, weight_hh, bias_ih, bias_hh, *peepholes):
    """Compute a step of a peephole LSTM number by number."""
    i, f, g, o = range(4)
    size, new = h.shape[1], ([], [])

    def total(row, place):
        parts = [weight_ih[place, k] * x[row, k] for k in range(x.shape[1])]
        parts += [weight_hh[place, k] * h[row, k] for k in range(size)]
        return sum(parts, bias_ih[place] + bias_hh[place])

    for row in range(len(x)):
        for unit in range(size):
            a = [total(row, gate * size + unit) for gate in range(4)]
            old, (p_i, p_f, p_o) = c[row, unit], (weight[unit] for weight in peepholes)
            kept = 1 / (1 + (-a[f] - p_f * old).exp()) * old
            cell = kept + 1 / (1 + (-a[i] - p_i * old).exp()) * a[g].tanh()
            new[0].append(cell.tanh() / (1 + (-a[o] - p_o * cell).exp()))
            new[1].append(cell)
    return tuple(torch.stack(state).reshape(len(x), size) for state in new)


def by_torchs_gradients(x, h, *rest):
    cell = nn.GRUCell(x.shape[1], h.shape[1])
    for parameter, number in zip(cell.parameters(), rest):
        parameter.data = number
    x, h = x.requires_grad_(), h.requires_grad_()
    cell(x, h).backward(rest[-1])
    return x.grad, h.grad, *(parameter.grad for parameter in cell.parameters())


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


def test_each_variant_has_a_truth():
    asked = {(name, variant) for name in questions("gru") for variant in all_questions()[name].variants or [None]}
    assert asked == {*TRUTHS}


@pytest.mark.parametrize("name, variant", TRUTHS)
def test_variants_equal_torchs_cells(name, variant):
    probed = bank(name, 3, variant)
    for number, probe in enumerate(probed.probes):
        expected = observe(probed.question.call, TRUTHS[name, variant], probe)
        assert_same(probed.expected[number], expected)
        assert_same(probed.outcome(frozenset(), number), expected)


# The other assignments


def test_lstm_equals_torchs_layer():
    torch.manual_seed(0)
    layer = nn.RNN(3, 4).double()
    input, h_0 = torch.rand(5, 2, 3).double(), torch.rand(1, 2, 4).double()
    expected = layer(input, h_0)
    torch.testing.assert_close(all_questions()["rnn"].truth(input, h_0, *layer.parameters()), expected, rtol=0, atol=0)
    step = all_questions()["rnn_step"].truth(input[0], h_0[0], *layer.parameters())
    torch.testing.assert_close(step, expected[0][0], rtol=0, atol=1e-12)


def test_windows_have_the_gradient_of_training():
    """Compare with the training chapter: `backward` for each window, with the state detached between windows."""
    torch.manual_seed(0)
    cell = nn.RNNCell(3, 4).double()
    input, first, size = torch.rand(7, 2, 3).double(), torch.rand(2, 4).double(), 3
    h = first
    for window in input.split(size):
        h = h.detach()
        for x in window:
            h = cell(x, h)
        (h**2).sum().backward()
    states = all_questions()["windows"].truth(cell, input, first, size)
    gradients = torch.autograd.grad(sum((state**2).sum() for state in states), list(cell.parameters()))
    for ours, parameter in zip(gradients, cell.parameters()):
        torch.testing.assert_close(ours, parameter.grad, rtol=0, atol=1e-12)


def test_gates_equal_those_of_torchs_cell():
    torch.manual_seed(0)
    cell = nn.LSTMCell(3, 4).double()
    x, h, c = torch.rand(2, 3).double(), torch.rand(2, 4).double(), torch.rand(2, 4).double()
    i, f, g, o = all_questions()["gates"].truth(x, h, *cell.parameters())
    new_c = f * c + i * g
    torch.testing.assert_close((o * new_c.tanh(), new_c), cell(x, (h, c)), rtol=0, atol=1e-12)


def test_converted_weights_with_one_bias_give_the_same_states():
    torch.manual_seed(0)
    weights = {"W": torch.rand(20, 3).double(), "U": torch.rand(20, 5).double(), "b": torch.rand(20).double()}
    layer = nn.LSTM(3, 5).double()
    layer.load_state_dict(all_questions()["one_bias"].truth(weights))
    x = torch.rand(4, 2, 3).double()
    h = c = torch.zeros(2, 5).double()
    for x_t in x:
        f, i, g, o = (x_t @ weights["W"].T + h @ weights["U"].T + weights["b"]).chunk(4, dim=1)
        c = f.sigmoid() * c + i.sigmoid() * g.tanh()
        h = o.sigmoid() * c.tanh()
    torch.testing.assert_close(layer(x)[0][-1], h, rtol=0, atol=1e-12)


def test_probabilities_equal_those_of_the_books_writer():
    """The book's writer never draws index 0, so one is added in front. Its cuts are those of the first variant."""
    truth = all_questions()["next_probabilities"].truth
    for probe in bank("next_probabilities", 4).probes:
        logits = torch.cat([torch.zeros(1), probe.tensors["logits"]])
        theirs = probabilities(logits, **probe.options)[1:]
        torch.testing.assert_close(truth(probe.tensors["logits"], **probe.options), theirs, rtol=0, atol=1e-12)


def test_perplexity_equals_torchs_cross_entropy():
    for probe in bank("perplexity", 4).probes:
        logits, targets, mask = (probe.tensors[name] for name in ("logits", "targets", "mask"))
        loss = nn.CrossEntropyLoss(ignore_index=-1)(logits.flatten(0, 1), targets.where(mask, -1).flatten())
        assert all_questions()["perplexity"].truth(logits, targets, mask) == pytest.approx(loss.exp().item())


def test_text_generated_with_a_state_equals_text_from_reading_all():
    """Use a GRU of the companion, whose text depends on the whole prompt."""
    torch.manual_seed(0)
    cell, out = companion.GRUCell(4, 6), nn.Linear(6, 4)

    def step(index, state):
        state = cell(torch.eye(4)[[index]], state)
        return out(state)[0], state

    def drawing():
        dice = torch.Generator().manual_seed(1)
        return lambda logits: int(torch.multinomial((3 * logits).softmax(0), 1, generator=dice))

    writes = GENERATE.answer()
    given = step, torch.zeros(1, 6), [2, 0, 1], 9
    assert writes(*given, drawing()) == all_questions()["generate"].truth(*given, drawing())


def test_multi_head_equals_torchs_layer_with_its_mask():
    torch.manual_seed(0)
    layer = nn.MultiheadAttention(6, 2, batch_first=True).double()
    query, key = torch.rand(2, 3, 6).double(), torch.rand(2, 4, 6).double()
    hidden = torch.tensor([[False, True, False, True], [False, False, True, True]])
    ours = all_questions()["multi_head"].truth(
        query,
        key,
        key,
        ~hidden[:, None].expand(-1, 3, -1),
        2,
        layer.in_proj_weight,
        layer.in_proj_bias,
        *layer.out_proj.parameters(),
    )
    theirs = layer(query, key, key, key_padding_mask=hidden, average_attn_weights=False)
    torch.testing.assert_close(ours, theirs, rtol=0, atol=1e-12)


def test_wide_beam_finds_all_sequences():
    probe = bank("beam_search", 0).probes[2]
    outcome = observe(all_questions()["beam_search"].call, all_questions()["beam_search"].truth,
                      replace(probe, options=probe.options | {"width": 10**4}))  # fmt: skip
    assert outcome.values["log_p"].exp().sum() == pytest.approx(1)  # all possible sequences, ended or cut
    narrow = observe(all_questions()["beam_search"].call, BEAM_SEARCH.answer(), probe)
    assert narrow.values["log_p"][0] <= outcome.values["log_p"][0]
