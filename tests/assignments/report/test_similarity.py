"""Pairs that are alike: copies in disguise are found, and two who had the same idea are not."""

import random
import time

import pytest
from bs4 import BeautifulSoup

from assignments.report import pages, review, similarity
from companion.check.engine import messages
from companion.check.engine.question import all_questions
from tests.assignments.report.disguised import ANSWERS, copies, independent, pieces
from tests.site.browsing import accessible, opened

pytest.importorskip("copydetect")
HOSTILE = [
    '"""' * 66,
    "(" * 200,
    "\\" * 200,
    "\0" * 200,
    "\u202e" * 200,
    "@ " * 100,
    'f"{' * 66,
    "from . " * 28,
    " " * 200,
    "",
]


def stored(student, assignment, source):
    """What a batch keeps of answers, a cell for each."""
    names = {asked.asks_for: question for question, asked in all_questions().items() if asked.assignment == assignment}
    verdicts = []
    for number, (name, code) in enumerate(pieces(source).items(), 1):
        cell = review.piece("a.ipynb", number, code, [])
        verdicts.append({"question": names.pop(name), "assignment": assignment, "mistakes": [], "code": [cell]})
    verdicts += [{"question": one, "assignment": assignment, "mistakes": [], "code": []} for one in names.values()]
    return {"student": student, "language": "en", "assignments": [assignment], "verdicts": verdicts}


def of(name):
    return name.rpartition("_")[0]


def everyone():
    """Return three students, and the two who copied."""
    own = [stored(name, of(name), source) for name, source in ANSWERS.items()]
    return own + [stored(name, of(whose), source) for name, (whose, source) in copies().items()]


def copies_of(whose):
    """A copy's name and source."""
    return next((name, source) for name, (author, source) in copies().items() if author == whose)


@pytest.fixture(scope="module")
def found():
    return similarity.pairs(everyone())


def test_copies_are_found_and_others_are_not(found):
    """Renamed, commented, in another order, in part: each beside whom it is from, and nobody else."""
    wanted = {frozenset((name, whose)) for name, (whose, _) in copies().items()}
    wanted.add(frozenset(("two answers of five", "rnn_2")))  # who has the three others from there
    assert {frozenset(one["students"]) for one in found} == wanted


def test_the_passages_are_those_that_are_alike(found):
    (pair,) = [one for one in found if set(one["students"]) == {"rnn_1", "other names, other order"}]
    own = {student: pieces(source) for student, source in (("rnn_1", ANSWERS["rnn_1"]), copies_of("rnn_1"))}
    assert (
        {"", "rnn_step", "rnn_cell", "rnn", "windows", "rnn_backward"} >= {*pair["found"]} > {"", "rnn", "rnn_backward"}
    )
    for question, (_, sides) in pair["found"].items():
        for student, cells in zip(pair["students"], sides):
            marked = [cell["lines"][line - cell["first"]] for cell in cells for line in cell["named"]]
            lines = [line for source in own[student].values() for line in source.split("\n")]
            assert marked and {*marked} <= {*lines}
            if question == "rnn_backward":
                assert len(marked) > 10 and marked[-1].lstrip().startswith("return")


def test_what_two_alone_have_is_found_after_blank_lines():
    """The lines that are marked are right, wherever a cell begins."""
    source = pieces(ANSWERS["rnn_2"])["rnn_backward"]
    cells = [{"file": "a.ipynb", "cell": 1, "first": 1, "lines": ["", "", "", *source.split("\n")], "named": []}]
    both = similarity.fingerprint(similarity.text_of(cells))
    from copydetect import compare_files

    (cell,) = similarity.passages(cells, compare_files(both, both)[2][0])
    assert cell["named"] == [4 + n for n, line in enumerate(source.split("\n")) if line.strip()]


@pytest.mark.heavy
def test_what_many_write_is_no_finding():
    """A class that writes the same few ways has no pair; who copies something of their own from another still is one.
    Three hundred take less than half a minute."""
    chance, begin = random.Random(3), time.process_time()
    many = [stored(f"s{number}", "rnn", independent(chance)) for number in range(286)]
    same = [stored(f"t{number}", "rnn", ANSWERS["rnn_2"]) for number in range(12)]
    own = [stored("rnn_1", "rnn", ANSWERS["rnn_1"]), stored("copy", "rnn", copies_of("rnn_1")[1])]
    assert [set(one["students"]) for one in similarity.pairs(many + same + own)] == [{"rnn_1", "copy"}]
    assert time.process_time() - begin < 30


def test_what_is_handed_out_and_the_solutions_are_no_finding():
    cells = similarity.code_cells(similarity.ROOT / "assignments" / "source" / "en" / "lstm.ipynb")
    source = "\n\n\n".join(one.replace("### ", "# ") for one in cells if one.startswith(("def ", "class ")))
    source = "\n".join(line for line in source.split("\n") if "SOLUTION" not in line)
    assert similarity.pairs([stored(name, "lstm", source) for name in ("a", "b", "c")]) == []


@pytest.mark.heavy
def test_hostile_text_takes_no_time_and_stays_text():
    """Whatever the cells are made of, and the names."""
    from copydetect import compare_files

    begin, all_graded = time.monotonic(), []
    for _number, text in enumerate(HOSTILE):
        cell = review.piece("<i>.ipynb", 1, "\n".join([text] * 200), [])
        whole = similarity.fingerprint(similarity.text_of([cell]))
        slices = compare_files(whole, whole)[2][0]
        assert (
            all(len(one["lines"]) <= review.LINES for one in similarity.passages([cell], slices))
            if slices.size
            else True
        )
    assert time.monotonic() - begin < 20
    source = ANSWERS["rnn_1"] + "\n\n\ndef one_bias_(w):\n    return '<script>alert(1)</script>'"
    for student in ("<b>a</b>", "b"):
        graded = stored(student, "rnn", ANSWERS["rnn_1"])
        graded["verdicts"][0]["code"] = [review.piece("<i>.ipynb", 1, source, [])]
        all_graded.append(graded)
    made = similarity.page(all_graded, {"<b>a</b>": "a.html", "b": "b.html"}, "en")
    page = BeautifulSoup(made, "html.parser")
    assert not page.select("b, i") and len(page.select("script")) == 1 and "<b>a</b> and b" in page.text
    assert len(page.select(".pair")) == len(page.select("h3")) > 0 and page.select(".pair mark")


@pytest.mark.parametrize("language", messages.languages())
def test_the_page_is_in_the_instructors_language(language):
    page = BeautifulSoup(similarity.page([], {}, language), "html.parser")
    assert page.h1.text == pages.words(language)["similar"]["title"]
    assert pages.words(language)["similar"]["none"] in page.text


@pytest.mark.heavy
def test_the_page_is_accessible(browser, tmp_path):
    path, all_graded = tmp_path / "similar.html", everyone()
    path.write_text(
        similarity.page(all_graded, {one["student"]: "a.html" for one in all_graded}, "en"), encoding="utf-8"
    )
    assert path.stat().st_size < 2**20
    with opened(browser, path.as_uri(), viewport={"width": 360, "height": 700}, bypass_csp=True) as page:
        for width in (360, 1280):
            page.set_viewport_size({"width": width, "height": 700})
            assert page.evaluate("document.documentElement.scrollWidth") <= width
            accessible(page)
