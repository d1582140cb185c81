"""Compare a translated cell with the English one: everything except the words must be the same."""

import ast
import io
import re
import tokenize
from collections import Counter
from functools import cache

from book.editions import ORIGINAL
from book.editions import editions as all_editions
from book.output_words import is_call_of, parse
from book.tools.translated_outputs import label_nodes, outputs_follow

# Cells (page#cell) whose outputs differ, because a chapter about a text uses a text in the edition's language. Such a
# chapter runs in each language, so its plots are drawn anew, too.
OWN_OUTPUTS = {
    "embedding#lookup-figure",
    "language_model#text-loaded", "language_model#model-made", "language_model#learns-and-writes",
    "language_model#perplexity-picture", "language_model#writer-loaded",
    "language_model#next-character", "language_model#writing-figure",
    "language_model#warmer", "language_model#pieces",
    "language_model#pieces-counted", "units#units-found", "units#quotation-unit",
    "units#settings", "units#solution-halves",
    "language_model#counts-table",
    "language_model#top-p", "units#forced", "units#beyond-counting-table",
    "units#past-figure", "units#past-over-places", "units#saturation-picture",
    "attention#settings", "attention#batch", "attention#forced-and-free-counted", "attention#attention-figure",
    "attention#solution-which", "attention#solution-beam", "attention#by-length-picture",
    "matrix_state#matrix-figure",
    "surprise#guess-figure",
    "first_network#ten-lines", "first_network#how-many", "first_network#pieces-known",
    "first_network#solution-bug", "first_network#solution-shuffled",
}  # fmt: skip
# Cells whose blocks of code have texts for students, in the edition's language.
OWN_BLOCKS = {"own_question#page"}
TEXTS_FOR_STUDENTS = {"says", "advice", "asks"}
# Functions of companion.check, whose argument `lang` is the edition's language.
CHECKER = {"check", "progress", "student", "variant"}
# Pages whose texts differ: each edition speaks about its own language. tests/site/test_about.py compares the rest.
OWN_TEXTS = {"about#page"}
# Functions and classes of companion.proof, whose argument `language` is the edition's. English cells do without it.
COMPARED = {"compare", "Comparison"}
# Cells whose code differs: settings of the edition.
OWN_CODE = {
    "attention#settings",
    "language_model#text-loaded",
    "units#settings",
    "first_network#language",
}
NO_FUNCTIONS = "", ""
# A cell to which editions add reading in their own language.
MORE_TO_READ = "further-reading"


def description(cell):
    """Return the description of a cell's picture, or an empty string."""
    return cell.metadata.get("mystnb", {}).get("image", {}).get("alt", "")


def differences(page, original, cell, edition, functions=NO_FUNCTIONS):
    """Yield a sentence for each difference between a cell and the English one that is not a translation.

    functions: as in `follows`.
    """
    if cell.cell_type != original.cell_type:
        yield f"is {cell.cell_type}, not {original.cell_type}"
    elif f"{page}#{original.id}" in OWN_TEXTS:
        return
    elif cell.cell_type == "code":
        same_code = f"{page}#{original.id}" in OWN_CODE or normalised_code(cell.source) == normalised_code(
            original.source
        )
        if not same_code:
            yield "the code differs"
        if count_comments(cell.source) != count_comments(original.source):
            yield "it has another number of comments"
        # outputs of other code need not have the same lines
        if (
            same_code
            and f"{page}#{original.id}" not in OWN_OUTPUTS
            and not same_outputs(original, cell, edition, functions)
        ):
            yield "the outputs differ"
        if bool(description(cell)) != bool(description(original)):
            yield "the picture is described in one edition only"
        if cell.metadata.get("tags") != original.metadata.get("tags"):
            yield "the tags differ"
    else:
        own_texts = f"{page}#{original.id}" in OWN_BLOCKS
        own, english = (fixed_parts(text.source, own_texts) for text in (cell, original))
        if missing := sorted((english - own).elements()):
            yield f"lacks {', '.join(missing)}"
        more = sorted((own - english).elements())
        if cell.id == MORE_TO_READ:
            more = [part for part in more if not part.startswith(("link", "item"))]
        if more:
            yield f"has, unlike the English cell, {', '.join(more)}"


@cache  # English cells are compared with those of each edition
def normalised_code(source):
    """Return a cell's code without comments, docstrings, printed labels and the edition's language, for comparison."""
    tree = parse(source)
    for label in label_nodes(tree):
        label.value = ""
    languages = {edition.language for edition in all_editions()}
    for node in ast.walk(tree):
        if isinstance(node, ast.keyword) and node.arg == "language" and isinstance(node.value, ast.Constant):
            node.value.value = ORIGINAL if node.value.value in languages else node.value.value
        if is_call(node, COMPARED):
            node.keywords = [word for word in node.keywords if word.arg != "language"]
        if is_call(node, {"text"}) and node.args and constant(node.args[0]) in languages:
            node.args[0].value = ORIGINAL
        if is_check(node):
            node.keywords = [
                word for word in node.keywords if word.arg != "lang" or constant(word.value) not in languages
            ]
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and ast.get_docstring(node) is not None:
            node.body = node.body[1:] or [ast.Pass()]
    return ast.dump(tree)


def is_check(node):
    """Return whether a node calls the checker."""
    return is_call_of(node, *CHECKER)


def is_call(node, names):
    """Return whether a node calls one of these functions, by its name alone or as an attribute."""
    return isinstance(node, ast.Call) and getattr(node.func, "id", getattr(node.func, "attr", None)) in names


def constant(node):
    return node.value if isinstance(node, ast.Constant) else None


@cache
def count_comments(source):
    """Return the number of comments and docstrings in a cell's code."""
    tokens = tokenize.generate_tokens(io.StringIO(source).readline)
    definitions = (node for node in ast.walk(ast.parse(source)) if isinstance(node, (ast.FunctionDef, ast.ClassDef)))
    count = sum(ast.get_docstring(node) is not None for node in definitions)
    # consecutive lines count as one comment, because a translation may need more or fewer of them
    lines = [token.start[0] for token in tokens if token.type == tokenize.COMMENT]
    return count + sum(line - 1 not in lines for line in lines)


@cache
def uses_checker(source):
    """Return whether a cell calls the checker."""
    return any(map(is_check, ast.walk(ast.parse(source))))


def same_outputs(original, cell, edition, functions):
    """Return whether a cell's outputs are the English ones with its own labels.

    The checker writes in the edition's language, so only the kinds of its outputs are compared.
    """
    if uses_checker(cell.source):
        english, own = (
            [(output.output_type, sorted(output.get("data", {}))) for output in outputs]
            for outputs in (original.outputs, cell.outputs)
        )
        return english == own
    sources = with_functions(original, cell, functions)
    return outputs_follow(*sources, original.outputs, cell.outputs, edition)


def fixed_parts(markdown, own_texts=False):
    """Count the parts of a text that no translation changes: formulas, code, links, labels, numbers in tables.

    own_texts: whether texts for students in its blocks of code are translated.
    """
    # commands are for the edition's own language, and those of English need not name it
    counts, rest = Counter(), re.sub("(?<=`)LANGUAGE=[a-z]+", "LANGUAGE", re.sub(" LANGUAGE=[a-z]+", "", markdown))
    rest = re.sub(r"\{repository\}`[^`\n]+`", "`{repository}`", rest)  # a link with translated words
    for name, pattern in {
        "block": r"(?ms)^(?:```|:::).*?^(?:```|:::)",
        "formula": r"(?s)\$\$.+?\$\$",
        "code": r"``.+?``|`[^`\n]+`",
        "inline formula": r"\$[^$]+\$",
        "link": r"(?<=\])\([^()\s]+\)",
        "label": r"(?m)^\([\w-]+\)=$",
    }.items():
        for match in re.findall(pattern, rest):
            if name == "block" and own_texts:
                match = without_texts(match)
            if name == "formula":
                match = re.sub(r"\s*[.,]?\s*\$\$$", " $$", match)  # languages differ in punctuation
            counts[f"{name} {' '.join(match.split())}"] += 1
        rest = re.sub(pattern, " ", rest)
    for row in re.findall(r"(?m)^\|.*", rest):
        counts["row of a table"] += 1
        counts.update(f"number in a table {number}" for number in re.findall(r"[−-]?\d+(?:[.,]\d+)*", row))
    for name, pattern in {"heading": r"(?m)^#+ ", "item": r"(?m)^\s*(?:[-*]|\d+\.) ", "picture": r"!\["}.items():
        counts[name] += len(re.findall(pattern, rest))
    return +counts


def without_texts(block):
    """Return a block of code without texts for students: Python's docstring and dictionaries, elsewhere sentences.

    What no translation changes in the docstring stays. `LANGUAGE` is the edition's.
    """
    if not block.startswith("```python"):
        return re.sub(r"(?m)^.*[.:。：]$", "(a sentence)", block)
    tree = ast.parse(block.partition("\n")[2].removesuffix("```"))
    docstring = ast.get_docstring(tree)
    tree.body = tree.body[docstring is not None :]
    for node in ast.walk(tree):
        if isinstance(node, ast.Dict):
            pairs = zip(node.keys, node.values)
            node.values = [key if constant(key) in TEXTS_FOR_STUDENTS else value for key, value in pairs]
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "LANGUAGE":
            node.value = ast.Constant("")
    return f"{sorted(fixed_parts(docstring or '').elements())} {ast.unparse(tree)}"


def called_functions(originals, cells):
    """Return the code of the functions that each code cell calls and other cells define: id → (English, translated).

    They print and plot for the cell. originals, cells: the cells of a page in English and translated.
    """
    english, own = definitions(originals), definitions(cells)
    functions = {}
    for cell in originals:
        if cell.cell_type == "code":
            called, queue = [], [cell.source]
            for source in queue:
                new = [name for name in called_names(source) if name in english.keys() & own.keys() - {*called}]
                called += new
                queue += [english[name] for name in new]
            pair = tuple("\n".join(defined[name] for name in called) for defined in (english, own))
            functions[cell.id] = pair if normalised_code(pair[0]) == normalised_code(pair[1]) else NO_FUNCTIONS
    return functions


def definitions(cells):
    """Return the functions that the code cells of a page define: name → code."""
    nodes = (node for cell in cells if cell.cell_type == "code" for node in ast.parse(cell.source).body)
    return {node.name: ast.unparse(node) for node in nodes if isinstance(node, ast.FunctionDef)}


def called_names(source):
    """Return the names of the functions that code calls and does not define, in order."""
    tree = ast.parse(source)
    defined = {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
    calls = (node.func for node in ast.walk(tree) if isinstance(node, ast.Call))
    names = dict.fromkeys(function.id for function in calls if isinstance(function, ast.Name))
    return [name for name in names if name not in defined]


def with_functions(original, cell, functions):
    """Return the code of an English cell and of its translation, after the functions that they call."""
    return tuple(f"{code}\n{one.source}" for code, one in zip(functions, (original, cell)))


def follows(original, cell, edition, functions=NO_FUNCTIONS):
    """Return whether a code cell's outputs follow from those of the English cell.

    functions: the code of functions that the cells call, in English and translated, as `called_functions` returns it.
    """
    if original.cell_type != "code" or normalised_code(cell.source) != normalised_code(original.source):
        return False
    sources = with_functions(original, cell, functions)
    return outputs_follow(*sources, original.outputs, cell.outputs, edition)
