"""Question `evaluate`: held-out mean loss and perplexity, without a change in the model."""

import math

import torch
from torch.nn import functional as F

from companion.check.engine.probe import Probe, Unfit, form, values
from companion.check.engine.question_from_edits import generate_question
from companion.check.engine.run_answer import note_changes
from companion.check.questions.training import (
    AXES,
    LOSS,
    Network,
    batches_in,
    drawn_batches,
    network_tensors,
    number_of,
    weights_of,
)


def evaluate_reference(model, batches):
    training = model.training
    model.eval()
    total, count = 0.0, 0
    with torch.no_grad():
        for inputs, targets in batches:
            logits, state = model(inputs)
            loss = F.cross_entropy(logits.flatten(0, 1), targets.flatten())
            total += loss.item() * targets.numel()
            count += targets.numel()
    model.train(training)
    mean = total / count
    return mean, math.exp(mean)


ADD, COUNT, EXP = "total += loss.item() * targets.numel()", "count += targets.numel()", "math.exp(mean)"
MISTAKES = LOSS | {
    "not_in_evaluation_mode": ("training#the-loop", "model.eval()", "pass"),
    "not_in_evaluation_mode~train": ("", "model.eval()", "model.train()"),
    "left_in_evaluation_mode": ("training#the-loop", "model.train(training)", "pass"),
    "left_in_training_mode": ("training#the-loop", "model.train(training)", "model.train()"),
    "graph_recorded": ("training#first-epoch-said", "with torch.no_grad():", "with torch.enable_grad():"),
    "weights_frozen": (
        "training#first-epoch-said", "with torch.no_grad():", "model.requires_grad_(False)\n    if True:",
    ),
    "gradients_changed": (
        "training#first-epoch-said", "total, count = 0.0, 0", "total, count = 0.0, 0\n    model.zero_grad()",
    ),
    "gradients_changed~backward": (
        "", "with torch.no_grad():", "with torch.enable_grad():", "total += ",
        "loss.backward()\n            total += ",
    ),
    "generator_changed": (
        "training#first-epoch-said", "total, count = 0.0, 0", "total, count = 0.0, 0\n    torch.manual_seed(0)",
    ),
    "gradients_left_off": (
        "training#first-epoch-said", "with torch.no_grad():", "torch.set_grad_enabled(False)\n    if True:",
    ),
    "dropout_left_off": ("training#the-loop", "model.eval()", "model.eval()\n    model.dropout.p = 0.0"),
    "mean_of_means": ("surprise#loss", ADD, "total += loss.item()", COUNT, "count += 1"),
    "weighted_by_rows": (
        "surprise#loss", ADD, "total += loss.item() * targets.shape[1]", COUNT, "count += targets.shape[1]",
    ),
    "weighted_by_steps": ("surprise#loss", ADD, "total += loss.item() * len(targets)", COUNT, "count += len(targets)"),
    "mean_divided_again": ("surprise#loss", ADD, "total += loss.item()"),
    "divided_by_batches": ("surprise#loss", COUNT, "count += 1"),
    "sum_for_mean": ("surprise#loss", "total / count", "total"),
    "sum_for_mean~of_means": ("", ADD, "total += loss.item()", "total / count", "total"),
    "last_batch_only": ("training#first-epoch-said", "total +=", "total =", "count +=", "count ="),
    "return_in_the_loop": ("training#first-epoch-said", COUNT, COUNT + "\n            break"),
    "perplexity_first": ("surprise#perplexity", "mean, " + EXP, EXP + ", mean"),
    "perplexity_of_base_two": ("surprise#perplexity", EXP, "2**mean"),
    "perplexity_inverted": ("surprise#perplexity", EXP, "math.exp(-mean)"),
    "mean_of_perplexities": (
        "surprise#perplexity", "total, count =", "each = []\n    total, count =", COUNT,
        COUNT + "\n            each.append(loss.exp())", EXP, "sum(each) / len(each)",
    ),
    "mean_of_perplexities~weighted": (
        "", "total, count =", "each = 0\n    total, count =", COUNT,
        COUNT + "\n            each += loss.exp() * targets.numel()", EXP, "each / count",
    ),
    "perplexity_of_last_batch": ("surprise#perplexity", EXP, "loss.exp()"),
    "loss_in_bits": ("surprise#perplexity", "total / count", "total / count / math.log(2)", EXP, "2**mean"),
    "state_carried": (
        "training#windows-said", "model(inputs)", "model(inputs, state)", "total, count = 0.0, 0",
        "total, count, state = 0.0, 0, None",
    ),
}  # fmt: skip


def call(answer, probe, outcome):
    """Call the answer with a network that has gradients, and record its state afterwards."""
    model = Network(probe.tensors).train(probe.options["training"])
    for name, parameter in weights_of(model).items():
        parameter.grad = torch.ones_like(parameter) / 2
    tensors = {name: tensor.clone() for name, tensor in probe.tensors.items()}
    torch.rand(1)  # so that setting the seed makes a difference
    returned = answer(model, batches_in(tensors))
    state = {"model.training": torch.tensor(float(model.training)), "torch.rand(1)": torch.rand(1)}
    state["torch.is_grad_enabled()"] = torch.tensor(float(torch.is_grad_enabled()))
    torch.set_grad_enabled(True)
    state["dropout.p"] = torch.tensor(float(model.dropout.p))
    gradients = [torch.zeros_like(p) if p.grad is None else p.grad for p in weights_of(model).values()]
    state["logits.requires_grad"] = torch.tensor(float(model.recorded))
    state["p.requires_grad"] = torch.tensor(float(all(p.requires_grad for p in weights_of(model).values())))
    state["p.grad"] = torch.cat([gradient.flatten() for gradient in gradients])
    note_changes(probe.tensors, tensors, outcome)
    results = values(state | weights_of(model))
    if returned is None:
        raise Unfit("returns_none", results, name="(loss, perplexity)")
    pair = [*returned] if isinstance(returned, tuple | list) or getattr(returned, "shape", ()) != () else []
    numbers = [*map(number_of, pair)]
    if len(numbers) != 2 or None in numbers:
        raise Unfit("wrong_form", results, name="(loss, perplexity)", got=form(returned))
    outcome.values |= {"loss": torch.tensor(numbers[0]), "perplexity": torch.tensor(numbers[1])} | results


def truth(model, batches):
    before = model.training
    with torch.inference_mode():
        logits = [model.eval()(inputs)[0].flatten(0, 1) for inputs, _ in batches]
        loss = F.cross_entropy(torch.cat(logits), torch.cat([targets.flatten() for _, targets in batches]))
    model.train(before)
    return loss, loss.exp()


def probes(draw):
    def probe(name, numbers, vocabulary, hidden, shapes, training):
        tensors = network_tensors(numbers, vocabulary, hidden) | drawn_batches(draw, vocabulary, shapes)
        return Probe(name, tensors, {"training": training}, gradients=None)

    return [
        probe("in_training_mode", draw.few, 3, 1, [(2, 1), (1, 3)], True),
        probe("one_batch", draw.few, 3, 2, [(2, 3)], False),
        probe("several", draw, 5, 3, [(3, 4), (2, 2), (1, 3)], True),
    ]


QUESTION = generate_question(
    evaluate_reference,
    MISTAKES,
    truth=truth,
    name="evaluate",
    assignment="training",
    task=4,
    points=3,
    place="training#first-epoch-said",
    call=call,
    probes=probes,
    axes=AXES,
)
