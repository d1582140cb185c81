"""Rewrite the links to cells that move to another page, in all files that name places of the book.

A place is a page and a cell: `lstm#loop` in code and tables, `lstm.ipynb#loop` in Markdown, `lstm.html#loop` in HTML.
Within its own page a cell is `#loop`.
"""

import re
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import nbformat

from book.tools import store

FOLDERS = "book", "assignments", "companion", "tests", "benchmarks"
SUFFIXES = ".ipynb", ".md", ".yml", ".toml", ".py", ".js", ".html"
# Files of the past, and files that other commands write.
NOT_REWRITTEN = re.compile(
    r"book/moved\.yml|companion/check/headings/.*|(?:.*/)?(?:_build|node_modules)/.*|CHANGELOG\.md|MOVED\.md"
)
ELSEWHERE = r"https?://[^\s\"'<>)\]]+"
LOCAL = re.compile(r"(?<=\]\()#([a-z0-9-]+)(?=\))")  # a Markdown link within a page


@dataclass(frozen=True)
class Moves:
    """Cells that move from the page `source` to `target`. ids: old id → new id. whole: the page moves with them."""

    source: str
    target: str
    ids: dict[str, str]
    whole: bool = False

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """A link to one of the cells, and to the page itself if it moves; addresses elsewhere match without `page`."""
        ids = "[a-z0-9-]+?" if self.whole else "|".join(sorted(map(re.escape, self.ids), key=len, reverse=True))
        end = r"(?=--\d|(?![\w-]))"  # --2: the second heading of a cell
        link = rf"(?P<page>(?<![\w-]){self.source})(?:(?P<suffix>\.ipynb|\.html|)#(?P<cell>{ids}){end}"
        return re.compile(rf"{ELSEWHERE}|{link}{r'|(?P<bare>[.](?:ipynb|html))(?![#])' if self.whole else ''})")

    def rewrite(self, text: str) -> tuple[str, int]:
        """Return a text whose links lead to the target, and the number of changed links."""
        count = 0

        def replace(match: re.Match[str]) -> str:
            nonlocal count
            if not match["page"]:
                return match[0]
            count += 1
            if match["cell"]:
                return f"{self.target}{match['suffix']}#{self.ids.get(match['cell'], match['cell'])}"
            return self.target + match["bare"]

        return self.pattern.sub(replace, text), count

    def rewrite_local(self, text: str, moved: bool) -> tuple[str, int]:
        """Return a cell's text with other links within its page, and their number. moved: whether this cell moves."""
        count = 0

        def replace(match: re.Match[str]) -> str:
            nonlocal count
            leaves = match[1] in self.ids
            page = (
                ""
                if leaves == moved or self.target == self.source
                else f"{self.target if leaves else self.source}.ipynb"
            )
            link = f"{page}#{self.ids.get(match[1], match[1])}"
            count += link != match[0]
            return link

        return LOCAL.sub(replace, text), count

    def split_keys(self, text: str) -> str:
        """Return a table without keys of several cells (`lstm#gates loop:`) of which some move and some stay.

        Of these cells the key keeps those that go with the first one.
        """

        def replace(match: re.Match[str]) -> str:
            first, *others = match[2].split()
            together = [first, *(cell for cell in others if (cell in self.ids) == (first in self.ids))]
            # the first is rewritten with all other places
            return f"{match[1]}{' '.join([first, *(self.ids.get(cell, cell) for cell in together[1:])])}:"

        return re.sub(rf"(?m)^(\s*{self.source}#)([a-z0-9-]+(?: [a-z0-9-]+)+):", replace, text)

    def rewrite_file(self, path: Path) -> int:
        """Rewrite the links of a file; return how many changed."""
        old = path.read_text(encoding="utf-8")
        if path.suffix == ".ipynb":
            if self.source not in old:  # quicker than reading the notebook
                return 0
            notebook, count = rewrite_strings(nbformat.reads(old, as_version=4), self)
            if count:
                store(notebook, path)
            return count
        text, count = self.rewrite(self.split_keys(old) if path.suffix == ".yml" else old)
        # these tables have pages as keys, too; the author has to join two that would be the same
        if self.whole and path.parent.name in ("queries", "search") and f"\n{self.target}:" not in text:
            text, keys = re.subn(rf"(?m)^{self.source}(?=:)", self.target, text)
            count += keys
        if text != old:
            path.write_text(text, encoding="utf-8", newline="\n")
        return count


def rewrite_strings(value, moves):
    """Return a notebook, or a part of it, with the links in all its strings rewritten, and their number."""
    if isinstance(value, str):
        return moves.rewrite(value)
    pairs = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    count = 0
    for key, part in list(pairs):
        value[key], changed = rewrite_strings(part, moves)
        count += changed
    return value, count


def files(root: Path) -> list[Path]:
    """Return the files that may name places."""
    found = [path for name in FOLDERS for path in sorted((root / name).rglob("*")) if path.suffix in SUFFIXES]
    found += sorted(root.glob("*.md"))
    return [path for path in found if not NOT_REWRITTEN.fullmatch(path.relative_to(root).as_posix()) and path.is_file()]


def rewrite_links(root: Path, moves: Moves) -> dict[str, int]:
    """Rewrite the links of all files below `root`; return file → number of changed links."""
    counts = {path.relative_to(root).as_posix(): moves.rewrite_file(path) for path in files(root)}
    return {name: count for name, count in counts.items() if count}
