"""Compare the models of training.js with companion.SequenceModel: outputs, all gradients, and initial weights.

test_figure_learning.py compares weights after fifty steps of Adam, test_figure_past.py tests weights from a file.
"""

import json
import re
from collections import Counter

import pytest
import torch
from torch.nn import functional as F

import companion
from companion.figures.figure import read
from companion.learning.sequence_model import SequenceModel
from companion.learning.tasks import Recall
from tests.figures.figure_page import serve_modules

DOUBLE = {"dtype": torch.float64}
SIZES = {"vocab_size": 7, "embedding_dim": 3, "hidden_size": 4, "num_outputs": 5}
each_kind = pytest.mark.parametrize("kind", ["RNN", "GRU", "LSTM"])


@pytest.fixture(scope="module")
def ask(browser):
    with serve_modules(browser, "training") as ask:
        yield ask


def build_model(kind, sizes, values=None):
    """Return the model with all weights from `values`, in the page's order."""
    recurrent = getattr(companion, kind)(sizes["embedding_dim"], sizes["hidden_size"], **DOUBLE)
    embedding = companion.Embedding(sizes["vocab_size"], sizes["embedding_dim"], **DOUBLE)
    model = SequenceModel(embedding, companion.by_hand(recurrent), sizes["num_outputs"])
    if values is not None:
        torch.nn.utils.vector_to_parameters(torch.as_tensor(values, **DOUBLE), model.parameters())
    return model


def numbers(tensors):
    return torch.cat([tensor.detach().flatten() for tensor in tensors])


def same(ours, theirs, bound=1e-11):
    torch.testing.assert_close(
        torch.tensor(ours, **DOUBLE).flatten(), theirs.detach().flatten(), rtol=bound, atol=bound
    )


def test_every_export_is_compared_with_torch():
    exports = re.findall(r"^export const (\w+)", read("training.js"), re.MULTILINE)
    with open(__file__, encoding="utf-8") as file:
        missing = {*exports} - {*re.findall(r"s\.(\w+)", file.read())}
    assert exports and missing == {"parameterShapes", "batchLoss", "adamState", "adamStep", "clipNorm"}  # in those two


# Outputs, loss and all gradients of one sequence, with a loss term at each step that has a target.
LEARN = """({ kind, sizes, values, indices, targets }) => {
    const model = s.buildModel(kind, sizes, Float64Array.from(values));
    const tape = s.forward(model, indices);
    const gradients = s.buildModel(kind, sizes);
    const dh = new Float64Array(tape.h.length);
    let loss = 0;
    const y = indices.map((_, t) => s.logitsAt(model, tape, t + 1));
    targets.forEach((target, t) => {
        if (target === null) return;
        const term = s.crossEntropy(y[t], target);
        loss += term.loss;
        s.backwardFromLogits(model, tape, t + 1, term.d, dh, gradients.w);
    });
    const { dx } = s.backward(model, tape, dh, gradients.w);
    return { y: y.map((row) => [...row]), loss, dx, dh, gradients: gradients.values };
}"""


@each_kind
def test_outputs_and_gradients(ask, kind):
    """Compare sequences of one to nine steps; some gates are saturated, some losses are at the end only."""
    torch.manual_seed(0)
    cases, expected = [], []
    for case in range(30):
        model = build_model(kind, SIZES)
        with torch.no_grad():
            for parameter in model.parameters():
                parameter.mul_((1, 3, 10)[case % 3])
        steps = 1 + case % 9
        indices = torch.randint(7, (steps,))
        targets = torch.randint(5, (steps,)).tolist()
        if case % 2:
            targets[:-1] = [None] * (steps - 1)
        values = numbers(model.parameters())
        cases.append({"kind": kind, "sizes": SIZES, "values": values, "indices": indices, "targets": targets})
        x = model.embedding(indices)[:, None]
        states, state = [torch.zeros(1, 1, 4, **DOUBLE).requires_grad_()], None
        state = (states[0], torch.zeros(1, 1, 4, **DOUBLE)) if kind == "LSTM" else states[0]
        for x_t in x:
            output, state = model.recurrent(x_t[None], state)
            states.append(state[0] if kind == "LSTM" else state)
        y = model.linear(torch.cat(states[1:])[:, 0])
        loss = sum(
            F.cross_entropy(y[t], torch.tensor(target)) for t, target in enumerate(targets) if target is not None
        )
        dx, *rest = torch.autograd.grad(loss, [x, *states, *model.parameters()])
        expected.append((y, loss, dx, numbers(rest[: steps + 1]), numbers(rest[steps + 1 :])))
    for result, (y, loss, dx, dh, gradients) in zip(ask(LEARN, cases), expected, strict=True):
        for name, theirs in {"y": y, "loss": loss, "dx": dx, "dh": dh, "gradients": gradients}.items():
            same(result[name], theirs)


SHARES = """({ kind, sizes, values, indices, target, window }) =>
    s.gradientShares(s.buildModel(kind, sizes, Float64Array.from(values)), indices, target, window)"""


@each_kind
def test_shares_of_each_step(ask, kind):
    """Compare with autograd, where each step has its own copy of W_hh, and check what a window leaves out."""
    torch.manual_seed(0)
    cases, expected = [], []
    for window in (1, 4, 9):
        model, indices, target = build_model(kind, SIZES), torch.randint(7, (9,)), torch.randint(5, ())
        cases.append(
            {
                "kind": kind,
                "sizes": SIZES,
                "values": numbers(model.parameters()),
                "indices": indices,
                "target": target,
                "window": window,
            }
        )
        copies = [model.recurrent.weight_hh_l0.detach().clone().requires_grad_() for _ in indices]
        x, state = model.embedding(indices).detach().requires_grad_(), ()
        for x_t, weight_hh in zip(x, copies):
            output, state = torch.func.functional_call(
                model.recurrent, {"weight_hh_l0": weight_hh}, (x_t[None, None], *state)
            )
            state = (state,)
        *parts, dx = torch.autograd.grad(F.cross_entropy(model.linear(output[-1, 0]), target), [*copies, x])
        parts = torch.stack(parts)
        whole = parts.sum(0)
        shares = (parts * whole).sum(dim=(1, 2)) / whole.square().sum()
        expected.append((shares, dx.norm(dim=-1), parts[: 9 - window].sum(0).norm() / whole.norm()))
    for result, (shares, lengths, lost) in zip(ask(SHARES, cases), expected, strict=True):
        same(result["shares"], shares)
        same(result["lengths"], lengths)
        same(result["lost"], lost)


START = """({ kind, sizes, seed, longest }) => {
    const model = s.initialModel(kind, sizes, seed);
    if (kind !== "RNN") s.setMemoryBiases(model, s.chronoBiases(sizes.hidden_size, longest, seed), true);
    return model.values;
}"""


@each_kind
def test_initial_weights(ask, kind):
    """Check the embedding's N(0, 1), the others' U(-1/√H, 1/√H), and chrono biases as those of `companion.chrono_`."""
    sizes = {"vocab_size": 40, "embedding_dim": 20, "hidden_size": 25, "num_outputs": 9}
    (values,) = ask("([kind, sizes]) => s.initialModel(kind, sizes, 3).values", [[kind, sizes]])
    model = build_model(kind, sizes, values)
    embedding = model.embedding.weight
    assert abs(embedding.mean()) < 0.15 and abs(embedding.std() - 1) < 0.1
    for name, parameter in list(model.named_parameters())[1:]:
        assert parameter.abs().max() <= 0.2, name
        assert parameter.abs().max() > 0.15 and abs(parameter.mean()) < 0.5 / parameter.numel() ** 0.5, name
    (chrono,) = ask(START, [{"kind": kind, "sizes": sizes, "seed": 3, "longest": 50}])
    if kind == "RNN":
        assert chrono == values
        return
    biases = build_model(kind, sizes, chrono).recurrent
    keep = biases.bias_ih_l0.detach().chunk(4 if kind == "LSTM" else 3)
    assert (keep[1] >= 0).all() and (keep[1] <= torch.tensor(49.0).log()).all() and keep[1].std() > 0.3
    assert not biases.bias_hh_l0.detach().chunk(len(keep))[1].any()
    if kind == "LSTM":
        assert torch.equal(keep[0], -keep[1])
    changed = [k for k, (before, after) in enumerate(zip(values, chrono, strict=True)) if before != after]
    assert len(changed) == 25 * (4 if kind == "LSTM" else 2)


def test_set_identity_changes_only_w_hh(ask):
    start, values = ask(
        "identity => { const model = s.initialModel('RNN', sizes, 3); if (identity) s.setIdentity(model); return model.values }".replace(  # noqa: E501
            "sizes", json.dumps(SIZES)
        ),
        [False, True],
    )
    before, after = (dict(build_model("RNN", SIZES, weights).named_parameters()) for weights in (start, values))
    assert torch.equal(after.pop("recurrent.weight_hh_l0"), torch.eye(4, **DOUBLE))
    assert all(torch.equal(before[name], parameter) for name, parameter in after.items())


def test_recall(ask):
    """Check that symbols and noise are uniform, the question is last, and batches differ."""
    options = {"gap": 6, "symbols": 4, "batch_size": 400}
    (batch,), (other,) = (
        ask("([number, options]) => s.recallBatch(5, number, options)", [[number, options]]) for number in (0, 1)
    )
    assert batch != other
    task = Recall(6)
    assert {len(indices) for indices, _ in batch} == {8} and task.vocab_size == 2 * task.symbols + 1
    for indices, target in batch:
        assert indices[0] == target and indices[-1] == 8 and all(4 <= k < 8 for k in indices[1:-1])
    for counts, total in ((Counter(t for _, t in batch), 400), (Counter(k for i, _ in batch for k in i[1:-1]), 2400)):
        assert len(counts) == 4 and all(abs(n - total / 4) < 5 * (total * 3 / 16) ** 0.5 for n in counts.values())
