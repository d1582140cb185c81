"""Which statements of a notebook an answer needs: those that bind the names it uses, those that bind what these use …

It is a first try: what a notebook does in roundabout ways is not seen, and then judge.py has all of it run. So an
experiment that takes long, or ends the program, costs nothing where the answer does not need it.
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
NO_TYPES = __future__.annotations.compiler_flag  # types beside names are not looked at
CHECKER = {"check", "progress", "student", "variant"}  # of companion.check
BINDING = {"exec", "eval", "globals", "vars", "locals", "setattr"}  # what may bind a name that is not written


@dataclass
class Statement:
    cell: int
    file: str
    node: ast.stmt
    uses: set = field(default_factory=set)
    binds: set = field(default_factory=set)
    writes: set = field(default_factory=set)  # the names that its functions bind by `global`
    stores: set = field(default_factory=set)  # the names of what it puts something into
    calls: set = field(default_factory=set)  # those of which it calls a method, which may do so


def look(one):
    """Fills in what a statement does. One that Python does not compile binds nothing, and says so when it runs."""
    try:
        todo = [compile(ast.Module([one.node], []), one.file, "exec")]
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return
    outer = todo[0]
    while todo:
        code = todo.pop()
        for step in dis.get_instructions(code):
            if step.opname in LOADS:
                one.uses.add(step.argval)
            elif step.opname in ("STORE_NAME", "DELETE_NAME") and code is outer:
                one.binds.add(step.argval)
            elif step.opname == "STORE_GLOBAL":
                (one.binds if code is outer else one.writes).add(step.argval)
        todo += [inner for inner in code.co_consts if isinstance(inner, types.CodeType)]
    if not isinstance(one.node, DEFINITIONS):
        for inner in ast.walk(one.node):
            if isinstance(inner, ast.Attribute | ast.Subscript) and not isinstance(inner.ctx, ast.Load):
                one.stores.add(root(inner))
            elif isinstance(inner, ast.Call) and isinstance(inner.func, ast.Attribute):
                one.calls.add(root(inner.func))
            elif isinstance(inner, ast.Call) and root(inner.func) in ("setattr", "delattr") and inner.args:
                one.stores.add(root(inner.args[0]))


def root(node):
    while isinstance(node, ast.Attribute | ast.Subscript):
        node = node.value
    return node.id if isinstance(node, ast.Name) else None


def needed(statements, names, place):
    """The statements that an answer of one of these names needs, in order, and what the others are.

    place: the number of the cell with the answer. The others are "" if there are none, "idle" if they do nothing but
    bind names, and else "more".
    """
    for one in statements:
        look(one)
    share_writes(statements)
    binders, changers = {}, {}
    for one in statements:
        for name in one.binds:
            binders.setdefault(name, []).append(one)
        for name in one.stores | one.calls:
            changers.setdefault(name, []).append(one)
    kept, seen, todo = {id(one) for one in statements if stars(one)}, set(), list(names)
    lost = False
    while todo:
        name = todo.pop()
        if name in seen:
            continue
        seen.add(name)
        there = binders.get(name, [])
        # what is bound below an answer, and was bound above it, is something tried out
        there = [one for one in there if one.cell <= place] or there
        if not there and not hasattr(builtins, name) and not lost:
            lost = True
            # what binds it may use names in a text
            there = [one for one in statements if one.uses & BINDING or isinstance(one.node, DEFINITIONS | IMPORTS)]
        imported = all(isinstance(one.node, IMPORTS) for one in there)  # `torch.manual_seed(0)` changes no name
        there = there + [one for one in changers.get(name, ()) if name in one.stores or not imported]
        for one in there:
            if id(one) not in kept:
                kept.add(id(one))
                todo += one.uses
    left = [one for one in statements if id(one) not in kept]
    others = "more" if not all(map(idle, left)) else "idle" if left else ""
    return [one for one in statements if id(one) in kept], others


def share_writes(statements):
    """Whoever uses a function that binds names by `global` is taken to bind them: it may call it."""
    writes = {name: one.writes for one in statements for name in one.binds if one.writes}
    while writes:
        more = {}
        for one in statements:
            reached = set().union(*(writes[name] for name in one.uses & writes.keys()))
            if isinstance(one.node, DEFINITIONS):
                if reached - one.writes:
                    one.writes |= reached
                    more |= dict.fromkeys(one.binds, one.writes)
            else:
                one.binds |= reached
        writes = more


def stars(one):
    """Whether it may bind any name, or changes how all that follows is read."""
    node = one.node
    return isinstance(node, ast.ImportFrom) and (node.module == "__future__" or node.names[0].name == "*")


def single(node):
    """A statement, or those that it is short for: of `import pandas, numpy` one may be missing, and not the other."""
    return (
        [ast.copy_location(ast.Import([one]), node) for one in node.names] if isinstance(node, ast.Import) else [node]
    )


def future(node):
    """What a statement says for the compiling of those that follow."""
    if not isinstance(node, ast.ImportFrom) or node.module != "__future__":
        return 0
    return sum(getattr(getattr(__future__, one.name, None), "compiler_flag", 0) for one in node.names)


def idle(one):
    """Whether a statement does nothing to others, but for the names that it binds."""
    node = one.node
    if isinstance(node, DEFINITIONS):
        return not node.decorator_list
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):  # the checker's, which is not there
        return isinstance(node.value.func, ast.Name) and node.value.func.id in CHECKER
    return isinstance(node, IMPORTS | ast.Pass) or isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
