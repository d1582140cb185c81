"""The pages that the grader writes: what students' text can do to them, and whether all can read them."""

import re
from dataclasses import asdict
from functools import partial

import asking
import grade
import pages
import pytest
import torch
from browsing import accessible, opened
from bs4 import BeautifulSoup
from editions import editions
from finished import FINISHED
from sampling import chosen, sample

from companion.check import saying
from companion.check.diagnosis import diagnose
from companion.check.question import all_questions, bank
from companion.check.running import observe

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
    values = {name: {"whole": False, "shape": [1], "numbers": [0]} for name in (text, "i")}
    notes = {"renamed": [["weight_ih", text]], "extra": [text], "library": [text], "plain": [text], "changed": [text]}
    return {"values": values, "notes": notes, "error": None}


def unfit(text):
    return {"values": {}, "notes": {}, "error": {"kind": "wrong_form", "said": {"name": text, "got": text}}}


FORMS = [(text, form) for text in HOSTILE for form in (raising, misnamed, unfit)]


@pytest.mark.parametrize("text, form", sample(FORMS, 4))
def test_students_text_stays_within_its_code(form, text, monkeypatch):
    """No bold word, item or line is made of what a student's process says: it is all in one piece of code."""
    monkeypatch.setattr(asking, "diagnose", partial(diagnose, seconds=0))
    asked, probed = all_questions()["gates"], bank("gates", 5)
    marks = []
    for said in (text, "text"):
        outcomes = [asking.outcome_of(form(said)) for _ in probed.probes]
        finding = asking.judge(probed, outcomes, asked)
        made = "".join(map(pages.marked, asking.paragraphs(asked, probed, finding, "en")))
        marks.append([one.name for one in BeautifulSoup(made, "html.parser").find_all()])
    assert marks[0] == marks[1] and "code" in marks[0]


def test_only_the_books_own_site_is_linked(monkeypatch):
    site = "https://book.example/en/"
    monkeypatch.setattr(saying, "places", lambda language: {"site": site})
    pages.renderer.cache_clear()
    try:
        assert f'href="{site}lstm.html#loop"' in pages.marked(f"[LSTM]({site}lstm.html#loop)")
        assert "href" not in pages.marked("[LSTM](https://book.example.org/en/) [x](https://book.example/) [y](/en/)")
    finally:
        pages.renderer.cache_clear()


@pytest.mark.parametrize("language", saying.languages())
def test_no_mark_of_markdown_is_left(language):
    """A strong word that ends with a full stop may not be closed before a letter."""
    own = pages.words(language)["mistakes"]
    entries = [*(saying.of_mistake(name, language) for name in names_of_mistakes()), *own.values()]
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


def verdict_of(language, answer, question="gates", **more):
    asked, probed = all_questions()[question], bank(question, 5)
    found = diagnose(probed, [observe(asked.call, answer, probe) for probe in probed.probes])
    verdict = asking.concluded(asking.blank(question), asked, probed, found, language)
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
    failed = [asdict(asking.failed(asking.blank("one_bias"), name, said)) for name in said["mistakes"]]
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
    (output / "feedback").mkdir()
    students = {NAMES[number] if number < len(NAMES) else language: language for number, language in enumerate(FINISHED)}
    all_graded = [made_up(student, language) for student, language in students.items()]
    grade.write(output, all_graded, print)
    found = {language: output / "feedback" / f"{grade.page_name(name)}.html" for name, language in students.items()}
    return found | {"summary": output / "summary.html"}


PAGES = [*FINISHED, "summary"]


@pytest.mark.parametrize("name", chosen(PAGES, "ja"))
def test_pages_are_accessible_and_fit_the_screen(browser, written, name):
    with opened(browser, written[name].as_uri(), viewport={"width": 360, "height": 700}, color_scheme="light", bypass_csp=True) as page:
        for width in (360, 1280):
            page.set_viewport_size({"width": width, "height": 700})
            assert page.evaluate("document.documentElement.scrollWidth") <= width
            accessible(page)
        page.emulate_media(color_scheme="dark")
        accessible(page, runOnly=["color-contrast"])  # all that is dark are the colours


@pytest.mark.parametrize("name", PAGES)
def test_a_page_says_its_language(written, name):
    page = BeautifulSoup(written[name].read_text(encoding="utf-8"), "html.parser")
    wanted = {edition.language: edition.html for edition in editions()} | {"summary": "en"}
    assert page.html["lang"] == wanted[name], f"`html` in assignments/words/{name}.toml and book/{name}/edition.yml differ"


def test_the_summary_names_what_to_look_at_and_who_erred(written):
    page = BeautifulSoup(written["summary"].read_text(encoding="utf-8"), "html.parser")
    heads = [head.text for head in page.select("h2")]
    assert heads[0] == "Look at these" and "Odd submissions" not in heads
    rows = {tuple(cell.text for cell in row.select("td")) for row in page.select("table")[0].select("tbody tr")}
    assert {("ada", pages.words("en")["mistakes"][name]["says"], "one_bias") for name in pages.ENDED} <= rows
    assert not any("No point at all." in row for row in rows)
    (mistakes,) = [one for one in page.select("table") if "mistake" in one.thead.text]
    named = [row.select_one("td:nth-of-type(2) code").text for row in mistakes.select("tbody tr")]
    assert len(named) == len(set(named)) and "gates_f_i_g_o" in named
    row = mistakes.select("tbody tr")[named.index("gates_f_i_g_o")]
    assert row.td.text == f"{len(FINISHED)}" and {link.text for link in row.select("a")} == {*NAMES[: len(FINISHED)]}


def test_who_has_no_point_is_named():
    graded = made_up("ada", "en") | {"remarks": []}
    nothing = [one | {"points": 0, "mistakes": ["no_answer"]} for one in graded["verdicts"]]
    said = pages.look_at([graded | {"verdicts": nothing}], {"ada": "ada"})
    assert "No point at all." in said and said.count("<tr>") == 2
    assert pages.look_at([graded | {"verdicts": [verdict_of("en", all_questions()["gates"].truth)]}], {"ada": "ada"}) == ""


def test_tables_are_sorted_by_their_heads(browser, written):
    """By numbers and by words, up and down, with the page's own script and no other."""
    with opened(browser, written["summary"].as_uri()) as page:
        table = page.locator("table").last
        column = lambda n: table.locator(f"tbody td:nth-child({n})").all_inner_texts()  # noqa: E731
        head = table.get_by_role("button", name="student")
        head.click()
        names = column(1)
        assert names == page.evaluate("names => [...names].sort((a, b) => a.localeCompare(b, undefined, { numeric: true }))", names)
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


@pytest.mark.parametrize("language", [one for one in FINISHED if not re.search("[A-Za-z]", pages.words(one)["page"]["student"])])
def test_a_students_page_is_in_one_language(written, language):
    """Latin letters are left in code, names and symbols only, where words are written in others."""
    page = BeautifulSoup(written[language].read_text(encoding="utf-8"), "html.parser").main
    for code in page.find_all("code"):
        code.decompose()
    names = {"lstm", "LSTM", "torch", "UTF", "Python", "notebook", "x" * 90}  # Chinese says notebook as well
    assert set(re.findall(r"[A-Za-z]{2,}", page.text)) <= names
