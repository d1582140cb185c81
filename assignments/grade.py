"""From a folder of submissions to grades: python assignments/grade.py SUBMISSIONS --output grades/

SUBMISSIONS holds a folder or a notebook for each student, named as the student. What is written:

    grades/grades.csv          student, question, points, mistake
    grades/gradebook.db        nbgrader's gradebook
    grades/summary.html        for the instructor
    grades/feedback/*.html     a page for each student, in the language of the assignment
    grades/done/*.json         what is graded so far: an interrupted batch continues with the next submission
"""

import argparse
import hashlib
import json
import os
import re
import sys
import time
import traceback
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from dataclasses import asdict
from multiprocessing import get_context
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

import pages  # noqa: E402  (its folder is on the path only now)
import reading  # noqa: E402

VERSION = 1  # of what is stored of a submission


# One submission, in one of the grading processes


class Grader:
    """One of the processes that grade. It holds the truth and the marks, and a worker for students' code."""

    worker = None
    seeds = {}

    @classmethod
    def begin(cls, hidden, seeds):
        import signal

        import torch

        import asking

        signal.signal(signal.SIGINT, signal.SIG_IGN)  # a Ctrl-C is the main process's to take
        if sys.platform == "linux":
            import ctypes

            ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # who ends the main process, ends this one
        torch.set_num_threads(1)
        cls.worker, cls.seeds = asking.Worker(hidden), seeds

    @classmethod
    def grade(cls, student, path, wanted, fallback, language, limits):
        import asking

        begin = time.monotonic()
        sent = reading.submission(student, path, wanted)
        assignments = list(wanted) or sent.assignments or list(fallback)
        if not sent.answers:
            sent.remarks.append(("no_assignment", ""))
        spoken = language or sent.language
        verdicts = []
        for question, asked in reading.all_questions().items():
            if asked.assignment not in assignments:
                continue
            said = pages.words(spoken)
            try:
                verdict = asking.grade(
                    cls.worker, question, sent.answers.get(question), cls.seeds[question], spoken, said, limits
                )
            except Exception:  # whatever it is, the other questions are graded
                traceback.print_exc()
                blank = asking.Verdict(question, 0.0, asked.points, [], [], stretch=asked.stretch)
                verdict = asking.failed(blank, "not_graded", said)
            verdicts.append(asdict(verdict) | {"assignment": asked.assignment})
        return {
            "student": student, "language": spoken, "assignments": assignments, "remarks": sent.remarks,
            "verdicts": verdicts, "seconds": time.monotonic() - begin,
        }  # fmt: skip


def grade_one(*arguments):
    return Grader.grade(*arguments)


# The batch


def digest(path, wanted, limits):
    """Of all that decides a grade: the files, and what was asked for."""
    found = hashlib.sha256(json.dumps([VERSION, list(wanted), limits]).encode())
    for file in reading.files(path):
        try:
            found.update(file.name.encode("utf-8", "surrogateescape"))
            with open(file, "rb") as opened:
                while piece := opened.read(2**20):
                    found.update(piece)
        except OSError:
            found.update(b"unreadable")
    return found.hexdigest()


def page_name(student):
    """A file's name that is no one else's, whatever the student's is made of."""
    plain = re.sub(r"[^\w.-]", "_", student, flags=re.ASCII).strip(".")[:60]
    mark = "" if plain == student else "-" + hashlib.sha256(student.encode("utf-8", "replace")).hexdigest()[:8]
    return f"{plain}{mark}"


def store(path, text):
    """Writes a file whole or not at all."""
    part = path.with_name(path.name + ".part")
    part.write_text(text, encoding="utf-8", errors="replace")
    os.replace(part, path)


def lost(student, wanted, fallback, language):
    """What is stored of a submission with which the grader itself did not come to an end."""
    assignments = list(wanted) or list(fallback)
    said = pages.words(language or "en")
    verdicts = []
    for question, asked in reading.all_questions().items():
        if asked.assignment in assignments:
            entry = said["mistakes"]["not_graded"]
            verdicts.append({
                "question": question, "points": 0.0, "most": asked.points, "mistakes": ["not_graded"],
                "paragraphs": [f"**{entry['says']}** {entry['advice']}"], "seconds": 0.0, "stretch": asked.stretch,
                "remarks": [], "walls": [], "assignment": asked.assignment,
            })  # fmt: skip
    return {
        "student": student, "language": language or "en", "assignments": assignments,
        "remarks": [("grader_stopped", "")], "verdicts": verdicts, "seconds": 0.0,
    }  # fmt: skip


def batch(folder, output, wanted=(), language=None, workers=None, again=(), limits=None, say=print):
    """Grades all submissions in a folder. Returns what was graded, by student. again: students to be graded anew."""
    import asking

    limits = asking.LIMITS | (limits or {})
    folder, output = Path(folder), Path(output)
    done_in = output / "done"
    for one in (done_in, output / "feedback"):
        one.mkdir(parents=True, exist_ok=True)
    os.chmod(output, 0o700)  # other students may have accounts here
    found = reading.students(folder)
    found = {name: path for name, path in found.items() if path.resolve() != output.resolve()}
    digests = {student: digest(path, wanted, limits) for student, path in found.items()}
    graded, todo = {}, []
    for student in found:
        try:
            stored = json.loads((done_in / f"{page_name(student)}.json").read_text(encoding="utf-8"))
            if stored["digest"] == digests[student] and student not in again and stored["complete"]:
                graded[student] = stored["graded"]
                continue
        except (OSError, ValueError, KeyError):
            pass
        todo.append(student)
    if graded:
        say(f"{len(graded)} of {len(found)} submissions are graded already.")
    fallback = usual(found) if not wanted else ()
    seeds = {question: asking.fresh_seed() for question in reading.all_questions()}
    hidden = [str(folder.resolve()), str(output.resolve()), str(HERE)]

    def keep(student, result, complete=True):
        result = json.loads(json.dumps(result))
        graded[student] = result
        name = page_name(student)
        store(output / "feedback" / f"{name}.html", pages.feedback(result))
        stored = {"digest": digests[student], "complete": complete, "graded": result}
        store(done_in / f"{name}.json", json.dumps(stored, ensure_ascii=False))
        points = " ".join(f"{one['question']} {one['points']:g}/{one['most']}" for one in result["verdicts"])
        say(f"[{len(graded)}/{len(found)}] {student}: {points}")

    workers = max(1, min(workers or os.cpu_count() or 1, len(todo) or 1))
    rounds = [todo]
    try:
        while rounds:
            group = rounds.pop(0)
            left = run(group, found, (wanted, fallback, language, limits), workers, (hidden, seeds), keep)
            if left and len(left) == len(group) == 1:
                keep(left[0], lost(left[0], wanted, fallback, language), complete=False)
            elif left:  # one of these ended the grader: which, is seen when each is alone
                rounds += [[student] for student in left]
    finally:
        write(output, [graded[student] for student in found if student in graded], say)
    return graded


def run(group, found, arguments, workers, begin, keep):
    """Grades a group of students, and returns those that are left when a grading process was ended."""
    if not group:
        return []
    left = set(group)
    pool = ProcessPoolExecutor(min(workers, len(group)), get_context("spawn"), Grader.begin, begin)
    try:
        jobs = {pool.submit(grade_one, student, found[student], *arguments): student for student in group}
        for job in as_completed(jobs):
            student = jobs[job]
            try:
                result = job.result()
            except BrokenProcessPool:
                continue
            except Exception:
                traceback.print_exc()
                wanted, fallback, language, _ = arguments
                result = lost(student, wanted, fallback, language)
            left.discard(student)
            keep(student, result)
        return [student for student in group if student in left]
    finally:
        pool.shutdown(cancel_futures=True)


def usual(found):
    """The assignment of most submissions: a submission in which none can be told is one to this."""
    votes = {}
    for student, path in list(found.items())[:40]:
        for name in reading.submission(student, path).assignments:
            votes[name] = votes.get(name, 0) + 1
    return (max(votes, key=votes.get),) if votes else ()


def write(output, all_graded, say):
    """What is made of all submissions together."""
    names = {one["student"]: f"{page_name(one['student'])}.html" for one in all_graded}
    held = {wall for one in all_graded for verdict in one["verdicts"] for wall in verdict["walls"]}
    store(output / "summary.html", pages.summary(all_graded, abilities(held), names))
    store(output / "grades.csv", pages.grades_csv(all_graded))
    book = output / "gradebook.db"
    try:
        if not pages.gradebook(book.resolve(), all_graded):
            say("nbgrader is not installed: there is no gradebook.db. Everything else is written.")
    except Exception as error:  # another version's, or one that is open elsewhere; what else there is counts
        say(f"nbgrader's gradebook was not written: {type(error).__name__}: {error}")


def abilities(held):
    """What separated students' code from the rest here, and what did not."""
    said = pages.words("en")["walls"]
    there = [said[wall] for wall in said if wall in held]
    missing = [said[wall] for wall in said if wall not in held]
    text = f"Students' code ran with: {'; '.join(there)}." if there else ""
    if missing:
        text += f" This system did not give: {'; '.join(missing)}. Grade in a container or a virtual machine."
    return text


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("submissions", help="the folder with a folder or a notebook for each student")
    parser.add_argument("--output", default="grades", help="where grades and feedback go (grades/)")
    parser.add_argument("--assignment", action="append", default=[], help="grade this assignment only; may be repeated")
    parser.add_argument("--lang", help="the language of all feedback; without it that of each notebook")
    parser.add_argument("--workers", type=int, help="how many submissions at a time; without it one for each processor")
    parser.add_argument("--again", action="append", default=[], metavar="STUDENT", help="grade this student anew")
    parser.add_argument("--seconds", type=int, help="processor seconds for a question")
    arguments = parser.parse_args()
    if not os.path.isdir(arguments.submissions):
        parser.error(f"there is no folder {arguments.submissions}")
    limits = {"seconds": arguments.seconds, "wall": 3 * arguments.seconds} if arguments.seconds else {}
    begin = time.monotonic()
    try:
        graded = batch(
            arguments.submissions, arguments.output, tuple(arguments.assignment), arguments.lang, arguments.workers,
            arguments.again, limits,
        )  # fmt: skip
    except KeyboardInterrupt:
        sys.exit("Interrupted. The same command continues.")
    held = {wall for one in graded.values() for verdict in one["verdicts"] for wall in verdict["walls"]}
    print(abilities(held))
    print(f"{len(graded)} submissions in {time.monotonic() - begin:.0f} s: {arguments.output}/summary.html")


if __name__ == "__main__":
    main()
