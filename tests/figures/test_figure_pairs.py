"""A matrix for a state, into which pairs are written."""

import json
import random

import torch
from figure_page import asking, figure_page, move

from companion.figures import Pairs
from companion.figures.pairs import KEYS, VALUES


def test_the_state_is_the_companions(browser):
    drawn = random.Random(0)
    cases = []
    for _ in range(200):
        writes = [[drawn.randrange(7), drawn.randrange(2)] for _ in range(drawn.randrange(11))]
        cases.append({"writes": writes, "delta": drawn.random() < 0.6, "alpha": drawn.uniform(0.5, 1), "beta": drawn.uniform(0, 2)})
    with asking(browser, "matrix") as ask:
        written = f"({{ writes, delta, alpha, beta }}) => s.written(writes, {json.dumps([KEYS, VALUES])}, alpha, beta, delta)"
        found = ask(written, cases)
    for case, S in zip(cases, found, strict=True):
        torch.testing.assert_close(torch.tensor(S, dtype=torch.float64), Pairs(**case).state(), rtol=0, atol=1e-9)


def test_what_a_reader_finds_out(browser):
    """Four keys at right angles come back exactly; a fifth blurs them by addition; the delta rule keeps the last one, and a key that
    is written twice has its new value by the rule and the sum of both without."""
    with figure_page(browser, "pairs", writes=[]) as page:
        report = page.locator(".report")
        off = lambda: float(report.text_content().rpartition("off by ")[2].rstrip("."))  # noqa: E731
        write = lambda key: page.get_by_role("button", name=f"write a value under {key}").click()  # noqa: E731

        def error(key):
            page.get_by_role("button", name=f"ask for {key}").click()
            move(page)
            return off()

        page.get_by_role("button", name="ask for B").press("Enter")
        move(page)
        assert report.text_content() == "Asked for B: 0.0, 0.0, 0.0, 0.0. Nothing has been written under B yet."
        for key in "ABCD":
            write(key)
        assert [error(key) for key in "ABCD"] == [0, 0, 0, 0]
        write("E")
        assert min(error(key) for key in "ABCDE") > 0.4
        page.get_by_label("delta rule").check()
        assert error("E") == 0 and min(error(key) for key in "ABCD") > 0.1
        write("A")
        assert page.evaluate("model.get('writes')")[-1] == [0, 1] and error("A") == 0
        page.get_by_label("delta rule").uncheck()
        assert error("A") > 1.5
        page.get_by_role("button", name="Take back").click()
        assert page.evaluate("model.get('writes').length") == 5
        page.get_by_role("button", name="Clear").click()
        move(page)
        assert page.get_by_role("button", name="Clear").is_disabled()
        move(page, writes=[[0, 0]] * 10)
        assert page.get_by_role("button", name="write a value under A").is_disabled()


def test_keys_are_what_the_words_say():
    k = torch.tensor(KEYS, dtype=torch.float64)
    products = k @ k.T
    assert torch.allclose(products[:4, :4], torch.eye(4, dtype=torch.float64)) and torch.allclose(products.diagonal(), torch.ones(7, dtype=torch.float64))
    assert (products[4:] - torch.eye(7, dtype=torch.float64)[4:]).abs().amax(1).min() > 0.4
