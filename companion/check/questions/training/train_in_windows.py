"""Question `train_in_windows`: truncated backpropagation through time, with the state carried and detached."""

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
    network_tensors,
    note_learned,
    run_training,
)


def train_in_windows_reference(model, inputs, targets, size, learning_rate, max_norm):
    model.train()
    parameters, losses, state = [*model.parameters()], [], None
    for t in range(0, len(inputs), size):
        logits, state = model(inputs[t : t + size], state)
        loss = F.cross_entropy(logits.flatten(0, 1), targets[t : t + size].flatten())
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
        state = state.detach()
    return losses


BOTH = ("inputs[t : t + size]", "targets[t : t + size]")
LISTS = "losses, state = [*model.parameters()], [], None"
TOTAL = (LISTS, LISTS + "; total = 0")
READ = "logits, state = model(inputs[t : t + size], state)"
STEP_BY_STEP = """logits = []
        for x in inputs[t : t + size]:
            said, state = model(x[None], state if state is None else state.detach())
            logits.append(said)
        logits = torch.cat(logits)"""
SPREAD = "F.cross_entropy(logits.flatten(0, 1), targets[t : t + size].flatten())"
RANGE, CUT = "range(0, len(inputs), size)", "state = state.detach()"
NEXT = """loss.backward()
        if t + size < len(inputs):
            losses.append(loss.item())
            state = state.detach()
            continue"""
MISTAKES = LEARNING | {
    "last_step_not_made": ("training#one-epoch", STEP, "p -= learning_rate * p.grad * (t + size < len(inputs))"),
    "state_not_carried": ("training#windows-said", CUT, "state = None"),
    "state_cut_within_window": ("vanishing#truncation", READ, STEP_BY_STEP),
    "state_not_cut": ("vanishing#truncation", CUT, "pass"),
    "state_computed_again": (
        "training#windows-said", CUT, "state = before = model(inputs[t : t + size], before)[1].detach()",
        LISTS, LISTS + "; before = None",
    ),
    "losses_added_up": (
        "training#first-epoch-said", *TOTAL, "loss.backward()", "total = total + loss; total.backward()",
    ),
    "losses_added_up~retained": (
        "", *TOTAL, "loss.backward()", "total = total + loss; total.backward(retain_graph=True)",
    ),
    "last_window_dropped": ("training#windows-said", RANGE, "range(0, len(inputs) - size + 1, size)"),
    "last_window_divided_by_size": (
        "training#windows-said", SPREAD, f"{SPREAD} * len(inputs[t : t + size]) / size",
    ),
    "size_as_number_of_windows": ("training#windows", LISTS, LISTS + "; size = -(-len(inputs) // size)"),
    "windows_overlap": ("training#windows", RANGE, "range(max(1, len(inputs) - size + 1))"),
    "windows_end_one_late": (
        "training#windows", BOTH[0], "inputs[t : t + size + 1]", BOTH[1], "targets[t : t + size + 1]",
    ),
    "windows_end_one_early": (
        "training#windows", BOTH[0], "inputs[t : t + size - 1]", BOTH[1], "targets[t : t + size - 1]",
    ),
    "first_window_missing": ("training#windows", RANGE, "range(size, len(inputs), size)"),
    "windows_reversed": ("training#windows-said", RANGE, "reversed(range(0, len(inputs), size))"),
    "windows_cut_across": (
        "training#windows-said", RANGE, "range(0, inputs.shape[1], size)", BOTH[0], "inputs[:, t : t + size]",
        BOTH[1], "targets[:, t : t + size]",
    ),
    "one_step_at_the_end": ("step_sizes#gradient-descent", "p.grad = None", "pass", "loss.backward()", NEXT),
}  # fmt: skip


def call(answer, probe, outcome):
    """Call the answer with a network in evaluation mode."""
    model = Network(probe.tensors).eval()
    tensors = {name: tensor.clone() for name, tensor in probe.tensors.items()}
    options = (probe.options[name] for name in ("size", "learning_rate", "max_norm"))
    returned = run_training(answer, model, tensors["inputs"], tensors["targets"], *options)
    note_learned(returned, model, outcome)
    note_changes(probe.tensors, tensors, outcome)


def truth(model, inputs, targets, size, learning_rate, max_norm):
    optimizer, losses, state = torch.optim.SGD(model.train().parameters(), lr=learning_rate), [], None
    for window, wanted in zip(inputs.split(size), targets.split(size)):
        logits, state = model(window, state if state is None else state.detach())
        losses.append(F.nll_loss(logits.log_softmax(-1).movedim(-1, 1), wanted))
        optimizer.zero_grad()
        losses[-1].backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), max_norm)
        optimizer.step()
    return torch.stack(losses).detach()


def probes(draw):
    def probe(name, numbers, vocabulary, hidden, steps, batch, size, learning_rate, max_norm):
        indices = {name: draw.whole(vocabulary, steps, batch) for name in ("inputs", "targets")}
        options = {"size": size, "learning_rate": learning_rate, "max_norm": max_norm}
        return Probe(name, network_tensors(numbers, vocabulary, hidden) | indices, options, gradients=None)

    return [
        probe("batch_1", draw.few, 3, 1, 4, 1, 2, 0.5, 0.3),
        probe("one_window", draw, 4, 2, 2, 3, 3, 0.4, 0.2),
        probe("whole_windows", draw, 4, 3, 6, 3, 2, 0.3, 90.0),
        probe("several", draw, 5, 4, 8, 2, 3, 0.7, 0.4),
    ]


QUESTION = generate_question(
    train_in_windows_reference,
    MISTAKES,
    truth=truth,
    name="train_in_windows",
    assignment="training",
    task=5,
    points=3,
    stretch=True,
    place="vanishing#truncation",
    call=call,
    probes=probes,
    axes=AXES,
)
