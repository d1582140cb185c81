"""What follows from an earlier mistake: an answer that uses another's, and is wrong by that one's mistakes alone."""

import ast
from dataclasses import replace

from assignments.grade.judge import LIMITS, job_of, probed_by
from assignments.sandbox.protocol import parse_outcomes, split_protections
from companion.check.engine.diagnosis import alike
from companion.check.engine.question import all_questions

LONG = 300_000  # letters of the code in which names are looked for
# What is run beside a notebook's cells, so that what {name} gives is something else.
SPOILING = """
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


def follow_through(verdicts, answers, words, worker, seeds, limits=LIMITS, student="", stays=()):
    """Pays an answer that is wrong only by the mistakes of an earlier one that it uses, and says where they come from.

    The numbers say so: they are those of an answer with these mistakes and no other, and change with what the earlier
    one gives. No right answer is put in the earlier one's place, as it would be in the student's process. verdicts: as
    they are stored, in order. seeds: {question: seed}. stays: questions of which nothing changes.
    """
    for place, verdict in enumerate(verdicts):
        asked = all_questions()[verdict["question"]].asked_of(student)
        earlier = [one for one in verdicts[:place] if one["mistakes"] and one["assignment"] == verdict["assignment"]]
        answer = answers.get(asked.name)
        if not verdict["mistakes"] or not earlier or answer is None or asked.name in stays:
            continue
        used = names_used(answer)
        earlier = [one for one in earlier if all_questions()[one["question"]].asks_for in used]
        mine = set(verdict["mistakes"])
        source = next((one for one in earlier if mine <= set(one["mistakes"])), None)
        if source and mine <= set(asked.names):
            if depends(worker, asked, answer, source["question"], answers, seeds[asked.name], limits):
                verdict["points"] = float(asked.points)
                verdict["remarks"].append(words["page"]["comes_from"].format(name=source["question"]))
        elif earlier:
            verdict["remarks"].append(words["page"]["look_first"].format(name=earlier[0]["question"]))


def depends(worker, asked, answer, question, answers, seed, limits):
    """Whether an answer gives something else when that to an earlier question does: to name it is not to use it. Where
    that cannot be seen, it is believed."""
    earlier, probed = answers.get(question), probed_by(asked, seed)
    there = earlier and earlier.file == answer.file and earlier.cell < answer.cell
    after = [earlier.cell if there else answer.cell, SPOILING.format(name=all_questions()[question].asks_for)]
    for one in filter(None, (answer, answer.other)):
        place = next((place for place, (number, _) in enumerate(one.cells, 1) if number == after[0]), len(one.cells))
        found = []
        for cells in (one.cells, [*one.cells[:place], after, *one.cells[place:]]):
            ended = worker.ask(job_of(asked, probed, replace(one, cells=cells), limits, needed=True))
            try:
                found.append(parse_outcomes(split_protections(ended["said"])[1], len(probed.probes))[0])
            except (ValueError, RecursionError, KeyError, TypeError, AttributeError):
                return True
        if not all(found) or not all(map(alike, *found)):
            return True
    return False


def names_used(answer):
    """All names that an answer uses, and what it uses, but its own."""
    bodies, left = {}, LONG
    for _, source in answer.cells:
        if len(source) > min(left, 100_000):
            continue
        left -= len(source)
        try:
            body = ast.parse(source).body
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            continue
        for node in body:
            if isinstance(node, ast.FunctionDef | ast.ClassDef):
                named = {one.id for one in ast.walk(node) if isinstance(one, ast.Name)}
                bodies[node.name] = bodies.get(node.name, set()) | named
    found, todo = set(), [name for name in answer.names if name in bodies]
    while todo:
        for name in bodies[todo.pop()] - found:
            found.add(name)
            todo += [name] if name in bodies else []
    return found - set(answer.names)
