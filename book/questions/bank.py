"""The bank of questions: read them, and ask one with the numbers of a seed."""

import random
import tomllib
from dataclasses import dataclass
from functools import cache
from importlib import import_module

from book.editions import BOOK, ORIGINAL, read
from book.questions.from_checker import find_mistake
from book.questions.parts import WORDS, WRONG, Choice, Numbers, fill, show, shuffled
from companion.check.engine.messages import of_mistake

TRIES = 100  # draws until all choices differ


@dataclass(frozen=True)
class Question:
    """A question as it is asked.

    kind: words, number or code. place: page#cell that shows the answer. known: all known wrong answers of a question
    with numbers, of which `choices` has some.
    """

    name: str
    kind: str
    place: str
    ask: str
    choices: tuple
    known: tuple = ()

    @property
    def page(self):
        return page_of(self.name)

    @property
    def right(self):
        return next(choice for choice in self.choices if choice.right)


@cache
def entries(page, language=ORIGINAL):
    """Return the entries of a page's questions by name, as the file has them."""
    path = WORDS / language / f"{page}.toml"
    return tomllib.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}


def pages():
    """Return the pages that have questions, in the order of the book."""
    found = {path.stem for path in (WORDS / ORIGINAL).glob("*.toml")}
    road = read(BOOK / ORIGINAL).road
    return [page for page in road if page in found] + sorted(found - {*road})


def names(page):
    """Return the names of a page's questions, page/question, in their order."""
    return [f"{page}/{name}" for name in entries(page)]


def entry_of(name, language=ORIGINAL):
    """Return the entry of a question in a language."""
    page, _, key = name.partition("/")
    return entries(page, language)[key]


def page_of(name):
    return name.partition("/")[0]


def kind_of(entry):
    """Return the kind of an entry: words, number or code."""
    return "code" if {"checker", "changed"} & entry.keys() else "words" if "wrong" in entry else "number"


def place_of(name):
    """Return page#cell, the place that shows the answer of a question."""
    return entry_of(name)["place"]


def ask(name, seed, language=ORIGINAL):
    """Return the Question of this name with the numbers and the order of choices of a seed.

    In a language that lacks the question it is English. Raise KeyError if the bank has no such question.
    """
    page, _, key = name.partition("/")
    if key not in entries(page):
        raise KeyError(f"the bank has no question {name!r}; it has {', '.join(names(page)) or 'no such page'}")
    entry = entries(page)[key]
    kind, rng = kind_of(entry), random.Random(f"{name} {seed}")
    if kind == "code":
        text, choices = (find_mistake if "checker" in entry else change_line)(entry, rng, language)
        return Question(name, kind, place_of(name), text, tuple(choices))
    translated = entry | entries(page, language).get(key, {})
    if kind == "words":
        return Question(name, kind, place_of(name), *with_words(translated, rng))
    return Question(name, kind, place_of(name), *with_numbers(name, translated, rng, language))


def change_line(entry, rng, language):
    """Return the text and the choices of a question about a changed line."""
    from book.questions.from_oral import changed_line  # late: it imports the grader

    return changed_line(entry, rng, language)


def with_words(entry, rng):
    """Return the text and the shuffled choices of a question in words."""
    wrong = [Choice(text, False, said) for text, said in rng.sample(entry["wrong"], WRONG)]
    return entry["ask"], tuple(shuffled([Choice(entry["right"], True, entry["because"]), *wrong], rng))


def draw_numbers(name, rng) -> Numbers:
    """Return the Numbers of a question, drawn until no two answers are equal; raise ValueError if they always are."""
    page, _, key = name.partition("/")
    draw = getattr(import_module(f"book.questions.numbers.{page}"), key)
    for _ in range(TRIES):
        numbers = draw(rng)
        answers = [show(value, numbers.digits) for value in (numbers.right, *numbers.mistakes.values())]
        if len({*answers}) == len(answers):
            return numbers
    raise ValueError(f"{name}: in {TRIES} draws two answers were always equal, such as {answers}")


def with_numbers(name, entry, rng, language):
    """Return the text, the choices and all known mistakes of a question whose numbers are drawn.

    The first mistake of the question, which is the most likely one, is always a choice. Numbers stand in their order.
    """
    numbers = draw_numbers(name, rng)
    right = show(numbers.right, numbers.digits)
    values = {key: show(value) for key, value in numbers.values.items()} | {"right": right}
    known = [
        Choice(show(value, numbers.digits), False, fill(words_of_mistake(mistake, entry, language), values))
        for mistake, value in numbers.mistakes.items()
    ]
    choices = [Choice(right, True, fill(entry["because"], values)), known[0], *rng.sample(known[1:], WRONG - 1)]
    if isinstance(numbers.right, int | float):
        choices.sort(key=lambda choice: float(choice.text.replace("−", "-")))
    else:
        choices = shuffled(choices, rng)
    return fill(entry["ask"], values), tuple(choices), tuple(known)


def words_of_mistake(mistake, entry, language):
    """Return what a mistake is: the question's own words, else the checker's."""
    if own := entry.get("mistakes", {}).get(mistake):
        return own
    try:
        return of_mistake(mistake, language)["says"]
    except KeyError as error:
        raise KeyError(f"mistake {mistake!r} has words neither in its question nor in the checker") from error
