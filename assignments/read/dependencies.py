"""Find the statements of a notebook that an answer depends on, from the names that statements use and bind.

An experiment that runs long or ends the program then costs nothing where the answer does not need it. The result is a
first try: names bound in indirect ways are missed, and judge.py then runs the whole notebook.
"""

import __future__

import ast
import builtins
import dis
import types
from dataclasses import dataclass, field

LOADS = {"LOAD_NAME", "LOAD_GLOBAL", "LOAD_FROM_DICT_OR_GLOBALS", "LOAD_CLASSDEREF"}
DEFINITIONS = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
IMPORTS = ast.Import | ast.ImportFrom
NO_ANNOTATIONS = __future__.annotations.compiler_flag  # annotations are not evaluated
CHECKER = {"check", "own_question", "progress", "student", "variant"}  # of companion.check
BINDERS = {"exec", "eval", "globals", "vars", "locals", "setattr"}  # may bind names that do not appear in the code


@dataclass
class Statement:
    """A statement of a notebook's cell, with the names that it uses and changes."""

    cell: int
    file: str
    node: ast.stmt
    uses: set = field(default_factory=set)
    binds: set = field(default_factory=set)
    writes: set = field(default_factory=set)  # names that its functions bind by `global`
    stores: set = field(default_factory=set)  # names of objects whose attributes or items it sets
    calls: set = field(default_factory=set)  # names of objects whose methods it calls, which may change them


def analyse(statement):
    """Fill in the names of a statement; one that does not compile binds nothing, and its error appears when it runs."""
    try:
        todo = [compile(ast.Module([statement.node], []), statement.file, "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)]
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return
    outer = todo[0]
    while todo:
        code = todo.pop()
        for step in dis.get_instructions(code):
            if step.opname in LOADS:
                statement.uses.add(step.argval)
            elif step.opname in ("STORE_NAME", "DELETE_NAME") and code is outer:
                statement.binds.add(step.argval)
            elif step.opname == "STORE_GLOBAL":
                (statement.binds if code is outer else statement.writes).add(step.argval)
        todo += [inner for inner in code.co_consts if isinstance(inner, types.CodeType)]
    if not isinstance(statement.node, DEFINITIONS):
        for inner in ast.walk(statement.node):
            if isinstance(inner, ast.Attribute | ast.Subscript) and not isinstance(inner.ctx, ast.Load):
                statement.stores.add(root_name(inner))
            elif isinstance(inner, ast.Call) and isinstance(inner.func, ast.Attribute):
                statement.calls.add(root_name(inner.func))
            elif isinstance(inner, ast.Call) and root_name(inner.func) in ("setattr", "delattr") and inner.args:
                statement.stores.add(root_name(inner.args[0]))


def root_name(node):
    """Return the name at the start of a chain of attributes and items, or None."""
    while isinstance(node, ast.Attribute | ast.Subscript):
        node = node.value
    return node.id if isinstance(node, ast.Name) else None


def needed_statements(statements, names, place, checked=""):
    """Return the statements that an answer with one of these names needs, in order, and the kind of the others.

    place: the number of the answer's cell. checked: a question whose calls of `check` are needed, too. The kind is ""
    if there are no others, "idle" if they only bind names, and else "more".
    """
    for statement in statements:
        analyse(statement)
    propagate_writes(statements)
    binders, changers = {}, {}
    for statement in statements:
        for name in statement.binds:
            binders.setdefault(name, []).append(statement)
        for name in statement.stores | statement.calls:
            changers.setdefault(name, []).append(statement)
    kept, seen = {id(statement) for statement in statements if affects_all(statement)}, set()
    todo = [name.partition(".")[0] for name in names]
    for statement in statements:
        if checked and mentions_check(statement, checked):
            kept.add(id(statement))
            todo += statement.uses
    unresolved = False
    while todo:
        name = todo.pop()
        if name in seen:
            continue
        seen.add(name)
        needed = binders.get(name, [])
        # a binding below the answer's cell, of a name bound above, is an experiment
        needed = [statement for statement in needed if statement.cell <= place] or needed
        if not needed and not hasattr(builtins, name) and not unresolved:
            unresolved = True
            # a statement that binds names indirectly may use any name, in a text
            needed = [statement for statement in statements
                      if statement.uses & BINDERS or isinstance(statement.node, DEFINITIONS | IMPORTS)]  # fmt: skip
        imported = all(isinstance(statement.node, IMPORTS) for statement in needed)
        # the methods of a module, such as `torch.manual_seed(0)`, change no name
        changing = [statement for statement in changers.get(name, ()) if name in statement.stores or not imported]
        for statement in needed + changing:
            if id(statement) not in kept:
                kept.add(id(statement))
                todo += statement.uses
    left = [statement for statement in statements if id(statement) not in kept]
    others = "more" if not all(map(is_idle, left)) else "idle" if left else ""
    return [statement for statement in statements if id(statement) in kept], others


def mentions_check(statement, question):
    """Return whether a statement outside of definitions names a question, and may give its answer to `check`."""
    texts = (part.value for part in ast.walk(statement.node) if isinstance(part, ast.Constant))
    return not isinstance(statement.node, DEFINITIONS) and question in texts


def propagate_writes(statements):
    """Treat a statement that uses a function with `global` as binding those names, since it may call the function."""
    writes = {name: statement.writes for statement in statements for name in statement.binds if statement.writes}
    while writes:
        more = {}
        for statement in statements:
            reached = set().union(*(writes[name] for name in statement.uses & writes.keys()))
            if isinstance(statement.node, DEFINITIONS):
                if reached - statement.writes:
                    statement.writes |= reached
                    more |= dict.fromkeys(statement.binds, statement.writes)
            else:
                statement.binds |= reached
        writes = more


def affects_all(statement):
    """Return whether a statement may bind any name (`import *`) or changes how later code compiles (`__future__`)."""
    node = statement.node
    return isinstance(node, ast.ImportFrom) and (node.module == "__future__" or node.names[0].name == "*")


def split_import(node):
    """Return one import per module, since one module may be missing and the others not; else the node alone."""
    if not isinstance(node, ast.Import):
        return [node]
    return [ast.copy_location(ast.Import([alias]), node) for alias in node.names]


def future_flags(node):
    """Return the compiler flags that `from __future__ import` sets for the statements that follow."""
    if not isinstance(node, ast.ImportFrom) or node.module != "__future__":
        return 0
    return sum(getattr(getattr(__future__, alias.name, None), "compiler_flag", 0) for alias in node.names)


def is_idle(statement):
    """Return whether a statement affects others by the names that it binds only."""
    node = statement.node
    if isinstance(node, DEFINITIONS):
        return not node.decorator_list
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):  # the checker, which is a stub in the worker
        return isinstance(node.value.func, ast.Name) and node.value.func.id in CHECKER
    return isinstance(node, IMPORTS | ast.Pass) or isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
