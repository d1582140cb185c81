"""The call of a question as text, without its module: what a student's process may have of the checker."""

import ast
import inspect
import re
import sys
from dataclasses import fields, is_dataclass
from functools import cache

from companion.check.engine import library_layers, module_parameters, probe, run_answer

# All that a student's process has of the checker, each module after those that it imports.
PARTS = (library_layers, probe, module_parameters, run_answer)


@cache
def portable_of(asked):
    """Of a question (question.Question)."""
    return portable(asked.call)


def portable(call):
    """A question's call as JSON: pieces of source to run, in order, and what to make of them."""
    pieces = {}

    def say(thing):
        if is_dataclass(thing):
            made = {one.name: say(getattr(thing, one.name)) for one in fields(thing)}
            return want(type(thing)) | {"fields": made}
        if isinstance(thing, tuple | list):
            return {"list": [say(one) for one in thing]}
        if callable(thing):
            return want(thing)
        return thing

    def want(thing):
        if thing.__module__ not in {part.__name__ for part in PARTS}:
            pieces.setdefault(thing.__module__, set()).add(thing.__name__)
        return {"module": thing.__module__, "name": thing.__name__}

    said = say(call)
    cut = {}
    while pieces:
        module, names = pieces.popitem()
        before = cut.get(module, (set(), ""))[0]
        names |= before
        source, kept, others = pieces_of(module, names)
        cut.pop(module, None)
        cut[module] = kept, source
        for other, theirs in others.items():
            if not theirs <= cut.get(other, (set(), ""))[0]:
                pieces.setdefault(other, set()).update(theirs)
    order = [{"module": name, "file": sys.modules[name].__file__, "source": cut[name][1]} for name in reversed(cut)]
    return {"pieces": order, "call": said}


@cache
def statements(module):
    """A module's statements by the names that they bind."""
    tree = ast.parse(inspect.getsource(sys.modules[module]))
    found = {}
    for number, node in enumerate(tree.body):
        names = ()
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            names = (node.name,)
        elif isinstance(node, ast.Assign):
            names = [one.id for target in node.targets for one in ast.walk(target) if isinstance(one, ast.Name)]
        elif isinstance(node, ast.AnnAssign | ast.AugAssign):
            names = (node.target.id,)
        elif isinstance(node, ast.Import | ast.ImportFrom):
            for alias in node.names:
                name = (alias.asname or alias.name).split(".")[0]
                one = ast.Import([alias]) if isinstance(node, ast.Import) else ast.ImportFrom(node.module, [alias], 0)
                found.setdefault(name, []).append((number, one))
        for name in names:
            found.setdefault(name, []).append((number, node))
    return found


def pieces_of(module, names):
    """The source of these names and all that they need, the names, and what they need of other questions' modules."""
    bound, others, todo, seen, nodes = statements(module), {}, list(names), set(), {}
    while todo:
        name = todo.pop()
        if name in seen or name not in bound:
            continue
        if re.search("[Rr]eference|truth|QUESTION|Question", name):
            raise ValueError(f"the call of a question needs {name}, which no student's process may have")
        seen.add(name)
        for number, node in bound[name]:
            nodes[number, ast.unparse(node)] = None
            if isinstance(node, ast.ImportFrom) and node.module.startswith("companion.check.questions."):
                others.setdefault(node.module, set()).update(alias.name for alias in node.names)
            todo += [one.id for one in ast.walk(node) if isinstance(one, ast.Name)]
    return "\n\n".join(source for _, source in sorted(nodes)), seen, others
