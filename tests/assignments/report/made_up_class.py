"""A made-up class: what is stored of its students, as many as one likes."""

import random

from assignments.grade import store
from assignments.report import summary
from companion.check.engine.question import ASSIGNMENTS, all_questions

FAMILIES = "Kim Lee Park 佐藤 鈴木 高橋 王 李 张 O’Neill Müller Ødegård Nguyen García Smith van-der-Berg".split()
FIRST = "Ada Grace Kei Minjun 結衣 하늘 伟 Zoë José Linh Björn Noa Alan Emmy Kurt Sofia".split()
DAY = 86400


def students(count):
    chance = random.Random(7)
    return [f"{chance.choice(FAMILIES)}, {chance.choice(FIRST)} ({20260000 + number})" for number in range(count)]


def made_up(count, assignments=ASSIGNMENTS, language="en"):
    """Some answer well, some badly; those who send late have fewer points. Each mistake that is known is made."""
    chance, found = random.Random(5), []
    for number, student in enumerate(students(count)):
        sent = 1_796_000_000 + chance.random() * 9 * DAY
        late = (sent - 1_796_000_000) / (9 * DAY)
        verdicts, remarks = [], []
        for name, asked in all_questions().items():
            if asked.assignment not in assignments:
                continue
            right = chance.random() > 0.15 + 0.4 * late
            known = sorted(one for one in asked.mistakes if "~" not in one) or ["not_reached"]
            mistakes = [] if right else [chance.choice([*known[:3], chance.choice(known), "no_answer", "raises_error"])]
            if chance.random() < 0.01:
                mistakes = [chance.choice(summary.ENDED)]
            points = float(asked.points) if not mistakes else asked.points / 2 * (chance.random() < 0.1)
            verdicts.append({
                "question": name, "points": points, "most": asked.points, "mistakes": mistakes,
                "paragraphs": ["**It is.**"],
                "seconds": chance.random() * 3, "stretch": asked.stretch, "remarks": [], "walls": ["time", "files"],
                "assignment": asked.assignment, "look": [["written",
                ""]] if mistakes == ["no_answer"] and chance.random() < 0.1 else [],
            })  # fmt: skip
        if chance.random() < 0.2:
            remarks = [[chance.choice(["several_files", "other_file", "cut_off"]), f"lstm ({number}).ipynb"]]
        graded = {
            "student": student, "language": language, "assignments": [*assignments], "verdicts": verdicts, "seeds": {},
            "remarks": remarks, "seconds": 1.0, "sent": sent,
        }  # fmt: skip
        found.append(store.dated(graded, 1 + number % 2))
    return found
