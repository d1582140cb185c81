"""Test the figure Listening: what it reads and draws equals Python's, and its key measures time."""

import pytest
import torch

from companion.figures import Listening
from companion.learning.listening import KINDS, held_out
from companion.learning.morse import SIGNS, keyed
from tests.figures.figure_page import figure_page, get, in_states, move, serve_modules, value_at, weights

UNIT = 0.12  # seconds
LISTEN = """({ file, pulses, end, kind }) => {
    const bytes = Uint8Array.from(file).buffer;
    const { weights } = s.readSafetensors(bytes);
    const read = s.listen(s.stepsOf(pulses, end), weights, kind);
    const path = read.map(({ p }) => p.indexOf(Math.max(...p)));
    return [read.map(({ p }) => p), read.map(({ h }) => h), s.collapse(path)];
}"""


@pytest.mark.parametrize("kind", KINDS)
def test_the_script_equals_python(browser, kind):
    """Compare probabilities, states and texts of held-out signals, to 1e-6."""
    file = [*weights("listeners.safetensors")]
    signals = [pulses for _, pulses, _ in held_out(3, 12)] + [keyed("E", 10)]
    cases = [{"file": file, "pulses": pulses, "end": pulses[-1][1] + 0.7, "kind": kind} for pulses in signals]
    with serve_modules(browser, "listening_network", "weights_file") as ask:
        results = ask(LISTEN, cases)
    for case, (p, h, text) in zip(cases, results, strict=True):
        figure = Listening(pulses=[[*pulse] for pulse in case["pulses"]], end=case["end"], kind=kind)
        torch.testing.assert_close(torch.tensor(p).double(), figure.probabilities(), rtol=0, atol=1e-6)
        torch.testing.assert_close(torch.tensor(h).double(), figure.states(), rtol=0, atol=1e-6)
        assert text == figure.text()


def key(page):
    """Return the key."""
    return page.locator("button.key")


def stop_the_clock(page):
    """Let only `page.clock` move the time: lengths do not depend on the machine."""
    page.clock.pause_at(page.evaluate("Date.now()") / 1000 + 60)


def tap(page, codes, press, release):
    """Key codes, separated by spaces, with exact lengths."""
    for k, letter in enumerate(codes.split()):
        if k:
            page.clock.run_for(2000 * UNIT)
        for part in letter:
            press()
            page.clock.run_for((1000 if part == "." else 3000) * UNIT)
            release()
            page.clock.run_for(1000 * UNIT)


def heard(page):
    """Return the text that the network has read."""
    return page.locator(".heard").text_content()


def test_taps_with_the_mouse_and_the_space_bar(browser):
    """Check that lengths are measured, that the text appears, and that a new series begins after `Clear`."""
    with figure_page(browser, "listening", clock=True) as page:
        stop_the_clock(page)
        box = key(page).bounding_box()
        page.mouse.move(box["x"] + 20, box["y"] + 20)
        tap(page, "... --- ...", page.mouse.down, page.mouse.up)
        page.clock.run_for(2500)
        lengths = [round((up - down) / UNIT) for down, up in get(page, "pulses")]
        assert lengths == [1, 1, 1, 3, 3, 3, 1, 1, 1]
        pauses = [
            after[0] - before[1] for before, after in zip(get(page, "pulses"), get(page, "pulses")[1:], strict=False)
        ]
        assert [round(pause / UNIT) for pause in pauses] == [1, 1, 3, 1, 1, 3, 1, 1]
        assert heard(page) == Listening(pulses=get(page, "pulses"), end=get(page, "end")).text() == "SOS"
        page.get_by_role("button", name="Clear").click()
        page.clock.run_for(50)
        assert get(page, "pulses") == [] and heard(page) == "…"
        key(page).focus()
        tap(page, ".-.", lambda: page.keyboard.down(" "), lambda: page.keyboard.up(" "))
        page.clock.run_for(2500)
        assert heard(page).strip() == "R" and len(get(page, "pulses")) == 3


def test_a_long_pause_counts_as_two_seconds(browser):
    with figure_page(browser, "listening", clock=True, pulses=[], end=0.0) as page:
        stop_the_clock(page)
        for _ in range(2):
            key(page).dispatch_event("pointerdown", {"pointerId": 1})
            page.clock.run_for(100)
            key(page).dispatch_event("pointerup", {"pointerId": 1})
            page.clock.run_for(60_000)
        (_, up), (down, last) = get(page, "pulses")
        assert down - up == pytest.approx(2, abs=0.05) and get(page, "end") == pytest.approx(last + 2, abs=0.05)


def test_examples_and_values_under_the_pointer(browser):
    """Check what the drawing says, before and after the weights are loaded, for both kinds."""
    with figure_page(browser, "listening") as page:
        figure = Listening()
        assert heard(page) == figure.text()
        for name, pulses in figure.examples.items():
            page.get_by_role("button", name=name).click()
            page.locator("button", has_text="kB").wait_for(state="hidden")
            for kind in KINDS:
                move(page, kind=kind)
                expected = Listening(pulses=pulses, end=pulses[-1][1] + 1, kind=kind)
                assert heard(page) == expected.text()
        move(page, kind="two directions", unit=36, pulses=figure.pulses, end=figure.end)
        expected = Listening(kind="two directions", unit=36)
        said = value_at(page, 350, 130)  # the last pause
        assert said == f"h36 = {expected.states()[-1, 36].item():.3f}"
        last = expected.probabilities()[-1]
        sign = SIGNS[int(last.argmax()) - 1] if last.argmax() else "blank"
        assert value_at(page, 350, 100) == f"{sign}: {last.max().item():.2f}"
        p = expected.probabilities()
        t = int((p.argmax(-1) == 0).nonzero()[-2])  # a step whose likeliest output is the blank
        edges = [time for pulse in figure.pulses for time in pulse]
        middle = (edges[t] + edges[t + 1]) / 2
        x = 4 + 352 * (middle - (figure.end - 7)) / 7
        assert value_at(page, x, 105) == f"blank: {p[t, 0].item():.2f}"


def test_every_state_can_be_drawn(browser):
    """Draw no pulses, one pulse, and many, with each kind."""
    long = [[k / 2, k / 2 + 0.2] for k in range(400)]
    states = [
        {"pulses": pulses, "end": end, "kind": kind, "unit": unit}
        for pulses, end in (([], 0.0), ([[0.0, 0.1]], 0.2), (long, 200.0))
        for kind in KINDS
        for unit in (0, 55)
    ]
    with figure_page(browser, "listening") as page:
        page.locator("button", has_text="kB").click()
        page.locator("button", has_text="kB").wait_for(state="hidden")
        in_states(page, states)
