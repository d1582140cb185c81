"""Read the files of questions, and refuse those that are not in the form that the top of this package explains."""

import ast
import keyword
import re
import textwrap
import traceback
import types
import warnings
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cached_property
from pathlib import Path

from companion.check.engine import messages

FIELDS = {
    "POINTS": int, "STRETCH": bool, "MISTAKES": dict, "VARIANTS": dict, "GRADIENTS": bool, "READ": str, "LANGUAGE": str,
    "TEXTS": dict,
}  # fmt: skip
NAME = re.compile(r"[a-z]\w*", re.ASCII)
PARTS = {"MISTAKES": {"change", "says", "advice", "read"}, "VARIANTS": {"asks", "change"}}
NAMES_OF_LANGUAGES = {
    "english": "en",
    "japanese": "ja",
    "korean": "ko",
    "chinese": "zh",
    "jp": "ja",
    "kr": "ko",
    "cn": "zh",
}
DEFINITIONS = ast.FunctionDef | ast.ClassDef


class Fault(ValueError):
    """A fault in the file of a question. line: where, or 0 for the whole file."""

    def __init__(self, path, reason, line=0):
        super().__init__(f"{path}, line {line}: {reason}" if line else f"{path}: {reason}")


@dataclass(eq=False)
class QuestionFile:
    """The file of a question, after it was run. tree: its syntax. module: what it defines. answer: its reference."""

    path: Path
    assignment: str
    source: str
    tree: ast.Module
    module: types.ModuleType
    answer: ast.FunctionDef | ast.ClassDef

    @property
    def name(self):
        """The question's name."""
        return name_of(self.path)

    def get(self, field, default):
        """Return what the file sets a field to."""
        return getattr(self.module, field, default)

    def fault(self, reason, *keys):
        """Return a Fault at the line of a field, or of a key in its dictionary. keys: a field, a key in it, …."""
        return Fault(self.path, reason, line_of(self.tree, keys))

    @cached_property
    def answer_source(self):
        """The reference's source."""
        first = min([self.answer, *self.answer.decorator_list], key=lambda node: node.lineno).lineno
        lines = self.source.splitlines()[first - 1 : self.answer.end_lineno]
        return textwrap.dedent("\n".join(lines)) + "\n"

    @property
    def is_layer(self):
        """True if the reference is a class."""
        return isinstance(self.answer, ast.ClassDef)

    @property
    def language(self):
        """The language of texts that name none."""
        return self.get("LANGUAGE", "en")

    def task(self, language):
        """Return the title and the text of the task, in a language if the file has it."""
        text = textwrap.dedent(self.get("TEXTS", {}).get(language) or self.module.__doc__).strip()
        heading = re.match(r"#+ +(.+)", text)
        return (heading[1].strip(), text[heading.end() :].strip()) if heading else (f"`{self.name}`", text)

    def in_languages(self, text):
        """Return {language: text} of a text, or of texts by language; English is never missing."""
        texts = text if isinstance(text, dict) else {self.language: text}
        return {"en": texts.get(self.language) or next(iter(texts.values()))} | texts


def name_of(path):
    """Return the name of a file's question: without the number that orders the files."""
    return re.sub(r"^\d+_*", "", Path(path).stem)


def files_in(folder):
    """Return the files of questions by assignment. Raise Fault if there are none.

    folder: a folder of files, a folder of such folders, or a file, which is then an assignment of its own.
    """
    folder = Path(folder).resolve()
    if folder.is_file():
        return {assignment_name(folder, name_of(folder)): [folder]}
    if not folder.is_dir():
        raise Fault(folder, "there is no such folder or file")
    found = {inner: question_files(inner) for inner in [folder, *sorted(folder.iterdir())] if inner.is_dir()}
    if found[folder]:
        return {assignment_name(folder, folder.name): found[folder]}
    if not any(found.values()):
        raise Fault(folder, "the folder has no questions. A question is a Python file, such as leaky_step.py")
    return {assignment_name(inner, inner.name): files for inner, files in found.items() if files}


def question_files(folder):
    """Return a folder's Python files in the order of their names, without those that begin with `_` or `.`."""
    files = [file for file in folder.glob("*.py") if file.is_file() and not file.name.startswith(("_", "."))]
    return sorted(files, key=lambda file: [int(part) if part.isdigit() else part for part in numbered(file.stem)])


def numbered(stem):
    """Return a name split into text and numbers, so that 10 comes after 9."""
    return re.split(r"(\d+)", stem)


def assignment_name(path, name):
    """Return an assignment's name, from that of its folder. Raise Fault if nothing is left of it."""
    name = re.sub(r"[^a-z0-9]+", "_", name.lower()).strip("_")
    if not name:
        raise Fault(path, "the assignment is named after this folder: use letters of a to z")
    return name


def read_file(path, assignment):
    """Read and run the file of a question. Raise Fault if it is not in the right form."""
    name = name_of(path)
    if not NAME.fullmatch(name) or keyword.iskeyword(name):
        raise Fault(path, f"{name!r} cannot be the name of a question: use a to z, digits and _, such as leaky_step.py")
    try:
        source = path.read_text(encoding="utf-8")
        with warnings.catch_warnings(action="ignore"):  # about backslashes: `find_reference` says what to do
            tree = ast.parse(source, str(path))
    except SyntaxError as error:
        raise Fault(path, f"this is not Python: {error.msg}", error.lineno or 0) from error
    except (OSError, ValueError) as error:
        raise Fault(path, f"the file cannot be read: {error}") from error
    answer = find_reference(path, name, source, tree)
    file = QuestionFile(path, assignment, source, tree, run_file(path, name, source), answer)
    check_fields(file)
    return file


def find_reference(path, name, source, tree):
    """Return the definition of the reference, which has the file's name."""
    definitions = [node for node in tree.body if isinstance(node, DEFINITIONS)]
    fitting = [node for node in definitions if fold(node.name) == fold(name)]
    if len(fitting) != 1:
        others = ", ".join(node.name for node in definitions if node.name != "inputs") or "nothing"
        layer = name.title().replace("_", "")
        problem = f"{len(fitting)} definitions have" if fitting else f"no function {name} and no class {layer} has"
        raise Fault(path, f"the reference should have the file's name, but {problem} it. The file defines {others}")
    if not any(node.name == "inputs" for node in definitions if isinstance(node, ast.FunctionDef)):
        raise Fault(path, "there is no function `inputs(draw, …)`, which returns what the reference is called with")
    if not (ast.get_docstring(tree) or "").strip():
        raise Fault(path, "the task is missing: it is the docstring, a text in triple quotes at the top of the file", 1)
    task = ast.get_source_segment(source, tree.body[0])
    if "\\" in task and "r" not in task.partition(task[-1])[0].lower():
        raise Fault(path, 'the task has backslashes, which Python replaces: put an r before its quotes, r"""', 1)
    return fitting[0]


def fold(name):
    """Return a name without capitals and underscores."""
    return name.replace("_", "").lower()


def run_file(path, name, source):
    """Run a file as a module of its own, and return the module."""
    module = types.ModuleType(f"question_{name}")
    module.__file__ = str(path)
    try:
        exec(compile(source, str(path), "exec"), vars(module))
    except Exception as error:
        raise Fault(path, f"the file stops with {described(error)}", own_line(error, path)) from error
    return module


def described(error):
    """Return an error in one line."""
    return f"{type(error).__name__}: {(str(error).splitlines() or [''])[0]}"


def own_line(error, path):
    """Return the last line of an error's traceback in this file, or 0."""
    lines = [line for frame, line in traceback.walk_tb(error.__traceback__) if frame.f_code.co_filename == str(path)]
    return lines[-1] if lines else 0


def check_fields(file):
    """Raise Fault for a field that is missing, misspelled or of the wrong kind."""
    used = {node.id for node in ast.walk(file.tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)}
    for field in top_level_names(file.tree):
        near = get_close_matches(field, FIELDS, n=1, cutoff=0.8)
        if field.isupper() and field not in FIELDS and (near or field not in used):
            raise file.fault(f"there is no field {field}. {nearest(field, FIELDS, quote=str)}", field)
    for field, kind in FIELDS.items():
        if not hasattr(file.module, field):
            if field == "POINTS":
                raise file.fault("POINTS is missing, such as POINTS = 2")
        elif type(file.get(field, None)) is not kind:
            raise file.fault(f"{field} should be of the type {kind.__name__}", field)
    if file.get("POINTS", 0) < 1:
        raise file.fault("POINTS should be at least 1", "POINTS")
    if hasattr(file.module, "LANGUAGE"):
        check_language(file, file.language, "LANGUAGE")
    for language, text in file.get("TEXTS", {}).items():
        check_language(file, language, "TEXTS", language)
        if not is_text(language) or not is_text(text):
            raise file.fault(f"TEXTS[{language!r}] should be a text", "TEXTS", language)
    for field, parts in PARTS.items():
        for name, entry in file.get(field, {}).items():
            check_entry(file, field, name, entry, parts)
    variants = [*file.get("VARIANTS", {})]
    if len(variants) == 1:
        raise file.fault("VARIANTS has one entry. Give at least two, or none", "VARIANTS")
    if variants and file.module.VARIANTS[variants[0]].get("change"):
        raise file.fault("the first variant is the reference as it is, without `change`", "VARIANTS", variants[0])


def check_entry(file, field, name, entry, parts):
    """Raise Fault if a mistake or a variant is not in the right form."""
    where = f"{field}[{name!r}]"
    if not isinstance(name, str) or not NAME.fullmatch(name):
        raise file.fault(f"{where}: a name has a to z, digits and _ only", field, name)
    if not isinstance(entry, dict):
        raise file.fault(f"{where} should be a dictionary with {', '.join(sorted(parts))}, not {entry!r}", field, name)
    for part in entry:
        if part not in parts:
            raise file.fault(f"{where} has the entry {part!r}. {nearest(part, sorted(parts))}", field, name)
    for part in ("says", "advice", "asks", "read"):
        texts = entry.get(part, "")
        for language in texts if isinstance(texts, dict) else ():
            check_language(file, language, field, name, part, language)
        texts = texts.values() if isinstance(texts, dict) else [texts]
        if not texts or not all(isinstance(text, str) for text in texts):
            raise file.fault(f"{where}[{part!r}] should be a text, or texts by language", field, name, part)
    if field == "VARIANTS" and not entry.get("asks"):
        raise file.fault(f"{where} lacks 'asks', the sentence that tells a student what is asked", field, name)
    change = entry.get("change", {})
    if (
        not isinstance(change, dict)
        or not all(map(is_text, change))
        or not all(isinstance(new, str) for new in change.values())
    ):
        raise file.fault(f"{where}['change'] should be {{'text in the reference': 'text in its place'}}", field, name)
    if field == "MISTAKES" and not change:
        raise file.fault(f"{where} lacks 'change': {{'text in the reference': 'wrong text'}}", field, name)
    for old in change:
        if (count := file.answer_source.count(old)) != 1:
            times = "does not occur" if not count else f"occurs {count} times, not once,"
            reason = f"{where}: {old!r} {times} in {file.answer.name}"
            if not count and occurs_outside(file, old):
                reason += f". It occurs outside, and only {file.answer.name} itself can be changed"
            raise file.fault(reason, field, name, "change", old)


def check_language(file, language, *keys):
    """Raise Fault if the checker has no words in a language. keys: where the file names it."""
    known = messages.languages()
    if language not in known:
        near = NAMES_OF_LANGUAGES.get(str(language).lower(), str(language).lower()[:2])
        hint = f"Did you mean {near!r}?" if near in known else f"There are {', '.join(map(repr, known))}"
        raise file.fault(f"{keys[0]}: the checker has no language {language!r}. {hint}", *keys)


def top_level_names(tree):
    """Return the names that a file sets outside of functions."""
    nodes = [node for node in tree.body if isinstance(node, ast.Assign | ast.AnnAssign)]
    targets = [target for node in nodes for target in getattr(node, "targets", None) or [node.target]]
    return [target.id for target in targets if isinstance(target, ast.Name)]


def occurs_outside(file, text):
    """Return True if a text occurs in the file, but not in the reference, the task, or a table of changes."""
    changes = [node for node in file.tree.body if {*top_level_names(ast.Module([node], []))} & {*PARTS}]
    left_out = [file.tree.body[0], file.answer, *changes]
    parts = [ast.get_source_segment(file.source, node) for node in file.tree.body if node not in left_out]
    return any(text in part for part in parts)


def nearest(name, names, quote=repr):
    """Return the end of a sentence about an unknown name: the known one that is most like it, or all of them."""
    if near := get_close_matches(str(name), names, n=1, cutoff=0.6):
        return f"Did you mean {quote(near[0])}?"
    return f"There are {', '.join(map(quote, names))}"


def is_text(value):
    """Return True for a text that is not empty."""
    return isinstance(value, str) and bool(value.strip())


def line_of(tree, keys):
    """Return the line where a field is set, or that of a key in its dictionary if it is found there, or 0."""
    field, *inner = keys or ("",)
    node = next(
        (node for node in tree.body if isinstance(node, ast.Assign | ast.AnnAssign)
         for target in getattr(node, "targets", None) or [node.target] if getattr(target, "id", "") == field),
        None,
    )  # fmt: skip
    line, value = (node.lineno, node.value) if node else (0, None)
    for key in inner:
        pairs = zip(value.keys, value.values) if isinstance(value, ast.Dict) else ()
        found = next(((part, entry) for part, entry in pairs if getattr(part, "value", None) == key), None)
        if not found:
            break
        line, value = found[0].lineno, found[1]
    return line
