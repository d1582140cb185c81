"""Compare the figures' arithmetic, run in a browser, with torch: hundreds of random cases for each function.

`make prove` runs a thousand.
"""

import base64
import itertools
import math
import random
import re
from importlib import import_module

import pytest
import torch
from safetensors.torch import save
from torch import nn
from torch.nn import functional as F

from companion.figures.figure import read
from companion.learning.numeral_readers import LANGUAGES
from companion.learning.numerals import split
from companion.learning.text import characters
from tests.figures.torch_cases import COMPARED, DOUBLE, MANY, SCALES, compares, randn, same, scaled, sizes, weights

pytestmark = [pytest.mark.twice, pytest.mark.usefixtures("repeatable")]
# Exports that the test of a figure, test_figure_<name>.py, compares end to end.
END_TO_END = {"rnnDerivatives": "unrolling", "languageModelStep": "writing", "reach": "past", "layerOf": "listening"}
END_TO_END |= dict.fromkeys(["encode", "decoderStep", "greedyDecode"], "attention")
SHOWN = {"visible", "namedBy"}  # how a character is shown: no arithmetic


def test_every_export_is_compared():
    import_module("tests.figures.test_figures_parameters")  # registers its exports if only this file runs
    source = "".join(read(f"{name}.js") for name in ("numbers", "arithmetic", "weights_file", "characters"))
    exports = re.findall(r"^export (?:const|function|class) (\w+)", source, re.MULTILINE)
    assert len(exports) == len(re.findall(r"^export ", source, re.MULTILINE))
    assert COMPARED | END_TO_END.keys() | SHOWN == {*exports} and not COMPARED & END_TO_END.keys()


@compares("dot", "norm", "times", "rowTimes")
def test_products(ask):
    cases = [(randn(m, n) * a, randn(m) * b, randn(n) * b) for m, n, _, a, b in sizes()]
    ours = ask("([W, x, y]) => [s.times(W, y), s.rowTimes(x, W), s.dot(x, x.slice().reverse()), s.norm(x)]", cases)
    times, row_times, dot, norm = zip(*ours, strict=True)
    same(times, [W @ y for W, _, y in cases])
    same(row_times, [x @ W for W, x, _ in cases])
    same(dot, [x @ x.flip(0) for _, x, _ in cases])
    same(norm, [x.norm() for _, x, _ in cases])


@compares("scale")
def test_scale(ask):
    cases = [(b, randn(m, n) * a) for m, n, _, a, b in sizes()]
    same(ask("([r, W]) => s.scale(r, W)", cases), [r * W for r, W in cases])


# Embedding


@compares("oneHot")
def test_one_hot(ask):
    cases = [(index, size) for size in range(1, 50) for index in range(size)]
    theirs = [F.one_hot(torch.tensor(index), size) for index, size in cases]
    same(ask("([index, size]) => s.oneHot(index, size)", cases), theirs, rtol=0, atol=0)


@compares("embeddingGradient")
def test_embedding_gradient(ask):
    """Compare with nn.Embedding, for indices that occur twice, never, or are padding."""
    cases, theirs = [], []
    for case in range(MANY):
        size, dim, places = torch.randint(1, 7, (3,)).tolist()
        padding = None if case % 3 == 0 else int(torch.randint(size, ()))
        indices, gradients = torch.randint(size, (places,)), randn(places, dim) * (1, 1e-3, 1e3)[case % 3]
        embedding = nn.Embedding(size, dim, padding, **DOUBLE)
        embedding(indices).backward(gradients)
        theirs.append(embedding.weight.grad)
        cases.append([indices, gradients, size] + ([] if padding is None and case % 2 else [padding]))
    same(ask("of => s.embeddingGradient(...of)", cases), theirs)


@compares("sumLoss")
def test_sum_loss(ask):
    cases, theirs = [], []
    for places, dim, _, a, b in sizes():
        rows = (randn(places, dim) * a * b).requires_grad_()
        cases.append(rows.tolist())
        L = rows.sum()
        L.backward()
        theirs.append(torch.cat([L[None], rows.grad.flatten()]))
    same(ask("rows => { const { L, gradients } = s.sumLoss(rows); return [L, ...gradients.flat()] }", cases), theirs)


@compares("gradientStep")
def test_gradient_step(ask):
    cases, theirs = [], []
    for m, n, _, a, b in sizes():
        W, lr = nn.Parameter(randn(m, n) * a), float(torch.rand(()) * 2)
        W.grad = randn(m, n) * b
        cases.append((W.tolist(), W.grad.tolist(), lr))
        torch.optim.SGD([W], lr).step()
        theirs.append(W)
    same(ask("([W, gradient, lr]) => s.gradientStep(W, gradient, lr)", cases), theirs)


# RNN


@compares("rnn", "rnnCell", "rnnGradients")
@pytest.mark.parametrize("nonlinearity", ["tanh", "relu"])
def test_rnn_and_its_gradients(ask, nonlinearity):
    """Compare all states with nn.RNN, and the gradients of a loss of the last state with autograd."""
    cases, states, gradients = [], [], []
    for case, (n, m, steps, a, b) in enumerate(sizes()):
        bias, default = case % 3 > 0, nonlinearity == "tanh" and case % 2
        layer = scaled(nn.RNN(n, m, nonlinearity=nonlinearity, bias=bias, **DOUBLE), min(a, 10))
        inputs, last, h_0 = randn(steps, n) * b, randn(m), None if default else randn(m) * b
        states.append(layer(inputs, None if default else h_0[None])[0])
        h, all_h = h_0 if h_0 is not None else torch.zeros(m, **DOUBLE), []
        w = weights(layer, "_l0")
        for x in inputs:
            a_t = F.linear(x, w["weight_ih"], w.get("bias_ih")) + F.linear(h, w["weight_hh"], w.get("bias_hh"))
            h = getattr(torch, nonlinearity)(a_t)
            all_h.append(h)
        gradients.append(torch.stack(torch.autograd.grad(h, all_h, last)))
        cases.append([inputs, w, last, *([] if default else [nonlinearity, h_0])])
    call = """([inputs, w, last, ...rest]) => {
        const states = s.rnn(inputs, w, ...rest);
        return [states, s.rnnGradients(states, last, w, ...rest.slice(0, 1))];
    }"""
    ours, back = zip(*ask(call, cases), strict=True)
    same(ours, states)
    same(back, gradients)


# LSTM


@compares("lstmCell", "preactivations", "sigmoid")
@pytest.mark.parametrize("bias", [True, False])
def test_lstm_cell(ask, bias):
    """Compare h and c with nn.LSTMCell, and all intermediate values with torch."""
    cases, theirs = [], []
    for n, m, _, scale, b in sizes():
        cell = scaled(nn.LSTMCell(n, m, bias, **DOUBLE), scale)
        x, h, c = randn(n) * b, randn(m) * b, randn(m) * b
        w = weights(cell)
        cases.append((x, [h, c], w))
        a = F.linear(x, w["weight_ih"], w.get("bias_ih")) + F.linear(h, w["weight_hh"], w.get("bias_hh"))
        i, f, g, o = a.chunk(4)
        i, f, g, o = i.sigmoid(), f.sigmoid(), g.tanh(), o.sigmoid()
        h_t, c_t = cell(x, (h, c))
        between = {"kept": f * c, "added": i * g, "squashed": c_t.tanh()}
        theirs.append({"a": a, "i": i, "f": f, "g": g, "o": o, **between, "c": c_t, "h": h_t})
    ours = ask("([x, state, w]) => s.lstmCell(x, state, w)", cases)
    assert {tuple(sorted(step)) for step in ours} == {tuple(sorted(theirs[0]))}
    for name in theirs[0]:
        same([step[name] for step in ours], [step[name] for step in theirs])


@compares("lstm")
def test_lstm(ask):
    """Compare each state with nn.LSTM, or, with weights that change from step to step, with a chain of cells."""
    cases, theirs, changing, cells = [], [], [], []
    for case, (n, m, steps, a, b) in enumerate(sizes()):
        inputs, h, c = randn(steps, n) * b, randn(m) * b, randn(m) * b
        layer = scaled(nn.LSTM(n, m, bias=case % 2 > 0, **DOUBLE), a)
        cases.append((inputs, weights(layer, "_l0"), [h, c]))
        h_n, (_, c_n) = layer(inputs, (h[None], c[None]))
        theirs.append(torch.cat([h_n.flatten(), c_n.flatten()]))
        if case % 5 == 0:
            chain = [scaled(nn.LSTMCell(n, m, **DOUBLE), a) for _ in range(steps)]
            changing.append((inputs, [weights(cell) for cell in chain], [h, c]))
            states = []
            for cell, x in zip(chain, inputs, strict=True):
                h, c = cell(x, (h, c))
                states.append(torch.stack([h, c]))
            cells.append(torch.stack(states))
    call = """([inputs, w, state]) => {
        const steps = s.lstm(inputs, w, state);
        return [...steps.flatMap(step => step.h), ...steps.at(-1).c];
    }"""
    same(ask(call, cases), theirs)
    ours = ask("([inputs, w, state]) => s.lstm(inputs, t => w[t], state).map(step => [step.h, step.c])", changing)
    same(ours, cells)


# Writing


@compares("probabilities")
def test_probabilities(ask):
    temperatures = (None, 1, 0.5, 0.05, 2, 10, 1e-3, 0)
    cases, theirs = [], []
    for case in range(MANY):
        y = randn(int(torch.randint(1, 40, ()))) * (1, 20, 1e3)[case % 3] - (0, 50)[case % 2]
        if case % 7 == 0:
            y = y.round()  # the maximum may be there twice
        temperature = temperatures[case % len(temperatures)]
        cases.append([y] + ([] if temperature is None else [temperature]))
        y = y - y.max()  # torch subtracts it after the division
        theirs.append(F.one_hot(y.argmax(), len(y)) if temperature == 0 else F.softmax(y / (temperature or 1), 0))
    ours = ask("of => s.probabilities(...of)", cases)
    same(ours, theirs)
    assert all(abs(sum(p) - 1) < 1e-12 for p in ours)


@compares("sampleIndex")
def test_sample_index(ask):
    """Compare with a search in the cumulative probabilities."""
    cases, theirs = [], []
    for case in range(MANY):
        p = F.softmax(randn(int(torch.randint(1, 40, ()))) * 3, 0)
        if case % 4 == 0:
            p = torch.randint(5, p.shape).double() + F.one_hot(torch.randint(len(p), ()), len(p))
            p = p / 2 ** math.ceil(math.log2(p.sum()))  # exact, some are 0, and some u are above their sum
        u = torch.randint(64, ()).double() / 64 if case % 4 == 0 else torch.rand((), **DOUBLE)
        cases.append([p, u])
        index = int(torch.searchsorted(p.cumsum(0), u, right=True))
        theirs.append(min(index, int(p.nonzero().max())))
    cases.append([torch.tensor([0.5, 0.25, 0.0]), 0.9999])
    assert ask("([p, u]) => s.sampleIndex(p, u)", cases) == [*theirs, 1]


@compares("uniform")
def test_uniform(ask):
    """Check that the numbers are uniform on [0, 1) and that neighbours are uncorrelated."""
    seeds, places = 60, 300
    cases = [*itertools.product(range(seeds), range(places))]
    u = torch.tensor(ask("([seed, place]) => s.uniform(seed, place)", cases))
    assert u.min() >= 0 and u.max() < 1 and len(u.unique()) > 0.99 * len(u)
    counts = torch.histc(u, 20, 0, 1)
    assert ((counts - len(u) / 20) ** 2 / (len(u) / 20)).sum() < 45  # chi-squared with 19 degrees of freedom
    u = u.view(seeds, places)
    for first, second in ((u[:, 1:], u[:, :-1]), (u[1:], u[:-1]), (u[1:, 1:], u[:-1, :-1]), (u[:, 7:], u[:, :-7])):
        assert abs(torch.corrcoef(torch.stack([first.flatten(), second.flatten()]))[0, 1]) < 0.03


@compares("normal")
def test_normal(ask):
    """Compare with Box and Muller's formula, and check the tails: the largest of 3,000 numbers is about 3.6."""
    cases = [*itertools.product(range(10), range(300))]
    u, v = (torch.tensor(ask(f"([seed, place]) => s.uniform(seed, 2 * place + {k})", cases), **DOUBLE) for k in (0, 1))
    normals = torch.tensor(ask("([seed, place]) => s.normal(seed, place)", cases), **DOUBLE)
    torch.testing.assert_close(
        normals, (-2 * torch.log1p(-u)).sqrt() * torch.cos(2 * math.pi * v), rtol=1e-9, atol=1e-9
    )
    assert abs(normals.mean()) < 0.06 and abs(normals.std() - 1) < 0.05 and 2.8 < normals.abs().max() < 6


@compares("characters")
def test_characters(ask):
    """Compare with companion.learning.text: accents, syllables, emoji of several code points, line ends."""
    drawn = random.Random(0)
    parts = [*"ae é门かバ한", "e\u0301", "か\u3099", "ハ\u309a", "\u1112\u1161\u11ab", "\u1100", "\u1161"]
    parts += ["\r\n", "\r", "\n", "\u0301", "👍🏽", "👩\u200d🔬", "🇯🇵", "🇰", "“", "…", " "]
    texts = ["".join(drawn.choices(parts, k=drawn.randrange(12))) for _ in range(MANY)]
    assert ask("text => s.characters(text)", texts) == [*map(characters, texts)]


@compares("readSafetensors")
def test_all_numbers_of_float16(ask):
    bits = torch.arange(2**16, dtype=torch.int32).to(torch.uint16).view(torch.float16)
    data = save({"all": bits.view(256, 256), "none": bits[:0].clone(), "one": bits[5:6].clone()}, {"a": "b"})
    call = "data => s.readSafetensors(Uint8Array.from(atob(data), c => c.charCodeAt(0)).buffer)"
    (file,) = ask(call, [base64.b64encode(data).decode()])
    ours = [[[float(value) for value in row] for row in file["weights"]["all"]], file["weights"]["none"]]
    same([*ours, file["weights"]["one"]], [bits.view(256, 256).double(), bits[:0], bits[5:6]], rtol=0, atol=0)
    assert file["metadata"] == {"a": "b"}
    other = base64.b64encode(save({"w": torch.zeros(2)})).decode()
    call = f"data => {{ try {{ ({call})(data) }} catch (error) {{ return `${{error}}` }} }}"
    assert ask(call, [other]) == ["TypeError: w is F32, not F16"]


# Reading with attention


@compares("numeralWords")
def test_numeral_words(ask):
    """Compare with companion.learning.numerals: hyphens, commas, blanks of all kinds, and no separators."""
    drawn = random.Random(0)
    parts = ["Four", "hundred", "-", ", ", "  ", "\t", "\n", "\u3000", "\u00a0", "四", "万", "사", "𠮷", "x"]
    cases = [
        ["".join(drawn.choices(parts, k=drawn.randrange(12))), language]
        for _ in range(MANY // 4)
        for language in LANGUAGES
    ]
    expected = [[word for word in split(text, language) if word] for text, language in cases]
    assert ask("of => s.numeralWords(...of)", cases) == expected


@compares("attend")
def test_attend(ask):
    """Compare with nn.MultiheadAttention with one head: memories of all lengths, weights from zero to saturated."""
    cases, theirs = [], []
    for case in range(MANY // 3):
        size, length = int(torch.randint(1, 9, ())), int(torch.randint(1, 26, ()))
        factor, scale = SCALES[case % len(SCALES)]
        layer = nn.MultiheadAttention(size, 1, **DOUBLE)
        with torch.no_grad():
            for parameter in layer.parameters():
                parameter.copy_(randn(*parameter.shape) * min(factor, 30))
        h, memory = randn(1, size) * min(scale, 30), randn(length, size) * min(scale, 30)
        with torch.no_grad():
            context, weights = layer(h, memory, memory)
        cases.append([h[0], memory, {f"attention.{name}": weight for name, weight in layer.state_dict().items()}])
        theirs.append((context[0], weights[0]))
    ours = ask("of => { const { context, weights } = s.attend(...of); return [context, weights] }", cases)
    for result, expected in zip(ours, theirs, strict=True):
        same(result, [*expected], rtol=1e-9, atol=1e-9)
