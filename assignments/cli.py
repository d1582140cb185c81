"""Command line of the grader."""

import argparse
import signal
import sys
import time
from contextlib import ExitStack
from pathlib import Path

from assignments.batch import Batch
from assignments.dry_run import known_assignments, print_dry_run
from assignments.grade import cache
from assignments.grade.judge import time_limits
from assignments.lms import comments as comments_file
from assignments.lms.course import from_arguments
from assignments.own import stored
from assignments.read import class_zip, folders
from assignments.read.archives import is_archive
from assignments.read.names import match_names, page_name
from assignments.report import all_reports, comments
from assignments.submission import on_termination
from companion.check.engine import messages
from companion.check.engine.question import all_questions

DESCRIPTION = """From submissions to grades: python -m assignments SUBMISSIONS --output grades/

SUBMISSIONS is the zip file that Canvas or Moodle hands out, a tar file of the same form, or a folder: of such files, or
with a folder or a notebook for each student, named as the student. What is written:

    grades/grades.csv          student, question, points, mistake
    grades/gradebook.db        nbgrader's gradebook
    grades/summary.html        for the instructor
    grades/feedback/*.html     a page for each student, in the language of the assignment
    grades/review/*.html       the same for the instructor, with the student's code
    grades/questions.html      with --own-code: for the instructor, questions about each student's own code, with
                               answers
    grades/sheets.html         the same without answers, to be printed and handed out
    grades/appeals.html        for the instructor: those graded --again
    grades/changes.html        for the instructor, and .csv: whose points changed since the same files were graded
                               before
    grades/similar.html        for the instructor, with --similar: pairs of submissions that are alike
    grades/done/*.json         what is graded so far: an interrupted batch continues with the next submission
    grades/batches.json        the students of each batch
    grades/appeals/*.json      of those graded --again: every probe, what is right on it, and what the answer gave,
                               which their pages in review/ show
    grades/canvas.csv          with --roster: the class list as it came, and the grades filled in
    grades/moodle.csv          the same for Moodle, and with it
    grades/moodle_feedback.zip the students' pages as Moodle takes them
    grades/term.json           with --dates: when each submission was sent
    grades/comments.json       comments by hand, and which answers they are about
    grades/questions/          with --questions: the files of your own questions, as they were graded

Several batches, of one assignment each, may go to one output folder: the latest that graded an assignment counts.
A score or a comment that was given by hand in the gradebook stays, and all pages show it, however often the batch is
run; so do comments of --comments, until another file is given.
--again STUDENT repeats a grading with the probes that it was done with; with --fresh it draws new ones.
--question NAME does so for one question of all students, and leaves everything else as it is stored.
--dry-run grades nothing and writes nothing: it says which assignment each submission is of, which files are odd, with
--roster who is missing, and about how long grading takes.
"""
MAX_PRINTED = 20  # entries with something odd


def positive(text):
    """Parse a positive integer."""
    if (number := int(text)) < 1:
        raise ValueError
    return number


def interrupt(*_):
    """Raise KeyboardInterrupt, and ignore further signals while results are written."""
    on_termination(signal.SIG_IGN)
    raise KeyboardInterrupt


def list_submissions(source, at_end):
    """Return the `Submissions` of a folder, a zip or a tar file; print what is odd about archives.

    Raise ValueError if there are none. at_end: an ExitStack, by which temporary folders are deleted.
    """
    if source.is_file() and not is_archive(source):
        raise ValueError(
            f"{source} is no zip or tar file, or is damaged or cut off. Give the zip file that Canvas or Moodle hands"
            " out, or a folder that holds a folder or a notebook for each student."
        )
    if not source.exists():
        raise ValueError(f"there is no file or folder {source}")
    listed = class_zip.submissions(source, at_end)
    if not listed.paths:
        held = f"only links and hidden entries ({', '.join(listed.skipped[:20])})" if listed.skipped else "nothing"
        raise ValueError(
            f"{source} holds no submissions: {held}. It should hold a folder or a notebook for each student."
        )
    of_classes = {
        path.name: students for path in listed.paths.values() if (students := folders.students_in_archive(path))
    }
    for name, students in of_classes.items():
        print(f"{name} holds the files of {len(students)} students ({', '.join(students[:3])}, …) and is not graded.")
    if len(of_classes) == len(listed.paths):
        raise ValueError("Unzip the archive, and give the folder with what was in it.")
    return listed


def print_oddities(listed):
    """Print the entries that are not looked at, and what is odd about the entries of archives."""
    if listed.skipped:
        print(
            "Not looked at, as links are not followed and hidden entries are nobody's:"
            f" {', '.join(listed.skipped[:MAX_PRINTED])}"
        )
    for archive, entry, reason in listed.odd[:MAX_PRINTED]:
        print(f"{': '.join(filter(None, (archive, entry)))} {reason}.")
    if len(listed.odd) > MAX_PRINTED:
        print(f"… and {len(listed.odd) - MAX_PRINTED} more.")


def main():
    parser = argparse.ArgumentParser(description=DESCRIPTION, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "submissions",
        help="the zip file from Canvas or Moodle, a folder of them, or a folder with a folder or a notebook for each"
        " student",
    )
    parser.add_argument("--output", default="grades", help="where grades and feedback go (grades/)")
    parser.add_argument("--assignment", action="append", default=[], help="grade this assignment only; may be repeated")
    parser.add_argument("--lang", help="the language of all feedback; without it that of each notebook")
    parser.add_argument(
        "--workers", type=positive, help="how many submissions at a time; without it one for each processor"
    )
    parser.add_argument("--again", action="append", default=[], metavar="STUDENT", help="grade this student anew")
    parser.add_argument(
        "--question",
        action="append",
        default=[],
        help="grade this question anew for all, and no other; may be repeated",
    )
    parser.add_argument(
        "--questions", action="append", default=[], metavar="FOLDER", help="your own questions; may be repeated"
    )
    parser.add_argument("--fresh", action="store_true", help="with --again or --question: draw new probes")
    parser.add_argument("--variants", action="store_true", help="hold each student to the variants of their own name")
    parser.add_argument("--roster", metavar="CSV", help="the class list, as Canvas or Moodle exports it")
    parser.add_argument(
        "--column", action="append", default=[], metavar="[ASSIGNMENT=]NAME", help="the class list's column for grades"
    )
    parser.add_argument("--dates", metavar="TOML", help="due dates, what being late costs, and extensions")
    parser.add_argument(
        "--comments", metavar="CSV", help="the instructor's comments on answers: student, question, comment"
    )
    parser.add_argument("--similar", action="store_true", help="look for pairs of submissions that are alike")
    parser.add_argument(
        "--seconds",
        type=positive,
        help="processor seconds for a question, and three times as many by the clock; without it at least 10, and as "
        "many more as this machine is slower",
    )
    parser.add_argument(
        "--own-code", action="store_true", help="ask about each right answer what a change to it would do"
    )
    parser.add_argument(
        "--dry-run", action="store_true", help="grade and write nothing: say what was sent, and who is missing"
    )
    arguments = parser.parse_args()
    if arguments.fresh and not arguments.again + arguments.question:
        parser.error("--fresh goes with --again STUDENT or --question NAME")
    if arguments.again and arguments.question:
        parser.error("--again grades all of a student, --question one question of all: ask for one of the two")
    sys.stdout.reconfigure(errors="backslashreplace")  # names may have letters that the terminal lacks
    on_termination(interrupt)
    try:
        with ExitStack() as at_end:
            run(parser, arguments, at_end)
    except KeyboardInterrupt:
        sys.exit("Interrupted. The same command continues.")


def read_comments(arguments, course):
    """Return the comments in the file that --comments names."""
    earlier = {student for roster in cache.read_rosters(Path(arguments.output)).values() for student in roster}
    by_hand = comments_file.read(
        arguments.comments, course, sorted(earlier), lambda entries: known_assignments(entries, course.paths, arguments)
    )
    print(f"{arguments.comments}: {len(by_hand)} comment{'s' * (len(by_hand) != 1)}")
    return by_hand


def run(parser, arguments, at_end):
    """Grade as the command's arguments say. at_end: an ExitStack, by which temporary folders are deleted."""
    try:  # before anything is graded or written
        own = stored.use(arguments.questions, arguments.output)
    except (ValueError, OSError) as error:  # in a file of questions: the command's usage would hide it
        parser.exit(2, f"{error}\n")
    try:
        listed = list_submissions(Path(arguments.submissions), at_end)
        again = match_names(arguments.again, listed.paths, "submission of")
        match_names(arguments.question, all_questions(), "question")
        match_names(
            arguments.assignment, {question.assignment: None for question in all_questions().values()}, "assignment"
        )
        course = from_arguments(arguments, listed.paths)
        by_hand = read_comments(arguments, course) if arguments.comments else []
    except (ValueError, OSError) as error:
        parser.error(error)
    for line in messages.untranslated_notice(arguments.lang or "en"):
        print(line)
    print_oddities(listed)
    limits = time_limits(arguments.seconds) if arguments.seconds else {}
    limits |= {"own_code": True} if arguments.own_code else {}
    begin = time.monotonic()
    try:
        if not arguments.dry_run:
            stored.store(own, arguments.output)
        batch = Batch(
            arguments.submissions, arguments.output, arguments.assignment, arguments.lang, limits, again,
            arguments.fresh,
            arguments.variants, course=course, questions=arguments.question, similar=arguments.similar,
            listed=listed, dry=arguments.dry_run,
        )  # fmt: skip
        if arguments.dry_run:
            return print_dry_run(batch, course, arguments)
        if arguments.comments:
            comments.store(arguments.output, arguments.comments, by_hand)
        graded = batch.grade(arguments.workers)
    except OSError as error:
        sys.exit(f"{error}. What was graded until here is kept: the same command continues.")
    if protections := all_reports.describe_protections(all_reports.common_protections(graded.values())):
        print(protections)
    print(f"{len(graded)} submissions in {time.monotonic() - begin:.0f} s: {arguments.output}/summary.html")
    for student in again:
        print(f"{student}: {arguments.output}/review/{page_name(student)}.html")
    if course and course.failed:
        sys.exit(course.failed)
