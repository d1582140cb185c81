"""Test the figure Pairs: a matrix state, into which a reader writes values under keys."""

import json
import random
import re

import pytest
import torch

from companion.figures import Pairs
from companion.figures.figure import words
from companion.figures.pairs import KEYS, VALUES
from tests.figures.figure_page import figure_page, get, move, sentences, serve_modules


def test_state_equals_the_companions(browser):
    drawn = random.Random(0)
    cases = []
    for _ in range(200):
        writes = [[drawn.randrange(7), drawn.choices(range(-2, 3), k=4)] for _ in range(drawn.randrange(11))]
        cases.append(
            {
                "writes": writes,
                "delta": drawn.random() < 0.6,
                "alpha": drawn.uniform(0.5, 1),
                "beta": drawn.uniform(0, 2),
            }
        )
    with serve_modules(browser, "matrix") as ask:
        keys = json.dumps(KEYS)
        call = f"({{ writes, delta, alpha, beta }}) => s.stateAfter(writes, {keys}, alpha, beta, delta)"
        states = ask(call, cases)
    for case, S in zip(cases, states, strict=True):
        torch.testing.assert_close(torch.tensor(S, dtype=torch.float64), Pairs(**case).state(), rtol=0, atol=1e-9)


FIVE = Pairs.pictured["writes"]  # a value under each of the keys A to E
SQUARES = """() => Object.fromEntries([...document.querySelectorAll("svg [data-said]")]
  .map(part => part.dataset.said.replaceAll("−", "-").split(" = ")))"""


def errors(figure):
    """Return the largest error of the answer of each key of FIVE."""
    S = figure.state()
    pairs = [(torch.tensor(vector, dtype=torch.float64) for vector in (KEYS[k], v)) for k, v in FIVE]
    return [float((S @ k - v).abs().max()) for k, v in pairs]


def test_answer_of_the_question():
    """Check that four values are read exactly and none of five."""
    question = words("en", "pairs")
    assert max(errors(Pairs(writes=FIVE[:4]))[:4]) == 0
    exact = sum(error < 0.05 for error in errors(Pairs(writes=FIVE)))
    assert {5: "all five", 4: "four", 0: "none"}[exact] == question["answers"][question["right"]]
    assert Pairs().writes == []


def test_a_reader_writes_five_values(browser):
    """Write under A to E by pressing, then with the delta rule: the errors that the figure says are the companion's."""
    off = lambda text: float(text.rpartition("Off by at most ")[2].partition(". ")[0].rstrip("."))  # noqa: E731
    with figure_page(browser, "pairs") as page:
        for k, value in FIVE:
            page.get_by_role("button", name=f"key {'ABCDE'[k]}", exact=True).press("Enter")
            assert get(page, "value") == value
            page.get_by_role("button", name="Write under").press("Enter")
        assert get(page, "writes") == FIVE
        for delta in (False, True):
            expected = errors(Pairs(writes=FIVE, delta=delta))
            shown = [off(sentences(page, delta=delta, asked=key)) for key in range(5)]
            assert shown == pytest.approx(expected, abs=0.05 + 1e-9)
        assert expected[4] == pytest.approx(0) and min(expected[:4]) > 0.1
        assert "Mixed in, because the keys overlap: A, B, C, D." in sentences(page, delta=False, asked=4)
        said = "E, written last, is exact. Writing it changed the answers of A, B, C, D."
        assert said in sentences(page, delta=True) and said in sentences(page, asked=0)
        assert "Mixed in" not in sentences(page, asked=4)
        page.get_by_role("slider", name="v1").fill("-2")
        page.get_by_role("button", name="Write under E").click()
        assert get(page, "writes")[-1] == [4, [-2, -1, 1, -2]] and off(sentences(page)) < 0.05
        page.get_by_role("button", name="Take back").click()
        page.get_by_role("button", name="Clear").click()
        move(page)
        assert page.get_by_role("button", name="Clear").is_disabled() and get(page, "writes") == []
        move(page, writes=[[0, [0, 0, 0, 0]]] * 10)
        assert page.get_by_role("button", name="Write under").is_disabled()


def test_the_drawing_is_pressed_and_shows_values(browser):
    """Press a row, then the value: it is written under that key. The squares say the companion's numbers."""
    with figure_page(browser, "pairs") as page:
        page.locator("svg text", has_text=re.compile("^F$")).click()
        page.locator("svg text", has_text="write").click()
        assert get(page, "writes") == [[5, VALUES[5]]] and get(page, "asked") == 5
        move(page, asked=0)
        S = Pairs(writes=[[5, VALUES[5]]]).state()
        shown = page.evaluate(SQUARES)
        squares = [[float(shown[f"S_{{{i}{j}}}"]) for j in range(1, 5)] for i in range(1, 5)]
        assert torch.allclose(torch.tensor(squares, dtype=torch.float64), S, atol=1e-4)
        assert [float(shown[f"(S k)_{i}"]) for i in range(1, 5)] == pytest.approx(S[:, 0].tolist(), abs=1e-4)
        assert float(shown["F · A"]) == KEYS[5][0]
        page.locator("svg [data-said^='S_{21}']").hover()
        assert page.locator(".pointed").text_content() == f"S21 = {S[1, 0]:.4f}"


def test_buttons_write_five_values_and_show_what_a_write_adds(browser):
    """Press both buttons; the squares then say the difference of the companion's states, less what is not kept."""
    with figure_page(browser, "pairs") as page:
        page.get_by_role("button", name="Write A to E").click()
        assert get(page, "writes") == FIVE and get(page, "asked") == 4
        for delta, alpha, formula in ((False, 1, "v kᵀ"), (True, 0.5, "(v − α S k) kᵀ")):
            move(page, delta=delta, alpha=alpha, asked=5, value=VALUES[5])
            page.get_by_role("button", name="Show what is added").press("Enter")
            assert (
                page.locator("svg text", has_text="is added").text_content().replace("\u200b", "")
                == f"is added: {formula}"
            )
            shown = page.evaluate(SQUARES)
            old, new = (Pairs(writes=w, delta=delta, alpha=alpha).state() for w in (FIVE, [*FIVE, [5, VALUES[5]]]))
            added = [[float(shown[f"is added ({i}, {j})"]) for j in range(1, 5)] for i in range(1, 5)]
            assert torch.allclose(torch.tensor(added, dtype=torch.float64), new - alpha * old, atol=1e-4)
            page.get_by_role("button", name="Show what is added", pressed=True).press("Enter")
        page.get_by_role("button", name="Show what is added").click()
        page.get_by_role("button", name="Write under F").click()  # then S is shown
        page.get_by_role("button", name="Show what is added", pressed=False).wait_for()
        assert page.locator("svg [data-said^='S_{21}']").count() == 1


def test_first_four_keys_are_orthogonal_and_all_have_length_1():
    k = torch.tensor(KEYS, dtype=torch.float64)
    products = k @ k.T
    assert torch.allclose(products[:4, :4], torch.eye(4, dtype=torch.float64)) and torch.allclose(
        products.diagonal(), torch.ones(7, dtype=torch.float64)
    )
    assert (products[4:] - torch.eye(7, dtype=torch.float64)[4:]).abs().amax(1).min() > 0.4
