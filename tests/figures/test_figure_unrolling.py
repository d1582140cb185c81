"""Test the figure Unrolling: an RNN over 50 steps, whose W_hh is scaled by the reader."""

import math
import re

import pytest
import torch

from companion.figures import Unrolling
from companion.figures.figure import words
from tests.figures.figure_page import figure_page, get, in_states, move, sentences
from tests.project.sampling import chosen

float64 = {"dtype": torch.float64}
SETTINGS = [
    (radius, nonlinearity, impulse)
    for radius in (0.0, 0.6, 0.92, 0.95, 1.0, 1.2, 1.5, 2.0)
    for nonlinearity in ("tanh", "relu")
    for impulse in (1.0, 0.001)
]


# The sentences about state and gradient, why, and the step; and the description of the second drawing, with the step's
# numbers.
DRAWN = """() => [
    [...document.querySelectorAll(".report")].slice(1).map(report => report.textContent.replaceAll("\\xa0", " ")
        .replaceAll("\u2060", "")),
    document.querySelectorAll("svg.drawing")[1].getAttribute("aria-label"),
]"""
RAISED = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻", "0123456789-")


def by_autograd(figure):
    """Return states h_0 … h_50 of the figure's network, and ∂L/∂h_0 … ∂L/∂h_50."""
    network, states = figure.rnn(), [torch.zeros(1, 8, **float64).requires_grad_()]
    for x in figure.inputs():
        states.append(network(x[None], states[-1])[1])
    gradients = torch.autograd.grad(states[50].sum() / math.sqrt(8), states)
    return torch.cat(states).detach(), torch.cat(gradients)


def brief(value, digits=2):
    """Return a number with so many digits, as the figure writes it."""
    factor, power = f"{value:.{digits - 1}e}".replace("-", "−", value < 0).split("e")
    if value == 0 or -4 <= int(power) < 4:
        return f"{float(f'{value:.{digits}g}'):.9f}".rstrip("0").rstrip(".").replace("-", "−")
    factor = factor.rstrip("0").rstrip(".") if "." in factor else factor
    return f"{factor}·10{''.join(chr(RAISED_OF[digit]) for digit in str(int(power)))}"


RAISED_OF = {chr(plain): raised for raised, plain in RAISED.items()}


def number(text):
    """Return the number that `brief` wrote."""
    factor, _, power = text.replace("−", "-").partition("·10")
    return float(factor) * 10.0 ** int(power.translate(RAISED) or 0)


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
            results = in_states(page, [setting | {"shown": 100, "t": t} for t in steps], DRAWN)
            fates = (
                (0.01, "vanishes"), (0.5, "fades"), (2, "keeps its length|arrives"), (100, "grows"), (math.inf,
                "explodes"),
            )  # fmt: skip
            state, gradient = re.split(r"(?<=\.) (?=The gradient)", results[0][0][0])

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
                assert re.fullmatch(
                    f"The gradient ({fate}): ‖∂L/∂h₁‖ = {re.escape(brief(steepness[1]))}\\. "
                    f"Without {nonlinearity} it would be {re.escape(brief(linear))}\\.",
                    gradient,
                ), (setting, gradient)
            for t, (lines, drawn) in zip(steps, results, strict=True):
                assert lines[2].startswith(
                    f"Step {t}: the length of the state goes from {brief(lengths[t - 1], 3)} to {brief(lengths[t], 3)}."
                    f" Back, the length of the gradient goes from {brief(steepness[t], 3)} to"
                    f" {brief(steepness[t - 1], 3)} ("
                )
                slopes = 1 - states[t] ** 2 if nonlinearity == "tanh" else (states[t] > 0).double()
                vectors = (states[t - 1], states[t], slopes, gradients[t], gradients[t - 1])
                drawn = [part for part in drawn.split(": ") if "," in part][-5:]
                for vector, shown in zip(vectors, drawn, strict=True):
                    shown = [number(text) for text in shown.split(". ")[0].removesuffix(".").split(", ")]
                    shown = torch.tensor(shown, **float64)
                    torch.testing.assert_close(shown, vector, rtol=0.051, atol=1e-9 * float(vector.norm()))


def test_sentences_about_saturated_units(browser):
    """Compare the sentences with torch: tanh at r = 1.5 with two impulses, and relu."""
    states, gradients = by_autograd(Unrolling(radius=1.5))
    assert states[50].norm() > 1 and gradients[1].norm() < 0.01
    zeros = (by_autograd(Unrolling(radius=1.4, nonlinearity="relu"))[0][2:] == 0).sum(dim=1).double().mean()
    with figure_page(browser, "unrolling", radius=1.5, shown=100) as page:
        said = sentences(page)
        assert "The state lives on, yet L hardly depends on how it began" in said
        assert f"1 − h², {(1 - states[2:] ** 2).mean():.2f} on average" in said
        assert "lives on" not in sentences(page, impulse=0.001)
        assert "lives on" not in sentences(page, impulse=1, radius=0.8)
        said = sentences(page, radius=1.4, nonlinearity="relu")
        assert f"On average {zeros:.1f} of 8 units are at 0. They pass nothing on." in said


def test_answer_of_the_question():
    lengths = by_autograd(Unrolling())[0].norm(dim=1)
    answers = words("en", "unrolling")["answers"]
    part = lengths[50] / lengths[1]
    half = int((lengths < lengths[1] / 2)[1:].nonzero()[0]) + 1
    assert answers == ["all of it", "about half", "less than 1/100"]
    assert answers[words("en", "unrolling")["right"]] == ("less than 1/100" if part < 0.01 else "")
    replies = words("en", "unrolling")["because"]
    assert all(f"49 times, is {brief(0.9**49, 1)}" in replies[k] for k in (0, 2))
    assert f"Half is gone at step {half} already, and {50 - half} more steps follow." in replies[1]
    assert (lengths[2:] <= 0.9 * lengths[1:-1]).all()


# The columns in each row of squares, the number of points of each line, and whether the second equation is shown.
SHOWN = """() => {
    const [first, second] = document.querySelectorAll("svg.drawing");
    const columns = [...first.querySelectorAll("g[shape-rendering]")].map(squares => new Set([...squares.children]
        .flatMap(path => [...(path.getAttribute("d") ?? "").matchAll(/M([\\d.]+)/g)].map(match => match[1]))).size);
    const lines = [...first.querySelectorAll(":scope svg path")]
        .map(path => path.getAttribute("d").match(/[ML]/g).length);
    return [columns, lines, second.lastChild.getAttribute("display") === null];
}"""


def test_state_and_gradient_appear_step_by_step(browser):
    steps = [1, 12, 50, 51, 80, 100]
    with figure_page(browser, "unrolling", radius=1.0) as page:
        looks = in_states(page, [{"shown": shown} for shown in steps], SHOWN)
        for shown, (columns, lines, second) in zip(steps, looks, strict=True):
            forward, back = min(shown, 50), max(shown - 50, 0)
            assert columns == [forward, back] and lines == [forward, max(back, 1), max(back, 1)], shown
            assert second == (back > 0)
            assert "Press Play" in sentences(page, shown=shown) or forward == 50
        assert get(page, "t") == 1  # the frame has come back
        assert "The gradient arrives" not in sentences(page, shown=60) and get(page, "t") == 41
        # a later step shows the states up to it
        assert in_states(page, [{"shown": 2, "t": 30}], SHOWN)[0] == [[30, 0], [30, 1, 1], False]
        page.get_by_role("button", name="Play").press("Enter")
        page.wait_for_function("model.get('shown') > 3 && model.get('t') === model.get('shown')")


def test_lines_equal_autograd_and_are_cut_at_the_ends_of_the_axis(browser):
    points = """() => [...document.querySelectorAll("svg.drawing svg path")].map(path => path.getAttribute("d").slice(1)
        .split("L").map(point => point.split(" ").map(Number)))"""
    with figure_page(browser, "unrolling", nonlinearity="relu") as page:
        for radius in (2, 1.5, 1, 0.5, 0.05, 0):
            states, gradients = by_autograd(Unrolling(radius=radius, nonlinearity="relu"))
            (lines,) = in_states(page, [{"shown": 100, "radius": radius}], points)
            for line, vectors in zip(lines, (states, gradients), strict=False):
                assert [x for x, _ in line] == pytest.approx([54 + (t - 0.5) * 6.1 for t in range(1, 51)], abs=0.06)
                heights = 229 - 104 * vectors.norm(dim=1).log10() / 12
                assert [y for _, y in line] == pytest.approx(heights.clamp(max=9999)[1:].tolist(), abs=0.06), radius
        clip = page.locator("svg.drawing svg").first
        assert [clip.get_attribute(name) for name in ("y", "height", "viewBox")] == ["177", "104", "0 177 360 104"]
        assert clip.evaluate("clip => getComputedStyle(clip).overflow") == "hidden"


def pointed(page, drawing, x, y):
    """Return name and value under the pointer at a place, in units of a drawing."""
    box, unit = drawing.bounding_box(), drawing.evaluate("drawing => drawing.viewBox.baseVal.width")
    page.mouse.move(box["x"] + x * box["width"] / unit, box["y"] + y * box["width"] / unit)
    value = page.locator(".pointed:visible")
    return value.inner_text().replace("\u200b", "").split(" = ") if value.count() else None


def test_pointer_shows_values(browser):
    states, gradients = by_autograd(Unrolling())
    middle = lambda t: 54 + (t - 0.5) * 6.1  # noqa: E731
    with figure_page(browser, "unrolling", width=1000, shown=85) as page:
        drawing, detail = page.locator("svg.drawing").all()
        for t, k in ((1, 0), (20, 3), (50, 7)):
            assert pointed(page, drawing, middle(t), 20 + 6.5 * (k + 0.5)) == [f"h{t}[{k}]", brief(states[t, k], 4)]
        for t, k in ((16, 1), (50, 7)):
            name, value = pointed(page, drawing, middle(t), 80 + 6.5 * (k + 0.5))
            assert [name, value] == [f"∂L/∂h{t}[{k}]", brief(gradients[t, k], 4)]
        assert pointed(page, drawing, middle(15), 90) is None  # not there yet
        assert [pointed(page, drawing, middle(t), 6) for t in (1, 2)] == [["x1", "1"], ["x2", "0"]]
        for t, name, vectors in ((4, "‖h4‖", states), (45, "‖∂L/∂h45‖", gradients)):
            length = vectors[t].norm().item()
            y = 229 - 104 * math.log10(length) / 12
            assert pointed(page, drawing, middle(t), y + 3) == [name, brief(length, 4)]
        assert pointed(page, drawing, middle(4), 270) is None  # far from the line
        move(page, t=30)
        page.get_by_text("This step in numbers").click()
        slope = 1 - states[30, 2] ** 2
        assert pointed(page, detail, 30, 36 + 2.5 * 14) == ["h30[2]", brief(states[30, 2], 4)]
        assert pointed(page, detail, 230, 196 + 2.5 * 14) == ["1 − h30²[2]", brief(slope, 4)]
        slopes = detail.locator("[data-said^='1 − h'] rect").all()  # orange would say that much is lost at 1
        assert [square.get_attribute("fill-opacity") for square in slopes] == ["0.000"] * 8
        W = Unrolling().rnn().weight_hh_l0
        assert pointed(page, detail, 97 + 4.5 * 13, 36 + 2.5 * 14) == ["Whh[2, 4]", brief(W[2, 4].item(), 4)]
        assert pointed(page, detail, 97 + 4.5 * 13, 196 + 2.5 * 14) == ["Whhᵀ[2, 4]", brief(W[4, 2].item(), 4)]


def test_controls_move_the_traits_and_follow_them(browser):
    with figure_page(browser, "unrolling") as page:
        for r, pressed in (("1.1", "false"), ("0.9", "true")):
            button = page.get_by_role("button", name=f"r = {r}", exact=True)
            assert button.get_attribute("aria-pressed") == pressed
            button.press("Enter")
            assert get(page, "radius") == float(r)
            move(page, radius=0.9)
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
        at = lambda step: box["x"] + (54 + (step - 0.5) * 6.1) / 360 * box["width"]  # noqa: E731
        page.mouse.move(at(7), box["y"] + 60)
        assert t.input_value() == "33"
        page.mouse.down()
        assert t.input_value() == "7"
        page.mouse.move(at(41), box["y"] + 220)
        assert t.input_value() == "41"
        page.mouse.up()
        page.mouse.click(box["x"] + 5, box["y"] + 60)
        assert t.input_value() == "41"
