"""Submissions at the edge of what is read and run: large, closed, false to the last, and right in another way."""

import json
import os
import subprocess
import sys
import time
import zipfile

import pytest

from assignments.grade import judge as answer_judge
from assignments.grade import store
from assignments.read import folders, notebooks
from assignments.sandbox import protocol
from assignments.submission import Grader
from tests.assignments.grading import IMPORTS, WORDS, cell, judged, linux, notebook, put, rows, sent
from tests.check.lstm_answers import CELL, GATES, SOURCES
from tests.project.paths import ROOT


@pytest.mark.deep
def test_a_cell_of_20_megabytes(worker, tmp_path):
    """It may take too long or too much memory, but no more than that; the next is graded."""
    line = "x = '" + "a" * 98 + "'\n"
    said = notebook({"gates": GATES})
    said["cells"].insert(1, cell(line * (20_000_000 // len(line))))
    put(tmp_path, "a", "lstm.ipynb", said)
    begin = time.monotonic()
    verdict = answer_judge.grade(worker, "gates", sent(tmp_path, "a").answers["gates"], 5, "en", WORDS)
    print(verdict.mistakes, time.monotonic() - begin)
    assert verdict.ok or verdict.mistakes in (["time_limit"], ["memory_limit"])
    assert time.monotonic() - begin < 400  # most of it is the grader's own reading
    assert judged(worker, "gates", GATES).ok


@pytest.mark.heavy
def test_a_cell_that_prints_5_gigabytes_and_is_right(worker):
    loud = "import sys\nfor _ in range(5000):\n    print('x' * 10**6)\n    sys.stderr.write('x')\n"
    assert judged(worker, "gates", loud + GATES).ok


@pytest.mark.parametrize("name", ["lstm.zip", "lstm.ipynb", "lstm"])
def test_a_zip_is_read_and_nothing_of_it_is_written(tmp_path, name):
    inside = put(tmp_path, "inside", "lstm.ipynb", notebook())
    file = put(tmp_path, "a", name, "")
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as made:
        made.write(inside, "homework/lstm.ipynb")
        made.writestr("../../away.txt", "x")
    found = sent(tmp_path, "a")
    assert dict(found.remarks) == {"not_a_notebook": "away.txt"} and found.answers["gates"].file == "lstm.ipynb"
    assert not list(tmp_path.rglob("away.txt"))
    later = put(tmp_path, "a", "later.ipynb", notebook({"gates": GATES}))
    os.utime(later, (inside.stat().st_mtime + 10,) * 2)
    answers = sent(tmp_path, "a").answers
    assert answers["gates"].file == "later.ipynb" and answers["lstm"].file == "lstm.ipynb"


@pytest.mark.parametrize("limit, most", [("LARGEST", 9999), ("LISTED", 99)])
def test_a_zip_that_is_a_bomb_is_not_unpacked(tmp_path, monkeypatch, limit, most):
    file = put(tmp_path, "a", "lstm.zip", "")
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as made:
        made.writestr("lstm.ipynb", json.dumps(notebook()))
        made.writestr("zeros.txt", "0" * 9999)
    assert sent(tmp_path, "a").answers
    monkeypatch.setattr(folders, limit, most)
    assert "not_a_notebook" in dict(sent(tmp_path, "a").remarks)


@linux
@pytest.mark.deep
def test_submissions_that_nobody_may_write(tmp_path, own_mounts):
    folder, output = tmp_path / "sent", tmp_path / "grades"
    put(folder, "ada", "lstm.ipynb", notebook({"gates": "open('here', 'w').write('x')\n" + GATES}))
    shell = f"mount --bind {folder} {folder} && mount -o remount,ro,bind {folder} && ! touch {folder}/x && " \
            f"{sys.executable} {ROOT / 'assignments'} {folder} --output {output}"  # fmt: skip
    done = subprocess.run(["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", shell],
                          capture_output=True, text=True, timeout=120)  # fmt: skip
    assert done.returncode == 0 and "Read-only" in done.stderr, done.stderr
    assert rows(output)["ada", "gates"] == (2, "")


def test_what_is_sent_has_bounds(tmp_path, monkeypatch):
    """Of all files together, the latest first; of files, of cells, and of their code."""
    whole = put(tmp_path, "a", "lstm.ipynb", notebook())
    size = whole.stat().st_size
    older = put(tmp_path, "a", "older.ipynb", notebook())
    os.utime(older, (1, 1))
    monkeypatch.setattr(folders, "LARGEST", size + 99)
    before = store.files_digest(tmp_path / "a")
    older.write_text(older.read_text(encoding="utf-8").replace("torch", "trunk"), encoding="utf-8")
    os.utime(older, (1, 1))
    assert store.files_digest(tmp_path / "a") == before  # what is not read is not looked through
    put(tmp_path, "a", "film.mp4", "x" * size * 3)  # nobody looks into it
    found = sent(tmp_path, "a")
    assert ("file_too_large", "older.ipynb") in found.remarks and ("other_file", "film.mp4") in found.remarks
    assert {one.file for one in found.answers.values()} == {"lstm.ipynb"} and len(found.answers) == len(SOURCES)
    assert store.files_digest(tmp_path / "a") != before
    for name in ("b.ipynb", "c.ipynb"):
        put(tmp_path, "b", name, notebook({"gates": GATES}))
    monkeypatch.setattr(folders, "FILES", 1)
    assert ("too_many_files", "") in sent(tmp_path, "b").remarks
    said = notebook({"gates": GATES})
    said["cells"] += [cell("x = 1\n" * 100)] * 20
    for name, most in (("CELLS", 10), ("CODE", 2000)):
        put(tmp_path, name, "lstm.ipynb", said)
        with monkeypatch.context() as patched:
            patched.setattr(folders, "LARGEST", 2**20)
            patched.setattr(notebooks, name, most)
            found = sent(tmp_path, name)
        assert found.remarks == [("too_long", "lstm.ipynb")] and found.answers["gates"].written
        assert sum(len(source) for _, source in found.answers["gates"].cells) < 6000


def test_answers_that_take_too_long_together(tmp_path, monkeypatch):
    """Each is in time. The next submission has all of its time."""
    put(tmp_path, "a", "lstm.ipynb", notebook())
    slow, asked = answer_judge.blank("gates"), []
    monkeypatch.setattr(answer_judge, "grade", lambda *_: asked.append(time.sleep(0.05)) or slow)
    monkeypatch.setattr(Grader, "seeds", dict.fromkeys(SOURCES, 5))
    limits = answer_judge.LIMITS | {"wall": 0.01}
    *_, (_, graded) = Grader.grade("a", tmp_path / "a", ("lstm",), None, limits, None, None, {})
    late = [one["mistakes"] for one in graded["verdicts"]]
    assert 0 < len(asked) < len(late) and late == [[]] * len(asked) + [["time_limit"]] * (len(late) - len(asked))
    assert graded["remarks"] == [("too_slow", "")]


@pytest.mark.parametrize("said, ended", [
    ({"ended": "", "said": "1" * (protocol.OUTPUT + 1), "seconds": 1}, "output"),
    ({"ended": {}, "said": ""}, "quit"), ([], "quit"), ({"ended": "", "said": 1}, "quit"),
    ({"ended": "`x`" * 99, "said": "", "seconds": float("inf")}, "'x'" * 33 + "'"),
])  # fmt: skip
def test_what_a_worker_says_has_bounds(said, ended):
    """Without fork it is the student's own process that says it."""
    assert protocol.ended_of(said, 2.0) == {"ended": ended, "said": "", "seconds": 2.0}


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


FORGER = """
import companion.check.running as running
honest = running.Outcome.to_json
def forged(outcome):
    outcome.notes.clear()
    return honest(outcome)
running.Outcome.to_json = forged
"""


def test_forged_notes_win_half_of_a_right_answer_at_most(worker):
    renamed = CELL.replace("weight_ih", "kernel")
    wrong = renamed.replace("i, f, g, o = a", "f, i, g, o = a")
    assert judged(worker, "lstm_cell", renamed).points == 1.5
    assert judged(worker, "lstm_cell", FORGER + renamed).points in (1.5, 3)
    assert judged(worker, "lstm_cell", wrong).points == judged(worker, "lstm_cell", FORGER + wrong).points == 0


@pytest.mark.heavy
def test_a_mistake_that_many_make_is_looked_for_once(worker, monkeypatch):
    """Of the same numbers on the same probes: on others, or of other numbers, it is looked for anew."""
    looked, judge = [], answer_judge.judge
    monkeypatch.setattr(answer_judge, "judge", lambda *given: looked.append(given) or judge(*given))
    wrong = GATES.replace("tanh", "cosh")
    first, again = (judged(worker, "gates", source, seed=9) for source in (wrong, f"# another student's\n{wrong}"))
    assert len(looked) == 1 and (first.mistakes, first.paragraphs, first.points) == (
        again.mistakes,
        again.paragraphs,
        again.points,
    )
    for seed, source in ((10, wrong), (9, GATES.replace("sigmoid", "tanh")), (9, GATES)):
        judged(worker, "gates", source, seed=seed)
    assert len(looked) == 4
