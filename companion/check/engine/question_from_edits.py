"""A question made of a right answer as it is written, and of what becomes of it where its lines are changed.

    def gru_step_reference(x, h, …):
        …
        return (1 - z) * n + z * h

    MISTAKES = {"update_gate_inverted": ("gru#update-gate", "(1 - z) * n + z * h", "z * n + (1 - z) * h"), …}
    QUESTION = written(gru_step_reference, MISTAKES, name="gru_step", …)

A mistake is a place in the book, and then pairs: a text that stands exactly once in the answer, and what stands there
instead. Two mistakes go together if their texts do not overlap. So each costs a line, and needs no switch and no set of
what excludes what. Where lines cannot say it, a function stands in the place of the pairs: the whole wrong answer.
The same mistake made another way is a line `name~way` below that of `name`, with "" for its place.

Variants ask each student for something a little different, such as another order of the gates. Each is a name and pairs
of the same kind, the first one the answer as it is written: `variants={"gates_r_z_n": (), "gates_z_r_n": (old, new)}`.
What the others answer is then a mistake, `variant_<name>`, which says whose variant it is.
"""

import inspect
import textwrap
from dataclasses import replace

from companion.check.engine.question import Question

VARIANT = "variant_"  # how the mistake begins of an answer to another variant


class Text:
    """The source of an answer. changes: pairs by name. others: whole sources by name."""

    def __init__(self, source, name, module, changes, others=None):
        self.source, self.name, self.module = source, name, module
        self.others = others or {}
        self.changes = {one: pairs for one, pairs in changes.items() if all(self.stands(old) for old, _ in pairs)}

    def stands(self, old):
        return self.source.count(old) == 1

    def knows(self, name):
        return name in self.others or name in self.changes

    def spans(self, name):
        if name in self.others:
            return [(0, len(self.source), self.others[name])]
        begins = [(self.source.index(old), old, new) for old, new in self.changes[name]]
        return [(begin, begin + len(old), new) for begin, old, new in begins]

    def clash(self, names):
        """Whether two changes are of the same piece of the source."""
        spans = sorted(span[:2] for name in names for span in self.spans(name))
        return any(end > begin for (_, end), (begin, _) in zip(spans, spans[1:]))

    def changed(self, names):
        source = self.source
        for begin, end, new in sorted((span for name in names for span in self.spans(name)), reverse=True):
            source = source[:begin] + new + source[end:]
        return source

    def answer(self, names):
        """The function or class that this is with these changes. By its name it is known as ours, as all references
        are."""
        wrapped = f"def reference():\n{textwrap.indent(self.changed(names), '    ')}\n    return {self.name}"
        space = dict(vars(self.module))
        exec(compile(wrapped, self.module.__file__, "exec"), space)
        return space["reference"]()


def source_of(thing, name):
    """What a definition says, under a name that is the same for all that stand in its place."""
    return textwrap.dedent(inspect.getsource(thing)).replace(thing.__name__, name)


def pairs_of(texts):
    return [*zip(texts[::2], texts[1::2], strict=True)]


def between(here, there):
    """The changes that make one variant of another."""
    here, there = dict(here), dict(there)
    both = [(here.get(old, old), there.get(old, old)) for old in {**here, **there}]
    return [(old, new) for old, new in both if old != new]


def written(answer, /, mistakes, variants=None, truth=None, **fields):
    """The Question about an answer. truth: torch's own answer, or else the answer itself, for what torch has not.

    ValueError for a text that does not stand exactly once in the answer.
    """
    module, name = inspect.getmodule(answer), answer.__name__
    source = source_of(answer, name)
    whole = {one: source_of(said[1], name) for one, said in mistakes.items() if len(said) == 2 and callable(said[1])}
    changes = {one: pairs_of(said[1:]) for one, said in mistakes.items() if one not in whole}
    variants = {one: pairs_of(pairs) for one, pairs in (variants or {}).items()}
    for one, pairs in (changes | variants).items():
        for old, _ in pairs:
            if source.count(old) != 1:
                raise ValueError(
                    f"{fields['name']}, {one}: {old!r} stands {source.count(old)} times in {name}, and should once"
                )

    def question(variant):
        here = Text(source, name, module, variants).changed([variant] if variant else [])
        others = {VARIANT + one: between(variants[variant], pairs) for one, pairs in variants.items() if one != variant}
        text = Text(here, name, module, others | changes, whole)
        places = {one: mistakes[one][0] if one in mistakes else "" for one in [*others, *mistakes] if text.knows(one)}
        first = variant in (None, next(iter(variants), None))
        return Question(
            truth=truth if truth and first else text.answer(frozenset()), reference=text.answer, mistakes=places,
            clash=text.clash, variant=variant, right=here.replace(name, fields.get("answer") or fields["name"]),
            **fields,
        )  # fmt: skip

    made = {one: question(one) for one in variants} or {None: question(None)}
    first = next(iter(made.values()))
    return replace(first, variants=made) if variants else first
