"""Check how docstrings begin. ruff checks the rest (D1, D205, D400, D401 in pyproject.toml)."""

import ast

from tests.project.paths import ROOT, files

OPENERS = {"What", "Whatever", "Whoever", "Whose", "Whether", "Of", "Those", "And"}
DOCUMENTED = ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef


def test_docstrings_do_not_begin_with_a_clause():
    clauses = []
    for path in files():
        if path.suffix == ".py":
            for node in ast.walk(ast.parse((ROOT / path).read_text(encoding="utf-8"))):
                docstring = ast.get_docstring(node) if isinstance(node, DOCUMENTED) else None
                if docstring and docstring.split()[0].rstrip(",.:") in OPENERS:
                    clauses.append(f"{path}: {docstring.splitlines()[0]}")
    assert clauses == []
