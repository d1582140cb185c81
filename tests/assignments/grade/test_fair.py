"""Answers by people who had not seen the bank: the right ones have all points, the wrong ones none, and a name that is
true.

They wrote as students do who come from NumPy, Keras or a chapter of the book: loops over everything, one line, too many
classes. What is expected of each was read and judged by hand: no mistakes, or those that it was written with. Where the
bank has no name for one, a general name is right.
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
GIVEN = [one for path in STORED for one in json.loads(path.read_text(encoding="utf-8"))]
BEGIN = "import math\nimport torch\nfrom torch import nn\nfrom torch.nn import functional as F\n"
HALVED = {"parameter_names"}  # a mistake of form, of which half of the points are left
PARTLY = {"b-characters-by-heart"}  # learned something, and the task pays for that
LEARNING = [one for one in GIVEN if all_questions()[one["question"]].training_goal]
SEVERAL = [one for one in GIVEN if one not in LEARNING and len(one["mistakes"]) > 1]
OTHERS = [one for one in GIVEN if one not in LEARNING and one not in SEVERAL]
MORE = judge.LIMITS | judge.lasting(40)  # for a machine that is slow today
ROWS = [*sample(OTHERS, 8), *sample(SEVERAL, 6), *sample(LEARNING, 24)]


def graded(worker, one):
    cells = [[number, source] for number, source in enumerate([BEGIN, *one["cells"]], start=1)]
    answer = answers.Answer(cells, [one["answer"]], True, cell=len(cells))
    return judge.grade(worker, one["question"], answer, 7, "en", WORDS, MORE)


@pytest.mark.parametrize("one", ROWS, ids=[one["name"] for row in ROWS for one in row.values])
def test_it_is_judged_fairly(worker, monkeypatch, one):
    # on a machine that is slow today, networks learn as much, and several mistakes are found as well
    monkeypatch.setattr(judge, "diagnose", partial(diagnose, seconds=60))
    verdict = graded(worker, one)
    assert set(verdict.mistakes) == set(one["mistakes"])
    share = 1 if not one["mistakes"] else 0.5 if set(one["mistakes"]) == HALVED else 0
    assert verdict.points == share * verdict.most or one["name"] in PARTLY and 0 < verdict.points < verdict.most


def test_who_gives_more_time_gives_it_to_trainings_too():
    """And where less is left, since an answer before did not end, they keep theirs: a share of it is of no use to
    them."""
    given = []

    class Slow:
        def ask(self, job):
            given.append(job["limits"]["seconds"])
            return {"ended": "time", "said": "", "seconds": given[-1]}

    for seconds in (3, 10, 20):
        verdict = judged(
            Slow(), "recall", "def train_recall(inputs, targets): ...", limits=judge.LIMITS | judge.lasting(seconds)
        )
        assert verdict.mistakes == ["time_limit"] and f"has {given[-1]} seconds" in verdict.paragraphs[0]
    assert given == [8, 8, 16]


@pytest.mark.heavy
@pytest.mark.parametrize(("ends", "mistakes"), [("time", ["time_limit"]), ("signal 11", ["not_learned"])])
def test_a_network_that_had_not_the_time_to_be_made_anew_is_told_so(worker, ends, mistakes):
    class Late:
        def ask(self, job):
            if any("numbers" in probe["tensors"] for probe in job["probes"]):
                return {"ended": ends, "said": "", "seconds": 8.0}
            return worker.ask(job)

    (one,) = (one for one in GIVEN if one["name"] == "b-recall-sklearn-gru")
    verdict = graded(Late(), one)
    assert (verdict.mistakes, verdict.points) == (mistakes, 0)
