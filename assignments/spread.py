"""A batch in parts, for several machines: which students are of which part, and what a part leaves for join.py.

A part is a share of the students by their names alone: so parts never overlap, whoever hands in later, and a part that
is run again goes on where it was. All parts may write into one folder, as each student has files of their own in
done/ and appeals/. Beside these a part writes one file, parts/<batch>-3-of-16.json, which says what it was asked for,
whom it has seen, and whether it came to its end. What is made of everything is made by join.py alone.
"""

import hashlib
import json
import re
import time
from pathlib import Path


def part_of(text):
    """(3, 16) of "3/16". ValueError if it is none."""
    said = re.fullmatch(r"(\d{1,5})/(\d{1,5})", text)
    number, count = map(int, said.groups()) if said else (0, 0)
    if not 1 <= number <= count:
        raise ValueError
    return number, count


def is_in(student, part):
    """Whether a student is of this part, (3, 16)."""
    number, count = part
    return int.from_bytes(hashlib.sha256(student.encode("utf-8", "surrogatepass")).digest()[:8], "big") % count == number - 1


def file_of(output, key, part):
    return Path(output) / "parts" / f"{key}-{part[0]}-of-{part[1]}.json"


def said_of(key, part, folder, wanted, roster, grader, ended):
    """What a part says of itself. key: of the batch; roster: all students that it has seen, also those of other parts."""
    return {
        "batch": key, "part": part[0], "of": part[1], "submissions": str(folder), "assignments": list(wanted),
        "grader": grader, "students": sorted(roster), "ended": ended, "written": time.time(),
    }  # fmt: skip


KINDS = {"batch": str, "part": int, "of": int, "submissions": str, "grader": str, "students": list, "ended": bool, "written": float}


def parts_in(output):
    """What the parts in a folder have said, those of a batch one after another. What is damaged is not there."""
    found = []
    for file in sorted((Path(output) / "parts").glob("*.json")):
        try:
            one = json.loads(file.read_text(encoding="utf-8"))
            if all(isinstance(one[key], kind) for key, kind in KINDS.items()):
                found.append(one)
        except (OSError, ValueError, KeyError, TypeError):
            continue
    return sorted(found, key=lambda one: (one["batch"], one["of"], one["part"]))
