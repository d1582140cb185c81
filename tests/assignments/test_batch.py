"""A batch from end to end: what it writes, keeps and grades again."""

import json
import shutil
import subprocess
import sys

import pytest

from assignments import cli
from assignments.batch import Batch
from assignments.read.names import page_name
from assignments.report.all_reports import write_reports
from companion.check.engine.question import all_questions
from tests.assignments.grading import ASKED, graded_of, half, linux, notebook, put, result, rows
from tests.check.lstm_answers import CELL, GATES, SOURCES
from tests.project.paths import ROOT


@pytest.mark.heavy
def test_a_batch_from_end_to_end(tmp_path):
    """Kill a batch once, continue it, and then grade an appeal."""
    few = tmp_path / "submitted"
    put(few, "ada", "lstm.ipynb", notebook())
    wrong = SOURCES | {"lstm_cell": CELL.replace("i, f, g, o = a", "f, i, g, o = a")}
    put(few, "bo", "lstm.ipynb", notebook(wrong, text="ゲートを計算してください。" * 5))
    put(few, "cy", "notes.pdf", b"%PDF")
    put(few, "=1+1", "lstm.ipynb", notebook({"gates": "import os\nos._exit(0)"}))
    for number in range(3):
        put(few, f"s{number}", "lstm.ipynb", notebook({"gates": GATES}))
    output = tmp_path / "grades"
    command = [sys.executable, str(ROOT / "assignments"), str(few), "--output", str(output), "--workers", "2"]
    running = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    next(line for line in running.stdout if line.startswith("[1/"))
    running.kill()
    running.wait()
    running.stdout.close()
    stored = {file: file.stat().st_mtime_ns for file in (output / "done").glob("*.json")}
    assert 1 <= len(stored) < 7
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    assert f"{len(stored)} of 7 submissions are graded already" in done.stdout
    assert {file: file.stat().st_mtime_ns for file in stored} == stored
    points = rows(output)
    assert len(points) == 7 * len(ASKED)
    assert points["ada", "lstm"] == (all_questions()["lstm"].points, "") and points["bo", "lstm_cell"] == (
        0,
        "gates_f_i_g_o",
    )
    assert points["cy", "gates"] == (0, "no_answer") and points["'=1+1", "gates"] == (0, "stopped_early")
    page = (output / "feedback" / "bo.html").read_text(encoding="utf-8")
    assert 'lang="ja"' in page and "フィードバック" in page and "http" not in page.replace("http-equiv", "")
    assert "gates_f_i_g_o" in (output / "summary.html").read_text(encoding="utf-8")
    again = subprocess.run([*command, "--again", "bo"], capture_output=True, text=True, timeout=300)
    assert "6 of 7 submissions are graded already" in again.stdout and rows(output) == points
    assert (output / "appeals" / "bo.json").exists()


def test_cache_files_with_old_names_are_found(tmp_path, no_gradebook):
    """Check results of an earlier batch, whose folder may be gone."""
    output, terms = tmp_path / "grades", [tmp_path / "first", tmp_path / "second"]
    put(terms[0], "Ada L", "lstm.ipynb", "")
    put(terms[1], "Ada L", "rnn.ipynb", "")
    write_results(output, terms[0], (), {"Ada L": half("Ada L")})
    for folder in ("done", "feedback"):
        (file,) = (output / folder).iterdir()
        file.rename(file.with_name(f"ada_l-0123abcd{file.suffix}"))
    write_results(output, terms[1], ("rnn",), {})
    assert rows(output)["Ada L", "gates"][0] == 1.5
    assert [file.stem for file in (output / "feedback").iterdir()] == [page_name("Ada L")]


@pytest.mark.heavy
def test_appeal_uses_the_same_probes_and_shows_them(tmp_path, grading_in_process):
    folder, output = tmp_path / "sent", tmp_path / "grades"
    put(folder, "ada", "lstm.ipynb", notebook({"gates": GATES.replace("sigmoid", "tanh")}))
    first = graded_of(folder, output).grade(1)["ada"]
    assert not list((output / "appeals").iterdir())
    same = graded_of(folder, output, again=["ada"]).grade(1)["ada"]
    assert same["seeds"] == first["seeds"]
    assert [verdict["paragraphs"] for verdict in same["verdicts"]] == [
        verdict["paragraphs"] for verdict in first["verdicts"]
    ]
    shown = json.loads((output / "appeals" / "ada.json").read_text())
    assert {"probe", "right", "given"} == set(shown["gates"]["probes"][0])
    assert shown["gates"]["probes"][0]["right"]["values"].keys() >= set("ifgo")
    new = graded_of(folder, output, again=["ada"], fresh=True).grade(1)["ada"]
    assert not set(new["seeds"].values()) & set(first["seeds"].values())
    page = (output / "feedback" / "ada.html").read_text(encoding="utf-8")
    assert not any(str(seed) in page for result in (first, new) for seed in result["seeds"].values())


@pytest.mark.heavy
def test_unknown_assignment_is_taken_as_that_of_most(tmp_path, grading_in_process):
    folder, output = tmp_path / "sent", tmp_path / "grades"
    put(folder, "ada", "lstm.ipynb", notebook({"gates": GATES}))
    put(folder, "bo", "notes.pdf", "%PDF")
    graded = Batch(folder, output, say=lambda text: None).grade(1)
    assert [verdict["mistakes"] for verdict in graded["bo"]["verdicts"]] == [["no_answer"]] * len(ASKED)
    assert len(rows(output)) == 2 * len(ASKED)


def write_results(output, folder, wanted, results, say=lambda text: None):
    """Write the reports of a batch whose submissions have these results."""
    batch = Batch(folder, output, wanted, say=say)
    for student, stored in results.items():
        batch.keep(student, stored)
    write_reports(output, batch.all_graded(), say)


def test_several_batches_in_one_output_folder(tmp_path, no_gradebook):
    output, terms = tmp_path / "grades", {name: tmp_path / name for name in ("first", "second")}
    for student in ("ada", "bo", "cy"):
        put(terms["first"], student, "lstm.ipynb", "")
    for student in ("ada", "cy"):
        put(terms["second"], student, "rnn.ipynb", "")
    rnn = result("ada", 0.5, "rnn", "rnn")
    write_results(output, terms["first"], (), {name: half(name) for name in ("ada", "bo", "cy")})
    write_results(output, terms["second"], (), {"ada": rnn, "cy": rnn | {"student": "cy"}})
    mistake = "gates_f_i_g_o"
    both = {
        ("ada", "gates"): (1.5, mistake), ("ada", "rnn"): (0.5, mistake), ("bo", "gates"): (1.5, mistake),
        ("cy", "gates"): (1.5, mistake), ("cy", "rnn"): (0.5, mistake),
    }  # fmt: skip
    assert rows(output) == both
    page = (output / "feedback" / "ada.html").read_text(encoding="utf-8")
    assert "lstm, rnn" in page and "2 of 4 points" in page
    # once more, another question right, and two have left
    shutil.rmtree(terms["first"] / "bo")
    shutil.rmtree(terms["first"] / "cy")
    write_results(output, terms["first"], (), {"ada": result("ada")})
    del both["bo", "gates"], both["cy", "gates"]
    assert rows(output) == both | {("ada", "gates"): (2, "")}
    # the same folder, another assignment
    write_results(output, terms["first"], ("rnn",), {"ada": rnn})
    assert rows(output) == both | {("ada", "gates"): (2, "")}


@linux
@pytest.mark.deep
def test_read_only_submissions_are_graded(tmp_path, own_mounts):
    folder, output = tmp_path / "sent", tmp_path / "grades"
    put(folder, "ada", "lstm.ipynb", notebook({"gates": "open('here', 'w').write('x')\n" + GATES}))
    shell = f"mount --bind {folder} {folder} && mount -o remount,ro,bind {folder} && ! touch {folder}/x && " \
            f"{sys.executable} {ROOT / 'assignments'} {folder} --output {output}"  # fmt: skip
    done = subprocess.run(["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", shell],
                          capture_output=True, text=True, timeout=120)  # fmt: skip
    assert done.returncode == 0 and "Read-only" in done.stderr, done.stderr
    assert rows(output)["ada", "gates"] == (2, "")


@pytest.mark.parametrize("more, says", [
    (["--again", "Nobody"], "no submission of Nobody"),
    (["--again", "grase"], "Is it one of these? grace"),
    (["--assignment", "lsmt"], "no assignment lsmt. Is it one of these? lstm"),
    (["--fresh"], "--fresh goes with --again"),
    (["--seconds", "0"], "--seconds"),
    (["--question", "lstm_sell"], "no question lstm_sell. Is it one of these? lstm_cell"),
    (["--question", "gates", "--again", "grace"], "ask for one of the two"),
])  # fmt: skip
def test_wrong_arguments_are_reported_before_grading(tmp_path, monkeypatch, capsys, more, says):
    for name in ("ada", "grace"):
        put(tmp_path / "sent", name, "lstm.ipynb", "")
    monkeypatch.setattr(sys, "argv", ["cli.py", str(tmp_path / "sent"), "--output", str(tmp_path / "grades"), *more])
    with pytest.raises(SystemExit):
        cli.main()
    assert says in capsys.readouterr().err and not (tmp_path / "grades").exists()
