"""Test the sheet on recurrences: equations, sizes and properties against layers, results against runs."""

import math
import re

import pytest
import torch
from torch.nn import functional as F

import companion
from book.sheets import chapters
from book.sheets.document import read_words
from book.sheets.recurrences import GUESSING, MEMBERS, TABLE, TASKS, facts, guessed
from companion.learning.evidence import load
from companion.learning.tasks import Cups

I, H, N = 3, 4, 5  # sizes of the layers below: input, hidden, state_size
float64 = {"dtype": torch.float64}
LAYERS = {
    "RNN": companion.RNN,
    "LSTM": companion.LSTM,
    "GRU": companion.GRU,
    "minGRU": companion.MinGRU,
    "S6": lambda *sizes, **options: companion.SelectiveSSM(*sizes, N, **options),
    "linear attention": companion.LinearAttention,
    "GLA": companion.GatedLinearAttention,
    "delta": companion.DeltaNet,
    "gated delta": companion.GatedDeltaNet,
    "attention": companion.CausalAttention,
}
LINES = dict(zip(MEMBERS, facts("en")["members"], strict=True))


def layer_of(name):
    torch.manual_seed(0)
    return LAYERS[name](I, H, **float64)


def tensors(state):
    """Return a state as a list of tensors."""
    return [state] if torch.is_tensor(state) else list(state)


def packed(state, like):
    return state[0] if torch.is_tensor(like) else tuple(state)


def step_of(layer, x, state):
    output, new = layer(x[None, None], state)
    return output[0, 0], [part.flatten(0, 1).squeeze(0) for part in tensors(new)]


def state_before(layer):
    """Return the state after three steps, which is not zero."""
    return layer(torch.randn(3, 1, I, **float64))[1]


def by_equation(name, layer, x, state):
    """Compute one step by the equations of the sheet, and return the output and the new state, (H) or (d, d)."""
    s = [part.flatten(0, 1).squeeze(0) for part in tensors(state)]
    sums = layer.weight_ih_l0 @ x + layer.bias_ih_l0
    if name in ("RNN", "LSTM", "GRU"):
        W, b = layer.weight_hh_l0, layer.bias_hh_l0
        h = s[0]
        if name == "RNN":
            new = torch.tanh(W @ h + sums + b)
            return new, [new]
        if name == "LSTM":
            i, f, g, o = (sums + W @ h + b).chunk(4)
            c = f.sigmoid() * s[1] + i.sigmoid() * g.tanh()
            new = o.sigmoid() * torch.tanh(c)
            return new, [new, c]
        (r, z, n), (r_h, z_h, n_h) = sums.chunk(3), (W @ h + b).chunk(3)
        z, n = (z + z_h).sigmoid(), torch.tanh(n + (r + r_h).sigmoid() * n_h)
        new = z * h + (1 - z) * n
        return new, [new]
    parts = sums.split(layer.parts) if hasattr(layer, "parts") else sums.chunk(2)
    if name == "minGRU":
        z = parts[0].sigmoid()
        new = z * s[0] + (1 - z) * parts[1]
        return new, [new]
    if name == "S6":
        u, delta, B, C = parts
        delta = F.softplus(delta)[:, None]
        new = torch.exp(delta * -layer.A_log.exp()) * s[0] + delta * B * u[:, None]
        return new @ C + layer.D * u, [new]
    S = s[0]
    q, k, v = parts[0] / parts[0].norm(), parts[1] / parts[1].norm(), parts[2]
    alpha = parts[3].sigmoid() if name in ("GLA", "gated delta") else 1
    beta = layer.most * parts[-1].sigmoid() if "delta" in name else None
    if name == "delta":
        new = S + beta * torch.outer(v - S @ k, k)
    elif name == "gated delta":
        new = alpha * S + beta * torch.outer(v - alpha * S @ k, k)
    else:
        new = S * alpha ** (1 / 16) + torch.outer(v, k)
    return new @ q, [new]


# Each equation of the sheet, as it is computed above. A change of one of them has to be made in both places.
EQUATIONS = {
    "RNN": (r"$\tanh( W h_{t-1} + x_t )$", "h_t"),
    "LSTM": (r"$c_t = f ⊙ c_{t-1} + i ⊙ g$", r"o ⊙ \tanh( c_t )"),
    "GRU": (r"$z ⊙ h_{t-1} + (1-z) ⊙ n$", "h_t"),
    "minGRU": (r"$z ⊙ h_{t-1} + (1-z) ⊙ n$", "h_t"),
    "S6": (r"$e^{\Delta_t A} ⊙ h_{t-1} + \Delta_t B_t u_t$", r"h_t C_t + D ⊙ u_t"),
    "linear attention": (r"$S_{t-1} + v k^\top$", "S_t q"),
    "GLA": (r"$\alpha S_{t-1} + v k^\top$; $S_{t-1} \mathrm{Diag}(\alpha) + v k^\top$", "S_t q"),
    "delta": (r"$S_{t-1} + \beta ( v - S_{t-1} k ) k^\top$", "S_t q"),
    "gated delta": (r"$\alpha S_{t-1} + \beta ( v - \alpha S_{t-1} k ) k^\top$", "S_t q"),
    "attention": ("keeps all $k_s$, $v_s$", r"\textstyle\sum_s \mathrm{softmax}_s ( q^\top k_s / \sqrt{d} ) \, v_s"),
}


@pytest.mark.parametrize("name", [name for name in MEMBERS if name != "attention"])
def test_a_step_of_the_layer_is_the_equation(name):
    assert (LINES[name]["state"], LINES[name]["output"]) == EQUATIONS[name]
    layer = layer_of(name)
    state, x = state_before(layer), torch.randn(I, **float64)
    output, new = step_of(layer, x, state)
    expected, parts = by_equation(name, layer, x, state)
    torch.testing.assert_close(output, expected)
    for part, wanted in zip(new, parts, strict=True):
        torch.testing.assert_close(part.reshape(wanted.shape), wanted)


def test_attention_is_the_equation():
    name = "attention"
    assert (LINES[name]["state"], LINES[name]["output"]) == EQUATIONS[name]
    layer = layer_of(name)
    x = torch.randn(6, 1, I, **float64)
    output, _ = layer(x)
    q, k, v = layer.in_proj(x[:, 0]).chunk(3, dim=-1)
    weights = torch.softmax(k @ q[-1] / math.sqrt(H), dim=0)
    torch.testing.assert_close(output[-1, 0], layer.out_proj(weights @ v))
    _, state = layer(x[:5])
    assert layer(x[5:], state)[0].allclose(output[5:])  # keys and values are all that is kept


@pytest.mark.parametrize("name", MEMBERS)
def test_the_state_has_as_many_numbers_as_the_sheet_says(name):
    layer = layer_of(name)
    for steps in (2, 7):
        _, state = layer(torch.zeros(steps, 1, I, **float64))
        count = sum(part.numel() for part in tensors(state))
        tex = LINES[name]["size"].strip("$")
        values = {"H": H, "N": N, "d": H, "t": steps}  # one head: its keys have all features
        factors = re.findall(r"(\d+|[A-Za-z])(?:\^(\d))?", tex)
        assert count == math.prod((values.get(f) or int(f)) ** int(power or 1) for f, power in factors), tex


@pytest.mark.parametrize("name", [name for name in MEMBERS if name != "attention"])
def test_a_layer_waits_unless_its_new_state_is_linear_in_the_old_one(name):
    layer, x = layer_of(name), torch.randn(1, 1, I, **float64)
    like = state_before(layer)
    draws = [[torch.randn_like(part) for part in tensors(like)] for _ in range(2)]
    middle = [(first + second) / 2 for first, second in zip(*draws)]
    news = [torch.cat([p.flatten() for p in tensors(layer(x, packed(s, like))[1])]) for s in (*draws, middle)]
    is_linear = torch.allclose((news[0] + news[1]) / 2, news[2])
    assert {"yes": False, "no": True}[LINES[name]["waits"]] == is_linear


@pytest.mark.parametrize("name", ["LSTM", "GRU", "minGRU", "S6", "delta"])
def test_gates_see_what_the_sheet_says(name):
    """Find out whether what is left of a number of the old state depends on the other numbers of that state."""
    layer, x = layer_of(name), torch.randn(1, 1, I, **float64)
    state = [part.detach().clone() for part in tensors(state_before(layer))]

    def left(shift):
        parts = [part + shift if number == 0 else part for number, part in enumerate(state)]
        parts = [part.clone().requires_grad_() for part in parts]
        new = tensors(layer(x, packed(parts, state_before(layer)))[1])[-1].flatten()
        (gradient,) = torch.autograd.grad(new[0], parts[-1])
        return gradient.flatten()[0].item()

    changes = abs(left(0) - left(1)) > 1e-9
    assert changes == ("h_{t-1}" in LINES[name]["sees"])
    assert name != "LSTM" or LINES[name]["sees"] == "$x_t$, $h_{t-1}$"


@pytest.mark.parametrize("language", ["ja", "ko", "zh"])
def test_other_languages_have_the_same_equations_and_sizes(language):
    for own, line in zip(facts(language)["members"], LINES.values(), strict=True):
        for key in ("output", "parts", "size", "cost", "place", "key"):
            assert own[key] == line[key]
        assert re.findall(r"\$[^$]+\$", own["state"]) == re.findall(r"\$[^$]+\$", line["state"])
    waits = [member["waits"] for member in facts(language)["members"]]
    assert [word == waits[0] for word in waits] == [line["waits"] == "yes" for line in LINES.values()]


@pytest.mark.parametrize("name", MEMBERS)
def test_the_input_is_mapped_to_the_parts_that_the_sheet_lists(name):
    layer, parts = layer_of(name), LINES[name]["parts"].split(", ")
    if hasattr(layer, "parts"):
        assert len(layer.parts) == len(parts)
    elif name == "attention":
        assert parts == ["q", "k", "v"]
    else:
        assert layer.weight_ih_l0.shape == (len(parts) * H, I)


def test_measured_numbers_are_those_of_the_runs_and_of_the_chapter():
    printed = chapters.output(GUESSING)
    for member, line in zip(MEMBERS.values(), LINES.values()):
        for (_, kind), (_, count, results) in zip(member.kinds, line["measured"], strict=True):
            runs = load("layers", kind=kind, chosen=True)
            assert {f"{run['state']:,}" for run in runs} == {count}
            for task, (mean, ends) in zip(TASKS, results, strict=True):
                tests = [100 * run["test"] for run in load("layers", kind=kind, experiment=task, chosen=True)]
                assert len(tests) == 5 and float(mean) == pytest.approx(sum(tests) / 5, abs=0.51)
                low, high = (ends or f"{mean}–{mean}").split("–")
                assert float(low) == pytest.approx(min(tests), abs=0.51)
                assert float(high) == pytest.approx(max(tests), abs=0.51)
                shown = kind.replace("GatedLinearAttention", "GLA")
                (row,) = re.findall(rf"(?m)^{re.escape(shown)}  +(.*)$", printed)
                assert f"{mean} {ends}".strip() in row
    assert guessed()["two cups"] == "50" and guessed()["three cups"] == "33"
    assert {guessed()[task] for task in TASKS} == set(facts("en")["tasks"].values())


def test_the_answer_with_two_cups_is_a_parity_and_with_three_the_order_counts():
    inputs, targets = next(Cups(2, 30, batch_size=50).epoch(0))
    assert (inputs.cumsum(0) % 2).equal(targets)
    inputs, targets = next(Cups(3, 30, batch_size=200).epoch(0))
    ends = {}
    for moves, end in zip(inputs[:4].T.tolist(), targets[3].tolist()):
        ends.setdefault(tuple(sorted(moves)), set()).add(end)
    assert any(len(found) > 1 for found in ends.values())


def test_the_notes_name_the_tasks_and_layers_as_they_are():
    numbers = facts("en")["numbers"]
    runs = load("layers", chosen=True)
    assert all(int(numbers["fewest"].replace(",", "")) <= run["parameters"] for run in runs)
    games = [run["right"][-1] for run in load("cups", kind="transformer", chosen=True)]
    assert numbers["steps"] == 80 and 0.4 < min(games) <= max(games) < 0.6
    best = {
        task: max(load("layers", experiment=task, chosen=True), key=lambda run: run["test"])["kind"] for task in TASKS
    }
    assert "LSTM" in best["brackets"] or "GRU" in best["brackets"]
    assert "Delta" in best["rewritten"] or "GatedLinear" in best["rewritten"]


def test_every_language_says_what_was_not_measured():
    for language in ("en", "ja", "ko", "zh"):
        words = read_words(language)["recurrences"]
        assert set(words["unmeasured"]) == {name for name, member in MEMBERS.items() if not member.kinds}
        assert list(words["tasks"]) == list(TASKS)
        assert len(chapters.table(TABLE, language)) == len(chapters.table(TABLE, "en"))
