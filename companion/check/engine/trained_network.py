"""Questions whose answer is a network that learned something: it is trained by the student's own code, each time anew.

The answer is a function that gets data and returns a model. What it gets is drawn anew for each run, so that weights
which were learned elsewhere do not fit: which symbol stands for what is drawn, too. Then the model is asked about
inputs that it has not seen. What is right for them never is where the answer runs: whoever judges keeps it. So there is
nothing to read.

What is run, by the grader in a process of its own each, of at most `seconds` of the processor:

1. The answer trains a model, and the model is asked. Of it only the numbers are taken, its parameters and buffers in a
row.
   Whoever judges counts them: what is said of their number does not matter.
2. The answer is called again, with data of another draw, and stopped where it makes its optimiser: the model is there,
and
   has learned nothing. It is given the numbers, and asked. What this one answers counts. So what a model keeps anywhere
   else, what it would learn while it is asked, and what threads do, is not there, or is about other data.
3. Only if that one does worse than the first, which may be because another model was found than the one that is
returned:
   as 2., but trained to the end before it is given the numbers.

A model without any points in the first process is not asked again. Who falls short of the aim has all of it once more,
on another draw, and the better counts: a good training, too, has bad luck on some draws. What remains possible: who
works out the rule by a program of another kind, and keeps what it found in parameters, has learned it from the data as
well, and is not told from a network. Who reads the answer sees it. And all is asked at once: a model may learn from
these inputs, without their answers.
"""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import nn

from companion.check.engine.diagnosis import named_error
from companion.check.engine.finding import Finding
from companion.check.engine.probe import Outcome, Probe, Unfit, kind, plain
from companion.check.engine.question import Draw
from companion.check.engine.run_answer import seed

ASKED, COUNT, NUMBERS = "logits", "count", "numbers"
SHORT = {"not_reached", "probabilities_for_logits"}  # mistakes that may be bad luck
SURE = 0.9  # who gives so many of a mistake's targets has learned these
MOST_SENT = 50_000  # numbers: of a model that has more, only how many


@dataclass(frozen=True)
class Reach:
    """How well a network has to do, and what that is worth.

    draw(draw): a probe, and what only who judges has: a dictionary, with `targets` for the probe's tensor `held_out`,
    and at will `mistaken`, the targets that a mistake of this name would learn. score(right, logits): how good these
    are, a float, and better if larger. marks: pairs of a score and the share of the points that it is worth, the least
    first. guess: the score of who has learned hardly anything. numbers: how many a model may have. seconds: of the
    processor, for all of it.
    """

    draw: Callable
    score: Callable
    marks: tuple
    guess: float
    numbers: int
    seconds: int

    def share(self, score):
        """Of the points."""
        return max((share for least, share in self.marks if score >= least), default=0.0)

    @property
    def aim(self):
        """The score that is worth all points."""
        return self.marks[-1][0]

    def lost(self, own, anew):
        """Whether a model that was made anew is nearer to a guess than to what the trained one scored."""
        return anew < (own + self.guess) / 2


@dataclass(frozen=True)
class Training:
    """Calls a function that trains a model, and asks the model. arguments: as those of `Function`.

    A probe with the tensor `numbers` has the model made anew and given these; with the option `whole`, trained before.
    """

    arguments: tuple

    def __call__(self, answer, probe, outcome):
        torch.set_default_dtype(torch.float32)
        tensors = {name: single(tensor) for name, tensor in probe.tensors.items()}
        held_out, numbers = tensors.pop("held_out"), tensors.pop(NUMBERS, None)

        def train():
            seed()
            given = {name: tensor.clone() for name, tensor in tensors.items()} | probe.options
            return answer(*(given[name] for name in self.arguments))

        stop = numbers is not None and not probe.options.get("whole")
        model = begun(train, len(numbers)) if stop else train()
        if model is None:
            raise Unfit("returns_none", name="model")
        if not isinstance(model, nn.Module):
            raise Unfit("not_a_module", got=kind(model))
        layers = {f"{type(one).__module__}.{type(one).__name__}" for one in model.modules() if of_library(one)}
        if layers:  # to watch what runs, as for other questions, would take as long as the training
            outcome.notes["library"] = sorted(layers)
        with torch.no_grad():
            there = numbers_of(model)
            if numbers is None:
                outcome.values[COUNT] = torch.tensor(float(sum(map(width, there))))
                row = map(flat, there) if outcome.values[COUNT] <= MOST_SENT else ()
                outcome.values[NUMBERS] = torch.cat([torch.zeros(0, dtype=torch.float64), *row])
            else:
                give(there, numbers)
            model.eval()
            outcome.values[ASKED] = asked(model, held_out)


# A model's numbers


def numbers_of(model):
    """All tensors in which a model keeps what it knows, each once."""
    return [*{id(one): one for one in [*model.parameters(), *model.buffers()]}.values()]


def width(tensor):
    return tensor.numel() * (2 if tensor.is_complex() else 1)


def flat(tensor):
    """A tensor's numbers in a row, of complex ones both."""
    tensor = tensor.to_dense() if tensor.is_sparse else tensor
    return plain(torch.view_as_real(tensor) if tensor.is_complex() else tensor).flatten()


def give(tensors, numbers):
    """Puts numbers in a row into tensors."""
    widths = [*map(width, tensors)]
    if sum(widths) != len(numbers):
        raise RuntimeError(f"made anew, with other data, the model has {sum(widths)} numbers instead of {len(numbers)}")
    for tensor, part in zip(tensors, numbers.split(widths)):
        if tensor.is_complex():
            part = torch.view_as_complex(part.reshape(-1, 2))
        tensor.copy_(part.reshape(tensor.shape))


# A model made anew


class OptimiserMade(BaseException):
    """A training is stopped here. No `except Exception` of an answer's takes it."""


def begun(train, count):
    """The model of so many numbers that a training makes, before it has learned. Where none is found, a trained one."""

    def stop(*_, **__):
        raise OptimiserMade

    optimiser, found = torch.optim.Optimizer, []
    init, optimiser.__init__ = optimiser.__init__, stop
    try:
        return train()  # one that makes none has come to its end
    except OptimiserMade as stopped:
        found = models_in(stopped.__traceback__)
    except Exception:  # an answer that cannot be stopped so is tried without
        pass
    finally:
        optimiser.__init__ = init
    for model in found:
        if sum(map(width, numbers_of(model))) == count:
            return model
    return train()


def models_in(traceback):
    """The modules that frames have, the outer frames' first: by a name, or as an attribute of what has one."""
    found = []
    while traceback:
        for thing in [*traceback.tb_frame.f_locals.values()]:
            inside = [] if isinstance(thing, nn.Module | type) else [*getattr(thing, "__dict__", {}).values()]
            found += [one for one in (thing, *inside) if isinstance(one, nn.Module)]
        traceback = traceback.tb_next
    return found


def of_library(module):
    """Whether it is a recurrent layer that somebody else wrote."""
    return isinstance(module, nn.RNNBase | nn.RNNCellBase) or type(module).__module__.startswith("companion.layers")


def single(tensor):
    return tensor.to(torch.float32) if tensor.is_floating_point() else tensor.clone()


def asked(model, held_out):
    """The logits of what a model has not seen."""
    logits = model(single(held_out))
    if not isinstance(logits, torch.Tensor):
        raise Unfit("not_a_tensor", name="logits", got=kind(logits))
    return plain(logits)


class Exam:
    """A run of such a question, by a seed: what is handed over, and what is right. It stands in the place of a Bank."""

    expected = (Outcome(),)  # what is right is no value of an answer

    def __init__(self, question, draw):
        self.question, self.draw = question, draw
        probe, self.right = question.reach.draw(draw)
        self.probes = [probe]

    def rest(self, outcomes):
        """The probes after the first, one by one: what came of each is the last of the outcomes when the next is asked
        for."""
        reach, score = self.question.reach, self.score(outcomes[0])
        numbers = numbers_in(outcomes[0])
        if score is None or not reach.share(score) or numbers is None or not 0 < len(numbers) <= reach.numbers:
            return
        (first,), other = self.probes, self.question.reach.draw(self.draw)[0]
        tensors = other.tensors | {"held_out": first.tensors["held_out"], NUMBERS: numbers.float()}
        for whole in (False, True):
            yield Probe("made_anew", tensors, first.options | {"whole": whole}, gradients=None)
            anew = self.score(outcomes[-1])
            if anew is not None and reach.share(anew) >= reach.share(score):
                return

    def score(self, outcome):
        """How well a model did, or None if what it gave has not the form."""
        logits, targets = outcome.values.get(ASKED), self.right["targets"]
        if outcome.error or logits is None or logits.dim() != 2 or len(logits) != len(targets):
            return None
        if logits.shape[1] <= int(targets.max()) or not logits.isfinite().all():
            return None
        return self.question.reach.score(self.right, logits)


def numbers_in(outcome):
    """Those of a model that came out of the first process, or None."""
    numbers = outcome.values.get(NUMBERS)
    return numbers if numbers is not None and numbers.dim() == 1 else None


def exam(question, seed):
    return Exam(question, Draw(seed))


def attempts(run, seed):
    """What a run on a draw of this seed gives, in a list, and after it what one on another draw gives, if a network
    fell short of the aim. run: takes a seed, and returns a tuple, the first of which has `mistakes`."""
    first = run(seed)
    return [first, run(seed + 1)] if SHORT & {*first[0].mistakes} else [first]


def better(runs):
    """Of attempts, whose first things have a `share` of the points. The first, where they are as good."""
    return max(runs, key=lambda run: run[0].share)


def examined(exam, ask):
    """All outcomes of a run. ask: what comes of a probe."""
    outcomes = [ask(*exam.probes)]
    for probe in exam.rest(outcomes):
        outcomes.append(ask(probe))
    return outcomes


def judge(exam, outcomes):
    """The finding about what came of a run."""
    reach, (first, *others) = exam.question.reach, outcomes
    values = first.values
    for outcome in outcomes:
        if "library" in outcome.notes:
            return Finding(["library_layer"], notes=outcome.notes)
    if first.error:
        return Finding([named_error(first.error)], error=first.error, stops=0)
    count, logits, numbers = values.get(COUNT), values.get(ASKED), numbers_in(first)
    if count is None or logits is None or numbers is None or count.numel() != 1 or not count.isfinite().all():
        return Finding(["wrong_values"])
    said = {"count": max(int(count), len(numbers)), "numbers": reach.numbers}
    if said["count"] > reach.numbers:
        return Finding(["model_too_large"], reached=said)
    targets = exam.right["targets"]
    if logits.dim() != 2 or len(logits) != len(targets) or logits.shape[1] <= int(targets.max()):
        expected = torch.zeros(len(targets), int(targets.max()) + 1)
        return Finding(["wrong_shape"], value=ASKED, expected=expected, got=logits)
    if not logits.isfinite().all():
        return Finding(["not_a_number"])
    score = exam.score(first)
    said |= {"score": score, "aim": reach.aim}
    short = "probabilities_for_logits" if of_a_softmax(logits) else "not_reached"
    if not reach.share(score):
        mistaken = exam.right.get("mistaken", {}).items()
        learned = [name for name, other in mistaken if accuracy({"targets": other}, logits) > SURE]
        return Finding(learned or [short], reached=said)
    anew = max((one for one in map(exam.score, others) if one is not None), default=-float("inf"))
    if reach.lost(score, anew):
        error = next((one.error for one in others if one.error), None)
        return Finding(["not_learned"], reached=said, error=error)
    share = reach.share(anew)
    return Finding([] if share == 1 else [short], reached=said | {"score": anew}, trained=share)


def of_a_softmax(logits):
    """Whether these are probabilities: two softmaxes, one after the other, learn badly."""
    return bool((logits >= 0).all()) and bool(((logits.sum(dim=1) - 1).abs() < 1e-4).all())


def accuracy(right, logits):
    return (logits.argmax(dim=1) == right["targets"]).double().mean().item()
