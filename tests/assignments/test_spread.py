"""A batch in parts on several machines, and what joins them: nothing is lost, nothing is hidden."""

import signal
import subprocess
import sys
import time

import grade
import join
import keeping
import pages
import pytest
import spread
from batch import Batch
from grading import cell, linux, notebook, put, rows
from lstm_answers import GATES

from companion.check.question import all_questions

STUDENTS = ["ada", "bo", "cy", "dan", "eve", "김하늘", "fay", "gil"]


@pytest.fixture
def no_gradebook(monkeypatch):
    """nbgrader's takes seconds."""
    monkeypatch.setattr(pages, "gradebook", lambda *_: {})


def result(student, points=2.0, walls=("time", "network"), assignments=("lstm",)):
    verdict = {
        "assignment": "lstm", "question": "gates", "points": points, "most": 2, "stretch": False, "seconds": 0.1,
        "mistakes": [] if points else ["gates_f_i_g_o"], "paragraphs": [], "remarks": [], "walls": list(walls),
    }  # fmt: skip
    return {"student": student, "language": "en", "assignments": list(assignments), "remarks": [], "seeds": {},
            "verdicts": [verdict] * bool(assignments)}  # fmt: skip


def part(folder, output, number, count, of=result, left=(), ended=True):
    """Part of a batch, as if it were graded. left: students that it did not come to."""
    batch = Batch(folder, output, say=lambda text: None, part=(number, count))
    for student in batch.todo:
        if student not in left:
            batch.keep(student, of(student))
    todo = [*batch.todo]
    if ended:
        batch.todo.clear()
        batch.grade(1)
    batch.todo = todo
    return batch


@pytest.fixture
def folder(tmp_path):
    for student in STUDENTS:
        put(tmp_path / "sent", student, "lstm.ipynb", student)
    return tmp_path / "sent"


def joined(*folders, output=None):
    """Whether all is there and fits, and what was said."""
    said = []
    return join.join(folders, output or folders[0], said.append), "\n".join(said[:-1])


def test_every_student_is_in_one_part_and_stays_there():
    students = [f"student {number}" for number in range(200)] + STUDENTS
    for count in (1, 3, 16):
        shares = [[one for one in students if spread.is_in(one, (number, count))] for number in range(1, count + 1)]
        assert sorted(one for share in shares for one in share) == sorted(students) and all(shares)
    assert [one for one in STUDENTS if spread.is_in(one, (2, 3))] == ["bo", "dan", "김하늘", "gil"], "on every machine, for ever"
    assert spread.part_of("3/16") == (3, 16)
    for text in ("0/4", "5/4", "3", "a/b", "-1/4", "1/0", "３/"):
        with pytest.raises(ValueError):
            spread.part_of(text)


def test_parts_write_no_file_of_another(folder, tmp_path, no_gradebook):
    """Into one folder or each into its own, what comes of it is the same; and so it is when it is joined twice."""
    written = {}
    for number in (1, 2, 3):
        part(folder, tmp_path / f"own/{number}", number, 3)
        part(folder, tmp_path / "one", number, 3)
        made = {path.relative_to(tmp_path / f"own/{number}") for path in (tmp_path / f"own/{number}").rglob("*") if path.is_file()}
        assert not any(made & others for others in written.values())
        written[number] = made
    assert {path.name for path in (tmp_path / "one").iterdir()} == {"done", "feedback", "review", "appeals", "parts"}
    assert joined(tmp_path / "one") == (True, "")
    assert joined(*(tmp_path / "own").iterdir(), output=tmp_path / "all") == (True, "")
    for _ in range(2):
        everything = {
            output: {path.name: path.read_bytes() for path in output.rglob("*") if path.suffix in (".html", ".csv")}
            for output in (tmp_path / "one", tmp_path / "all")
        }
        assert everything[tmp_path / "one"] == everything[tmp_path / "all"]
        assert {student for student, _ in rows(tmp_path / "one")} == {*STUDENTS}
        assert joined(*(tmp_path / "own").iterdir(), output=tmp_path / "all") == (True, "")
    # and the command for all of them finds all of it graded
    assert Batch(folder, tmp_path / "one", say=print).todo == []


def test_what_is_missing_is_said(folder, tmp_path, no_gradebook):
    part(folder, tmp_path / "grades", 1, 3)
    part(folder, tmp_path / "grades", 2, 3, left=["dan"], ended=False)
    third = [one for one in STUDENTS if spread.is_in(one, (3, 3))]
    whole, said = joined(tmp_path / "grades")
    assert not whole and "Part 2/3" in said and "has not come to its end" in said and "Part 3/3" in said
    assert f"{len(third) + 1} of {len(STUDENTS)} submissions are not graded yet" in said
    assert all(one in said for one in ["dan", *third])
    assert "not graded yet" in (tmp_path / "grades/summary.html").read_text(encoding="utf-8")
    # it is run again, and goes on where it was
    assert part(folder, tmp_path / "grades", 2, 3).todo == ["dan"]
    part(folder, tmp_path / "grades", 3, 3)
    assert joined(tmp_path / "grades") == (True, "")
    assert "not graded yet" not in (tmp_path / "grades/summary.html").read_text(encoding="utf-8")


def test_another_version_of_the_grader_is_said(folder, tmp_path, no_gradebook, monkeypatch):
    part(folder, tmp_path / "grades", 1, 2)
    ours = keeping.sources()
    monkeypatch.setattr(keeping, "sources", lambda: "0ther" + "0" * 59)
    part(folder, tmp_path / "grades", 2, 2)
    whole, said = joined(tmp_path / "grades")
    assert not whole and f"{ours[:8]}: " in said and "0ther000: " in said and "same version" in said
    assert "0ther000" in (tmp_path / "grades/summary.html").read_text(encoding="utf-8")
    # the first once more, with the other
    part(folder, tmp_path / "grades", 1, 2)
    assert joined(tmp_path / "grades") == (True, "")


def test_a_student_in_two_folders(folder, tmp_path, no_gradebook):
    """Of one submission the first grades stay, and of two the later folder's; a whole one counts before a broken one."""
    own = [tmp_path / name for name in ("a", "b", "c")]
    part(folder, own[0], 1, 1, of=lambda student: result(student, 2.0))
    part(folder, own[1], 1, 1, of=lambda student: result(student, 0.0))
    whole, said = joined(*own[:2], output=tmp_path / "all")
    assert whole and f"ada was graded in {own[0]} and in {own[1]}, with other points: that in {own[0]} counts." in said
    assert rows(tmp_path / "all")["ada", "gates"][0] == 2
    put(folder, "ada", "lstm.ipynb", "handed in again")
    part(folder, own[2], 1, 1, of=lambda student: result(student, 1.0))
    assert f"that in {own[2]} counts" in joined(own[0], own[2], output=tmp_path / "more")[1]
    assert rows(tmp_path / "more")["ada", "gates"][0] == 1 and rows(tmp_path / "more")["bo", "gates"][0] == 2
    # what was graded again in the folder for all is not undone by what a part had given
    batch = Batch(folder, tmp_path / "more", say=lambda text: None, again=["bo"])
    batch.keep("bo", result("bo", 1.5))
    joined(own[0], own[2], output=tmp_path / "more")
    assert rows(tmp_path / "more")["bo", "gates"][0] == 1.5


def test_what_a_part_cannot_tell_is_what_most_sent_in_all(folder, tmp_path, no_gradebook):
    """In its own part there may be nobody else."""
    unclear = "dan"
    for number in range(1, 9):
        batch = Batch(folder, tmp_path / "grades", say=lambda text: None, part=(number, 8))
        for student in batch.todo:
            batch.take(student, result(student, assignments=() if student == unclear else ("lstm",)), True)
        batch.note(ended=True)
    assert joined(tmp_path / "grades") == (True, "")
    asked = [name for name, one in all_questions().items() if one.assignment == "lstm"]
    assert [rows(tmp_path / "grades")[unclear, name] for name in asked] == [(0, "no_answer")] * len(asked)
    # also where the whole batch goes on in that folder
    batch = Batch(folder, tmp_path / "grades", say=lambda text: None)
    assert batch.todo == [] and [*batch.untold] == [unclear]
    batch.grade(1)
    assert rows(tmp_path / "grades")[unclear, "gates"] == (0, "no_answer")


def test_who_hands_in_between_two_parts_is_not_forgotten(folder, tmp_path, no_gradebook):
    part(folder, tmp_path / "grades", 1, 2)
    late = next(name for name in ("zoe", "yan", "xi", "will") if spread.is_in(name, (1, 2)))
    put(folder, late, "lstm.ipynb", "")
    part(folder, tmp_path / "grades", 2, 2)
    whole, said = joined(tmp_path / "grades")
    assert not whole and f"1 of {len(STUDENTS) + 1} submissions are not graded yet: {late}" in said
    assert f"Part 1/2 has not seen {late}" in said
    part(folder, tmp_path / "grades", 1, 2)
    assert joined(tmp_path / "grades") == (True, "")


def test_a_wall_that_is_missing_on_one_machine_is_not_said_to_hold(folder, tmp_path, no_gradebook):
    part(folder, tmp_path / "grades", 1, 2)
    part(folder, tmp_path / "grades", 2, 2, of=lambda student: result(student, walls=["time"]))
    joined(tmp_path / "grades")
    page = (tmp_path / "grades/summary.html").read_text(encoding="utf-8")
    held, _, missing = page.partition("What did not hold")
    assert "a limit on time" in held and "no network" not in held and "no network" in missing


@pytest.mark.parametrize("damage", ["", "{", "[]", '{"batch": 3}', '{"batch": "../../x", "part": 1}'])
def test_a_damaged_word_of_a_part_is_passed_over(folder, tmp_path, no_gradebook, damage):
    part(folder, tmp_path / "grades", 1, 1)
    (tmp_path / "grades/parts/0-1-of-1.json").write_text(damage)
    assert joined(tmp_path / "grades") == (True, "")


@linux
@pytest.mark.heavy
def test_parts_at_once_one_of_them_killed_and_run_again(tmp_path):
    """On this machine's processes, as on a cluster's: two at once, a third that is ended in its midst."""
    output, folder = tmp_path / "grades", tmp_path / "sent"
    for number in range(9):
        said = notebook({"gates": GATES if number % 3 else GATES.replace("tanh", "cosh")})
        said["cells"].append(cell(f"# {number}"))
        put(folder, f"s{number}", "lstm.ipynb", said)
    command = [sys.executable, grade.__file__, str(folder), "--output", str(output), "--workers", "1", "--assignment", "lstm", "--part"]
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
    shares = {number: [f"s{one}" for one in range(9) if spread.is_in(f"s{one}", (number, 3))] for number in (1, 2, 3)}
    largest, *others = sorted(shares, key=lambda number: -len(shares[number]))
    killed = subprocess.Popen([*command, f"{largest}/3"], **streams)
    begin = time.monotonic()
    while not list((output / "done").glob("*.json") if output.is_dir() else ()):
        assert killed.poll() is None and time.monotonic() - begin < 120
        time.sleep(0.02)
    killed.send_signal(signal.SIGKILL)
    killed.communicate(timeout=60)
    before = {path.name: path.stat().st_mtime_ns for path in (output / "done").glob("*.json")}
    assert 0 < len(before) < len(shares[largest])
    running = [subprocess.Popen([*command, f"{number}/3"], **streams) for number in others]
    said = [one.communicate(timeout=300)[0] for one in running]
    assert [one.returncode for one in running] == [0, 0], said
    joining = [sys.executable, join.__file__, str(output)]
    halfway = subprocess.run(joining, capture_output=True, text=True)
    assert halfway.returncode == 1 and f"Part {largest}/3 of {folder} has not come to its end" in halfway.stdout
    again = subprocess.run([*command, f"{largest}/3"], capture_output=True, text=True)
    assert again.returncode == 0 and f"{len(before)} of {len(shares[largest])} submissions are graded already" in again.stdout
    assert all((output / "done" / name).stat().st_mtime_ns == time for name, time in before.items())
    done = subprocess.run(joining, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    points = {student: rows(output)[student, "gates"][0] for student in (f"s{number}" for number in range(9))}
    assert points == {f"s{number}": 2 * bool(number % 3) for number in range(9)}
    assert len(list((output / "feedback").iterdir())) == 9 and (output / "summary.html").is_file()
    assert not list(output.rglob("*.part"))
