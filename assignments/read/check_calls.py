"""Find a cell's calls of `check`, and what they check."""

import ast
import re

from companion.check.engine.question import all_questions

ANY = "*"  # stands for a question whose name is computed
RENAMED = re.compile(r"\bcheck\s+as\s+(\w+)")
# A call in code that cannot be parsed.
CALL = re.compile(r"\bcheck\(\s*(?:question\s*=\s*)?['\"](\w+)['\"]\s*,\s*(?:answer\s*=\s*)?([\w.]+)\s*[,)]")


def checked_names(source, checkers, parse=True):
    """Return {question: what is checked}: a name, with attributes, or "" for another expression.

    checkers: the names of `check` in the notebook. The first call about a question counts.
    """
    if not any(checker in source for checker in checkers):
        return {}
    try:
        calls = check_calls(ast.parse(source), checkers) if parse else CALL.findall(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        calls = CALL.findall(source)
    return dict(call[:2] for call in reversed(calls))


def check_calls(tree, checkers=("check",)):
    """Return (question, what is checked, statement) of the calls of `check`, in order."""
    calls = []
    for statement in tree.body:
        found = [node for node in ast.walk(statement) if isinstance(node, ast.Call) and is_check(node.func, checkers)]
        for call in sorted(found, key=lambda node: (node.lineno, node.col_offset)):
            given = dict(zip(("question", "answer"), call.args)) | {part.arg: part.value for part in call.keywords}
            checked, asked = dotted_name(given.get("answer")), given.get("question")
            if isinstance(asked, ast.Constant):
                calls.append((asked.value, checked, statement))
            elif asked:
                texts = [part.value for part in ast.walk(tree) if isinstance(part, ast.Constant)]
                names = [text for text in texts if isinstance(text, str) and text in all_questions()]
                calls += [(name, "", statement) for name in names or [ANY]]
    return calls


def dotted_name(node):
    """Return a name with its attributes, or "" for another expression."""
    attributes = []
    while isinstance(node, ast.Attribute):
        attributes.insert(0, node.attr)
        node = node.value
    return ".".join([node.id, *attributes]) if isinstance(node, ast.Name) else ""


def is_check(node, checkers):
    """Return whether a call's function is the checker: `check`, `companion.check.check`."""
    return getattr(node, "id", None) in checkers or getattr(node, "attr", None) == "check"
