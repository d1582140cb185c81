"""Words that the companion writes into outputs, in the language of an edition: names, tables, interactive figures.

A translated cell asks for them: by `language="ja"`, as figures and `compare` take it, or by `ja(name, 15)` of
companion.words, where the English cell has `{name:15}`.
"""

import ast
import re
import tomllib
from functools import cache
from pathlib import Path

from book.editions import ORIGINAL
from companion import words

COMPANION = Path(__file__).resolve().parents[1] / "companion"
PICTURES = COMPANION / "figures" / "pictures"
COMPARISON = tomllib.loads((COMPANION / "proof.toml").read_text(encoding="utf-8"))  # language → words of `compare`
NO_ENTRIES = {"between", "language"}  # keys of words that are no text of their own
NAMING = {"ja", "ko", "zh"}  # functions of companion.words


class Plain(ast.NodeTransformer):
    """Replaces `ja(name, 15)` by `name`, in an f-string with the format `:15`, and drops the import of `ja`."""

    def visit_ImportFrom(self, node):
        return None if node.module == words.__name__ else node

    def visit_FormattedValue(self, node):
        if is_naming(node.value):
            _, *columns = node.value.args
            if columns:
                node.format_spec = ast.JoinedStr([ast.Constant(str(columns[0].value))])
        return self.generic_visit(node)

    def visit_Call(self, node):
        self.generic_visit(node)
        return node.args[0] if is_naming(node) else node


def is_call_of(node, *names):
    """Return whether a node is a call of one of these functions."""
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in names


def is_naming(node):
    """Return whether a node calls `ja`, `ko` or `zh`."""
    return is_call_of(node, *NAMING)


def parse(source):
    """Return the tree of a cell's code, with names as in English cells."""
    return Plain().visit(ast.parse(source))


@cache
def asks_for_names(source):
    """Return whether a cell's code calls `ja`, `ko` or `zh`."""
    return any(map(is_naming, ast.walk(ast.parse(source))))


def own_names(text, language):
    """Return a text with the names of an edition, and without blanks: names differ in their widths."""
    return words.translate(text, language=language).replace(" ", "")


def squeeze(text):
    """Return a text in which each run of blanks is one, without those at the ends of lines."""
    return re.sub(r" +", " ", text).strip(" ")


def own_value(value, language):
    """Return an edition's form of what an English cell displays: an interactive figure, or a table of `compare`."""
    return own_comparison(pictures(language).get(value, value), language)


def own_comparison(text, language):
    """Return a text in which the tables of `compare`, aligned or in Markdown, have an edition's words."""
    english, own = COMPARISON[ORIGINAL], COMPARISON.get(language)
    if not isinstance(text, str) or own is None:
        return text
    head = re.compile(r"(\| )?" + r"( \| |  +)".join(map(re.escape, english["head"])) + r"( \|)?")
    lines = text.split("\n")
    for start, line in enumerate(lines):
        if head.fullmatch(line):
            stop = next((k for k in range(start, len(lines)) if not lines[k]), len(lines))
            rows = [re.split(r" +\| | {2,}", line) for line in lines[start:stop]]
            rows = [own["head"], *([*cells[:-1], own_difference(cells[-1], own)] for cells in rows[1:])]
            if line.startswith("|"):
                rows[0] = [f"| {rows[0][0]}", *rows[0][1:-1], f"{rows[0][-1]} |"]
                lines[start:stop] = [" | ".join(row) for row in rows]
            else:
                lines[start:stop] = words.align(rows)
    return "\n".join(lines)


def own_difference(difference, own):
    """Return a difference in a table of `compare` in the words `own`. English: "below 1e-10", with " |" in Markdown."""
    for name in ("below_share", "below", "different"):
        pattern = re.escape(COMPARISON[ORIGINAL][name]).replace(r"\{\}", r"(\S+)")
        if match := re.fullmatch(rf"{pattern}( \|)?", difference):
            return own[name].format(match[1]) + (match[2] or "")
    return difference


def own_forecasts(text, language):
    """Return what `companion.learning.own_series.compare` prints, in the words of an edition."""
    english, own = forecast_words(ORIGINAL), forecast_words(language)
    lines = []
    for line in text.split("\n"):
        if line.startswith("| "):
            cells = [re.fullmatch(r"(\**)(.*?)\1", cell) for cell in line[2:-2].split(" | ")]
            line = f"| {' | '.join(m[1] + in_own_words(m[2], english['table'], own['table']) + m[1] for m in cells)} |"
        elif not line.startswith("|"):
            line = in_own_words(line, english["verdicts"], own["verdicts"], english["verdicts"]["between"])
        lines.append(line)
    return "\n".join(lines)


def in_own_words(text, english, own, between=""):
    """Return a text in which one entry of `english` follows another in the entries of `own`. Other texts stay."""
    for key, entry in sorted(english.items(), key=lambda item: -len(item[1])):
        if key in NO_ENTRIES or not entry or not (match := entry_pattern(entry).match(text)):
            continue
        table, own_table = (forecast_words(words["language"])["table"] for words in (english, own))
        values = {
            name: in_own_words(value, table, own_table) if name in ("best", "winner") else value
            for name, value in match.groupdict().items()
        }
        if rest := text[match.end() :].removeprefix(between):
            rest = own.get("between", "") + in_own_words(rest, english, own, between)
        return own[key].format(**values) + rest
    return text


@cache
def entry_pattern(entry):
    """Return a pattern of an entry, with a group for each of its values: a number, or the name of a forecast."""
    names = [name for name in forecast_words(ORIGINAL)["table"].values() if name and "{" not in name]
    parts = re.split(r"\{(\w+)\}", entry)
    value = rf"[\d.,]*\d|{'|'.join(map(re.escape, names))}"
    return re.compile("".join(f"(?P<{part}>{value})" if k % 2 else re.escape(part) for k, part in enumerate(parts)))


@cache
def forecast_words(language):
    """Return the parts of the words of `own_series.compare` in a language, each with the language."""
    path = COMPANION / "learning" / "own_series" / "words" / f"{language}.toml"
    parts = tomllib.loads(path.read_text(encoding="utf-8"))
    return {name: {**entries, "language": language} for name, entries in parts.items()}


@cache
def pictures(language):
    """Return the English picture → the edition's picture, for interactive figures."""
    translated = {}
    for english in PICTURES.glob("*.en.svg"):
        own = english.with_name(english.name.replace(".en.", f".{language}."))
        if own.exists():
            translated[english.read_text(encoding="utf-8")] = own.read_text(encoding="utf-8")
    return translated
