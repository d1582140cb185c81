"""Tests of stored evidence on networks that read Morse code, and of what the page listening says of it."""

import random
import statistics

import pytest
import torch

from companion.figures import listening as figure
from companion.layers.decoding import beam_search
from companion.learning import evidence, listening, thresholds
from companion.learning.morse import SIGNS, keyed, steps_of, units_of

ONE, TWO, CONVOLUTION, NO_START = "one direction", "two directions", "convolution", "one direction, no start"


def errors(kind, name):
    """Return the sorted letter error rates of the five networks, in percent."""
    return sorted(round(100 * run[name], 1) for run in evidence.load("listening", kind=kind, chosen=True))


def of_program(name):
    """Return the letter error rate of the program with fixed rules, in percent."""
    signals = list(listening.held_out(100, **listening.TESTED[name]))
    read = [thresholds.read(pulses) for _, pulses, _ in signals]
    return round(100 * listening.error_rate([text for text, *_ in signals], read), 1)


def test_listeners_are_reproducible(program):
    """Recompute a convolution, and check that all networks have about one size."""
    (stored,) = evidence.load("listening", kind=CONVOLUTION, chosen=True, seed=0)
    again = program("listening").run((CONVOLUTION, 0, stored["learning_rate"]))
    assert again["parameters"] == stored["parameters"]
    for name in listening.TESTED:
        assert again[name] == pytest.approx(stored[name], abs=0.01)
    sizes = {run["parameters"] for run in evidence.load("listening")}
    assert min(sizes) > 17_000 and max(sizes) < 17_600


def test_what_the_page_says_of_the_readers():
    """Check listening#measured-said and #title."""
    assert of_program("test") == 2.7
    assert errors(ONE, "test")[0] <= 2.7 <= errors(ONE, "test")[-1] < 3
    assert [round(rate) for rate in errors(TWO, "test")[:4]] == [2, 3, 3, 3] and errors(TWO, "test")[-1] > 4.5
    assert min(errors(kind, "test")[0] for kind in (ONE, TWO, CONVOLUTION, NO_START)) > 2
    assert of_program("random signs") < min(errors(kind, "random signs")[0] for kind in (ONE, TWO, CONVOLUTION))
    worse = {
        kind: statistics.mean(errors(kind, "random signs")) / statistics.mean(errors(kind, "test"))
        for kind in (ONE, TWO, CONVOLUTION)
    }
    assert max(worse, key=worse.get) == CONVOLUTION and min(worse.values()) > 1.2
    uneven = [rate for kind in (ONE, TWO, CONVOLUTION) for rate in errors(kind, "uneven")]
    assert round(min(uneven)) == 17 and round(max(uneven)) == 22 and of_program("uneven") == 24.1
    assert [rate >= 40 for rate in errors(NO_START, "test")] == [False, False, True, True, True]


def test_the_stored_networks_read_and_one_unit_follows_the_ends_of_signs():
    """Check the examples of the figure, its unit, and listening#unit-said and #decode."""
    for text, *how in figure.EXAMPLES:
        pulses = [(down, up) for down, up in figure.example(text, *how)]
        signal = text, pulses, steps_of(pulses, pulses[-1][1] + 1)
        for kind in listening.KINDS:
            assert listening.read(listening.load_listener(kind), [signal]) == [text]
    listener, chance, states, ends = listening.load_listener(ONE), random.Random(5), [], []
    for text, *_ in listening.held_out(40, 30, seed=3):
        pulses = keyed(text, 5 * 4 ** chance.random(), 0.2, seed=len(states))
        h, _ = listener.recurrent(steps_of(pulses, pulses[-1][1] + 1).double()[:, None])
        states.append(h[1:-1:2, 0].detach())
        ends += [units > 1 for is_pulse, units in units_of(text) if not is_pulse]
    states, ends = torch.cat(states), torch.tensor(ends)
    inside, after = states[~ends].mean(0), states[ends].mean(0)
    right = ((states > (inside + after) / 2) != ends[:, None]).double().mean(0)  # the unit is below after a sign
    assert right.argmax() == figure.UNIT and right.max() > 0.98

    listener, signals = listening.load_listener(TWO), list(listening.held_out(20, 20))
    searched = []
    for *_, steps in signals:
        best, _ = beam_search(listener(steps.double()[:, None])[:, 0].log_softmax(-1).detach(), width=10)[0]
        searched.append("".join(SIGNS[k - 1] for k in best))
    same = [a == b for a, b in zip(searched, listening.read(listener, signals), strict=True)]
    assert sum(same) >= 18
