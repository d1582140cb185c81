"""Points and walls: all pages and tables of a class agree about them."""

import re
from dataclasses import asdict

from bs4 import BeautifulSoup

from assignments.grade import judge
from assignments.report import pages, results
from tests.assignments.report.made_up_verdicts import judged_only


def test_all_pages_and_tables_give_the_same_marks(tmp_path, monkeypatch):
    """Of halves, stretch questions, points by hand, follow-through and two assignments."""
    monkeypatch.setattr(pages, "gradebook", lambda *_: {("bo", "lstm"): 0.25})
    for folder in ("feedback", "review"):
        (tmp_path / folder).mkdir()

    def verdict(assignment, question, points, most, stretch=False):
        return asdict(judge.Verdict(question, points, most, [], [], stretch=stretch)) | {"assignment": assignment}

    lstm = [
        verdict("lstm", "gates", 1.5, 2),
        verdict("lstm", "lstm", 3.0, 3),
        verdict("lstm", "lstm_backward", 1.5, 3, True),
    ]
    rnn = [verdict("rnn", "rnn_cell", 0.0, 2), verdict("rnn", "windows", 3.0, 3)]
    given = {"ada": lstm, "bo": lstm + rnn, "cy": rnn, "dee": []}
    wanted = {"ada": (4.5, 5, 1.5), "bo": (4.75, 10, 1.5), "cy": (3, 5, 0), "dee": (0, 0, 0)}
    results.write(tmp_path, [
        judged_only(name, *verdicts) | {"assignments": sorted({one["assignment"] for one in verdicts})}
        for name, verdicts in given.items()
    ], print)  # fmt: skip
    made = BeautifulSoup((tmp_path / "summary.html").read_text(encoding="utf-8"), "html.parser")
    table = {row.td.text: [one.text for one in row.select("td")] for row in made.select("#everyone tbody tr")}
    for name, (points, most, extra) in wanted.items():
        said = [float(one) for one in re.findall(r"[\d.]+", " ".join(table[name][1:4]))]
        assert (sum(said[:-1:2]), sum(said[1:-1:2]), said[-1]) == (points, most, extra)
        for folder in ("feedback", "review"):
            page = BeautifulSoup((tmp_path / folder / f"{name}.html").read_text(encoding="utf-8"), "html.parser")
            numbers = [float(one) for one in re.findall(r"[\d.]+", page.strong.text)]
            assert numbers == [points, most, *[extra] * (extra > 0)]
        rows = [line.split(",") for line in (tmp_path / "grades.csv").read_text(encoding="utf-8").splitlines()]
        assert sum(float(row[2]) for row in rows if row[0] == name) == points + extra


def test_a_wall_is_said_to_hold_if_it_held_for_all():
    """Several machines may have graded into one folder."""
    graded = [
        judged_only(name, {"walls": walls})
        for name, walls in (("ada", ["time", "network"]), ("bo", ["time"]), ("cy", []))
    ]
    assert results.held_by(graded) == {"time"}
