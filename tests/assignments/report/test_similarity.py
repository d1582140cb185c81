"""Pairs that are too much alike: disguised copies are found, independent answers are not."""

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
    """Return a student's result with these answers, one cell for each."""
    names = {entry.asks_for: question for question, entry in all_questions().items() if entry.assignment == assignment}
    verdicts = []
    for number, (name, code) in enumerate(pieces(source).items(), 1):
        cell = review.cell_excerpt("a.ipynb", number, code, [])
        verdicts.append({"question": names.pop(name), "assignment": assignment, "mistakes": [], "code": [cell]})
    verdicts += [
        {"question": question, "assignment": assignment, "mistakes": [], "code": []} for question in names.values()
    ]
    return {"student": student, "language": "en", "assignments": [assignment], "verdicts": verdicts}


def assignment_of(name):
    return name.rpartition("_")[0]


def everyone():
    """Return the results of three students and of the two who copied."""
    originals = [stored(name, assignment_of(name), source) for name, source in ANSWERS.items()]
    return originals + [stored(name, assignment_of(author), source) for name, (author, source) in copies().items()]


def copies_of(student):
    """Return the name and source of a student's copy."""
    return next((name, source) for name, (author, source) in copies().items() if author == student)


@pytest.fixture(scope="module")
def pairs():
    return similarity.pairs(everyone())


def test_only_copies_are_found(pairs):
    """Check that each copy is paired with its author only, whether renamed, commented, reordered or partial."""
    wanted = {frozenset((name, author)) for name, (author, _) in copies().items()}
    wanted.add(frozenset(("two answers of five", "rnn_2")))  # the source of the three other answers
    assert {frozenset(pair["students"]) for pair in pairs} == wanted


def test_similar_passages_are_marked(pairs):
    (pair,) = [pair for pair in pairs if set(pair["students"]) == {"rnn_1", "other names, other order"}]
    own_parts = {student: pieces(source) for student, source in (("rnn_1", ANSWERS["rnn_1"]), copies_of("rnn_1"))}
    assert (
        {"", "rnn_step", "rnn_cell", "rnn", "windows", "rnn_backward"}
        >= {*pair["matches"]}
        > {"", "rnn", "rnn_backward"}
    )
    for question, (_, sides) in pair["matches"].items():
        for student, cells in zip(pair["students"], sides):
            marked = [cell["lines"][line - cell["first"]] for cell in cells for line in cell["named"]]
            lines = [line for source in own_parts[student].values() for line in source.split("\n")]
            assert marked and {*marked} <= {*lines}
            if question == "rnn_backward":
                assert len(marked) > 10 and marked[-1].lstrip().startswith("return")


def test_marked_lines_after_blank_lines():
    """Check that the right lines are marked wherever a cell begins."""
    source = pieces(ANSWERS["rnn_2"])["rnn_backward"]
    cells = [{"file": "a.ipynb", "cell": 1, "first": 1, "lines": ["", "", "", *source.split("\n")], "named": []}]
    both = similarity.fingerprint(similarity.text_of(cells))
    from copydetect import compare_files

    (cell,) = similarity.passages(cells, compare_files(both, both)[2][0])
    assert cell["named"] == [4 + number for number, line in enumerate(source.split("\n")) if line.strip()]


@pytest.mark.heavy
def test_common_code_is_not_compared():
    """Check a class that writes the same few ways, and in it one copy of original code.

    Three hundred students take less than half a minute.
    """
    chance, begin = random.Random(3), time.process_time()
    many = [stored(f"s{number}", "rnn", independent(chance)) for number in range(286)]
    same = [stored(f"t{number}", "rnn", ANSWERS["rnn_2"]) for number in range(12)]
    own = [stored("rnn_1", "rnn", ANSWERS["rnn_1"]), stored("copy", "rnn", copies_of("rnn_1")[1])]
    assert [set(pair["students"]) for pair in similarity.pairs(many + same + own)] == [{"rnn_1", "copy"}]
    assert time.process_time() - begin < 30


def test_given_code_and_solutions_are_not_compared():
    cells = similarity.code_cells(similarity.ROOT / "assignments" / "source" / "en" / "lstm.ipynb")
    source = "\n\n\n".join(cell.replace("### ", "# ") for cell in cells if cell.startswith(("def ", "class ")))
    source = "\n".join(line for line in source.split("\n") if "SOLUTION" not in line)
    assert similarity.pairs([stored(name, "lstm", source) for name in ("a", "b", "c")]) == []


@pytest.mark.heavy
def test_hostile_text_is_fast_and_escaped():
    """Check hostile cells and names."""
    from copydetect import compare_files

    begin, all_graded = time.monotonic(), []
    for _number, text in enumerate(HOSTILE):
        cell = review.cell_excerpt("<i>.ipynb", 1, "\n".join([text] * 200), [])
        whole = similarity.fingerprint(similarity.text_of([cell]))
        slices = compare_files(whole, whole)[2][0]
        assert (
            all(len(passage["lines"]) <= review.LINES for passage in similarity.passages([cell], slices))
            if slices.size
            else True
        )
    assert time.monotonic() - begin < 20
    source = ANSWERS["rnn_1"] + "\n\n\ndef one_bias_(w):\n    return '<script>alert(1)</script>'"
    for student in ("<b>a</b>", "b"):
        graded = stored(student, "rnn", ANSWERS["rnn_1"])
        graded["verdicts"][0]["code"] = [review.cell_excerpt("<i>.ipynb", 1, source, [])]
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
        similarity.page(all_graded, {graded["student"]: "a.html" for graded in all_graded}, "en"), encoding="utf-8"
    )
    assert path.stat().st_size < 2**20
    with opened(browser, path.as_uri(), viewport={"width": 360, "height": 700}, bypass_csp=True) as page:
        for width in (360, 1280):
            page.set_viewport_size({"width": width, "height": 700})
            assert page.evaluate("document.documentElement.scrollWidth") <= width
            accessible(page)
