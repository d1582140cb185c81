"""Choose the questions of an exam, and ask them anew on each student's paper."""

import itertools
import random
from dataclasses import dataclass

from book.editions import BOOK, ORIGINAL, page_names, read
from book.questions import bank

POINTS = {"words": 1, "code": 1, "number": 2}
NUMBERS = 0.4  # share of questions with numbers
DRAWS = 200  # choices of questions that are tried, of which the one nearest to this share counts
NEIGHBOURS = 2  # papers before, whose numbers a paper does not have


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


def choose_names(chosen, count, seed, without=()):
    """Return the names of an exam's questions in the order of the book.

    Questions that are chosen by name are among them. As many pages as possible are asked about, and four questions in
    ten have numbers, if the topics allow it. chosen, without: topics and names of questions. Raise ValueError for an
    unknown one, and if there are too few questions.
    """
    wanted, unwanted = expand(chosen), {*expand(without)}
    names = [name for name in wanted if name not in unwanted]
    sure = [name for name in chosen if name in names]
    least = max(1, len({*sure}))
    if not least <= count <= len(names):
        raise ValueError(f"{count} questions are asked for; {' '.join(chosen)} gives {least} to {len(names)}")
    rng, drawn = random.Random(f"exam {seed}"), []
    for _ in range(DRAWS):
        # first the pages about which no sure question asks
        asked = {*map(bank.page_of, sure)}
        others = [own for own in by_page(names) if bank.page_of(own[0]) not in asked]
        piles = [rng.sample(own, len(own)) for own in others]
        one = [*dict.fromkeys(sure)]
        while len(one) < count:
            if not any(piles):
                piles = [[name for name in own if name not in one] for own in by_page(names)]
                piles = [rng.sample(own, len(own)) for own in piles]
            piles = [pile for pile in piles if pile]
            one += [pile.pop() for pile in rng.sample(piles, min(len(piles), count - len(one)))]
        drawn.append(one)
    best = min(drawn, key=lambda one: abs(sum(map(has_numbers, one)) - round(NUMBERS * count)))
    return sorted(best, key=names.index)


def expand(chosen):
    """Return the names of the questions of topics, and chosen names of questions, in the order of the book."""
    known, every = topics(), [name for page in bank.pages() for name in bank.names(page)]
    wanted = set()
    for topic in chosen:
        if topic in every:
            wanted.add(topic)
        elif topic in known:
            wanted.update(name for page in known[topic] for name in bank.names(page))
        else:
            raise ValueError(f"no topic or question {topic!r}; topics are {', '.join(known)}")
    return [name for name in every if name in wanted]


def by_page(names):
    """Return lists of the names of each page."""
    return [[*group] for _, group in itertools.groupby(names, bank.page_of)]


def has_numbers(name):
    return bank.kind_of(bank.entry_of(name)) == "number"


def make_papers(names, students, seed, language=ORIGINAL):
    """Return a Paper for each student. students: names, which may be empty.

    The order differs from paper to paper; at each place all papers have a question with as many points. Numbers differ
    from those on the site and on the NEIGHBOURS papers before, as far as a question allows it.
    """
    papers = []
    for number, student in enumerate(students, start=1):
        rng = random.Random(f"{seed} paper {number}")
        before = {question.ask for paper in papers[-NEIGHBOURS:] for question in paper.questions}
        questions = [ask_anew(name, f"{seed} paper {number}", language, before) for name in mixed(names, rng)]
        papers.append(Paper(number, student, tuple(questions)))
    return papers


def mixed(names, rng):
    """Return the names in another order, in which questions with numbers take the places of such questions."""
    piles = {kind: [name for name in names if has_numbers(name) == kind] for kind in (True, False)}
    for pile in piles.values():
        rng.shuffle(pile)
    return [piles[has_numbers(name)].pop() for name in names]


def ask_anew(name, seed, language, before):
    """Return a question that differs from that on its page on the site, with a text that `before` does not contain."""
    on_page = bank.ask(name, bank.page_of(name), language)
    changes = bank.kind_of(bank.entry_of(name)) != "words"
    for attempt in range(bank.TRIES):
        question = bank.ask(name, f"{seed} {attempt}", language)
        if question != on_page and not (changes and question.ask in before):
            break
    return question
