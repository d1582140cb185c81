"""Test the figure Shares: its bars, lines and sentences are those of autograd in the companion's and torch's layers.

test_figures_training.py compares its arithmetic with torch.
"""

import copy
import re

import pytest
import torch
from torch import nn
from traitlets import TraitError

import companion
from companion.figures import Shares
from companion.figures.figure import words
from tests.figures.figure_page import figure_page, get, in_states, value_at
from tests.project.sampling import chosen

float64 = {"dtype": torch.float64}
# The heights and opacities of each network's bars, the numbers at the symbol, and the figure's sentences.
LOOK = """() => {
    const bars = ["#2f7fc1", "#8e63c7"].map(colour => [...document.querySelectorAll(`rect[fill="${colour}"]`)]
        .map(bar => [Number(bar.getAttribute("height")), bar.getAttribute("fill-opacity")]));
    const marks = [...document.querySelectorAll("circle + text")].map(mark => mark.textContent);
    return { bars, marks, said: document.querySelectorAll(".report")[1].textContent };
}"""
STATES = [
    {},
    {"shown": 24},
    {"shown": 16},
    {"shown": 17},
    {"gap": 3, "window": 5, "seed": 7, "shown": 24},
    {"gap": 3, "window": 5, "seed": 7, "shown": 7},
    {"scale": 3.0, "bias": 0.0, "window": 6, "seed": 4, "shown": 24},
    {"scale": 0.2, "bias": 5.0, "window": 1, "gap": 23, "shown": 24},
]


def percent(share):
    return "<1%" if 0 < share < 0.005 else f"{share:.0%}".replace("-", "−")


def percentages(text):
    return [re.sub(r"\s", "", number) for number in re.findall(r"(?:< )?−?\d+\s%", text)]


def by_autograd(layer, inputs, loss, depth=0):
    """Return shares, lengths and parts lost, by autograd on copies of W_hh, step by step. inputs: (T, input_size)."""
    name = f"weight_hh_l{depth}"
    x = inputs.clone().requires_grad_()
    copies = [getattr(layer, name).detach().clone().requires_grad_() for _ in inputs]
    outputs, state = [], ()
    for x_t, weight_hh in zip(x, copies, strict=True):
        output, last = torch.func.functional_call(layer, {name: weight_hh}, (x_t[None], *state))
        outputs, state = [*outputs, output], (last,)
    *terms, dx = torch.autograd.grad(loss(torch.cat(outputs)), [*copies, x], materialize_grads=True)
    terms = torch.stack(terms)
    whole = terms.sum(0)
    lost = [terms[: len(x) - window].sum(0).norm() / whole.norm() for window in range(1, len(x) + 1)]
    return (terms * whole).sum(dim=(1, 2)) / whole.square().sum(), dx.norm(dim=1), torch.stack(lost)


def results(figure, kind):
    """Return by_autograd for a network of the figure."""
    model, indices = figure.model(kind), torch.tensor(figure.indices())
    loss = nn.functional.cross_entropy
    return by_autograd(
        model.recurrent,
        model.embedding(indices).detach(),
        lambda y: loss(model.linear(y[-1]), indices[23 - figure.gap]),
    )


def check_bars(bars, shares, tall, shown, window, everything=None):
    """Compare a network's bars with its shares; everything: all shares on the same axis."""
    everything = shares if everything is None else everything
    span = everything.max() - everything.clamp(max=0).min()
    heights = torch.tensor([height for height, _ in bars], **float64)
    expected = (tall * shares.abs() / span).clamp(min=0.5)[len(shares) - shown :]
    torch.testing.assert_close(heights, expected, rtol=0, atol=0.06)
    assert [pale is not None for _, pale in bars] == [n > window for n in range(shown, 0, -1)]


def test_bars_and_sentences_equal_autograd(browser):
    with figure_page(browser, "shares") as page:
        drawn = in_states(
            page, [{name: getattr(Shares(**state), name) for name in Shares.settings} for state in STATES], LOOK
        )
    for state, result in zip(STATES, drawn, strict=True):
        figure, said = Shares(**state), {"lost": [], "so_far": [], "last": [], "arrives": []}
        everything = torch.cat([results(figure, kind)[0] for kind in ("RNN", "LSTM")])
        for kind, bars in zip(("RNN", "LSTM"), result["bars"], strict=True):
            shares, lengths, lost = results(figure, kind)
            assert abs(shares.sum() - 1) < 1e-12
            torch.testing.assert_close(figure.shares(kind), shares, rtol=1e-10, atol=1e-10)
            assert figure.lost(kind) == pytest.approx(lost[figure.window - 1].item(), rel=1e-10, abs=1e-10)
            check_bars(bars, shares, 58, figure.shown, figure.window, everything)
            said["lost"].append(percent(lost[figure.window - 1]))
            said["so_far"].append(percent(shares[24 - figure.shown :].sum()))
            said["last"].append(percent(shares[-1]))
            said["arrives"].append(percent(lengths[23 - figure.gap] / lengths[23]))
        if figure.shown < 24:
            expected = said["so_far"]
        else:
            expected = (said["lost"] if figure.window < 24 else said["last"]) + said["arrives"]
        assert percentages(result["said"]) == expected
        marks = [f"{kind}{part}" for kind, part in zip(("RNN", "LSTM"), said["arrives"], strict=True)]
        assert sorted(re.sub(r"[\s\u200b]", "", mark) for mark in result["marks"]) == (
            sorted(marks) if figure.shown > figure.gap else []
        )


def test_answer_of_the_question():
    lengths = {kind: results(Shares(), kind)[1] for kind in ("RNN", "LSTM")}
    rnn, lstm = (bool(length[7] / length[23] > 0.01) for length in lengths.values())
    answer = words("en", "shares")["answers"][words("en", "shares")["right"]]
    assert answer == {(True, False): "RNN", (False, True): "LSTM", (True, True): "both"}.get((rnn, lstm), "neither")
    replies = words("en", "shares")["because"]
    arrives = percent(lengths["LSTM"][7] / lengths["LSTM"][23])
    assert f"a forget bias of {Shares().bias:.0f}, {arrives} arrives in the LSTM" in replies[3].replace(" %", "%")
    assert "less than 1 % arrives in the RNN" in replies[2]
    without = results(Shares(bias=0), "LSTM")[1]
    assert without[7] / without[23] < 0.01 and "set the forget bias to 0" in replies[1]
    assert lengths["RNN"][7] / lengths["RNN"][23] < 0.01


def test_pointer_shows_values(browser):
    step = lambda t: 46 + (t - 0.5) * 307 / 24  # noqa: E731
    figure = Shares(shown=20)
    with figure_page(browser, "shares", shown=20) as page:
        page.locator("svg.drawing").scroll_into_view_if_needed()
        text = value_at(page, step(22), 240)
        assert re.fullmatch("t = 22: RNN .* %, LSTM .* %", text)
        for kind in ("RNN", "LSTM"):
            shares, lengths, _ = results(figure, kind)
            shown = float(re.search(f"{kind} (.*?) %", text)[1].replace("−", "-"))
            assert shown == pytest.approx(100 * shares[21].item(), rel=1e-3)
            ratio = (lengths[5] / lengths[23]).item()
            y = 70 - 100 * torch.tensor(ratio).log10().item() / 8
            name, shown = value_at(page, step(6), y).split(" = ")
            assert name == f"{kind}, ‖∂L/∂x6‖ / ‖∂L/∂x24‖"
            factor, _, power = shown.replace("⁻", "-").partition("·10")
            power = power.translate(str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹", "0123456789"))
            assert float(factor) * 10 ** int(power or 0) == pytest.approx(ratio, rel=1e-3)
        assert value_at(page, step(3), 80) is None  # not drawn yet
        assert [value_at(page, step(t), 30) for t in (8, 9, 24)] == ["x8 = symbol", "x9 = noise", "x24 = question"]


def test_a_reader_moves_it_by_keys_and_pointer(browser):
    with figure_page(browser, "shares") as page:
        page.get_by_role("button", name="Play").press("Enter")
        page.wait_for_function("model.get('shown') === 24")
        page.get_by_role("slider", name="window").press("Home")
        page.get_by_role("button", name="Other weights and symbols").press("Enter")
        page.wait_for_function("document.querySelector('figure').textContent.includes('a window of 1 loses')")
        assert page.evaluate("[model.get('window'), model.get('seed')]") == [1, 1]
        value_at(page, 46 + 4.5 * 307 / 24, 30)
        assert get(page, "gap") == 16
        page.mouse.down()
        assert get(page, "gap") == 24 - 5
        value_at(page, 352, 30)
        assert get(page, "gap") == 1
        page.mouse.up()
        assert page.get_by_role("slider", name="steps to question").input_value() == "1"


def dropout(p):
    return {"num_layers": 2, "dropout": p}


def squares(y):
    return (y[2] ** 2).sum()


LAYERS = {  # name → (a layer, depth, shape of the inputs, loss)
    "torch": (lambda: nn.LSTM(3, 5, **float64), 0, (9, 3), None),
    "companion": (lambda: companion.GRU(3, 5, **float64), 0, (9, 1, 3), squares),
    "relu": (lambda: nn.RNN(3, 5, nonlinearity="relu", bias=False, **float64), 0, (9, 1, 3), None),
    "batch_first": (lambda: nn.GRU(3, 5, batch_first=True, **float64), 0, (9, 3), squares),
    "second layer": (lambda: nn.LSTM(3, 5, **dropout(0.5), **float64), 1, (9, 3), squares),
    "first layer": (lambda: companion.LSTM(3, 5, **dropout(0.5), **float64), 0, (200, 3), None),
    "projection": (lambda: nn.LSTM(3, 5, proj_size=2, **float64), 0, (2, 3), None),
    "float32": (lambda: nn.RNN(3, 5), 0, (9, 3), None),
    "bfloat16": (lambda: companion.LSTM(3, 5, dtype=torch.bfloat16), 0, (9, 3), None),
}


@pytest.mark.parametrize("name", LAYERS)
def test_a_layer_of_your_own_equals_autograd(name):
    torch.manual_seed(0)
    make, depth, shape, loss = LAYERS[name]
    layer, inputs = make(), torch.randn(shape, **float64)
    layer.weight_hh_l0.grad = torch.ones_like(layer.weight_hh_l0)
    before, state = copy.deepcopy(layer.state_dict()), torch.get_rng_state()
    figure = Shares.of(layer, inputs, loss, depth)
    assert all(torch.equal(before[key], value) for key, value in layer.state_dict().items())
    assert layer.training and layer.weight_hh_l0.grad.eq(1).all() and torch.equal(torch.get_rng_state(), state)
    assert all(parameter.requires_grad for parameter in layer.parameters())
    same = copy.deepcopy(layer).double().eval()
    # the step-by-step reference runs without a batch
    expected = by_autograd(same, inputs.reshape(-1, 3), loss or (lambda y: y[-1].sum()), depth)
    for key, numbers in zip(("shares", "lengths", "lost"), expected, strict=True):
        torch.testing.assert_close(torch.tensor(figure.own[key], **float64), numbers, rtol=1e-10, atol=1e-10)
    assert repr(figure) == f"<Shares of {type(layer).__name__}, {shape[0]} steps>"


def test_the_loss_reads_outputs_as_the_inputs_are():
    seen = []
    head = nn.Linear(5, 1)  # float32, as the layer

    def loss(output):
        seen.append((output.shape, output.dtype))
        return head(output).sum()

    layer = nn.LSTM(3, 5)
    for shape in ((4, 3), (4, 1, 3)):
        with torch.no_grad():
            Shares.of(layer, torch.randn(shape), loss)
    assert seen == [((4, 5), torch.float32), ((4, 1, 5), torch.float32)] and head.weight.grad is None


@pytest.mark.parametrize("steps", chosen([30, 2, 200], 30))
def test_page_of_a_layer_of_your_own(browser, tmp_path, steps):
    torch.manual_seed(0)
    figure = Shares.of(nn.GRU(2, 6), torch.randn(steps, 2))
    window = figure.window = max(1, steps // 10)
    figure.save(tmp_path / "mine.html")
    with browser.new_page(viewport={"width": 360, "height": 800}) as page:
        requests = []
        page.on("request", lambda request: requests.append(request.url))
        page.goto((tmp_path / "mine.html").as_uri())
        look = LOOK.replace('(".report")[1]', '(".report")[0]')
        drawn = page.evaluate(f"({look})()")
        assert len(requests) == 1 and page.locator(".question").count() == 0
        shares = torch.tensor(figure.own["shares"], **float64)
        check_bars(drawn["bars"][0], shares, 95, steps, window)
        assert drawn["bars"][1] == []
        assert percentages(drawn["said"]) == [percent(figure.own["lost"][window - 1])]
        assert page.get_by_role("slider").count() == 1 and page.get_by_text("noise").count() == 0
        lengths = figure.own["lengths"]
        if steps == 30:
            value = value_at(page, 46 + 29.5 * 307 / 30, 50)
            assert value == f"‖∂L/∂x30‖ = {float(f'{lengths[-1]:.4g}')}"
        page.get_by_role("slider", name="window").press("Home")
        assert page.evaluate("model.get('window')") == 1
        assert page.evaluate("document.documentElement.scrollWidth") <= 360


X = torch.ones(4, 3)
WRONG = [
    (nn.Linear(3, 3), {}, TypeError, "not Linear"),
    (nn.LSTMCell(3, 3), {}, TypeError, "not LSTMCell"),
    (nn.GRU(3, 4, bidirectional=True), {}, ValueError, "bidirectional"),
    (nn.GRU(3, 4), {"depth": 1}, ValueError, "depth must be from 0 to 0, not 1"),
    (nn.GRU(3, 4), {"inputs": torch.ones(4, 2)}, ValueError, r"inputs must be (T, 3) or (T, 1, 3), not (4, 2)"),
    (nn.GRU(3, 4), {"inputs": torch.ones(4, 2, 3)}, ValueError, "not (4, 2, 3)"),
    (nn.GRU(3, 4), {"inputs": torch.ones(3)}, ValueError, "not (3,)"),
    (nn.GRU(3, 4), {"inputs": 3.0}, ValueError, "not ()"),
    (nn.GRU(3, 4), {"inputs": torch.ones(1, 3)}, ValueError, "inputs has 1 steps; the figure shows 2 to 200"),
    (nn.GRU(3, 4), {"inputs": torch.ones(201, 3)}, ValueError, "inputs has 201 steps"),
    (nn.GRU(3, 4), {"inputs": [[0, 1, 2], [3, float("nan"), 5]]}, ValueError, "inputs[1, 1] is nan"),
    (nn.GRU(3, 4), {"loss": lambda y: y[-1]}, ValueError, "loss must return a tensor with one number"),
    (nn.GRU(3, 4), {"loss": lambda y: y.sum().item()}, ValueError, "loss must return"),
    (nn.GRU(3, 4), {"loss": lambda y: y.detach().sum()}, ValueError, "depends on the output"),
    (nn.GRU(3, 4), {"loss": lambda y: y[0].sum()}, ValueError, "the gradient of weight_hh_l0 is 0"),
    (nn.GRU(3, 4), {"loss": lambda y: y.sum() * float("inf")}, ValueError, "not finite"),
]


@pytest.mark.parametrize("layer, values, error, message", WRONG)
def test_layers_and_inputs_that_are_refused(layer, values, error, message):
    with pytest.raises(error, match=re.escape(message)):
        Shares.of(layer, **{"inputs": X} | values)


def test_window_is_within_the_steps():
    figure = Shares.of(nn.RNN(3, 4), X)
    assert figure.window == figure.shown == 4
    with pytest.raises(TraitError, match="window must be from 1 to 4, not 5"):
        figure.window = 5
