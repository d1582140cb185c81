"""Check trained questions: points for what a network has learned, and none for what it has not."""

import itertools
import math
from functools import partial

import pytest
import torch
from torch import nn
from torch.nn import functional as F

import companion
import companion.check
from assignments.grade import judge as answer_judge
from assignments.read import answers
from companion.check import check, machine_speed
from companion.check.engine import messages, session
from companion.check.engine.probe import Probe
from companion.check.engine.question import Question
from companion.check.engine.run_answer import observe
from companion.check.engine.trained_network import Training, TrainingGoal, accuracy, attempts, exam, judge, run_exam
from companion.check.questions.language_model.characters import share_learned
from tests.assignments.grading import WORDS
from tests.project.sampling import sample

KINDS = 20  # enough that shuffled targets are never right by chance


def draw(draw):
    """Return a probe and its targets: a random table of signs, to be learned from examples."""
    table = torch.randperm(KINDS, generator=draw.generator)
    seen, unseen = draw.whole(KINDS, 200), draw.whole(KINDS, 100)
    tensors = {
        "x": torch.eye(KINDS).double()[seen],
        "y": table[seen],
        "held_out": torch.eye(KINDS).double()[unseen],
    }
    return Probe("several", tensors, {"kinds": KINDS}, gradients=None), {"targets": table[unseen]}


GOAL = TrainingGoal(
    draw, accuracy, marks=((0.5, 0.25), (0.9, 1.0)), guess=1 / KINDS, numbers=KINDS * KINDS + KINDS, seconds=20
)
CALL = Training(("x", "y", "kinds"))
QUESTION = Question("signs", "rnn", 2, "rnn#equation", CALL, None, None, {}, None, training_goal=GOAL)


def trained(model, x, y, steps=60, logits_in=lambda returned: returned):
    """Train a model and return it. logits_in: takes the logits from the model's result."""
    optimizer = torch.optim.Adam(model.parameters(), lr=0.3)
    for _ in range(steps):
        loss = F.cross_entropy(logits_in(model(x)), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return model


def signs(x, y, kinds, steps=60):
    return trained(nn.Linear(kinds, kinds), x, y, steps)


def in_half_of_all(x, y, kinds):
    keep = y < (kinds + 2) // 2
    return signs(x[keep], y[keep], kinds)


class Memoriser(nn.Module):
    """Model that memorises the examples in a dictionary, and has a parameter without effect."""

    def __init__(self, x, y):
        super().__init__()
        self.shown, self.weight = {int(a.argmax()): int(b) for a, b in zip(x, y)}, nn.Parameter(torch.zeros(1))

    def forward(self, x):
        remembered = torch.tensor([self.shown.get(int(a.argmax()), 0) for a in x])
        return F.one_hot(remembered, KINDS) + 0 * self.weight


def model_with_forward(module):
    model = nn.Linear(KINDS, KINDS)
    model.forward = module
    return model


def large(x, y, kinds):
    return nn.Sequential(nn.Linear(kinds, 11), nn.Linear(11, kinds))


def with_large_buffer(x, y, kinds):
    model = signs(x, y, kinds)
    model.register_buffer("more", torch.zeros(1))
    return model


def stops(x, y, kinds):
    raise RuntimeError("the loss is gone")


WRONG = {
    "not_reached": lambda x, y, kinds: signs(x, y, kinds, steps=0),
    "not_learned": lambda x, y, kinds: Memoriser(x, y),
    "model_too_large": large,
    "model_too_large~buffers": with_large_buffer,
    "wrong_shape": lambda x, y, kinds: model_with_forward(lambda held_out: held_out[:, :3]),
    "wrong_shape~rows": lambda x, y, kinds: model_with_forward(lambda held_out: held_out[:5]),
    "probabilities_for_logits": lambda x, y, kinds: model_with_forward(
        lambda held_out: torch.full((len(held_out), kinds), 1 / kinds)
    ),
    "not_a_number": lambda x, y, kinds: model_with_forward(lambda held_out: held_out / 0),
    "returns_none": lambda x, y, kinds: None,
    "not_a_module": lambda x, y, kinds: torch.eye(kinds),
    "not_a_tensor": lambda x, y, kinds: model_with_forward(lambda held_out: held_out.tolist()),
    "raises_error": stops,
    "not_written": lambda x, y, kinds: nn.Module()(x),
}


def arguments_for(seed):
    """Return the arguments that an answer gets."""
    got = []
    observe(QUESTION.call, lambda *given: got.append(given), exam(QUESTION, seed).probes[0])
    return got[0]


def judged(answer, seed=0):
    probed = exam(QUESTION, seed)
    return judge(probed, run_exam(probed, lambda probe: observe(QUESTION.call, answer, probe, QUESTION.forbidden)))


@pytest.mark.parametrize("seed", range(3))
def test_trained_model_has_all_points(seed):
    finding = judged(signs, seed)
    assert (finding.mistakes, finding.share, finding.reached["score"]) == ([], 1.0, 1.0)


@pytest.mark.parametrize("name", WRONG)
def test_wrong_answers_have_no_points_and_a_reason(name):
    finding = judged(WRONG[name])
    assert (finding.mistakes, finding.share) == ([name.split("~")[0]], 0.0)


@pytest.mark.parametrize("layer", [nn.GRU, nn.LSTMCell, companion.RNN])
def test_library_layer_is_named(layer):
    def by_library(x, y, kinds):
        model = signs(x, y, kinds)
        model.inside = layer(2, 2)
        return model

    assert judged(by_library).mistakes == ["library_layer"]


def in_a_trainer(x, y, kinds):
    class Trainer:
        def __init__(self):
            self.model = nn.Linear(kinds, kinds)
            self.optimizer = torch.optim.Adam(self.model.parameters(), lr=0.3)

    trainer = Trainer()
    for _ in range(60):
        trainer.optimizer.zero_grad()
        F.cross_entropy(trainer.model(x), y).backward()
        trainer.optimizer.step()
    return trainer.model


def by_own_descent(x, y, kinds):
    model = nn.Linear(kinds, kinds)
    for _ in range(60):
        grads = torch.autograd.grad(F.cross_entropy(model(x), y), [*model.parameters()])
        with torch.no_grad():
            for parameter, grad in zip(model.parameters(), grads):
                parameter -= 30 * grad
    return model


class Last(nn.Module):
    """Wrapper that returns only the last result of the trained model."""

    def __init__(self, inner):
        super().__init__()
        self.inner = inner

    def forward(self, x):
        return self.inner(x)[-1]


def in_another_model(x, y, kinds):
    class Both(nn.Linear):
        def forward(self, x):
            return None, super().forward(x)

    return Last(trained(Both(kinds, kinds), x, y, logits_in=lambda both: both[-1]))


def with_an_average(x, y, kinds):
    """Return an averaged model with a hook, which a model stopped before training lacks."""
    model, other = signs(x, y, kinds), signs(x, y, kinds, steps=40)
    with torch.no_grad():
        model.weight.add_(other.weight).div_(2)
    model.register_forward_hook(lambda model, given, logits: logits * 2)
    return model


def of_frozen_numbers(x, y, kinds):
    """Return a model with random numbers that are not registered, but drawn equally each time."""
    mixed = torch.linalg.qr(torch.randn(kinds, kinds))[0]
    model = nn.Sequential()
    model.add_module("read", nn.Linear(kinds, kinds))
    model.forward = lambda x: model.read(x @ mixed)
    return trained(model, x, y)


MANNERS = [in_a_trainer, by_own_descent, in_another_model, with_an_average, of_frozen_numbers]


@pytest.mark.parametrize("answer", MANNERS, ids=lambda answer: answer.__name__)
def test_ways_of_training_are_right(answer):
    finding = judged(answer)
    assert (finding.mistakes, finding.share) == ([], 1.0)


def test_only_the_model_made_anew_counts():
    """The answer keeps most of what it learned in its numbers, and the rest in a table, which does not count."""

    def answer(x, y, kinds):
        keep = y < 17
        model, table = signs(x[keep], y[keep], kinds), torch.zeros(kinds, kinds)
        table[x[~keep].argmax(1), y[~keep]] = 99
        model.forward = lambda x: nn.Linear.forward(model, x) + x @ table
        return model

    finding = judged(answer)
    assert finding.mistakes == ["not_reached"] and finding.share == 0.25 and finding.reached["score"] < 0.9


def test_model_is_made_anew_once_if_possible_and_never_without_points():
    def beside_another(x, y, kinds):
        helper = nn.Linear(2, 2)
        return helper and signs(x, y, kinds)

    for answer, runs in ((WRONG["not_reached"], 1), (signs, 2), (beside_another, 2), (in_another_model, 3)):
        assert len(run_exam(exam(QUESTION, 0), lambda probe: observe(QUESTION.call, answer, probe))) == runs


def test_model_that_learned_in_part_has_a_part_of_the_points():
    finding = judged(in_half_of_all)
    assert finding.mistakes == ["not_reached"] and finding.share == 0.25 and 0.5 <= finding.reached["score"] < 0.9


def test_weights_of_another_run_have_no_points():
    """Weights of another run fit another table."""

    def brought(seed):
        def answer(x, y, kinds):
            model = nn.Linear(kinds, kinds)
            model.load_state_dict(states[seed])
            return model

        return answer

    states = {seed: signs(*arguments_for(seed)).state_dict() for seed in (0, 1)}
    assert judged(brought(0)).ok and judged(brought(1)).mistakes == ["not_reached"]


def test_held_out_targets_are_not_in_the_process_of_the_answer():
    probed = exam(QUESTION, 0)
    assert set(probed.probes[0].tensors) == {"x", "y", "held_out"} and len(arguments_for(0)) == 3
    assert not any(torch.equal(tensor, probed.right["targets"]) for tensor in probed.probes[0].tensors.values())


def test_runs_are_reproducible():
    scores = [judged(lambda *given: signs(*given, steps=8)).reached["score"] for _ in range(2)]
    assert scores[0] == scores[1]


def test_share_is_that_of_the_last_mark_reached():
    more = TrainingGoal(None, accuracy, ((0.5, 0.25), (0.7, 0.5), (0.9, 1.0)), 0.1, 1, 1)
    assert [more.share(score) for score in (0.49, 0.5, 0.89, 0.9, 1.0)] == [0.0, 0.25, 0.5, 1.0, 1.0]
    assert more.aim == 0.9
    assert [more.lost(0.9, anew) for anew in (0.1, 0.49, 0.51)] == [True, True, False]


def test_scores():
    logits, targets = torch.eye(4).double() * 3, torch.tensor([0, 1, 2, 0])
    assert accuracy({"targets": targets}, logits) == 0.75
    learned = {"targets": torch.tensor([2, 1]), "counts": 2.5, "source": 0.5}
    assert share_learned(learned, torch.zeros(2, 5).double()) == pytest.approx((2.5 - math.log(5)) / 2)


# In words, and in the grader


@pytest.fixture
def signs_question(monkeypatch):
    """Register the question as if it were in an assignment."""
    monkeypatch.setattr(session, "NOTEBOOK", session.Session())
    monkeypatch.setattr(companion.check, "find_question", lambda name: QUESTION)
    for module in (answer_judge, answers):
        monkeypatch.setattr(module, "all_questions", lambda: {"signs": QUESTION})


def test_text_tells_the_score_and_the_aim(signs_question):
    right, part = check("signs", signs), check("signs", in_half_of_all)
    assert right.ok and "Reached: accuracy 1. All points need 0.9." in repr(right)
    assert "has 420 numbers, and may have 420" in repr(right)
    assert not part.ok and "has not learned enough yet" in repr(part) and "Read again: section" in repr(part)
    assert session.NOTEBOOK.shares == {"signs": 0.25}
    narrow = check("signs", WRONG["wrong_shape"])
    assert "`logits` should have the shape `(100, 20)`, but has `(100, 3)`" in repr(narrow)
    heart = check("signs", WRONG["not_learned"], lang="ko")
    assert messages.of_mistake("not_learned", "ko")["says"] in repr(heart)


SLOWNESS = [(19, 1, ""), (41, 1, "ends it after 20"), (41, 2, "after 40"), (41, 3, "")]


@pytest.mark.parametrize("took, slowness, told", SLOWNESS)
def test_slow_answer_is_told_the_limit_of_a_machine_as_slow_as_this_one(
    signs_question, monkeypatch, took, slowness, told
):
    monkeypatch.setattr(companion.check, "measure_slowness", lambda: slowness)
    times = itertools.cycle([0, took])
    monkeypatch.setattr(companion.check.time, "process_time", lambda: next(times))
    text = repr(check("signs", signs))
    assert told in text and ("computing here" in text) == bool(told)


def test_measure_of_the_machine_grows_with_the_time_and_changes_no_state(monkeypatch):
    torch.manual_seed(5)
    state = torch.get_rng_state()
    assert machine_speed.measure_slowness() >= 1 and torch.get_rng_state().equal(state)
    once = machine_speed.measure_once()
    monkeypatch.setattr(machine_speed, "REFERENCE", machine_speed.REFERENCE / 100)
    assert 20 * once < machine_speed.measure_slowness(1) < 500 * once


# Kinds (of 20) learned on the draws of seeds 0 and 1, and the share of the points.
LUCK = [((20, 1), 1.0), ((1, 20), 1.0), ((11, 20), 1.0), ((11, 1), 0.25), ((1, 11), 0.25), ((1, 1), 0.0)]


def kinds_learned(most):
    return {int(arguments_for(seed)[1].sum()): kinds for seed, kinds in enumerate(most)}


@pytest.mark.parametrize("most, share", LUCK)
def test_better_of_two_draws_counts(signs_question, most, share):
    learned, runs = kinds_learned(most), []

    def answer(x, y, kinds):
        keep = y < learned.get(int(y.sum()), kinds)
        runs.append(int(y.sum()))
        return signs(x[keep], y[keep], kinds)

    result = check("signs", answer)
    assert result.ok == (share == 1) and session.NOTEBOOK.shares == {"signs": share}
    drawn = [run for run in runs if run in learned]  # the other runs are of models made anew
    assert drawn == [*learned][: 1 if most[0] == 20 else 2]


def test_only_a_network_short_of_the_aim_has_another_draw(signs_question):
    for name, answer in {"right": signs, **WRONG}.items():
        draws = []
        ask = partial(observe, QUESTION.call, answer, forbidden=QUESTION.forbidden)

        def run(seed):
            draws.append(seed)
            probed = exam(QUESTION, seed)
            return (judge(probed, run_exam(probed, ask)),)

        attempts(run, 7)
        assert draws == ([7, 8] if name in ("not_reached", "probabilities_for_logits") else [7]), name


SOURCE = """
def signs(x, y, kinds):
    keep = y < {most}.get(int(y.sum()), kinds)
    model = nn.Linear(kinds, kinds)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.3)
    for _ in range(60):
        loss = F.cross_entropy(model(x[keep]), y[keep])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return model
"""


@pytest.mark.parametrize("most, share", sample(LUCK[3:4] + LUCK[:3] + LUCK[4:]))
def test_grader_gives_points_for_the_score(worker, signs_question, most, share):
    imports = "import torch\nfrom torch import nn\nfrom torch.nn import functional as F\n"
    answer = answers.Answer([[1, imports], [2, SOURCE.format(most=kinds_learned(most))]], ["signs"], True, cell=2)
    verdict = answer_judge.grade(worker, "signs", answer, 0, "en", WORDS)
    assert verdict.points == 2 * share and verdict.mistakes == ([] if share == 1 else ["not_reached"])
