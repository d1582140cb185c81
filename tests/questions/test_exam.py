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
from book.exam.papers import POINTS, choose_names, has_numbers, make_papers, topics
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
        assert sum(map(has_numbers, names)) == 5  # of twelve
    assert choose_names(["2", "3"], 5, 1) == choose_names(["2", "3"], 5, 1)
    assert len({tuple(choose_names(["2", "3"], 5, seed)) for seed in range(5)}) > 1


def test_questions_can_be_chosen_and_left_out_by_name():
    every = bank.names("gru")
    assert choose_names(["gru/parameters"], 1, 1) == ["gru/parameters"]
    left = choose_names(["gru"], len(every) - 1, 1, ["gru/parameters"])
    assert left == [name for name in every if name != "gru/parameters"]
    for seed in range(5):
        names = choose_names(["2", "3", "lstm/forget_rows"], 12, seed)
        assert "lstm/forget_rows" in names and len({*map(bank.page_of, names)}) == 12
        assert "gru/parameters" not in choose_names(["rnn", "gru"], 5, seed, ["gru/parameters"])
        assert {*map(bank.page_of, choose_names(["2"], 5, seed, ["rnn", "embedding"]))}.isdisjoint({"rnn", "embedding"})


@pytest.mark.parametrize(
    ("chosen", "count", "message"),
    [
        (["gru", "grue"], 2, "no topic or question 'grue'; topics are 1, 2, 3, 4, 5, "),
        (["gru", "rnn/parameters", "gru/parameters"], 1, r"gives 2 to \d+$"),
        (["gru/unknown"], 1, "no topic or question 'gru/unknown'"),
        (["gru"], 99, r"99 questions are asked for; gru gives 1 to \d+$"),
        (["gru", "rnn"], 0, r"0 questions are asked for; gru rnn gives 1 to \d+$"),
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
        assert sorted(question.name for question in paper.questions) == sorted(names)
        for question in paper.questions:
            assert question != bank.ask(question.name, question.page)
    orders = {tuple(question.name for question in paper.questions) for paper in papers}
    assert len(orders) > 25, "the questions stand in the same order on many papers"


def test_papers_have_the_same_points_at_each_place_and_other_numbers_than_their_neighbours():
    papers = make_papers(choose_names(["1", "2", "3"], 12, 1), [""] * 12, 1)
    points = {tuple(POINTS[question.kind] for question in paper.questions) for paper in papers}
    assert len(points) == 1 and papers[0].points == sum(points.pop())
    for first, second, third in zip(papers, papers[1:], papers[2:]):
        texts = [
            {question.ask for question in paper.questions if question.kind == "number"}
            for paper in (first, second, third)
        ]
        assert all(texts) and not texts[0] & texts[1] and not texts[0] & texts[2]


def parse(text):
    return BeautifulSoup(text, "html.parser")


def plain(markdown):
    """Return the words of a text in Markdown."""
    return parse(inline(markdown)).get_text().strip()


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_key_fits_the_papers(language):
    """Check each answer of the key's table against the choices on the paper, and the answers that the bank gives."""
    names = choose_names(["2", "3", "5"], 12, 3)
    papers = make_papers(names, ["Ada", "Grace", ""], 3, language)
    exam, key, answers = (
        parse(make(papers, POINTS, language, "A4", "")) for make in (pages.exam, pages.key, pages.answers)
    )
    sheets, rows, wrong = exam.select(".paper"), key.select("tbody tr"), key.select(".wrong")
    assert len(sheets) == len(rows) == len(wrong) == len(answers.select(".paper")) == len(papers)
    values = [cell.get_text() for cell in key.select("thead tr")[1].select("td")]
    for paper, sheet, row, mistakes, told in zip(papers, sheets, rows, wrong, answers.select(".paper")):
        right_answers = [cell.get_text() for cell in row.select("td")][1:-1]
        assert values == [*(str(POINTS[question.kind]) for question in paper.questions), str(paper.points)]
        assert f"/ {paper.points}" in sheet.header.get_text() and paper.name in sheet.header.get_text()
        rest = zip(sheet.select("section"), right_answers, told.select("section"))
        for number, (question, (section, answer, reason)) in enumerate(
            zip(paper.questions, rest, strict=True), start=1
        ):
            right = plain(question.right.text)
            if question.kind == "number":
                assert answer == right and section.select_one(".blank") and not section.select("li")
                listed = mistakes.select_one(f'li[value="{number}"]').get_text()
                assert len(question.known) >= 3
                assert all(plain(choice.text) in listed and plain(choice.said) in listed for choice in question.known)
            else:
                choices = [item.get_text() for item in section.select("ol > li")]
                assert choices["ABCD".index(answer)] == right and len(choices) == 4
                assert not mistakes.select(f'li[value="{number}"]')
            for choice in question.choices:
                assert plain(choice.said) not in section.get_text(), "the paper tells an answer"
                assert plain(choice.said) in reason.get_text()


@pytest.mark.parametrize(("paper", "language"), [("A4", "en"), ("Letter", "ja")])
def test_papers_are_printed(tmp_path, paper, language):
    names = ['Ada "L" </style>', "Grace", "Mary"]
    (tmp_path / "class.txt").write_text("\n".join(names), encoding="utf-8")
    output, title = tmp_path / "out", "Networks & more"
    command_line = [sys.executable, "-m", "book.exam", "gru", "rnn", "--students", tmp_path / "class.txt"]
    command_line += ["--questions", "2", "--minutes", "45", "--paper", paper, "--language", language, "--title", title]
    process = subprocess.run([*command_line, "--output", output], cwd=ROOT, capture_output=True, text=True, check=True)
    written = {f"{name}.{end}" for name in ("exam", "key", "answers") for end in ("html", "pdf")}
    assert {path.name for path in output.iterdir()} == written and len(process.stdout.splitlines()) == 8
    sheets = pypdf.PdfReader(output / "exam.pdf").pages
    for page in sheets:
        size = [float(length) / 72 * 25.4 for length in (page.mediabox.width, page.mediabox.height)]
        assert size == pytest.approx(MILLIMETRES[paper], abs=0.5)
    texts = [page.extract_text() for page in sheets]
    # Two short questions need one page, so a paper is a sheet with an empty back.
    assert len(texts) == 6 and not any(texts[1::2])
    for name, text in zip(names, texts[::2], strict=True):
        assert text.count(name) == 2 and title in text and "1 / 1" in text and "45" in text


def test_names_of_students_come_from_a_file(tmp_path):
    (tmp_path / "class.txt").write_text("\ufeffAda Lovelace\n\n김하늘 \n", encoding="utf-8")
    assert command.parse_students(str(tmp_path / "class.txt")) == ["Ada Lovelace", "김하늘"]
    assert command.parse_students("3") == ["", "", ""]


@pytest.mark.parametrize("text", ["0", "100000", "-1", "nobody.txt", "3.5"])
def test_wrong_students_are_refused(text):
    with pytest.raises(ValueError, match=f"--students: '{re.escape(text)}'"):
        command.parse_students(text)


@pytest.fixture
def run(monkeypatch, capsys):
    """Return a function that runs the command without printing PDFs, and returns its error and its output."""

    def run_command(*arguments):
        monkeypatch.setattr(sys, "argv", ["exam", *map(str, arguments)])
        monkeypatch.setattr(command, "open_browser", no_browser)
        try:
            command.main()
        except SystemExit as end:
            return end.code, capsys.readouterr().out
        return None, capsys.readouterr().out

    return run_command


def no_browser():
    raise RuntimeError("no browser")


def test_the_command_lists_topics(run):
    error, output = run()
    assert not error and re.search(r"(?m)^  gru +\d$", output) and re.search(r"(?m)^  3 +\d+  lstm, gru, ", output)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [(["grue"], "no topic or question 'grue'"), (["gru", "--seed", "../x"], "--seed: '../x' has other characters")],
)
def test_the_command_refuses_wrong_arguments(run, arguments, message):
    assert message in run(*arguments)[0]


def test_nobody_can_repeat_an_exam_without_its_seed(run, tmp_path):
    def papers(folder, *seed):
        error, output = run("gru", "--questions", "3", "--output", tmp_path / folder, *seed)
        assert not error and "exam.html" in output and "exam.pdf" not in output
        return re.search(r"again: (\S+)", output)[1], (tmp_path / folder / "exam.html").read_text(encoding="utf-8")

    seed, first = papers("first")
    assert papers("second")[1] != first and papers("third", "--seed", seed)[1] == first
