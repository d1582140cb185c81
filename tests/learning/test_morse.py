"""Test Morse signals, the reader by thresholds, and the parts of the networks that listen."""

import math
import random
import statistics

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from companion.layers.ctc import ctc_loss
from companion.learning import listening, thresholds
from companion.learning.morse import CODES, SIGNS, decoded, keyed, signs_of, steps_of, units_of

texts = st.lists(st.text(SIGNS[1:], min_size=1, max_size=5), min_size=1, max_size=4).map(" ".join)


def test_codes_are_those_of_the_standard():
    """Check the shape of the code: 26 letters and 10 digits, all different; SOS and PARIS in units."""
    assert len(CODES) == len({*CODES.values()}) == 36 and len(SIGNS) == 37
    assert all(len(CODES[digit]) == 5 for digit in "0123456789") and max(map(len, CODES.values())) == 5
    assert "".join("=" * n if down else " " * n for down, n in units_of("SOS")) == "= = =   === === ===   = = ="
    # the word by which speed is counted has 50 units, with the pause after it
    assert sum(n for _, n in units_of("PARIS")) + 7 == 50


def test_speed_is_in_words_a_minute():
    """Check that ten words PARIS at ten words a minute take a minute, without the last pause."""
    pulses = keyed(" ".join(["PARIS"] * 10), 10)
    assert pulses[-1][1] == pytest.approx(60 - 7 * 0.12)


@given(texts, st.floats(5, 20), st.integers(0, 99))
def test_even_keying_is_read_exactly(text, speed, seed):
    """Check that thresholds with the true speed read what was keyed: each length is decided rightly."""
    pulses = keyed(text, speed, seed=seed)
    unit = 1.2 / speed
    codes = [""]
    for k, (down, up) in enumerate(pulses):
        codes[-1] += "." if up - down < 2 * unit else "-"
        pause = pulses[k + 1][0] - up if k + 1 < len(pulses) else 0
        codes += ["", ""] if pause > 5 * unit else [""] if pause > 2 * unit else []
    assert decoded(codes) == text


def test_jitter_drift_and_false_pulses():
    """Check the spread of lengths, the change of speed, and the share of pauses with a pulse of a quarter of a unit."""
    even, uneven = keyed("E" * 2000, 12), keyed("E" * 2000, 12, jitter=0.2, seed=1)
    logs = [math.log((up - down) / 0.1) for down, up in uneven]
    assert statistics.fmean(logs) == pytest.approx(0, abs=0.02) and statistics.stdev(logs) == pytest.approx(0.2, 0.06)
    assert {round(up - down, 6) for down, up in even} == {0.1}
    faster = keyed("E" * 100, 12, drift=0.25)
    assert faster[-1][1] - faster[-1][0] == pytest.approx(0.08, rel=0.01)
    false = [up - down for down, up in keyed("E" * 2000, 12, false_pulses=0.05, seed=2) if up - down < 0.09]
    assert all(length == pytest.approx(0.025) for length in false) and 60 < len(false) < 140
    longer = keyed("E E E E E E E", 12, longest_pause=3, seed=3)
    pauses = [after[0] - before[1] for before, after in zip(longer, longer[1:], strict=False)]
    assert 0.7 <= min(pauses) < 1 and 1.4 < max(pauses) <= 2.1


def test_steps_of_a_network():
    steps = steps_of([(1.0, 1.1), (1.3, 1.6)], 2.6)
    assert steps.shape == (4, 2) and steps[:, 0].tolist() == [1, -1, 1, -1]
    torch.testing.assert_close((steps[:, 1].exp() / 10).tolist(), [0.1, 0.2, 0.3, 1.0], rtol=0, atol=1e-6)


@pytest.mark.parametrize(
    ("pulses", "end"), [([(0.0, 0.0)], 1.0), ([(0.0, 0.5), (0.4, 0.6)], 1.0), ([(0.0, 0.5)], 0.5), ([(0.3, 0.1)], 1.0)]
)
def test_pulses_that_overlap_are_refused(pulses, end):
    with pytest.raises(ValueError, match="must end after it begins, and before"):
        steps_of(pulses, end)


def test_texts_without_a_code_are_refused():
    with pytest.raises(ValueError, match="'Ä' has no Morse code"):
        keyed("Ä", 10)
    with pytest.raises(ValueError, match="must have a sign"):
        keyed(" ", 10)
    assert signs_of("“Well—it’s 9 o’clock,” he said.\n") == "WELL ITS 9 OCLOCK HE SAID"


def test_thresholds_find_the_speed():
    """Check speed, drift and text for even keying, and a single letter, an empty signal and false pulses."""
    pulses = keyed("THE QUICK BROWN FOX 123", 13, drift=0.2)
    unit, drift = thresholds.speed_of(pulses)
    assert unit == pytest.approx(1.2 / 13, rel=0.05) and drift == pytest.approx(0.2, abs=0.11)
    assert thresholds.read(pulses) == "THE QUICK BROWN FOX 123"
    assert thresholds.read([]) == "" and thresholds.read(keyed("R", 10)) == "R"
    noisy = keyed("PARIS IS NEAR", 10, false_pulses=0.5, seed=4)
    assert len(noisy) > len(keyed("PARIS IS NEAR", 10)) and thresholds.read(noisy) == "PARIS IS NEAR"


def test_thresholds_make_few_errors():
    """Check the rate that the page compares with: uneven keying at an unknown speed."""
    signals = list(listening.held_out(40, 40))
    rate = listening.error_rate([text for text, *_ in signals], [thresholds.read(pulses) for _, pulses, _ in signals])
    assert 0.01 < rate < 0.045


@given(st.text("AB", max_size=6), st.text("AB", max_size=6))
def test_the_edit_distance(a, b):
    """Compare with the definition by recursion."""

    def slow(a, b):
        if not a or not b:
            return len(a) + len(b)
        return min(slow(a[1:], b) + 1, slow(a, b[1:]) + 1, slow(a[1:], b[1:]) + (a[0] != b[0]))

    assert listening.distance(a, b) == slow(a, b)


def test_the_error_rate_counts_letters():
    assert listening.error_rate(["SOS", "A B"], ["SO S", "AC"]) == 1 / 5


def test_texts_are_drawn_from_separate_parts():
    learn, test = (listening.Texts(part, 0.0) for part in ("learn", "test"))
    assert len(test.text) / len(learn.text + test.text) == pytest.approx(0.1, abs=0.01)
    assert signs_of(learn.text) == " ".join(learn.text.split())
    chance = random.Random(0)
    drawn = [learn.draw(chance, 12) for _ in range(200)]
    assert all(text in learn.text and 6 < len(text) <= 12 for text in drawn)
    mixed = listening.Texts("learn", 1.0)
    signs = "".join(mixed.draw(chance, 30) for _ in range(200)).replace(" ", "")
    assert 0.12 < sum(sign.isdigit() for sign in signs) / len(signs) < 0.18
    assert {mixed.draw(chance, 1) for _ in range(2000)} == {*CODES}


def test_batches_and_losses():
    """Check that padding changes nothing, the loss of single signs, and that a listener learns a little."""
    chance = random.Random(0)
    signals = [listening.signal(text, chance) for text in ("E", "SOS 5", "PARIS")]
    steps, targets, input_lengths, target_lengths = listening.batch(signals)
    assert steps.shape == (input_lengths.max(), 3, 2) and target_lengths.tolist() == [1, 5, 5]
    assert "".join(SIGNS[k - 1] for k in targets[1]) == "SOS 5"
    torch.manual_seed(0)
    listener = listening.new_listener("one direction", dtype=None)
    losses = [
        ctc_loss(listener(x[:, None]).log_softmax(-1), targets[[n], :size], (len(x),), (int(size),))
        for n, ((*_, x), size) in enumerate(zip(signals, target_lengths, strict=True))
    ]
    torch.testing.assert_close(listening.loss_of(listener, signals), torch.stack(losses).mean(), rtol=0, atol=1e-5)
    (single,) = [listening.signal("E", chance)]
    log_probs = listener(single[2][:, None]).log_softmax(-1)[:, 0]
    expected = -log_probs[-1, SIGNS.index("E") + 1] - log_probs[:-1, 0].sum()
    torch.testing.assert_close(listening.loss_of(listener, [single], alone=True), expected, rtol=0, atol=1e-5)
    losses = listening.learn(listener, 60, progress=False)
    assert losses[-1] < losses[6] / 3  # after the batches of single signs
