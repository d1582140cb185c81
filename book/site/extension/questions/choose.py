"""Choose the questions of a page: those between its sections, those at its end, and one from an earlier chapter."""

from typing import NamedTuple

from book.editions import BOOK, ORIGINAL, page_names, read
from book.questions import bank

MOST = 5  # own questions on a page; exams have more
AT_END = 2  # of them; the third at the end is from an earlier chapter
BACK = 3  # that chapter comes so many chapters before


class Chosen(NamedTuple):
    """The questions of a page. between: section → names. end: names. earlier: one name, or None."""

    between: dict
    end: list
    earlier: str | None

    def names(self):
        """Return all names in the order of the page."""
        inner = [name for names in self.between.values() for name in names]
        return inner + self.end + ([self.earlier] if self.earlier else [])


def choose(page, sections):
    """Return the Chosen questions of a page.

    sections: cell → its section, for the cells after whose section a question can be asked.
    """
    cells, own = [*sections], []
    for name in bank.names(page)[:MOST]:
        where, _, cell = bank.place_of(name).partition("#")
        own.append((cells.index(cell) if where == page and cell in sections else len(cells), name))
    between, end = {}, []
    for number, (position, name) in enumerate(sorted(own, key=lambda pair: pair[0])):
        section = sections[cells[position]] if position < len(cells) else None
        if section and number < len(own) - AT_END:
            between.setdefault(section, []).append(name)
        else:
            end.append(name)
    return Chosen(between, end, earlier(page) if own else None)


def earlier(page):
    """Return a question of a chapter that comes some chapters before a page on the road, or None."""
    road = read(BOOK / ORIGINAL).road
    if page not in road[1:]:
        return None
    position = road.index(page)
    names = bank.names(road[max(0, position - BACK)])
    return names[position % len(names)] if names else None


def part_that_ends(page):
    """Return the chapters of the part whose last chapter is this page, or an empty list."""
    for part in read(BOOK / ORIGINAL).table["parts"]:
        chapters = page_names(part)
        if part.get("numbered") and chapters[-1] == page:
            return chapters
    return []
