"""Questions about one's own code, for an oral examination or a quiz: an answer that is right is changed in one line,
and the student is asked what comes of it.

The changed programs run where the answer ran, behind the same walls, and on the smallest of the probes that it was
graded with. What they gave is the answer to the question, and what others gave are the wrong ones to choose from. The
same seed asks the same.
"""

import json
import random
import traceback

from assignments.grade import carried_errors, judge
from assignments.report.oral import mutations
from assignments.report.oral.effects import effect, far, runs_of
from assignments.sandbox import protocol
from companion.check.engine import messages
from companion.check.engine.diagnosis import alike, is_gradient
from companion.check.engine.question import all_questions

QUESTIONS = 3
MANY, FEW = 24, 12  # changes that are tried, and so many that none beyond the answer's own lines are wanted
PROBES, NUMBERS = 4, 500  # on which they are tried; numbers that may come of one
ON_PAPER, IN_OPTION, NAMES = 30, 4, 6  # numbers of an input that is shown whole, and of an option; names in a list
LONG = 60  # signs of what is handed over beside tensors
EACH, ENDLESS = 0.1, 4  # seconds of the processor for a change, and how many may take longer
LIMITS = judge.LIMITS | {"seconds": 3, "wall": 15, "memory": 512}
KINDS = ("number", "which", "notice", "outcome")


def asked(worker, name, answer, seed, student=""):
    """As `ask`. No grade hangs on it, so nothing that goes wrong here ends the grading."""
    try:
        return ask(worker, all_questions()[name].asked_of(student), answer, seed)
    except Exception:
        traceback.print_exc()
        return []


def ask(worker, asked, answer, seed):
    """The questions about an answer (reading.Answer) to a question, as they are stored; at most three."""
    if asked.training_goal:  # to train networks once more takes too long
        return []
    probed = judge.probed_by(asked, seed)
    places = small(probed)
    for one in filter(None, (answer, answer.other)):
        chance = random.Random(f"{seed} {asked.name}")
        tried = to_try(one, chance)
        if not tried or not places:
            continue
        job = judge.job_of(asked, probed, one, LIMITS, needed=True) | {
            "probes": [probed.probes[place].to_json() for place in places], "each": EACH, "endless": ENDLESS,
            "changes": [[change.cell, change.source] for change in tried],
        }  # fmt: skip
        ended = worker.ask(job)
        before, *after = runs_of(protocol.split_protections(ended["said"])[1], len(places), len(tried)) or [[]]
        sure = [at for at, run in enumerate(before) if run and alike(probed.expected[places[at]], run)]
        if sure:
            probes = {places[at]: probed.probes[places[at]] for at in sure}
            chosen = [[run[at] if run else None for at in sure] for run in after]
            return Asking(probes, [before[at] for at in sure], tried, chosen, chance).questions()
    return []


def small(probed):
    """The numbers of the smallest probes that can be asked about on paper."""
    fit = [
        number
        for number, (probe, right) in enumerate(zip(probed.probes, probed.expected))
        if "training" not in probe.options and not right.error
        and sum(value.numel() for value in right.values.values()) <= NUMBERS
    ]  # fmt: skip
    return sorted(fit, key=lambda number: (probed.probes[number].size, number))[:PROBES]


def to_try(answer, chance):
    """Changes to an answer and what it uses, those of its own lines first, as many sorts of them as there are."""
    names = carried_errors.names_used(answer) | set(answer.names)
    where, found = {}, []
    for number, source in answer.cells:
        if (tree := mutations.parsed(source)) and (number <= answer.cell or not answer.cell):
            where |= {node.name: number for node in tree.body if hasattr(node, "name")}
    for number, source in answer.cells:
        here = {name for name in names if where.get(name) == number}
        found += mutations.changes(number, source, here) if here else []
    ranked = [[], [], []]
    for one in found:
        ranked[2 if one.making else 0 if one.cell == answer.cell else 1].append(one)
    kept = mixed(ranked[0], chance)
    for more in ranked[1:]:
        kept += mixed(more, chance) if len(kept) < FEW else []
    return kept[:MANY]


def mixed(found, chance):
    """One of each sort in turn."""
    sorts = {}
    for one in found:
        sorts.setdefault(one.kind, []).append(one)
    for one in sorts.values():
        chance.shuffle(one)
    most = max(map(len, sorts.values()), default=0)
    return [one[turn] for turn in range(most) for one in sorts.values() if turn < len(one)]


# The questions


def described(probe, whole):
    """What goes in: a dictionary for each tensor and each option, with all numbers, or those that are few and short."""
    found = []
    for name, tensor in probe.tensors.items():
        short = tensor.numel() <= (4 if tensor.is_floating_point() else 12)
        few = whole or short and bool(((tensor * 10).round() == tensor * 10).all())
        numbers = messages.rounded(tensor.tolist()) if few else ""
        zeros = not few and not tensor.any().item()
        found.append({"name": name, "shape": list(tensor.shape), "numbers": numbers, "zeros": zeros})
    found += [{"name": name, "numbers": shortened(str(value))} for name, value in probe.options.items()]
    return found + [{"calls": probe.calls}] * (probe.calls > 1)


def shortened(text):
    return text if len(text) <= LONG else f"{text[:LONG]} …"


def spelled(tensor):
    """Numbers as an option, with three decimals; "" where the fourth lies on the edge, or they are too large to be
    read."""
    if not tensor.isfinite().all() or tensor.abs().max() >= 1000:
        return ""
    edge = (tensor * 1000 - 0.5).abs() % 1
    if ((edge < 1e-6) | (edge > 1 - 1e-6)).any():
        return ""

    def said(thing):
        if isinstance(thing, list):
            return f"[{', '.join(map(said, thing))}]"
        return f"{thing:.3f}".rstrip("0").rstrip(".") if abs(thing) >= 0.0005 else "0"

    return said(tensor.item() if tensor.numel() == 1 else tensor.tolist())


class Asking:
    """probes: by number. before: what came of an answer on each; after: what came of each of the changes that were
    tried."""

    def __init__(self, probes, before, tried, after, chance):
        self.numbers, self.probes = [*probes], [*probes.values()]
        self.before, self.tried, self.after, self.chance = before, tried, after, chance
        self.effects = [[effect(*pair) for pair in zip(before, run)] if run else [None] * len(before) for run in after]

    def questions(self):
        """Of different kinds and lines, as far as there are such."""
        found, kinds = {}, [*KINDS]
        self.chance.shuffle(kinds)
        for kind in kinds:
            made = [(self.worth(kind, at, one), at, one) for at in self.worthy() if (one := getattr(self, kind)(at))]
            self.chance.shuffle(made)
            found[kind] = sorted(made, key=lambda one: one[0])
        chosen = []
        for new_kind, new_line in ((True, True), (False, True), (False, False)):
            for kind in kinds * QUESTIONS:
                if len(chosen) == QUESTIONS or new_kind and any(kind == one["kind"] for one in chosen):
                    continue
                fit = (one for _, _, one in found[kind] if self.fits(one, chosen, new_line))
                chosen += filter(None, [next(fit, None)])
        return [{key: one[key] for key in one if key != "right"} for one in chosen]

    def worthy(self):
        """The places of the changes that do something on one of the probes."""
        return [at for at, effects in enumerate(self.effects) if any(one and one.label != ("same",) for one in effects)]

    def worth(self, kind, at, asked):
        """By what to sort: the least first."""
        change = self.tried[at]
        plain = kind == "number" and change.kind != "drop"
        if kind == "outcome":  # that a name is missing is soon seen
            plain = 2 if "NameError" in asked["right"] else asked["right"][0] in ("numbers", "same")
        return plain, change.making, change.cell != self.tried[0].cell

    @staticmethod
    def fits(one, chosen, new_line):
        """Whether a question is another than those that are chosen."""
        for other in chosen:
            if (one["cell"], one["line"], one["new"]) == (other["cell"], other["line"], other["new"]):
                return False
            if new_line and (one["cell"], one["line"]) == (other["cell"], other["line"]):
                return False
            if one["kind"] == other["kind"] and (one["right"] == other["right"] or "NameError" in one["right"]):
                return False
        return True

    def made(self, kind, at, places, input, right, others, name="", sort=False):
        """A question as it is stored. places: of the probes that it is about. right, others: options; what is right is
        one of them, or several."""
        change, options = self.tried[at], [*right, *others]
        if not sort:
            self.chance.shuffle(options)
        else:
            options.sort(key=sort)
        return {
            "kind": kind, "cell": change.cell, "line": change.line, "old": change.old, "new": change.new,
            "name": name, "probes": [self.numbers[place] for place in places], "input": input,
            "options": [list(one) for one in options],
            "answer": [place for place, one in enumerate(options) if one in right], "right": [*right[0]],
        }  # fmt: skip

    # One of each kind about the change at a place of those tried; None if there is none to ask.

    def number(self, at):
        """What comes out?"""
        for place, probe in enumerate(self.probes):
            done = self.effects[at][place]
            if probe.size > ON_PAPER or not done or done.label[0] != "numbers":
                continue
            for name in [one for one in self.before[place].values if one in done.names and not later(one)]:
                for part in parts(self.before[place].values[name]):
                    if one := self.number_of(at, place, name, part):
                        return one
        return None

    def number_of(self, at, place, name, part):
        def value(outcome):
            there = outcome and not outcome.error and outcome.values.get(name)
            fits = isinstance(there, type(before)) and there.shape == before.shape
            return there[part] if fits else None

        before = self.before[place].values[name]
        right, kept = value(self.after[at][place]), []
        if not far(before[part], right):
            return None
        others = [value(run[place]) for run in self.after if run]
        self.chance.shuffle(others)
        for one in (right, before[part], *others):
            # all of them so far apart that no rounding matters
            if one is not None and spelled(one) and all((one - other).abs().max() > 0.01 for other in kept):
                kept.append(one)
        if len(kept) < 3 or kept[0] is not right:
            return None
        texts = [("value", spelled(one)) for one in kept[:4]]
        shown = name + "".join(f"[{index}]" for index in part)
        return self.made("number", at, [place], described(self.probes[place], True), texts[:1], texts[1:], shown)

    def which(self, at):
        """Which of these results would change?"""
        for place, probe in enumerate(self.probes):
            done = self.effects[at][place]
            if not done or done.label[0] not in ("numbers", "shape"):
                continue
            there = [name for name in self.before[place].values if not name.startswith("second_")]
            right = [name for name in there if name in done.names][: NAMES // 2]
            others = [name for name in there if name not in done.names][: NAMES - len(right)]
            if right and others:
                options = [[("name", one) for one in names] for names in (right, others)]
                whole = probe.size <= ON_PAPER
                return self.made(
                    "which",
                    at,
                    [place],
                    described(probe, whole),
                    *options,
                    sort=lambda one, names=there: names.index(one[1]),
                )
        return None

    def notice(self, at):
        """With which of these inputs would nobody notice?"""
        clear = [(place, one) for place, one in enumerate(self.effects[at]) if one]
        inputs = {}
        for place, one in clear:
            said = json.dumps(described(self.probes[place], False))
            inputs.setdefault(said, (place, one.label == ("same",)))
        unseen = [("input", json.loads(said)) for said, (_, same) in inputs.items() if same]
        seen = [("input", json.loads(said)) for said, (_, same) in inputs.items() if not same]
        if not unseen or not seen:
            return None
        order, places = [json.loads(said) for said in inputs], [place for place, _ in inputs.values()]
        return self.made("notice", at, places, [], unseen, seen, sort=lambda one: order.index(one[1]))

    def outcome(self, at):
        """A shape, an error, or other numbers?"""
        clear = [place for place, one in enumerate(self.effects[at]) if one and one.label != ("error", "")]
        if not clear:
            return None
        place = clear[-1]  # the largest, in which all sizes differ
        right, sorts = self.effects[at][place].label, {"same": ("same",)}
        labels = [one[place].label for one in self.effects if one[place] and one[place].label != ("error", "")]
        self.chance.shuffle(labels)
        for label in labels:
            sorts.setdefault(label[0], label)
        others = [one for one in [*sorts.values(), *labels] if one != right]
        others = [one for number, one in enumerate(others) if one not in others[:number]]
        if len(others) < 2:
            return None
        return self.made("outcome", at, [place], described(self.probes[place], False), [right], others[:3])


def later(name):
    """Whether a value is none that a call gives at once."""
    return is_gradient(name) or name.startswith("second_")


def parts(value):
    """Where in a value there are so few numbers that they can be written down: () if it is all of it."""
    if value.numel() <= IN_OPTION:
        return [()]
    if value.dim() < 2:
        return []
    return [(first, *more) for first in range(min(len(value), 3)) for more in parts(value[first])]
