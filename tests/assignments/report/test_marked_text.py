"""Students' text on the grader's pages becomes no HTML and no link, and stays inside its code."""

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


def tags(text):
    return {tag.name for tag in BeautifulSoup(text, "html.parser").find_all()}


@pytest.mark.parametrize("text", HOSTILE)
def test_text_becomes_no_html_and_no_link(text):
    made = pages.render_markdown(text) + pages.render_markdown(f"**It raises.** `ValueError: {text}`")
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
def test_students_text_stays_inside_code(form, text, monkeypatch):
    """Check that a worker's message makes no bold word, item or line outside one piece of code."""
    monkeypatch.setattr(judge, "diagnose", partial(diagnose, seconds=0))
    question, probe_set = all_questions()["gates"], bank("gates", 5)
    tags_made = []
    for content in (text, "text"):
        outcomes = [protocol.parse_outcome(form(content)) for _ in probe_set.probes]
        finding = judge.diagnose_outcomes(probe_set, outcomes, question)
        made = "".join(map(pages.render_markdown, judge.write_paragraphs(question, probe_set, finding, "en")))
        tags_made.append([tag.name for tag in BeautifulSoup(made, "html.parser").find_all()])
    assert tags_made[0] == tags_made[1] and "code" in tags_made[0]


def test_only_the_books_own_site_is_linked(monkeypatch):
    site = "https://book.example/en/"
    monkeypatch.setattr(messages, "places", lambda language: {"site": site})
    pages.renderer.cache_clear()
    try:
        assert f'href="{site}lstm.html#loop"' in pages.render_markdown(f"[LSTM]({site}lstm.html#loop)")
        assert "href" not in pages.render_markdown(
            "[LSTM](https://book.example.org/en/) [x](https://book.example/) [y](/en/)"
        )
    finally:
        pages.renderer.cache_clear()


@pytest.mark.parametrize("language", messages.languages())
def test_no_markdown_marks_are_left(language):
    """Check bold text that ends with a full stop before a letter, which Markdown may not close."""
    grader_words = pages.words(language)["mistakes"]
    entries = [*(messages.of_mistake(name, language) for name in names_of_mistakes()), *grader_words.values()]
    for entry in entries:
        made = BeautifulSoup(pages.render_markdown(f"**{entry['says']}** {entry['advice']}\n`name`"), "html.parser")
        for code in made.find_all("code"):
            code.decompose()
        assert "**" not in made.text and "`" not in made.text, made.text
        assert made.find("strong")


def names_of_mistakes():
    return {name for question in all_questions().values() for name in question.mistakes if "~" not in name}
