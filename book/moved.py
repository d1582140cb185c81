"""Places of the book that have moved, from book/moved.yml: old place → new place, each `page` or `page#cell`."""

from pathlib import Path

import yaml

from book.editions import BOOK

TABLE = BOOK / "moved.yml"


def read(path: Path = TABLE) -> dict[str, str]:
    """Return old place → new place, as stored; empty without the file."""
    return (yaml.safe_load(path.read_text(encoding="utf-8")) if path.is_file() else None) or {}


def resolve(place: str, table: dict[str, str]) -> str:
    """Return where a place is now, however often it has moved; raise ValueError if the moves form a circle."""
    seen = []
    while place not in seen:
        seen.append(place)
        page, _, cell = place.partition("#")
        if place in table:
            place = table[place]
        elif page in table:  # the whole page has moved, with this cell
            place = f"{table[page].partition('#')[0]}#{cell}"
        else:
            return place
    raise ValueError(f"book/moved.yml leads in a circle: {' → '.join([*seen, place])}. Delete the line that is wrong")


def gone_pages(table: dict[str, str]) -> dict[str, str]:
    """Return the pages that have moved as a whole: old name → present place."""
    return {place: resolve(place, table) for place in table if "#" not in place}


def moved_cells(page: str, table: dict[str, str]) -> dict[str, str]:
    """Return the cells that have left a page: id → present place."""
    return {
        cell: resolve(place, table)
        for place in table
        for name, _, cell in [place.partition("#")]
        if cell and name == page
    }
