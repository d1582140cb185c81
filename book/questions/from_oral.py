"""Questions about a changed line, made as the grader makes oral questions about a student's own code."""

import inspect
from dataclasses import replace

from assignments.report.oral.effects import effect_of
from assignments.report.oral.mutations import all_changes
from assignments.words import words as grader_words
from book.questions.parts import Choice, block, interface, show, shuffled, without_comments
from companion.check.engine.diagnosis import is_gradient
from companion.check.engine.question import all_questions, bank
from companion.check.engine.run_answer import observe

KINDS = "same", "numbers", "shape", "error"


def changed_line(entry, rng, language):
    """Return the text and the choices of a question that changes a line of an answer to a question of the checker.

    The changed code was run: its effect is the right choice. The wrong ones are effects of other changes.
    """
    question = all_questions()[entry["changed"]]
    answers = bank(question.name, rng.randrange(10**6))
    number = max(range(len(answers.probes)), key=lambda place: answers.probes[place].size)
    before, probe = without_gradients(answers.expected[number]), answers.probes[number]
    effects = effects_of_changes(question, probe, before)
    kind = rng.choice([kind for kind in KINDS if any(label[0] == kind for _, label, _ in effects)])
    change, right, after = rng.choice([row for row in effects if row[1][0] == kind])
    labels = [right]
    for other in KINDS:
        if other != kind:
            found = [label for _, label, _ in effects if label[0] == other]
            labels.append(rng.choice(found or [default_label(other, before)]))
    words, own = interface(language), grader_words(language)["own_code"]
    ran = measure_effect(right, before, after, words)
    choices = [Choice(describe(label, own), place == 0, ran) for place, label in enumerate(labels)]
    lines = [f"{number:2}  {line}" for number, line in enumerate(without_comments(question.right), start=1)]
    shapes = ", ".join(f"`{name}` `{tuple(value.shape)}`" for name, value in probe.tensors.items())
    new = block(without_comments(change.new), words["new_line"]) if change.new else words["no_line"]
    text = words["change"].format(line=change.line, shapes=shapes)
    return f"{block(lines, text)}\n\n{new}", shuffled(choices, rng)


def effects_of_changes(question, probe, before):
    """Return rows (change, label of its effect on a probe, outcome) for changes of one line whose effect is certain.

    before: the outcome without a change. Changes that affect only gradients are left out.
    """
    rows = []
    for change in all_changes(0, question.right, {question.asks_for}):
        if change.kind == "cut":
            continue
        after = without_gradients(observe(question.call, defined(question, change.source), probe))
        effect = effect_of(before, after)
        if effect and effect.label[0] in KINDS and effect.label != ("error", "NameError"):
            rows.append((change, effect.label, after))
    return rows


def without_gradients(outcome):
    """Return an outcome with the results alone."""
    return replace(outcome, values={name: value for name, value in outcome.values.items() if not is_gradient(name)})


def measure_effect(label, before, after, words):
    """Return the sentence that says what came out when the changed code was run."""
    kind = label[0]
    if kind == "error":
        return words["ran_error"].format(error=f"`{after.error['type']}: {after.error['text'].splitlines()[0]}`")
    if kind == "shape":
        return words["ran_shape"].format(name=label[1], shape=f"`{tuple(label[2])}`")
    if kind == "same":
        return words["ran_same"]
    name = max(before.values, key=lambda key: float((before.values[key] - after.values[key]).abs().max()))
    size = show(float((before.values[name] - after.values[name]).abs().max()), 2)
    return words["ran_numbers"].format(name=name, size=size)


def default_label(kind, outcome):
    """Return a label of a kind that no change of a question has: an error, or a shape with its sizes in reverse."""
    name, value = max(outcome.values.items(), key=lambda item: item[1].dim())
    return {"error": ("error", "RuntimeError"), "shape": ("shape", name, [*value.shape[::-1]])}.get(kind, (kind,))


def defined(question, source):
    """Return the function or class that a changed source defines, with the names of the question's module."""
    namespace = dict(vars(inspect.getmodule(question.probes)))
    exec(compile(source, question.name, "exec"), namespace)
    return namespace[question.asks_for]


def describe(label, words):
    """Return the label of an effect as a sentence."""
    kind = label[0]
    if kind == "shape":
        return words["shape"].format(name=label[1], shape=f"`{tuple(label[2])}`")
    return words[kind].format(type=label[1]) if kind == "error" else words[kind]
