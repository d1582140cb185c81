"""A course's class list and due dates, applied to graded submissions: owners, deductions, and files for upload."""

import html
import json
from collections import Counter
from datetime import datetime
from pathlib import Path

from assignments.grade import cache
from assignments.lms import due_dates, roster, submission_times, summary_sections, upload
from assignments.report import pages
from assignments.report.pages import format_number
from companion.check.engine.question import all_questions

TIMES_FILE = "term.json"  # in the output folder: times of submissions, also of other batches


class Course:
    """The class list and due dates in one run.

    paths: {submission: path}. Errors in the files raise ValueError before anything is graded.
    """

    def __init__(self, paths, wanted=(), class_list=None, columns=(), rules=None):
        self.wanted, self.paths = tuple(wanted), paths
        self.assignments = [*dict.fromkeys(question.assignment for question in all_questions().values())]
        self.roster = roster.read(class_list) if class_list else None
        self.names = {submission: roster.entry_name(path) for submission, path in paths.items()}
        self.people = self.roster or roster.roster_of_submissions(self.names.values())
        self.columns = self.parse_columns(columns)
        if self.wanted and self.roster and upload.grade_columns(self.roster):
            self.grade_columns(self.wanted)
        self.dates = due_dates.read(rules, self.assignments, self.find_student) if rules else None
        self.listed_times = {}
        times_table = Path(rules).with_name(submission_times.NAME) if rules else None
        if times_table and times_table.is_file():
            self.listed_times = submission_times.read_table(
                times_table, self.dates.zone, self.assignments, self.find_student
            )
        self.sent_times, self.items, self.notes, self.failed = {}, [], [], None
        self.matches, self.targets = {}, [*self.wanted]  # targets: assignments whose grades are written

    def parse_columns(self, columns):
        """Return {assignment, or "" for the only one: column}; raise ValueError for a column that does not exist."""
        if columns and not (self.roster and self.roster.kind != "worksheet"):
            raise ValueError("--column goes with --roster, and a class list that has a column for each assignment")
        columns_of = {}
        for option in columns:
            name, equals, column = option.partition("=")
            name, column = (name, column) if equals and name in self.assignments else ("", option)
            upload.find_column(self.roster, name, column)
            columns_of[name] = column
        return columns_of

    def find_student(self, name):
        """Return the index of the student of this name; raise ValueError if none or several fit."""
        indexes = roster.find_students(self.people, name)
        if len(indexes) == 1:
            return indexes[0]
        if indexes:
            labels = [roster.distinct_label(self.people.students[index]) for index in indexes]
            raise ValueError(f"this may be {' or '.join(labels)}: say it by number or login")
        similar = roster.similar_names(self.people, name)
        hint = f" Is it one of these? {', '.join(similar)}" if similar else ""
        where = (
            f"in {self.roster.path}" if self.roster else "among the submissions; --roster names those who sent nothing"
        )
        raise ValueError(f"there is no student {name} {where}.{hint}")

    def students_of(self, submission):
        """Return the indexes of the students that a submission may belong to."""
        if submission not in self.matches:
            self.matches[submission] = roster.find_students(self.people, self.names.get(submission, submission))
        return self.matches[submission]

    def late_days_key(self, submission):
        """Return the key by which late days are counted: the student's index, or the submission if uncertain."""
        indexes = self.students_of(submission)
        return indexes[0] if len(indexes) == 1 else submission

    def find_targets(self, results):
        """Find which assignments are graded: those asked for, or those that a tenth of the submissions answer."""
        counts = Counter(name for result in results.values() for name in result["assignments"])
        self.targets = self.targets or [name for name, count in counts.items() if 10 * count >= len(results)]

    # Times of submissions

    def record_times(self, output, results):
        """Record when the submissions of this batch were sent, and which assignments it is about.

        results: {submission: result}.
        """
        self.find_targets(results)
        self.sent_times = read_times(output)
        if not self.dates:
            self.notes += [("no_dates", {})] if self.sent_times else []
            return
        by_file = {submission: submission_times.latest_file_time(path) for submission, path in self.paths.items()}
        copied = submission_times.are_copy_times(by_file.values())
        matches = [roster.CANVAS.fullmatch(name) for name in self.names.values()]
        from_canvas = self.roster and self.roster.system == "canvas" and 2 * sum(map(bool, matches)) >= len(matches)
        for submission, result in results.items():
            indexes = self.students_of(submission)
            index = indexes[0] if len(indexes) == 1 else None
            for assignment in result["assignments"]:
                worksheet = ""
                if (
                    index is not None
                    and self.roster
                    and self.roster.kind == "worksheet"
                    and self.targets == [assignment]
                ):
                    worksheet = self.roster.cell(index, "last modified (submission)")
                listed = self.listed_times.get((index, assignment)) or self.listed_times.get((index, ""))
                name = self.names[submission] if from_canvas and index is not None else ""
                sent, source, mark = submission_times.find_submission_time(
                    name, worksheet, listed, None if copied else by_file.get(submission), self.dates.zone
                )
                if copied and source == "nothing" and ("times_lost", {}) not in self.notes:
                    self.notes.append(("times_lost", {}))
                self.sent_times[submission, assignment] = [sent and sent.isoformat(), source, mark]
        write_times(output, self.sent_times)

    # Deductions and files

    def apply_due_dates(self, results):
        """Return the results with deductions.

        Each result gets {assignment: item} as `late`, sentences as `told`, and the name in the class list as `called`.
        """
        if self.roster:
            indexes = {result["student"]: self.students_of(result["student"]) for result in results}
            names = {
                submission: self.roster.students[students[0]].name
                for submission, students in indexes.items()
                if len(students) == 1
            }
            results = [result | {"called": names.get(result["student"], result["student"])} for result in results]
        if not self.dates:
            return results
        items = []
        for result in results:
            for assignment in result["assignments"]:
                points, _, extra = pages.sum_points(verdicts_of(result, assignment))
                sent, source, mark = self.sent_times.get((result["student"], assignment), (None, "nothing", None))
                items.append({
                    "entry": result["student"], "who": self.late_days_key(result["student"]), "assignment": assignment,
                    "before": points + extra,
                    "sent": sent and datetime.fromisoformat(sent), "source": source, "mark": mark,
                })  # fmt: skip
        late_items = {}
        for item, deducted in zip(items, due_dates.apply_rules(self.dates, items)):
            if deducted:
                late_items.setdefault(item["entry"], {})[item["assignment"]] = deducted
            elif ("no_due", {"assignment": item["assignment"]}) not in self.notes:
                self.notes.append(("no_due", {"assignment": item["assignment"]}))
        self.items = [item for deductions in late_items.values() for item in deductions.values()]
        return [
            (
                result
                | {
                    "late": late_items[result["student"]],
                    "told": self.lateness_html(result, late_items[result["student"]]),
                }
                if result["student"] in late_items
                else result
            )
            for result in results
        ]

    def lateness_html(self, graded, items):
        """Return the section on lateness of a student's page."""
        texts = pages.words(graded["language"])["dates"]
        body = [f"<h2>{html.escape(texts['title'])}</h2>"]
        for assignment, item in items.items():
            lines = due_dates.explain(item, self.dates, texts, format_number)
            name = f"<code>{html.escape(assignment)}</code> " if len(items) > 1 else ""
            body.append(f"<p>{name}{html.escape(' '.join(lines))}</p>")
            result = texts["result"].format(before=format_number(item["before"]), after=format_number(item["after"]))
            body.append(f"<p><strong>{html.escape(result)}</strong></p>")
        return "".join(body)

    def write_files(self, output, all_graded, names, language, say):
        """Write the files for upload, print notes, and return sections of the summary.

        names: {submission: page in review/}.
        """
        output = Path(output)
        if self.roster:
            file = output / f"{self.roster.system}.csv"
            try:
                if not upload.grade_columns(self.roster):  # a list of participants without grades
                    raise LookupError
                if self.paths.keys() - {graded["student"] for graded in all_graded}:
                    raise ValueError(f"{file} is not written: not all submissions are graded yet")
                for name, column in self.grade_columns(self.targets).items():
                    self.fill_grades(name, column, all_graded)
                cache.write_atomically(file, self.roster.table.to_bytes())
                say(f"{file}: {self.roster.path}, with the grades of {', '.join(self.targets)} filled in")
            except (ValueError, LookupError) as error:
                self.failed = str(error) or None
                self.notes += [] if self.failed else [("no_column", {})]
                file.unlink(missing_ok=True)  # it may be an older one with other grades
            if self.roster.system == "moodle":
                self.write_feedback_zip(output / "moodle_feedback.zip", all_graded)
        words = pages.words("en")["roster"]
        for key, values in self.notes:
            say(words[key].format(**values))
        for line in summary_sections.lines(self, all_graded):
            say(line)
        for item in self.items:
            if item["late"] is None:
                say(f"{item['entry']}, {item['assignment']}: {pages.words('en')['dates'][item['why']]}")
        return summary_sections.sections(self, all_graded, names, language)

    def grade_columns(self, targets):
        """Return the columns for the grades: {assignment: column}."""
        if not targets:
            raise ValueError(f"{self.roster.path}: there are no grades of an assignment to fill in")
        if len(targets) > 1 and self.roster.kind == "worksheet":
            raise ValueError(
                f"{self.roster.path} takes one assignment, and these are {', '.join(targets)}: say which with"
                " --assignment"
            )
        if len(targets) > 1 and "" in self.columns:
            raise ValueError(
                f"--column {self.columns['']} takes one assignment, and these are {', '.join(targets)}: say"
                " ASSIGNMENT=NAME"
            )
        columns = {
            name: upload.find_column(self.roster, name, self.columns.get(name, self.columns.get("")))
            for name in targets
        }
        if len({*columns.values()}) < len(columns):
            raise ValueError(
                f"{self.roster.path} has one column for {', '.join(targets)}: say --column ASSIGNMENT=NAME for each"
            )
        return columns

    def fill_grades(self, assignment, column, all_graded):
        """Fill in the grades of one assignment."""
        sent, scores, comments, by_hand = self.by_student(all_graded, assignment), {}, {}, {}
        for student, results in sent.items():
            if len(results) == 1:
                verdicts, texts = verdicts_of(results[0], assignment), pages.words(results[0]["language"])
                points, maximum, extra = pages.sum_points(verdicts)
                item = results[0].get("late", {}).get(assignment)
                scores[student] = (item["after"] if item else points + extra), maximum
                lines = [pages.format_total(verdicts, texts["page"])]
                if item and item["after"] != item["before"]:
                    lines += due_dates.explain(item, self.dates, texts["dates"], format_number)[-1:]
                    lines.append(
                        texts["dates"]["result"].format(
                            before=format_number(item["before"]), after=format_number(item["after"])
                        )
                    )
                comments[student] = " ".join(lines)
                by_hand[student] = comments_by_hand(results[0], assignment)
        self.notes += upload.fill_grades(self.roster, column, scores, comments, assignment, by_hand)

    def by_student(self, all_graded, assignment, with_empty=False):
        """Return the results of an assignment by student's index.

        If some of a student's submissions have answers, only these are returned, unless `with_empty`.
        """
        results_of = {}
        for graded in all_graded:
            indexes = self.students_of(graded["student"]) if assignment in graded["assignments"] else ()
            if len(indexes) == 1:
                results_of.setdefault(indexes[0], []).append(graded)
        return (
            results_of
            if with_empty
            else {
                student: [graded for graded in results if has_answers(graded)] or results
                for student, results in results_of.items()
            }
        )

    def write_feedback_zip(self, path, all_graded):
        """Write Moodle's archive of the students' pages, without students who have two submissions of an assignment."""
        files = {}
        for assignment in self.targets:
            for index, results in self.by_student(all_graded, assignment).items():
                match = roster.MOODLE.fullmatch(self.names.get(results[0]["student"], ""))
                number = self.roster.students[index].number or match and match["number"]
                if number and len(results) == 1:
                    files[number, self.roster.students[index].name, assignment] = pages.student_page(results[0])
        if files:
            cache.write_atomically(path, upload.feedback_zip(files))
        else:
            path.unlink(missing_ok=True)
            self.notes.append(("no_numbers", {}))


def from_arguments(arguments, submissions):
    """Return the course that the command's arguments describe, or None without any.

    submissions: {student: path}. Print what an earlier run knew and this one leaves out.
    """
    old_files = [name for name in ("canvas.csv", "moodle.csv") if (Path(arguments.output) / name).exists()]
    if old_files and not arguments.roster:
        print(f"{arguments.output}/{old_files[0]} is of an earlier run. --roster writes it anew.")
    if not (arguments.roster or arguments.dates or arguments.column or arguments.comments):
        if read_times(arguments.output):
            print(pages.words("en")["roster"]["no_dates"])
        return None
    output = Path(arguments.output).resolve()
    paths = {name: path for name, path in submissions.items() if path.resolve() != output}
    return Course(paths, arguments.assignment, arguments.roster, arguments.column, arguments.dates)


def verdicts_of(graded, assignment):
    return [verdict for verdict in graded["verdicts"] if verdict["assignment"] == assignment]


def comments_by_hand(graded, assignment):
    """Return the instructor's comments on an assignment: (question or "", text)."""
    whole = graded.get("comments", {}).get(assignment)
    found = [("", whole)] if whole else []
    found += [(verdict["question"], verdict.get("comment")) for verdict in verdicts_of(graded, assignment)]
    return [(question, comment["text"]) for question, comment in found if comment]


def has_answers(graded):
    return ["no_assignment", ""] not in [[*remark] for remark in graded["remarks"]]


def read_times(output):
    """Return the times of submissions that earlier runs stored: {(submission, assignment): [moment, source, mark]}."""
    try:
        return {
            (submission, assignment): [*rest]
            for submission, assignment, *rest in json.loads((Path(output) / TIMES_FILE).read_text("utf-8"))
        }
    except (OSError, ValueError, TypeError):
        return {}


def write_times(output, times):
    text = [[*key, *value] for key, value in times.items()]
    cache.write_atomically(Path(output) / TIMES_FILE, json.dumps(text, ensure_ascii=False, indent=0))
