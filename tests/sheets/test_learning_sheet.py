"""Test the sheet for networks that do not learn: its tests and remedies tell faulty models from healthy ones."""

import math

import pytest
import torch
from torch import nn

import companion
from book.sheets import chapters, quotes
from book.sheets.document import read_words
from book.sheets.learning import ROWS
from companion.learning import checks
from companion.learning.leaks import find_leaks
from companion.learning.sequence_model import SequenceModel

WORDS = read_words("en")["learning"]["rows"]
V, STEPS, BATCH = 11, 6, 4


def model_of(layer=None):
    torch.manual_seed(0)
    embedding = companion.Embedding(V, 8, dtype=torch.float64)
    model = SequenceModel(embedding, companion.GRU(8, 10, dtype=torch.float64), V)
    if layer:
        model.recurrent = layer
    return model


class Cut(SequenceModel):
    """A model whose gradients end before the last layer."""

    def forward(self, inputs, state=None):
        h, state = self.recurrent(self.embedding(inputs), state)
        return self.linear(h.detach()), state


def cut_model():
    torch.manual_seed(0)
    layer = companion.GRU(8, 10, dtype=torch.float64)
    model = Cut(companion.Embedding(V, 8, dtype=torch.float64), layer, V)
    model.linear.weight.requires_grad_(False)
    return model


def run(line, model, inputs, targets):
    """Run a line of the sheet, and return its value."""
    names = {"model": model, "inputs": inputs, "targets": targets, "checks": checks, "find_leaks": find_leaks, "nn": nn}
    names |= {"torch": torch, "lstm": model.recurrent}
    line = line.removeprefix("norm = ")
    with torch.no_grad() if "bias_ih" in line else torch.enable_grad():
        return eval(line, names)


@pytest.fixture
def batch():
    torch.manual_seed(1)
    text = torch.randint(V, (STEPS + 1, BATCH))
    return text[:-1], text[1:]


def test_one_batch_is_learned_by_a_healthy_model_only(batch):
    line = ROWS["flat"][0]
    assert run(line, model_of(), *batch)[-1] < 0.5 < 1 < run(line, cut_model(), *batch)[-1]


def test_clipping_returns_the_norm_before_and_shortens_it(batch):
    model = model_of()
    loss = nn.functional.cross_entropy(100 * model(batch[0])[0].flatten(0, 1), batch[1].flatten())
    loss.backward()
    assert run(ROWS["jumps"][0], model, *batch) > 1
    assert torch.cat([p.grad.flatten() for p in model.parameters()]).norm() < 1.0001


def test_norms_name_what_is_cut_and_what_is_nan(batch):
    assert ROWS["nan"][0] == ROWS["same"][0]
    healthy, cut = (run(ROWS["same"][0], model, *batch).gradients for model in (model_of(), cut_model()))
    assert healthy["embedding.weight"] > 0 and cut["embedding.weight"] is None
    model = model_of()
    model.recurrent.weight_hh_l0.data[0, 0] = math.nan
    assert math.isnan(run(ROWS["nan"][0], model, *batch).gradients["recurrent.weight_hh_l0"])


def test_the_causes_of_nan_give_nan():
    targets = torch.full((3,), -100)
    assert nn.functional.cross_entropy(torch.zeros(3, V), targets).isnan()  # a mean over no target
    logits = torch.tensor([[0.0, -200.0]], requires_grad=True)
    (logits.softmax(1).log()[0, 1]).backward()
    assert logits.grad.isnan().any()  # the logarithm of 0
    assert torch.tensor([[0.0, -200.0]]).log_softmax(1).isfinite().all()


def test_the_first_loss_is_that_of_guessing(batch):
    found = run(ROWS["first"][0], model_of(), *batch)
    assert abs(found.loss - math.log(V)) < 0.2 and found.guessing == math.log(V)
    loud = model_of()
    nn.init.normal_(loud.linear.weight, std=9)
    assert run(ROWS["first"][0], loud, *batch).loss > found.guessing + 1


def test_leaks_and_shifts_are_found(batch):
    line = ROWS["leak"][0]
    shift, leaks = run(line, model_of(), *batch)
    assert shift[1] == 1 and not leaks
    both_ways = model_of(companion.GRU(8, 5, bidirectional=True, dtype=torch.float64))
    assert [leak.kind for leak in run(line, both_ways, *batch)[1]] == ["future"]
    shift, leaks = run(line, model_of(), batch[0], batch[0])
    assert shift[0] == 1 and leaks
    mixed = model_of(companion.GRU(8, 10, batch_first=True, dtype=torch.float64))
    assert "rows" in [leak.kind for leak in run(ROWS["batch"][0], mixed, *batch)]


def test_the_forget_gates_are_opened(batch):
    lstm = nn.LSTM(8, 10)
    run(ROWS["forgets"][1], model_of(lstm), *batch)
    assert (lstm.bias_ih_l0[10:20] == 3).all() and (lstm.bias_ih_l0[:10].abs() < 1).all()
    assert "no_grad" in WORDS["forgets"]["remedy"]
    assert ROWS["forgets"][1].endswith(f"fill_({quotes.numbers()['bias_open']})")
    past = run(ROWS["forgets"][0], model_of(), *batch)
    assert past.in_order > 0 and past.shuffled > 0


def test_dropout_answers_differently_until_eval_is_called(batch):
    dropped = companion.GRU(8, 10, 2, dropout=0.5, dtype=torch.float64)
    model = model_of(dropped)
    line, remedy, _ = ROWS["differs"]
    assert run(line, model, *batch) is True and not model(batch[0])[0].equal(model(batch[0])[0])
    run(remedy, model, *batch)
    assert run(line, model, *batch) is False and model(batch[0])[0].equal(model(batch[0])[0])


def test_threads_are_set(batch):
    before = torch.get_num_threads()
    try:
        torch.set_num_threads(2)
        run(ROWS["slow"][1], model_of(), *batch)
        assert torch.get_num_threads() == 1
    finally:
        torch.set_num_threads(before)


def test_every_line_of_code_is_tested_here():
    tested = {"flat", "jumps", "nan", "same", "first", "leak", "batch", "forgets", "differs", "slow"}
    assert {name for name, (test, remedy, _) in ROWS.items() if test or remedy} == tested


@pytest.mark.parametrize("change", ["31.9", "again"])
def test_a_changed_output_is_noticed(change):
    text, place = chapters.output("step_sizes#learning-rates-run"), "step_sizes#learning-rates-run"
    pattern = r"rate 0\.03: validation perplexity (?P<low>[\d.]+) to"
    assert quotes.find(text, place, pattern) == {"low": "31.9"}
    if change == "again":
        with pytest.raises(ValueError, match="2 matches"):
            quotes.find(text + text, place, pattern)
    else:
        assert quotes.find(text.replace(change, "33.3"), place, pattern) == {"low": "33.3"}
        with pytest.raises(ValueError, match=f"{place}: .* 0 matches"):
            quotes.find(text.replace("rate 0.03", "rate 0.02"), place, pattern)


@pytest.mark.parametrize(
    ("text", "shown"),
    [("6.4e+08", "6.4 · 10⁸"), ("9e-13", "9 · 10⁻¹³"), ("9e-01", "0.9"), ("4e+00", "4"), ("12", "12")],
)
def test_powers_of_ten_are_raised(text, shown):
    assert quotes.show(text) == shown


def test_every_quoted_number_is_used():
    words = str(read_words("en"))
    assert [name for name in quotes.numbers() if f"{{{name}}}" not in words] == []
