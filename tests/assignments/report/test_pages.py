"""The grader's pages are accessible, and each is in its language."""

import re
from dataclasses import asdict

import pytest
from bs4 import BeautifulSoup

from assignments.grade import judge
from assignments.read.names import page_name
from assignments.report import all_reports, pages, review, summary
from book.editions import editions, finished
from companion.check.engine.question import all_questions, bank
from tests.assignments.report.made_up_verdicts import finding_of, nearly, raises
from tests.project.sampling import chosen
from tests.site.browsing import accessible, opened

FINISHED = [edition.language for edition in finished()]


NAMES = ["ada", "<b>太郎</b>", "김철수", "x" * 90]


def verdict_of(language, answer, question="gates", **more):
    definition, probe_set = all_questions()[question], bank(question, 5)
    verdict = judge.conclude(judge.new_verdict(question), definition, probe_set, finding_of(answer, question), language)
    return asdict(verdict) | {"assignment": definition.assignment, "walls": ["time", "files"]} | more


def mixed_up(x, h, weight_ih, weight_hh, bias_ih, bias_hh):
    f, i, g, o = (x @ weight_ih.T + bias_ih + h @ weight_hh.T + bias_hh).chunk(4, 1)
    return i.sigmoid(), f.sigmoid(), g.tanh(), o.sigmoid()


def made_up(student, language):
    words = pages.words(language)
    remarks = [words["cell_error"].format(cell=3, type="NameError", text="name 'x' is not defined")]
    failed = [asdict(judge.fail(judge.new_verdict("one_bias"), name, words)) for name in words["mistakes"]]
    verdicts = [
        verdict_of(language, mixed_up, remarks=remarks),
        verdict_of(language, nearly),
        verdict_of(language, raises),
        verdict_of(language, all_questions()["gates"].truth),
        *(verdict | {"assignment": "lstm"} for verdict in failed),
    ]
    for verdict, earlier in zip(verdicts, (False, True)):
        verdict["comment"] = {"text": "1 < 2\n  2 > 1", "earlier": earlier}
    return {
        "student": student, "language": language, "assignments": ["lstm"], "verdicts": verdicts, "seeds": {},
        "remarks": [[key, f"{key} 山田.ipynb"] for key in words["remarks"]], "seconds": 1.0,
        "comments": {"lstm": {"text": "3", "earlier": False}},
    }  # fmt: skip


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """Write the pages of one student per language and the instructor's, and return {name: path}."""
    pytest.importorskip("nbgrader.api")
    output = tmp_path_factory.mktemp("grades")
    for folder in ("feedback", "review"):
        (output / folder).mkdir()
    students = {
        NAMES[number] if number < len(NAMES) else language: language for number, language in enumerate(FINISHED)
    }
    all_graded = [made_up(student, language) for student, language in students.items()]
    all_reports.write_reports(output, all_graded, print)
    paths = {language: output / "feedback" / f"{page_name(name)}.html" for name, language in students.items()}
    return paths | {"summary": output / "summary.html", "review": output / "review" / paths["en"].name}


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
            accessible(page, runOnly=["color-contrast"])  # only the colours differ


@pytest.mark.parametrize("name", PAGES)
def test_page_has_its_language_attribute(written, name):
    page = BeautifulSoup(written[name].read_text(encoding="utf-8"), "html.parser")
    wanted = {edition.language: edition.html for edition in editions()} | {"summary": "en", "review": "en"}
    assert page.html["lang"] == wanted[name], (
        f"`html` in assignments/words/{name}.toml and book/{name}/edition.yml differ"
    )


def test_summary_lists_submissions_to_check_and_mistakes(written):
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
        table for table in page.select("table") if "who, where" in table.thead.text and "mistake" in table.thead.text
    ]
    named = [row.select_one("td:nth-of-type(2) code").text for row in mistakes.select("tbody tr")]
    assert len(named) == len(set(named)) and "gates_f_i_g_o" in named
    row = mistakes.select("tbody tr")[named.index("gates_f_i_g_o")]
    assert row.td.text == f"{len(FINISHED)}" and {link.text for link in row.select("a")} == {*NAMES[: len(FINISHED)]}


@pytest.mark.parametrize("language", FINISHED)
def test_a_page_names_ten_files_and_says_once_what_several_questions_share(language):
    words = pages.words(language)
    files = [["other_file", f"img_{number}.png"] for number in range(1000)] + [["encoding", "lstm.ipynb"]]
    unanswered = [
        asdict(judge.fail(judge.new_verdict(question), "no_answer", words)) | {"assignment": "lstm"}
        for question in ("gates", "lstm_cell", "lstm")
    ]
    graded = made_up("ada", language)
    page = pages.student_page(graded | {"remarks": files, "verdicts": [*graded["verdicts"], *unanswered]})
    assert page.count("img_") == 10 and words["page"]["and_others"].format(count=990) in page
    assert words["page"]["and_others"].format(count=1) in page
    assert page.count(words["mistakes"]["no_answer"]["advice"]) == 1
    assert all(f"<code>{name}</code> 0 /" in page for name in ("gates", "lstm_cell", "lstm"))
    assert summary.Summary([graded | {"remarks": files}], {"ada": "ada"}).rows_to_check()[-2][-1].count("img_") == 10


@pytest.mark.parametrize("language", FINISHED)
def test_comments_stand_at_their_answers_in_the_language_of_the_page(language):
    """Check that a comment is text with its lines, and that no answer with a comment is put together with others."""
    graded = made_up("ada", language)
    unanswered = [
        asdict(judge.fail(judge.new_verdict(question), "no_answer", pages.words(language))) | {"assignment": "lstm"}
        for question in ("gates", "lstm_cell", "lstm", "one_bias")
    ]
    unanswered[1]["comment"] = {"text": "<b>Why?</b>", "earlier": False}
    shown = graded | {"verdicts": [*graded["verdicts"][:2], *unanswered], "remarks": []}
    names = {"ada": "ada.html"}
    for text in (pages.student_page(shown), review.page(shown, names, (None, None), {})):
        page = BeautifulSoup(text, "html.parser")
        own = [(part.strong.text, part.select_one(".said").text) for part in page.select(".comment")]
        label, earlier = (pages.words(language)["page"][key] for key in ("comment", "comment_earlier"))
        assert own == [(label, "3"), (label, "1 < 2\n  2 > 1"), (earlier, "1 < 2\n  2 > 1"), (label, "<b>Why?</b>")]
        assert not page.select("b") and len({label, earlier}) == 2
        at = [part.find_previous("h2") for part in page.select(".comment")]
        assert at[0] is None and [head.code.text for head in at[1:]] == ["gates", "gates", "lstm_cell"]
        assert [len(head.select("code")) for head in at[1:]] == [1, 1, 1]


def test_comments_on_several_submissions_name_their_assignments():
    graded = made_up("ada", "en") | {"assignments": ["lstm", "rnn"], "remarks": []}
    whole = {name: {"text": f"On {name}", "earlier": False} for name in graded["assignments"]}
    page = BeautifulSoup(pages.student_page(graded | {"comments": whole}), "html.parser")
    assert [part.code and part.code.text for part in page.select(".comment")] == ["lstm", "rnn", None, None]


def test_students_without_points_are_listed():
    graded = made_up("ada", "en") | {"remarks": []}
    nothing = [verdict | {"points": 0, "mistakes": ["no_answer"]} for verdict in graded["verdicts"]]
    looked_at = lambda verdicts: summary.Summary([graded | {"verdicts": verdicts}], {"ada": "ada"}).rows_to_check()  # noqa: E731
    assert [row[1] for row in looked_at(nothing)] == ["No point at all."]
    assert looked_at([verdict_of("en", all_questions()["gates"].truth)]) == []


def test_tables_are_sorted_by_their_heads(browser, written):
    """Sort by numbers and by words, up and down, with the page's script."""
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
        counts = [int(text) for text in column(1)]
        assert counts == sorted(counts)


def test_name_with_html_is_text(written):
    page = BeautifulSoup(written[FINISHED[1]].read_text(encoding="utf-8"), "html.parser")
    assert NAMES[1] in page.main.text and not page.select("b")


@pytest.mark.parametrize(
    "language",
    [language for language in FINISHED if not re.search("[A-Za-z]", pages.words(language)["page"]["student"])],
)
def test_pages_are_in_one_language(written, language):
    """Check that Latin letters occur only in code, names and symbols where a language has another script."""
    graded = made_up("", language) | {"remarks": []}
    appeal = review.appeals_page([(graded, {"gates": {"probes": [], "before": 1.0}})], {"": "a.html"}, language)
    review_page = review.page(graded, {"": "a.html"}, ("", ""), {"gates": {"probes": [], "before": 1.0}})
    summary_page = summary.summary(
        [graded],
        all_reports.describe_protections({"time"}, language),
        {"": "a.html"},
        language,
        other_pages=summary.OTHER_PAGES,
    )
    for text in (written[language].read_text(encoding="utf-8"), appeal, review_page, summary_page):
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
