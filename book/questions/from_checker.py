"""Questions made from those of the assignments' checker: steps by hand, and code with a mistake to find."""

import textwrap

from book.questions.parts import WRONG, Choice, Numbers, block, interface, shuffled, without_comments
from companion.check.engine.messages import of_mistake
from companion.check.engine.question import all_questions, bank


def by_hand(rng, name, result, mistakes, probe="one_number", digits=3):
    """Return the Numbers of a step with single numbers, computed by a question of the checker and by its mistakes.

    rng: random.Random. name: a question of the checker. result: the name of the value that is asked for.
    mistakes: names of its mistakes. The values of the text are the probe's tensors.
    """
    answers = bank(name, rng.randrange(10**6))
    number = next(place for place, one in enumerate(answers.probes) if one.name == probe)

    def answer(outcome):
        return outcome.values[result].item()

    wrong = {mistake: answer(answers.quick_outcome(frozenset([mistake]), number)) for mistake in mistakes}
    return Numbers(answer(answers.expected[number]), wrong, answers.probes[number].tensors, digits)


def find_mistake(entry, rng, language):
    """Return the text and the choices of a question that shows code with one mistake.

    A wrong choice says which lines its own mistake would have changed.
    """
    question, words = all_questions()[entry["checker"]], interface(language)
    right, *others = rng.sample(entry["mistakes"], WRONG + 1)
    about = of_mistake(right, language)
    choices = [Choice(about["says"], True, about["advice"])]
    for mistake in others:
        lines = [line for line in code(question, mistake) if line not in code(question)]
        changed = textwrap.dedent("\n".join(lines or code(question, mistake)))
        said = block(changed.splitlines(), words["would_be"])
        choices.append(Choice(of_mistake(mistake, language)["says"], False, said))
    return block(code(question, right), words["find_the_mistake"]), shuffled(choices, rng)


def code(question, *mistakes):
    """Return the lines of a generated question's right answer, changed by mistakes, without its English comments."""
    source = question.reference.__self__
    text = source.changed(mistakes).replace(source.name, question.asks_for)
    return without_comments(text)
