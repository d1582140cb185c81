"""Questions of the assignment `training`: the shifted target, clipping, the loop, evaluation, and windows."""

import torch
from torch import nn
from torch.nn import functional as F

from companion.check.engine.probe import Unfit, form, values

WEIGHTS = ("embedding", "weight_hh", "weight", "bias")
AXES = dict.fromkeys(WEIGHTS, ("row", "feature")) | {"bias": ("row",), "losses": ("step",)}


class ThroughOldState(Exception):
    """Raised if `backward` failed on the way into an earlier window or batch."""


class ThroughOldLoss(Exception):
    """Raised if `backward` failed at a loss that it had already been through."""


class WeightsChanged(Exception):
    """Raised if `backward` failed at weights that changed after the loss was computed."""


class Network(nn.Module):
    """Network that an answer trains: (inputs, state) → logits, state, of shapes (T, N), (N, H), (T, N, V), (N, H).

    Its dropout drops the same units each time, and none if its `p` is 0. recorded: True once its logits had a graph.
    uncut: True once it got a state with a graph.
    """

    def __init__(self, tensors):
        super().__init__()
        for name in WEIGHTS:
            self.register_parameter(name, nn.Parameter(tensors[name].clone()))
        self.dropout = nn.Dropout(0.5)
        self.mask, self.recorded, self.uncut = tensors["mask"], False, False

    def forward(self, inputs, state=None):
        self.uncut = self.uncut or state is not None and state.requires_grad
        h = self.bias.new_zeros(inputs.shape[1], len(self.weight_hh)) if state is None else state
        output = []
        for x in self.embedding[inputs]:
            h = torch.tanh(x + h @ self.weight_hh.T)
            output.append(h)
        output = torch.stack(output)
        logits = F.linear(output * self.mask if self.training and self.dropout.p else output, self.weight, self.bias)
        self.recorded = self.recorded or logits.requires_grad
        return logits, h


def network_tensors(draw, vocabulary, hidden):
    """Return the weights of a Network, and the units that dropout keeps."""
    shapes = [(vocabulary, hidden), (hidden, hidden), (vocabulary, hidden), (vocabulary,)]
    mask = torch.tensor([2.0, 0.0] * hidden, dtype=torch.float64)[:hidden]
    return {name: draw(*shape) for name, shape in zip(WEIGHTS, shapes)} | {"mask": mask}


def drawn_batches(draw, vocabulary, shapes):
    """Return pairs of inputs and targets, one for each of the shapes (T, N)."""
    named = [(f"{kind}_{number}", shape) for number, shape in enumerate(shapes) for kind in ("inputs", "targets")]
    return {name: draw.whole(vocabulary, *shape) for name, shape in named}


def batches_in(tensors):
    """Return the pairs as a list."""
    return [
        (tensors[name], tensors[name.replace("inputs", "targets")]) for name in tensors if name.startswith("inputs")
    ]


def weights_of(model):
    return {name: model._parameters[name] for name in WEIGHTS if isinstance(model._parameters.get(name), torch.Tensor)}


def number_of(value):
    """Return a number, which may come as a tensor of one number, or None."""
    try:
        return float(value)
    except (TypeError, ValueError, RuntimeError):
        return None


def is_listed(value):
    return hasattr(value, "__iter__") and not isinstance(value, str | dict) and getattr(value, "shape", None) != ()


def run_training(answer, model, *arguments):
    """Call an answer that trains a model, and return its losses as a list.

    For each known reason of a failure of `backward`, raise a type of error of its own, so that it can be named.
    """
    try:
        returned = answer(model, *arguments)
        return [*returned] if is_listed(returned) else returned  # a generator trains now
    except RuntimeError as error:
        text = str(error).partition(":")[0]  # torch appends a shape
        if "a second time" not in text and "inplace operation" not in text:
            raise
        again = ThroughOldLoss if "a second time" in text else WeightsChanged
        failure = ThroughOldState if model.uncut else again
        raise failure(f"RuntimeError: {text}").with_traceback(error.__traceback__) from None


def note_learned(returned, model, outcome):
    """Record the losses that an answer returned, and the weights of the trained model."""
    weights = values(weights_of(model))
    if returned is None:
        raise Unfit("returns_none", weights, name="[loss, …]")
    numbers = [number_of(loss) for loss in returned] if isinstance(returned, list) else [None]
    if None in numbers:
        raise Unfit("wrong_form", weights, name="[loss, …]", got=form(returned))
    outcome.values["losses"] = torch.tensor(numbers)
    if any(isinstance(loss, torch.Tensor) and loss.requires_grad for loss in returned):
        outcome.values["loss.grad_fn"] = torch.tensor(1.0)  # a right loss has none
    outcome.values |= weights


# Mistakes of several questions: these lines occur in each of their references.

LOSS = {
    "softmax_before_loss": ("surprise#loss", "logits.flatten(0, 1)", "logits.softmax(-1).flatten(0, 1)"),
    "nll_of_logits": ("surprise#loss", "F.cross_entropy", "F.nll_loss"),
    "rows_mixed_up": ("training#targets", "logits.flatten(0, 1)", "logits.transpose(0, 1).flatten(0, 1)"),
    "rows_mixed_up~targets": ("", ".flatten())", ".T.flatten())"),
    "last_step_only": ("surprise#loss", "logits.flatten(0, 1)", "logits[-1]", ".flatten())", "[-1])"),
    "first_step_only": ("surprise#loss", "logits.flatten(0, 1)", "logits[0]", ".flatten())", "[0])"),
    "targets_smoothed": ("surprise#loss", ".flatten())", ".flatten(), label_smoothing=0.1)"),
    "shifted_twice": (
        "training#targets",
        "logits.flatten(0, 1)",
        "logits[:-1].flatten(0, 1)",
        ".flatten())",
        "[1:].flatten())",
    ),
}
STEP = "p -= learning_rate * p.grad"
CLIP = "p.grad *= min(1.0, max_norm / float(norm))"
LEARNING = LOSS | {
    "gradients_not_zeroed": ("training#first-epoch-said", "p.grad = None", "pass"),
    "weights_unchanged": ("training#first-epoch-said", STEP, "p = p - learning_rate * p.grad"),
    "step_before_backward": (
        "training#first-epoch-said", "p.grad = None", "p.old, p.grad = p.grad, None", STEP, "pass", "loss.backward()",
        "[p.detach().sub_(learning_rate * p.old) for p in parameters if p.old is not None]; loss.backward()",
    ),
    "step_before_backward~data": (
        "", "p.grad = None", "p.old, p.grad = p.grad, None", STEP, "pass", "loss.backward()",
        "[p.data.sub_(learning_rate * p.old) for p in parameters if p.old is not None]; loss.backward()",
    ),
    "gradients_not_clipped": ("vanishing#clipping", CLIP, "pass"),
    "max_norm_ignored": ("vanishing#clipping", CLIP, "p.grad *= min(1.0, 1.0 / float(norm))"),
    "each_gradient_clipped_alone": (
        "vanishing#clipping", "max_norm / float(norm)", "max_norm / max(float(p.grad.norm()), 1e-9)",
    ),
    "clipped_by_value": ("vanishing#norm-or-value-said", CLIP, "p.grad.clamp_(-max_norm, max_norm)"),
    "short_gradients_lengthened": (
        "vanishing#clipping", "min(1.0, max_norm / float(norm))", "max_norm / float(norm)",
    ),
    "loss_summed": ("surprise#loss", ".flatten())", '.flatten(), reduction="sum")'),
    "loss_summed_over_steps": ("surprise#loss", ".flatten())", ".flatten()) * len(logits)"),
    "not_in_training_mode": ("training#the-loop", "model.train()", "model.eval()"),
    "stepped_up": ("step_sizes#gradient-descent", "p -= learning_rate", "p += learning_rate"),
    "learning_rate_ignored": ("step_sizes#gradient-descent", STEP, "p -= 0.001 * p.grad"),
    "learning_rate_ignored~hundredth": ("", STEP, "p -= 0.01 * p.grad"),
    "learning_rate_ignored~tenth": ("", STEP, "p -= 0.1 * p.grad"),
    "learning_rate_ignored~one": ("", STEP, "p -= p.grad"),
    "adam_for_descent": (
        "step_sizes#adam",
        STEP,
        "p.by = getattr(p, 'by', None) or torch.optim.Adam([p], lr=learning_rate); p.by.step()",
    ),
    "adam_for_descent~w": (
        "", STEP, "p.by = getattr(p, 'by', None) or torch.optim.AdamW([p], lr=learning_rate); p.by.step()",
    ),
    "momentum_added": (
        "step_sizes#gradient-descent", STEP, "p.v = 0.9 * getattr(p, 'v', 0) + p.grad; p -= learning_rate * p.v",
    ),
    "losses_keep_their_graph": ("training#first-epoch-said", "loss.item()", "loss"),
}  # fmt: skip
