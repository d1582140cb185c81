"""Test the figure Gates: an LSTM cell whose gates the reader moves, and a unit of the reader's own layer."""

import copy

import pytest
import torch
from traitlets import TraitError

import companion
from companion.figures import Gates
from companion.figures.figure import words
from tests.figures.figure_page import figure_page, get, in_states, move, value_at

float64 = {"dtype": torch.float64}
# Heights of the two lines, in units of the drawing: the dashed one is drawn first.
POINTS = """() => [...document.querySelectorAll("svg polyline:is([stroke='#2f7fc1'], [stroke-dasharray])")].reverse()
    .map(line => line.getAttribute("points").split(" ").map(point => Number(point.split(",")[1])))"""
MORE = "() => { document.querySelector('.beside details').open = true }"
# For each box of the cell and each step of the line: the value that a pointer is shown.
SAID = "() => [...document.querySelectorAll('svg.drawing [data-said]')].map(part => part.dataset.said)"


def steps_of(figure, inputs=None):
    """Return the companion's gates and states of the figure's sequence, name → (T)."""
    cell, state = figure.cell(), (torch.zeros(1, 1, **float64), torch.zeros(1, 1, **float64))
    rows = []
    for x in figure.inputs if inputs is None else inputs:
        x = torch.tensor([[x]], **float64)
        a = x @ cell.weight_ih.T + cell.bias_ih + state[0] @ cell.weight_hh.T + cell.bias_hh
        i, f, g, o = a[0].tolist()
        state = cell(x, state)
        gates = [torch.sigmoid(torch.tensor(value, **float64)).item() for value in (i, f, o)]
        rows.append((*gates, torch.tanh(torch.tensor(g, **float64)).item(), state[0].item(), state[1].item()))
    return dict(zip("ifoghc", zip(*rows, strict=True), strict=True))


def test_question():
    """Check that the first input is lost with all biases 0, and that only the right gate's bias keeps it."""

    def kept(**values):
        figure = Gates(**values)
        with_, without = (steps_of(figure, [x, *figure.inputs[1:]])["c"] for x in (figure.inputs[0], 0.0))
        return (with_[-1] - without[-1]) / (with_[0] - without[0])

    table = words("en", "gates")
    answers = {"i": [6, 0, 0, 0], "f": [0, 6, 0, 0], "o": [0, 0, 0, 6]}
    assert [answer[-1] for answer in table["answers"]] == [*answers] and abs(kept()) < 0.01
    shares = [kept(bias=bias) for bias in answers.values()]
    assert (
        [share > 0.8 for share in shares]
        == [share > 0.01 for share in shares]
        == [k == table["right"] for k in range(3)]
    )
    assert "σ(6) = 0.998" in table["because"][table["right"]] and f"{torch.sigmoid(torch.tensor(6.0)):.3f}" == "0.998"


def test_control_and_effect_are_on_one_screen(browser):
    for width, selector, most in ((768, ".together", 720), (360, ".seen", 400)):
        with figure_page(browser, "gates", width=width) as page:
            states = [{}, {"bias": [-6, 6, 0, 0], "shown": 6}, {"bias": [-3, 6, 0, 0], "t": 20}]
            heights = in_states(page, states, f"() => document.querySelector('{selector}').offsetHeight")
            assert max(heights) <= most


def test_a_shut_forget_gate_wipes_the_memory(browser):
    """Check that the lines with and without the first input differ until the gate is shut, and hardly afterwards.

    A small difference remains, through h.
    """
    with figure_page(browser, "gates", bias=[-3, 6, 0, 0]) as page:
        distances = lambda: [abs(a - b) for a, b in zip(*page.evaluate(POINTS), strict=True)]  # noqa: E731
        assert min(distances()) > 3
        page.get_by_label("forget gate shut at").fill("10")
        move(page)
        assert min(distances()[:9]) > 3 and max(distances()[9:]) < 0.2


def test_cell_shows_a_step_until_an_input_is_moved(browser):
    with figure_page(browser, "gates", bias=[0, 6, 0, 0], t=4) as page:
        page.evaluate(MORE)
        inputs = Gates().inputs
        layer = torch.nn.LSTM(1, 1, **float64)
        layer.load_state_dict(
            {f"{name}_l0": weight for name, weight in Gates(bias=[0, 6, 0, 0]).cell().state_dict().items()}
        )
        output, (_, c) = layer(torch.tensor(inputs[:3], **float64)[:, None])
        values = [get(page, name) for name in ("x", "h", "c")]
        assert values == pytest.approx([inputs[3], output[-1].item(), c.item()], abs=1e-9)
        page.get_by_role("slider", name="cell state").press("ArrowRight")
        assert get(page, "t") == 0
        assert get(page, "x") == inputs[3]


def test_a_step_beyond_the_sliders(browser):
    """Check that a cell state above 4 is drawn as it is, and that the trait stays in its range."""
    with figure_page(browser, "gates", bias=[10, 10, 10, 0], t=20, shown=6) as page:
        (c,) = [text for text in page.evaluate(SAID) if text.startswith("c_{t-1} =")]
        expected = steps_of(Gates(bias=[10, 10, 10, 0]))["c"]
        assert c == f"c_{{t-1}} = {expected[18]:.4f}" and expected[18] > 18
        assert get(page, "c") == 4


def test_presets_set_the_biases_by_keyboard(browser):
    presets = {"new": [0, 0, 0, 0], "remember": [-3, 6, 0, 0], "forget": [0, -6, 0, 0], "ignore": [-10, 2, 0, 0]}
    with figure_page(browser, "gates", bias=[1, 1, 1, 1]) as page:
        for name, bias in presets.items():
            page.get_by_role("button", name=name, exact=True).press("Enter")
            assert get(page, "bias") == bias
            page.locator(f"button[aria-pressed=true]:text-is('{name}')").wait_for()
            assert page.get_by_label("bias bf").input_value() == f"{bias[1]}"


@pytest.mark.parametrize("bias", [[0, 0, 0, 0], [-3, 6, 0, 0], [-6, 6, 0, 0], [-10, 6, 0, 0], [-10, 2, 0, 0]])
def test_goal_has_two_parts(browser, bias):
    """Check both ticks: how far apart the lines end, and how far the line without the first input leaves 0."""
    figure = Gates(bias=bias)
    with_, without = (steps_of(figure, [x, *figure.inputs[1:]])["c"] for x in (figure.inputs[0], 0.0))
    left, entered = with_[-1] - without[-1], max(map(abs, without))
    with figure_page(browser, "gates", bias=bias) as page:
        kept, kept_out = page.locator(".ticks .report").text_content().splitlines()
    assert kept == f"{'✓' if left >= 0.5 else '✗'} first input kept: {left:.2f} left (needs 0.5)"
    assert kept_out == f"{'✓' if entered <= 0.25 else '✗'} later ones kept out: {entered:.2f} in (limit 0.25)"


def test_opens_at_the_first_step_with_all_values(browser):
    with figure_page(browser, "gates") as page:
        assert value_at(page, 332, 30) == f"ct = {steps_of(Gates())['c'][0]:.4f}"
        assert [get(page, name) for name in ("x", "h", "c")] == [Gates().inputs[0], 0, 0]


def test_values_appear_in_the_order_of_the_computation(browser):
    """Check that at stage n, later results are hidden."""
    counts = []
    with figure_page(browser, "gates") as page:
        for shown in range(1, 7):
            page.get_by_label("stage").fill(str(shown))
            move(page)
            numbers = page.locator("svg.drawing text").all_text_contents()
            counts.append(sum("." in number for number in numbers))
    assert counts == [3, 7, 11, 13, 14, 16]


def test_pointer_shows_the_values_of_the_companion(browser):
    """Check the cell at step 3, and the line of each value with and without the first input."""
    figure = Gates(bias=[-1, 2, 0.5, 0])
    steps = steps_of(figure)
    others = steps_of(figure, [0.0, *figure.inputs[1:]])
    with figure_page(browser, "gates", bias=figure.bias, t=3, shown=6, width=1000) as page:
        for gate, x in (("f", 80), ("i", 160), ("g", 212), ("o", 292)):
            shown = value_at(page, x, 134)
            assert shown.startswith(f"{gate}t = {'tanh' if gate == 'g' else 'σ'}(")
            assert shown.endswith(f") = {steps[gate][2]:.4f}")
        assert value_at(page, 332, 30) == f"ct = {steps['c'][2]:.4f}"
        assert value_at(page, 332, 94) == f"ht = {steps['h'][2]:.4f}"
        assert value_at(page, 36 + 2.5 * 16, 247) == f"i3 = {steps['i'][2]:.4f}"
        assert value_at(page, 36 + 2.5 * 16, 234) == "x3 = -0.3000"
        for name in "chifgo":
            move(page, line=name)
            lines = page.evaluate(POINTS)
            t = max(range(20), key=lambda k: abs(lines[0][k] - lines[1][k]))
            assert value_at(page, 36 + (t + 0.5) * 16, lines[0][t]) == f"{name}{t + 1} = {steps[name][t]:.4f}"
            if name in "ch":  # the inputs do not change f
                shown = value_at(page, 36 + (t + 0.5) * 16, lines[1][t])
                assert shown == f"first input 0: {name}{t + 1} = {others[name][t]:.4f}"


def test_a_reader_presses_a_box_a_button_or_a_step(browser):
    with figure_page(browser, "gates", shown=6) as page:

        def press(x, y):
            value_at(page, x, y)
            page.mouse.down()
            page.mouse.up()

        page.evaluate(MORE)
        for name, x, y in (("f", 80, 134), ("h", 332, 94), ("c", 332, 30)):
            press(x, y)
            assert get(page, "line") == name
            page.locator("button[aria-pressed=true]").filter(has_text=f"{name}t").wait_for()
        page.get_by_role("button", name="gt", exact=True).press("Enter")
        assert get(page, "line") == "g"
        press(36 + 6.5 * 16, 290)
        assert get(page, "t") == 7
        press(20, 290)
        assert get(page, "t") == 7  # beside the columns


# The reader's own layer


def own_layers():
    """Return name → (layer, inputs, arguments of Gates.of): of torch and of the companion, and awkward ones."""
    torch.manual_seed(0)
    dropout = torch.nn.LSTM(3, 4, num_layers=2, batch_first=True, dropout=0.5)
    half = torch.nn.LSTM(2, 3).half()
    return {
        "series": (torch.nn.LSTM(1, 3), torch.randn(200) / 3, {"unit": 2}),
        "companion": (companion.LSTM(2, 3, **float64), torch.randn(9, 2), {"unit": 1, "labels": "recurrent"}),
        "training, two layers": (dropout, torch.randn(5, 3), {"unit": 3}),
        "the first of two": (dropout, torch.randn(5, 3), {"unit": 0, "depth": 0}),
        "no bias": (torch.nn.LSTM(1, 1, bias=False), [1, 2, 3], {}),
        "half": (half, torch.randn(4, 2, requires_grad=True), {}),
    }


def gates_of(layer, inputs, unit=0, depth=-1, **_):
    """Return the gates and the states of one unit by torch's own layer in float64, name → (T).

    o and i come from the gradients of a step: dc_t / dc_{t-1} = f_t, and h_t / tanh(c_t) = o_t.
    """
    x = torch.as_tensor(inputs).detach().double().reshape(len(inputs), -1)
    own = {name.replace("_l0", ""): value for name, value in layer.state_dict().items() if name.endswith("_l0")}
    for level in range(depth % layer.num_layers + 1):
        own = {
            name: layer.state_dict()[f"{name}_l{level}"].double()
            for name in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
            if f"{name}_l{level}" in layer.state_dict()
        }
        cell = torch.nn.LSTMCell(x.shape[1], layer.hidden_size, bias=layer.bias, **float64)
        cell.load_state_dict(own)
        state = (torch.zeros(layer.hidden_size, **float64),) * 2
        rows, outputs = [], []
        for x_t in x:
            c_before = state[1].detach().requires_grad_()
            h, c = cell(x_t, (state[0].detach(), c_before))
            (f,) = torch.autograd.grad(c.sum(), c_before, retain_graph=True)
            rows.append((h[unit].item(), c[unit].item(), f[unit].item(), (h / torch.tanh(c))[unit].item()))
            state = (h, c)
            outputs.append(h.detach())
        x = torch.stack(outputs)
    return dict(zip("hcfo", zip(*rows, strict=True), strict=True)), x


def recomputed(figure):
    """Return the unit's gates and states as the page computes them from the figure's traits, name → list."""
    drive, own = (torch.tensor(values, **float64) for values in (figure.own["drive"], figure.weight_hh))
    bias, h, c = torch.tensor(figure.bias, **float64), torch.tensor(0.0), torch.tensor(0.0)
    rows = []
    for row in drive:
        i, f, g, o = row + bias + own * h
        c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
        h = torch.sigmoid(o) * torch.tanh(c)
        rows.append((h.item(), c.item(), torch.sigmoid(f).item(), torch.sigmoid(o).item()))
    return dict(zip("hcfo", zip(*rows, strict=True), strict=True))


@pytest.mark.parametrize("case", own_layers())
def test_own_layer_equals_torchs(case):
    layer, inputs, arguments = own_layers()[case]
    before, mode = copy.deepcopy(layer.state_dict()), layer.training
    figure = Gates.of(layer, inputs, **arguments)
    expected, outputs = gates_of(layer, inputs, **arguments)
    for name, values in recomputed(figure).items():
        assert values == pytest.approx(expected[name], abs=1e-10), name
    if arguments.get("depth") is None:
        whole = copy.deepcopy(layer).double().eval()
        whole.batch_first = False
        x = torch.as_tensor(inputs).detach().double().reshape(len(inputs), -1)
        torch.testing.assert_close(whole(x)[0], outputs, atol=1e-10, rtol=0)
    assert layer.training == mode and all(parameter.grad is None for parameter in layer.parameters())
    assert all(torch.equal(value, before[name]) for name, value in layer.state_dict().items())
    assert repr(figure).startswith("<Gates of unit ") and "\n" not in repr(figure)


@pytest.mark.parametrize("case", ["companion", "training, two layers", "series"])
def test_own_layer_on_the_page(browser, tmp_path, case):
    """Check the file of `save`: the lines to 1e-6, the cell at all steps, and a bias that changes this unit only."""
    layer, inputs, arguments = own_layers()[case]
    figure = Gates.of(layer, inputs, **arguments)
    figure.save(tmp_path / "mine.html")
    expected, _ = gates_of(layer, inputs, **arguments)
    tab, errors = browser.new_page(), []
    tab.on("pageerror", lambda error: errors.append(str(error)))
    tab.goto((tmp_path / "mine.html").as_uri())
    tab.wait_for_selector("figcaption")
    tab.evaluate(MORE)
    assert tab.locator(".question").count() == 0 and tab.get_by_role("slider", name="cell state").count() == 0
    assert f"Unit {arguments['unit']} of your layer" in tab.locator(".report").first.text_content()
    said = in_states(tab, [{"t": t + 1} for t in range(len(inputs))], SAID)
    for name, values in expected.items():
        texts = [next(text for text in texts if text.startswith(f"{name}_t = ")) for texts in said]
        assert [float(text.split(" = ")[-1].replace("−", "-")) for text in texts] == pytest.approx(values, abs=6e-5)
        move(tab, line=name)
        trained, _ = lines = tab.evaluate(POINTS)
        assert lines[0] == lines[1]
        assert [1 - (y - 272) / 25 for y in trained] == pytest.approx(values, abs=1e-6), name
    move(tab, bias=[*figure.bias[:3], figure.bias[3] + 1], line="o")
    assert all(now < trained for now, trained in zip(*tab.evaluate(POINTS), strict=True))  # a larger o is higher
    tab.get_by_role("button", name="as trained").click()
    labels = [text for text in said[0] if text.startswith("x_{")][: len(arguments.get("labels", ""))]
    assert labels == [f"x_{{{k + 1}}} = {letter}" for k, letter in enumerate(arguments.get("labels", ""))]
    assert get(tab, "bias") == figure.bias and errors == []
    tab.close()


@pytest.mark.parametrize(
    ("layer", "inputs", "arguments", "error"),
    [
        (torch.nn.GRU(1, 2), [1.0, 2.0], {}, "layer must be nn.LSTM or companion.LSTM, not GRU"),
        (torch.nn.LSTM(1, 2, bidirectional=True), [1.0, 2.0], {}, "layer is bidirectional"),
        (torch.nn.LSTM(1, 3, proj_size=2), [1.0, 2.0], {}, "layer has proj_size=2"),
        (torch.nn.LSTM(2, 2), torch.zeros(5, 1, 2), {}, r"shape \(T, 2\) with T from 2 to 200, not \(5, 1, 2\)"),
        (torch.nn.LSTM(2, 2), torch.zeros(5), {}, r"not \(5,\)"),
        (torch.nn.LSTM(1, 2), [1.0], {}, r"not \(1, 1\)"),
        (torch.nn.LSTM(1, 2), torch.zeros(201), {}, r"not \(201, 1\)"),
        (torch.nn.LSTM(1, 2), [1.0, float("nan")], {}, r"inputs should be finite, but step 1 is \[nan\]"),
        (torch.nn.LSTM(1, 2), [1.0, 2.0], {"unit": 2}, "unit must be from 0 to 1, not 2"),
        (torch.nn.LSTM(1, 2), [1.0, 2.0], {"depth": 1}, "depth must be from -1 to 0, not 1"),
        (torch.nn.LSTM(1, 2), [1.0, 2.0], {"labels": "abc"}, "labels should have 2 texts"),
        (torch.nn.LSTM(1, 2), [1.0, 2.0], {"labels": ""}, "labels should have 2 texts"),
    ],
)
def test_own_layer_refuses(layer, inputs, arguments, error):
    with pytest.raises((TypeError, ValueError), match=error):
        Gates.of(layer, inputs, **arguments)


def test_own_layer_refuses_weights_that_cannot_be_shown():
    for value, error in ((float("inf"), "layer: bias_hh_l0 should have finite"), (11.0, "unit 0 should have numbers")):
        layer = torch.nn.LSTM(1, 2)
        with torch.no_grad():
            layer.bias_hh_l0[2] = value
        with pytest.raises(ValueError, match=error):
            Gates.of(layer, [1.0, 2.0])
    figure = Gates.of(torch.nn.LSTM(1, 2), [1.0, 2.0])
    for t in (0, 3):
        with pytest.raises(TraitError, match="t must be from 1 to 2"):
            figure.t = t
    assert "image/svg+xml" not in figure._repr_mimebundle_()[0] and "image/svg+xml" in Gates()._repr_mimebundle_()[0]
