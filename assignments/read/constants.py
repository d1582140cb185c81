"""Evaluate constant expressions in a student's code, such as a name, without running the code."""

import ast
import operator
import re
import string

MAX_SIZE = 1000  # characters of a text, items of a list
MAX_INTEGER = 10**40
METHODS = {
    "capitalize", "casefold", "format", "join", "lower", "lstrip", "removeprefix", "removesuffix", "replace", "rstrip",
    "split", "strip", "swapcase", "title", "upper",
}  # fmt: skip
FUNCTIONS = {"str": str, "repr": repr, "int": int, "float": float}
WIDE = re.compile(r"\d{4}|\*|\{")  # a width in a format that could fill the memory, or one that is put in


class NotConstant(Exception):
    """Raised for an expression whose value depends on more than constants."""


def evaluate(node, bound):
    """Return the value of an expression. bound: values of names. Raise NotConstant if it has none."""
    try:
        value = evaluate_part(node, bound)
    except Exception as error:  # whatever the expression itself would raise
        raise NotConstant from error
    if isinstance(value, str | list | tuple | dict) and len(value) > MAX_SIZE:
        raise NotConstant
    if isinstance(value, int) and abs(value) > MAX_INTEGER:
        raise NotConstant
    return value


def evaluate_part(node, bound):
    match node:
        case ast.Constant(value):
            return value
        case ast.Name(name):
            return bound[name]
        case ast.NamedExpr(value=value):
            return evaluate(value, bound)
        case ast.List(items):
            return [scalar(item, bound) for item in items]
        case ast.Tuple(items):
            return tuple(scalar(item, bound) for item in items)
        case ast.Dict(keys, values):
            return {scalar(key, bound): scalar(value, bound) for key, value in zip(keys, values)}
        case ast.Subscript(value, ast.Slice(lower, upper, None)):
            ends = [part and evaluate(part, bound) for part in (lower, upper)]
            return evaluate(value, bound)[slice(*ends)]
        case ast.Subscript(value, key):
            return evaluate(value, bound)[evaluate(key, bound)]
        case ast.UnaryOp(ast.USub(), value):
            return -evaluate(value, bound)
        case ast.BinOp(left, ast.Add(), right):
            return operator.add(evaluate(left, bound), evaluate(right, bound))
        case ast.BinOp(left, ast.Mod(), right):
            return fill_percents(evaluate(left, bound), evaluate(right, bound))
        case ast.BoolOp(operation, values):
            return choose([evaluate(value, bound) for value in values], isinstance(operation, ast.Or))
        case ast.IfExp(test, body, otherwise):
            return evaluate(body if evaluate(test, bound) else otherwise, bound)
        case ast.JoinedStr(parts):
            return "".join(evaluate(part, bound) for part in parts)
        case ast.FormattedValue(value, conversion, spec):
            return format_value(evaluate(value, bound), conversion, evaluate(spec, bound) if spec else "")
        case ast.Call(ast.Name(name), arguments, []):
            return FUNCTIONS[name](*(evaluate(argument, bound) for argument in arguments))
        case ast.Call(ast.Attribute(value, method), arguments, keywords) if method in METHODS:
            text = evaluate(value, bound)
            given = [evaluate(argument, bound) for argument in arguments]
            named = {keyword.arg: evaluate(keyword.value, bound) for keyword in keywords}
            if not isinstance(text, str) or method == "format" and not is_plain_format(text):
                raise NotConstant
            return getattr(text, method)(*given, **named)
    raise NotConstant


def scalar(node, bound):
    """Return the value of an item. Lists of lists could be written so that their text fills the memory."""
    value = evaluate(node, bound)
    if isinstance(value, list | tuple | dict):
        raise NotConstant
    return value


def choose(values, first_true):
    """Return the value of `a or b` (first_true) or of `a and b`."""
    return next((value for value in values[:-1] if bool(value) == first_true), values[-1])


def fill_percents(template, values):
    if not isinstance(template, str) or any(map(WIDE.search, re.findall(r"%[^a-zA-Z%]*", template))):
        raise NotConstant
    return template % values


def format_value(value, conversion, spec):
    if WIDE.search(spec):
        raise NotConstant
    return format({115: str, 114: repr, 97: ascii}.get(conversion, lambda same: same)(value), spec)


def is_plain_format(template):
    """Return whether all replacement fields are names or numbers with a short format."""
    fields = [(field, spec) for _, field, spec, _ in string.Formatter().parse(template) if field is not None]
    return all(re.fullmatch(r"\w*", field) and not WIDE.search(spec) for field, spec in fields)
