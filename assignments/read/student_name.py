"""Decide by which name a submission gets its variants of questions: the folder's or the one in the notebook."""

import ast
import contextlib
import re

from assignments.read.constants import NotConstant, evaluate
from assignments.read.notebooks import LONG_CELL, MAX_PARSED, SYNTAX_ERROR
from companion.check.engine.messages import VARIANT
from companion.check.engine.question import name_key

SCOPES = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda
MAX_NAME = 200  # characters
# A call in a line that cannot be parsed.
CALL = re.compile(r"^[^#'\"\n]*\bstudent\s*\(\s*(?:name\s*=\s*)?(\w{0,2}(['\"]).{0,200}?\2|\d+)", re.MULTILINE)
# A statement that is not Python, as notebooks.py replaces it.
REPLACED = re.compile(re.escape(SYNTAX_ERROR) + r".*?\)  # ")


def declared_name(sources):
    """Return the name in the last call of `student(...)` in a notebook's cells, and whether a call has an unknown name.

    The name is the text that `companion.check.student` registers, or "" if no call names anybody. Nothing is run: a
    name is known if it follows from constants.
    """
    sources, reader, left = list(sources), CallReader(), MAX_PARSED
    if not any("student" in source for source in sources):
        return "", False
    for source in sources:
        left -= len(source)
        reader.read(source, parse=len(source) <= LONG_CELL and left >= 0)
    names = reader.names()
    known = [name for name in names if name]
    return (known[-1] if known else ""), None in names


class CallReader(ast.NodeVisitor):
    """Reads the calls of `student` in cells, in order, with the values that names have there.

    calls: for each call its name, or None with the expression of the name, whose own names may be bound further below.
    """

    def __init__(self):
        self.bound, self.called_student, self.calls = {}, {"student"}, []

    def read(self, source, parse=True):
        """Read a cell's syntax tree, or lines that cannot be parsed."""
        try:
            if parse:
                self.visit(ast.parse(source))
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            parse = False
        for literal, _ in CALL.findall("\n".join(REPLACED.split(source)[1:]) if parse else source):
            with contextlib.suppress(SyntaxError, ValueError):
                self.calls.append((self.name_in(ast.parse(literal, mode="eval").body), None))

    def name_in(self, node):
        """Return the name that an expression gives, or None."""
        try:
            name = str(evaluate(node, self.bound)).strip()
            name.encode()
        except (NotConstant, ValueError):  # or no valid text
            return None
        return name if len(name) <= MAX_NAME else None

    def names(self):
        """Return the name of each call, or None if it is unknown."""
        return [self.name_in(node) if node else name for name, node in self.calls]

    def means_student(self, node):
        return getattr(node, "id", None) in self.called_student or getattr(node, "attr", None) == "student"

    def visit(self, node):
        return self.visit_scope(node) if isinstance(node, SCOPES) else super().visit(node)

    def visit_Call(self, node):
        self.generic_visit(node)
        named = [keyword.value for keyword in node.keywords if keyword.arg == "name"]
        if self.means_student(node.func) and (given := [*node.args[:1], *named]):
            name = self.name_in(given[0])
            self.calls.append((name, given[0] if name is None else None))

    def bind(self, target, node):
        """Bind the names of a target to the value of an expression, or forget their values if it has none."""
        if isinstance(target, ast.Name) and self.means_student(node):
            self.called_student.add(target.id)
        try:
            value = evaluate(node, self.bound)
        except NotConstant:
            return self.visit(target)
        self.visit(target)
        with contextlib.suppress(TypeError, ValueError):  # another number of names
            self.bind_value(target, value)

    def bind_value(self, target, value):
        if isinstance(target, ast.Name):
            self.bound[target.id] = value
        elif isinstance(target, ast.Tuple | ast.List):
            for part, item in zip(target.elts, value, strict=True):
                self.bind_value(part, item)

    def visit_Assign(self, node):
        self.visit(node.value)
        for target in node.targets:
            self.bind(target, node.value)

    def visit_AnnAssign(self, node):
        if node.value:
            self.visit(node.value)
            self.bind(node.target, node.value)

    def visit_NamedExpr(self, node):
        self.visit_AnnAssign(node)

    def visit_AugAssign(self, node):
        if isinstance(node.target, ast.Name):
            self.visit(node.value)
            self.bind(node.target, ast.BinOp(ast.Name(node.target.id, ast.Load()), node.op, node.value))

    def visit_For(self, node):
        self.visit(node.iter)
        self.bind(node.target, ast.Subscript(node.iter, ast.Constant(-1)))  # the last call counts
        for statement in [*node.body, *node.orelse]:
            self.visit(statement)

    def visit_Name(self, node):
        if not isinstance(node.ctx, ast.Load):
            self.bound.pop(node.id, None)

    def visit_alias(self, node):
        if node.asname and node.name == "student":
            self.called_student.add(node.asname)

    def visit_scope(self, node):
        """Visit a function or class, whose names are its own."""
        outer, count = dict(self.bound), len(self.calls)
        own = {part.arg for part in ast.walk(node) if isinstance(part, ast.arg)}
        own |= {part.id for part in ast.walk(node) if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store)}
        self.bound = {name: value for name, value in outer.items() if name not in own}
        self.generic_visit(node)
        self.bound = outer
        for place, (name, expression) in enumerate(self.calls[count:], count):
            if expression and own & {part.id for part in ast.walk(expression) if isinstance(part, ast.Name)}:
                self.calls[place] = name, None


def name_for_variants(student, declared, names, questions):
    """Return the name that selects a submission's variants, and a remark about it or None.

    student: name of the submission. declared: the name in the notebook. names: of all submissions, if each student must
    answer their own variant; None if a notebook may declare any name.
    A name that belongs to no student is accepted, so that a nickname costs no points. If it selects another variant,
    the remark tells the instructor, since a student could look for a spelling that selects a variant to copy.
    """
    if names is None:
        return declared, None
    student_key, declared_key = name_key(student), name_key(declared)
    if not declared_key:
        return student, None
    # equal, or a whole word of a folder's name as Moodle makes it
    if declared_key == student_key or declared_key in re.split(r"[\W_]+", student_key):
        return declared, None
    differs = any(question.asked_of(declared).variant != question.asked_of(student).variant for question in questions)
    doubt = ("name_of_nobody", declared) if differs else None
    if declared_key in student_key or student_key in declared_key:
        return declared, doubt
    if any(declared_key in key or key in declared_key for key in map(name_key, names) if key not in ("", student_key)):
        return student, ("name_of_another", declared) if differs else None
    return declared, doubt


def variant_answered(mistakes):
    """Return the variant to which a wrong answer is right, or "" if there is none."""
    match = VARIANT.match(mistakes[0]) if len(mistakes) == 1 else None
    return match[1] if match else ""
