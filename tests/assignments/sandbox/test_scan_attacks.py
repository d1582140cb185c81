"""Test that torch's own scans, which are Python code, earn no points in the grader where a question forbids them."""

from dataclasses import replace

import nbformat
import pytest

from companion.check import check
from companion.check.engine.diagnosis import alike
from companion.check.engine.question import bank
from companion.check.engine.run_answer import observe
from tests.assignments.grading import QUICK, judged

HEAD = """
import sys
import torch
import torch._higher_order_ops  # its functions have the names of its modules

MODULES = {name: sys.modules[f"torch._higher_order_ops.{name}"] for name in ("associative_scan", "scan")}

def scan_in_rounds(combine, steps, start):
    every = torch.cat([start[None], steps])
"""
ATTACKS = {
    "associative_scan": """
    return MODULES["associative_scan"].associative_scan(combine, every, 0, combine_mode="generic")[1:]
""",
    "generic_associative_scan": """
    operator = lambda *both: [combine(*both)]
    return MODULES["associative_scan"].generic_associative_scan(operator, [every])[0][1:]
""",
    "_fake_associative_scan": """
    return MODULES["associative_scan"]._fake_associative_scan(combine, every, 0)[1:]
""",
    "_fake_scan": """
    return MODULES["scan"]._fake_scan(lambda h, x: (combine(h, x),) * 2, start, steps)[1]
""",
    # the file itself, which makes functions that nothing has disabled
    "read again from the file": """
    import ast
    with open(MODULES["associative_scan"].__file__) as file:
        parts = ast.parse(file.read()).body
    wanted = {"_interleave", "safe_map", "generic_associative_scan"}
    imports = ast.Import, ast.ImportFrom
    parts = [part for part in parts if isinstance(part, imports) or getattr(part, "name", "") in wanted]
    namespace = {"__name__": "copy", "aten": torch.ops.aten}
    exec(compile(ast.Module(parts, []), "copy", "exec"), namespace)
    operator = lambda *both: [combine(*both)]
    return namespace["generic_associative_scan"](operator, [every])[0][1:]
""",
}
# Attacks that the notebook's check does not recognise: a copy of a file is not torch's.
UNSEEN = {"read again from the file"}
# Attacks that call `combine` too often.
TOO_OFTEN = {"_fake_associative_scan", "_fake_scan"}


def answer_of(name):
    namespace = {}
    exec(HEAD + ATTACKS[name], namespace)
    return namespace["scan_in_rounds"]


@pytest.mark.parametrize("name", sorted(ATTACKS.keys() - UNSEEN))
def test_the_checker_recognises_a_librarys_scan(name):
    assert check("scan_in_rounds", answer_of(name)).mistakes == ["library_layer"]


@pytest.mark.parametrize("name", sorted(ATTACKS))
def test_a_librarys_scan_earns_no_points(worker, name):
    verdict = judged(worker, "scan_in_rounds", HEAD + ATTACKS[name])
    print(name, verdict.mistakes, verdict.paragraphs)
    assert verdict.points == 0 and not verdict.ok


@pytest.mark.parametrize("name", sorted(ATTACKS))
def test_scan_attacks_are_right_outside_the_sandbox(name):
    """Check it, since an attack that fails by itself proves nothing; the counted probe is left out for loops."""
    probed = bank("scan_in_rounds", 5)
    for probe, expected in zip(probed.probes, probed.expected):
        if name in TOO_OFTEN and "calls allowed" in probe.options:
            continue
        got = observe(probed.question.call, answer_of(name), replace(probe, gradients=None))
        assert alike(expected, got, gradients=False), (probe.name, got.error)


def test_a_right_scan_is_right_in_the_sandbox(worker):
    notebook = nbformat.read("assignments/source/en/recurrence_today.ipynb", as_version=4)
    cells = {cell.id: cell.source for cell in notebook.cells}
    assert judged(worker, "scan_in_rounds", "import math\nimport torch\n" + cells["scan_in_rounds"]).ok


DIFFERENCES = """
import torch

def scan_backward(a, b, h_0, grad_h):
    def loss(a, b, h):
        states = []
        for a_t, b_t in zip(a, b):
            h = a_t * h + b_t
            states.append(h)
        return (torch.stack(states) * grad_h).sum()

    inputs, gradients = (a, b, h_0), []
    for place, tensor in enumerate(inputs):
        gradient = torch.zeros(tensor.numel())
        for number in range(len(gradient)):
            unit = torch.zeros(len(gradient))
            unit[number] = 1
            more = [one + unit.view_as(one) if one is tensor else one for one in inputs]
            gradient[number] = loss(*more) - loss(*inputs)
        gradients.append(gradient.view_as(tensor))
    return tuple(gradients)
"""


def test_gradients_by_differences_run_out_of_time(worker):
    """Check that one forward pass per number, which is exact as the loss is linear in each number, takes too long."""
    verdict = judged(worker, "scan_backward", DIFFERENCES, limits=QUICK)
    print(verdict.mistakes, verdict.paragraphs)
    assert verdict.mistakes == ["time_limit"] and verdict.points == 0


def test_gradients_by_differences_are_right_for_few_numbers():
    namespace = {}
    exec(DIFFERENCES, namespace)
    probed = bank("scan_backward", 5)
    for probe, expected in zip(probed.probes[:-1], probed.expected):
        assert alike(expected, observe(probed.question.call, namespace["scan_backward"], probe)), probe.name
