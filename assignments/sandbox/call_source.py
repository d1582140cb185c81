"""Extract the source of a question's call for the student's process, without the reference answer."""

import ast
import inspect
import re
import sys
from dataclasses import fields, is_dataclass
from functools import cache

from companion.check.engine import library_layers, module_parameters, probe, run_answer

# The only modules of the companion in a student's process, each after those that it imports.
SHARED_MODULES = (library_layers, probe, module_parameters, run_answer)


@cache
def portable_call(question):
    return pack_call(question.call)


def pack_call(call):
    """Return a question's call as JSON: pieces of source, in the order to run them, and the values to build."""
    to_cut = {}

    def pack(value):
        if is_dataclass(value):
            packed = {field.name: pack(getattr(value, field.name)) for field in fields(value)}
            return refer_to(type(value)) | {"fields": packed}
        if isinstance(value, tuple | list):
            return {"list": [pack(item) for item in value]}
        if callable(value):
            return refer_to(value)
        return value

    def refer_to(value):
        if value.__module__ not in {module.__name__ for module in SHARED_MODULES}:
            to_cut.setdefault(value.__module__, set()).add(value.__name__)
        return {"module": value.__module__, "name": value.__name__}

    packed_call = pack(call)
    cut = {}
    while to_cut:
        module, names = to_cut.popitem()
        names |= cut.get(module, (set(), ""))[0]
        source, cut_names, imported = cut_source(module, names)
        cut.pop(module, None)
        cut[module] = cut_names, source
        for other, imported_names in imported.items():
            if not imported_names <= cut.get(other, (set(), ""))[0]:
                to_cut.setdefault(other, set()).update(imported_names)
    order = [{"module": name, "source": cut[name][1]} for name in reversed(cut)]
    return {"pieces": order, "call": packed_call}


@cache
def statements_by_name(module):
    """Return {name: [(number, node)]}: a module's statements by the names that they bind."""
    tree = ast.parse(inspect.getsource(sys.modules[module]))
    binding = {}
    for number, node in enumerate(tree.body):
        names = ()
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            names = (node.name,)
        elif isinstance(node, ast.Assign):
            names = [part.id for target in node.targets for part in ast.walk(target) if isinstance(part, ast.Name)]
        elif isinstance(node, ast.AnnAssign | ast.AugAssign):
            names = (node.target.id,)
        elif isinstance(node, ast.Import | ast.ImportFrom):
            for alias in node.names:
                name = (alias.asname or alias.name).split(".")[0]
                part = ast.Import([alias]) if isinstance(node, ast.Import) else ast.ImportFrom(node.module, [alias], 0)
                binding.setdefault(name, []).append((number, part))
        for name in names:
            binding.setdefault(name, []).append((number, node))
    return binding


def cut_source(module, names):
    """Return the source of these names with all that it needs, its names, and {module: names} of other questions."""
    binding, imported, todo, seen, nodes = statements_by_name(module), {}, list(names), set(), {}
    while todo:
        name = todo.pop()
        if name in seen or name not in binding:
            continue
        if re.search("[Rr]eference|truth|QUESTION|Question", name):
            raise ValueError(f"the call of a question uses {name}, which a student's process must not have")
        seen.add(name)
        for number, node in binding[name]:
            nodes[number, ast.unparse(node)] = None
            if isinstance(node, ast.ImportFrom) and node.module.startswith("companion.check.questions."):
                imported.setdefault(node.module, set()).update(alias.name for alias in node.names)
            todo += [part.id for part in ast.walk(node) if isinstance(part, ast.Name)]
    return "\n\n".join(source for _, source in sorted(nodes)), seen, imported
