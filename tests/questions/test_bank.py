"""Test the questions: recompute answers over ten seeds, find their proofs in the chapters, compare languages."""

import json
import random
import re
from functools import cache
from importlib import import_module

import pytest
import torch

from book.editions import BOOK, ORIGINAL, editions, read
from book.questions import bank
from book.questions.parts import WORDS, WRONG, fill, interface
from companion.check.engine.messages import words
from companion.check.engine.question import all_questions

SEEDS = range(10)
QUESTIONS = [name for page in bank.pages() for name in bank.names(page)]
LANGUAGES = [edition.language for edition in editions()]
OTHERS = [language for language in LANGUAGES if language != ORIGINAL]
FIELDS = {
    "words": {"place", "shows", "ask", "right", "because", "wrong"},
    "number": {"place", "shows", "ask", "because"},
    "code": {"place", "shows"},
}
NEUTRAL = {"place", "shows"}  # only in the English file
SPAN = re.compile(r"`[^`]+`")
FENCE = re.compile(r"```.*?```", re.DOTALL)


def of_kind(kind):
    return [name for name in QUESTIONS if bank.kind_of(bank.entry_of(name)) == kind]


@cache
def cells_of(page, language=ORIGINAL):
    """Return cell → its source and outputs as one text, of a page."""
    notebook = json.loads((BOOK / language / f"{page}.ipynb").read_text(encoding="utf-8"))
    texts = {}
    for cell in notebook["cells"]:
        parts = ["".join(cell["source"])]
        for output in cell.get("outputs", ()):
            parts += ["".join(output.get("text", ""))]
            parts += ["".join(data) for kind, data in output.get("data", {}).items() if kind.startswith("text/")]
        texts[cell["id"]] = "\n".join(parts)
    return texts


@pytest.mark.parametrize("name", QUESTIONS)
@pytest.mark.parametrize("language", LANGUAGES)
def test_choices_differ_for_every_seed(name, language):
    for seed in SEEDS:
        question = bank.ask(name, seed, language)
        texts = [choice.text for choice in question.choices]
        assert len({text.strip().casefold() for text in texts}) == len(texts) == WRONG + 1
        assert sum(choice.right for choice in question.choices) == 1
        assert all(choice.said.strip() and choice.text.strip() for choice in question.choices)
        left = FENCE.sub("", " ".join([question.ask, *texts, *(choice.said for choice in question.choices)]))
        assert not re.search(r"\{\w+\}", left) or bank.kind_of(bank.entry_of(name)) == "words"


@pytest.mark.parametrize("name", of_kind("number"))
def test_right_numbers_are_recomputed(name):
    page, _, key = name.partition("/")
    compute = getattr(import_module(f"tests.questions.recomputed.{page}"), key)
    rights = set()
    for seed in SEEDS:
        numbers = bank.draw_numbers(name, random.Random(f"{name} {seed}"))
        expected = compute(**numbers.values)
        if isinstance(numbers.right, float):
            assert expected == pytest.approx(numbers.right, abs=1e-9)
        else:
            assert expected == numbers.right
        rights.add(str(numbers.right))
    assert len(rights) > 1, "each seed has the same answer"


@pytest.mark.parametrize("name", [name for name in of_kind("code") if "checker" in bank.entry_of(name)])
def test_code_with_a_mistake_differs_from_the_right_code(name):
    """Check that the code of each mistake, run on the checker's probes, gives other results than torch."""
    entry, language = bank.entry_of(name), ORIGINAL
    question = all_questions()[entry["checker"]]
    assert len(entry["mistakes"]) > WRONG and set(entry["mistakes"]) <= set(question.names)
    assert len({words(language)["mistakes"][mistake]["says"] for mistake in entry["mistakes"]}) == len(
        entry["mistakes"]
    )
    # tests/check/test_questions.py shows that each mistake is wrong, and that two of them differ
    for seed in SEEDS:
        asked = bank.ask(name, seed)
        code = re.search(r"```python\n(.*?)\n```", asked.ask, re.DOTALL)[1]
        right = question.reference.__self__.changed([]).replace(question.reference.__self__.name, question.asks_for)
        changed = {*code.splitlines()} ^ {*right.rstrip().splitlines()}
        (mistake,) = [
            mistake for mistake in entry["mistakes"] if words(language)["mistakes"][mistake]["says"] == asked.right.text
        ]
        old_and_new = [text for pair in question.reference.__self__.changes[mistake] for text in pair]
        assert any(part.splitlines()[0].strip() in line for part in old_and_new for line in changed)


@pytest.mark.parametrize("name", [name for name in of_kind("code") if "changed" in bank.entry_of(name)])
def test_the_effect_of_a_changed_line_is_that_of_the_code(name):
    """Run the code with the new line on tensors of the shapes in the question, and compare the results."""
    question, kinds = all_questions()[bank.entry_of(name)["changed"]], set()
    for seed in SEEDS:
        asked = bank.ask(name, seed)
        code, *new = re.findall(r"```python\n(.*?)\n```", asked.ask, re.DOTALL)
        lines = [line[4:] for line in code.splitlines()]
        number = int(re.search(r"line (\d+) is changed", asked.ask)[1])
        assert "\n".join(lines) == re.sub("  # .*", "", question.right.rstrip())
        changed = [*lines]
        indent = re.match(" *", lines[number - 1])[0]
        changed[number - 1] = indent + (new[0] if new else "pass")
        torch.manual_seed(seed)
        shapes = re.findall(r"`(\w+)` `\(([\d, ]*)\)`", asked.ask.partition("```")[0])
        inputs = {name: torch.randn([*map(int, shape.rstrip(",").split(","))]) for name, shape in shapes}
        before = run(lines, question.asks_for, inputs)
        kind = asked.right.text.partition(" ")[0]
        kinds.add(kind)
        try:
            after = run(changed, question.asks_for, inputs)
        except Exception as error:
            assert type(error).__name__ in asked.right.text
            continue
        if before.shape != after.shape:
            assert f"`{tuple(after.shape)}`" in asked.right.text
        else:
            assert kind == ("Nothing" if torch.allclose(before, after, atol=1e-6) else "Only")
    assert len(kinds) > 1, "each seed has the same answer"


def run(lines, name, inputs):
    """Return what the function of this name, defined by lines of code, returns for these inputs."""
    namespace = {"torch": torch}
    exec("\n".join(lines), namespace)
    return namespace[name](**inputs)


@pytest.mark.parametrize("name", QUESTIONS)
def test_the_place_shows_the_answer(name):
    entry = bank.entry_of(name)
    assert entry.keys() - {"mistakes", "checker", "changed"} == FIELDS[bank.kind_of(entry)]
    where, _, cell = entry["place"].partition("#")
    assert cell in cells_of(where), f"{where} has no cell {cell}"
    assert entry["shows"] in cells_of(where)[cell]


@pytest.mark.parametrize("name", of_kind("words"))
def test_words_have_enough_wrong_choices(name):
    entry = bank.entry_of(name)
    assert len(entry["wrong"]) >= WRONG
    assert all(len(pair) == 2 for pair in entry["wrong"])


def test_the_length_of_a_choice_tells_nothing():
    """Check that the right choice is not the longest much more often than by chance, one in four."""
    asked = [bank.ask(name, seed) for name in of_kind("words") for seed in SEEDS]
    longest = sum(max(question.choices, key=lambda choice: len(choice.text)).right for question in asked)
    assert longest / len(asked) < 0.4


@pytest.mark.parametrize("language", OTHERS)
def test_translations_have_no_other_files_or_words(language):
    assert interface(language).keys() == interface(ORIGINAL).keys()
    for key, text in interface(language).items():
        assert sorted(re.findall(r"\{\w+\}", text)) == sorted(re.findall(r"\{\w+\}", interface(ORIGINAL)[key]))
    assert {path.name for path in (WORDS / language).iterdir()} <= {path.name for path in (WORDS / ORIGINAL).iterdir()}


@pytest.mark.parametrize("page", bank.pages())
@pytest.mark.parametrize("language", OTHERS)
def test_translations_have_the_same_questions(language, page):
    written = [name for name in bank.names(page) if bank.kind_of(bank.entry_of(name)) != "code"]
    assert [f"{page}/{key}" for key in bank.entries(page, language)] == written
    for name in written:
        entry, translated = bank.entry_of(name), bank.entry_of(name, language)
        assert translated.keys() == entry.keys() - NEUTRAL, name
        assert translated.get("mistakes", {}).keys() == entry.get("mistakes", {}).keys(), name
        for ours, theirs in zip(texts_of(entry), texts_of(translated), strict=True):
            assert sorted(re.findall(r"\{\w+\}", ours)) == sorted(re.findall(r"\{\w+\}", theirs)), (name, theirs)
            assert spans(ours) == spans(theirs), (name, theirs)
            assert blocks_of_code(ours) == blocks_of_code(theirs), (name, theirs)
            assert ours != theirs or not re.search(r"[a-z]{4}", SPAN.sub("", FENCE.sub("", ours))), (name, theirs)


def spans(text):
    """Return the inline code of a text."""
    return sorted(SPAN.findall(FENCE.sub("", text)))


def blocks_of_code(text):
    """Return the lines of the blocks of code in a text, without comments, which are translated."""
    return [line.partition("#")[0].rstrip() for block in FENCE.findall(text) for line in block.splitlines()]


def texts_of(entry):
    """Return the texts of an entry that are translated, in order."""
    texts = [entry["ask"], entry.get("right", ""), entry["because"]]
    texts += [text for pair in entry.get("wrong", ()) for text in pair]
    mistakes = entry.get("mistakes", {})
    return texts + [mistakes[key] for key in sorted(mistakes)]


@pytest.mark.parametrize("name", of_kind("number"))
def test_every_mistake_has_words(name):
    entry = bank.entry_of(name)
    drawn = bank.draw_numbers(name, random.Random(0)).mistakes
    assert len(drawn) >= WRONG
    assert entry.get("mistakes", {}).keys() <= drawn.keys(), "words without a mistake"
    for language in LANGUAGES:
        assert all(bank.words_of_mistake(mistake, entry, language) for mistake in drawn)


def test_each_chapter_has_questions_and_the_bank_is_large():
    for page in read(BOOK / ORIGINAL).road:
        assert len(bank.names(page)) >= 4 - (page in ("newton", "sizes")), page
    assert len(QUESTIONS) >= 145


def test_an_unknown_question_is_refused_by_name():
    with pytest.raises(KeyError, match="no question 'rnn/unknown'; it has rnn/parameters"):
        bank.ask("rnn/unknown", 0)


def test_a_question_whose_answers_are_always_equal_is_refused(monkeypatch):
    module = import_module("book.questions.numbers.rnn")
    monkeypatch.setattr(module, "parameters", lambda rng: bank.Numbers(1, {"one_bias": 1}, {}))
    with pytest.raises(ValueError, match="rnn/parameters: in 100 draws two answers were always equal, such as"):
        bank.ask("rnn/parameters", 0)


@pytest.mark.parametrize(
    ("value", "digits", "text"),
    [(-3, None, "−3"), (-0.0004, 3, "0.000"), (-0.7, None, "−0.7"), ((5, 3), None, "`(5, 3)`"), (0.25, 2, "0.25"),
     (torch.tensor([[-0.5], [2.0]]), None, "−0.5, 2"), ("`x - 1`", None, "`x - 1`")],
)  # fmt: skip
def test_numbers_are_shown(value, digits, text):
    assert bank.show(value, digits) == text


def test_only_names_of_values_are_filled_in():
    assert fill("{a} of {b} in {'k': 1}", {"a": "1"}) == "1 of {b} in {'k': 1}"
