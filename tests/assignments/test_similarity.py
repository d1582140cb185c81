"""Pairs that are alike: copies in disguise are found, and two who had the same idea are not."""

import random
import time

import pages
import pytest
import review
import similarity
from bs4 import BeautifulSoup
from browsing import accessible, opened
from disguised import ANSWERS, copies, independent, pieces

from companion.check import saying
from companion.check.question import all_questions

pytest.importorskip("copydetect")
HOSTILE = ['"""' * 66, "(" * 200, "\\" * 200, "\0" * 200, "\u202e" * 200, "@ " * 100, 'f"{' * 66, "from . " * 28, " " * 200, ""]


def stored(student, assignment, source):
    """What a batch keeps of answers, a cell for each."""
    names = {asked.asks_for: question for question, asked in all_questions().items() if asked.assignment == assignment}
    verdicts = []
    for number, (name, code) in enumerate(pieces(source).items(), 1):
        cell = review.piece("a.ipynb", number, code, [])
        verdicts.append({"question": names[name], "assignment": assignment, "mistakes": [], "code": [cell]})
    return {"student": student, "language": "en", "assignments": [assignment], "verdicts": verdicts}


def of(name):
    return name.rpartition("_")[0]


def everyone():
    """The twelve, and the six who copied."""
    own = [stored(name, of(name), source) for name, source in ANSWERS.items()]
    return own + [stored(name, of(whose), source) for name, (whose, source) in copies().items()]


@pytest.fixture(scope="module")
def found():
    return similarity.pairs(everyone())


def test_copies_are_found_and_others_are_not(found):
    """Renamed, commented, in another order, in part: each beside whom it is from, and nobody else."""
    wanted = {frozenset((name, whose)) for name, (whose, _) in copies().items()}
    wanted.add(frozenset(("two answers of four", "lstm_parameters_2")))  # who has the two others from there
    assert {frozenset(one["students"]) for one in found} == wanted


def test_the_passages_are_those_that_are_alike(found):
    (pair,) = [one for one in found if set(one["students"]) == {"embedding_3", "statements swapped"}]
    sides = similarity.opposite(*pair["pieces"], pair["both"])
    assert [one.question for one, _ in sides] == [other.question for _, other in sides]
    for side in zip(*sides):
        for piece in side:
            shown = similarity.passage(piece, pair["both"])
            marked = [shown["lines"][line - shown["first"]] for line in shown["named"]]
            assert all(any(line == one for one in piece.cell["lines"]) for line in marked)
            if piece.question == "lookup":
                assert len(marked) == 3 and marked[0].startswith("def lookup") and marked[2].lstrip().startswith("return")


@pytest.mark.heavy
def test_what_many_write_is_no_finding():
    """A class that writes the same few ways has no pair; who copies something of their own from another still is one."""
    chance = random.Random(3)
    many = [stored(f"s{number}", "rnn", independent(chance)) for number in range(70)]
    same = [stored(f"t{number}", "rnn", ANSWERS["rnn_2"]) for number in range(12)]
    copy = copies()["other names, other order"][1]
    own = [stored("rnn_1", "rnn", ANSWERS["rnn_1"]), stored("copy", "rnn", copy)]
    assert [set(one["students"]) for one in similarity.pairs(many + same + own)] == [{"rnn_1", "copy"}]


def test_what_is_handed_out_and_the_solutions_are_no_finding():
    cells = similarity.code_cells(similarity.ROOT / "assignments" / "source" / "en" / "lstm.ipynb")
    source = "\n\n\n".join(one.replace("### ", "# ") for one in cells if one.startswith(("def ", "class ")))
    source = "\n".join(line for line in source.split("\n") if "SOLUTION" not in line)
    assert similarity.pairs([stored(name, "lstm", source) for name in ("a", "b", "c")]) == []


@pytest.mark.heavy
def test_hostile_text_takes_no_time_and_stays_text():
    """Whatever the cells are made of, and the names."""
    begin, all_graded = time.monotonic(), []
    for number, text in enumerate(HOSTILE):
        cell = review.piece("<i>.ipynb", 1, "\n".join([text] * 200), [])
        mine = [similarity.Piece("gates", cell)]
        assert all(len(one.lines) == 0 or max(one.lines) < review.LINES for one in mine)
    assert time.monotonic() - begin < 20
    source = ANSWERS["lstm_1"] + "\n\n\ndef one_bias_(w):\n    return '<script>alert(1)</script>'"
    for student in ("<b>a</b>", "b"):
        graded = stored(student, "lstm", ANSWERS["lstm_1"])
        graded["verdicts"][0]["code"] = [review.piece("<i>.ipynb", 1, source, [])]
        all_graded.append(graded)
    made = similarity.page(all_graded, {"<b>a</b>": "a.html", "b": "b.html"}, "en")
    page = BeautifulSoup(made, "html.parser")
    assert not page.select("b, i") and len(page.select("script")) == 1 and "<b>a</b> and b" in page.text
    assert len(page.select(".pair")) == len(page.select("h3")) > 0 and page.select(".pair mark")


@pytest.mark.parametrize("language", saying.languages())
def test_the_page_is_in_the_instructors_language(language):
    page = BeautifulSoup(similarity.page([], {}, language), "html.parser")
    assert page.h1.text == pages.words(language)["similar"]["title"]
    assert pages.words(language)["similar"]["none"] in page.text


@pytest.mark.heavy
def test_the_page_is_accessible(browser, tmp_path):
    path, all_graded = tmp_path / "similar.html", everyone()
    path.write_text(similarity.page(all_graded, {one["student"]: "a.html" for one in all_graded}, "en"), encoding="utf-8")
    assert path.stat().st_size < 2**20
    with opened(browser, path.as_uri(), viewport={"width": 360, "height": 700}, bypass_csp=True) as page:
        for width in (360, 1280):
            page.set_viewport_size({"width": width, "height": 700})
            assert page.evaluate("document.documentElement.scrollWidth") <= width
            accessible(page)


@pytest.mark.heavy
def test_three_hundred_take_less_than_half_a_minute():
    chance = random.Random(4)
    many = [stored(f"s{number}", "rnn", independent(chance)) for number in range(300)]
    begin = time.monotonic()
    similarity.pairs(many)
    assert time.monotonic() - begin < 30
