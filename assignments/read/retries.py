"""Find other ways to run a wrong answer: as the notebook's own check saw it, and with the last definitions of all.

The first run takes the definitions down to the answer's cell, since those below are experiments more often than not.
"""

import ast
import builtins
from dataclasses import dataclass, replace

from assignments.read.check_calls import ANY, RENAMED, check_calls
from assignments.read.dependencies import BINDERS, DEFINITIONS, IMPORTS, root_name
from assignments.read.notebooks import LONG_CELL, MAX_PARSED

# Functions that do not change their first argument
UNCHANGING = {*dir(builtins), "check", "display"} - BINDERS - {"delattr"}


@dataclass
class Change:
    """A statement of a notebook with the names that it uses, binds and changes. place: of its cell in the notebook."""

    place: int
    node: ast.stmt
    uses: set
    binds: set
    changes: set


def retries(answer, question):
    """Return the answer to a question in other forms, those to try first at the beginning; none if nothing differs."""
    forms = [replace(answer, names=answer.names[::-1])] if len(answer.names) > 1 else []
    cells = [[cell.number, cell.source] for cell in answer.notebook.cells] if answer.notebook else []
    place = next((place for place, (number, _) in enumerate(cells) if number == answer.cell), None)
    if place is None:
        return forms
    statements, checkers = read_statements(cells), checkers_in(cells)
    checks = [
        (order, checked) for order, statement in enumerate(statements)
        for asked, checked, _ in check_calls(ast.Module([statement.node], []), checkers)
        if asked in (question, ANY) and statement.place >= place
    ]  # fmt: skip
    changing = orders_of_changes(statements, answer.names, place)
    below = [order for order in changing if statements[order].place > place]
    if checks:
        order, checked = checks[-1]
        last = statements[order]
        after = [later for later in changing if later > order]
        if below or after or not checked:
            number, source = cells[last.place]
            above = [*cells[: last.place], [number, source_until(source, last.node)]]
            forms.insert(0, replace(answer, cells=above, cell=number, checked=question))
        below = [order for order in below if statements[order].place > last.place]
    if below:
        forms.append(replace(answer, cells=cells, cell=cells[-1][0]))
    return forms


def checkers_in(cells):
    """Return the names by which cells call the checker."""
    return {"check"}.union(*(RENAMED.findall(source) for _, source in cells))


def read_statements(cells):
    """Return the statements of cells that can be parsed."""
    statements, left = [], MAX_PARSED
    for place, (_, source) in enumerate(cells):
        left -= len(source)
        if left < 0 or len(source) > LONG_CELL:
            continue
        try:
            statements += [read_statement(place, node) for node in ast.parse(source).body]
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            continue
    return statements


def read_statement(place, node):
    parts = [*ast.walk(node)]
    names = [part for part in parts if isinstance(part, ast.Name)]
    uses = {name.id for name in names}
    if isinstance(node, DEFINITIONS):
        binds = {node.name}
        uses -= {part.arg for part in parts if isinstance(part, ast.arg)}
        uses -= {name.id for name in names if isinstance(name.ctx, ast.Store)}
    elif isinstance(node, IMPORTS):
        binds = {(alias.asname or alias.name).split(".")[0] for alias in node.names}
    else:
        binds = {name.id for name in names if not isinstance(name.ctx, ast.Load)}
        binds |= {part.name for part in parts if isinstance(part, DEFINITIONS)}
    changes = set(binds)
    for part in parts if not isinstance(node, DEFINITIONS) else ():
        if isinstance(part, ast.Attribute | ast.Subscript) and not isinstance(part.ctx, ast.Load):
            changes.add(root_name(part))
        elif isinstance(part, ast.Call) and isinstance(part.func, ast.Attribute):
            changes.add(root_name(part.func))
        elif isinstance(part, ast.Call) and part.args and root_name(part.func) not in UNCHANGING:
            changes.add(root_name(part.args[0]))
    return Change(place, node, uses, binds, changes)


def orders_of_changes(statements, names, place):
    """Return the positions of statements that change what an answer with these names uses and is bound above."""
    imported = {name for statement in statements if isinstance(statement.node, IMPORTS) for name in statement.binds}
    uses, used, todo = {}, set(), [name.partition(".")[0] for name in names]
    for statement in statements:
        for name in statement.changes:
            uses.setdefault(name, set()).update(statement.uses)
    while todo:
        if (name := todo.pop()) not in used:
            used.add(name)
            todo += () if name in imported else uses.get(name, ())
    above = set().union(*(statement.binds for statement in statements if statement.place <= place))
    above &= used
    return [
        order for order, statement in enumerate(statements)
        if statement.binds & above or (statement.changes - imported) & above or statement.uses & BINDERS
    ]  # fmt: skip


def source_until(source, node):
    """Return a cell's source down to the end of a statement."""
    lines = source.split("\n")[: node.end_lineno]
    lines[-1] = lines[-1].encode()[: node.end_col_offset].decode()
    return "\n".join(lines)
