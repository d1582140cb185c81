"""Verdicts on answers: named mistakes, and points."""

import pytest

from assignments.grade import judge as answer_judge
from companion.check.engine.question import all_questions
from tests.assignments.grading import IMPORTS, judged
from tests.check.lstm_answers import CELL, CELL_HEAD, CELLS, GATES, SOURCES


@pytest.mark.parametrize("question", SOURCES)
def test_right_answers_have_all_points(worker, question):
    verdict = judged(worker, question, SOURCES[question])
    assert (verdict.mistakes, verdict.points) == ([], all_questions()[question].points)


TYPED = CELL.replace("state=None", "state: tuple[torch.Tensor, torch.Tensor] | None = None").replace(
    "x.shape[0], self.hidden_size)", "x.shape[0], self.hidden_size, dtype=x.dtype)")  # fmt: skip
# Answers that use features which a worker might break; the checker's tests have the others.
UNUSUAL = {name: CELL_HEAD + CELLS[name] for name in ("vmap over the batch", "float32 returned", "in place")} | {
    "scripted": TYPED + "\nOwn = LSTMCell\ndef LSTMCell(a: int, b: int):\n    return torch.jit.script(Own(a, b))\n",
    "tested below": CELL +
        "\nassert torch.allclose(nn.LSTMCell(2, 3)(torch.ones(1, 2))[0], LSTMCell(2, 3)(torch.ones(1, 2))[0])\n"
        "from companion.check import check\ncheck('lstm_cell', LSTMCell)\nimport companion\ncompanion.LSTMCell(2, 3)\n",
    "compared with torch inside": CELL.replace("return h_next",
        "try:\n            nn.LSTMCell(2, 3)(x)\n        except Exception:\n            pass\n        return h_next"),
}  # fmt: skip


@pytest.mark.parametrize("name", UNUSUAL)
def test_unusual_answers_have_all_points(worker, name):
    verdict = judged(worker, "lstm_cell", UNUSUAL[name])
    assert verdict.mistakes == []


def test_mistakes_are_named(worker):
    wrong = CELL.replace("i, f, g, o = a", "f, i, g, o = a")
    verdict = judged(worker, "lstm_cell", wrong)
    assert (verdict.mistakes, verdict.points) == (["gates_f_i_g_o"], 0)


DIFFERENCES = (
    IMPORTS
    + """
def lstm_backward(x, h, c, weight_ih, weight_hh, bias_ih, bias_hh, grad_h, grad_c):
    given = [one.detach().clone() for one in (x, h, c, weight_ih, weight_hh, bias_ih, bias_hh)]
    def loss():
        x, h, c, weight_ih, weight_hh, bias_ih, bias_hh = given
        i, f, g, o = (x @ weight_ih.T + bias_ih + h @ weight_hh.T + bias_hh).chunk(4, 1)
        c = f.sigmoid() * c + i.sigmoid() * g.tanh()
        return (grad_h * o.sigmoid() * c.tanh() + grad_c * c).sum()
    def slope(flat, n):
        there = flat[n].item()
        flat[n] = there + 1e-5
        above = loss()
        flat[n] = there - 1e-5
        below = loss()
        flat[n] = there
        return (above - below) / 2e-5
    return tuple(torch.stack([slope(one.view(-1), n) for n in range(one.numel())]).view_as(one) for one in given)
"""
)


def test_gradients_by_finite_differences_are_right(worker):
    """No library has made them, and no autograd."""
    assert judged(worker, "lstm_backward", DIFFERENCES).mistakes == []


# Replaces Outcome.to_json in the process that runs the answer, so that no note about the answer is sent.
FORGER = """
import gc
(outcome_class,) = [thing for thing in gc.get_objects() if isinstance(thing, type) and thing.__name__ == "Outcome"]
honest = outcome_class.to_json
def forged(outcome):
    outcome.notes.clear()
    return honest(outcome)
outcome_class.to_json = forged
"""


def test_forged_notes_gain_at_most_half_of_a_right_answer(worker):
    renamed = CELL.replace("weight_ih", "kernel")
    wrong = renamed.replace("i, f, g, o = a", "f, i, g, o = a")
    assert judged(worker, "lstm_cell", renamed).points == 1.5
    assert judged(worker, "lstm_cell", FORGER + renamed).points == 3  # the attack works
    assert judged(worker, "lstm_cell", wrong).points == judged(worker, "lstm_cell", FORGER + wrong).points == 0


@pytest.mark.heavy
def test_common_mistake_is_diagnosed_once(worker, monkeypatch):
    """Check that equal outcomes on the same probes are diagnosed once, and others separately."""
    diagnoses, judge = [], answer_judge.diagnose_outcomes
    monkeypatch.setattr(answer_judge, "diagnose_outcomes", lambda *given: diagnoses.append(given) or judge(*given))
    wrong = GATES.replace("tanh", "cosh")
    first, second = (judged(worker, "gates", source, seed=9) for source in (wrong, f"# another student's\n{wrong}"))
    assert len(diagnoses) == 1 and (first.mistakes, first.paragraphs, first.points) == (
        second.mistakes,
        second.paragraphs,
        second.points,
    )
    for seed, source in ((10, wrong), (9, GATES.replace("sigmoid", "tanh")), (9, GATES)):
        judged(worker, "gates", source, seed=seed)
    assert len(diagnoses) == 4
