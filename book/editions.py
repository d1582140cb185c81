"""The editions of the book: which there are, and what each says about itself.

An edition is a folder book/<language>/ with an index.md and an edition.yml; nothing else lists the languages. An
edition, or a page of it, may be a draft: built and to be read, marked as such, and held only to what it has already.
"""

from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path

import yaml

BOOK = Path(__file__).resolve().parent
TABLE = BOOK.parent / "_toc.yml"
ASSIGNMENTS = BOOK.parent / "assignments" / "source"
ORIGINAL = "en"  # the edition that _toc.yml names the pages of, and that the others translate


@dataclass(frozen=True)
class Edition:
    """One edition, as its edition.yml describes it (there, each key is explained)."""

    folder: Path
    name: str
    sphinx: str
    html: str
    about: str
    words: dict
    drafts: object = ()  # "all", or a list of pages

    @property
    def draft(self):
        """Whether the whole edition is one."""
        return self.drafts == "all"

    def is_draft(self, page):
        return self.draft or page in self.drafts

    @property
    def language(self):
        """Its folder's name, which is also where it stands on the site."""
        return self.folder.name

    @cached_property
    def table(self):
        """The one table of contents as seen from this folder, less the pages that are yet to be translated."""
        text = TABLE.read_text(encoding="utf-8").replace(f"book/{ORIGINAL}/", "")
        # A page that is missing in the original is a mistake, and Sphinx shall say so.
        keep = (lambda page: True) if self.language == ORIGINAL else self.has
        return prune(yaml.safe_load(text), keep)

    @cached_property
    def pages(self):
        """The pages that the site has of this edition, and those that Sphinx adds to every one."""
        return {*names(self.table), *self.assignments, "genindex", "search"}

    @cached_property
    def assignments(self):
        """The pages on which its assignments can be done, if a page of the edition lists them: name → the notebook's
        source."""
        listed = "assignments" in names(self.table)
        return {
            f"assignment_{path.stem}": path for path in sorted((ASSIGNMENTS / self.language).glob("*.ipynb")) if listed
        }

    def has(self, page):
        return any((self.folder / f"{page}{suffix}").is_file() for suffix in (".md", ".ipynb"))


def prune(entry, keep):
    """A table of contents without the pages, parts and chapters of which nothing is kept."""
    if isinstance(entry, list):
        return [pruned for item in entry if (pruned := prune(item, keep))]
    if not isinstance(entry, dict):
        return entry
    if "file" in entry and not keep(entry["file"]):
        return None
    inner = {"chapters", "sections", "subtrees", "parts"} & set(entry)
    pruned = {key: prune(value, keep) if key in inner else value for key, value in entry.items()}
    return {key: value for key, value in pruned.items() if key not in inner or value}


def names(entry):
    """The pages of a table of contents."""
    if isinstance(entry, list):
        return [name for item in entry for name in names(item)]
    if not isinstance(entry, dict):
        return []
    own = [entry[key] for key in ("root", "file") if key in entry]
    return own + [name for value in entry.values() for name in names(value)]


@cache
def read(folder):
    """Read a folder's edition.yml; raise ValueError if it does not say what every edition must."""
    path = Path(folder) / "edition.yml"
    given = yaml.safe_load(path.read_text(encoding="utf-8")) if path.is_file() else None
    expected = {"name": str, "sphinx": str, "html": str, "about": str, "words": dict, "drafts": (list, str)}
    given = {"words": {}, "drafts": [], **given} if isinstance(given, dict) else {}
    for key in expected.keys() | given.keys():
        if key not in expected or not isinstance(given.get(key), expected[key]):
            raise ValueError(f"{path}: {key!r} is missing or wrong; compare book/{ORIGINAL}/edition.yml")
    if isinstance(given["drafts"], str) and given["drafts"] != "all":
        raise ValueError(f"{path}: 'drafts' is all, or a list of pages")
    return Edition(path.parent, **given)


@cache
def editions():
    """All editions that have pages, by the names of their folders."""
    return [read(page.parent) for page in sorted(BOOK.glob("*/index.md"))]


def finished():
    """Those that are no drafts."""
    return [edition for edition in editions() if not edition.draft]
