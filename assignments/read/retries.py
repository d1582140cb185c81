"""Find other ways to run a wrong answer: as the notebook's own check saw it, and with the last definitions of all.

The first run takes the definitions down to the answer's cell, since those below are experiments more often than not.
"""

import ast
from dataclasses import dataclass, replace

from assignments.read.check_calls import ANY, RENAMED, check_calls
from assignments.read.dependencies import BINDERS, DEFINITIONS, IMPORTS, root_name
from assignments.read.notebooks import LONG_CELL, MAX_PARSED


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
    cells = answer.notebook
    place = next((place for place, (number, _) in enumerate(cells) if number == answer.cell), None)
    if place is None:
        return []
    statements = read_statements(cells)
    checks = [
        (statement, checked) for statement in statements
        for asked, checked, _ in check_calls(ast.Module([statement.node], []), checkers_in(cells))
        if asked in (question, ANY) and statement.place >= place
    ]  # fmt: skip
    changing = [
        statement for statement in statements_that_change(statements, answer.names, place)
        if statement.place > place or checks and statement.node.lineno >= checks[-1][0].node.lineno
    ]  # fmt: skip
    forms = []
    if checks and (changing or not checks[-1][1]):
        last = checks[-1][0]
        number, source = cells[last.place]
        above = [*cells[: last.place], [number, source_until(source, last.node)]]
        forms.append(replace(answer, cells=above, cell=number, checked=question))
    if any(statement.place > (checks[-1][0].place if checks else place) for statement in changing):
        forms.append(replace(answer, cells=cells, cell=cells[-1][0]))
    if len(answer.names) > 1:
        forms.append(replace(answer, names=answer.names[::-1]))
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
    if isinstance(node, DEFINITIONS):
        binds = {node.name}
    elif isinstance(node, IMPORTS):
        binds = {(alias.asname or alias.name).split(".")[0] for alias in node.names}
    else:
        binds = {name.id for name in names if not isinstance(name.ctx, ast.Load)}
        binds |= {part.name for part in parts if isinstance(part, DEFINITIONS)}
    changes = set(binds)
    for part in parts if not isinstance(node, DEFINITIONS) else ():
        if isinstance(part, ast.Attribute | ast.Subscript) and not isinstance(part.ctx, ast.Load):
            changes.add(root_name(part))
        elif isinstance(part, ast.Call):
            changes.add(root_name(part.func if isinstance(part.func, ast.Attribute) else (part.args or [part])[0]))
    return Change(place, node, {name.id for name in names}, binds, changes)


def statements_that_change(statements, names, place):
    """Return the statements that change what an answer with these names uses and what is bound down to `place`."""
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
        statement for statement in statements
        if statement.binds & above or (statement.changes - imported) & above or statement.uses & BINDERS
    ]  # fmt: skip


def source_until(source, node):
    """Return a cell's source down to the end of a statement."""
    lines = source.split("\n")[: node.end_lineno]
    lines[-1] = lines[-1].encode()[: node.end_col_offset].decode()
    return "\n".join(lines)
