"""Results of a made-up class of any size."""

import random

from assignments.grade import cache
from assignments.report import summary
from companion.check.engine.question import ASSIGNMENTS, all_questions

FAMILIES = "Kim Lee Park 佐藤 鈴木 高橋 王 李 张 O’Neill Müller Ødegård Nguyen García Smith van-der-Berg".split()
FIRST = "Ada Grace Kei Minjun 結衣 하늘 伟 Zoë José Linh Björn Noa Alan Emmy Kurt Sofia".split()
DAY = 86400


def students(count):
    chance = random.Random(7)
    return [f"{chance.choice(FAMILIES)}, {chance.choice(FIRST)} ({20260000 + number})" for number in range(count)]


def made_up(count, assignments=ASSIGNMENTS, language="en"):
    """Return results in which later submissions have fewer points, and each known mistake occurs."""
    chance, results = random.Random(5), []
    for number, student in enumerate(students(count)):
        sent = 1_796_000_000 + chance.random() * 9 * DAY
        late = (sent - 1_796_000_000) / (9 * DAY)
        verdicts, remarks = [], []
        for name, question in all_questions().items():
            if question.assignment not in assignments:
                continue
            right = chance.random() > 0.15 + 0.4 * late
            names = sorted(mistake for mistake in question.mistakes if "~" not in mistake) or ["not_reached"]
            mistakes = [] if right else [chance.choice([*names[:3], chance.choice(names), "no_answer", "raises_error"])]
            if chance.random() < 0.01:
                mistakes = [chance.choice(summary.ENDED)]
            points = float(question.points) if not mistakes else question.points / 2 * (chance.random() < 0.1)
            verdicts.append({
                "question": name, "points": points, "most": question.points, "mistakes": mistakes,
                "paragraphs": ["**It is.**"],
                "seconds": chance.random() * 3, "stretch": question.stretch, "remarks": [], "walls": ["time", "files"],
                "assignment": question.assignment, "look": [["written",
                ""]] if mistakes == ["no_answer"] and chance.random() < 0.1 else [],
            })  # fmt: skip
        if chance.random() < 0.2:
            remarks = [[chance.choice(["several_files", "other_file", "cut_off"]), f"lstm ({number}).ipynb"]]
        graded = {
            "student": student, "language": language, "assignments": [*assignments], "verdicts": verdicts, "seeds": {},
            "remarks": remarks, "seconds": 1.0, "sent": sent,
        }  # fmt: skip
        results.append(cache.add_batch(graded, 1 + number % 2))
    return results
