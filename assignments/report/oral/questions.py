"""Generate questions about a student's own code, for an oral examination or a quiz.

A right answer is changed in one line, and the student is asked for the effect. The changed programs run in the sandbox
on the smallest probes of the grading. What they return is the answer to the question; what other changes return are the
wrong options. The same seed gives the same questions.
"""

import json
import random
import traceback

from assignments.grade import carried_errors, judge
from assignments.report.oral import mutations
from assignments.report.oral.effects import differ, effect_of, parse_runs
from assignments.sandbox import protocol
from companion.check.engine import messages
from companion.check.engine.diagnosis import alike, is_gradient
from companion.check.engine.question import all_questions

QUESTIONS = 3
MANY, FEW = 24, 12  # changes to try at most; from FEW on, helpers are not changed
PROBES, NUMBERS = 4, 500  # probes to try them on; numbers in the outputs of one
ON_PAPER, IN_OPTION, NAMES = 30, 4, 6  # numbers of an input shown in full, and of an option; names in a list
MAX_OPTION = 60  # letters of an argument that is not a tensor
EACH, ENDLESS = 0.1, 4  # processor seconds for a change, and how many changes may exceed them
LIMITS = judge.LIMITS | {"seconds": 3, "wall": 15, "memory": 512}
KINDS = ("number", "which", "notice", "outcome")


def try_questions(worker, question, answer, seed, student=""):
    """Return the questions about an answer, or none after an error: no points depend on them."""
    try:
        return make_questions(worker, all_questions()[question].asked_of(student), answer, seed)
    except Exception:
        traceback.print_exc()
        return []


def make_questions(worker, question, answer, seed):
    """Return at most three questions about an answer (answers.Answer), as they are stored."""
    if question.training_goal:  # training again would take too long
        return []
    probe_set = judge.draw_probes(question, seed)
    numbers = small_probes(probe_set)
    for copy in filter(None, (answer, answer.other)):
        chance = random.Random(f"{seed} {question.name}")
        changes = choose_changes(copy, chance)
        if not changes or not numbers:
            continue
        job = judge.build_job(question, probe_set, copy, LIMITS, needed=True) | {
            "probes": [probe_set.probes[number].to_json() for number in numbers], "each": EACH, "endless": ENDLESS,
            "changes": [[change.cell, change.source] for change in changes],
        }  # fmt: skip
        reply = worker.ask(job)
        before, *runs_after = parse_runs(protocol.split_protections(reply["said"])[1], len(numbers), len(changes)) or [
            []
        ]
        usable = [
            position for position, run in enumerate(before) if run and alike(probe_set.expected[numbers[position]], run)
        ]
        if usable:
            probes = {numbers[position]: probe_set.probes[numbers[position]] for position in usable}
            chosen = [[run[position] if run else None for position in usable] for run in runs_after]
            return QuestionMaker(probes, [before[position] for position in usable], changes, chosen, chance).questions()
    return []


def small_probes(probe_set):
    """Return the numbers of the smallest probes, which can be computed on paper."""
    fit = [
        number
        for number, (probe, expected) in enumerate(zip(probe_set.probes, probe_set.expected))
        if "training" not in probe.options and not expected.error
        and sum(value.numel() for value in expected.values.values()) <= NUMBERS
    ]  # fmt: skip
    return sorted(fit, key=lambda number: (probe_set.probes[number].size, number))[:PROBES]


def choose_changes(answer, chance):
    """Choose changes to an answer and its helpers: its own lines first, and many kinds."""
    names = carried_errors.names_used(answer) | set(answer.names)
    cell_of, changes = {}, []
    for number, source in answer.cells:
        if (tree := mutations.parse(source)) and (number <= answer.cell or not answer.cell):
            cell_of |= {node.name: number for node in tree.body if hasattr(node, "name")}
    for number, source in answer.cells:
        defined_here = {name for name in names if cell_of.get(name) == number}
        changes += mutations.all_changes(number, source, defined_here) if defined_here else []
    ranked = [[], [], []]
    for change in changes:
        ranked[2 if change.making else 0 if change.cell == answer.cell else 1].append(change)
    chosen = interleave_kinds(ranked[0], chance)
    for rest in ranked[1:]:
        chosen += interleave_kinds(rest, chance) if len(chosen) < FEW else []
    return chosen[:MANY]


def interleave_kinds(changes, chance):
    """Return the changes in turn by kind."""
    by_kind = {}
    for change in changes:
        by_kind.setdefault(change.kind, []).append(change)
    for group in by_kind.values():
        chance.shuffle(group)
    longest = max(map(len, by_kind.values()), default=0)
    return [group[turn] for turn in range(longest) for group in by_kind.values() if turn < len(group)]


# The questions


def describe_inputs(probe, all_numbers):
    """Return the inputs as a list of dictionaries, with all numbers, or only those that are few and short."""
    inputs = []
    for name, tensor in probe.tensors.items():
        short = tensor.numel() <= (4 if tensor.is_floating_point() else 12)
        show_numbers = all_numbers or short and bool(((tensor * 10).round() == tensor * 10).all())
        numbers = messages.rounded(tensor.tolist()) if show_numbers else ""
        zeros = not show_numbers and not tensor.any().item()
        inputs.append({"name": name, "shape": list(tensor.shape), "numbers": numbers, "zeros": zeros})
    inputs += [{"name": name, "numbers": shorten(str(value))} for name, value in probe.options.items()]
    return inputs + [{"calls": probe.calls}] * (probe.calls > 1)


def shorten(text):
    return text if len(text) <= MAX_OPTION else f"{text[:MAX_OPTION]} …"


def format_numbers(tensor):
    """Return numbers with three decimals, or "" if they are too large, or a rounding would be ambiguous."""
    if not tensor.isfinite().all() or tensor.abs().max() >= 1000:
        return ""
    edge = (tensor * 1000 - 0.5).abs() % 1
    if ((edge < 1e-6) | (edge > 1 - 1e-6)).any():
        return ""

    def format_value(value):
        if isinstance(value, list):
            return f"[{', '.join(map(format_value, value))}]"
        return f"{value:.3f}".rstrip("0").rstrip(".") if abs(value) >= 0.0005 else "0"

    return format_value(tensor.item() if tensor.numel() == 1 else tensor.tolist())


class QuestionMaker:
    """Makes questions from the outcomes of an answer and of its changes.

    probes: by number. before: the answer's outcome on each probe. after: the outcomes of each change in `tried`.
    """

    def __init__(self, probes, before, tried, after, chance):
        self.numbers, self.probes = [*probes], [*probes.values()]
        self.before, self.tried, self.after, self.chance = before, tried, after, chance
        self.effects = [
            [effect_of(*pair) for pair in zip(before, run)] if run else [None] * len(before) for run in after
        ]

    def questions(self):
        """Return questions, of different kinds and lines where possible."""
        candidates, kinds = {}, [*KINDS]
        self.chance.shuffle(kinds)
        for kind in kinds:
            made = [(place, getattr(self, kind)(place)) for place in self.effective_changes()]
            ranked = [(self.rank(kind, place, question), place, question) for place, question in made if question]
            self.chance.shuffle(ranked)
            candidates[kind] = sorted(ranked, key=lambda entry: entry[0])
        chosen = []
        for new_kind, new_line in ((True, True), (False, True), (False, False)):
            for kind in kinds * QUESTIONS:
                if len(chosen) == QUESTIONS or new_kind and any(kind == other["kind"] for other in chosen):
                    continue
                fit = (question for _, _, question in candidates[kind] if self.is_new(question, chosen, new_line))
                chosen += filter(None, [next(fit, None)])
        return [{key: question[key] for key in question if key != "right"} for question in chosen]

    def effective_changes(self):
        """Return the places of the changes that have an effect on a probe."""
        effective = [any(effect and effect.label != ("same",) for effect in effects) for effects in self.effects]
        return [place for place, is_effective in enumerate(effective) if is_effective]

    def rank(self, kind, place, question):
        """Return a sort key: the best questions first."""
        change = self.tried[place]
        plain = kind == "number" and change.kind != "drop"
        if kind == "outcome":  # a missing name is obvious
            plain = 2 if "NameError" in question["right"] else question["right"][0] in ("numbers", "same")
        return plain, change.making, change.cell != self.tried[0].cell

    @staticmethod
    def is_new(question, chosen, new_line):
        """Return whether a question differs from those already chosen."""
        for other in chosen:
            if (question["cell"], question["line"], question["new"]) == (other["cell"], other["line"], other["new"]):
                return False
            if new_line and (question["cell"], question["line"]) == (other["cell"], other["line"]):
                return False
            same_answer = question["right"] == other["right"] or "NameError" in question["right"]
            if question["kind"] == other["kind"] and same_answer:
                return False
        return True

    def build(self, kind, place, positions, input, right, others, name="", sort=False):
        """Return a question as it is stored.

        positions: of its probes. right, others: options; one or several are right.
        """
        change, options = self.tried[place], [*right, *others]
        if not sort:
            self.chance.shuffle(options)
        else:
            options.sort(key=sort)
        return {
            "kind": kind, "cell": change.cell, "line": change.line, "old": change.old, "new": change.new,
            "name": name, "probes": [self.numbers[position] for position in positions], "input": input,
            "options": [list(option) for option in options],
            "answer": [position for position, option in enumerate(options) if option in right], "right": [*right[0]],
        }  # fmt: skip

    # Each returns a question of its kind about a change, by its place in `tried`, or None.

    def number(self, change):
        """Ask what the output is."""
        for position, probe in enumerate(self.probes):
            effect = self.effects[change][position]
            if probe.size > ON_PAPER or not effect or effect.label[0] != "numbers":
                continue
            values = self.before[position].values
            for name in [name for name in values if name in effect.names and not is_derived(name)]:
                for part in small_parts(values[name]):
                    if question := self.number_question(change, position, name, part):
                        return question
        return None

    def number_question(self, change, position, name, part):
        def value(outcome):
            value_read = outcome and not outcome.error and outcome.values.get(name)
            fits = isinstance(value_read, type(before)) and value_read.shape == before.shape
            return value_read[part] if fits else None

        before = self.before[position].values[name]
        right, options = value(self.after[change][position]), []
        if not differ(before[part], right):
            return None
        others = [value(run[position]) for run in self.after if run]
        self.chance.shuffle(others)
        for candidate in (right, before[part], *others):
            # options must differ by more than rounding
            if candidate is None or not format_numbers(candidate):
                continue
            if all((candidate - earlier).abs().max() > 0.01 for earlier in options):
                options.append(candidate)
        if len(options) < 3 or options[0] is not right:
            return None
        texts = [("value", format_numbers(candidate)) for candidate in options[:4]]
        label = name + "".join(f"[{index}]" for index in part)
        inputs = describe_inputs(self.probes[position], True)
        return self.build("number", change, [position], inputs, texts[:1], texts[1:], label)

    def which(self, change):
        """Ask which of several results would change."""
        for position, probe in enumerate(self.probes):
            effect = self.effects[change][position]
            if not effect or effect.label[0] not in ("numbers", "shape"):
                continue
            results = [name for name in self.before[position].values if not name.startswith("second_")]
            right = [name for name in results if name in effect.names][: NAMES // 2]
            others = [name for name in results if name not in effect.names][: NAMES - len(right)]
            if right and others:
                options = [[("name", name) for name in names] for names in (right, others)]
                whole = probe.size <= ON_PAPER
                order = lambda option, names=results: names.index(option[1])  # noqa: E731
                return self.build("which", change, [position], describe_inputs(probe, whole), *options, sort=order)
        return None

    def notice(self, change):
        """Ask with which inputs nobody would notice."""
        clear = [(position, effect) for position, effect in enumerate(self.effects[change]) if effect]
        inputs = {}
        for position, effect in clear:
            input_text = json.dumps(describe_inputs(self.probes[position], False))
            inputs.setdefault(input_text, (position, effect.label == ("same",)))
        unseen = [("input", json.loads(input_text)) for input_text, (_, same) in inputs.items() if same]
        seen = [("input", json.loads(input_text)) for input_text, (_, same) in inputs.items() if not same]
        if not unseen or not seen:
            return None
        shown, positions = [json.loads(text) for text in inputs], [position for position, _ in inputs.values()]
        return self.build("notice", change, positions, [], unseen, seen, sort=lambda option: shown.index(option[1]))

    def outcome(self, change):
        """Ask for the kind of effect: a shape, an error, or other numbers."""
        effects = enumerate(self.effects[change])
        clear = [position for position, effect in effects if effect and effect.label != ("error", "")]
        if not clear:
            return None
        position = clear[-1]  # the largest, where all sizes differ
        right, by_kind = self.effects[change][position].label, {"same": ("same",)}
        labels = [effects[position].label for effects in self.effects if effects[position]]
        labels = [label for label in labels if label != ("error", "")]
        self.chance.shuffle(labels)
        for label in labels:
            by_kind.setdefault(label[0], label)
        others = [label for label in [*by_kind.values(), *labels] if label != right]
        others = [label for number, label in enumerate(others) if label not in others[:number]]
        if len(others) < 2:
            return None
        inputs = describe_inputs(self.probes[position], False)
        return self.build("outcome", change, [position], inputs, [right], others[:3])


def is_derived(name):
    """Return whether a value is a gradient or belongs to a second call."""
    return is_gradient(name) or name.startswith("second_")


def small_parts(value):
    """Return the indexes of parts of a value that are small enough to write down; () means all of it."""
    if value.numel() <= IN_OPTION:
        return [()]
    if value.dim() < 2:
        return []
    return [(first, *rest) for first in range(min(len(value), 3)) for rest in small_parts(value[first])]
