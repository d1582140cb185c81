"""Points and sandbox protections are the same on all pages and tables."""

import re
from dataclasses import asdict

from bs4 import BeautifulSoup

from assignments.grade import judge
from assignments.report import all_reports, grade_tables
from tests.assignments.report.made_up_verdicts import judged_only


def test_all_pages_and_tables_show_the_same_points(tmp_path, monkeypatch):
    """Check halves, stretch questions, points by hand, carried errors and two assignments."""
    monkeypatch.setattr(grade_tables, "write_gradebook", lambda *_: {("bo", "lstm"): 0.25})
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
    verdicts_of = {"ada": lstm, "bo": lstm + rnn, "cy": rnn, "dee": []}
    wanted = {"ada": (4.5, 5, 1.5), "bo": (4.75, 10, 1.5), "cy": (3, 5, 0), "dee": (0, 0, 0)}
    all_reports.write_reports(tmp_path, [
        judged_only(name, *verdicts) | {"assignments": sorted({verdict["assignment"] for verdict in verdicts})}
        for name, verdicts in verdicts_of.items()
    ], print)  # fmt: skip
    made = BeautifulSoup((tmp_path / "summary.html").read_text(encoding="utf-8"), "html.parser")
    table = {row.td.text: [cell.text for cell in row.select("td")] for row in made.select("#everyone tbody tr")}
    for name, (points, most, extra) in wanted.items():
        shown = [float(number) for number in re.findall(r"[\d.]+", " ".join(table[name][1:4]))]
        assert (sum(shown[:-1:2]), sum(shown[1:-1:2]), shown[-1]) == (points, most, extra)
        for folder in ("feedback", "review"):
            page = BeautifulSoup((tmp_path / folder / f"{name}.html").read_text(encoding="utf-8"), "html.parser")
            numbers = [float(number) for number in re.findall(r"[\d.]+", page.strong.text)]
            assert numbers == [points, most, *[extra] * (extra > 0)]
        rows = [line.split(",") for line in (tmp_path / "grades.csv").read_text(encoding="utf-8").splitlines()]
        assert sum(float(row[2]) for row in rows if row[0] == name) == points + extra


def test_protection_holds_only_if_it_held_for_all():
    """Check results of several machines in one output folder."""
    graded = [
        judged_only(name, {"walls": walls})
        for name, walls in (("ada", ["time", "network"]), ("bo", ["time"]), ("cy", []))
    ]
    assert all_reports.common_protections(graded) == {"time"}
