"""Messages to and from a worker: what they carry, and their bounds."""

import json
import re

import pytest
import torch

from assignments.sandbox import call_source, protocol
from companion.check.engine.question import all_questions


def test_no_call_of_a_question_brings_the_answer_along():
    for question in all_questions():
        said = call_source.portable_of(all_questions()[question])
        assert not re.search("reference|truth|Question", json.dumps(said))


def test_numbers_from_a_stranger():
    good = {"kind": "float64", "shape": [2], "numbers": [1, 2.5]}
    assert protocol.tensor_of(good).tolist() == [1, 2.5]
    for bad in ({"shape": [3]}, {"shape": [-1]}, {"shape": [True, 2]}, {"numbers": ["1", 2]}, {"numbers": [10**400, 1]},
                {"shape": [2**40, 0], "numbers": []}, {"shape": "2"}, {"numbers": None},
                {"numbers": [True, 1]}):  # fmt: skip
        with pytest.raises(protocol.Forged):
            protocol.tensor_of(good | bad)
    assert torch.isnan(protocol.tensor_of(good | {"numbers": [float("nan"), 1]})).any()


@pytest.mark.parametrize("said, ended", [
    ({"ended": "", "said": "1" * (protocol.OUTPUT + 1), "seconds": 1}, "output"),
    ({"ended": {}, "said": ""}, "quit"), ([], "quit"), ({"ended": "", "said": 1}, "quit"),
    ({"ended": "`x`" * 99, "said": "", "seconds": float("inf")}, "'x'" * 33 + "'"),
])  # fmt: skip
def test_what_a_worker_says_has_bounds(said, ended):
    """Without fork it is the student's own process that says it."""
    assert protocol.ended_of(said, 2.0) == {"ended": ended, "said": "", "seconds": 2.0}
