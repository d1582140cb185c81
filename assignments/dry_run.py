"""Say before grading what was sent and who is missing, and about how long grading takes. Nothing is written."""

import contextlib
import os
import signal
from collections import deque
from multiprocessing.connection import wait
from pathlib import Path

from assignments.batch import PATIENCE
from assignments.grade import cache
from assignments.grade.calibration import Calibration
from assignments.lms import summary_sections, upload
from assignments.own import stored
from assignments.read import answers
from assignments.read.names import page_name
from assignments.report import pages
from assignments.sandbox import pool
from assignments.sandbox.isolation import end_with_parent
from assignments.sandbox.limits import limit_own_memory
from assignments.submission import MEMORY, GradingProcess, on_termination
from companion.check.engine.question import all_questions

# Seconds that a process needs for a submission, on the machine of grade/calibration.py. Right answers to the other
# assignments take half of USUAL_SECONDS, wrong ones are run again.
SECONDS, USUAL_SECONDS = {"language_model": 10}, 1
START = 8  # of a batch's first and last steps
OWN_CODE = 2.5  # times as long with --own-code
UNREADABLE = [("grader_stopped", "")]
STATES = {
    "new": "new",
    "changed": "changed since they were graded",
    "again": "graded before, and graded again as you ask, or as an option or the grader has changed",
    "unchanged": "graded already, and unchanged",
}


def serve(connection, wanted):
    """Run a process that reads submissions: it may end by one of them, as a grading process may."""
    on_termination(signal.SIG_IGN)
    stored.use_environment()
    end_with_parent()
    limit_own_memory(MEMORY)
    with contextlib.suppress(EOFError):  # the main process is gone
        while True:
            connection.send(read(*connection.recv(), wanted))


class ReadingProcess(GradingProcess):
    """A process that reads submissions, seen from the main process."""

    serve = staticmethod(serve)


def read(student, path, wanted):
    """Return a submission as a result of which no question was judged."""
    sent = answers.read_submission(student, path, wanted)
    remarks = sent.remarks + ([] if sent.answers else [("no_assignment", "")])
    return {
        "student": student, "assignments": list(wanted) or sent.assignments, "language": sent.language,
        "remarks": remarks, "verdicts": [],
    }  # fmt: skip


def read_all(paths, wanted, workers):
    """Return {student: result} of submissions that are read by several processes."""
    waiting, idle, jobs, results = deque(paths.items()), [], {}, {}
    try:
        while waiting or jobs:
            while waiting and len(jobs) < workers:
                process = idle.pop() if idle else ReadingProcess(tuple(wanted))
                jobs[process.connection] = waiting[0][0], process
                process.send(*waiting.popleft())
            ready = wait([*jobs], PATIENCE)
            for connection in ready or [*jobs]:
                student, process = jobs.pop(connection)
                results[student] = process.receive() if ready else None
                if results[student]:
                    idle.append(process)
                else:
                    process.close()
    finally:
        for process in [*idle, *(process for _, process in jobs.values())]:
            process.close()
    unread = {"assignments": list(wanted), "language": "en", "remarks": UNREADABLE, "verdicts": []}
    return {student: results[student] or unread | {"student": student} for student in paths}


def worker_count(arguments, jobs):
    """Return how many processes the command uses for some jobs."""
    return max(1, min(arguments.workers or os.cpu_count() or 1, jobs))


def known_assignments(students, paths, arguments):
    """Return {student: assignments}: of what is stored, and of submissions that are new or have changed."""
    known, unread = {}, {}
    for student in sorted(students):
        file = Path(arguments.output) / "done" / f"{page_name(student)}.json"
        entries = [entry for entry in cache.read_entries(file).values() if entry["graded"]["student"] == student]
        known[student] = [name for entry in entries for name in entry["graded"]["assignments"]]
        path = paths.get(student)
        if path and cache.hash_files(path) not in [entry.get("files") for entry in entries]:
            unread[student] = path
    workers = worker_count(arguments, len(unread))
    for student, result in read_all(unread, arguments.assignment, workers).items():
        known[student] += result["assignments"]
    return {student: [*dict.fromkeys(names)] for student, names in known.items()}


def print_dry_run(batch, course, arguments):
    """Print what grading would find. batch: a `Batch` that is dry. course: class list and due dates, or None."""
    workers = worker_count(arguments, len(batch.submissions))
    results = read_all(batch.submissions, arguments.assignment, workers)
    print(f"{len(results)} submission{'s' * (len(results) != 1)}")
    usual = cache.most_common_assignment(results.values())
    for assignment in dict.fromkeys(question.assignment for question in all_questions().values()):
        students = [student for student, result in results.items() if assignment in result["assignments"]]
        if students:
            print(f"{assignment}, {len(students)}: {', '.join(students)}")
    if unknown := [student for student, result in results.items() if not result["assignments"]]:
        print(f"counted as {' and '.join(usual) or 'nothing'}, {len(unknown)}: {', '.join(unknown)}")
    print_states(batch)
    print_odd_files(results)
    if course and course.roster:
        print_class_list(course, results, usual)
    else:
        print("Who is missing, only the class list tells: --roster CSV, or ROSTER=class.csv with make.")
    print_estimate(batch, results, usual, arguments)


def print_states(batch):
    """Print which submissions are graded already, which have changed since, and which are new."""
    students_of = {}
    for student in batch.submissions:
        students_of.setdefault(batch.state(student), []).append(student)
    if [*students_of] == ["new"]:
        print("None of them is graded yet.")
        return
    for state, text in STATES.items():
        if students := students_of.get(state):
            print(f"{text}, {len(students)}: {', '.join(students)}")


def print_estimate(batch, results, usual, arguments):
    """Print about how long grading takes what is left. usual: the assignments that count where no answer tells."""
    if not batch.todo:
        print("Nothing is left to grade. Nothing was written.")
        return
    workers = worker_count(arguments, len(batch.todo))
    shares = {}
    for student in batch.todo:
        names = results[student]["assignments"] or usual
        for name in names:
            asked = [question.name for question in all_questions().values() if question.assignment == name]
            left = [question for question in asked if question not in batch.parts.get(student, ())]
            shares[name] = shares.get(name, 0) + len(left) / len(asked)
    seconds = estimate(shares, workers, arguments.own_code)
    length = f"{seconds / 60:.0f} minutes" if seconds >= 90 else "a minute" if seconds >= 45 else "half a minute"
    number = "one process" if workers == 1 else f"{workers} processes"
    if len(batch.todo) < len(results):
        print(f"{len(batch.todo)} of {len(results)} submissions are left to grade.")
    print(f"Grading takes about {length} with {number}. Nothing was written.")


def print_odd_files(results):
    """Print what the grader would remark about files."""
    words = pages.words("en")["remarks"]
    for student, result in results.items():
        for key, file in result["remarks"]:
            print(f"{': '.join(filter(None, (student, file)))}: {words[key]}")


def print_class_list(course, results, usual):
    """Print what the class list tells about the submissions, as grading does."""
    counted = [result | {"assignments": result["assignments"] or list(usual)} for result in results.values()]
    course.find_targets({result["student"]: result for result in counted})
    certain = sum(len(course.students_of(student)) == 1 for student in results)
    words = pages.words("en")["roster"]
    print(words["matched"].format(count=certain, all=len(results), students=len(course.roster.students)))
    for line in summary_sections.lines(course, counted):
        print(line)
    try:
        if upload.grade_columns(course.roster):
            course.grade_columns(course.targets)
    except ValueError as error:
        print(error)


def estimate(shares, workers, own_code):
    """Return about how many seconds this machine takes. shares: {assignment: submissions, or parts of them}."""
    worker, calibration = pool.Worker(), Calibration()
    with contextlib.suppress(RuntimeError, OSError):  # it does not start: as fast as the machine of the measure
        calibration.measure(worker)
    worker.close()
    seconds = sum(count * SECONDS.get(name, USUAL_SECONDS) for name, count in shares.items())
    return calibration.clock * (seconds * (OWN_CODE if own_code else 1) / workers + START)
