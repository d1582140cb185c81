"""Question `train`: the training loop, on a small network whose weights are compared afterwards."""

import torch
from torch.nn import functional as F

from companion.check.engine.probe import Probe
from companion.check.engine.question_from_edits import generate_question
from companion.check.engine.run_answer import note_changes
from companion.check.questions.training import (
    AXES,
    LEARNING,
    STEP,
    Network,
    batches_in,
    drawn_batches,
    network_tensors,
    note_learned,
    run_training,
)


def train_reference(model, batches, epochs, learning_rate, max_norm):
    model.train()
    parameters, losses = [*model.parameters()], []
    for epoch in range(epochs):
        for inputs, targets in batches:
            logits, state = model(inputs)
            loss = F.cross_entropy(logits.flatten(0, 1), targets.flatten())
            for p in parameters:
                p.grad = None
            loss.backward()
            norm = torch.cat([p.grad.flatten() for p in parameters]).norm()
            for p in parameters:
                p.grad *= min(1.0, max_norm / float(norm))
            with torch.no_grad():
                for p in parameters:
                    p -= learning_rate * p.grad
            losses.append(loss.item())
    return losses


NOTE, LISTS = "losses.append(loss.item())", "losses = [*model.parameters()], []"
CARRY = ("model(inputs)", "model(inputs, state)", LISTS, LISTS + "; state = None")
TOTAL = (LISTS, LISTS + "; total = 0")
EPOCH = "for epoch in range(epochs):"
ZERO_EACH_EPOCH = ("p.grad = None", "pass", EPOCH, EPOCH + "\n        model.zero_grad()")
NEXT = """loss.backward()
            if inputs is not batches[-1][0]:
                losses.append(loss.item())
                continue"""
MISTAKES = LEARNING | {
    "gradients_zeroed_once_an_epoch": ("training#first-epoch-said", *ZERO_EACH_EPOCH),
    "one_step_an_epoch": ("step_sizes#gradient-descent", *ZERO_EACH_EPOCH, "loss.backward()", NEXT),
    "last_step_not_made": (
        "training#one-epoch", STEP,
        "p -= learning_rate * p.grad * (inputs is not batches[-1][0] or epoch < epochs - 1)",
    ),
    "same_batch_every_time": ("training#one-epoch", "in batches:", "in [batches[0]] * len(batches):"),
    "epochs_for_each_batch": (
        "training#first-epoch-said", EPOCH, "for epoch in range(1):", "in batches:",
        "in [one for one in batches for _ in range(epochs)]:",
    ),
    "epochs_ignored": ("training#first-epoch-said", "range(epochs)", "range(1)"),
    "last_batch_missing": ("training#one-epoch", "in batches:", "in batches[:-1]:"),
    "state_carried": ("training#windows-said", *CARRY, NOTE, NOTE + "; state = state.detach()"),
    "state_carried~not_cut": ("", *CARRY),
    "losses_added_up": (
        "training#first-epoch-said", *TOTAL, "loss.backward()", "total = total + loss; total.backward()",
    ),
    "losses_added_up~retained": (
        "", *TOTAL, "loss.backward()", "total = total + loss; total.backward(retain_graph=True)",
    ),
    "loss_after_step": (
        "training#one-epoch", "loss.item()",
        "F.cross_entropy(model(inputs)[0].flatten(0, 1), targets.flatten()).item()",
    ),
    "one_loss_an_epoch": (
        "training#one-epoch", "return losses", "return torch.tensor(losses).view(epochs, -1).mean(1)",
    ),
    "one_loss_an_epoch~sum": ("", "return losses", "return torch.tensor(losses).view(epochs, -1).sum(1)"),
    "one_loss_an_epoch~last": ("", "return losses", "return torch.tensor(losses).view(epochs, -1)[:, -1]"),
}  # fmt: skip


def call(answer, probe, outcome):
    """Call the answer with a network in evaluation mode, as after an evaluation."""
    model = Network(probe.tensors).eval()
    tensors = {name: tensor.clone() for name, tensor in probe.tensors.items()}
    options = (probe.options[name] for name in ("epochs", "learning_rate", "max_norm"))
    returned = run_training(answer, model, batches_in(tensors), *options)
    note_learned(returned, model, outcome)
    note_changes(probe.tensors, tensors, outcome)


def truth(model, batches, epochs, learning_rate, max_norm):
    optimizer, losses = torch.optim.SGD(model.train().parameters(), lr=learning_rate), []
    for inputs, targets in batches * epochs:
        optimizer.zero_grad()
        loss = F.nll_loss(model(inputs)[0].log_softmax(-1).movedim(-1, 1), targets)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), max_norm)
        optimizer.step()
        losses.append(loss)
    return torch.stack(losses).detach()


def probes(draw):
    def probe(name, numbers, vocabulary, hidden, shapes, epochs, learning_rate, max_norm):
        tensors = network_tensors(numbers, vocabulary, hidden) | drawn_batches(draw, vocabulary, shapes)
        options = {"epochs": epochs, "learning_rate": learning_rate, "max_norm": max_norm}
        return Probe(name, tensors, options, gradients=None)

    return [
        # with one step some wrong orders of statements have no effect
        probe("one_step_only", draw.few, 3, 1, [(2, 1)], 1, 0.6, 0.2),
        probe("several", draw.few, 3, 1, [(2, 1), (2, 1)], 1, 0.5, 0.3),
        probe("never_too_long", draw, 4, 3, [(3, 2), (2, 3)], 3, 0.3, 90.0),
        probe("several", draw, 5, 4, [(3, 2), (2, 2), (4, 2)], 2, 0.7, 0.4),
    ]


QUESTION = generate_question(
    train_reference,
    MISTAKES,
    truth=truth,
    name="train",
    assignment="training",
    task=3,
    points=4,
    place="training#one-epoch",
    call=call,
    probes=probes,
    axes=AXES,
)
