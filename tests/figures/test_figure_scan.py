"""Test the figure Scan: a linear recurrence of eight steps, by loop, tree and chunks."""

import itertools

import pytest
import torch

from companion.figures import Scan
from tests.figures.figure_page import figure_page, get, in_states, serve_modules

CUTS = [[*cuts] for count in range(8) for cuts in itertools.combinations(range(1, 8), count)]


def test_all_ways_compute_the_states_in_the_stated_number_of_rounds(browser):
    """Check all 128 cuts with random numbers.

    Every state is computed once, equals that of the companion's loop, and comes after all that it depends on.
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
        states = {item["t"]: item["h"] for round_ in rounds for item in round_ if "h" in item}
        assert sum("h" in item for round_ in rounds for item in round_) == 8
        expected = Scan(**{name: case[name] for name in ("a", "b", "h_0")}).states()
        assert [states[t] for t in range(1, 9)] == pytest.approx(expected.tolist(), rel=1e-9, abs=1e-9)
        edges = [0, *cuts, 8]
        longest = max(end - start for start, end in itertools.pairwise(edges))
        assert len(rounds) == {"loop": 8, "tree": 7, "chunks": longest + len(cuts)}[way]
        joined = sum("from" in item for round_ in rounds for item in round_)
        assert result["times"] == 2 * joined + 8 and joined == {"loop": 0, "tree": 7, "chunks": 7 - len(cuts)}[way]
        pieces = {(t, t) for t in range(1, 9)}
        available = {0}
        for round_ in rounds:  # inputs must be from an earlier round
            for item in round_:
                needed = [piece for piece in pieces if piece[0] == item.get("from") and piece[1] < item.get("to", 0)]
                assert (
                    needed
                    if "from" in item
                    else any(start - 1 in available for start, end in pieces if end == item["t"])
                )
            pieces |= {(item["from"], item["to"]) for item in round_ if "from" in item}
            available |= {item["t"] for item in round_ if "h" in item}


def test_a_reader_cuts_plays_and_changes_a_step(browser):
    with figure_page(browser, "scan") as page:
        page.get_by_role("button", name="6|7").press("Enter")
        assert get(page, "cuts") == [3]
        page.get_by_role("button", name="1|2").click()
        assert get(page, "cuts") == [1, 3]
        page.get_by_role("button", name="tree").click()
        page.get_by_role("button", name="1|2").wait_for(state="hidden")
        page.get_by_role("slider", name="a2").wait_for(state="hidden")
        page.get_by_label("step t").fill("2")
        page.get_by_role("slider", name="a2").press("ArrowRight")
        assert page.evaluate("model.get('a')[1]") == pytest.approx(1.1)
        drawn = "() => document.querySelectorAll('svg.drawing > g:last-of-type > *').length"
        counts = in_states(
            page, [{"way": way, "shown": shown} for way in ("loop", "tree") for shown in range(9)], drawn
        )
        assert counts[:9] == [2 * n for n in range(9)]  # a state, and the number of the round
        assert counts[9:] == [0, 5, 8, 10, 12, 14, 17, 22, 22]
