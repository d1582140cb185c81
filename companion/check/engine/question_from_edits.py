"""Make a question from the source of a right answer and from changes to its lines that make mistakes.

    def gru_step_reference(x, h, …):
        …
        return (1 - z) * n + z * h

    MISTAKES = {"update_gate_inverted": ("gru#update-gate", "(1 - z) * n + z * h", "z * n + (1 - z) * h"), …}
    QUESTION = generate_question(gru_step_reference, MISTAKES, name="gru_step", …)

A mistake is a place in the book, followed by pairs: a text that occurs exactly once in the answer, and the text that
replaces it. Two mistakes can be combined if their texts do not overlap. So a mistake costs one line, and needs no
switch and no set of exclusions. Where changes of lines cannot express it, a function takes the place of the pairs: the
whole wrong answer. The same mistake made in another way is a line `name~way` below that of `name`, with "" for its
place.

Variants ask each student for something a little different, such as another order of the gates. Each is a name and
pairs of the same kind, the first one the answer as it is: `variants={"gates_r_z_n": (), "gates_z_r_n": (old, new)}`.
An answer to another variant is then a mistake, `variant_<name>`, which names that variant.
"""

import inspect
import textwrap
from dataclasses import replace

from companion.check.engine.question import Question

VARIANT = "variant_"  # prefix of the mistake "this answers another variant"


class EditableSource:
    """The source of an answer. changes: pairs (old, new) by name. wholes: complete sources by name."""

    def __init__(self, source, name, module, changes, wholes=None):
        self.source, self.name, self.module = source, name, module
        self.wholes = wholes or {}
        self.changes = {key: pairs for key, pairs in changes.items() if all(source.count(old) == 1 for old, _ in pairs)}

    def has(self, name):
        """Return True if a change of this name applies to the source."""
        return name in self.wholes or name in self.changes

    def spans(self, name):
        """Return the replacements of a change: (begin, end, new text)."""
        if name in self.wholes:
            return [(0, len(self.source), self.wholes[name])]
        begins = [(self.source.index(old), old, new) for old, new in self.changes[name]]
        return [(begin, begin + len(old), new) for begin, old, new in begins]

    def clash(self, names):
        """Return True if two of these changes overlap."""
        spans = sorted(span[:2] for name in names for span in self.spans(name))
        return any(end > begin for (_, end), (begin, _) in zip(spans, spans[1:]))

    def changed(self, names):
        """Return the source with these changes."""
        source = self.source
        for begin, end, new in sorted((span for name in names for span in self.spans(name)), reverse=True):
            source = source[:begin] + new + source[end:]
        return source

    def answer(self, names):
        """Return the function or class that the source with these changes defines.

        It is defined inside a function called `reference`, by which library_layers.py recognises it.
        """
        wrapped = f"def reference():\n{textwrap.indent(self.changed(names), '    ')}\n    return {self.name}"
        namespace = dict(vars(self.module))
        exec(compile(wrapped, self.module.__file__, "exec"), namespace)
        return namespace["reference"]()


def source_of(definition, name):
    """Return the source of a function or class, renamed to `name`."""
    return textwrap.dedent(inspect.getsource(definition)).replace(definition.__name__, name)


def pairs_of(texts):
    """Return (old, new) pairs from texts that alternate."""
    return [*zip(texts[::2], texts[1::2], strict=True)]


def between(first, second):
    """Return the changes that turn one variant, given by its changes, into another."""
    first, second = dict(first), dict(second)
    pairs = [(first.get(old, old), second.get(old, old)) for old in {**first, **second}]
    return [(old, new) for old, new in pairs if old != new]


def generate_question(answer, /, mistakes, variants=None, truth=None, **fields):
    """Return the Question about `answer`. truth: torch's own answer; without it, `answer` itself.

    Raise ValueError for a text that does not occur exactly once in the answer.
    """
    name = answer.__name__
    wholes = {
        mistake: source_of(row[1], name) for mistake, row in mistakes.items() if len(row) == 2 and callable(row[1])
    }
    made_from = source_of(answer, name), name, inspect.getmodule(answer)
    return question_from_source(*made_from, mistakes, variants, wholes, truth, **fields)


def question_from_source(source, name, module, /, mistakes, variants=None, wholes=(), truth=None, **fields):
    """Return the Question about the function or class `name` with this source, which uses names of `module`."""
    changes = {mistake: pairs_of(row[1:]) for mistake, row in mistakes.items() if mistake not in wholes}
    variants = {variant: pairs_of(texts) for variant, texts in (variants or {}).items()}
    for label, pairs in (changes | variants).items():
        for old, _ in pairs:
            if source.count(old) != 1:
                raise ValueError(
                    f"{fields['name']}, {label}: {old!r} stands {source.count(old)} times in {name}, not once"
                )

    def question(variant):
        right = EditableSource(source, name, module, variants).changed([variant] if variant else [])
        others = {VARIANT + key: between(variants[variant], pairs) for key, pairs in variants.items() if key != variant}
        editable = EditableSource(right, name, module, others | changes, wholes)
        places = {key: mistakes[key][0] if key in mistakes else "" for key in [*others, *mistakes] if editable.has(key)}
        first = variant in (None, next(iter(variants), None))
        return Question(
            truth=truth if truth and first else editable.answer(frozenset()), reference=editable.answer,
            mistakes=places, clash=editable.clash, variant=variant,
            right=right.replace(name, fields.get("answer") or fields["name"]), **fields,
        )  # fmt: skip

    made = {variant: question(variant) for variant in variants} or {None: question(None)}
    first = next(iter(made.values()))
    return replace(first, variants=made) if variants else first
