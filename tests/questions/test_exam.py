"""Test exams: every paper is another one, the key fits the papers, and wrong arguments are refused by name."""

import re
import subprocess
import sys

import pypdf
import pytest
from bs4 import BeautifulSoup

from book.editions import editions
from book.exam import __main__ as command
from book.exam import pages
from book.exam.papers import POINTS, choose_names, make_papers, topics
from book.questions import bank
from book.questions.markup import inline
from tests.project.paths import ROOT

LANGUAGES = [edition.language for edition in editions()]
MILLIMETRES = {"A4": (210, 297), "Letter": (215.9, 279.4)}


def test_topics_are_parts_and_pages():
    known = topics()
    assert list(known)[:5] == ["1", "2", "3", "4", "5"]
    assert "gru" in known["3"] and known["gru"] == ["gru"]
    assert set(known["2"]).isdisjoint(known["3"])


def test_questions_come_from_all_pages_of_the_topics():
    for seed in range(5):
        names = choose_names(["2", "3"], 12, seed)
        pages_used = [bank.page_of(name) for name in names]
        assert len({*names}) == len({*pages_used}) == 12  # twelve chapters, one question each
        assert {*pages_used} == {*topics()["2"], *topics()["3"]}
        assert [*dict.fromkeys(pages_used)] == [page for page in bank.pages() if page in pages_used]
    assert choose_names(["2", "3"], 5, 1) == choose_names(["2", "3"], 5, 1)
    assert len({tuple(choose_names(["2", "3"], 5, seed)) for seed in range(5)}) > 1


@pytest.mark.parametrize(
    ("chosen", "count", "message"),
    [
        (["gru", "grue"], 2, "no topic 'grue'; topics are 1, 2, 3, 4, 5, "),
        (["gru"], 99, r"99 questions are asked for; gru has 1 to \d+$"),
        (["gru", "rnn"], 0, r"0 questions are asked for; gru rnn has 1 to \d+$"),
    ],
)
def test_wrong_topics_and_counts_are_refused(chosen, count, message):
    with pytest.raises(ValueError, match=message):
        choose_names(chosen, count, 1)


def test_each_paper_differs_from_the_others_and_from_the_site():
    names = choose_names(["1", "2", "3"], 12, 1)
    papers = make_papers(names, [""] * 30, 1)
    assert papers == make_papers(names, [""] * 30, 1)
    assert len({paper.questions for paper in papers}) == 30
    for paper in papers:
        assert [question.name for question in paper.questions] == names
        for question in paper.questions:
            assert question != bank.ask(question.name, question.page)
    numbers = [name for name in names if bank.ask(name, 1).kind == "number"]
    for name in numbers:
        asked = {paper.questions[names.index(name)].ask for paper in papers}
        assert len(asked) > 1, f"{name} has the same numbers on all papers"


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_key_fits_the_papers(language):
    """Check each answer of the key's table against the choices on the paper, and the answers that the bank gives."""
    names = choose_names(["2", "3", "5"], 12, 3)
    papers = make_papers(names, ["Ada", "Grace", ""], 3, language)
    exam = BeautifulSoup(pages.exam(papers, POINTS, language, "A4", ""), "html.parser")
    key = BeautifulSoup(pages.key(papers, POINTS, language, "A4", ""), "html.parser")
    sheets, rows = exam.select(".paper"), key.select("tbody tr")
    assert len(sheets) == len(rows) == len(papers) == len(key.select(".paper"))
    for paper, sheet, row in zip(papers, sheets, rows):
        answers = [cell.get_text() for cell in row.select("td")][1:-1]
        assert row.select("td")[-1].get_text() == str(sum(POINTS[question.kind] for question in paper.questions))
        assert f"/ {paper.points}" in sheet.header.get_text() and paper.name in sheet.header.get_text()
        for question, section, answer in zip(paper.questions, sheet.select("section"), answers, strict=True):
            right = BeautifulSoup(inline(question.right.text), "html.parser").get_text()
            if question.kind == "number":
                assert answer == right and section.select_one(".blank") and not section.select("li")
            else:
                choices = [item.get_text() for item in section.select("ol > li")]
                assert choices["ABCD".index(answer)] == right and len(choices) == 4
            for choice in question.choices:
                said = BeautifulSoup(inline(choice.said), "html.parser").get_text().strip()
                assert said not in section.get_text(), "the paper tells an answer"


@pytest.mark.parametrize(("paper", "language"), [("A4", "en"), ("Letter", "ja")])
def test_papers_are_printed(tmp_path, paper, language):
    command_line = [sys.executable, "-m", "book.exam", "gru", "rnn", "--students", "3", "--questions", "2"]
    command_line += [
        "--paper",
        paper,
        "--language",
        language,
        "--title",
        "Recurrent networks & more",
        "--output",
        tmp_path,
    ]
    process = subprocess.run(command_line, cwd=ROOT, capture_output=True, text=True, check=True)
    assert {path.name for path in tmp_path.iterdir()} == {"exam.html", "exam.pdf", "key.html", "key.pdf"}
    assert len(process.stdout.split()) == 4
    reader = pypdf.PdfReader(tmp_path / "exam.pdf")
    for page in reader.pages:
        size = [float(length) / 72 * 25.4 for length in (page.mediabox.width, page.mediabox.height)]
        assert size == pytest.approx(MILLIMETRES[paper], abs=0.5)
    assert all("Recurrent networks & more" in page.extract_text() for page in reader.pages)
    assert len(reader.pages) == 3, "each paper begins on a sheet of its own"


def test_names_of_students_come_from_a_file(tmp_path):
    (tmp_path / "class.txt").write_text("\ufeffAda Lovelace\n\n김하늘 \n", encoding="utf-8")
    assert command.parse_students(str(tmp_path / "class.txt")) == ["Ada Lovelace", "김하늘"]
    assert command.parse_students("3") == ["", "", ""]


@pytest.mark.parametrize("text", ["0", "100000", "-1", "nobody.txt", "3.5"])
def test_wrong_students_are_refused(text):
    with pytest.raises(ValueError, match=f"--students: '{re.escape(text)}'"):
        command.parse_students(text)


def test_the_command_lists_topics_and_refuses_unknown_ones():
    def run(*arguments):
        process = subprocess.run(
            [sys.executable, "-m", "book.exam", *arguments], cwd=ROOT, capture_output=True, text=True
        )
        return process.returncode, process.stderr

    status, errors = run()
    assert status and re.search(r"(?m)^  gru +\d$", errors)
    assert run("grue")[0] and "no topic 'grue'" in run("grue")[1]
