"""Feedback on a layer of an instructor's own: it speaks of the solution's layer, since torch has none."""

import pytest
import torch
from torch import nn

from assignments.own import stored
from companion.check import check
from tests.assignments.own.test_own_batch import LAYER

RENAMED = (("self.leak", "self.rate"),)
# mistake → changes of the right answer, and texts that the English feedback has
AMISS = {
    "parameter_names": (RENAMED, ["another name than in the solution's layer", "`leak` is called `rate`"]),
    "parameter_missing": (
        (("self.weight = nn.Parameter(torch.zeros(units, features))", "pass"),),
        ["the same parameters as the solution's layer", "It has no parameter `weight`"]),
    "parameter_shape": (
        (("torch.zeros(units))", "torch.zeros(1))"),),
        ["another shape than in the solution's layer", "`leak` should have the shape `[4]`, but has `[1]`"]),
    "extra_parameter": (
        (("self.leak =", "self.more = nn.Parameter(torch.zeros(units, units)); self.leak ="),),
        ["parameters that the solution's layer does not have", "Not in the solution's layer: `more`"]),
}  # fmt: skip
# How each language calls it.
SOLUTIONS = {"en": "the solution's layer", "ja": "模範解答の層", "ko": "모범 답안의 계층", "zh": "参考答案"}


def answer(changes):
    """Return the class of the right answer with changes of its text."""
    source = "class LeakyLayer" + LAYER.partition("class LeakyLayer")[2].partition("def inputs")[0]
    for old, new in changes:
        assert old in source, old
        source = source.replace(old, new)
    names = {"nn": nn, "torch": torch}
    exec(source, names)
    return names["LeakyLayer"]


@pytest.mark.parametrize("mistake", AMISS)
def test_parameters_are_compared_with_the_solution_s(week, mistake):
    stored.use([week(leaky_layer=LAYER.partition("MISTAKES")[0])])
    changes, said = AMISS[mistake]
    result = check("leaky_layer", answer(changes))
    assert result.mistakes == [mistake]
    for text in said:
        assert text in repr(result), repr(result)
    for language, solution in SOLUTIONS.items():
        feedback = repr(check("leaky_layer", answer(changes), lang=language))
        assert solution in feedback and "orch" not in feedback.replace("nn.", ""), feedback


def test_a_missing_weight_is_not_taken_for_torch_s_gates(week):
    """The answer's matrix has a quarter of the rows, as the weight of one gate has."""
    stacked = LAYER.partition("MISTAKES")[0].replace("zeros(units,", "zeros(4 * units,")
    stored.use([week(leaky_layer=stacked.replace("@ self.weight.T", "@ self.weight[: h_0.shape[1]].T"))])
    result = check("leaky_layer", answer([("self.weight", "self.matrix")]))
    assert result.mistakes == ["parameter_missing"] and "gate" not in repr(result)


def test_an_answer_that_remembers_its_last_call_is_found(week):
    stored.use([week(leaky_layer=LAYER.partition("MISTAKES")[0])])
    changes = ("self.leak =", "self.calls = 0; self.leak ="), ("h_0, []", "h_0 + self.calls, []; self.calls += 1")
    assert check("leaky_layer", answer(changes)).mistakes == ["remembers_last_call"]
