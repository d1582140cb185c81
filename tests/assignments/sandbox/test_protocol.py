"""Test what messages to and from a worker contain, and their bounds."""

import json
import re

import pytest
import torch

from assignments.sandbox import call_source, protocol
from companion.check.engine.question import all_questions


def test_calls_of_questions_do_not_contain_the_answer():
    for question in all_questions():
        call = call_source.portable_call(all_questions()[question])
        assert not re.search("reference|truth|Question", json.dumps(call))


def test_only_well_formed_tensors_are_parsed():
    good = {"kind": "float64", "shape": [2], "numbers": [1, 2.5]}
    assert protocol.parse_tensor(good).tolist() == [1, 2.5]
    for bad in ({"shape": [3]}, {"shape": [-1]}, {"shape": [True, 2]}, {"numbers": ["1", 2]}, {"numbers": [10**400, 1]},
                {"shape": [2**40, 0], "numbers": []}, {"shape": "2"}, {"numbers": None},
                {"numbers": [True, 1]}):  # fmt: skip
        with pytest.raises(protocol.Forged):
            protocol.parse_tensor(good | bad)
    assert torch.isnan(protocol.parse_tensor(good | {"numbers": [float("nan"), 1]})).any()


@pytest.mark.parametrize("reply, ended", [
    ({"ended": "", "said": "1" * (protocol.MAX_OUTPUT + 1), "seconds": 1}, "output"),
    ({"ended": {}, "said": ""}, "quit"), ([], "quit"), ({"ended": "", "said": 1}, "quit"),
    ({"ended": "`x`" * 99, "said": "", "seconds": float("inf")}, "'x'" * 33 + "'"),
])  # fmt: skip
def test_a_workers_reply_has_bounds(reply, ended):
    """Check it, since without fork the student's own process writes the reply."""
    assert protocol.parse_reply(reply, 2.0) == {"ended": ended, "said": "", "seconds": 2.0}
