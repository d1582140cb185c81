"""Test the figure Scan: a linear recurrence of eight steps, by loop, tree and chunks."""

import itertools
import re

import pytest
import torch

from companion.figures import Scan
from companion.figures.figure import words
from tests.figures.figure_page import figure_page, get, in_states, sentences, serve_modules

CUTS = [[*cuts] for count in range(8) for cuts in itertools.combinations(range(1, 8), count)]


def test_all_ways_compute_the_states_in_the_stated_number_of_rounds(browser):
    """Check all 128 cuts with random numbers.

    Every state is computed once, equals that of the companion's loop, and is in the first round that is possible: after
    all that it is computed from, and after the last piece of its step. No step is in two results of a round.
    """
    torch.manual_seed(0)
    cases = []
    for way, cuts in [("loop", []), ("tree", []), *(("chunks", cuts) for cuts in CUTS)]:
        a, b, h_0 = (4 * torch.rand(n, dtype=torch.float64) - 2 for n in (8, 8, 1))
        cases.append({"way": way, "a": a.tolist(), "b": b.tolist(), "h_0": h_0.item(), "cuts": cuts})
    with serve_modules(browser, "rounds") as ask:
        results = ask("({ way, a, b, h_0, cuts }) => s.scanInRounds(way, a, b, h_0, cuts)", cases)
    for case, result in zip(cases, results, strict=True):
        way, cuts, rounds = case["way"], case["cuts"], result["rounds"]
        states = [item for round_ in rounds for item in round_ if "h" in item]
        expected = Scan(**{name: case[name] for name in ("a", "b", "h_0")}).states()
        assert sorted(state["t"] for state in states) == [*range(1, 9)]
        assert [state["h"] for state in sorted(states, key=lambda state: state["t"])] == pytest.approx(
            expected.tolist(), rel=1e-9, abs=1e-9
        )
        sizes = [end - start for start, end in itertools.pairwise([0, *cuts, 8])]
        ends = [*itertools.accumulate(sizes[1:], lambda end, size: max(end, size - 1) + 1, initial=sizes[0])]
        assert len(rounds) == {"loop": 8, "tree": 5, "chunks": ends[-1]}[way]
        joined = sum("from" in item for round_ in rounds for item in round_)
        assert joined == {"loop": 0, "tree": 4, "chunks": 8 - sizes[0] - len(cuts)}[way]
        assert result["times"] == 2 * joined + 8
        computed = {(t, t): 0 for t in range(1, 9)} | {0: 0}  # a piece (from, to), or a state → its round
        covered = dict.fromkeys(range(1, 9), 0)  # a step → the round of its last piece
        for r, round_ in enumerate(rounds, 1):
            steps = [
                t for item in round_ for t in range(item.get("from", item.get("t")), item.get("to", item.get("t")) + 1)
            ]
            assert len(steps) == len({*steps})
            for item in round_:
                assert max(source["round"] for source in item["sources"]) < r == item["round"]
                covered |= dict.fromkeys(range(item["from"], item["to"] + 1), r) if "from" in item else {}
            computed |= {(item["from"], item["to"]) if "from" in item else item["t"]: r for item in round_}
        for t in range(1, 9):
            possible = [
                max(computed[piece], computed[piece[0] - 1]) for piece in PIECES if piece[1] == t and piece in computed
            ]
            assert computed[t] == 1 + max(min(possible), covered[t])


PIECES = [(start, end) for start in range(1, 9) for end in range(start, 9)]


def test_numbers_at_the_start_are_exact():
    """Check that all that can be drawn has at most one decimal: joined steps and states."""
    figure = Scan()
    for start in range(8):
        a, b, h = 1.0, 0.0, figure.states()[start - 1].item() if start else figure.h_0
        for a_t, b_t in zip(figure.a[start:], figure.b[start:], strict=True):
            a, b, h = a_t * a, a_t * b + b_t, a_t * h + b_t
            assert all(2 * number % 1 == 0 and abs(number) < 10 for number in (a, b, h))


def test_answers_and_rounds_of_long_sequences(browser):
    """Check the question's answer, and rounds for 1,024 steps: 2 √T - 1 by chunks of √T, 2 log₂ T - 1 by tree."""
    question = words("en", "scan")
    ends = lambda page: re.search(r"rounds ([\d, ]+): (\d+) rounds", sentences(page, shown=8)).groups()  # noqa: E731
    with figure_page(browser, "scan") as page:
        assert "5" not in sentences(page)  # before it is played
        assert ends(page) == ("3, 4, 5", question["answers"][question["right"]])
        assert re.findall(r"[\d,]*\d", page.locator(".note").text_content()) == ["1,024", "1,024", "32", "63", "19"]


def test_arrows_lead_from_the_sources(browser):
    """Count the arrows of the last round and of a box under the pointer. A way that is complete stays so."""
    arrows = "() => document.querySelectorAll('svg.drawing polygon').length"
    with figure_page(browser, "scan", shown=4) as page:
        assert page.evaluate(arrows) == 6  # three states
        page.locator("svg [data-said^='h_6 = -1'], svg [data-said^='h_6 = −1']").hover()
        assert page.evaluate(arrows) == 2
        assert page.locator(".pointed").text_content() == "h6 = −1.0000 h3 − 1.5000"
        page.get_by_role("button", name="loop").click()
        assert get(page, "shown") == 4
        page.get_by_role("button", name="tree").click()
        page.get_by_label("Show up to round").fill("5")
        page.get_by_role("button", name="loop").click()
        assert get(page, "shown") == 8 and "The last state is 1.5." in sentences(page)


def test_a_reader_cuts_plays_and_changes_a_step(browser):
    with figure_page(browser, "scan") as page:
        page.get_by_role("button", name="6|7").press("Enter")
        assert get(page, "cuts") == [3]
        page.get_by_role("button", name="1|2").click()
        assert get(page, "cuts") == [1, 3]
        page.get_by_role("button", name="tree").click()
        page.get_by_role("button", name="1|2").wait_for(state="hidden")
        page.get_by_text("Change the numbers").click()
        page.get_by_role("slider", name="a2").wait_for(state="hidden")
        page.get_by_label("step t").fill("2")
        page.get_by_role("slider", name="a2").press("ArrowRight")
        assert page.evaluate("model.get('a')[1]") == 0.0
        drawn = "() => document.querySelectorAll('svg.drawing > g:last-of-type > *').length"
        counts = in_states(
            page, [{"way": way, "shown": shown} for way in ("loop", "tree") for shown in range(1, 9)], drawn
        )
        assert counts[:8] == [1 + n for n in range(1, 9)]  # with h_0
        assert counts[8:] == [5, 7, 9, 12, 13, 13, 13, 13]
