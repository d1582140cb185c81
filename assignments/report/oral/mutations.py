"""Generate small changes to Python code like typical slips: a dropped line, `-` for `+`, a forgotten `.T`.

Nothing is run here, so the effect of a change is unknown.
"""

import ast
import re
from dataclasses import dataclass, replace

MAX_CELL = 20_000  # letters of a cell that is changed
MAX_LINE = 100  # letters of a line that is shown
SIGNS = {ast.Add: ("+", "-"), ast.Sub: ("-", "+"), ast.Mult: ("*", "+"), ast.Div: ("/", "*")}
COMPARED = {
    ast.Lt: ("<", "<="), ast.LtE: ("<=", "<"), ast.Gt: (">", ">="), ast.GtE: (">=", ">"),
    ast.Eq: ("==", "!="), ast.NotEq: ("!=", "=="),
}  # fmt: skip
# Functions that take the same arguments.
ANOTHER = {
    "sigmoid": "tanh", "tanh": "sigmoid", "relu": "tanh", "softmax": "sigmoid", "log_softmax": "softmax",
    "sum": "mean", "mean": "sum", "max": "min", "min": "max", "argmax": "argmin", "exp": "log", "log": "exp",
    "zeros": "ones", "ones": "zeros", "new_zeros": "new_ones", "new_ones": "new_zeros",
    "zeros_like": "ones_like", "ones_like": "zeros_like",
}  # fmt: skip
TURNS = {"T", "mT"}  # attributes that may be forgotten
CALLS = {"t", "transpose", "permute", "flip", "detach", "clone", "contiguous", "unsqueeze", "squeeze"}
# Functions whose integer argument is an axis: `sum(0)`, `torch.stack(x, 0)`.
AMAX_CELL = {
    "sum", "mean", "max", "min", "softmax", "log_softmax", "cumsum", "unsqueeze", "squeeze", "flip", "cat", "stack",
    "chunk", "split", "unbind", "argmax", "size",
}  # fmt: skip
PIECES = {"chunk", "split"}  # their first integer is a size


@dataclass(frozen=True)
class Change:
    """A change of one line.

    cell, line: its location. old, new: the line before and after; new is "" for a dropped line. source: the whole
    changed cell. making: whether the line only creates a module and computes nothing.
    """

    cell: int
    line: int
    kind: str
    old: str
    new: str
    source: str
    making: bool = False


def parse(source):
    """Return a cell's syntax tree, or None if it is too long or not Python."""
    try:
        return ast.parse(source) if len(source) <= MAX_CELL else None
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def all_changes(cell, source, names):
    """Return all changes of one line to the functions and classes of these names in a cell."""
    tree = parse(source)
    lines = source.split("\n")
    # these characters would make Python's line numbers differ from ours
    if tree is None or re.search("[\\r\\f]", source):
        return []
    changes, init_lines = {}, set()
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and node.name in names:
            for inner in ast.walk(node):
                if isinstance(inner, ast.FunctionDef) and inner.name == "__init__":
                    init_lines.update(range(inner.body[0].lineno, inner.end_lineno + 1))
                for kind, line, start, end, new in edits(inner, lines):
                    if change := build_change(cell, lines, kind, line, start, end, new):
                        changes.setdefault((change.line, change.new), change)
    return [replace(change, making=change.line in init_lines) for change in changes.values()]


def build_change(cell, lines, kind, number, start, end, new):
    """Return the change that puts `new` between two columns of a line, or None if it is not usable.

    start, end: byte offsets, as in ast.
    """
    old = lines[number - 1]
    raw = old.encode()
    line = (raw[:start] + new.encode() + raw[end:]).decode(errors="replace")
    shown = "" if kind == "drop" else line.strip()
    if kind == "drop" and old.split("#")[0].strip() != raw[start:end].decode(errors="replace"):
        return None  # the line has another statement
    texts = old.strip(), shown
    if any(len(text) > MAX_LINE or not text.isprintable() for text in texts) or texts[0] == texts[1]:
        return None
    if re.match(r"(\w+) = \1$", shown):
        return None
    source = "\n".join([*lines[: number - 1], line, *lines[number:]])
    if parse(source) is None:
        return None
    return Change(cell, number, kind, *texts, source)


def edits(node, lines):
    """Yield the edits of a node: (kind, line, first byte, last byte, replacement)."""
    if hasattr(node, "lineno") and node.lineno != node.end_lineno and not isinstance(node, ast.For | ast.FunctionDef):
        return
    match node:
        case ast.Assign() | ast.AugAssign():
            yield replacement("drop", node, "pass")
            if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
                yield from detached(node.value)
        case ast.Return(value=value) if value:
            yield from detached(value)
            if (
                isinstance(value, ast.Subscript)
                and isinstance(value.value, ast.Name)
                and isinstance(value.slice, ast.Name)
            ):
                yield replacement("names", value, f"{value.slice.id}[{value.value.id}]")
        case ast.Expr(value=ast.Call(func=ast.Attribute() as called)) if called.attr != "__init__":
            yield replacement("drop", node, "pass")
        case ast.BinOp(left=left, right=right, op=op) if type(op) in SIGNS:
            yield from operator_edits(left, right, *SIGNS[type(op)], "sign", lines)
            if isinstance(op, ast.Add | ast.Sub):
                yield "term", right.end_lineno, left.end_col_offset, right.end_col_offset, ""
        case ast.BinOp(op=ast.Pow(), right=ast.Constant(value=2) as power):
            yield replacement("number", power, "3")
        case ast.Compare(left=left, ops=[op], comparators=[right]):
            if type(op) in COMPARED:
                yield from operator_edits(left, right, *COMPARED[type(op)], "compared", lines)
            elif isinstance(op, ast.Is | ast.IsNot):
                texts = ("is not", "is") if isinstance(op, ast.IsNot) else ("is", "is not")
                yield from operator_edits(left, right, *texts, "compared", lines)
        case ast.Attribute(value=value, attr=attr):
            if attr in TURNS and isinstance(node.ctx, ast.Load):
                yield "turned", node.lineno, value.end_col_offset, node.end_col_offset, ""
            elif attr in ANOTHER:
                yield "another", node.lineno, node.end_col_offset - len(attr), node.end_col_offset, ANOTHER[attr]
        case ast.Call():
            yield from call_edits(node)
        case ast.Tuple(elts=elements):
            yield from swapped_names(elements)
        case ast.Subscript(slice=index):
            yield from index_edits(index)
        case ast.For(iter=iterated) if iterated.lineno == iterated.end_lineno:
            yield from loop_edits(iterated)
        case ast.FunctionDef(args=arguments):
            for default in [*arguments.defaults, *filter(None, arguments.kw_defaults)]:
                if isinstance(default, ast.Constant) and isinstance(default.value, bool):
                    yield replacement("default", default, str(not default.value))
        case ast.keyword(arg="dim" | "axis", value=value):
            yield from shifted_integer("axis", value)


def replacement(kind, node, new):
    return kind, node.lineno, node.col_offset, node.end_col_offset, new


def detached(value):
    """Yield an edit that detaches a value from the gradient's graph."""
    if isinstance(value, ast.Call | ast.Subscript) and getattr(getattr(value, "func", None), "attr", "") not in CALLS:
        yield "cut", value.lineno, value.end_col_offset, value.end_col_offset, ".detach()"


def operator_edits(left, right, old, new, kind, lines):
    """Yield an edit of the operator between two operands in one line."""
    if left.end_lineno == right.lineno:
        gap = lines[right.lineno - 1].encode()[left.end_col_offset : right.col_offset].decode(errors="replace")
        if match := re.search(r"(?<![\w*/<>=!])" + re.escape(old) + r"(?![\w*/<>=])", gap):
            start = left.end_col_offset + len(gap[: match.start()].encode())
            yield kind, right.lineno, start, start + len(old), new


def call_edits(node):
    function = node.func
    name = (
        function.attr if isinstance(function, ast.Attribute) else function.id if isinstance(function, ast.Name) else ""
    )
    method = isinstance(function, ast.Attribute) and not (
        isinstance(function.value, ast.Name) and function.value.id == "torch"
    )
    if method and name in CALLS:
        yield "turned", node.lineno, function.value.end_col_offset, node.end_col_offset, ""
    if isinstance(function, ast.Name) and name in ANOTHER:
        yield replacement("another", function, ANOTHER[name])
    if isinstance(function, ast.Name) and name == "reversed" and len(node.args) == 1 and not node.keywords:
        yield replacement("order", node, ast.unparse(node.args[0]))
    if name in AMAX_CELL:
        for argument in node.args[(not method) + (name in PIECES) :]:
            yield from shifted_integer("axis", argument)
    yield from swapped_names(node.args)


def swapped_names(nodes):
    """Yield an edit that swaps two neighbouring names."""
    for left, right in zip(nodes, nodes[1:]):
        if (
            isinstance(left, ast.Name)
            and isinstance(right, ast.Name)
            and left.id != right.id
            and left.lineno == right.lineno
        ):
            yield "names", left.lineno, left.col_offset, right.end_col_offset, f"{right.id}, {left.id}"


def index_edits(index):
    match index:
        case ast.Slice(lower=None, upper=None, step=ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=1)) as step):
            yield replacement("order", step, "1")
        case ast.Slice(lower=lower, upper=upper, step=None):
            for bound in filter(None, (lower, upper)):
                yield from shifted_integer("index", bound)
        case ast.Tuple(elts=elements):
            for element in elements:
                yield from index_edits(element)
        case _:
            yield from shifted_integer("index", index)


def shifted_integer(kind, node):
    """Yield an edit of an integer that means a position: -1 to 0, 0 to -1, others to the one before."""
    negative = isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub)
    constant = node.operand if negative else node
    if isinstance(constant, ast.Constant) and type(constant.value) is int:
        value = -constant.value if negative else constant.value
        yield replacement(kind, node, {-1: "0", 0: "1" if kind == "axis" else "-1"}.get(value, str(value - 1)))


def loop_edits(iterated):
    """Yield edits of a loop: the reverse order, or `range` without an end."""
    match iterated:
        case ast.Name(id=name):
            yield replacement("order", iterated, f"reversed({name})")
        case ast.Call(func=ast.Name(id="range"), args=[only]):
            yield "range", iterated.lineno, only.end_col_offset, only.end_col_offset, " - 1"
            yield "range", iterated.lineno, only.col_offset, only.col_offset, "1, "
