"""Derive a translated cell's outputs from those of the English cell.

A translated cell has the English code with other labels: strings that it only prints, or writes into a plot. So its
outputs follow from those of the English cell, and need no run of their own: each printed line and each text in a plot
is the English one with its labels replaced, and all else is equal.
"""

import ast
import html
import itertools
import re
from functools import cache
from typing import NamedTuple

from book.output_words import (
    asks_for_names,
    is_call_of,
    own_comparison,
    own_forecasts,
    own_names,
    own_value,
    parse,
    squeeze,
)
from companion import words

NOT_COMPARED = "execution_count", "metadata", "traceback"  # keys of an output
WIDGET = "application/vnd.jupyter.widget-view+json"  # has a random name
SVG = "image/svg+xml"
# Arguments and methods of matplotlib, and of companion.page.pictures, that write words into a plot.
WORDS = {"columns", "label", "labels", "rows", "title", "xlabel", "ylabel"}
WRITERS = {
    "annotate", "legend", "set_title", "set_xlabel", "set_xticklabels", "set_xticks", "set_ylabel", "set_yticklabels",
    "set_yticks", "text",
}  # fmt: skip


def plotted(call):
    """Return the arguments that a call writes into a plot, with those in lists, without the lists."""
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute):
        return []
    arguments = [word.value for word in call.keywords if word.arg in WORDS]
    if call.func.attr in WRITERS:
        arguments += call.args
    listed = itertools.chain.from_iterable(
        argument.elts if isinstance(argument, ast.List | ast.Tuple) else [argument] for argument in arguments
    )
    return list(listed)


def shown(call):
    """Yield the nodes that a call prints or writes into a plot: whole arguments, and the parts of f-strings."""
    if is_call_of(call, "print", "prose"):
        yield from (part for part, _ in pieces(call))
    for argument in plotted(call):
        for part in argument.values if isinstance(argument, ast.JoinedStr) else [argument]:
            yield part.value if isinstance(part, ast.FormattedValue) else part


def text_of(node):
    """Return the string of a constant, or None for any other node."""
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else None


def pieces(call):
    """Yield (node, format specification) for each argument of a `print`, and for each part of an f-string.

    The specification is None if it is not constant or if there is a conversion like `!r`.
    """
    for argument in call.args:
        for part in argument.values if isinstance(argument, ast.JoinedStr) else [argument]:
            if not isinstance(part, ast.FormattedValue):
                yield part, ""
            elif part.conversion != -1:
                yield part.value, None
            elif part.format_spec is None:
                yield part.value, ""
            else:
                values = [text_of(value) for value in part.format_spec.values]
                yield part.value, None if None in values else "".join(values)


def printed_names(loop):
    """Return the names that the body of a loop prints or writes into a plot, and uses for nothing else."""
    inside = [node for line in loop.body for node in ast.walk(line)]
    printed = {id(node) for call in inside for node in shown(call)}
    names = [node for node in inside if isinstance(node, ast.Name)]
    return {node.id for node in names if id(node) in printed} - {node.id for node in names if id(node) not in printed}


def rows(loop):
    """Return a dictionary for each row of a loop over a list that is written out: printed name → its string's node."""
    if not isinstance(loop, ast.For) or not isinstance(loop.iter, ast.Tuple | ast.List):
        return []
    shown, labels_of_rows = printed_names(loop), []
    for row in loop.iter.elts:
        several = isinstance(loop.target, ast.Tuple) and isinstance(row, ast.Tuple)
        named = zip(loop.target.elts, row.elts) if several else [(loop.target, row)]
        labels = {name.id: node for name, node in named if isinstance(name, ast.Name) and name.id in shown}
        labels_of_rows.append({name: node for name, node in labels.items() if text_of(node) is not None})
    return labels_of_rows


def label_nodes(tree):
    """Yield the nodes of all labels: strings that a cell prints or plots, also those in a list of rows of a loop."""
    for node in ast.walk(tree):
        yield from (part for part in shown(node) if text_of(part) is not None)
        for row in rows(node):
            yield from row.values()


@cache
def labels(source):
    """Return the labels of a cell's code, in order."""
    return tuple(node.value for node in label_nodes(parse(source)))


def templates(tree):
    """Yield what each `print` writes, once for each row of the loops around it: strings, and None for each value."""
    calls = [node for node in ast.walk(tree) if is_call_of(node, "print")]
    loops_of = {id(call): [] for call in calls}
    for node in ast.walk(tree):
        if labels_of_rows := [row for row in rows(node) if row]:
            for call in ast.walk(node):
                if is_call_of(call, "print"):
                    loops_of[id(call)].append(labels_of_rows)
    for call in calls:
        choices = [{}]
        for loop in loops_of[id(call)]:
            choices = [choice | row for choice in choices for row in loop]
        for row in choices:
            yield template(call, row)


def template(call, row):
    """Return what one `print` writes, as in `templates`. row: name → node of the string that the name stands for."""
    options = {keyword.arg: text_of(keyword.value) for keyword in call.keywords}
    written, later = [], {id(first_part(argument)) for argument in call.args[1:]}
    for node, specification in pieces(call):
        if id(node) in later:
            written.append(options.get("sep", " "))
        if isinstance(node, ast.Name):
            node = row.get(node.id, node)
        text = text_of(node)
        written.append(None if text is None or specification is None else format(text, specification))
    return [*written, options.get("end", "\n")]


def first_part(argument):
    """Return the first node that `pieces` yields for an argument."""
    part = argument.values[0] if isinstance(argument, ast.JoinedStr) and argument.values else argument
    return part.value if isinstance(part, ast.FormattedValue) else part


class Pattern(NamedTuple):
    """Pattern of one printed line. own: the labels of the other edition, and None for each value."""

    english: re.Pattern  # has a group for each value
    own: list[str | None]
    changes: bool  # whether the labels differ
    ends: bool  # whether the line ends here
    language: str | None = None  # of names among the values; blanks then do not count

    def replace(self, match):
        """Return the line with the edition's labels for a match of the English one."""
        values = (own_names(value, self.language) if self.language else value for value in match.groups())
        line = "".join(next(values) if text is None else text for text in self.own)
        return line.replace(" ", "") if self.language else line

    def join(self, other):
        """Return the pattern of a line that another `print` goes on with."""
        english = re.compile(self.english.pattern + other.english.pattern)
        return Pattern(english, self.own + other.own, self.changes or other.changes, other.ends, self.language)

    def named(self, language):
        """Return the pattern for lines whose values and labels have names, which are those of the edition."""
        blanks = re.sub(r"(?:\\ )+", " *", self.english.pattern)
        own = [None if text is None else words.translate(text, language=language) for text in self.own]
        changes = self.changes or own != self.own
        return self._replace(english=re.compile(blanks), own=own, changes=changes, language=language)


def template_pairs(english, translated):
    """Return pairs of what the prints of two cells write."""
    return list(zip(templates(parse(english)), templates(parse(translated)), strict=True))


def replace_headers(text, english, translated):
    """Replace labels that have more or fewer lines in the translation, if a `print` writes nothing else."""
    for original, own in template_pairs(english, translated):
        if None not in original + own and len(split_lines(original)) != len(split_lines(own)):
            pattern = f"^{re.escape(''.join(original))}"
            text = re.sub(pattern, lambda _, own=own: "".join(own), text, flags=re.MULTILINE)
    return text


@cache
def patterns(english, translated):
    """Return the patterns of all lines that the prints of two cells write."""
    all_patterns = []
    for original, other in template_pairs(english, translated):
        lines = list(zip(split_lines(original), split_lines(other)))
        for number, (line, own) in enumerate(lines, 1):
            line, own = merge_values(line), merge_values(own)
            pattern = "".join("(.*?)" if text is None else re.escape(text) for text in line)
            all_patterns.append(Pattern(re.compile(pattern), own, line != own, number < len(lines)))
    begun = [pattern for pattern in all_patterns if not pattern.ends and pattern.english.pattern]
    ended = [pattern for pattern in all_patterns if pattern.ends]
    return [*ended, *(start.join(end) for start in begun for end in ended), *begun]


@cache
def plot_words(english, translated):
    """Return how texts in a plot change: whole label → the other edition's, and pairs for labels that are f-strings."""
    whole, patterns = {}, []
    trees = parse(english), parse(translated)
    for label, own in zip(labels(english), labels(translated), strict=True):
        whole |= zip(label.split("\n"), own.split("\n"))
    for nodes in zip(*([node for call in ast.walk(tree) for node in plotted(call)] for tree in trees), strict=True):
        if isinstance(nodes[0], ast.JoinedStr):
            english_parts, own_parts = ([text_of(part) for part in node.values] for node in nodes)
            pattern = "".join("(.*)" if text is None else re.escape(text) for text in english_parts)
            patterns.append((re.compile(pattern), own_parts))
    return whole, patterns


def translate_plot(svg, english, translated):
    """Return an English plot with the labels of a translation. english, translated: the code of both cells."""
    whole, patterns = plot_words(english, translated)

    def translate(match):
        text = html.unescape(match[1])
        if text not in whole:
            for pattern, own in patterns:
                if found := pattern.fullmatch(text):
                    values = iter(found.groups())
                    parts = (part if part is not None else next(values) for part in own)
                    return html.escape("".join(whole.get(part, part) for part in parts), quote=False)
        return html.escape(whole.get(text, text), quote=False)

    return re.sub(r"(?<=>)([^<>]+)(?=</text>)", translate, svg)


def merge_values(line):
    """Return a line with one value in place of values that follow each other: their groups would take long to match."""
    return [text for before, text in zip(["", *line], line) if text is not None or before is not None]


def split_lines(template):
    """Split what a `print` writes into lines. The last one has no line break: the next `print` goes on there."""
    lines = [[]]
    for piece in template:
        first, *others = [None] if piece is None else piece.split("\n")
        lines[-1].append(first)
        lines += [[text] for text in others]
    return lines


def line_follows(line, own, cell_patterns):
    """Return whether a printed line is the English one with its labels replaced."""
    unchanged = line == own
    if language := next((pattern.language for pattern in cell_patterns), None):
        own = own.replace(" ", "")
        unchanged = own_names(line, language) == own
    for pattern in cell_patterns:
        if not pattern.ends:  # another `print` goes on with this line
            match = pattern.english.match(line)
            if (
                match
                and match.end()
                and own.startswith(start := pattern.replace(match))
                and line_follows(line[match.end() :], own[len(start) :], cell_patterns)
            ):
                return True
        elif match := pattern.english.fullmatch(line):
            if own_matches(pattern, line, own):
                return True
            unchanged = unchanged and not pattern.changes
    return unchanged


def own_matches(pattern, line, own):
    """Return whether some values make the pattern the English line and, with the other labels, the edition's."""
    if pattern.language:
        return pattern.replace(pattern.english.fullmatch(line)) == own
    groups = itertools.count(1)
    same = "".join(rf"\{next(groups)}" if text is None else re.escape(text) for text in pattern.own)
    return re.fullmatch(f"{pattern.english.pattern}\0{same}", f"{line}\0{own}") is not None


def text_follows(text, own, english, translated, language):
    """Return whether a printed text is the English one with its labels replaced."""
    named = asks_for_names(translated)
    if labels(english) == labels(translated) and not named:
        return text == own
    lines, others = replace_headers(text, english, translated).split("\n"), own.split("\n")
    cell_patterns = patterns(english, translated)
    if named:
        lines, cell_patterns = [*map(squeeze, lines)], [pattern.named(language) for pattern in cell_patterns]
    return len(lines) == len(others) and all(
        line_follows(line, other, cell_patterns) for line, other in zip(lines, others)
    )


def outputs_follow(english, translated, outputs, own, language):
    """Return whether a translated cell's outputs follow from those of the English cell.

    english, translated: the code of both cells, equal but for labels. outputs, own: the outputs of both.
    """
    if len(outputs) != len(own):
        return False
    return all(
        output_follows(english, translated, visible(output), visible(other), language)
        for output, other in zip(outputs, own)
    )


def output_follows(english, translated, output, own, language):
    """Return whether one output, as `visible` returns it, follows from the English one."""
    text, printed = output.pop("text", None), own.pop("text", None)
    if SVG in output.get("data", {}):
        output["data"] = {**output["data"], SVG: translate_plot(output["data"][SVG], english, translated)}
    if f'language="{language}"' in translated:
        if "data" in output:
            output["data"] = {kind: own_value(value, language) for kind, value in output["data"].items()}
        if text is not None:
            text = own_comparison(text, language)
    if text is not None and f'.text("{language}")' in translated:
        text = own_forecasts(text, language)
    if output != own or (text is None) != (printed is None):
        return False
    return text is None or text_follows(text, printed, english, translated, language)


def visible(output):
    """Return what readers see of an output, as a dictionary."""
    shown = {key: value for key, value in output.items() if key not in NOT_COMPARED}
    if "data" in shown:
        shown["data"] = {kind: value for kind, value in shown["data"].items() if kind != WIDGET}
    return shown
