"""The pages that the grader writes: what students' text can do to them, and whether all can read them."""

import re
import sys
from dataclasses import asdict
from functools import cache, partial

import pytest
import torch
from bs4 import BeautifulSoup

from assignments import cli
from assignments.batch import Batch
from assignments.grade import judge
from assignments.read import answers
from assignments.read.names import page_name
from assignments.report import pages, results, review, summary
from assignments.sandbox import protocol
from book.editions import editions
from companion.check.engine import messages
from companion.check.engine.diagnosis import diagnose
from companion.check.engine.question import all_questions, bank
from companion.check.engine.run_answer import observe
from tests.assignments.grading import IMPORTS, cell, notebook, put
from tests.project.sampling import chosen, sample
from tests.site.browsing import accessible, opened
from tests.site.finished_editions import FINISHED

HOSTILE = [
    "<script>alert(1)</script>", "<img src=x onerror=alert(1)>", "&lt;b&gt;", "[a](https://example.org)", "![a](x.png)",
    "<https://example.org>", "https://example.org", "[a]: https://example.org", "[a](javascript:alert(1))",
    "| a | b |\n|---|---|\n| 1 | 2 |", "# a", "a\n===", "- a\n- b", "1. a", "> a", "```\na\n```", "**a**",
    "` [a](//b.org) `", "`` <b>a</b>", "\\` **a**", "a\u2028b\u202eb", "``", "`",
]  # fmt: skip
ALLOWED = {"p", "code", "strong", "ul", "li", "br"}


def tags(said):
    return {one.name for one in BeautifulSoup(said, "html.parser").find_all()}


@pytest.mark.parametrize("text", HOSTILE)
def test_no_text_becomes_html_or_leads_elsewhere(text):
    made = pages.marked(text) + pages.marked(f"**It raises.** `ValueError: {text}`")
    assert tags(made) <= ALLOWED | {"ol"}
    assert "\\" in text or "example.org" not in text or "example.org" in BeautifulSoup(made, "html.parser").text


def raising(text):
    error = {"kind": "raises_error", "type": text, "text": text, "line": 1, "code": text}
    return {"values": {}, "notes": {}, "error": error}


def misnamed(text):
    values = {name: {"kind": "float64", "shape": [1], "numbers": [0]} for name in (text, "i")}
    notes = {"renamed": [["weight_ih", text]], "extra": [text], "library": [text], "plain": [text], "changed": [text]}
    return {"values": values, "notes": notes, "error": None}


def unfit(text):
    return {"values": {}, "notes": {}, "error": {"kind": "wrong_form", "said": {"name": text, "got": text}}}


FORMS = [(text, form) for text in HOSTILE for form in (raising, misnamed, unfit)]


@pytest.mark.parametrize("text, form", sample(FORMS, 4))
def test_students_text_stays_within_its_code(form, text, monkeypatch):
    """No bold word, item or line is made of what a student's process says: it is all in one piece of code."""
    monkeypatch.setattr(judge, "diagnose", partial(diagnose, seconds=0))
    asked, probed = all_questions()["gates"], bank("gates", 5)
    marks = []
    for said in (text, "text"):
        outcomes = [protocol.outcome_of(form(said)) for _ in probed.probes]
        finding = judge.judge(probed, outcomes, asked)
        made = "".join(map(pages.marked, judge.paragraphs(asked, probed, finding, "en")))
        marks.append([one.name for one in BeautifulSoup(made, "html.parser").find_all()])
    assert marks[0] == marks[1] and "code" in marks[0]


def test_only_the_books_own_site_is_linked(monkeypatch):
    site = "https://book.example/en/"
    monkeypatch.setattr(messages, "places", lambda language: {"site": site})
    pages.renderer.cache_clear()
    try:
        assert f'href="{site}lstm.html#loop"' in pages.marked(f"[LSTM]({site}lstm.html#loop)")
        assert "href" not in pages.marked("[LSTM](https://book.example.org/en/) [x](https://book.example/) [y](/en/)")
    finally:
        pages.renderer.cache_clear()


@pytest.mark.parametrize("language", messages.languages())
def test_no_mark_of_markdown_is_left(language):
    """A strong word that ends with a full stop may not be closed before a letter."""
    own = pages.words(language)["mistakes"]
    entries = [*(messages.of_mistake(name, language) for name in names_of_mistakes()), *own.values()]
    for entry in entries:
        made = BeautifulSoup(pages.marked(f"**{entry['says']}** {entry['advice']}\n`name`"), "html.parser")
        for code in made.find_all("code"):
            code.decompose()
        assert "**" not in made.text and "`" not in made.text, made.text
        assert made.find("strong")


def names_of_mistakes():
    return {name for question in all_questions().values() for name in question.mistakes if "~" not in name}


# A made-up batch

NAMES = ["ada", "<b>太郎</b>", "김철수", "x" * 90]


@cache
def finding_of(answer, question):
    """To look for a mistake takes a second, in whatever language it is said then."""
    asked, probed = all_questions()[question], bank(question, 5)
    return diagnose(probed, [observe(asked.call, answer, probe) for probe in probed.probes])


def verdict_of(language, answer, question="gates", **more):
    asked, probed = all_questions()[question], bank(question, 5)
    verdict = judge.concluded(judge.blank(question), asked, probed, finding_of(answer, question), language)
    return asdict(verdict) | {"assignment": asked.assignment, "walls": ["time", "files"]} | more


def raises(*_):
    raise ValueError("<b>no</b> " + "x" * 100)


def mixed_up(x, h, weight_ih, weight_hh, bias_ih, bias_hh):
    f, i, g, o = (x @ weight_ih.T + bias_ih + h @ weight_hh.T + bias_hh).chunk(4, 1)
    return i.sigmoid(), f.sigmoid(), g.tanh(), o.sigmoid()


def nearly(*given):
    i, f, g, o = all_questions()["gates"].truth(*given)
    return i, f, g, o + torch.linspace(0.1, 0.2, o.numel()).reshape(o.shape)


def made_up(student, language):
    said = pages.words(language)
    remarks = [said["cell_error"].format(cell=3, type="NameError", text="name 'x' is not defined")]
    failed = [asdict(judge.failed(judge.blank("one_bias"), name, said)) for name in said["mistakes"]]
    verdicts = [
        verdict_of(language, mixed_up, remarks=remarks),
        verdict_of(language, nearly),
        verdict_of(language, raises),
        verdict_of(language, all_questions()["gates"].truth),
        *(one | {"assignment": "lstm"} for one in failed),
    ]
    return {
        "student": student, "language": language, "assignments": ["lstm"], "verdicts": verdicts, "seeds": {},
        "remarks": [[key, f"{key} 山田.ipynb"] for key in said["remarks"]], "seconds": 1.0,
    }  # fmt: skip


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """The pages of some students, one in each language, and the instructor's: {name: path}."""
    pytest.importorskip("nbgrader.api")
    output = tmp_path_factory.mktemp("grades")
    for folder in ("feedback", "review"):
        (output / folder).mkdir()
    students = {
        NAMES[number] if number < len(NAMES) else language: language for number, language in enumerate(FINISHED)
    }
    all_graded = [made_up(student, language) for student, language in students.items()]
    results.write(output, all_graded, print)
    found = {language: output / "feedback" / f"{page_name(name)}.html" for name, language in students.items()}
    return found | {"summary": output / "summary.html", "review": output / "review" / found["en"].name}


PAGES = [*FINISHED, "summary", "review"]


@pytest.mark.parametrize("name", chosen(PAGES))
def test_pages_are_accessible_and_fit_the_screen(browser, written, name):
    with opened(
        browser, written[name].as_uri(), viewport={"width": 360, "height": 700}, color_scheme="light", bypass_csp=True
    ) as page:
        for width in (360, 1280):
            page.set_viewport_size({"width": width, "height": 700})
            assert page.evaluate("document.documentElement.scrollWidth") <= width
            if name in ("en", *PAGES[-2:]):  # all languages have one structure
                accessible(page)
        if name in PAGES[-2:]:
            page.emulate_media(color_scheme="dark")
            accessible(page, runOnly=["color-contrast"])  # all that is dark are the colours


@pytest.mark.parametrize("name", PAGES)
def test_a_page_says_its_language(written, name):
    page = BeautifulSoup(written[name].read_text(encoding="utf-8"), "html.parser")
    wanted = {edition.language: edition.html for edition in editions()} | {"summary": "en", "review": "en"}
    assert page.html["lang"] == wanted[name], (
        f"`html` in assignments/words/{name}.toml and book/{name}/edition.yml differ"
    )


def test_the_summary_names_what_to_look_at_and_who_erred(written):
    page = BeautifulSoup(written["summary"].read_text(encoding="utf-8"), "html.parser")
    heads = [head.text for head in page.select("h2")]
    assert heads[0] == "Look at these" and "Odd submissions" not in heads
    rows = {
        row[1]: row[2]
        for row in ([cell.text for cell in row.select("td")] for row in page.select("table")[0].select("tbody tr"))
    }
    assert all("ada: one_bias" in rows[pages.words("en")["mistakes"][name]["says"]] for name in summary.ENDED)
    assert "No point at all." not in rows
    (mistakes,) = [
        one for one in page.select("table") if "who, where" in one.thead.text and "mistake" in one.thead.text
    ]
    named = [row.select_one("td:nth-of-type(2) code").text for row in mistakes.select("tbody tr")]
    assert len(named) == len(set(named)) and "gates_f_i_g_o" in named
    row = mistakes.select("tbody tr")[named.index("gates_f_i_g_o")]
    assert row.td.text == f"{len(FINISHED)}" and {link.text for link in row.select("a")} == {*NAMES[: len(FINISHED)]}


def test_who_has_no_point_is_named():
    graded = made_up("ada", "en") | {"remarks": []}
    nothing = [one | {"points": 0, "mistakes": ["no_answer"]} for one in graded["verdicts"]]
    looked_at = lambda verdicts: summary.Summary([graded | {"verdicts": verdicts}], {"ada": "ada"}).to_look_at()  # noqa: E731
    assert [row[1] for row in looked_at(nothing)] == ["No point at all."]
    assert looked_at([verdict_of("en", all_questions()["gates"].truth)]) == []


def test_tables_are_sorted_by_their_heads(browser, written):
    """By numbers and by words, up and down, with the page's own script and no other."""
    with opened(browser, written["summary"].as_uri()) as page:
        table = page.locator("table").last
        column = lambda n: table.locator(f"tbody td:nth-child({n})").all_inner_texts()  # noqa: E731
        head = table.get_by_role("button", name="student")
        head.click()
        names = column(1)
        assert names == page.evaluate(
            "names => [...names].sort((a, b) => a.localeCompare(b, undefined, { numeric: true }))", names
        )
        head.press("Enter")
        assert column(1) == names[::-1] and len(names) > 1
        assert table.locator("th").first.get_attribute("aria-sort") == "descending"
        table = page.locator("h3:has-text('frequent') + div table")
        table.get_by_role("button", name="students").click()
        counts = [int(one) for one in column(1)]
        assert counts == sorted(counts)


def test_a_name_is_a_name(written):
    """Whatever it looks like."""
    page = BeautifulSoup(written[FINISHED[1]].read_text(encoding="utf-8"), "html.parser")
    assert NAMES[1] in page.main.text and not page.select("b")


@pytest.mark.parametrize(
    "language", [one for one in FINISHED if not re.search("[A-Za-z]", pages.words(one)["page"]["student"])]
)
def test_pages_are_in_one_language(written, language):
    """Latin letters are left in code, names and symbols only, where words are written in others."""
    graded = made_up("", language) | {"remarks": []}
    appeal = review.appeals([(graded, {"gates": {"probes": [], "before": 1.0}})], {"": "a.html"}, language)
    mine = review.page(graded, {"": "a.html"}, ("", ""), {"gates": {"probes": [], "before": 1.0}})
    whole = summary.summary(
        [graded], results.abilities({"time"}, language), {"": "a.html"}, language, ways=summary.WAYS
    )
    for text in (written[language].read_text(encoding="utf-8"), appeal, mine, whole):
        page = BeautifulSoup(text, "html.parser").main
        for code in page.select('code, a[href*="#"]'):
            code.decompose()
        names = {
            "lstm",
            "LSTM",
            "torch",
            "UTF",
            "Python",
            "ipynb",
            "notebook",
            "x" * 90,
        }  # Chinese says notebook as well
        assert set(re.findall(r"[A-Za-z]{2,}", page.text)) <= names


# What only the instructor sees

LINES = [IMPORTS, "def helper(a):\n    return a * 2", "def other():\n    return 1", "", "check('gates', gates)"]
ASKED_CODE = "def gates(x, h, *w):\n\ta = '<script>' # \u202e`b`\n    return helper(a)"


def sent_by(folder, code=ASKED_CODE, outputs=(), more=()):
    """A submission of some cells, the fourth of which answers."""
    book = notebook({})
    book["cells"] = [cell(one) for one in (*LINES[:3], code, LINES[4], *more)]
    book["cells"][3]["metadata"] = {"nbgrader": {"grade_id": "gates"}}
    book["cells"][4]["outputs"] = list(outputs)
    put(folder, "ada", "lstm.ipynb", book)
    return answers.submission("ada", folder / "ada")


def judged_so(*mistakes, line=""):
    return judge.Verdict("gates", 0.0, 2, list(mistakes), ["**It raises.**\n`ValueError`\n" + line], walls=["time"])


def judged_only(student, *verdicts, language="en"):
    return {
        "student": student,
        "language": language,
        "assignments": ["lstm"],
        "remarks": [],
        "seeds": {},
        "verdicts": [*verdicts],
    }


def reviewed(submission, verdict, language="en"):
    beside = review.beside(submission, "gates", asdict(verdict), language, "ada")
    graded = judged_only("ada", asdict(verdict) | {"assignment": "lstm"} | beside, language=language)
    made = review.page(graded, {"ada": "ada.html", "bo": "bo.html"}, (None, "bo"), {})
    return BeautifulSoup(made, "html.parser"), graded


def test_code_stands_beside_what_was_found_with_the_line_marked(tmp_path):
    """The answer's cell and the helpers that it uses, open, as text, with its letters shown that would deceive."""
    code = ASKED_CODE.replace("\t", "    ")
    line = messages.words("ja")["results"]["line"].format(line=2, code="a = '<script>' #  'b'")
    page, _ = reviewed(sent_by(tmp_path, code), judged_so("raises_error", line=line), "ja")
    assert page.html["lang"] == "ja" and not page.find("script")
    cells = page.select("#gates details[open] pre")
    assert [one.text for one in cells] == [code.replace("\u202e", r"\u202e"), LINES[1]]
    assert [one.text for one in page.select("pre mark")] == [r"    a = '<script>' # \u202e`b`"]
    right, _ = reviewed(sent_by(tmp_path, code), judged_so())
    assert len(right.select("pre")) == 1  # nobody looks for the helpers of a right answer
    assert {one["href"] for one in page.select("nav a")} == {"../feedback/ada.html", "../summary.html", "bo.html"}


def test_long_code_has_a_bound_and_shows_the_line_that_is_named(tmp_path):
    code = "def gates(x, h, *w):\n" + "\n".join(f"    a = {number}{' ' * 300}# x" for number in range(200))
    line = messages.words("en")["results"]["line"].format(line=171, code=protocol.word(code.split("\n")[170].strip()))
    page, graded = reviewed(sent_by(tmp_path, code), judged_so("raises_error", line=line))
    assert page.select_one("pre mark").text.startswith("    a = 169 ")
    assert f"{201 - review.LINES} more lines" in page.text and len(page.text) < review.LINES * review.LETTERS * 1.2
    assert len(str(graded)) < review.LINES * review.LETTERS * 1.2  # what is stored has the bound, too


@pytest.mark.parametrize("language", messages.languages())
def test_an_answer_that_its_check_called_right_is_to_be_looked_at(tmp_path, language):
    """So is one that counts as not written, and looks written."""
    asked, probed = all_questions()["gates"], bank("gates", 5)
    shown = messages.as_text(messages.Sayer(asked, probed, finding_of(asked.truth, "gates"), language).paragraphs()[0])
    said = pages.words(language)["instructor"]

    spaced = ASKED_CODE.replace("\t", "    ")

    def looked_at(*more, code=spaced):
        page, graded = reviewed(sent_by(tmp_path, code, *more), judged_so("not_written"), language)
        whys = [why for _, why, where in summary.Summary([graded], {"ada": "ada.html"}, language).to_look_at()]
        assert all(
            BeautifulSoup(why, "html.parser").text in page.text for why in whys if why != pages.inline(said["no_point"])
        )
        return whys

    odd = [
        {"output_type": "execute_result", "data": {"text/plain": [shown]}},
        3,
        {"data": {"text/plain": {}}},
        {"text": None},
    ]
    right, written, nothing = (pages.inline(said[key]) for key in ("checked_right", "written", "no_point"))
    assert looked_at(odd) == [right, written, nothing]
    stub = "def gates(x, h, *w):\n    raise NotImplementedError()"
    assert looked_at([], code=stub) == [nothing]
    assert looked_at([], [stub.replace("raise NotImplementedError()", "return 1")], code=stub) == [written, nothing]


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


def test_an_appeal_is_a_page():
    """The first probe on which an answer is wrong is open, what differs is marked; the page of all leads there."""
    asked, probed = all_questions()["gates"], bank("gates", 5)

    def numbers_of(answer):
        shown = zip(probed.probes, probed.expected, [observe(asked.call, answer, probe) for probe in probed.probes])
        said = [
            {"probe": one.to_json(), "right": right.to_json(), "given": given.to_json()} for one, right, given in shown
        ]
        return review.compared({"probes": said}) | {"before": 2.0}

    found = []
    for answer, student in ((asked.truth, "ada"), (nearly, "bo"), (raises, "cy")):
        verdict = judge.Verdict("gates", *((2.0, 2, []) if answer is asked.truth else (0.0, 2, ["raises_error"])), [])
        graded = judged_only(student, asdict(verdict) | {"assignment": "lstm"})
        found.append((graded, {"gates": numbers_of(answer)}))
    names = {"ada": "a.html", "bo": "b.html", "cy": "c.html"}
    every = [BeautifulSoup(review.page(one, names, (None, None), numbers), "html.parser") for one, numbers in found]
    assert not every[0].select("mark, details[open]")
    (fold,) = every[1].select("details[open]")
    assert "wrong: o" in fold.summary.text and [row.td.text for row in fold.select("tr:has(mark)")][0] == "o"
    assert "i" not in [row.td.text for row in fold.select("tr:has(mark)")]
    assert "ValueError: <b>no</b>" in every[2].select_one("details[open]").text and not every[2].select("b")
    page = BeautifulSoup(review.appeals(found, names), "html.parser")
    rows = [[one.text for one in row.select("td")] for row in page.select("tbody tr")]
    first = probed.probes[0].name
    assert [row[0] for row in rows] == ["bo", "cy", "ada"] and rows[2][2:] == ["2 / 2", "2", "–", "–", "–"]
    assert rows[0][2:4] == ["0 / 2", "2"] and rows[0][5:] == [first, "o"] and rows[1][6] == "ValueError"
    assert page.select_one("tbody a")["href"] == "review/b.html#gates"


def test_a_wall_is_said_to_hold_if_it_held_for_all():
    """Several machines may have graded into one folder."""
    graded = [
        judged_only(name, {"walls": walls})
        for name, walls in (("ada", ["time", "network"]), ("bo", ["time"]), ("cy", []))
    ]
    assert results.held_by(graded) == {"time"}


def test_an_appeals_numbers_are_bounded():
    value = {"kind": "float64", "shape": [200_000], "numbers": [0.0] * 200_000}
    one = {
        "given": {"values": {"i": value}, "notes": {}, "error": None},
        "right": {"values": {}, "notes": {}, "error": None},
    }
    assert len(str(review.compared({"probes": [one]}))) < 20_000
    assert len(review.shown(value)) < 1000


@pytest.mark.parametrize("more, says", [
    (["--again", "Nobody"], "no submission of Nobody"),
    (["--again", "grase"], "Is it one of these? grace"),
    (["--assignment", "lsmt"], "no assignment lsmt. Is it one of these? lstm"),
    (["--fresh"], "--fresh goes with --again"),
    (["--seconds", "0"], "--seconds"),
    (["--question", "lstm_sell"], "no question lstm_sell. Is it one of these? lstm_cell"),
    (["--question", "gates", "--again", "grace"], "ask for one of the two"),
])  # fmt: skip
def test_what_is_not_there_is_said_before_anything_is_done(tmp_path, monkeypatch, capsys, more, says):
    for name in ("ada", "grace"):
        put(tmp_path / "sent", name, "lstm.ipynb", "")
    monkeypatch.setattr(sys, "argv", ["cli.py", str(tmp_path / "sent"), "--output", str(tmp_path / "grades"), *more])
    with pytest.raises(SystemExit):
        cli.main()
    assert says in capsys.readouterr().err and not (tmp_path / "grades").exists()


def test_an_appeals_numbers_stay_with_their_grades(tmp_path):
    """Those of another assignment stay; those of an answer that was handed in anew go."""
    put(tmp_path / "sent", "ada", "lstm.ipynb", "")
    batch = Batch(tmp_path / "sent", tmp_path / "grades", ("lstm",), say=lambda text: None)
    path = batch.output / "appeals" / "ada.json"
    one = {"probes": [], "wrong": []}
    wrong = asdict(judge.Verdict("gates", 0.0, 2, ["wrong_values"], [])) | {"assignment": "lstm"}
    graded = judged_only("ada", wrong)
    batch.keep("ada", graded)
    batch.keep("ada", graded | {"numbers": {"gates": one}})
    assert review.appealed(path) == {"gates": one | {"before": 0.0}}
    other = {"verdicts": [wrong | {"question": "rnn_step"}]}
    batch.keep("ada", graded | other | {"numbers": {"rnn_step": one}})
    assert set(review.appealed(path)) == {"gates", "rnn_step"}
    batch.keep("ada", graded)
    assert set(review.appealed(path)) == {"rnn_step"}
