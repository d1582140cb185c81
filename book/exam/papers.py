"""Choose the questions of an exam, and ask them anew on each student's paper."""

import random
from dataclasses import dataclass

from book.editions import BOOK, ORIGINAL, page_names, read
from book.questions import bank

POINTS = {"words": 1, "code": 1, "number": 2}


@dataclass(frozen=True)
class Paper:
    """The paper of a student. name: the student's name, or an empty string."""

    number: int
    name: str
    questions: tuple

    @property
    def points(self):
        return sum(POINTS[question.kind] for question in self.questions)


def topics():
    """Return topic → its pages that have questions: the parts of the road by number, and each page."""
    pages = bank.pages()
    parts = [part for part in read(BOOK / ORIGINAL).table["parts"] if part.get("numbered")]
    numbered = {
        str(number): [page for page in page_names(part) if page in pages] for number, part in enumerate(parts, start=1)
    }
    return numbered | {page: [page] for page in pages}


def choose_names(chosen, count, seed):
    """Return the names of an exam's questions in the order of the book: as many from each page as possible.

    Raise ValueError for an unknown topic, and if the topics have too few questions.
    """
    known = topics()
    for topic in chosen:
        if topic not in known:
            raise ValueError(f"no topic {topic!r}; topics are {', '.join(known)}")
    pages = [page for page in bank.pages() if any(page in known[topic] for topic in chosen)]
    rng = random.Random(f"exam {seed}")
    piles = [rng.sample(names, len(names)) for names in map(bank.names, pages)]
    available = sum(map(len, piles))
    if not 1 <= count <= available:
        raise ValueError(f"{count} questions are asked for; {' '.join(chosen)} has 1 to {available}")
    names = []
    while len(names) < count:
        piles = [pile for pile in piles if pile]
        names += [pile.pop() for pile in rng.sample(piles, min(len(piles), count - len(names)))]
    order = [name for page in pages for name in bank.names(page)]
    return sorted(names, key=order.index)


def make_papers(names, students, seed, language=ORIGINAL):
    """Return a Paper for each student. students: names, which may be empty."""
    return [
        Paper(number, student, tuple(ask_anew(name, f"{seed} paper {number}", language) for name in names))
        for number, student in enumerate(students, start=1)
    ]


def ask_anew(name, seed, language):
    """Return a question with other numbers or another order of choices than on its page on the site."""
    on_page = bank.ask(name, bank.page_of(name), language)
    for attempt in range(bank.TRIES):
        question = bank.ask(name, f"{seed} {attempt}", language)
        if question != on_page:
            break
    return question
