"""From a folder of submissions to grades: python assignments/grade.py SUBMISSIONS --output grades/

SUBMISSIONS holds a folder or a notebook for each student, named as the student. What is written:

    grades/grades.csv          student, question, points, mistake
    grades/gradebook.db        nbgrader's gradebook
    grades/summary.html        for the instructor
    grades/feedback/*.html     a page for each student, in the language of the assignment
    grades/done/*.json         what is graded so far: an interrupted batch continues with the next submission
    grades/batches.json        the students of each batch
    grades/appeals/*.json      of those graded --again: every probe, what is right on it, and what the answer gave

Several batches, of one assignment each, may go to one output folder: the latest that graded an assignment counts.
A score that was given by hand in the gradebook stays, and all pages show it, however often the batch is run.
--again STUDENT repeats a grading with the probes that it was done with; with --fresh it draws new ones.
"""

import argparse
import hashlib
import json
import os
import re
import signal
import sys
import time
import traceback
from collections import Counter, deque
from concurrent.futures import FIRST_COMPLETED, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import asdict
from functools import cache
from multiprocessing import active_children, get_context
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

import isolation  # noqa: E402  (its folder is on the path only now)
import pages  # noqa: E402
import reading  # noqa: E402

from companion.check import saying  # noqa: E402


MEMORY = 2048  # megabytes that a grading process may take for what students send, beyond torch's own


def on_ending(action):
    """What to do at a Ctrl-C, when the system shuts down, and when the terminal is closed."""
    for name in ("SIGINT", "SIGTERM", "SIGHUP"):
        number = getattr(signal, name, None)  # Windows has not all of them
        if number and signal.getsignal(number) != signal.SIG_IGN:  # as `nohup` has it
            signal.signal(number, action)


# One submission, in one of the grading processes


class Grader:
    """One of the processes that grade. It holds the truth and the marks, and a worker for students' code."""

    worker = None
    seeds = {}

    @classmethod
    def begin(cls, hidden, seeds):
        import torch

        import asking

        on_ending(signal.SIG_IGN)  # it is the main process that takes them
        isolation.end_with_parent()  # who ends the main process, ends this one
        isolation.limit_own_memory(MEMORY)
        torch.set_num_threads(1)
        cls.worker, cls.seeds = asking.Worker(hidden), seeds

    @classmethod
    def grade(cls, student, path, wanted, language, limits, seeds):
        """What is stored of a submission. seeds: those of an earlier grading, if it is to be repeated."""
        import asking

        begin = time.monotonic()
        sent = reading.submission(student, path, wanted)
        if not sent.answers:
            sent.remarks.append(("no_assignment", ""))
        graded = {
            "student": student, "language": language or sent.language, "remarks": sent.remarks, "verdicts": [],
            "assignments": list(wanted) or sent.assignments, "seeds": {}, "numbers": {},
        }  # fmt: skip
        said = pages.words(graded["language"])
        for question, asked in reading.all_questions().items():
            if asked.assignment not in graded["assignments"]:
                continue
            seed = (seeds or {}).get(question, cls.seeds[question])
            numbers = None if seeds is None else {}
            answer = sent.answers.get(question)
            try:
                verdict = asking.grade(
                    cls.worker, question, answer, seed, graded["language"], said, limits, numbers
                )  # fmt: skip
            except Exception:  # whatever it is, the other questions are graded
                traceback.print_exc()
                verdict = asking.failed(asking.blank(question), "not_graded", said)
            if "time_limit" in verdict.mistakes:  # what holds up one question need not hold up the batch in all
                limits = limits | {key: max(2, limits[key] // 3) for key in ("seconds", "wall")}
            graded["verdicts"].append(asdict(verdict) | {"assignment": asked.assignment})
            graded["seeds"][question] = seed
            if numbers:
                graded["numbers"][question] = numbers
        asking.follow_through(graded["verdicts"], sent.answers, said, cls.worker, graded["seeds"], limits)
        return graded | {"seconds": time.monotonic() - begin}


def grade_one(*arguments):
    return Grader.grade(*arguments)


# The batch


def digest(path, wanted, language, limits):
    """Of all that decides a grade: the files, what was asked for, and who asks."""
    found = hashlib.sha256(json.dumps([list(wanted), language, limits, sources()]).encode())
    for file in reading.files(path)[0]:
        found.update(file.name.encode("utf-8", "surrogateescape"))
        try:
            size = file.stat().st_size
            found.update(str(size).encode())
            if size > reading.LARGEST:  # it is not read either
                continue
            with open(file, "rb") as opened:
                while piece := opened.read(2**20):
                    found.update(piece)
        except OSError:
            found.update(b"unreadable")
    return found.hexdigest()


@cache
def sources():
    """A digest of the grader and the checker: what an older one has graded is graded anew."""
    found = hashlib.sha256()
    for file in sorted([*HERE.glob("*.py"), *(HERE.parent / "companion" / "check").rglob("*.py")]):
        found.update(file.read_bytes())
    return found.hexdigest()


def page_name(student):
    """A file's name that is no one else's, whatever the student's is made of, also where case makes no difference.

    What is not plain gets a mark, so long that nobody finds another name of the same; and so does what looks marked.
    """
    plain = re.sub(r"[^a-z0-9_.-]", "_", student.lower()).strip(".")[:60]
    if plain == student and not re.search(r"-[0-9a-f]{16}$", plain):
        return plain
    return f"{plain}-{hashlib.sha256(student.encode('utf-8', 'replace')).hexdigest()[:16]}"


def store(path, text):
    """Writes a file whole or not at all."""
    part = path.with_name(path.name + ".part")
    try:
        part.write_text(text, encoding="utf-8", errors="replace")
        os.replace(part, path)
    finally:
        part.unlink(missing_ok=True)


def stored_in(path):
    """What is stored of a student: {batch: {"digest", "complete", "graded"}}, the latest batch last."""
    try:
        batches = json.loads(path.read_text(encoding="utf-8"))["batches"]
        return {key: one for key, one in batches.items() if one["graded"]["verdicts"] is not None}
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return {}


def joined(results):
    """One student's results of several batches. Of an assignment that was graded twice the later counts."""
    kept, again = [], set()
    for one in reversed(results):
        verdicts = [verdict for verdict in one["verdicts"] if verdict["assignment"] not in again]
        again.update(one["assignments"])
        if verdicts or not kept:
            kept.insert(0, one | {"verdicts": verdicts})
    return kept[-1] | {
        "assignments": [*dict.fromkeys(verdict["assignment"] for one in kept for verdict in one["verdicts"])],
        "verdicts": [verdict for one in kept for verdict in one["verdicts"]],
        "remarks": [list(pair) for pair in dict.fromkeys(tuple(pair) for one in kept for pair in one["remarks"])],
    }


def unanswered(student, assignments, language, remarks, mistake):
    """What is stored of a submission of which nothing was asked: each question has this mistake."""
    import asking

    said = pages.words(language)
    verdicts = [
        asdict(asking.failed(asking.blank(question), mistake, said)) | {"assignment": asked.assignment}
        for question, asked in reading.all_questions().items()
        if asked.assignment in assignments
    ]
    return {
        "student": student, "language": language, "assignments": list(assignments), "remarks": remarks,
        "verdicts": verdicts, "seeds": {}, "seconds": 0.0,
    }  # fmt: skip


class Batch:
    """All submissions of a folder. again: students to be graded anew; fresh: with other probes than before."""

    def __init__(self, folder, output, wanted=(), language=None, limits=None, again=(), fresh=False, say=print):
        import asking

        self.output, self.wanted, self.language, self.say = Path(output), tuple(wanted), language, say
        self.limits = asking.LIMITS | (limits or {})
        for one in ("done", "feedback", "appeals"):
            (self.output / one).mkdir(parents=True, exist_ok=True)
        os.chmod(self.output, 0o700)  # other students may have accounts here
        self.rename()
        found = reading.students(folder)
        self.found = {name: path for name, path in found.items() if path.resolve() != self.output.resolve()}
        self.digests = {name: digest(path, self.wanted, language, self.limits) for name, path in self.found.items()}
        self.seeds = {question: asking.fresh_seed() for question in reading.all_questions()}
        self.hidden = [str(Path(folder).resolve()), str(self.output.resolve()), str(HERE)]
        self.graded, self.untold, self.repeated, self.todo = {}, {}, {}, []
        self.key = hashlib.sha256(json.dumps([str(Path(folder).resolve()), *self.wanted]).encode()).hexdigest()[:8]
        for student in self.found:
            self.resume(student, student in again, fresh)

    def rename(self):
        """What was stored under a name that `page_name` once gave takes that of today."""
        for file in (self.output / "done").glob("*.json"):
            names = {page_name(one["graded"]["student"]) for one in stored_in(file).values()}
            if len(names) != 1 or file.stem in names:
                continue
            for folder, kind in (("done", "json"), ("appeals", "json"), ("feedback", "html")):
                old = self.output / folder / f"{file.stem}.{kind}"
                new = old.with_name(f"{min(names)}.{kind}")
                if old.exists() and not new.exists():
                    os.replace(old, new)

    def done(self, student):
        return self.output / "done" / f"{page_name(student)}.json"

    def resume(self, student, again, fresh):
        """Takes what is stored of a student, if it is of what is here now."""
        batches = stored_in(self.done(student))
        if again:  # whoever appeals is shown the numbers
            old = () if fresh else batches.values()
            self.repeated[student] = {key: seed for one in old for key, seed in one["graded"]["seeds"].items()}
        mine = batches.get(self.key)
        if mine and mine["digest"] == self.digests[student] and mine["complete"] and not again:
            self.graded[student] = mine["graded"]
        else:
            self.todo.append(student)

    def grade(self, workers=None):
        """Grades what is left. Returns what was graded, by student."""
        if self.graded:
            self.say(f"{len(self.graded)} of {len(self.found)} submissions are graded already.")
        workers = max(1, min(workers or os.cpu_count() or 1, len(self.todo) or 1))
        try:
            self.run(self.todo, workers)
            usual = self.usual()
            for student, result in self.untold.items():
                again = unanswered(student, usual, result["language"], result["remarks"], "no_answer")
                self.keep(student, again, complete=bool(usual))
        finally:
            write(self.output, self.all_graded(), self.say)
        return self.graded

    def all_graded(self):
        """What is stored of all students, this batch's and those of earlier ones into the same folder."""
        try:
            rosters = json.loads((self.output / "batches.json").read_text(encoding="utf-8"))
        except (OSError, ValueError):
            rosters = {}
        rosters[self.key] = [*self.found]
        store(self.output / "batches.json", json.dumps(rosters, ensure_ascii=False, indent=1))
        found = []
        for student in sorted({student for roster in rosters.values() for student in roster}):
            batches = stored_in(self.done(student))
            results = [one["graded"] for key, one in batches.items() if student in rosters.get(key, ())]
            found += [joined(results)] if results else []
        return found

    def run(self, group, workers):
        """Grades a group of students. Each process has one submission at a time: so it is known with which it ended.

        That one may have been its neighbour's victim. So it is tried again when all others are graded, and alone.
        """
        waiting, alone, lost, jobs = deque(group), deque(), set(), {}
        idle = [None] * workers  # processes start when there is something for them to do
        try:
            while waiting or alone or jobs:
                while idle and (waiting or alone and not jobs):
                    student, grader = (waiting or alone).popleft(), idle.pop() or self.grader()
                    asked = self.found[student], self.wanted, self.language, self.limits, self.repeated.get(student)
                    try:
                        jobs[grader.submit(grade_one, student, *asked)] = student, grader
                    except BrokenProcessPool:  # it was ended while it had nothing to do
                        grader.shutdown()
                        idle.insert(0, None)
                        waiting.appendleft(student)
                for job in wait(jobs, return_when=FIRST_COMPLETED).done:
                    student, grader = jobs.pop(job)
                    try:
                        self.take(student, job)
                        idle.append(grader)
                    except BrokenProcessPool:
                        grader.shutdown()
                        idle.insert(0, None)
                        if student in lost:
                            self.lose(student)
                        else:
                            lost.add(student)
                            alone.append(student)
        except BaseException:
            for process in active_children():  # what they have begun is not waited for
                process.kill()
            raise
        finally:
            for grader in [*idle, *(grader for _, grader in jobs.values())]:
                if grader:
                    grader.shutdown(cancel_futures=True)

    def grader(self):
        return ProcessPoolExecutor(1, get_context("spawn"), Grader.begin, (self.hidden, self.seeds))

    def take(self, student, job):
        """Keeps what a grading process says of a student."""
        try:
            result = job.result()
        except BrokenProcessPool:
            raise
        except Exception:
            traceback.print_exc()
            self.lose(student)
        else:
            self.untold[student] = result
            if result["assignments"]:
                self.keep(student, self.untold.pop(student))

    def lose(self, student):
        """The grader itself did not come to an end with this one."""
        language = self.language or "en"
        remarks = [("grader_stopped", "")]
        self.keep(student, unanswered(student, self.wanted or self.usual(), language, remarks, "not_graded"), False)

    def usual(self):
        """The assignment of most submissions: one in which none can be told is one to this."""
        votes = Counter(name for one in self.graded.values() for name in one["assignments"])
        return self.wanted or tuple(name for name, _ in votes.most_common(1))

    def keep(self, student, result, complete=True):
        result = json.loads(json.dumps(result))
        numbers = result.pop("numbers", None)
        name = page_name(student)
        if numbers:
            store(self.output / "appeals" / f"{name}.json", json.dumps(numbers, indent=1))
        self.graded[student] = result
        batches = stored_in(self.done(student))
        batches.pop(self.key, None)  # the latest is the last
        batches[self.key] = {"digest": self.digests[student], "complete": complete, "graded": result}
        store(self.done(student), json.dumps({"batches": batches}, ensure_ascii=False))
        points = " ".join(f"{one['question']} {one['points']:g}/{one['most']}" for one in result["verdicts"])
        self.say(f"[{len(self.graded)}/{len(self.found)}] {student}: {points}")


def write(output, all_graded, say):
    """All that is made of what is stored."""
    names = {one["student"]: f"{page_name(one['student'])}.html" for one in all_graded}
    held = {wall for one in all_graded for verdict in one["verdicts"] for wall in verdict["walls"]}
    by_hand = {}
    try:
        by_hand = pages.gradebook((output / "gradebook.db").resolve(), all_graded)
    except ImportError:
        say("nbgrader is not installed: there is no gradebook.db. Everything else is written.")
    except Exception as error:  # another version's, or one that is open elsewhere; what else there is counts
        say(f"nbgrader's gradebook was not written: {type(error).__name__}: {error}")
    for (student, question), points in by_hand.items():
        say(f"{student}, {question}: {points:g} points were given by hand, and stay.")
    all_graded = pages.with_points_by_hand(all_graded, by_hand)
    for one in all_graded:
        store(output / "feedback" / names[one["student"]], pages.feedback(one))
    store(output / "grades.csv", pages.grades_csv(all_graded))
    store(output / "summary.html", pages.summary(all_graded, abilities(held), names))


def abilities(held):
    """What separated students' code from the rest here, and what did not."""
    said = pages.words("en")["walls"]
    there = [said[wall] for wall in said if wall in held]
    missing = [said[wall] for wall in said if wall not in held]
    text = f"Students' code ran with: {'; '.join(there)}." if there else ""
    if missing:
        text += f" What did not hold on this system: {'; '.join(missing)}. Grade in a container or a virtual machine."
    return text


def interrupted(*_):
    """Once: what is written then is not interrupted again."""
    on_ending(signal.SIG_IGN)
    raise KeyboardInterrupt


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("submissions", help="the folder with a folder or a notebook for each student")
    parser.add_argument("--output", default="grades", help="where grades and feedback go (grades/)")
    parser.add_argument("--assignment", action="append", default=[], help="grade this assignment only; may be repeated")
    parser.add_argument("--lang", help="the language of all feedback; without it that of each notebook")
    parser.add_argument("--workers", type=int, help="how many submissions at a time; without it one for each processor")
    parser.add_argument("--again", action="append", default=[], metavar="STUDENT", help="grade this student anew")
    parser.add_argument("--fresh", action="store_true", help="with --again: draw new probes")
    parser.add_argument("--seconds", type=int, help="processor seconds for a question")
    arguments = parser.parse_args()
    if not os.path.isdir(arguments.submissions):
        parser.error(f"there is no folder {arguments.submissions}")
    for line in saying.unspoken(arguments.lang or "en"):
        print(line)
    limits = {"seconds": arguments.seconds, "wall": 3 * arguments.seconds} if arguments.seconds else {}
    sys.stdout.reconfigure(errors="backslashreplace")  # names may have letters that a terminal has not
    begin = time.monotonic()
    # whoever stands among the submissions would import students' files in each process that is started
    os.environ["PYTHONSAFEPATH"] = "1"
    on_ending(interrupted)
    try:
        graded = Batch(
            arguments.submissions, arguments.output, arguments.assignment, arguments.lang, limits, arguments.again,
            arguments.fresh,
        ).grade(arguments.workers)  # fmt: skip
    except KeyboardInterrupt:
        sys.exit("Interrupted. The same command continues.")
    except OSError as error:
        sys.exit(f"{error}. What was graded until here is kept: the same command continues.")
    held = {wall for one in graded.values() for verdict in one["verdicts"] for wall in verdict["walls"]}
    print(abilities(held))
    print(f"{len(graded)} submissions in {time.monotonic() - begin:.0f} s: {arguments.output}/summary.html")


if __name__ == "__main__":
    main()
