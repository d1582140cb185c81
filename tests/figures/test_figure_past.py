"""Test the figure Past: the page's attribution measures equal Python's."""

import pytest
import torch

import companion
from companion.figures import Past
from companion.figures.past import PLACES, TEXTS
from companion.learning import influence
from companion.learning.sequence_model import SequenceModel
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
    with serve_modules(browser, "past_measures") as ask:
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
        p = torch.tensor(-loss).exp().item()
        chance = "< 0.001" if p < 0.0005 else f"{p:.3f}" if p < 0.005 else f"{p:.2f}"
        table.append(
            [
                kind,
                chance,
                f"{loss / torch.log(torch.tensor(2.0)).item():.1f}",
                str(figure.reach(kind, 0.5)),
                str(figure.reach(kind)),
            ]
        )
    return table


@pytest.mark.heavy
@pytest.mark.parametrize("language", TEXTS)
def test_table_equals_pythons_results(browser, language):
    """Check the stored results before the weights are loaded, then places of another text, by both measures."""
    with figure_page(browser, "past", language) as page:
        assert page.evaluate(SHOWN) == rows(Past(language))
        (unknown,) = in_states(page, [{"place": 3}], SHOWN)
        assert {cell for row in unknown for cell in row[1:]} == {"–"}
        load(page)
        text = TEXTS[language][2:40]
        page.locator("textarea").fill(text)
        states = [
            {"text": text, "place": place, "measure": measure}
            for place in (1, 7, 20)
            for measure in ("gradient", "without")
        ]
        for state in states:
            move(page, **state)
            page.wait_for_selector("table:not([aria-busy])")  # a worker answers
            assert page.evaluate(SHOWN) == rows(Past(language, **state)), state


def test_a_reader_chooses_a_place_and_writes(browser):
    with figure_page(browser, "past") as page:
        page.get_by_role("button", name="gradient").press("Enter")
        load(page)
        page.locator("svg.drawing rect[cursor=pointer]").nth(4).click()
        assert page.evaluate("[model.get('place'), model.get('measure')]") == [5, "gradient"]
        page.get_by_role("slider", name="place").press("ArrowRight")
        assert get(page, "place") == 6
        page.locator("textarea").fill("The fox ☃")
        assert "☃" in page.locator("p.report[role=status]").nth(1).text_content()
        assert get(page, "text") == TEXTS["en"]  # invalid text does not change the model
        page.locator("textarea").fill("The fox")
        page.wait_for_function("model.get('text') === 'The fox' && model.get('place') < 7")


def test_unknown_kind_is_refused():
    with pytest.raises(ValueError, match="kind must be one of RNN, GRU, LSTM"):
        Past().surprise("CNN")
    assert PLACES["en"] == Past().place
