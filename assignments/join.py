"""Joins what parts of a batch have graded: python assignments/join.py grades

After `grade.py submissions --output grades --part 3/16` and its like, on as many machines: all pages, grades.csv and the
gradebook, made of what is there. Where each part had an output folder of its own:

    python assignments/join.py grades/part-* --output grades/all

It says what is missing, and what does not fit together, and ends with 1 if there is something. It may be run while
parts are graded still, and as often as one likes.
"""

import argparse
import json
import os
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

import keeping  # noqa: E402  (its folder is on the path only now)
import pages  # noqa: E402
import results  # noqa: E402
import spread  # noqa: E402
from naming import page_name  # noqa: E402

NAMED = 20  # students in a line


def points_of(entry):
    return sum(one["points"] for one in entry["graded"]["verdicts"])


def better(new, old):
    """Whether an entry of done/ takes another's place: of the same submission, graded alike, the first stays."""
    if new["complete"] != old["complete"]:
        return new["complete"]
    return new["digest"] != old["digest"]


def gather(folders, output, say):
    """Takes what is in other folders into the one for all of them. A student may be in several."""
    came_from = {}
    for folder in folders:
        if folder.resolve() == output.resolve():
            continue
        for file in sorted((folder / "done").glob("*.json")):
            for key, entry in keeping.stored_in(file).items():
                student = entry["graded"]["student"]
                target = output / "done" / f"{page_name(student)}.json"
                there = keeping.stored_in(target)
                earlier, takes = came_from.get((student, key)), key not in there or better(entry, there[key])
                if earlier and points_of(entry) != points_of(there[key]):
                    say(f"{student} was graded in {earlier} and in {folder}, with other points: that in {folder if takes else earlier} counts.")
                if takes:
                    came_from[student, key] = folder
                    there.pop(key, None)
                    keeping.store(target, json.dumps({"batches": there | {key: entry}}, ensure_ascii=False))
                    take_appeal(folder, output, file.stem, target.stem)
                came_from.setdefault((student, key), folder)
        for one in spread.parts_in(folder):
            target = spread.file_of(output, one["batch"], (one["part"], one["of"]))
            there = [other for other in spread.parts_in(output) if same_part(one, other)]
            if not there or (one["ended"], one["written"]) > (there[0]["ended"], there[0]["written"]):
                keeping.store(target, json.dumps(one, ensure_ascii=False, indent=1))


def take_appeal(folder, output, theirs, ours):
    numbers = folder / "appeals" / f"{theirs}.json"
    if numbers.is_file():
        keeping.store(output / "appeals" / f"{ours}.json", numbers.read_text(encoding="utf-8"))


def same_part(one, other):
    return all(one[key] == other[key] for key in ("batch", "part", "of"))


def rosters_of(folders, output):
    """{batch: its students}, those of whole batches as they were, of parts all that any of them has seen."""
    rosters, newest = {}, {}
    for folder in [*folders, output]:
        try:
            rosters |= json.loads((folder / "batches.json").read_text(encoding="utf-8"))
            newest[folder] = (folder / "batches.json").stat().st_mtime
        except (OSError, ValueError, TypeError):
            pass
    seen, written = {}, {}
    for one in spread.parts_in(output):
        seen.setdefault(one["batch"], set()).update(one["students"])
        written[one["batch"]] = max(one["written"], written.get(one["batch"], 0))
    for key, students in seen.items():
        if written[key] < newest.get(output, 0):  # the whole batch may have been graded here since
            students.update(rosters.get(key, ()))
    return rosters | {key: sorted(students) for key, students in seen.items()}


def stored(output, rosters):
    """{batch: {student: entry of done/}}."""
    found = {key: {} for key in rosters}
    for student in {one for roster in rosters.values() for one in roster}:
        for key, entry in keeping.stored_in(output / "done" / f"{page_name(student)}.json").items():
            if student in rosters.get(key, ()):
                found[key][student] = entry
    return found


def absent(output, rosters, entries):
    """What there is not, in lines: parts that have not come or not ended, and whom some of them have not seen."""
    lines, parts = [], spread.parts_in(output)
    for key in dict.fromkeys(one["batch"] for one in parts):
        mine = [one for one in parts if one["batch"] == key]
        for count in sorted({one["of"] for one in mine}):
            of_it = {one["part"]: one for one in mine if one["of"] == count}
            left = {number for number in range(1, count + 1) if number not in of_it or not of_it[number]["ended"]}
            # another division of the same batch may have graded them
            waiting = [one for one in rosters[key] if one not in entries[key]]
            left = {number for number in left if any(spread.is_in(one, (number, count)) for one in waiting)}
            for number in sorted(left):
                how = "has not come to its end" if number in of_it else "has not come"
                lines.append(f"Part {number}/{count} of {mine[0]['submissions']} {how}: the same command goes on where it was.")
        for one in mine:
            if unseen := set(rosters[key]) - set(one["students"]):
                lines.append(f"Part {one['part']}/{one['of']} has not seen {listed(unseen)}, as others have.")
    return lines


def listed(names):
    names = sorted(names)
    return ", ".join(names[:NAMED]) + " …" * (len(names) > NAMED)


def versions_of(entries):
    """{version of the grader: the students of parts whose grades are its}."""
    found = {}
    for batch in entries.values():
        for student, entry in batch.items():
            found.setdefault(entry.get("grader", "?")[:8], set()).add(student)
    return found


def join(folders, output, say=print):
    """Joins folders into one, which may be among them. Returns whether all is there, and fits."""
    folders, output = [*map(Path, folders)], Path(output)
    for one in ("done", "feedback", "review", "appeals", "parts"):
        (output / one).mkdir(parents=True, exist_ok=True)
    os.chmod(output, 0o700)  # other students may have accounts here
    gather(folders, output, say)
    return made(output, say, folders)


def made(output, say, folders=()):
    """Makes everything of what is in a folder. Returns whether all is there, and fits."""
    rosters = rosters_of(folders, output)
    keeping.store(output / "batches.json", json.dumps(rosters, ensure_ascii=False, indent=1))
    entries = stored(output, rosters)
    in_parts = {one["batch"] for one in spread.parts_in(output)}
    versions = versions_of({key: entries[key] for key in in_parts})
    everybody = {(key, student) for key, roster in rosters.items() for student in roster}
    missing = {student for key, student in everybody if student not in entries[key]}

    def notes(language):
        own = pages.words(language)["instructor"]
        if missing:
            yield own["parts_missing"].format(count=len(missing), all=len(everybody), names=listed(missing))
        if len(versions) > 1:
            said = "; ".join(f"{version}: {listed(students)}" for version, students in sorted(versions.items()))
            yield own["parts_versions"].format(versions=said)

    all_graded = keeping.all_stored(output, rosters)
    results.write(output, all_graded, say, notes=notes)
    lines = [*notes("en"), *absent(output, rosters, entries)]
    for line in lines:
        say(line)
    say(f"{len(all_graded)} students: {output}/summary.html")
    return not lines


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+", help="the output folder of all parts, or those of each")
    parser.add_argument("--output", help="where all goes; without it into the folder, if it is one")
    arguments = parser.parse_args()
    if len(arguments.folders) > 1 and not arguments.output:
        parser.error("several folders are joined into another: --output grades")
    for one in arguments.folders:
        if not (Path(one) / "done").is_dir():
            parser.error(f"{one} is no output folder of the grader")
    sys.stdout.reconfigure(errors="backslashreplace")
    try:
        sys.exit(0 if join(arguments.folders, arguments.output or arguments.folders[0]) else 1)
    except OSError as error:
        sys.exit(f"{error}. What was graded is as it was: the same command joins it.")


if __name__ == "__main__":
    main()
