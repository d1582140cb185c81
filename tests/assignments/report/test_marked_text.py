"""Text of students on the grader's pages: it becomes no HTML and no link, and stays within its code."""

from functools import partial

import pytest
from bs4 import BeautifulSoup

from assignments.grade import judge
from assignments.report import pages
from assignments.sandbox import protocol
from companion.check.engine import messages
from companion.check.engine.diagnosis import diagnose
from companion.check.engine.question import all_questions, bank
from tests.project.sampling import sample

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
        outcomes = [protocol.parse_outcome(form(said)) for _ in probed.probes]
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
