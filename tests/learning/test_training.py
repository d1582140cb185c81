"""Tests of the training loop, against one written out, and of the state carried between windows."""

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn
from torch.nn.utils import clip_grad_norm_

import companion
from companion.learning import sequence_model
from companion.learning.checks import overfit
from companion.learning.classifier import learn
from companion.learning.generation import generate
from companion.learning.sequence_model import OneHot, SequenceModel
from companion.learning.series import fit
from companion.learning.text import Vocabulary
from companion.learning.training import IGNORED, Epoch, clip_gradients, cross_entropy, evaluate, perplexity, train
from companion.learning.windows import ConsecutiveWindows, RandomWindows
from tests.layers.torch_comparison import examples
from tests.learning.training_runs import HELD_OUT, OTHER, WINDOWS, Run, model_of, same, weights_of


@settings(max_examples=examples(100))
@given(st.lists(st.integers(1, 5), max_size=3), st.floats(1e-3, 1e3), st.floats(1e-3, 1e3), st.integers(0, 99))
def test_clip_gradients(shape, scale, max_norm, seed):
    torch.manual_seed(seed)
    gradients = [torch.randn(shape, dtype=torch.float64) * scale, torch.randn(4, dtype=torch.float64)]
    ours, theirs = ([nn.Parameter(torch.zeros_like(g)) for g in [*gradients, gradients[1]]] for _ in range(2))
    for parameters in (ours, theirs):  # the third parameter gets no gradient
        for parameter, gradient in zip(parameters, gradients, strict=False):
            parameter.grad = gradient.clone()
    norm, expected = clip_gradients((p for p in ours), max_norm), clip_grad_norm_(theirs, max_norm)
    assert math.isclose(norm, expected, rel_tol=1e-12) and ours[2].grad is None
    for mine, other, gradient in zip(ours, theirs, gradients, strict=False):
        torch.testing.assert_close(mine.grad, other.grad, rtol=1e-5, atol=1e-12)  # torch adds 1e-6 to the norm
        assert (norm > max_norm) or mine.grad.equal(gradient)


INDICES = torch.zeros(5, 2, dtype=torch.int64)


@pytest.mark.parametrize("small, threads", [(sequence_model.SMALL, 1), (1, 3)])
@pytest.mark.parametrize(
    "function, data",
    [
        (train, lambda optimizer: (WINDOWS["consecutive"], optimizer, 1)),
        (evaluate, lambda optimizer: (HELD_OUT,)),
        (generate, lambda optimizer: (Vocabulary("ab"), "a", 1)),
        (learn, lambda optimizer: ([(INDICES, torch.tensor([5, 5]), INDICES[0])], optimizer, 1)),
        (fit, lambda optimizer: ((INDICES, INDICES[0]), (INDICES, INDICES[0]), 0.1, 1)),
        (overfit, lambda optimizer: (INDICES, INDICES)),
    ],
)
def test_small_models_compute_in_one_thread(function, data, small, threads, monkeypatch):
    """Check the number of threads while the model computes, and that it is restored after an error."""
    monkeypatch.setattr(sequence_model, "SMALL", small)
    before, seen, model = torch.get_num_threads(), [], nn.Linear(2, 2)
    model.table = nn.Embedding(sequence_model.SMALL, 1)  # does not count
    model.register_forward_pre_hook(lambda *_: seen.append(torch.get_num_threads()) or 1 / 0)
    torch.set_num_threads(3)
    try:
        with pytest.raises(ZeroDivisionError):
            function(model, *data(torch.optim.SGD(model.parameters())))
        assert seen == [threads] and torch.get_num_threads() == 3
    finally:
        torch.set_num_threads(before)


def test_cross_entropy_and_perplexity():
    logits = torch.randn(4, 3, 7, dtype=torch.float64)
    targets = torch.randint(7, (4, 3))
    targets[0, 1] = targets[3, 2] = IGNORED
    sums = [
        math.log(sum(math.exp(x) for x in logits[t, b].tolist())) - logits[t, b, targets[t, b]].item()
        for t in range(4)
        for b in range(3)
        if targets[t, b] != IGNORED
    ]
    assert len(sums) == 10 and math.isclose(cross_entropy(logits, targets), sum(sums) / 10, rel_tol=1e-12)
    assert math.isclose(perplexity(cross_entropy(torch.full((4, 3, 7), 2.5), targets)), 7, rel_tol=1e-5)
    assert perplexity(0.0) == 1 and perplexity(1e4) == math.inf


@pytest.mark.parametrize("clip", [0.2, None])
@pytest.mark.parametrize("kind", WINDOWS)
@pytest.mark.parametrize("name", ["GRU", "LSTM"])
def test_train_equals_a_loop_written_out(name, kind, clip):
    windows, ours, theirs = WINDOWS[kind], model_of(name=name), model_of(name=name)
    optimizer = torch.optim.SGD(ours.parameters(), lr=2.0, momentum=0.5)
    scheduler = torch.optim.lr_scheduler.ExponentialLR(optimizer, 0.95)
    history = train(ours, windows, optimizer, 3, clip=clip, scheduler=scheduler, held_out=HELD_OUT, progress=False)

    rate, velocities, expected, clipped = 2.0, {}, [], []
    for epoch in range(3):
        losses, state = [], None
        for inputs, targets in windows.epoch(epoch):
            outputs, after = theirs(inputs, state)
            # cut the gradient between windows
            state = (tuple(s.data for s in after) if name == "LSTM" else after.data) if kind == "consecutive" else None
            loss = nn.functional.cross_entropy(outputs.reshape(-1, 5), targets.reshape(-1))
            gradients = torch.autograd.grad(loss, [*theirs.parameters()])
            norm = torch.cat([g.flatten() for g in gradients]).norm()
            clipped.append(bool(clip and norm > clip))
            for parameter, g in zip(theirs.parameters(), gradients, strict=True):
                g = g * clip / norm if clipped[-1] else g
                velocities[parameter] = g + 0.5 * velocities[parameter] if parameter in velocities else g
                parameter.data -= rate * velocities[parameter]
            rate *= 0.95
            losses.append(loss.item())
        state, total = None, 0
        for inputs, targets in HELD_OUT.epoch(0):
            outputs, state = theirs(inputs, state)
            total += nn.functional.cross_entropy(outputs.reshape(-1, 5), targets.reshape(-1), reduction="sum").item()
        expected.append((sum(losses) / len(windows), total / (len(OTHER) - 1)))
    assert len({*clipped}) == (2 if clip else 1)
    assert all(isinstance(epoch, Epoch) for epoch in history)
    torch.testing.assert_close(torch.tensor(history), torch.tensor(expected), rtol=1e-9, atol=0)
    torch.testing.assert_close(weights_of(ours), weights_of(theirs), rtol=1e-7, atol=1e-9)
    assert len(HELD_OUT) == 2 and train(ours, windows, optimizer, 1, progress=False)[0].held_out is None


@pytest.mark.parametrize("name", ["RNN", "LSTM"])
@pytest.mark.parametrize("kind", WINDOWS)
def test_state_is_carried_and_gradients_are_not(kind, name):
    windows, model, received, returned, modes = WINDOWS[kind], model_of(name=name).eval(), [], [], []
    model.register_forward_pre_hook(lambda _, args: received.append(args[1]) or modes.append(model.training))
    model.register_forward_hook(lambda *args: returned.append(args[-1][1]))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    train(model, windows, optimizer, 2, held_out=windows, progress=False)
    assert modes == ([True] * len(windows) + [False] * len(windows)) * 2
    for k, (state, before) in enumerate(zip(received, [None, *returned], strict=False)):
        if kind == "random" or k % len(windows) == 0:  # epochs and evaluations begin at zero
            assert state is None
            continue
        tensors, before = ([s] if isinstance(s, torch.Tensor) else s for s in (state, before))
        assert same([*tensors], [t.detach() for t in before]) and not any(t.requires_grad for t in tensors)


@pytest.mark.parametrize("embedding", [True, False], ids=["Embedding", "OneHot"])
@pytest.mark.parametrize("name", ["RNN", "GRU", "LSTM"])
def test_companion_by_hand_and_torch_learn_the_same(name, embedding):
    one_hot = None if embedding else OneHot(5, torch.float64)
    models = [model_of(source, name, embedding=one_hot) for source in (companion, companion, nn)]
    companion.by_hand(models[1])
    losses, start = [], weights_of(models[0])
    for model in models:
        model.load_state_dict(start)
        optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
        losses.append(train(model, WINDOWS["consecutive"], optimizer, 4, held_out=HELD_OUT, progress=False))
    assert losses[0][3].loss < losses[0][0].loss
    for other in losses[1:]:
        torch.testing.assert_close(torch.tensor(other), torch.tensor(losses[0]), rtol=0, atol=1e-9)


@pytest.mark.parametrize("kind", [ConsecutiveWindows, RandomWindows])
def test_model_overfits_a_short_text(kind):
    torch.manual_seed(0)
    model = SequenceModel(companion.Embedding(5, 8), companion.by_hand(companion.GRU(8, 24)), 5)
    windows = kind(torch.tensor([0, 1, 2, 1, 3, 4, 4] * 40), 4, 14)
    before, optimizer = perplexity(evaluate(model, windows)), torch.optim.Adam(model.parameters(), lr=0.02)
    (*_, last) = train(model, windows, optimizer, 24, held_out=windows, progress=False)
    # the successors of 1 and 4 depend on earlier inputs
    assert before > 4 and perplexity(last.held_out) < 1.2


def test_evaluate_weights_all_targets_equally_and_does_not_change_the_model():
    model, asked = model_of(dropout=0.5), [6, 1, 10]
    batches = []
    for count in asked:
        targets = torch.full((4, 3), IGNORED)
        targets.view(-1)[:count] = torch.randint(5, (count,))
        batches.append((torch.randint(5, (4, 3)), targets))

    class Some:
        carried = False

        def epoch(self, number):
            assert number == 0
            return iter(batches)

    before, random = weights_of(model), torch.get_rng_state()
    loss = evaluate(model, Some())
    assert model.training and model.recurrent.training and torch.get_rng_state().equal(random)
    assert same(weights_of(model), before) and all(p.grad is None for p in model.parameters())
    model.eval()
    answers = torch.cat([model(x)[0].detach().flatten(0, 1) for x, _ in batches])
    expected = cross_entropy(answers[None], torch.cat([y.flatten() for _, y in batches])[None])
    assert math.isclose(loss, expected, rel_tol=1e-12)
    assert math.isclose(evaluate(model, Some(), lambda outputs, targets: torch.tensor(3.0)), 3.0) and not model.training


def test_loss_function_is_used_in_training_and_evaluation():
    run = Run().train(loss_function=lambda outputs, targets: cross_entropy(outputs, targets) + 100)
    assert all(100 < loss < 103 for epoch in run.history for loss in epoch)


@pytest.mark.parametrize("clip", [1.0, None])
@pytest.mark.parametrize(
    ("words", "wrong"),
    [
        ("the loss is nan", lambda outputs: outputs.sum() * math.nan),
        ("the loss is inf", lambda outputs: outputs.sum() * 0 + math.inf),
        ("the norm of the gradients is nan", lambda outputs: (outputs * 0).sum().sqrt()),
    ],
)
def test_weights_stay_finite_when_loss_or_gradients_do_not(words, wrong, clip):
    run, weights = Run(), []
    run.model.register_forward_pre_hook(lambda *_: weights.append(weights_of(run.model)))

    def loss(outputs, targets):
        return cross_entropy(outputs, targets) + (wrong(outputs) if len(weights) == 3 else 0)

    with pytest.raises(FloatingPointError, match=f"{words} in epoch 1, step 3. The weights are still those of"):
        run.train(clip=clip, loss_function=loss)
    assert same(weights_of(run.model), weights[2]) and not same(weights[1], weights[2])


def test_batches_without_steps_or_targets_are_refused():
    class Batches:
        carried = False

        def __init__(self, *pairs):
            self.pairs = pairs

        def __len__(self):
            return len(self.pairs)

        def epoch(self, number):
            return iter(self.pairs)

    model = model_of()
    with pytest.raises(ValueError, match="batches are empty: an epoch needs at least one step"):
        train(model, Batches(), torch.optim.SGD(model.parameters(), lr=0.1), 1, progress=False)
    nothing = torch.zeros(2, 1, dtype=torch.int64), torch.full((2, 1), IGNORED)
    for batches in (Batches(), Batches(nothing)):
        with pytest.raises(ValueError, match="no target to evaluate"):
            evaluate(model, batches)
