"""Move cells from one page to another in all editions, and rewrite the links to them.

    python -m book.tools.move_cells training perplexity loss --to surprise --after softmax    move two cells
    python -m book.tools.move_cells training --section surprise --to surprise                 move a heading and all
                                                        cells up to the next heading of its level
    python -m book.tools.move_cells training --all --to learning      rename a page, or append it to another one

    python -m book.tools.move_cells training perplexity loss --instead surprise#loss       remove two cells; links and
                                                        old addresses lead to this place instead

    --after CELL, --first, --last     where in the target: after a cell, after its title, or at its end (the default)
    --title en=Surprise --title ja=…  titles of a page that does not exist yet; it begins as a draft, after the source
    --rename old=new                  give a cell another id, because the target has a cell with its id

Cells move with outputs and metadata; translations that were up to date remain so. Old addresses lead to the new ones by
book/moved.yml. The command prints what it cannot decide: names that the code of either page lacks now,
and links to a page as a whole.
"""

import argparse
import ast
import re
import sys
from pathlib import Path

import nbformat

from book import chapter_headings, moved
from book.editions import BOOK, ORIGINAL
from book.tools import headings, renumber, store, translations
from book.tools.execute import STATE, name_widgets
from book.tools.place_links import Moves, rewrite_links

ROOT = BOOK.parent


class MoveError(Exception):
    """Raised for a move that is impossible, before anything is written."""


def languages(root):
    """Return the languages of all editions, the original first."""
    found = sorted(path.parent.name for path in root.glob("book/*/edition.yml"))
    return sorted(found, key=lambda language: language != ORIGINAL)


def level(cell):
    """Return the level of the heading with which a cell begins; 0 without one."""
    match = re.match(r"(#{1,6}) ", cell.source) if cell.cell_type == "markdown" else None
    return len(match[1]) if match else 0


def section(cells, name):
    """Return the ids of a section's cells: from the cell `name` to the next heading of its level or above."""
    start = [cell.id for cell in cells].index(name)
    if not (own := level(cells[start])):
        raise MoveError(f"the cell {name} does not begin with a heading. Name a cell that does, or each cell")
    ids = []
    for cell in cells[start:]:
        if ids and 0 < level(cell) <= own:
            break
        text = chapter_headings.FENCED.sub("", cell.source) if cell.cell_type == "markdown" else ""
        if any(len(marks) <= own for marks, _ in chapter_headings.HEADING.findall(text)[cell.id == name :]):
            raise MoveError(f"the next section begins in the middle of the cell {cell.id}. Split this cell first")
        ids.append(cell.id)
    return ids


def plan(root, source, target, names=(), sections=(), whole=False, renamed=None, after=None):
    """Return the Moves, or raise MoveError that names the first page or cell that is unknown or taken."""
    renamed, pages = renamed or {}, translations.pages(ORIGINAL, root, [""])
    for page in (source, target):
        if not re.fullmatch(r"[a-z][a-z0-9_]*", page) or pages.get(page, Path("new.ipynb")).suffix != ".ipynb":
            raise MoveError(f"{page} is not the name of a notebook, and only notebooks have cells")
    if source not in pages:
        raise MoveError(f"there is no page book/{ORIGINAL}/{source}.ipynb")
    if source == target:
        raise MoveError(f"the cells are on {source} already. Name another page with --to")
    cells = translations.read(pages[source])
    there = [cell.id for cell in translations.read(pages[target])] if target in pages else []
    ids = [cell.id for cell in cells]
    for name in [*names, *sections, *renamed]:
        if name not in ids:
            raise MoveError(f"{source} has no cell {name}")
    if after is not None and after not in there:
        raise MoveError(f"{target} has no cell {after}")
    chosen = {*names, *(name for first in sections for name in section(cells, first))}
    if whole:
        chosen = {*ids} - ({"title"} if there else set())
    if not chosen:
        raise MoveError("name the cells to move, or a --section, or --all")
    if not whole and chosen == {*ids}:
        raise MoveError(f"no cell would be left on {source}: use --all, which removes the page")
    new_ids = {name: renamed.get(name, name) for name in ids if name in chosen}
    taken = [*(there or ([] if whole else ["title"])), *new_ids.values()]
    if twice := [old for old, new in new_ids.items() if taken.count(new) > 1]:
        raise MoveError(f"{target} would have two cells {new_ids[twice[0]]}: --rename {twice[0]}=another-id")
    return Moves(source, target, new_ids, whole)


def new_page(source, moves, language, titles, original_title):
    """Return the target's notebook before cells move to it: a title cell, unless the source's own one moves to it."""
    notebook = nbformat.v4.new_notebook(metadata={k: v for k, v in source.metadata.items() if k != "widgets"})
    if "title" not in moves.ids.values():
        title = nbformat.v4.new_markdown_cell(f"# {titles.get(language, original_title)}", id="title")
        if language != ORIGINAL:
            english = nbformat.v4.new_markdown_cell(f"# {original_title}")
            title.metadata[translations.KEY] = translations.digest(english) if language in titles else ""
        notebook.cells.append(title)
    return notebook


def move_in_edition(folder, moves, titles, order):
    """Move the cells in one edition; return the number of links within the page that changed.

    order: the ids of the target's cells as they are to stand, of which the edition may lack some.
    """
    path, target_path = folder / f"{moves.source}.ipynb", folder / f"{moves.target}.ipynb"
    if not path.is_file():
        return 0
    source, links = nbformat.read(path, as_version=4), 0
    original_title = titles.get(ORIGINAL, moves.target.replace("_", " ").capitalize())
    if target_path.is_file():
        target = nbformat.read(target_path, as_version=4)
    else:
        target = new_page(source, moves, folder.name, titles, original_title)
    for cell in source.cells:
        if cell.cell_type == "markdown":
            cell.source, count = moves.rewrite_local(cell.source, cell.id in moves.ids)
            links += count
    present = [cell.id for cell in target.cells]
    leaving = [cell for cell in source.cells if cell.id in moves.ids]
    first = min((order.index(moves.ids[cell.id]) for cell in leaving), default=0)
    position = max((present.index(name) + 1 for name in order[:first] if name in present), default=0)
    source.cells = [cell for cell in source.cells if cell.id not in moves.ids]
    for cell in leaving:
        cell.id = moves.ids[cell.id]
    target.cells[position:position] = leaving
    widgets = source.metadata.get("widgets", {}).get(STATE)
    if widgets:
        own = target.metadata.setdefault("widgets", {}).setdefault(STATE, {**widgets, "state": {}})
        own["state"] = {**widgets["state"], **own["state"]}
    for notebook, file in ((source, path), (target, target_path)):
        name_widgets(notebook)
        renumber(notebook)
        store(notebook, file)
    if moves.whole:
        path.unlink()
    return links


def digests(root, moves=None):
    """Return page#cell → digest of all English cells. moves: name the cells that are to move by their new places."""
    by_place = {}
    for page, path in translations.pages(ORIGINAL, root).items():
        for cell in translations.read(path):
            leaves = moves and page == moves.source and cell.id in moves.ids
            place = f"{moves.target}#{moves.ids[cell.id]}" if leaves else f"{page}#{cell.id}"
            by_place[place] = translations.digest(cell)
    return by_place


def renew_digests(root, before, language):
    """Store the new digest of each English cell whose links changed in the translations that were up to date."""
    changed = {place: new for place, new in digests(root).items() if before.get(place, new) != new}
    own = translations.pages(language, root)
    for page in {place.partition("#")[0] for place in changed} & own.keys():
        names = [
            cell.id
            for cell in translations.read(own[page])
            if (place := f"{page}#{cell.id}") in changed and cell.metadata.get(translations.KEY) == before[place]
        ]
        if names:
            translations.renew(language, page, names, root)


def list_page(root, moves, new):
    """Put a new page after the source in _toc.yml and into `drafts:` of each edition, and take out one that is gone."""
    path, entry = root / "_toc.yml", rf"(?m)^( *- file: book/{ORIGINAL}/){moves.source}\n"
    lines = "" if moves.whole else rf"\g<1>{moves.source}\n"
    text = path.read_text(encoding="utf-8")
    path.write_text(re.sub(entry, lines + (rf"\g<1>{moves.target}\n" if new else ""), text), encoding="utf-8")
    for language in languages(root):
        path = root / "book" / language / "edition.yml"
        text = path.read_text(encoding="utf-8")
        match = re.search(r"(?m)^drafts: *(?:\[(.*)\]|(all))", text)
        drafts = [name.strip() for name in (match[1] or "").split(",") if name.strip()] if match else []
        listed = [name for name in drafts if not (moves.whole and name == moves.source)]
        if new and (not moves.whole or moves.source in drafts):
            listed.append(moves.target)
        if listed != drafts and not (match and match[2]):
            line = f"drafts: [{', '.join(listed)}]"
            text = text.replace(match[0], line) if match else f"{text.rstrip()}\n\n{line}\n"
            path.write_text(text, encoding="utf-8")


def record(root, moves):
    """Append the moves to book/moved.yml, without the lines of old places that exist again."""
    path = root / "book" / "moved.yml"
    new_places = {f"{moves.target}#{name}" for name in moves.ids.values()} | {moves.target}
    text = path.read_text(encoding="utf-8") if path.is_file() else ""
    lines = [line for line in text.splitlines() if line.partition(": ")[0] not in new_places]
    if moves.whole:
        lines.append(f"{moves.source}: {moves.target}")
    lines += [
        f"{moves.source}#{old}: {moves.target}#{new}" for old, new in moves.ids.items() if not moves.whole or old != new
    ]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    moved.read(path)  # it must be YAML


def move(root, moves, titles=None, after=None, first=False):
    """Move the cells in all editions and rewrite all links; return file → number of rewritten links."""
    before, new = digests(root, moves), moves.target not in translations.pages(ORIGINAL, root, [""])
    path = root / "book" / ORIGINAL / f"{moves.target}.ipynb"
    cells = [] if new else translations.read(path)
    order = [cell.id for cell in cells] or ["title"] * ("title" not in moves.ids.values())
    begins_with_title = bool(order) and (new or level(cells[0]) == 1)
    position = order.index(after) + 1 if after else int(begins_with_title) if first else len(order)
    order[position:position] = moves.ids.values()
    local = sum(move_in_edition(root / "book" / name, moves, titles or {}, order) for name in languages(root))
    if new or moves.whole:
        list_page(root, moves, new)
    counts = rewrite_links(root, moves)
    for language in languages(root):
        if language != ORIGINAL:
            renew_digests(root, before, language)
    record(root, moves)
    return {**counts, "links within the two pages": local} if local else counts


def remove(root, source, names, place):
    """Remove cells in all editions; return file → number of rewritten links. place: where these and old addresses lead.

    Raises MoveError if one of the cells does not exist, or the place does not exist without them.
    """
    target, _, anchor = place.partition("#")
    pages = translations.pages(ORIGINAL, root, [""])
    ids = {page: [cell.id for cell in translations.read(pages[page])] for page in {source, target} & pages.keys()}
    if missing := [name for name in names if name not in ids.get(source, ())]:
        raise MoveError(f"{source} has no cell {missing[0]}")
    if anchor not in ids.get(target, ()) or (target == source and anchor in names):
        raise MoveError(f"no cell {place} would be left: name one with --instead")
    moves, before, local = Moves(source, target, dict.fromkeys(names, anchor)), digests(root), 0
    for language in languages(root):
        path = root / "book" / language / f"{source}.ipynb"
        if not path.is_file():
            continue
        notebook = nbformat.read(path, as_version=4)
        notebook.cells = [cell for cell in notebook.cells if cell.id not in names]
        for cell in notebook.cells:
            if cell.cell_type == "markdown":
                cell.source, count = moves.rewrite_local(cell.source, moved=False)
                local += count
        name_widgets(notebook)
        renumber(notebook)
        store(notebook, path)
    counts = rewrite_links(root, moves)
    for language in languages(root):
        if language != ORIGINAL:
            renew_digests(root, before, language)
    record(root, moves)
    return {**counts, "links within the page": local} if local else counts


def names_in(cell):
    """Return the names that a code cell defines, and those that it uses."""
    try:
        nodes = list(ast.walk(ast.parse(cell.source))) if cell.cell_type == "code" else []
    except SyntaxError:  # a command of IPython
        return set(), set()
    defined = {node.name for node in nodes if isinstance(node, (ast.FunctionDef, ast.ClassDef))}
    defined |= {node.arg for node in nodes if isinstance(node, ast.arg)}
    for node in nodes:
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            defined |= {(alias.asname or alias.name).partition(".")[0] for alias in node.names}
    variables = [node for node in nodes if isinstance(node, ast.Name)]
    defined |= {node.id for node in variables if not isinstance(node.ctx, ast.Load)}
    return defined, {node.id for node in variables if isinstance(node.ctx, ast.Load)}


def lacking_names(cells, others):
    """Return the names that cells use, run in order, and that only these other cells define, sorted."""
    defined, lacking = set(), set()
    for cell in cells:
        own, used = names_in(cell)
        lacking |= used - own - defined
        defined |= own
    return sorted(lacking & {name for cell in others for name in names_in(cell)[0]})


def hints(root, moves):
    """Yield a sentence for each thing that the author has to decide."""
    pages = translations.pages(ORIGINAL, root, [""])
    there = translations.read(pages[moves.target])
    here = translations.read(pages[moves.source]) if moves.source in pages else []
    for page, cells, others in ((moves.target, there, here), (moves.source, here, there)):
        if names := lacking_names(cells, others):
            yield f"the code of {page} needs names that only the other page defines: {', '.join(names)}"
    cells = [(page, cell) for page, path in pages.items() for cell in translations.read(path)]
    whole = [f"{page}#{cell.id}" for page, cell in cells if f"]({moves.source}.ipynb)" in cell.source]
    if whole:
        yield f"these cells lead to {moves.source} as a whole; do they mean {moves.target}? {', '.join(whole)}"
    if own := [cell.id for cell in there if f"]({moves.target}.ipynb)" in cell.source]:
        yield f"these cells lead to their own page {moves.target}: {', '.join(own)}"


def main():
    """Run the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("source")
    parser.add_argument("cells", nargs="*")
    parser.add_argument("--section", action="append", default=[], metavar="CELL")
    parser.add_argument("--all", action="store_true")
    end = parser.add_mutually_exclusive_group(required=True)
    end.add_argument("--to", metavar="PAGE")
    end.add_argument("--instead", metavar="PAGE#CELL")
    place = parser.add_mutually_exclusive_group()
    place.add_argument("--after", metavar="CELL")
    place.add_argument("--first", action="store_true")
    place.add_argument("--last", action="store_true")
    parser.add_argument("--title", action="append", default=[], metavar="LANGUAGE=WORDS")
    parser.add_argument("--rename", action="append", default=[], metavar="OLD=NEW")
    arguments = parser.parse_intermixed_args()
    titles, renamed = (
        {k: v for k, _, v in (pair.partition("=") for pair in pairs)} for pairs in (arguments.title, arguments.rename)
    )
    if unknown := [language for language in titles if language not in languages(ROOT)]:
        sys.exit(f"move_cells.py: --title: there is no edition {unknown[0]}")
    try:
        if arguments.instead:
            counts = remove(ROOT, arguments.source, arguments.cells, arguments.instead)
            headings.main()
            print(f"Removed {len(arguments.cells)} cells from {arguments.source}, rewrote {sum(counts.values())} links")
            return
        moves = plan(
            ROOT,
            arguments.source,
            arguments.to,
            arguments.cells,
            arguments.section,
            arguments.all,
            renamed,
            arguments.after,
        )
    except MoveError as error:
        sys.exit(f"move_cells.py: {error}")
    drops_title = moves.whole and "title" not in moves.ids
    counts = move(ROOT, moves, titles, arguments.after, arguments.first)
    headings.main()
    print(f"Moved {len(moves.ids)} cells from {moves.source} to {moves.target}: {', '.join(moves.ids.values())}")
    print(f"Rewrote {sum(counts.values())} links:")
    for name, count in counts.items():
        print(f"    {name}: {count}")
    if drops_title:
        print(f"Look: the cell title of {moves.source} is gone; {moves.target} has its own")
    if moves.whole:
        print(f"Look: other files may name the page: git grep -w {moves.source}")
    for hint in hints(ROOT, moves):
        print(f"Look: {hint}")
    paths = " ".join(
        f"book/{ORIGINAL}/{page}.ipynb" for page in (moves.target, moves.source)[: 1 if moves.whole else 2]
    )
    print(f"Now: python -m book.tools.execute {paths}")


if __name__ == "__main__":
    main()
