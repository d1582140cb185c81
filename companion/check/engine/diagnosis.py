"""From numbers to a finding: what torch gives on the probes, what the answer gave, what known mistakes would give."""

import itertools
import time
from dataclasses import replace
from functools import partial

import torch

from companion.check.engine.finding import GENERAL, NO_ANSWER, NOTES, Finding
from companion.check.engine.question import plain
from companion.check.engine.run_answer import one_thread

# Wide enough for an answer that computes in float32, far below what any mistake does to weights from U(-1, 1).
RTOL, ATOL = 1e-4, 1e-5
MOST_COMPARED = 2000  # of an answer's numbers, each with each of the right ones: it may have given millions
PAIRS_EXTENDED = 200  # of which a third mistake is tried beside
# Probes with a batch of one. That of `batch_1` is the only size in it that is 1.
ALONE = ("one_number", "two_steps", "batch_1")
# What a probe is called for others may have as well. "It is right with one layer" is true if no probe with one is
# wrong.
TRAITS = {
    "batch_1": lambda probe: probe.name in ALONE,
    "no_state": lambda probe: not {"h", "h_0"} & probe.tensors.keys(),
    "batch_first": lambda probe: probe.options.get("batch_first"),
    "flat": lambda probe: probe.tensors["indices"].dim() == 1,
    "no_padding": lambda probe: probe.options.get("padding_idx") is None,
    "one_layer": lambda probe: probe.options.get("num_layers", 1) == 1,
    "one_direction": lambda probe: not probe.options.get("bidirectional"),
    "no_projection": lambda probe: not probe.options.get("proj_size"),
    "equal_lengths": lambda probe: len(probe.tensors["lengths"].unique()) == 1,
}
WITHOUT_FORWARD = 'is missing the required "forward" function'  # so says nn.Module


def close(one, other):
    """Where two tensors of a shape agree. Not a number agrees with not a number."""
    return torch.isclose(one, other, rtol=RTOL, atol=ATOL, equal_nan=True)


def agree(one, other):
    return one.shape == other.shape and bool(close(one, other).all())


def is_gradient(name):
    return "grad of " in name


def wrong_values(expected, got):
    """The names of the values in which two outcomes differ; those that one of them lacks differ."""
    names = [*expected.values, *(name for name in got.values if name not in expected.values)]
    return [
        name
        for name in names
        if name not in expected.values or name not in got.values or not agree(expected.values[name], got.values[name])
    ]


def same_error(one, other, text=False):
    """Whether two errors are alike; of exceptions the type counts, and their text if it is asked for."""
    if one is None or other is None:
        return one is other
    if one["kind"] == "raises_error" == other["kind"]:
        return one["type"] == other["type"] and (not text or one.get("text") == other.get("text"))
    return one["kind"] == other["kind"] and one["said"].get("got") == other["said"].get("got")


def alike(expected, got, gradients=True):
    """Whether two outcomes are of answers that do the same; without their gradients, if so asked."""
    if not same_error(expected.error, got.error):
        return False
    if any(expected.notes.get(note) != got.notes.get(note) for note in ("missing", "shapes")):
        return False
    return not any(gradients or not is_gradient(name) for name in wrong_values(expected, got))


@one_thread()
def diagnose(bank, got, seconds=1.2):
    """The finding about an answer with the outcomes `got` on the bank's probes.

    seconds: how long several mistakes are tried, of the processor's time: what else runs beside is to change no name.
    """
    notes = {}
    for outcome in got:
        notes |= outcome.notes
    if "library" in notes:
        return Finding(["library_layer"], notes=notes)
    extra = [NOTES[note] for note in NOTES if note in notes]
    numbers = list(range(len(got)))
    right = [number for number in numbers if alike(bank.expected[number], got[number])]
    if len(right) == len(got):
        return Finding(extra, notes=notes)

    finding = evidence(bank, got, right)
    finding.notes = notes
    errors = {named_error(outcome.error) if outcome.error else "" for outcome in got}
    if len(errors) == 1 and errors <= NO_ANSWER:
        finding.mistakes, finding.probe = [*errors], None
        finding.error = None if errors <= {"not_written"} else finding.error
        return finding
    until = time.process_time() + seconds
    calm = [number for number in numbers if got[number].error is None]
    blind = [number for number in numbers if not alike(bank.expected[number], got[number], gradients=False)]
    if len(calm) == len(got) and no_gradient(got):
        # one cut takes all gradients: not each that is gone is a mistake of its own
        named = explain(bank, got, numbers, until=0)
        if not named and blind:
            values = explain(bank, got, numbers, until, gradients=False)
            both = explain(bank, got, numbers, until) if len(values) == 1 else []
            # if one known cut beside the wrong value does it, that is named
            named = both if len(both) == 2 and values[0] in both else values and [*values, "no_gradient"]
    else:
        named = explain(bank, got, numbers, until)
    if not named and "changed" in notes and any(map(overwritten, bank.expected, got)):
        # torch found no way back through what was overwritten: one mistake, not two, if the way there is right
        got = [with_way_back(*pair) if overwritten(*pair) else pair[1] for pair in zip(bank.expected, got)]
        right = [number for number in numbers if alike(bank.expected[number], got[number])]
        if len(right) == len(got):
            finding.mistakes = extra
            return finding
        finding = evidence(bank, got, right)
        finding.notes = notes
        calm = [number for number in numbers if got[number].error is None]
        named = explain(bank, got, numbers, until, gradients=False)
    if not named and len(calm) < len(got) and not set(calm) <= set(right):
        # the error may be a mistake beside a known one
        beside = general(bank, got, right)
        named = explain(bank, got, calm, until)
        named = named and [*named, *beside]
    finding.known = bool(named)
    finding.mistakes = [*(named or general(bank, got, right)), *extra]
    return finding


def explain(bank, got, numbers, until, gradients=True):
    """The smallest set of known mistakes that gives what the answer gave on the probes of these numbers, as a list.

    until: when to stop trying several; 0 to try none but one at a time.
    """
    smallest, *others = numbers
    raised = {number for number in numbers if got[number].error and got[number].error["kind"] == "raises_error"}
    calm = [number for number in numbers if number not in raised]
    # Errors of a type are raised for many reasons. Where nothing else is wrong, they are the same if they say the same.
    mute = not any(not alike(bank.expected[number], got[number], gradients) for number in calm)

    def say_the_same(mistakes):
        return all(same_error(bank.glance(mistakes, number).error, got[number].error, text=True) for number in raised)

    def fits(mistakes):
        # without gradients it is quick, and most are ruled out by the smallest probe, or by that which was the last to
        for number in (smallest, *others):
            if not alike(bank.glance(mistakes, number), got[number], gradients=False):
                if number != smallest:
                    others.remove(number)
                    others.insert(0, number)
                return False
        if mute and (len(mistakes) > 1 or not calm) and not say_the_same(mistakes):
            return False
        return not gradients or all(alike(bank.outcome(mistakes, number), got[number]) for number in numbers)

    for mistakes in bank.singles():
        if fits(mistakes):
            return [plain(name) for name in mistakes]
    if time.process_time() > until:
        return []
    order = {name: place for place, name in enumerate(bank.question.mistakes)}
    unlikely = likelihood(bank, got, numbers[:2], order)

    def first(sets):
        for mistakes in sets:
            if fits(mistakes):
                return [plain(name) for name in sorted(mistakes, key=order.get)]
            if time.process_time() > until:
                break
        return []

    pairs = sorted(bank.pairs(), key=unlikely)
    if found := first(pairs):
        return found
    # a third mistake is found by what the others do to numbers: where none came, it would be guessed
    if time.process_time() > until or not any(got[number].values for number in numbers):
        return []

    # Of three mistakes two may explain a value that the third leaves alone.
    there = got[smallest].values
    wrong = wrong_values(bank.expected[smallest], got[smallest])
    wrong = [name for name in wrong if name in there and not is_gradient(name)]

    def explains(pair):
        made = bank.glance(pair, smallest).values
        return sum(name in made and agree(made[name], there[name]) for name in wrong)

    pairs = sorted(pairs, key=lambda pair: -explains(pair))  # those that explain as much stay in their order
    best = itertools.groupby(pairs[:PAIRS_EXTENDED], explains)
    return first(itertools.chain.from_iterable(sorted(bank.extended([*equal]), key=unlikely) for _, equal in best))


def likelihood(bank, got, numbers, order):
    """By what to sort several mistakes: by what each does alone on the probes of these numbers.

    First those whose wrong numbers stand in the answer, wherever they stand there: one of two mistakes is often still
    to be seen where the other does nothing, or has only moved it. Then those that make the same values wrong, as most
    pairs do; and of these the plausible ones.
    """

    def traces(outcome_of):
        """The wrong values' names, and which of the answer's wrong numbers are there."""
        names, there = set(), set()
        for number in numbers:
            outcome, expected = outcome_of(number), bank.expected[number]
            wrong = wrong_values(expected, outcome)
            names |= {(number, name) for name in wrong if not is_gradient(name)}
            there |= {(number, place) for place in among(strange[number], outcome).nonzero().flatten().tolist()}
        return names, there

    strange = {}
    for number in numbers:
        found = all_numbers(got[number])
        strange[number] = found[~among(found, bank.expected[number])]
    names, there = traces(got.__getitem__)
    alone = {name: traces(partial(bank.glance, frozenset([name]))) for name in bank.question.mistakes}

    def unlikely(mistakes):
        wrong, stand = (set().union(*parts) for parts in zip(*map(alone.get, mistakes)))
        # how many does not count: of numbers with one decimal some are there by chance
        return not there & stand, len(names ^ wrong), max(map(order.get, mistakes))

    return unlikely


def all_numbers(outcome):
    """All numbers of an outcome but its gradients, in one row, as far as they are compared."""
    found = [value.flatten() for name, value in outcome.values.items() if not is_gradient(name)]
    return torch.cat([torch.empty(0, dtype=torch.float64), *found])[:MOST_COMPARED]


def among(numbers, outcome):
    """Which of the numbers are in the outcome, too."""
    return close(all_numbers(outcome), numbers.unsqueeze(1)).any(dim=1)


def no_gradient(got):
    """Whether an answer's gradients are zero, all of them: no way leads back from what it returned."""
    found = [value for outcome in got for name, value in outcome.values.items() if is_gradient(name)]
    return bool(found) and not any(value.any() for value in found)


def general(bank, got, right):
    """What can be said of an answer whose mistake is in no bank."""
    batch_1 = {number for number, probe in enumerate(bank.probes) if probe.name in ALONE}
    named = "batch_1" in {bank.probes[number].name for number in right}
    if named and set(right) == batch_1 and all(got[n].error for n in range(len(got)) if n not in batch_1):
        return ["single_batch_only"]
    errors = [named_error(outcome.error) for outcome in got if outcome.error]
    if "not_written" in errors and len(errors) < len(got):
        errors = ["raises_error"]
    if errors:
        return [min(errors, key=GENERAL.index)]
    if any(value.isnan().any() for outcome in got for value in outcome.values.values()):
        return ["not_a_number"]
    lost = {name for one, other in zip(bank.expected, got) for name in one.values.keys() ^ other.values.keys()}
    if lost:
        named = {name for name in lost if not is_gradient(name)}
        listed = all(name.endswith("]") for name in named)  # the results of a list go by their places
        return ["parameter_missing" if not named else "wrong_count" if listed else "wrong_names"]
    wrong = {name for one, other in zip(bank.expected, got) for name in wrong_values(one, other)}
    cut = ["no_gradient"] if no_gradient(got) else []
    if any(shape(one, name) != shape(other, name) for one, other in zip(bank.expected, got) for name in wrong):
        return ["wrong_shape", *cut]
    if all(is_gradient(name) for name in wrong):
        return cut or ["wrong_gradient"]
    if all(name.startswith("second_") or is_gradient(name) for name in wrong):
        return ["remembers_last_call"]
    return ["wrong_values", *cut]


def overwritten(expected, got):
    """Whether all that an outcome lacks is its gradients, as the answer changed in place what they need."""
    lacking = expected.values.keys() - got.values.keys()
    return "inplace operation" in (got.error or {}).get("text", "") and all(map(is_gradient, lacking))


def with_way_back(expected, got):
    """The same outcome as if its gradients were right."""
    back = {name: value for name, value in expected.values.items() if is_gradient(name)}
    return replace(got, error=None, values=back | got.values)


def lacking(expected, got):
    """The names that one outcome has and the other lacks, both ways: those of parameters, or else of values."""
    if "missing" in got.notes:
        return got.notes["missing"], []
    ours, theirs = expected.values, got.values
    return [name for name in ours if name not in theirs], [name for name in theirs if name not in ours]


def named_error(error):
    """The name of the mistake that an error is."""
    if error.get("type") == "SystemExit":
        return "stopped_early"
    if error.get("type") != "NotImplementedError":
        return error["kind"]
    # torch raises it too, where it lacks an operation; then it says which
    raised = "raise NotImplementedError" in error.get("code", "")
    return "not_written" if raised or not error["text"] or WITHOUT_FORWARD in error["text"] else error["kind"]


def shape(outcome, name):
    return outcome.values[name].shape if name in outcome.values else None


def shares(name, probe):
    """Whether a probe has what another is called for."""
    return probe.name == name or name in TRAITS and bool(TRAITS[name](probe))


def evidence(bank, got, right):
    """A finding yet without names: where the answer is wrong, the smallest probe first."""
    wrong = [number for number in range(len(got)) if number not in right]
    finding = Finding([], probe=wrong[0], right=[bank.probes[number].name for number in right])
    finding.right = [name for name in finding.right if not any(shares(name, bank.probes[number]) for number in wrong)]
    finding.error = next((outcome.error for outcome in got if outcome.error), None)
    finding.stops = next((number for number in wrong if got[number].error), None)
    # a probe that shows a wrong number says more than one that ended in an error
    shown = {}
    for number in wrong:
        names = [name for name in wrong_values(bank.expected[number], got[number]) if name in got[number].values]
        if names:
            shown[number] = names
    if not shown:
        finding.missing, finding.unasked = lacking(bank.expected[wrong[0]], got[wrong[0]])
        return finding

    # and a wrong shape more than a wrong number
    def misshapen(number, name):
        return shape(bank.expected[number], name) != shape(got[number], name)

    finding.probe = number = min(shown, key=lambda number: not any(misshapen(number, name) for name in shown[number]))
    names = shown[number]
    finding.missing, finding.unasked = lacking(bank.expected[number], got[number])
    finding.stops = number if got[number].error else finding.stops
    finding.compared = [*dict.fromkeys(name for one in bank.expected for name in one.values)]
    finding.wrong = list(
        dict.fromkeys(name for one, other in zip(bank.expected, got) for name in wrong_values(one, other))
    )
    # an output says more than a gradient
    finding.value = name = min(names, key=lambda name: (is_gradient(name), not misshapen(number, name)))
    ours, theirs = bank.expected[number].values.get(name), got[number].values[name]
    finding.expected, finding.got = ours, theirs
    if ours is not None and ours.shape == theirs.shape:
        finding.first = tuple(int(place) for place in (~close(ours, theirs)).nonzero()[0])
        pairs = [
            (one.values[name], other.values[name])
            for one, other in zip(bank.expected, got)
            if name in one.values and shape(one, name) == shape(other, name) and one.values[name].numel()
        ]
        finding.largest = max(float((one - other).abs().nan_to_num(torch.inf).max()) for one, other in pairs)
        amiss = [~close(one, other) for one, other in pairs]
        places = max((one for one in amiss if one.any()), key=torch.numel)
        finding.spread = tuple(int(place) for place in places.nonzero()[0]), int(places.sum()), places.numel()
    return finding
