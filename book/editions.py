"""The editions of the book, and the settings that each has in its edition.yml.

An edition is a folder book/<language>/ with an index.md and an edition.yml; nothing else lists the languages. An
edition, or a page of it, may be a draft: it is built and marked as a draft, and tests do not ask for what it lacks.
"""

import ast
from dataclasses import dataclass, field
from functools import cache, cached_property
from pathlib import Path

import yaml

BOOK = Path(__file__).resolve().parent
TABLE = BOOK.parent / "_toc.yml"
ASSIGNMENTS = BOOK.parent / "assignments" / "source"
ORIGINAL = "en"  # the edition whose pages _toc.yml lists, and which the others translate
REFERENCE = "reference"  # the page of _toc.yml that is made from docstrings (book/site/extension/reference/)


@dataclass(frozen=True)
class Edition:
    """One edition, with the settings of its edition.yml, which explains each key."""

    folder: Path
    name: str
    sphinx: str
    html: str
    about: str
    words: dict
    drafts: object = ()  # "all", or a list of pages
    heads: dict = field(default_factory=dict)  # page → its title and description for search engines

    @property
    def draft(self):
        """True if the whole edition is a draft."""
        return self.drafts == "all"

    def is_draft(self, page):
        return self.draft or page in self.drafts

    @property
    def language(self):
        """The folder's name, which is also the edition's folder on the site."""
        return self.folder.name

    @cached_property
    def table(self):
        """The table of contents of _toc.yml, with paths from this folder and without untranslated pages."""
        text = TABLE.read_text(encoding="utf-8").replace(f"book/{ORIGINAL}/", "")
        # The original keeps all entries, so that Sphinx reports a page that is missing.
        keep = (lambda page: True) if self.language == ORIGINAL else lambda page: page == REFERENCE or self.has(page)
        table = prune(yaml.safe_load(text), keep)
        for part in table.get("parts", []):
            part["caption"] = self.words.get(part["caption"], part["caption"])
        return table

    @cached_property
    def road(self):
        """The names of the chapters, in the order in which they are read: those of the numbered parts."""
        return [
            name for part in self.table.get("parts", [self.table]) if part.get("numbered") for name in page_names(part)
        ]

    @cached_property
    def pages(self):
        """The names of the edition's pages on the site, with the index and the search that Sphinx adds."""
        return {*page_names(self.table), *self.assignments, *self.reference, "genindex", "search"}

    @cached_property
    def assignments(self):
        """The assignments' pages, if the edition lists them: page name → path of the source notebook."""
        listed = "assignments" in page_names(self.table)
        return {
            f"assignment_{path.stem}": path for path in sorted((ASSIGNMENTS / self.language).glob("*.ipynb")) if listed
        }

    @cached_property
    def reference(self):
        """The pages about the public names of the package companion, if the edition lists them: page name → name."""
        listed = REFERENCE in page_names(self.table)
        return {f"{REFERENCE}_{name}": name for name in (public_names() if listed else ())}

    @cached_property
    def samples(self):
        """The names of the edition's pages; of those about public names, which are alike, only the longest."""
        return self.pages - {*self.reference} | {*self.reference} & {f"{REFERENCE}_by_hand"}

    def has(self, page):
        return any((self.folder / f"{page}{suffix}").is_file() for suffix in (".md", ".ipynb"))


def prune(entry, keep):
    """Return a table of contents without the pages for which `keep` is false, and without parts that are then empty."""
    if isinstance(entry, list):
        return [pruned for item in entry if (pruned := prune(item, keep))]
    if not isinstance(entry, dict):
        return entry
    if "file" in entry and not keep(entry["file"]):
        return None
    inner = {"chapters", "sections", "subtrees", "parts"} & set(entry)
    pruned = {key: prune(value, keep) if key in inner else value for key, value in entry.items()}
    kept = {key: value for key, value in pruned.items() if key not in inner or value}
    return None if "caption" in entry and not inner & kept.keys() else kept


def page_names(entry):
    """Return the names of the pages in a table of contents, in order."""
    if isinstance(entry, list):
        return [name for item in entry for name in page_names(item)]
    if not isinstance(entry, dict):
        return []
    own = [entry[key] for key in ("root", "file") if key in entry]
    return own + [name for value in entry.values() for name in page_names(value)]


@cache
def public_names():
    """Return `companion.__all__`, without importing torch."""
    tree = ast.parse((BOOK.parent / "companion" / "__init__.py").read_text(encoding="utf-8"))
    lists = [node.value for node in tree.body if isinstance(node, ast.Assign) and node.targets[0].id == "__all__"]
    return [name for value in lists for name in ast.literal_eval(value)]


@cache
def read(folder):
    """Read the edition.yml of a folder; raise ValueError if a key is unknown, missing or of the wrong type."""
    path = Path(folder) / "edition.yml"
    settings = yaml.safe_load(path.read_text(encoding="utf-8")) if path.is_file() else None
    expected = {"name": str, "sphinx": str, "html": str, "about": str, "words": dict, "drafts": (list, str)}
    expected["heads"] = dict
    settings = {"words": {}, "drafts": [], "heads": {}, **settings} if isinstance(settings, dict) else {}
    for key in expected.keys() | settings.keys():
        if key not in expected or not isinstance(settings.get(key), expected[key]):
            raise ValueError(f"{path}: {key!r} is missing or wrong; compare book/{ORIGINAL}/edition.yml")
    if isinstance(settings["drafts"], str) and settings["drafts"] != "all":
        raise ValueError(f"{path}: 'drafts' is all, or a list of pages")
    return Edition(path.parent, **settings)


@cache
def editions():
    """Return all editions that have an index.md, sorted by folder."""
    return [read(page.parent) for page in sorted(BOOK.glob("*/index.md"))]


def finished():
    """Return the editions that are not drafts."""
    return [edition for edition in editions() if not edition.draft]
