"""Trained questions: the answer trains a network on new data, and is graded by what the network has learned.

The answer is a function that gets data and returns a model. Its data are drawn anew for each run, down to which number
stands for which symbol, so that weights learned elsewhere do not fit. Then the model is applied to inputs that it has
not seen. Their targets stay in the process that judges, so there is nothing in the answer's process to read.

The grader runs each step in a process of its own, with at most `seconds` of processor time:

1. The answer trains a model, and the model is applied to the held-out inputs. Besides these logits only the numbers of
   the model are taken, its parameters and buffers in a row. The judging process counts them; a count that the answer's
   process reports is not trusted.
2. The answer is called again, with data of another draw, and stopped where it makes its optimiser: the model exists,
   and has learned nothing. It is given the numbers, and applied. These logits count. So whatever a model keeps
   elsewhere, learns while it is applied, or leaves to threads is missing, or belongs to other data.
3. Only if the second model does worse than the first, perhaps because a model other than the returned one was found:
   as 2., but trained to the end before it is given the numbers.

A model without any points in the first process is not run again. An answer that falls short of the aim is run once
more on another draw, and the better result counts: good training, too, has bad luck on some draws.

Two ways to win remain. A program of another kind can work out the rule and keep it in parameters: it has learned from
the data as well, and only a person who reads the answer sees the difference. And all held-out inputs come at once, so
a model may learn from these inputs, without their targets.
"""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import nn

from companion.check.engine.diagnosis import mistake_of_error
from companion.check.engine.finding import Finding
from companion.check.engine.probe import Outcome, Probe, Unfit, kind, plain
from companion.check.engine.question import Draw
from companion.check.engine.run_answer import seed

LOGITS, COUNT, NUMBERS = "logits", "count", "numbers"
MAY_BE_BAD_LUCK = {"not_reached", "probabilities_for_logits"}  # mistakes after which another draw is tried
SURE = 0.9  # a model that gives this share of a mistake's targets has made that mistake
MAX_SENT = 50_000  # numbers: of a larger model only their count is sent


@dataclass(frozen=True)
class TrainingGoal:
    """The task of a trained question: its data, its score, and the share of the points for each score.

    draw(draw): returns a probe, and a dictionary that stays in the judging process: `targets` for the probe's tensor
    `held_out`, and optionally `mistaken`, targets that a model with a certain mistake would give, by its name.
    score(right, logits): a float, larger is better. marks: pairs of a score and the share of the points that it earns,
    the smallest first. guess: the score of a model that has learned hardly anything. numbers: the most that a model may
    have. seconds: of the processor, for all of it.
    """

    draw: Callable
    score: Callable
    marks: tuple
    guess: float
    numbers: int
    seconds: int

    def share(self, score):
        """Return the share of the points that a score earns."""
        return max((share for least, share in self.marks if score >= least), default=0.0)

    @property
    def aim(self):
        """The score that earns all points."""
        return self.marks[-1][0]

    def lost(self, trained_score, anew_score):
        """Return True if the model made anew is nearer to a guess than to the score of the trained one."""
        return anew_score < (trained_score + self.guess) / 2


@dataclass(frozen=True)
class Training:
    """Call of a function that trains a model, and then of the model. arguments: as those of `Function`.

    For a probe with the tensor `numbers`, the model is made anew and given these numbers; with the option `whole`, it
    is trained to the end before.
    """

    arguments: tuple

    def __call__(self, answer, probe, outcome):
        """Train a model with an answer, apply it, and put its results into the outcome."""
        torch.set_default_dtype(torch.float32)
        tensors = {name: single(tensor) for name, tensor in probe.tensors.items()}
        held_out, numbers = tensors.pop("held_out"), tensors.pop(NUMBERS, None)

        def train():
            seed()
            inputs = {name: tensor.clone() for name, tensor in tensors.items()} | probe.options
            return answer(*(inputs[name] for name in self.arguments))

        stop = numbers is not None and not probe.options.get("whole")
        model = untrained_model(train, len(numbers)) if stop else train()
        if model is None:
            raise Unfit("returns_none", name="model")
        if not isinstance(model, nn.Module):
            raise Unfit("not_a_module", got=kind(model))
        layers = {f"{type(m).__module__}.{type(m).__name__}" for m in model.modules() if ready_made(m)}
        if layers:  # watching operations, as other questions do, would take as long as the training
            outcome.notes["library"] = sorted(layers)
        with torch.no_grad():
            own = model_tensors(model)
            if numbers is None:
                outcome.values[COUNT] = torch.tensor(float(sum(map(width, own))))
                row = map(flat, own) if outcome.values[COUNT] <= MAX_SENT else ()
                outcome.values[NUMBERS] = torch.cat([torch.zeros(0, dtype=torch.float64), *row])
            else:
                fill(own, numbers)
            model.eval()
            outcome.values[LOGITS] = logits_of(model, held_out)


# A model's numbers


def model_tensors(model):
    """Return a model's parameters and buffers, each once."""
    return [*{id(tensor): tensor for tensor in [*model.parameters(), *model.buffers()]}.values()]


def width(tensor):
    """Return how many real numbers a tensor holds."""
    return tensor.numel() * (2 if tensor.is_complex() else 1)


def flat(tensor):
    """Return a tensor's numbers in a row; a complex number gives two."""
    tensor = tensor.to_dense() if tensor.is_sparse else tensor
    return plain(torch.view_as_real(tensor) if tensor.is_complex() else tensor).flatten()


def fill(tensors, numbers):
    """Copy a row of numbers into tensors."""
    widths = [*map(width, tensors)]
    if sum(widths) != len(numbers):
        raise RuntimeError(f"the model has {sum(widths)} parameters with other data, instead of {len(numbers)}")
    for tensor, part in zip(tensors, numbers.split(widths)):
        if tensor.is_complex():
            part = torch.view_as_complex(part.reshape(-1, 2))
        tensor.copy_(part.reshape(tensor.shape))


# A model made anew


class OptimiserMade(BaseException):
    """Raised where a training makes its optimiser. `except Exception` in an answer does not catch it."""


def untrained_model(train, count):
    """Return the model with `count` numbers that a training makes, before it has learned; if none is found, trained."""

    def stop(*_, **__):
        raise OptimiserMade

    optimiser, models = torch.optim.Optimizer, []
    init, optimiser.__init__ = optimiser.__init__, stop
    try:
        return train()  # it made no optimiser, so it has finished
    except OptimiserMade as stopped:
        models = models_in(stopped.__traceback__)
    except Exception:  # the answer cannot be stopped in this way: train it to the end
        pass
    finally:
        optimiser.__init__ = init
    for model in models:
        if sum(map(width, model_tensors(model))) == count:
            return model
    return train()


def models_in(traceback):
    """Return the modules in the local variables of a traceback's frames, and in their attributes, outermost first."""
    models = []
    while traceback:
        for local in [*traceback.tb_frame.f_locals.values()]:
            inside = [] if isinstance(local, nn.Module | type) else [*getattr(local, "__dict__", {}).values()]
            models += [candidate for candidate in (local, *inside) if isinstance(candidate, nn.Module)]
        traceback = traceback.tb_next
    return models


def ready_made(module):
    """Return True for a recurrent layer of torch or of the companion."""
    return isinstance(module, nn.RNNBase | nn.RNNCellBase) or type(module).__module__.startswith("companion.layers")


def single(tensor):
    """Return a copy of a tensor, in float32 if it has floating-point numbers."""
    return tensor.to(torch.float32) if tensor.is_floating_point() else tensor.clone()


def logits_of(model, held_out):
    """Return a model's logits for the held-out inputs."""
    logits = model(single(held_out))
    if not isinstance(logits, torch.Tensor):
        raise Unfit("not_a_tensor", name="logits", got=kind(logits))
    return plain(logits)


class Exam:
    """One run of a trained question, in the place of a Bank: the data that the answer gets, and the right targets."""

    expected = (Outcome(),)  # the targets are not among the values of an answer

    def __init__(self, question, draw):
        self.question, self.draw = question, draw
        probe, self.right = question.training_goal.draw(draw)
        self.probes = [probe]

    def rest(self, outcomes):
        """Yield the probes after the first; `outcomes` must hold each probe's outcome before the next is taken."""
        goal, score = self.question.training_goal, self.score(outcomes[0])
        numbers = numbers_in(outcomes[0])
        if score is None or not goal.share(score) or numbers is None or not 0 < len(numbers) <= goal.numbers:
            return
        (first,), other = self.probes, self.question.training_goal.draw(self.draw)[0]
        tensors = other.tensors | {"held_out": first.tensors["held_out"], NUMBERS: numbers.float()}
        for whole in (False, True):
            yield Probe("made_anew", tensors, first.options | {"whole": whole}, gradients=None)
            anew_score = self.score(outcomes[-1])
            if anew_score is not None and goal.share(anew_score) >= goal.share(score):
                return

    def score(self, outcome):
        """Return the score of an outcome's logits, or None if their form is wrong."""
        logits, targets = outcome.values.get(LOGITS), self.right["targets"]
        if outcome.error or logits is None or logits.dim() != 2 or len(logits) != len(targets):
            return None
        if logits.shape[1] <= int(targets.max()) or not logits.isfinite().all():
            return None
        return self.question.training_goal.score(self.right, logits)


def numbers_in(outcome):
    """Return the model's numbers that the first process gave, or None if their form is wrong."""
    numbers = outcome.values.get(NUMBERS)
    return numbers if numbers is not None and numbers.dim() == 1 else None


def exam(question, seed):
    """Return the run of a trained question for a seed."""
    return Exam(question, Draw(seed))


def attempts(run, seed):
    """Return the results of one run, or of two on different draws if a network fell short of the aim.

    run: takes a seed, and returns a tuple whose first item has `mistakes`.
    """
    first = run(seed)
    return [first, run(seed + 1)] if MAY_BE_BAD_LUCK & {*first[0].mistakes} else [first]


def best_attempt(runs):
    """Return the attempt whose first item has the largest `share` of the points; the earlier one on a tie."""
    return max(runs, key=lambda run: run[0].share)


def run_exam(exam, ask):
    """Return all outcomes of a run. ask: takes a probe, and returns its outcome."""
    outcomes = [ask(*exam.probes)]
    for probe in exam.rest(outcomes):
        outcomes.append(ask(probe))
    return outcomes


def judge(exam, outcomes):
    """Return the finding about the outcomes of a run."""
    goal, (first, *others) = exam.question.training_goal, outcomes
    values = first.values
    for outcome in outcomes:
        if "library" in outcome.notes:
            return Finding(["library_layer"], notes=outcome.notes)
    if first.error:
        return Finding([mistake_of_error(first.error)], error=first.error, error_probe=0)
    count, logits, numbers = values.get(COUNT), values.get(LOGITS), numbers_in(first)
    if count is None or logits is None or numbers is None or count.numel() != 1 or not count.isfinite().all():
        return Finding(["wrong_values"])
    reached = {"count": max(int(count), len(numbers)), "numbers": goal.numbers}
    if reached["count"] > goal.numbers:
        return Finding(["model_too_large"], reached=reached)
    targets = exam.right["targets"]
    if logits.dim() != 2 or len(logits) != len(targets) or logits.shape[1] <= int(targets.max()):
        expected = torch.zeros(len(targets), int(targets.max()) + 1)
        return Finding(["wrong_shape"], value=LOGITS, expected=expected, got=logits)
    if not logits.isfinite().all():
        return Finding(["not_a_number"])
    score = exam.score(first)
    reached |= {"score": score, "aim": goal.aim}
    short = "probabilities_for_logits" if are_probabilities(logits) else "not_reached"
    if not goal.share(score):
        mistaken = exam.right.get("mistaken", {}).items()
        learned = [name for name, other in mistaken if accuracy({"targets": other}, logits) > SURE]
        return Finding(learned or [short], reached=reached)
    anew_score = max((score for score in map(exam.score, others) if score is not None), default=-float("inf"))
    if goal.lost(score, anew_score):
        error = next((outcome.error for outcome in others if outcome.error), None)
        return Finding(["not_learned"], reached=reached, error=error)
    share = goal.share(anew_score)
    return Finding([] if share == 1 else [short], reached=reached | {"score": anew_score}, trained_share=share)


def are_probabilities(logits):
    """Return True for logits that have been through a softmax: with another one in the loss they learn badly."""
    return bool((logits >= 0).all()) and bool(((logits.sum(dim=1) - 1).abs() < 1e-4).all())


def accuracy(right, logits):
    """Return the share of rows whose largest logit is that of the target."""
    return (logits.argmax(dim=1) == right["targets"]).double().mean().item()
