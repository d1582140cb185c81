"""Tests of a whole submission: carried errors, and one time limit for all answers."""

import time

import pytest

from assignments.grade import judge
from assignments.submission import Grader
from companion.check.engine.question import all_questions
from tests.assignments.grading import notebook, put
from tests.check.lstm_answers import SOURCES

STEP = """def rnn_step(x, h, weight_ih, weight_hh, bias_ih, bias_hh):
    return torch.tanh(x @ weight_ih.T + bias_ih + h @ weight_hh.T + bias_hh)
"""
LOOP = """def rnn(input, h, w, u, b, d):
    output, h = [], h[0]
    for one in input:
        h = again(one, h, w, u, b, d)
        output.append(h)
    return torch.stack(output), h[None]
def again(*a): return rnn_step(*a)
"""
FOLLOWING = {
    "by the other's mistake": (LOOP, 3, "is that of `rnn_step`"),
    "by its own as well": (LOOP.replace("in input:", "in input.flip(0):"), 0, "uses `rnn_step`"),
    "by the other's mistake, bound before": (LOOP.replace("(*a): return rnn_step", "(*a, step=rnn_step): return step"),
    3, "is that of `rnn_step`"),
    "by the same, made again, with the other in a sum": (LOOP.replace("again(one",
    "one @ w.T + b + h @ u.T + d + 0 * again(one"), 0, ""),
    "by the same, made again": (
        LOOP.replace("again(one, h, w, u, b, d)", "one @ w.T + b + h @ u.T + d").replace("rnn_step(*a)", "0"), 0, ""),
    "by its own, without the other": (
        LOOP.replace("in input:", "in input.flip(0):")
        .replace("again(one, h, w, u, b, d)", "torch.tanh(one @ w.T + b + h @ u.T + d)")
        .replace("rnn_step(*a)", "0"),
        0,
        "",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", FOLLOWING)
def test_carried_errors_cost_nothing(worker, tmp_path, monkeypatch, name):
    source, points, remark = FOLLOWING[name]
    wrong = STEP.replace("torch.tanh", "")
    put(tmp_path, "a", "rnn.ipynb", notebook({"rnn_step": wrong, "rnn": source}))
    monkeypatch.setattr(Grader, "worker", worker)
    monkeypatch.setattr(Grader, "seeds", dict.fromkeys(all_questions(), 5))
    *_, (_, result) = Grader.grade("a", tmp_path / "a", (), "en", judge.LIMITS, None, None, {})
    step, rnn = (
        next(verdict for verdict in result["verdicts"] if verdict["question"] == name) for name in ("rnn_step", "rnn")
    )
    assert (step["points"], step["mistakes"]) == (0, ["tanh_missing"])
    assert rnn["points"] == points and rnn["mistakes"]
    remarks = [text for text in rnn["remarks"] if "rnn_step" in text]
    assert remark in "".join(remarks) and len(remarks) == bool(remark)


def test_total_time_limit_of_a_submission(tmp_path, monkeypatch):
    """Check that each answer is in time, and that the next submission has its full time."""
    put(tmp_path, "a", "lstm.ipynb", notebook())
    slow, asked = judge.new_verdict("gates"), []
    monkeypatch.setattr(judge, "grade", lambda *_: asked.append(time.sleep(0.05)) or slow)
    monkeypatch.setattr(Grader, "seeds", dict.fromkeys(SOURCES, 5))
    limits = judge.LIMITS | {"wall": 0.01}
    *_, (_, graded) = Grader.grade("a", tmp_path / "a", ("lstm",), None, limits, None, None, {})
    late = [verdict["mistakes"] for verdict in graded["verdicts"]]
    assert 0 < len(asked) < len(late) and late == [[]] * len(asked) + [["time_limit"]] * (len(late) - len(asked))
    assert graded["remarks"] == [("too_slow", "")]
