"""Test the figure Past: the page's attribution measures equal Python's."""

import copy
import json
import math
import re
import tomllib
from types import SimpleNamespace

import pytest
import torch
from torch import nn
from traitlets import TraitError

import companion
from companion.figures import Past
from companion.figures.figure import read
from companion.figures.past import TEXTS
from companion.learning import influence
from companion.learning.sequence_model import SequenceModel
from companion.learning.text import Vocabulary, characters
from tests.figures.figure_page import figure_page, get, in_states, load, move, serve_modules

KINDS = ["RNN", "GRU", "LSTM"]
# weights: name → rows, as in a file
MEASURED = """({ weights, indices, place }) => {
    const rows = Object.fromEntries(Object.entries(weights).map(([name, value]) =>
        [name, value.map((row) => Array.isArray(row) ? Float64Array.from(row) : row)]));
    const models = s.buildModels(rows, ["RNN", "GRU", "LSTM"]);
    return Object.values(models).map((model) => {
        const [gradient, without] = [s.gradientNorms(model, indices, place), s.lossIncreases(model, indices, place)];
        return [s.lossAt(model, indices, place), gradient, without, s.reach(gradient, 0.9), s.reach(without, 0.5)];
    });
}"""


def test_measures_equal_pythons(browser):
    """Compare untrained models with large weights, at the first place, in the middle and at the last."""
    torch.manual_seed(0)
    double = {"dtype": torch.float64}
    models = {
        kind: SequenceModel(companion.Embedding(9, 4, **double), getattr(companion, kind)(4, 6, **double), 9)
        for kind in KINDS
    }
    for model in models.values():
        for p in model.parameters():
            p.data *= 2
    weights = {f"{kind}.{name}": p.detach() for kind, model in models.items() for name, p in model.named_parameters()}
    indices = torch.randint(9, (30,))
    with serve_modules(browser, "past_measures", "numbers") as ask:
        results = ask(MEASURED, [{"weights": weights, "indices": indices, "place": place} for place in (1, 11, 29)])
    for place, result in zip((1, 11, 29), results, strict=True):
        past, target = indices[:place], indices[place]
        for model, (loss, *rest) in zip(models.values(), result, strict=True):
            gradient = influence.gradients(model, past[:, None], target[None])[:, 0]
            without = influence.taken_away(model, past, target)
            assert abs(loss - influence.surprise(model, past[:, None], target).item()) < 1e-11
            for ours, theirs in zip(rest[:2], (gradient, without), strict=True):
                torch.testing.assert_close(torch.tensor(ours, **double), theirs, rtol=1e-10, atol=1e-11)
            assert rest[2:] == [int(influence.reach(gradient, 0.9)), int(influence.reach(without, 0.5))]


SHOWN = (
    "() => [...document.querySelectorAll('table.standings tbody tr')].map(row => [...row.cells].map(cell =>"
    " cell.textContent))"
)


def rows(figure):
    """Return the expected rows of the table."""
    table = []
    for kind in KINDS:
        loss = figure.surprise(kind)
        table.append(
            [
                kind,
                chance(loss),
                f"{loss / torch.log(torch.tensor(2.0)).item():.1f}",
                str(figure.reach(kind, 0.5)),
                str(figure.reach(kind)),
            ]
        )
    return table


@pytest.mark.parametrize("language", TEXTS)
def test_stored_results_equal_pythons(language):
    """Check every place of the first text, by both measures; and where the figure opens."""
    figure = Past(language)
    assert characters(figure.text)[figure.place] in "”」" and figure.kinds == KINDS[:1]
    assert len(json.dumps(figure.networks)) < 100_000
    assert figure.networks["kinds"] == KINDS  # results may arrive sorted
    for place in range(1, len(characters(figure.text)), 1 if language == "en" else 7):
        figure.place = place
        for kind in KINDS:
            stored = figure.networks["results"][kind]
            assert abs(stored["loss"][figure.place - 1] - figure.surprise(kind)) < 6e-4
            for measure in ("without", "gradient"):
                values = torch.tensor(stored[measure][figure.place - 1], dtype=torch.float64)
                torch.testing.assert_close(values, getattr(figure, measure)(kind), rtol=0, atol=6e-4)


@pytest.mark.heavy
@pytest.mark.parametrize("language", TEXTS)
def test_table_equals_pythons_results(browser, language):
    """Check stored results before the weights are loaded, then places of another text, by both measures."""
    with figure_page(browser, "past", language) as page:
        for place in (3, Past(language).place):
            move(page, place=place)
            assert page.evaluate(SHOWN) == rows(Past(language, place=place))
        text = TEXTS[language][2:40]
        (unknown,) = in_states(page, [{"text": text, "place": 3}], SHOWN)
        assert {cell for row in unknown for cell in row[1:]} == {"–"}
        load(page)
        page.locator("textarea").fill(text)
        states = [
            {"text": text, "place": place, "measure": measure}
            for place in (1, 7, 12)
            for measure in ("gradient", "without")
        ]
        for state in states:
            move(page, **state)
            page.wait_for_selector("table:not([aria-busy])", state="attached")  # a worker answers
            assert page.evaluate(SHOWN) == rows(Past(language, **state)), state


@pytest.mark.parametrize("language", TEXTS)
def test_right_answer(language):
    """Compute the right answer: the networks that expect the closing mark by half or less without the opening mark."""
    table = tomllib.loads(read(f"words/{language}.toml"))["past"]
    if "question" not in table:
        return
    figure = Past(language)
    k = max(figure.text.find(mark) for mark in "“「")
    p = {kind: math.exp(-figure.surprise(kind)) for kind in KINDS}
    without = {kind: p[kind] * math.exp(-figure.without(kind)[k]) for kind in KINDS}
    assert without["RNN"] == pytest.approx(p["RNN"], abs=0.04) and min(p.values()) > 0.3
    # by a wide margin: a bar can be seen
    kinds = [kind for kind in KINDS if without[kind] < 0.4 * p[kind]]
    assert all(without[kind] > 0.95 * p[kind] for kind in KINDS if kind not in kinds)
    assert table["right"] == [["GRU", "LSTM"], ["GRU"], []].index(kinds)


# The pixel at which the drawing shows the letter of character k, or, if a network is named, its bar below this letter.
AT = """([k, name]) => {
    const svg = document.querySelector("svg.drawing"), { left, top, width } = svg.getBoundingClientRect();
    const place = (text) => [text.getAttribute("x"), text.getAttribute("y")].map((value) => value * width / 360);
    const [x, y] = place([...svg.querySelectorAll("text[font-family]")][k]);
    const names = [...svg.querySelectorAll("text")].filter((text) => text.textContent === name);
    return [left + x, top + (name ? names.map((text) => place(text)[1]).find((middle) => middle > y) : y)];
}"""


def chance(loss):
    p = math.exp(-loss)
    return "< 0.001" if p < 0.0005 else f"{p:.3f}" if p < 0.005 else f"{p:.2f}"


def test_the_pointer_shows_values(browser):
    """Check bars of all networks on both lines, by both measures, with the stored results."""
    figure = Past(kinds=KINDS)
    text = characters(figure.text)
    with figure_page(browser, "past", kinds=KINDS) as page:
        for kind in KINDS:
            without, gradient, loss = figure.without(kind), figure.gradient(kind), figure.surprise(kind)
            for k in (1, 13, 24, figure.place - 1):
                move(page, measure="without")
                page.mouse.move(*page.evaluate(AT, [k, kind]))
                p = f"p {chance(loss)} → {chance(loss + without[k].item())}"
                assert page.locator(".pointed").text_content() == f"{kind}, without ‘\xa0{text[k]}\xa0’: {p}"
                move(page, measure="gradient")
                page.mouse.move(0, 0)
                page.mouse.move(*page.evaluate(AT, [k, kind]))
                share = float(re.fullmatch(rf"{kind}, .*: ([\d.]+) %", page.locator(".pointed").text_content())[1])
                assert abs(share - 100 * (gradient[k] / gradient.sum()).item()) < 0.06
        page.mouse.move(*page.evaluate(AT, [figure.place, "LSTM"]))
        assert page.locator(".pointed").text_content() == f"LSTM: p {chance(loss)}"
        move(page, place=20)
        page.mouse.move(*page.evaluate(AT, [23, "LSTM"]))
        assert not page.locator(".pointed").is_visible()  # the networks have not read this character


# For each network: the heights of the bars by their characters, in probability. That of the framed character is p.
HEIGHTS = """() => {
    const svg = document.querySelector("svg.drawing"), number = (element, name) => Number(element.getAttribute(name));
    const middles = [...svg.querySelectorAll("text[font-family]")].map((letter) => number(letter, "x"));
    const bars = [...svg.querySelectorAll("g > rect[height]:not([rx]):not([cursor])")].slice(2); // without the legend's
    const rows = Map.groupBy(bars, (bar) => Math.round(10 * (number(bar, "y") + number(bar, "height"))));
    return [...rows.values()].map((bars) => bars.map((bar) => {
        const height = number(bar, "height") / 75 * (bar.getAttribute("fill") === "#2f7fc1" ? -1 : 1);
        return [middles.findIndex((x) => Math.abs(x - number(bar, "x") - number(bar, "width") / 2) < 1), height];
    }));
}"""


@pytest.mark.parametrize("language", TEXTS)
def test_bars_are_falls_of_p(browser, language):
    """Check that a bar is as high as p falls without its character, and that the other rows are hidden at first."""
    figure = Past(language)
    with figure_page(browser, "past", language) as page:
        assert [len(row) > 1 for row in page.evaluate(HEIGHTS)] == [True, False, False]
        page.get_by_role("button", name="GRU", exact=True).click()
        page.locator("svg rect[cursor][height='80']").last.click()  # the row of the LSTM
        move(page)
        assert get(page, "kinds") == KINDS
        for kind, row in zip(KINDS, page.evaluate(HEIGHTS), strict=True):
            p = math.exp(-figure.surprise(kind))
            falls = p - p * (-figure.without(kind)).exp()
            heights = dict(row)
            shown = [heights.get(k, 0) for k in range(figure.place + 1)]
            assert shown == pytest.approx([*falls.tolist(), p], abs=4e-3)
        halved = [figure.without(kind).ge(math.log(2)).nonzero()[0, 0].item() for kind in KINDS]
        said = page.locator(".seen .report").text_content()
        assert [int(n) for n in re.findall(r"\d+", said)] == [figure.place - k for k in halved]


def test_letters_have_a_fixed_width(browser):
    """Check that letters are in a grid of equal columns, and that a Japanese letter takes two."""
    look = """() => [...document.querySelectorAll("svg text[font-family]")].map((text) =>
        [text.textContent, Number(text.getAttribute("x")), text.getComputedTextLength()])"""
    for language, width in (("en", 9), ("ja", 18)):
        with figure_page(browser, "past", language) as page:
            letters = page.evaluate(look)
            assert [letter.replace("⏎", "\n") for letter, *_ in letters] == characters(TEXTS[language])
            assert {b[1] - a[1] for a, b in zip(letters[:10], letters[1:10], strict=False)} == {width}
            widths = [length for letter, _, length in letters if letter.isascii() and letter.isalpha()]
            assert max(widths, default=0) - min(widths, default=0) < 0.1


@pytest.mark.parametrize("language", TEXTS)
def test_it_fits_one_screen(browser, language):
    for width, part, most in ((360, ".seen", 400), (768, ".together", 720)):
        with figure_page(browser, "past", language, width=width, kinds=KINDS) as page:
            assert page.locator(part).bounding_box()["height"] <= most


def test_a_reader_chooses_a_place_and_writes(browser):
    with figure_page(browser, "past") as page:
        page.locator("summary").click()
        page.get_by_role("button", name="gradient").press("Enter")
        page.mouse.click(*page.evaluate(AT, [30, None]))  # before the weights are loaded
        assert get(page, "place") == 30
        load(page)
        page.mouse.click(*page.evaluate(AT, [5, None]))
        assert page.evaluate("[model.get('place'), model.get('measure')]") == [5, "gradient"]
        page.get_by_role("slider", name="place").press("ArrowRight")
        assert get(page, "place") == 6
        page.locator("textarea").fill("The fox ☃")
        assert "☃" in page.locator("p.report[id]").text_content()
        assert get(page, "text") == TEXTS["en"]  # invalid text does not change the model
        page.locator("textarea").fill("The fox")
        page.wait_for_function("model.get('text') === 'The fox' && model.get('place') < 7")


def test_unknown_kind_is_refused():
    with pytest.raises(ValueError, match="kind must be one of RNN, GRU, LSTM"):
        Past().surprise("CNN")


LETTERS = "abcdefg =\n"
TEXT = "bad cab = a\nfed bag"


def sequence(layer, E=4, bias=True):
    """Return a module with the parts of a model, in the layer's type."""
    size = layer.proj_size or layer.hidden_size
    model = SimpleNamespace(embedding=nn.Embedding(10, E), recurrent=layer, linear=nn.Linear(size, 10, bias=bias))
    return nn.ModuleDict(vars(model)).to(next(layer.parameters()).dtype), model


LAYERS = {
    "torch RNN": lambda: nn.RNN(4, 6, dtype=torch.float64),
    "torch GRU": lambda: nn.GRU(4, 6, 2, bias=False, batch_first=True, dropout=0.5),
    "torch LSTM": lambda: nn.LSTM(4, 6, 2, proj_size=3, dtype=torch.float16),
    "companion LSTM": lambda: companion.LSTM(4, 6, 2, dtype=torch.float64),
}


@pytest.mark.parametrize("name", LAYERS)
def test_own_model(browser, name):
    """Compare both measures at every place with autograd through the reader's layer, which is unchanged."""
    torch.manual_seed(0)
    layer = LAYERS[name]()
    module, model = sequence(layer, bias="GRU" not in name)
    before = copy.deepcopy(module.train().state_dict())
    figure = Past.of(model, TEXT, list(LETTERS), 4)
    assert all(m.training for m in module.modules()) and all(p.grad is None for p in module.parameters())
    assert all(torch.equal(before[key], value) for key, value in module.state_dict().items())
    assert layer.batch_first == ("GRU" in name) and "\n" not in repr(figure)
    layer.batch_first = False
    module.eval().double()
    kind, indices = name.split()[1], Vocabulary.of(LETTERS).encode(TEXT)

    def loss_of(vectors, target):
        h = layer(vectors[:, None])[0][-1, 0] if len(vectors) else torch.zeros(model.linear.in_features).double()
        return nn.functional.cross_entropy(model.linear(h), target)

    (shown,) = figure.networks["results"].values()
    assert [*figure.networks["results"]] == [kind]
    for place in range(1, len(TEXT)):
        x = model.embedding(indices[:place]).detach().requires_grad_()
        loss = loss_of(x, indices[place])
        (dx,) = torch.autograd.grad(loss, x)
        rises = [loss_of(torch.cat([x[:t], x[t + 1 :]]), indices[place]).item() - loss.item() for t in range(place)]
        figure.place = place
        for measure, expected in (("gradient", dx.norm(dim=1)), ("without", torch.tensor(rises, dtype=torch.float64))):
            torch.testing.assert_close(getattr(figure, measure)(kind), expected, rtol=0, atol=1e-10)
            stored = torch.tensor(shown[measure][place - 1], dtype=torch.float64)
            torch.testing.assert_close(stored, expected, rtol=0, atol=2e-9)
        assert abs(shown["loss"][place - 1] - loss.item()) < 2e-9
    with figure_page(browser, "past", figure=figure) as page:
        for place in (1, 5, len(TEXT) - 1):
            figure.place = place
            if place > 1:
                page.mouse.click(*page.evaluate(AT, [place, None]))
            move(page, place=place)
            p, bits = chance(figure.surprise(kind)), f"{figure.surprise(kind) / math.log(2):.1f}"
            reaches = [str(figure.reach(kind, share)) for share in (0.5, 0.9)]
            assert page.evaluate(SHOWN) == [[kind, p, bits, *reaches]]
        assert page.locator(".question, textarea").count() == 0
        assert page.get_by_role("button").filter(has_text="kB").count() == 0


def test_own_model_in_a_file(browser, tmp_path):
    torch.manual_seed(0)
    model = SequenceModel(companion.Embedding(10, 4), companion.GRU(4, 6), 10)
    figure = Past.of(model, TEXT, Vocabulary.of(LETTERS))
    assert figure.place == len(TEXT) - 1
    figure.save(tmp_path / "mine.html")
    page = browser.new_page()
    page.goto((tmp_path / "mine.html").as_uri())
    assert page.evaluate(SHOWN)[0][1] == chance(figure.surprise("GRU"))
    page.close()
    with pytest.raises(TraitError, match="text cannot be changed here"):
        figure.text = "bad"


small = SequenceModel(nn.Embedding(10, 4), nn.LSTM(4, 6), 10)
both_ways = SimpleNamespace(embedding=nn.Embedding(10, 4), recurrent=nn.LSTM(4, 6, bidirectional=True))
both_ways.linear = nn.Linear(12, 10)
wrong_size = SimpleNamespace(embedding=small.embedding, recurrent=small.recurrent, linear=nn.Linear(7, 10))
broken = copy.deepcopy(small)
broken.linear.bias.data[0] = torch.nan
REFUSED = [
    (TypeError, "text must be a string, not list", (small, ["b"], LETTERS)),
    (TypeError, "model must have an embedding, a recurrent layer", (nn.LSTM(4, 6), TEXT, LETTERS)),
    (TypeError, "place must be an int or None, not bool", (small, TEXT, LETTERS, True)),
    (ValueError, "place must be from 1 to 18, not 19: the text has 19 characters", (small, TEXT, LETTERS, 19)),
    (ValueError, "not in the vocabulary of 10 characters: 'x'", (small, "ax", LETTERS)),
    (ValueError, "text must have 2 to 120 characters, not 121", (small, "a" * 121, LETTERS)),
    (ValueError, "the vocabulary has 9 characters, but the embedding has 10 rows", (small, TEXT, LETTERS[:9])),
    (ValueError, "bidirectional", (both_ways, TEXT, LETTERS)),
    (ValueError, "the recurrent layer has 6 features, the linear layer reads 7", (wrong_size, TEXT, LETTERS)),
    (ValueError, "not finite", (broken, TEXT, LETTERS)),
]


@pytest.mark.parametrize(("error", "message", "arguments"), REFUSED, ids=[message for _, message, _ in REFUSED])
def test_own_model_is_refused(error, message, arguments):
    with pytest.raises(error, match=re.escape(message)):
        Past.of(*arguments)
