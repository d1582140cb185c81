"""Compare a translated cell with the English one: all but its words has to be the same."""

import ast
import io
import re
import tokenize
from collections import Counter
from functools import cache

from book.editions import ORIGINAL
from book.editions import editions as all_editions
from book.tools.translated_outputs import label_nodes, outputs_follow

# Where editions may differ: a chapter about a text takes the edition's own. These cells have other outputs there.
OWN_OUTPUTS = {
    # letters of the language
    "embedding": {"lookup-figure", "lookup-in-python", "learned-neighbours", "learned-picture"},
    "language_model": {
        "text-loaded", "model-made", "lines-written", "perplexity-picture", "perplexity-fell", "writer-loaded",
        "next-character", "temperatures", "writing-figure", "writing-in-python", "greedy", "warmer", "top-k",
        "unknown-character", "pieces", "pieces-counted",
        "units-found", "quotation-unit", "proof-writer", "solution-forgetting", "solution-surprise",
        "counts-table", "which-layer-picture", "which-layer-table", "top-p", "forced", "beyond-counting-table",
        "past-figure", "past-over-places",
        "saturation-picture", "solution-warmth",
    },
    "attention": {
        "settings", "read-aloud", "fixed-made", "batch", "learns", "forced-and-free-counted", "search-counted",
        "length-normalised", "weights-picture", "attention-figure", "solution-which", "solution-mixing",
    },
    "matrix_state": {"matrix-figure"},
    "training": {"guess-figure"},
    "first_network": {
        "ten-lines", "how-many", "pieces-known", "solution-scores", "solution-bug", "solution-shuffled",
        "solution-size",
    },
}  # fmt: skip
# What companion.check gives to notebooks: each speaks the language that it is told.
CHECKER = {"check", "progress", "student", "variant"}
# And these have other code: the settings of the edition.
OWN_CODE = {
    "attention": {"settings"},
    "language_model": {"text-loaded"},
    "first_network": {"language"},
    "embedding": {"learned-settings"},
}
# Here an edition adds what there is to read in its own language.
MORE_TO_READ = "further-reading"


def described(cell):
    """The description of a cell's picture, or an empty string."""
    return cell.metadata.get("mystnb", {}).get("image", {}).get("alt", "")


def differences(page, original, cell, edition):
    """Yield in what a cell differs from the English one beyond its words."""
    if cell.cell_type != original.cell_type:
        yield f"is {cell.cell_type}, not {original.cell_type}"
    elif cell.cell_type == "code":
        if original.id not in OWN_CODE.get(page, ()) and code(cell.source) != code(original.source):
            yield "the code differs"
        if comments(cell.source) != comments(original.source):
            yield "it has another number of comments"
        if original.id not in OWN_OUTPUTS.get(page, ()) and not same_outputs(original, cell, edition):
            yield "the outputs differ"
        if bool(described(cell)) != bool(described(original)):
            yield "the picture is described in one edition only"
        if cell.metadata.get("tags") != original.metadata.get("tags"):
            yield "the tags differ"
    else:
        here, there = parts(cell.source), parts(original.source)
        if missing := sorted((there - here).elements()):
            yield f"lacks {', '.join(missing)}"
        more = sorted((here - there).elements())
        if cell.id == MORE_TO_READ:
            more = [one for one in more if not one.startswith(("link", "item"))]
        if more:
            yield f"has, unlike the English cell, {', '.join(more)}"


@cache  # English cells are compared with each edition's, and most are the same in all
def code(source):
    """A cell's code without comments, docstrings and printed labels, in one form. Figures and `check` are told the
    edition's language."""
    tree = ast.parse(source)
    for label in label_nodes(tree):
        label.value = ""
    languages = {edition.language for edition in all_editions()}
    for node in ast.walk(tree):
        if isinstance(node, ast.keyword) and node.arg == "language" and isinstance(node.value, ast.Constant):
            node.value.value = ORIGINAL if node.value.value in languages else node.value.value
        if is_check(node):
            node.keywords = [one for one in node.keywords if one.arg != "lang" or constant(one.value) not in languages]
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and ast.get_docstring(node) is not None:
            node.body = node.body[1:] or [ast.Pass()]
    return ast.dump(tree)


def is_check(node):
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in CHECKER


def constant(node):
    return node.value if isinstance(node, ast.Constant) else None


@cache
def comments(source):
    """How many comments and docstrings there are to translate."""
    tokens = tokenize.generate_tokens(io.StringIO(source).readline)
    described = (node for node in ast.walk(ast.parse(source)) if isinstance(node, (ast.FunctionDef, ast.ClassDef)))
    count = sum(ast.get_docstring(node) is not None for node in described)
    # a comment that stands over several lines may have more or fewer of them in another language
    lines = [token.start[0] for token in tokens if token.type == tokenize.COMMENT]
    return count + sum(line - 1 not in lines for line in lines)


@cache
def checks(source):
    """Whether a cell asks the checker."""
    return any(map(is_check, ast.walk(ast.parse(source))))


def same_outputs(original, cell, edition):
    """Return whether a cell's outputs are the English ones, with its own labels.

    `check` speaks the edition's language: only the kinds of its outputs are compared.
    """
    if checks(cell.source):
        kinds, own = (
            [(output.output_type, sorted(output.get("data", {}))) for output in one.outputs] for one in (original, cell)
        )
        return kinds == own
    return outputs_follow(original.source, cell.source, original.outputs, cell.outputs, edition)


def parts(markdown):
    """What must be the same in every language: a count of formulas, code, links, labels and numbers in tables."""
    found, rest = Counter(), markdown
    for name, pattern in {
        "block": r"(?ms)^(?:```|:::).*?^(?:```|:::)",
        "formula": r"(?s)\$\$.+?\$\$",
        "code": r"`[^`\n]+`",
        "inline formula": r"\$[^$]+\$",
        "link": r"(?<=\])\([^()\s]+\)",
        "label": r"(?m)^\([\w-]+\)=$",
    }.items():
        for match in re.findall(pattern, rest):
            if name == "formula":
                match = re.sub(r"\s*[.,]?\s*\$\$$", " $$", match)  # a sentence ends otherwise in other languages
            found[f"{name} {' '.join(match.split())}"] += 1
        rest = re.sub(pattern, " ", rest)
    for row in re.findall(r"(?m)^\|.*", rest):
        found["row of a table"] += 1
        found.update(f"number in a table {number}" for number in re.findall(r"[−-]?\d+(?:[.,]\d+)*", row))
    for name, pattern in {"heading": r"(?m)^#+ ", "item": r"(?m)^\s*(?:[-*]|\d+\.) ", "picture": r"!\["}.items():
        found[name] += len(re.findall(pattern, rest))
    return +found


def follows(original, cell, edition):
    """Return whether a code cell's outputs follow from those of the English cell."""
    if original.cell_type != "code" or code(cell.source) != code(original.source):
        return False
    return outputs_follow(original.source, cell.source, original.outputs, cell.outputs, edition)
