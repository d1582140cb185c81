"""Test the figure Unrolling: an RNN over 50 steps, whose W_hh is scaled by the reader."""

import math
import re

import pytest
import torch

from companion.figures import Unrolling
from tests.figures.figure_page import figure_page, get, in_states, move, sentences
from tests.project.sampling import chosen

float64 = {"dtype": torch.float64}
SETTINGS = [
    (radius, nonlinearity, impulse)
    for radius in (0.0, 0.6, 0.92, 0.95, 1.0, 1.2, 1.5, 2.0)
    for nonlinearity in ("tanh", "relu")
    for impulse in (1.0, 0.001)
]


# The sentences about state, gradient and step, and the description of the second drawing, with the step's numbers.
DRAWN = """() => [
    [...document.querySelectorAll(".report")].map(report => report.textContent.replaceAll("\\xa0", " ").replaceAll("\\u2060", "")),
    document.querySelectorAll("svg.drawing")[1].getAttribute("aria-label"),
]"""  # noqa: E501


def by_autograd(figure):
    """Return states h_0 … h_50 of the figure's network, and ∂L/∂h_0 … ∂L/∂h_50."""
    network, states = figure.rnn(), [torch.zeros(1, 8, **float64).requires_grad_()]
    for x in figure.inputs():
        states.append(network(x[None], states[-1])[1])
    gradients = torch.autograd.grad(states[50].sum() / math.sqrt(8), states)
    return torch.cat(states).detach(), torch.cat(gradients)


def brief(value):
    return f"{value:.2g}"


def test_initial_q_is_an_exact_rotation():
    Q = torch.tensor(Unrolling().Q, **float64)
    assert torch.equal(Q.T @ Q, torch.eye(8, **float64))
    assert torch.linalg.det(Q) > 0
    angles = torch.linalg.eigvals(Q).angle().abs().rad2deg().sort().values[::2]
    assert angles.round().tolist() == [13, 63, 120, 139]


@pytest.mark.parametrize("Q", chosen(["its own", "a random one"], "a random one"))
def test_states_and_gradients_equal_autograd(browser, Q):
    """Compare the sentences of every setting, and all numbers of some steps."""
    values = {}
    if Q == "a random one":  # its powers grow at first
        other = torch.randn(8, 8, generator=torch.Generator().manual_seed(0), **float64)
        values["Q"] = (other / torch.linalg.eigvals(other).abs().max()).tolist()
    with figure_page(browser, "unrolling", **values) as page:
        for radius, nonlinearity, impulse in SETTINGS[:: 1 if Q == "its own" else 3]:
            setting = {"radius": radius, "nonlinearity": nonlinearity, "impulse": impulse}
            states, gradients = by_autograd(Unrolling(**setting, **values))
            lengths, steepness = states.norm(dim=1).tolist(), gradients.norm(dim=1).tolist()
            steps = (1, 2, 25, 50)
            results = in_states(page, [setting | {"t": t} for t in steps], DRAWN)
            fates = (
                (0.01, "vanishes"), (0.5, "fades"), (2, "keeps its length|arrives"), (100, "grows"), (math.inf,
                "explodes"),
            )  # fmt: skip
            (state, gradient, _), _ = results[0]

            factor = lengths[50] / lengths[1]
            fate = next(fate for bound, fate in fates if factor <= bound)
            if nonlinearity == "tanh" and factor > 2 and (1 - states[50] ** 2).mean() < 0.9:
                fate = "grows until tanh holds it"
            first, last = brief(lengths[1]), brief(lengths[50])
            assert re.fullmatch(f"The state ({fate}): from ‖h₁‖ = (.*) to ‖h₅₀‖ = (.*)\\.", state), (setting, state)
            assert state.endswith(f": from ‖h₁‖ = {first} to ‖h₅₀‖ = {last}.")

            if steepness[1] == 0:
                assert gradient == "The gradient is 0: the loss at step 50 says nothing about step 1."
            else:
                fate = next(fate for bound, fate in fates if steepness[1] <= bound)
                linear = radius**49
                if Q == "a random one":
                    W = radius * torch.tensor(values["Q"], **float64)
                    linear = (torch.linalg.matrix_power(W, 49).T @ gradients[50]).norm().item()
                assert re.match(
                    f"The gradient ({fate}): ‖∂L/∂h₁‖ = {re.escape(brief(steepness[1]))}. "
                    f"Without {nonlinearity} it would be {re.escape(brief(linear))}\\.",
                    gradient,
                ), (setting, gradient)
            for t, (lines, drawn) in zip(steps, results, strict=True):
                assert lines[2].startswith(
                    f"Step {t}: forward, ‖h‖ goes from {brief(lengths[t - 1])} to {brief(lengths[t])}. Back, the"
                    f" length of the gradient goes from {brief(steepness[t])} to {brief(steepness[t - 1])} ("
                )
                slopes = 1 - states[t] ** 2 if nonlinearity == "tanh" else (states[t] > 0).double()
                vectors = (states[t - 1], states[t], slopes, gradients[t], gradients[t - 1])
                for vector, shown in zip(vectors, drawn.split(": ")[-5:], strict=True):
                    shown = re.findall(r"-?\d+(?:\.\d+)?(?:e[+-]\d+)?", shown.replace("−", "-"))[:8]
                    shown = torch.tensor([float(number) for number in shown], **float64)
                    torch.testing.assert_close(shown, vector, rtol=0.051, atol=1e-9 * float(vector.norm()))


def test_sentences_about_saturated_units(browser):
    """Compare the sentences with torch: tanh at r = 1.5 with two impulses, and relu."""
    states, gradients = by_autograd(Unrolling(radius=1.5))
    assert states[50].norm() > 1 and gradients[1].norm() < 0.01
    zeros = (by_autograd(Unrolling(radius=1.4, nonlinearity="relu"))[0][2:] == 0).sum(dim=1).double().mean()
    with figure_page(browser, "unrolling", radius=1.5) as page:
        said = sentences(page)
        assert "The state lives on, yet L hardly depends on how it began" in said
        assert f"1 − h², {(1 - states[2:] ** 2).mean():.2f} on average" in said
        assert "lives on" not in sentences(page, impulse=0.001)
        assert "lives on" not in sentences(page, impulse=1, radius=0.8)
        said = sentences(page, radius=1.4, nonlinearity="relu")
        assert f"On average {zeros:.1f} of 8 units are at 0. They pass nothing on." in said


def test_lines_are_cut_at_the_ends_of_the_axis(browser):
    paths = "() => [...document.querySelectorAll('svg path[stroke-width=\"2.5\"]')].map(p => p.getAttribute('d'))"
    with figure_page(browser, "unrolling", radius=2.0, nonlinearity="relu") as page:
        for radius in (2, 1.5, 1, 0.5, 0.05, 0):
            move(page, radius=radius)
            for d in page.evaluate(paths):
                points = [tuple(map(float, point.split())) for point in re.split("[ML]", d)[1:]]
                assert all(166 <= y <= 298 and 39 <= x <= 359 for x, y in points), (radius, d)
                assert [x for x, _ in points] == sorted(x for x, _ in points)
        # without f the gradient is 2^(50-t), which passes 1e+06 between two steps
        move(page, radius=2)
        dashed = page.locator("svg path[stroke-dasharray]").last.get_attribute("d")
        assert dashed.startswith(f"M{39 + (50 - math.log2(1e6) - 0.5) * 6.4:.1f} 166L")


def test_controls_move_the_traits_and_follow_them(browser):
    with figure_page(browser, "unrolling") as page:
        radius, t = page.get_by_role("slider", name="spectral radius"), page.get_by_role("slider", name="step t")
        radius.focus()
        page.keyboard.press("ArrowRight")
        assert get(page, "radius") == pytest.approx(0.95)
        page.keyboard.press("End")
        assert get(page, "radius") == 2
        page.get_by_role("combobox", name="nonlinearity").select_option("relu")
        page.get_by_role("combobox", name="impulse").select_option("0.01")
        assert page.evaluate("[model.get('nonlinearity'), model.get('impulse')]") == ["relu", 0.01]
        move(page, radius=0.93, t=33, impulse=0.1, nonlinearity="tanh")
        assert radius.get_attribute("aria-valuetext") == "0.93" and t.input_value() == "33"
        assert page.get_by_role("combobox", name="impulse").input_value() == "1"
        assert page.get_by_role("combobox", name="nonlinearity").input_value() == "0"

        # point at a column, and drag over others
        box = page.locator("svg.drawing").first.bounding_box()
        at = lambda step: box["x"] + (39 + (step - 0.5) * 6.4) / 360 * box["width"]  # noqa: E731
        page.mouse.move(at(7), box["y"] + 60)
        assert t.input_value() == "33"
        page.mouse.down()
        assert t.input_value() == "7"
        page.mouse.move(at(41), box["y"] + 220)
        assert t.input_value() == "41"
        page.mouse.up()
        page.mouse.click(box["x"] + 5, box["y"] + 60)
        assert t.input_value() == "41"
