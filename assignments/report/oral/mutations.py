"""Small changes to a piece of Python, such as a slip makes them: a line dropped, a `+` that is a `-`, a `.T` forgotten.

Nothing is run here, and nothing is known of what a change does.
"""

import ast
import re
from dataclasses import dataclass, replace

LONG = 20_000  # letters of a cell in which changes are looked for
WIDE = 100  # signs of a line that is shown
SIGNS = {ast.Add: ("+", "-"), ast.Sub: ("-", "+"), ast.Mult: ("*", "+"), ast.Div: ("/", "*")}
COMPARED = {
    ast.Lt: ("<", "<="), ast.LtE: ("<=", "<"), ast.Gt: (">", ">="), ast.GtE: (">=", ">"),
    ast.Eq: ("==", "!="), ast.NotEq: ("!=", "=="),
}  # fmt: skip
# One function for another that takes the same.
ANOTHER = {
    "sigmoid": "tanh", "tanh": "sigmoid", "relu": "tanh", "softmax": "sigmoid", "log_softmax": "softmax",
    "sum": "mean", "mean": "sum", "max": "min", "min": "max", "argmax": "argmin", "exp": "log", "log": "exp",
    "zeros": "ones", "ones": "zeros", "new_zeros": "new_ones", "new_ones": "new_zeros",
    "zeros_like": "ones_like", "ones_like": "zeros_like",
}  # fmt: skip
TURNS = {"T", "mT"}  # attributes that may be forgotten, and methods
CALLS = {"t", "transpose", "permute", "flip", "detach", "clone", "contiguous", "unsqueeze", "squeeze"}
# Functions of which a whole number says an axis: `sum(0)`, `torch.stack(x, 0)`.
ALONG = {
    "sum", "mean", "max", "min", "softmax", "log_softmax", "cumsum", "unsqueeze", "squeeze", "flip", "cat", "stack",
    "chunk", "split", "unbind", "argmax", "size",
}  # fmt: skip
PIECES = {"chunk", "split"}  # of these the first number is another


@dataclass(frozen=True)
class Change:
    """cell, line: where. kind: what sort of change. old, new: the line; new is "" if it is dropped. source: all of the
    cell, changed. making: whether the line only makes a module, and computes nothing."""

    cell: int
    line: int
    kind: str
    old: str
    new: str
    source: str
    making: bool = False


def parsed(source):
    """A cell's tree, or None of one that is too long, or no Python."""
    try:
        return ast.parse(source) if len(source) <= LONG else None
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def changes(cell, source, names):
    """All changes to the functions and classes of these names in a cell, each of them in one line."""
    tree = parsed(source)
    lines = source.split("\n")
    # where Python counts other lines than we do, none is shown under a wrong number
    if tree is None or re.search("[\\r\\f]", source):
        return []
    found, making = {}, set()
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and node.name in names:
            for inner in ast.walk(node):
                if isinstance(inner, ast.FunctionDef) and inner.name == "__init__":
                    making.update(range(inner.body[0].lineno, inner.end_lineno + 1))
                for kind, line, start, end, new in edits(inner, lines):
                    if one := changed(cell, lines, kind, line, start, end, new):
                        found.setdefault((one.line, one.new), one)
    return [replace(one, making=one.line in making) for one in found.values()]


def changed(cell, lines, kind, number, start, end, new):
    """The change that puts `new` in a place of a line. start, end: in bytes, as Python counts. None if it is no
    good."""
    old = lines[number - 1]
    raw = old.encode()
    line = (raw[:start] + new.encode() + raw[end:]).decode(errors="replace")
    shown = "" if kind == "drop" else line.strip()
    if kind == "drop" and old.split("#")[0].strip() != raw[start:end].decode(errors="replace"):
        return None  # something else stands in the line
    texts = old.strip(), shown
    if any(len(one) > WIDE or not one.isprintable() for one in texts) or texts[0] == texts[1]:
        return None
    if re.match(r"(\w+) = \1$", shown):
        return None
    source = "\n".join([*lines[: number - 1], line, *lines[number:]])
    if parsed(source) is None:
        return None
    return Change(cell, number, kind, *texts, source)


def edits(node, lines):
    """What may be changed at a node: (kind, line, from byte, to byte, what stands there then)."""
    if hasattr(node, "lineno") and node.lineno != node.end_lineno and not isinstance(node, ast.For | ast.FunctionDef):
        return
    match node:
        case ast.Assign() | ast.AugAssign():
            yield place("drop", node, "pass")
            if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
                yield from cut(node.value)
        case ast.Return(value=value) if value:
            yield from cut(value)
            if (
                isinstance(value, ast.Subscript)
                and isinstance(value.value, ast.Name)
                and isinstance(value.slice, ast.Name)
            ):
                yield place("names", value, f"{value.slice.id}[{value.value.id}]")
        case ast.Expr(value=ast.Call(func=ast.Attribute() as called)) if called.attr != "__init__":
            yield place("drop", node, "pass")
        case ast.BinOp(left=left, right=right, op=op) if type(op) in SIGNS:
            yield from between(left, right, *SIGNS[type(op)], "sign", lines)
            if isinstance(op, ast.Add | ast.Sub):
                yield "term", right.end_lineno, left.end_col_offset, right.end_col_offset, ""
        case ast.BinOp(op=ast.Pow(), right=ast.Constant(value=2) as power):
            yield place("number", power, "3")
        case ast.Compare(left=left, ops=[op], comparators=[right]):
            if type(op) in COMPARED:
                yield from between(left, right, *COMPARED[type(op)], "compared", lines)
            elif isinstance(op, ast.Is | ast.IsNot):
                texts = ("is not", "is") if isinstance(op, ast.IsNot) else ("is", "is not")
                yield from between(left, right, *texts, "compared", lines)
        case ast.Attribute(value=value, attr=attr):
            if attr in TURNS and isinstance(node.ctx, ast.Load):
                yield "turned", node.lineno, value.end_col_offset, node.end_col_offset, ""
            elif attr in ANOTHER:
                yield "another", node.lineno, node.end_col_offset - len(attr), node.end_col_offset, ANOTHER[attr]
        case ast.Call():
            yield from of_call(node)
        case ast.Tuple(elts=elements):
            yield from exchanged(elements)
        case ast.Subscript(slice=index):
            yield from of_index(index)
        case ast.For(iter=iterated) if iterated.lineno == iterated.end_lineno:
            yield from of_loop(iterated)
        case ast.FunctionDef(args=arguments):
            for default in [*arguments.defaults, *filter(None, arguments.kw_defaults)]:
                if isinstance(default, ast.Constant) and isinstance(default.value, bool):
                    yield place("default", default, str(not default.value))
        case ast.keyword(arg="dim" | "axis", value=value):
            yield from moved("axis", value)


def place(kind, node, new):
    return kind, node.lineno, node.col_offset, node.end_col_offset, new


def cut(value):
    """No way leads back from it."""
    if isinstance(value, ast.Call | ast.Subscript) and getattr(getattr(value, "func", None), "attr", "") not in CALLS:
        yield "cut", value.lineno, value.end_col_offset, value.end_col_offset, ".detach()"


def between(left, right, old, new, kind, lines):
    """The sign between two operands, where they stand in one line."""
    if left.end_lineno == right.lineno:
        said = lines[right.lineno - 1].encode()[left.end_col_offset : right.col_offset].decode(errors="replace")
        if found := re.search(r"(?<![\w*/<>=!])" + re.escape(old) + r"(?![\w*/<>=])", said):
            start = left.end_col_offset + len(said[: found.start()].encode())
            yield kind, right.lineno, start, start + len(old), new


def of_call(node):
    called = node.func
    name = called.attr if isinstance(called, ast.Attribute) else called.id if isinstance(called, ast.Name) else ""
    method = isinstance(called, ast.Attribute) and not (
        isinstance(called.value, ast.Name) and called.value.id == "torch"
    )
    if method and name in CALLS:
        yield "turned", node.lineno, called.value.end_col_offset, node.end_col_offset, ""
    if isinstance(called, ast.Name) and name in ANOTHER:
        yield place("another", called, ANOTHER[name])
    if isinstance(called, ast.Name) and name == "reversed" and len(node.args) == 1 and not node.keywords:
        yield place("order", node, ast.unparse(node.args[0]))
    if name in ALONG:
        for one in node.args[(not method) + (name in PIECES) :]:
            yield from moved("axis", one)
    yield from exchanged(node.args)


def exchanged(nodes):
    """Two plain names side by side."""
    for one, other in zip(nodes, nodes[1:]):
        if (
            isinstance(one, ast.Name)
            and isinstance(other, ast.Name)
            and one.id != other.id
            and one.lineno == other.lineno
        ):
            yield "names", one.lineno, one.col_offset, other.end_col_offset, f"{other.id}, {one.id}"


def of_index(index):
    match index:
        case ast.Slice(lower=None, upper=None, step=ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=1)) as step):
            yield place("order", step, "1")
        case ast.Slice(lower=lower, upper=upper, step=None):
            for one in filter(None, (lower, upper)):
                yield from moved("index", one)
        case ast.Tuple(elts=elements):
            for one in elements:
                yield from of_index(one)
        case _:
            yield from moved("index", index)


def moved(kind, node):
    """A whole number that says a place: -1 is taken for 0, 0 for -1, and another for the one before."""
    negative = isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub)
    constant = node.operand if negative else node
    if isinstance(constant, ast.Constant) and type(constant.value) is int:
        value = -constant.value if negative else constant.value
        yield place(kind, node, {-1: "0", 0: "1" if kind == "axis" else "-1"}.get(value, str(value - 1)))


def of_loop(iterated):
    """`for x in xs` the other way round, and `range` without its last."""
    match iterated:
        case ast.Name(id=name):
            yield place("order", iterated, f"reversed({name})")
        case ast.Call(func=ast.Name(id="range"), args=[only]):
            yield "range", iterated.lineno, only.end_col_offset, only.end_col_offset, " - 1"
            yield "range", iterated.lineno, only.col_offset, only.col_offset, "1, "
