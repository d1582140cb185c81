"""The pages that the grader writes: all can read them, each in its language."""

import re
from dataclasses import asdict

import pytest
from bs4 import BeautifulSoup

from assignments.grade import judge
from assignments.read.names import page_name
from assignments.report import pages, results, review, summary
from book.editions import editions, finished
from companion.check.engine.question import all_questions, bank
from tests.assignments.report.made_up_verdicts import finding_of, nearly, raises
from tests.project.sampling import chosen
from tests.site.browsing import accessible, opened

FINISHED = [edition.language for edition in finished()]


NAMES = ["ada", "<b>太郎</b>", "김철수", "x" * 90]


def verdict_of(language, answer, question="gates", **more):
    asked, probed = all_questions()[question], bank(question, 5)
    verdict = judge.concluded(judge.blank(question), asked, probed, finding_of(answer, question), language)
    return asdict(verdict) | {"assignment": asked.assignment, "walls": ["time", "files"]} | more


def mixed_up(x, h, weight_ih, weight_hh, bias_ih, bias_hh):
    f, i, g, o = (x @ weight_ih.T + bias_ih + h @ weight_hh.T + bias_hh).chunk(4, 1)
    return i.sigmoid(), f.sigmoid(), g.tanh(), o.sigmoid()


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
