"""Questions whose answer is a network that learned something: it is trained by the student's own code, each time anew.

The answer is a function that gets data and returns a model. What it gets is drawn anew for each run, so that weights which
were learned elsewhere do not fit: which symbol stands for what is drawn, too. Then the model is asked about inputs that it
has not seen. What is right for them never is where the answer runs: whoever judges keeps it. So there is nothing to read.

And the model is asked once more when all its numbers have been shuffled. What answers rightly then has not learned, but
knows the task by heart, or keeps what it learned where no one counts it. Who sees the shuffling and plays dumb is not
found out; all that is won by it is to have solved the task without a network, on the same new data.
"""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import nn

from companion.check.diagnosis import Finding, named_error
from companion.check.question import Draw
from companion.check.running import Outcome, Unfit, kind, plain, seed

ASKED, SHUFFLED, COUNT = "logits", "logits when shuffled", "numbers"
SHUFFLES = 3  # by chance a shuffled network may be right now and then


@dataclass(frozen=True)
class Reach:
    """How well a network has to do, and what that is worth.

    draw(draw): a probe, and what only who judges has: a dictionary, with `targets` for the probe's tensor `held_out`.
    score(right, logits): how good these are, a float, and better if larger. marks: pairs of a score and the share of the
    points that it is worth, the least first. guess: the score of who has learned hardly anything. numbers: how many a model
    may have. seconds: of the processor, for all of it.
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

    def still_knows(self, score, margin=0.5):
        """Whether a shuffled model is nearer to the aim than to a guess."""
        return score > self.guess + margin * (self.aim - self.guess)


@dataclass(frozen=True)
class Training:
    """Calls a function that trains a model, and asks the model. arguments: as those of `Function`."""

    arguments: tuple

    def __call__(self, answer, probe, outcome):
        torch.set_default_dtype(torch.float32)
        tensors = {name: single(tensor) for name, tensor in probe.tensors.items() if name != "held_out"}
        seed()
        model = answer(*((tensors | probe.options)[name] for name in self.arguments))
        if model is None:
            raise Unfit("returns_none", name="model")
        if not isinstance(model, nn.Module):
            raise Unfit("not_a_module", got=kind(model))
        layers = {f"{type(one).__module__}.{type(one).__name__}" for one in model.modules() if of_library(one)}
        if layers:  # to watch what runs, as for other questions, would take as long as the training
            outcome.notes["library"] = sorted(layers)
        model.eval()
        numbers = [*dict.fromkeys([*model.parameters(), *model.buffers()])]
        outcome.values[COUNT] = torch.tensor(float(sum(one.numel() for one in numbers)))
        with torch.no_grad():
            outcome.values[ASKED] = asked(model, probe.tensors["held_out"])
            shuffled = []
            for _ in range(SHUFFLES):
                for one in numbers:
                    one.copy_(one.flatten()[torch.randperm(one.numel())].reshape(one.shape))
                shuffled.append(asked(model, probe.tensors["held_out"]))
            outcome.values[SHUFFLED] = torch.stack(shuffled)


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
        self.question = question
        probe, self.right = question.reach.draw(draw)
        self.probes = [probe]


def exam(question, seed):
    return Exam(question, Draw(seed))


def judge(exam, outcome):
    """The finding about what came of a run."""
    reach, values, notes = exam.question.reach, outcome.values, outcome.notes
    if "library" in notes:
        return Finding(["library_layer"], notes=notes)
    if outcome.error:
        return Finding([named_error(outcome.error)], error=outcome.error, stops=0, share=0.0)
    count, logits, shuffled = (values.get(name) for name in (COUNT, ASKED, SHUFFLED))
    if count is None or logits is None or shuffled is None or count.numel() != 1:
        return Finding(["wrong_values"], share=0.0)
    said = {"count": int(count), "numbers": reach.numbers}
    if count > reach.numbers:
        return Finding(["model_too_large"], reached=said, share=0.0)
    targets = exam.right["targets"]
    if logits.dim() != 2 or len(logits) != len(targets) or logits.shape[1] <= int(targets.max()):
        return Finding(["wrong_shape"], value=ASKED, got=logits, share=0.0)
    if not logits.isfinite().all():
        return Finding(["not_a_number"], share=0.0)
    score = reach.score(exam.right, logits)
    said |= {"score": score, "aim": reach.aim}
    if shuffled.shape[1:] != logits.shape or not len(shuffled):
        return Finding(["wrong_shape"], value=ASKED, got=logits, share=0.0)
    if reach.still_knows(min(reach.score(exam.right, one.nan_to_num()) for one in shuffled)):
        return Finding(["not_learned"], reached=said, share=0.0)
    share = reach.share(score)
    return Finding([] if share == 1 else ["not_reached"], reached=said, share=share)


def accuracy(right, logits):
    return (logits.argmax(dim=1) == right["targets"]).double().mean().item()
