"""Verdicts on answers by people who had not seen the known mistakes: right and wrong ones are graded fairly.

The authors wrote like students who know NumPy, Keras or one chapter: loops over everything, one line, too many classes.
The expected mistakes were determined by reading each answer. Where no known mistake fits, a general name is right.
"""

import json
from functools import partial
from pathlib import Path

import pytest

from assignments.grade import judge
from assignments.read import answers
from companion.check.engine.diagnosis import diagnose
from companion.check.engine.question import all_questions
from tests.assignments.grading import WORDS, judged
from tests.project.sampling import sample

STORED = sorted((Path(__file__).parent / "fair_answers").glob("*.json"))
GIVEN = [given for path in STORED for given in json.loads(path.read_text(encoding="utf-8"))]
BEGIN = "import math\nimport torch\nfrom torch import nn\nfrom torch.nn import functional as F\n"
HALVED = {"parameter_names"}  # a mistake of form that leaves half of the points
PARTLY = {"b-characters-by-heart"}  # partial credit for what was learned
LEARNING = [given for given in GIVEN if all_questions()[given["question"]].training_goal]
SEVERAL = [given for given in GIVEN if given not in LEARNING and len(given["mistakes"]) > 1]
OTHERS = [given for given in GIVEN if given not in LEARNING and given not in SEVERAL]
MORE = judge.LIMITS | judge.time_limits(40)  # for slow machines
ROWS = [*sample(OTHERS, 8), *sample(SEVERAL, 6), *sample(LEARNING, 24)]


def graded(worker, given):
    cells = [[number, source] for number, source in enumerate([BEGIN, *given["cells"]], start=1)]
    answer = answers.Answer(cells, [given["answer"]], True, cell=len(cells))
    return judge.grade(worker, given["question"], answer, 7, "en", WORDS, MORE)


@pytest.mark.parametrize("given", ROWS, ids=[given["name"] for row in ROWS for given in row.values])
def test_verdicts_on_fair_answers(worker, monkeypatch, given):
    # allow slow machines the same training and diagnosis
    monkeypatch.setattr(judge, "diagnose", partial(diagnose, seconds=60))
    verdict = graded(worker, given)
    assert set(verdict.mistakes) == set(given["mistakes"])
    share = 1 if not given["mistakes"] else 0.5 if set(given["mistakes"]) == HALVED else 0
    assert verdict.points == share * verdict.most or given["name"] in PARTLY and 0 < verdict.points < verdict.most


def test_time_limit_scales_for_trainings():
    """Check that a longer limit is longer for trainings, too.

    A shorter limit after a slow answer does not apply to them: part of a training is of no use.
    """
    seconds_given = []

    class Slow:
        def ask(self, job):
            seconds_given.append(job["limits"]["seconds"])
            return {"ended": "time", "said": "", "seconds": seconds_given[-1]}

    for seconds in (3, 10, 20):
        verdict = judged(
            Slow(), "recall", "def train_recall(inputs, targets): ...", limits=judge.LIMITS | judge.time_limits(seconds)
        )
        assert verdict.mistakes == ["time_limit"] and f"has {seconds_given[-1]} seconds" in verdict.paragraphs[0]
    assert seconds_given == [8, 8, 16]


@pytest.mark.heavy
@pytest.mark.parametrize(("ends", "mistakes"), [("time", ["time_limit"]), ("signal 11", ["not_learned"])])
def test_second_training_without_time_reports_the_time_limit(worker, ends, mistakes):
    class Late:
        def ask(self, job):
            if any("numbers" in probe["tensors"] for probe in job["probes"]):
                return {"ended": ends, "said": "", "seconds": 8.0}
            return worker.ask(job)

    (given,) = (given for given in GIVEN if given["name"] == "b-recall-sklearn-gru")
    verdict = graded(Late(), given)
    assert (verdict.mistakes, verdict.points) == (mistakes, 0)
