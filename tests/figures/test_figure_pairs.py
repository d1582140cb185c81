"""Test the figure Pairs: a matrix state, into which key-value pairs are written."""

import json
import random

import torch

from companion.figures import Pairs
from companion.figures.pairs import KEYS, VALUES
from tests.figures.figure_page import figure_page, get, move, sentences, serve_modules


def test_state_equals_the_companions(browser):
    drawn = random.Random(0)
    cases = []
    for _ in range(200):
        writes = [[drawn.randrange(7), drawn.randrange(2)] for _ in range(drawn.randrange(11))]
        cases.append(
            {
                "writes": writes,
                "delta": drawn.random() < 0.6,
                "alpha": drawn.uniform(0.5, 1),
                "beta": drawn.uniform(0, 2),
            }
        )
    with serve_modules(browser, "matrix") as ask:
        supply = json.dumps([KEYS, VALUES])
        call = f"({{ writes, delta, alpha, beta }}) => s.stateAfter(writes, {supply}, alpha, beta, delta)"
        states = ask(call, cases)
    for case, S in zip(cases, states, strict=True):
        torch.testing.assert_close(torch.tensor(S, dtype=torch.float64), Pairs(**case).state(), rtol=0, atol=1e-9)


def test_errors_of_four_and_five_keys(browser):
    """Check the errors that a reader sees.

    Four orthogonal keys are read exactly; a fifth disturbs them. With the delta rule the last key is exact, and a key
    written twice has its new value, without the rule the sum of both.
    """
    four, five = ([[key, 0] for key in range(count)] for count in (4, 5))
    with figure_page(browser, "pairs") as page:
        off = lambda **traits: float(sentences(page, **traits).rpartition("off by ")[2].rstrip("."))  # noqa: E731
        assert [off(writes=four, asked=key) for key in range(4)] == [0, 0, 0, 0]
        assert min(off(writes=five, asked=key) for key in range(5)) > 0.4
        assert off(delta=True, asked=4) == 0 and min(off(asked=key) for key in range(4)) > 0.1
        page.get_by_role("button", name="write a value under A").press("Enter")
        assert get(page, "writes")[-1] == [0, 1] and off(asked=0) == 0 and off(delta=False) > 1.5
        page.get_by_role("button", name="ask for B").click()
        page.get_by_role("button", name="Take back").click()
        assert get(page, "writes") == five and get(page, "asked") == 1
        page.get_by_role("button", name="Clear").click()
        move(page)
        assert page.get_by_role("button", name="Clear").is_disabled() and get(page, "writes") == []
        move(page, writes=[[0, 0]] * 10)
        assert page.get_by_role("button", name="write a value under A").is_disabled()


def test_first_four_keys_are_orthogonal_and_all_have_length_1():
    k = torch.tensor(KEYS, dtype=torch.float64)
    products = k @ k.T
    assert torch.allclose(products[:4, :4], torch.eye(4, dtype=torch.float64)) and torch.allclose(
        products.diagonal(), torch.ones(7, dtype=torch.float64)
    )
    assert (products[4:] - torch.eye(7, dtype=torch.float64)[4:]).abs().amax(1).min() > 0.4
