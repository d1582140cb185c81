"""What a class list and due dates make of graded submissions: whose each is, what is late, and what is written of
it."""

import html
import json
from collections import Counter
from datetime import datetime
from pathlib import Path

from assignments.grade import store
from assignments.lms import due_dates, roster, sent_times, upload
from assignments.read import folders
from assignments.report import pages
from companion.check.engine.question import all_questions

MEMORY = "term.json"  # in the folder of grades: when each submission was sent, so that other batches' dates stay


class Term:
    """Of one run. found: {entry: path}. Whatever is wrong with the files is a ValueError here, before anything is
    graded."""

    def __init__(self, found, wanted=(), class_list=None, columns=(), rules=None):
        self.wanted, self.found = tuple(wanted), found
        self.assignments = [*dict.fromkeys(one.assignment for one in all_questions().values())]
        self.listed = roster.read(class_list) if class_list else None
        self.names = {entry: roster.entry_name(path) for entry, path in found.items()}
        self.people = self.listed or roster.of_entries(self.names.values())
        self.columns = self.asked_columns(columns)
        if self.wanted and self.listed and upload.choices(self.listed):
            self.places(self.wanted)
        self.dates = due_dates.read(rules, self.assignments, self.find) if rules else None
        self.times = {}
        beside = Path(rules).with_name(sent_times.NAME) if rules else None
        if beside and beside.is_file():
            self.times = sent_times.table(beside, self.dates.zone, self.assignments, self.find)
        self.memory, self.items, self.notes, self.failed = {}, [], [], None
        self.known, self.targets = {}, [*self.wanted]  # the assignments that grades are written of

    def asked_columns(self, columns):
        """{assignment, or "" for the only one: column}, each of which is there."""
        if columns and not (self.listed and self.listed.kind != "worksheet"):
            raise ValueError("--column goes with --roster, and a class list that has a column for each assignment")
        asked = {}
        for one in columns:
            name, equals, column = one.partition("=")
            name, column = (name, column) if equals and name in self.assignments else ("", one)
            upload.column(self.listed, name, column)
            asked[name] = column
        return asked

    def find(self, name):
        """The place of a student who is called so."""
        places = roster.whose(self.people, name)
        if len(places) == 1:
            return places[0]
        if places:
            raise ValueError(
                f"this may be {' or '.join(roster.label(self.people.students[one]) for one in places)}: say it by"
                " number or login"
            )
        near = roster.near(self.people, name)
        hint = f" Is it one of these? {', '.join(near)}" if near else ""
        where = (
            f"in {self.listed.path}" if self.listed else "among the submissions; --roster names those who sent nothing"
        )
        raise ValueError(f"there is no student {name} {where}.{hint}")

    def whose(self, entry):
        """The places of the students that an entry may be of."""
        if entry not in self.known:
            self.known[entry] = roster.whose(self.people, self.names.get(entry, entry))
        return self.known[entry]

    def who(self, entry):
        """What late days are counted by: the student, and if that is not certain the entry."""
        places = self.whose(entry)
        return places[0] if len(places) == 1 else entry

    # When it was sent

    def note(self, output, graded):
        """Notes which assignments this batch is about: those that were asked for, or that more than a few have sent;
        and when its submissions were sent. graded: what is stored of each, by entry."""
        counts = Counter(name for one in graded.values() for name in one["assignments"])
        self.targets = self.targets or [name for name, count in counts.items() if 10 * count >= len(graded)]
        self.memory = remembered(output)
        if not self.dates:
            self.notes += [("no_dates", {})] if self.memory else []
            return
        by_file = {entry: sent_times.of_files(path) for entry, path in self.found.items()}
        copied = sent_times.copied(by_file.values())
        names = [roster.CANVAS.fullmatch(one) for one in self.names.values()]
        from_canvas = self.listed and self.listed.system == "canvas" and 2 * sum(map(bool, names)) >= len(names)
        for entry, one in graded.items():
            places = self.whose(entry)
            place = places[0] if len(places) == 1 else None
            for assignment in one["assignments"]:
                worksheet = ""
                if (
                    place is not None
                    and self.listed
                    and self.listed.kind == "worksheet"
                    and self.targets == [assignment]
                ):
                    worksheet = self.listed.cell(place, "last modified (submission)")
                listed = self.times.get((place, assignment)) or self.times.get((place, ""))
                name = self.names[entry] if from_canvas and place is not None else ""
                sent, source, mark = sent_times.sent(
                    name, worksheet, listed, None if copied else by_file.get(entry), self.dates.zone
                )
                if copied and source == "nothing" and ("times_lost", {}) not in self.notes:
                    self.notes.append(("times_lost", {}))
                self.memory[entry, assignment] = [sent and sent.isoformat(), source, mark]
        remember(output, self.memory)

    # What becomes of it

    def applied(self, all_graded):
        """All that is graded, with what the dates make of it: {assignment: item} as `late`, and sentences as `told`;
        and with the name that the class list has, as `called`."""
        if self.listed:
            places = {one["student"]: self.whose(one["student"]) for one in all_graded}
            names = {entry: self.listed.students[ones[0]].name for entry, ones in places.items() if len(ones) == 1}
            all_graded = [one | {"called": names.get(one["student"], one["student"])} for one in all_graded]
        if not self.dates:
            return all_graded
        items = []
        for one in all_graded:
            for assignment in one["assignments"]:
                points, _, extra = pages.marks(verdicts_of(one, assignment))
                sent, source, mark = self.memory.get((one["student"], assignment), (None, "nothing", None))
                items.append({
                    "entry": one["student"], "who": self.who(one["student"]), "assignment": assignment,
                    "before": points + extra,
                    "sent": sent and datetime.fromisoformat(sent), "source": source, "mark": mark,
                })  # fmt: skip
        done = {}
        for item, made in zip(items, due_dates.applied(self.dates, items)):
            if made:
                done.setdefault(item["entry"], {})[item["assignment"]] = made
            elif ("no_due", {"assignment": item["assignment"]}) not in self.notes:
                self.notes.append(("no_due", {"assignment": item["assignment"]}))
        self.items = [one for made in done.values() for one in made.values()]
        return [
            (
                one | {"late": done[one["student"]], "told": self.told(one, done[one["student"]])}
                if one["student"] in done
                else one
            )
            for one in all_graded
        ]

    def told(self, graded, made):
        """The piece of a student's page."""
        said = pages.words(graded["language"])["dates"]
        body = [f"<h2>{html.escape(said['title'])}</h2>"]
        for assignment, item in made.items():
            lines = due_dates.told(item, self.dates, said, pages.number)
            name = f"<code>{html.escape(assignment)}</code> " if len(made) > 1 else ""
            body.append(f"<p>{name}{html.escape(' '.join(lines))}</p>")
            result = said["result"].format(before=pages.number(item["before"]), after=pages.number(item["after"]))
            body.append(f"<p><strong>{html.escape(result)}</strong></p>")
        return "".join(body)

    def write(self, output, all_graded, names, language, say):
        """Writes what the school's system takes. Returns pieces of the summary. names: of the pages in review/, by
        entry."""
        output = Path(output)
        if self.listed:
            file = output / f"{self.listed.system}.csv"
            try:
                if not upload.choices(self.listed):  # it only says who is in the class
                    raise LookupError
                if self.found.keys() - {one["student"] for one in all_graded}:
                    raise ValueError(f"{file} is not written: not all submissions are graded yet")
                for name, place in self.places(self.targets).items():
                    self.fill(name, place, all_graded)
                store.store(file, self.listed.table.written())
                say(f"{file}: {self.listed.path}, with the grades of {', '.join(self.targets)} filled in")
            except (ValueError, LookupError) as error:
                self.failed = str(error) or None
                self.notes += [] if self.failed else [("no_column", {})]
                file.unlink(missing_ok=True)  # an older one has other grades
            if self.listed.system == "moodle":
                self.zip(output / "moodle_feedback.zip", all_graded)
        words = pages.words("en")["roster"]
        for key, values in self.notes:
            say(words[key].format(**values))
        for key, who, where in self.odd(all_graded):
            more = f" ({'; '.join(where)})" if where else ""
            say(f"{', '.join(who)}: {words[key]}{more}")
        for one in self.items:
            if one["late"] is None:
                say(f"{one['entry']}, {one['assignment']}: {pages.words('en')['dates'][one['why']]}")
        return self.sections(all_graded, names, language)

    def places(self, targets):
        """The columns that take the grades: {assignment: place}."""
        if not targets:
            raise ValueError(f"{self.listed.path}: there are no grades of an assignment to fill in")
        if len(targets) > 1 and self.listed.kind == "worksheet":
            raise ValueError(
                f"{self.listed.path} takes one assignment, and these are {', '.join(targets)}: say which with"
                " --assignment"
            )
        if len(targets) > 1 and "" in self.columns:
            raise ValueError(
                f"--column {self.columns['']} takes one assignment, and these are {', '.join(targets)}: say"
                " ASSIGNMENT=NAME"
            )
        found = {
            name: upload.column(self.listed, name, self.columns.get(name, self.columns.get(""))) for name in targets
        }
        if len({*found.values()}) < len(found):
            raise ValueError(
                f"{self.listed.path} has one column for {', '.join(targets)}: say --column ASSIGNMENT=NAME for each"
            )
        return found

    def fill(self, assignment, place, all_graded):
        """Fills in the grades of one assignment."""
        sent, scores, comments = self.by_student(all_graded, assignment), {}, {}
        for student, ones in sent.items():
            if len(ones) == 1:
                verdicts, said = verdicts_of(ones[0], assignment), pages.words(ones[0]["language"])
                points, there, extra = pages.marks(verdicts)
                item = ones[0].get("late", {}).get(assignment)
                scores[student] = (item["after"] if item else points + extra), there
                lines = [pages.total(verdicts, said["page"])]
                if item and item["after"] != item["before"]:
                    lines += due_dates.told(item, self.dates, said["dates"], pages.number)[-1:]
                    lines.append(
                        said["dates"]["result"].format(
                            before=pages.number(item["before"]), after=pages.number(item["after"])
                        )
                    )
                comments[student] = " ".join(lines)
        self.notes += upload.fill(self.listed, place, scores, comments, assignment)

    def by_student(self, all_graded, assignment, all_of_it=False):
        """What each student sent of an assignment: {student's place: results}. Where some have answers, it is these
        only."""
        found = {}
        for one in all_graded:
            places = self.whose(one["student"]) if assignment in one["assignments"] else ()
            if len(places) == 1:
                found.setdefault(places[0], []).append(one)
        return (
            found
            if all_of_it
            else {place: [one for one in ones if has_answers(one)] or ones for place, ones in found.items()}
        )

    def zip(self, path, all_graded):
        """The students' pages as Moodle takes them. Who sent two submissions has none there."""
        made = {}
        for assignment in self.targets:
            for place, ones in self.by_student(all_graded, assignment).items():
                form = roster.MOODLE.fullmatch(self.names.get(ones[0]["student"], ""))
                number = self.listed.students[place].number or form and form["number"]
                if number and len(ones) == 1:
                    made[number, self.listed.students[place].name, assignment] = pages.feedback(ones[0])
        if made:
            store.store(path, upload.feedback_zip(made))
        else:
            path.unlink(missing_ok=True)
            self.notes.append(("no_numbers", {}))

    # What the instructor is told

    def odd(self, all_graded):
        """What is nobody's, or not certain: (key of the words' [roster], names of entries, names of students)."""
        if not self.listed:
            return []
        rows, maybe = [], set()
        for one in all_graded:
            places = self.whose(one["student"])
            if len(places) != 1:
                names = [roster.label(self.listed.students[place]) for place in places] or roster.near(
                    self.listed, one["student"]
                )
                rows.append(("ambiguous" if places else "nobody", [one["student"]], names))
                maybe |= {*places}
        maybe |= {
            place for entry in self.found.keys() - {one["student"] for one in all_graded} for place in self.whose(entry)
        }
        for assignment in self.targets:
            sent, whole = (self.by_student(all_graded, assignment, one) for one in (False, True))
            for place, ones in sent.items():
                name, counting = self.listed.students[place].name, [one["student"] for one in ones]
                beside = [one["student"] for one in whole[place] if one["student"] not in counting]
                rows += [("twice", counting, [name, assignment])] if len(ones) > 1 else []
                rows += [("beside", beside, [name, assignment])] if beside else []
            missing = [
                one.name for place, one in enumerate(self.listed.students)
                if place not in sent and place not in maybe and not roster.is_test(one)
            ]  # fmt: skip
            rows += [("missing", [name], [assignment]) for name in missing]
        return rows

    def sections(self, all_graded, names, language):
        """Pieces of the summary: (anchor, title, HTML)."""
        links = {
            entry: f'<a href="review/{html.escape(name)}">{html.escape(entry)}</a>' for entry, name in names.items()
        }
        said, found = pages.words(language), []
        if self.listed:
            own = said["roster"]
            rows = [
                (
                    ", ".join(html.escape(one) if key == "missing" else links[one] for one in who),
                    html.escape(own[key]),
                    html.escape("; ".join(where)),
                )
                for key, who, where in self.odd(all_graded)
            ]
            certain = sum(len(self.whose(one["student"])) == 1 for one in all_graded)
            body = f"<p>{html.escape(own['matched'].format(count=certain, all=len(all_graded), students=len(self.listed.students)))}</p>"  # noqa: E501
            body += pages.table((own["entry"], said["instructor"]["why"], own["about"]), rows) if rows else ""
            found.append(("roster", own["title"], body))
        if self.dates:
            found.append(("dates", said["dates"]["title"], self.lateness(said, links)))
        if self.notes and found:
            lines = "".join(
                f"<li>{html.escape(said['roster'][key].format(**values))}</li>" for key, values in self.notes
            )
            found[0] = (*found[0][:2], found[0][2] + f"<ul>{lines}</ul>")
        return found

    def lateness(self, said, links):
        """Who is late, or not known to be in time, by whose word, and which rule decided."""
        own, rows = said["dates"], []
        for one in self.items:
            if one["why"] == "in_time" and not one["extended"]:
                continue
            cause, late = due_dates.cause(one, self.dates), one["late"]
            rule = html.escape(own[one["why"]] if late is None else own["head_extended"] if one["extended"] else "")
            rows.append((
                links[one["entry"]], f"<code>{one['assignment']}</code>",
                f"<code>{due_dates.clock(one['sent'])}</code>" if one["sent"] else "–",
                html.escape(own[f"by_{one['source']}"]),
                "–" if late is None else f"{late.total_seconds() / 3600:.1f}", one["days"],
                f"<code>{cause[0]} = {pages.number(cause[1])}</code> {rule}".strip() if cause else rule,
                pages.number(one["before"]), pages.number(one["after"]),
            ))  # fmt: skip
        late = sum(one["why"] != "in_time" for one in self.items)
        sources = Counter(one["source"] for one in self.items)
        lines = [own["in_time_count"].format(count=len(self.items) - late, all=len(self.items))]
        lines += [
            f"{own['head_source']}: "
            + " · ".join(f"{own[f'by_{key}']} ({count})" for key, count in sources.most_common())
        ]
        rules = " · ".join(f"<code>{key} = {pages.number(value)}</code>" for key, value in self.dates.late.items())
        body = "".join(f"<p>{html.escape(line)}</p>" for line in lines) + (f"<p>{rules}</p>" if rules else "")
        heads = [
            own[f"head_{key}"] for key in ("assignment", "sent", "source", "late", "days", "rule", "before", "after")
        ]
        return body + pages.table([said["instructor"]["student"], *heads], rows) if rows else body


def of(arguments):
    """What the command's arguments ask for; None if it is nothing. What an earlier run knew of is said to be left
    out."""
    older = [name for name in ("canvas.csv", "moodle.csv") if (Path(arguments.output) / name).exists()]
    if older and not arguments.roster:
        print(f"{arguments.output}/{older[0]} is of an earlier run. --roster writes it anew.")
    if not (arguments.roster or arguments.dates or arguments.column):
        if remembered(arguments.output):
            print(pages.words("en")["roster"]["no_dates"])
        return None
    output = Path(arguments.output).resolve()
    found = {name: path for name, path in folders.students(arguments.submissions).items() if path.resolve() != output}
    return Term(found, arguments.assignment, arguments.roster, arguments.column, arguments.dates)


def verdicts_of(graded, assignment):
    return [one for one in graded["verdicts"] if one["assignment"] == assignment]


def has_answers(graded):
    return ["no_assignment", ""] not in [[*one] for one in graded["remarks"]]


def remembered(output):
    """When submissions were sent, as earlier runs noted it: {(entry, assignment): [moment, source, mark]}."""
    try:
        return {
            (entry, assignment): [*rest]
            for entry, assignment, *rest in json.loads((Path(output) / MEMORY).read_text("utf-8"))
        }
    except (OSError, ValueError, TypeError):
        return {}


def remember(output, times):
    text = [[*key, *value] for key, value in times.items()]
    store.store(Path(output) / MEMORY, json.dumps(text, ensure_ascii=False, indent=0))
