"""List what is missing, stale or different in translated editions, and begin or renew translations.

    python -m book.tools.translations                       all findings; the exit status says whether there are any
    python -m book.tools.translations status ja             those of one edition
    python -m book.tools.translations draft ja lstm         begin a chapter with the English cells, marked as
                                                            untranslated; add missing cells to a begun chapter
    python -m book.tools.translations renew ja lstm gates   record that this cell says what the English one says now
    python -m book.tools.translations renew ja lstm         the same for every cell of the chapter
    python -m book.tools.translations renew ja index        the same for a page in Markdown
    python -m book.tools.translations renew all lstm gates  the same for all editions, after a change without meaning
    python -m book.tools.translations draft ja assignments/lstm    the same for assignments

Every translated cell keeps a digest of the English cell that it was made from, under `translates` in its metadata; a
page in Markdown keeps one in its first line. When the English cell changes, its translations are stale until someone
has read them and renews the digest. Code, outputs, formulas, links and the numbers in tables are compared directly.

Cells and pages that a draft (see edition.yml) lacks are listed but do not make tests fail.
"""

import argparse
import hashlib
import re
import sys
from collections import Counter
from pathlib import Path
from typing import NamedTuple

import nbformat

from book.editions import BOOK, ORIGINAL
from book.editions import editions as all_editions
from book.editions import read as edition_at
from book.tools import store
from book.tools.translated_cells import CHECKER, NO_FUNCTIONS, called_functions, description, differences, follows

KEY = "translates"
# Metadata that make a slide of an English cell (book/slides/). The slides of translations follow them.
SLIDE_KEYS = "slideshow", "slide_part", "slide_asks", "slide_seen"
ROOT = BOOK.parent
# Prefix of page names → the folder that has a folder of such pages for each edition.
FOLDERS = {"": Path("book"), "assignments/": Path("assignments", "source")}
# A call of the checker, to which `draft` adds the edition's language.
CHECKER_CALL = re.compile(rf"(?m)^((?:{'|'.join(sorted(CHECKER))})\(.*?)\)(\s*#.*)?$")

# Findings that a draft may have.
MISSING, NO_CELL = "the page is missing", "the cell is missing"
UNTRANSLATED = "untranslated: its digest is empty until it is renewed"


class Finding(NamedTuple):
    """Something to be done in an edition. cell: its id, or "" for a whole page. held: whether tests then fail."""

    edition: str
    page: str
    cell: str
    what: str
    held: bool = True

    def __str__(self):
        return f"{self.edition}/{self.page}{' ' + self.cell if self.cell else ''}: {self.what}"


def editions():
    """Return the languages of the editions that are translations."""
    return [edition.language for edition in all_editions() if edition.language != ORIGINAL]


def pages(edition, root=ROOT, folders=FOLDERS):
    """Return name → path of every page of an edition. folders: prefixes of the names, keys of FOLDERS."""
    return {
        prefix + path.stem: path
        for prefix in folders
        for path in sorted((root / FOLDERS[prefix] / edition).glob("*"))
        if path.suffix in (".ipynb", ".md")
    }


def digest(cell):
    """Return a hash of what is translated in an English cell: its source and the description of its picture."""
    return hashlib.sha256(f"{cell.source}\0{description(cell)}".encode()).hexdigest()[:12]


def read(path):
    """Return the cells of a page. A page in Markdown is one cell, with its digest in a comment in the first line."""
    if path.suffix == ".ipynb":
        return nbformat.v4.reads(
            path.read_text(encoding="utf-8")
        ).cells  # not validated: tests/site/test_book.py does that
    first, _, rest = (text := path.read_text(encoding="utf-8")).partition("\n")
    cell = nbformat.v4.new_markdown_cell(text, id="page")
    if match := re.fullmatch(rf"% {KEY}: (\w*)", first):
        cell.source, cell.metadata[KEY] = rest, match[1]
    return [cell]


def findings(edition, root=ROOT):
    """Return the findings of one edition. Assignments are left out if the edition has no folder for them."""
    all_findings = []
    original, own = (edition_at(root / "book" / language) for language in (ORIGINAL, edition))
    begun = [prefix for prefix, folder in FOLDERS.items() if (root / folder / edition).is_dir()]
    originals, translated = pages(ORIGINAL, root, begun), pages(edition, root, begun)
    for page in originals:
        draft = own.is_draft(page) or original.is_draft(page)
        if page not in translated:
            all_findings.append(Finding(edition, page, "", MISSING, not draft))
        else:
            for cell, what in page_findings(page, read(originals[page]), read(translated[page]), edition):
                held = not draft or what not in (NO_CELL, UNTRANSLATED)
                all_findings.append(Finding(edition, page, cell, what, held))
    extra = translated.keys() - originals.keys()
    return all_findings + [Finding(edition, page, "", "there is no such English page") for page in sorted(extra)]


def page_findings(page, originals, cells, edition):
    """Yield (cell id, finding) for each difference of a page from the English one."""
    names, translated = [cell.id for cell in originals], {cell.id: cell for cell in cells}
    for cell in cells:
        if cell.id not in names:
            yield cell.id, "there is no such English cell"
    if [cell.id for cell in cells if cell.id in names] != [name for name in names if name in translated]:
        yield "", "the cells stand in another order"
    functions = called_functions(originals, cells)
    for original in originals:
        cell = translated.get(original.id)
        if cell is None:
            yield original.id, NO_CELL
            continue
        stored = cell.metadata.get(KEY)
        if not stored:
            yield cell.id, UNTRANSLATED
        elif stored != digest(original):
            yield cell.id, "stale: the English cell has changed"
        called = functions.get(cell.id, NO_FUNCTIONS)
        yield from ((cell.id, what) for what in differences(page, original, cell, edition, called))


def cells_to_run(edition, page, root=ROOT):
    """Return the ids of the code cells whose outputs do not follow from those of the English cells.

    If there are none, the outputs of the page are right if the English ones are.
    """
    english, cells = (read(pages(language, root)[page]) for language in (ORIGINAL, edition))
    originals, functions = {cell.id: cell for cell in english}, called_functions(english, cells)
    return [
        cell.id
        for cell in cells
        if cell.cell_type == "code"
        and not (
            cell.id in originals and follows(originals[cell.id], cell, edition, functions.get(cell.id, NO_FUNCTIONS))
        )
    ]


def draft(edition, page, root=ROOT):
    """Begin a translation with the English page, or add the cells that a begun one lacks; return the added cells' ids.

    Each added cell has an empty digest. Figures and checks get the language as an argument; their outputs are
    translated when the notebook has been run.
    """
    source = pages(ORIGINAL, root)[page]
    path = source.parents[1] / edition / source.name
    path.parent.mkdir(exist_ok=True)
    if path.suffix == ".md":
        if path.exists():
            sys.exit(f"translations.py: {path} already exists")
        path.write_text(f"% {KEY}: \n{source.read_text(encoding='utf-8')}", encoding="utf-8")
        return ["page"]
    original = nbformat.read(source, as_version=4)
    notebook = (
        nbformat.read(path, as_version=4) if path.exists() else nbformat.v4.new_notebook(metadata=original.metadata)
    )
    present, position, added = [cell.id for cell in notebook.cells], 0, []
    for cell in original.cells:
        if cell.id in present:
            position = present.index(cell.id) + 1
            continue
        cell.metadata = {key: value for key, value in cell.metadata.items() if key not in SLIDE_KEYS} | {KEY: ""}
        if cell.cell_type == "code":
            cell.source = re.sub(rf'(?<=language="){ORIGINAL}(?=")', edition, cell.source)
            cell.source = CHECKER_CALL.sub(rf'\1, lang="{edition}")\2', cell.source)
        notebook.cells.insert(position, cell)
        present.insert(position, cell.id)
        added.append(cell.id)
        position += 1
    store(notebook, path)
    return added


def renew(edition, page, names, root=ROOT):
    """Store the digests of the present English cells in the cells `names` (all if empty): they are up to date.

    Return the ids of the renewed cells, and of those whose text is the English text.
    """
    path = pages(edition, root)[page]
    originals = {cell.id: cell for cell in read(pages(ORIGINAL, root)[page])}
    if unknown := [name for name in names if name not in originals]:
        sys.exit(f"translations.py: {page} has no cell {', '.join(unknown)}")
    if path.suffix == ".md":
        cells = read(path)
        path.write_text(f"% {KEY}: {digest(originals['page'])}\n{cells[0].source}", encoding="utf-8")
    else:
        notebook = nbformat.read(path, as_version=4)
        cells = [cell for cell in notebook.cells if cell.id in originals and (not names or cell.id in names)]
        for cell in cells:
            cell.metadata[KEY] = digest(originals[cell.id])
        store(notebook, path)
    same = [c.id for c in cells if c.cell_type == "markdown" and c.source.strip() == originals[c.id].source.strip()]
    return [cell.id for cell in cells], same


def status(edition=None):
    """Print all findings; return whether tests fail because of any."""
    names = [edition] if edition else editions()
    all_findings = [finding for name in names for finding in findings(name)]
    untranslated = Counter(finding[:2] for finding in all_findings if finding.what == UNTRANSLATED)
    for finding in all_findings:
        if finding.what != UNTRANSLATED or untranslated[finding[:2]] < 10:
            print(finding)
    for (name, page), count in untranslated.items():
        if count >= 10:
            print(f"{name}/{page}: {count} cells are untranslated")
    for name in names:
        own = [finding for finding in all_findings if finding.edition == name]
        later = sum(not finding.held for finding in own)
        print(f"{name}: {len(own) or 'nothing'} to do{f', {later} of it in what is still a draft' if later else ''}")
    return any(finding.held for finding in all_findings)


def main():
    """Run the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command")
    commands.add_parser("status").add_argument("edition", nargs="?")
    for name in ("draft", "renew"):
        command = commands.add_parser(name)
        command.add_argument("edition")
        command.add_argument("page", choices=pages(ORIGINAL))
        if name == "renew":
            command.add_argument("cells", nargs="*")
    arguments = parser.parse_args()
    if arguments.command == "draft":
        if not (BOOK / arguments.edition / "edition.yml").is_file():
            sys.exit(
                f"translations.py: there is no edition book/{arguments.edition}/edition.yml (CONTRIBUTING.md, Start a"
                " language)"
            )
        existed = arguments.page in pages(arguments.edition)
        added = draft(arguments.edition, arguments.page)
        path = pages(arguments.edition)[arguments.page]
        outcome = "begun" if not existed else f"added {', '.join(added)}" if added else "lacks no cell"
        print(f"{path.relative_to(ROOT)}: {outcome}")
        if path.suffix == ".ipynb":
            print(f"Now: .venv/bin/python -m book.tools.execute {path.relative_to(ROOT)}")
    elif arguments.command == "renew":
        all_of_them = arguments.edition == "all"
        for edition in editions() if all_of_them else [arguments.edition]:
            if arguments.page in pages(edition):
                renewed, same = renew(edition, arguments.page, arguments.cells)
                print(f"{edition}/{arguments.page}: {len(renewed)} cells are up to date")
                if same:
                    print(f"    with the English text, so translate it if it has words: {', '.join(same)}")
            elif not all_of_them:
                sys.exit(
                    f"translations.py: {edition} has no page {arguments.page} yet: draft {edition} {arguments.page}"
                )
    else:
        return status(getattr(arguments, "edition", None))


if __name__ == "__main__":
    sys.exit(main())
