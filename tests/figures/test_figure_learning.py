"""Test the figure Learning: two networks learn on the page as in torch, and pause when out of sight."""

import json
import re

import pytest
import torch
from torch.nn import functional as F

from book.tools.draw import train_learning_figure
from companion.figures import Learning
from companion.figures.figure import read, words
from companion.learning.training import clip_gradients
from tests.figures.figure_page import figure_page, get, move, sentences
from tests.project.sampling import chosen

RESTS = "steps => model.get('steps') === steps && model.get('weights').length === 2"


def flat(model):
    return torch.nn.utils.parameters_to_vector(model.parameters()).detach()


@pytest.mark.parametrize("kind", chosen(["RNN", "GRU", "LSTM"], "LSTM"))
def test_weights_after_fifty_steps_equal_torchs(browser, kind):
    """Compare losses and weights of both networks, from the same initial weights and data."""
    torch.manual_seed(0)
    examples = [([*torch.randint(6, (7,)).tolist()], k % 3) for k in range(40)]
    figure = Learning(kind=kind, examples=examples, learning_rate=0.03)
    models = [
        figure._model((5 * flat(figure._model())).tolist()) for _ in range(2)
    ]  # so large that some gradients are clipped
    start = [flat(model).tolist() for model in models]
    given = {"examples": figure.examples, "begin_with": start, "learning_rate": 0.03, "kind": kind}
    with figure_page(browser, "learning", **given) as page:
        move(page, goal=50)
        page.wait_for_function(RESTS, arg=50)
        page.locator(".seen .report", has_text="After 50 steps blue is right in ").wait_for()  # with the next picture
        shares = re.findall(r"(\d+)\s%", sentences(page))[:2]
        losses, weights = get(page, "losses"), get(page, "weights")
    for model, page_weights, page_losses, share in zip(models, weights, losses, shares, strict=True):
        optimizer, ours, lengths, right = torch.optim.Adam(model.parameters(), lr=0.03), [], [], []
        for step in range(50):
            batch = [examples[(step * 16 + k) % 40] for k in range(16)]
            targets = torch.tensor([target for _, target in batch])
            y = model(torch.tensor([indices for indices, _ in batch]).T)[0][-1]
            loss = F.cross_entropy(y, targets)
            right.append((y.argmax(-1) == targets).double().mean().item())
            optimizer.zero_grad()
            loss.backward()
            lengths.append(float(clip_gradients(model.parameters(), 1)))
            optimizer.step()
            ours.append(loss.item())
        torch.testing.assert_close(torch.tensor(page_losses), torch.tensor(ours), rtol=1e-6, atol=1e-6)
        torch.testing.assert_close(torch.tensor(page_weights, dtype=torch.float64), flat(model), rtol=1e-6, atol=1e-6)
        assert min(lengths) < 1 < max(lengths)
        assert float(share) == pytest.approx(100 * sum(right[-20:]) / 20, abs=0.5)
    assert ours[-1] < 0.7 * ours[0]
    figure.set_trait("weights", weights)
    assert torch.equal(flat(figure.models()[1]), torch.tensor(weights[1], dtype=torch.float64))


def test_play_pause_and_restart(browser):
    """Check that the figure stops when it is paused, out of sight or of another kind."""
    steps = "() => Number(document.querySelector('.seen .report').textContent.match(/After (\\d+)/)?.[1] ?? 0)"
    with figure_page(browser, "learning", gap=3) as page:
        play = page.get_by_role("button", name="Play")
        assert page.locator(".seen .report").text_content().endswith("Press Play.")
        play.press("Enter")
        page.wait_for_function(f"({steps})() > 20")
        page.get_by_role("button", name="Pause").press("Enter")
        page.wait_for_function("model.get('steps') > 0")
        rests = page.evaluate(steps)
        assert [len(losses) for losses in get(page, "losses")] == [rests, rests]
        page.wait_for_timeout(200)
        assert page.evaluate(steps) == rests
        page.get_by_role("combobox", name="Kind").select_option("GRU")
        page.wait_for_function("model.get('steps') === 0")
        page.get_by_role("button", name="Play").click()
        page.wait_for_function(f"({steps})() > 5")
        page.evaluate("document.body.style.paddingTop = '4000px'")  # pushed out of sight
        play.wait_for(state="attached")
        page.wait_for_function("model.get('steps') > 0")
        rests = page.evaluate(steps)
        page.wait_for_timeout(200)
        assert page.evaluate(steps) == rests == get(page, "steps")
        page.evaluate("document.body.style.paddingTop = ''")
        page.get_by_role("button", name="Other weights and data").click()
        page.wait_for_function("model.get('steps') === 0")
        page.get_by_role("button", name="now no. 2").wait_for()
        assert rests > 5 and get(page, "seed") == 1
    with figure_page(browser, "learning", gap=3, motion="reduce") as page:
        page.get_by_role("button", name="Play").press("Enter")  # with reduced motion, a hundred steps at once
        page.wait_for_function(RESTS, arg=100)
        assert page.locator(".seen .report").text_content().startswith("After 100 steps")


def test_answer_of_the_question():
    """Check which networks are right after 300 steps; test_stored_run_equals_a_new_one checks the stored run."""
    stored, question = json.loads(read("learned.json")), words("en", "learning")
    able = tuple(right > 0.9 for right in stored["right"])
    answer = {(True, False): "blue", (False, True): "orange", (True, True): "both", (False, False): "neither"}[able]
    assert stored["steps"] == 300 and question["answers"][question["right"]] == answer
    assert {name: getattr(Learning(), name) for name in stored["settings"]} == stored["settings"]


def test_stored_run(browser):
    """Check that the figure opens at step 0 and sets nothing.

    A button then shows the stored run, and its values can be pointed at. With other settings there is no button.
    """
    stored = json.loads(read("learned.json"))
    with figure_page(browser, "learning") as page:
        page.evaluate("() => { window.saved = []; model.save_changes = () => saved.push(model.get('steps')); }")
        page.wait_for_function("document.querySelectorAll('svg path[d*=z]').length > 9")  # the gates at step 0
        assert page.evaluate("saved") == [] and get(page, "weights") == []
        page.get_by_role("button", name="Show 300 steps").click()
        page.locator(".seen .report", has_text="After 300 steps blue is right in 25 % of the sequences").wait_for()
        assert page.locator("svg text[font-weight='700']").all_text_contents() == ["25\u00a0%", "100\u00a0%"]
        box = page.locator("svg.drawing").bounding_box()
        unit = box["width"] / 360
        blue, orange = (losses[20] for losses in stored["losses"])
        (_, _, f_3, *_), (*_, f_22) = stored["memories"]
        said = {
            (24 + 288 * 102.5 / 300, 60): f"step 103: blue {blue:.3f}, orange {orange:.3f}",
            (8 + 166 * 2.5 / 22, 184 + 5 * 6.5): f"f3, unit 7 = {f_3[6]:.4f}",
            (186 + 166 * 21.5 / 22, 184 + 5 * 15.5): f"f22, unit 16 = {f_22[15]:.4f}",
        }
        for (x, y), text in said.items():
            page.mouse.move(box["x"] + x * unit, box["y"] + y * unit)
            assert page.locator(".pointed").text_content() == text
        page.mouse.move(box["x"] + 330 * unit, box["y"] + 60 * unit)  # right of the axes
        assert page.locator(".pointed").is_hidden()
        page.get_by_label("Gap").fill("4")
        page.wait_for_function("document.querySelector('.seen .report').textContent.includes('4 steps of noise')")
        assert get(page, "stored") is False and page.get_by_role("button", name="Show 300 steps").is_hidden()
        move(page, gap=20)
        assert page.get_by_role("button", name="Show 300 steps").is_visible()
        move(page, kind="RNN")
        begun = page.locator("svg text", has_text="begins with W").text_content()
        assert begun.replace("\u200b", "") == "━ begins with Whh = I"
        assert page.locator("svg text", has_text=re.compile("^300$")).count() == 1  # the end of the axis


def test_models_needs_weights_from_the_page():
    with pytest.raises(RuntimeError, match="has not sent its weights yet"):
        Learning().models()


@pytest.mark.deep
def test_claims_of_the_chapter(browser):
    """Check which LSTMs learn.

    One with torch's initial weights learns over five steps of noise and not over fifteen, one with chrono biases over
    both; over twenty, a bias of 1 is not enough, 3 is.
    """
    cases = [({"gap": 5}, 300, True, True), ({"gap": 15}, 1000, False, True)]
    cases += [({"gap": 20, "start": "bias", "bias": bias}, 1000, False, bias == 3) for bias in (1, 3)]
    for setting, steps, blue, orange in cases:
        with figure_page(browser, "learning", motion="reduce", **setting) as page:  # nothing is drawn in between
            move(page, goal=steps)
            page.wait_for_function(RESTS, arg=steps)
            ends = [sum(losses[-20:]) / 20 for losses in get(page, "losses")]
        assert [end < 0.1 for end in ends] == [blue, orange], (setting, ends)


@pytest.mark.heavy
def test_stored_run_equals_a_new_one(browser):
    stored = json.loads(read("learned.json"))
    run = train_learning_figure(browser)
    assert [run[name] for name in ("settings", "steps", "right")] == [
        stored[name] for name in ("settings", "steps", "right")
    ]
    for name in ("losses", "memories"):
        torch.testing.assert_close(torch.tensor(run[name]), torch.tensor(stored[name]), rtol=0, atol=0.011)
