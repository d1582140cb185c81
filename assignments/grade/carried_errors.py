"""Credit for carried errors: an answer that uses an earlier one and is wrong only because of that one's mistakes."""

import ast
from dataclasses import replace

from assignments.grade.judge import LIMITS, build_job, draw_probes
from assignments.sandbox.protocol import parse_outcomes, split_protections
from companion.check.engine.diagnosis import alike
from companion.check.engine.question import all_questions

MAX_CODE = 300_000  # letters of code that are searched for names
# A cell that is run with the notebook's own, so that the function or class {name} returns other numbers.
SPOILER_CODE = """
def spoiled_(made):
    def other(thing):
        if isinstance(thing, (tuple, list)):
            return type(thing)(map(other, thing))
        if isinstance(thing, dict):
            return {{key: other(one) for key, one in thing.items()}}
        return 2 * thing + 1
    if isinstance(made, type):
        forward = made.forward
        made.forward = lambda *given, **named: other(forward(*given, **named))
        return made
    return lambda *given, **named: other(made(*given, **named))
{name} = spoiled_({name})
"""


def credit(verdicts, answers, words, worker, seeds, limits=LIMITS, student="", unchanged=()):
    """Give full points to answers that are wrong only because of an earlier answer that they use, and name that one.

    The numbers decide: they equal those of an answer with the same mistakes and no other, and they change when the
    earlier answer's output does. The reference never stands in for the earlier answer, since the student's process
    could read it. verdicts: as stored, in order. seeds: {question: seed}. unchanged: questions whose verdicts stay as
    they are.
    """
    for position, verdict in enumerate(verdicts):
        question = all_questions()[verdict["question"]].asked_of(student)
        wrong_before = [
            other for other in verdicts[:position] if other["mistakes"] and other["assignment"] == verdict["assignment"]
        ]
        answer = answers.get(question.name)
        if not verdict["mistakes"] or not wrong_before or answer is None or question.name in unchanged:
            continue
        used = names_used(answer)
        wrong_before = [other for other in wrong_before if all_questions()[other["question"]].asks_for in used]
        mistakes = set(verdict["mistakes"])
        source = next((other for other in wrong_before if mistakes <= set(other["mistakes"])), None)
        if source and mistakes <= set(question.names):
            if depends_on(worker, question, answer, source["question"], answers, seeds[question.name], limits):
                verdict["points"] = float(question.points)
                verdict["remarks"].append(words["page"]["comes_from"].format(name=source["question"]))
        elif wrong_before:
            verdict["remarks"].append(words["page"]["look_first"].format(name=wrong_before[0]["question"]))


def depends_on(worker, question, answer, earlier_name, answers, seed, limits):
    """Check that an answer's output changes when the answer to an earlier question is spoiled.

    Return True if the changed notebook cannot be run.
    """
    earlier, probe_set = answers.get(earlier_name), draw_probes(question, seed)
    in_same_file = earlier and earlier.file == answer.file and earlier.cell < answer.cell
    spoiling_cell = [
        earlier.cell if in_same_file else answer.cell,
        SPOILER_CODE.format(name=all_questions()[earlier_name].asks_for),
    ]
    for copy in filter(None, (answer, answer.other)):
        position = next(
            (position for position, (number, _) in enumerate(copy.cells, 1) if number == spoiling_cell[0]),
            len(copy.cells),
        )
        outcomes = []
        for cells in (copy.cells, [*copy.cells[:position], spoiling_cell, *copy.cells[position:]]):
            reply = worker.ask(build_job(question, probe_set, replace(copy, cells=cells), limits, needed=True))
            try:
                outcomes.append(parse_outcomes(split_protections(reply["said"])[1], len(probe_set.probes))[0])
            except (ValueError, RecursionError, KeyError, TypeError, AttributeError):
                return True
        if not all(outcomes) or not all(map(alike, *outcomes)):
            return True
    return False


def names_used(answer):
    """Return all names that an answer uses, directly or through its own helpers, except the names it defines."""
    bodies, letters_left = {}, MAX_CODE
    for _, source in answer.cells:
        if len(source) > min(letters_left, 100_000):
            continue
        letters_left -= len(source)
        try:
            body = ast.parse(source).body
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            continue
        for node in body:
            if isinstance(node, ast.FunctionDef | ast.ClassDef):
                names = {inner.id for inner in ast.walk(node) if isinstance(inner, ast.Name)}
                bodies[node.name] = bodies.get(node.name, set()) | names
    used, queue = set(), [name for name in answer.names if name in bodies]
    while queue:
        for name in bodies[queue.pop()] - used:
            used.add(name)
            queue += [name] if name in bodies else []
    return used - set(answer.names)
