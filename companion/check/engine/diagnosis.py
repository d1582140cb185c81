"""Diagnose an answer: compare its outcomes with torch's, and with those of known mistakes and pairs of mistakes."""

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
MAX_COMPARED = 2000  # numbers of an answer: each is compared with each right one, and there may be millions
PAIRS_EXTENDED = 200  # pairs to which a third mistake is added
# Probes with a batch of one. In `batch_1` it is the only size that is 1.
BATCH_OF_ONE = ("one_number", "two_steps", "batch_1")
# A probe is named after a trait that other probes may have as well: "right with one layer" is said only if all probes
# with one layer are right, and no other.
TRAITS = {
    "batch_1": lambda probe: probe.name in BATCH_OF_ONE,
    "no_state": lambda probe: not {"h", "h_0"} & probe.tensors.keys(),
    "batch_first": lambda probe: probe.options.get("batch_first"),
    "flat": lambda probe: probe.tensors["indices"].dim() == 1,
    "no_padding": lambda probe: probe.options.get("padding_idx") is None,
    "one_layer": lambda probe: probe.options.get("num_layers", 1) == 1,
    "one_direction": lambda probe: not probe.options.get("bidirectional"),
    "no_projection": lambda probe: not probe.options.get("proj_size"),
    "equal_lengths": lambda probe: len(probe.tensors["lengths"].unique()) == 1,
    "one_step": lambda probe: "v" in probe.tensors and probe.tensors["v"].size(1) == 1,
    "one_step_pieces": lambda probe: max(probe.options["lengths"]) < 2,
    "no_zero_factor": lambda probe: bool(probe.tensors["a"].all()),
    "no_zero_product": lambda probe: bool(probe.tensors["log_alpha"].sum(1).exp().all()),
}
WITHOUT_FORWARD = 'is missing the required "forward" function'  # from the error of nn.Module


def close(first, second):
    """Return where two tensors of one shape agree; NaN agrees with NaN."""
    return torch.isclose(first, second, rtol=RTOL, atol=ATOL, equal_nan=True)


def agree(first, second):
    """Return True if two tensors have one shape and agree everywhere."""
    return first.shape == second.shape and bool(close(first, second).all())


def is_gradient(name):
    """Return True if a value of this name is a gradient."""
    return "grad of " in name


def wrong_values(expected, got):
    """Return the names of the values in which two outcomes differ, or which one of them lacks."""
    names = [*expected.values, *(name for name in got.values if name not in expected.values)]
    return [
        name
        for name in names
        if name not in expected.values or name not in got.values or not agree(expected.values[name], got.values[name])
    ]


def same_error(first, second, text=False):
    """Return True if two errors are alike. Exceptions are compared by type, and by text if `text` is True."""
    if first is None or second is None:
        return first is second
    if first["kind"] == "raises_error" == second["kind"]:
        return first["type"] == second["type"] and (not text or first.get("text") == second.get("text"))
    return first["kind"] == second["kind"] and first["said"].get("got") == second["said"].get("got")


def alike(expected, got, gradients=True):
    """Return True if two outcomes are those of answers that do the same. gradients: False ignores gradients."""
    if not same_error(expected.error, got.error):
        return False
    if any(expected.notes.get(note) != got.notes.get(note) for note in ("missing", "shapes")):
        return False
    return not any(gradients or not is_gradient(name) for name in wrong_values(expected, got))


@one_thread()
def diagnose(bank, got, seconds=1.2):
    """Return the finding about an answer with the outcomes `got` on the bank's probes.

    seconds: limit for the search for several mistakes, in processor time, so that other load does not change results.
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
    errors = {mistake_of_error(outcome.error) if outcome.error else "" for outcome in got}
    if len(errors) == 1 and errors <= NO_ANSWER:
        finding.mistakes, finding.probe = [*errors], None
        finding.error = None if errors <= {"not_written"} else finding.error
        return finding
    until = time.process_time() + seconds
    finished = [number for number in numbers if got[number].error is None]
    wrong_without_gradients = [
        number for number in numbers if not alike(bank.expected[number], got[number], gradients=False)
    ]
    if len(finished) == len(got) and all_gradients_zero(got):
        # one cut removes all gradients: each missing one is not a mistake of its own
        named = explain(bank, got, numbers, until=0)
        if not named and wrong_without_gradients:
            values = explain(bank, got, numbers, until, gradients=False)
            both = explain(bank, got, numbers, until) if len(values) == 1 else []
            # if a known mistake that cuts the gradient explains the rest, report it instead of `no_gradient`
            named = both if len(both) == 2 and values[0] in both else values and [*values, "no_gradient"]
    else:
        named = explain(bank, got, numbers, until)
    if not named and "changed" in notes and any(map(overwritten, bank.expected, got)):
        # torch has no gradients because the answer overwrote its input: one mistake, not two, if the values are right
        got = [with_expected_gradients(*pair) if overwritten(*pair) else pair[1] for pair in zip(bank.expected, got)]
        right = [number for number in numbers if alike(bank.expected[number], got[number])]
        if len(right) == len(got):
            finding.mistakes = extra
            return finding
        finding = evidence(bank, got, right)
        finding.notes = notes
        finished = [number for number in numbers if got[number].error is None]
        named = explain(bank, got, numbers, until, gradients=False)
    if not named and len(finished) < len(got) and not set(finished) <= set(right):
        # the error may come from another mistake beside a known one
        others = general_mistakes(bank, got, right)
        named = explain(bank, got, finished, until)
        named = named and [*named, *others]
    finding.known = bool(named)
    finding.mistakes = [*(named or general_mistakes(bank, got, right)), *extra]
    return finding


def explain(bank, got, numbers, until, gradients=True):
    """Return the smallest set of known mistakes with the outcomes of the answer on these probes, as a list.

    numbers: of the probes, the smallest first. until: process time at which to stop; 0 tries single mistakes only.
    """
    smallest, *others = numbers
    raised = {number for number in numbers if got[number].error and got[number].error["kind"] == "raises_error"}
    finished = [number for number in numbers if number not in raised]
    # Errors of one type have many reasons. Where nothing else is wrong, their texts are compared as well.
    only_errors = not any(not alike(bank.expected[number], got[number], gradients) for number in finished)

    def same_texts(mistakes):
        return all(
            same_error(bank.quick_outcome(mistakes, number).error, got[number].error, text=True) for number in raised
        )

    def fits(mistakes):
        # quick test first: the smallest probe, or the one that ruled out the last set, rules out most sets
        for number in (smallest, *others):
            if not alike(bank.quick_outcome(mistakes, number), got[number], gradients=False):
                if number != smallest:
                    others.remove(number)
                    others.insert(0, number)
                return False
        if only_errors and (len(mistakes) > 1 or not finished) and not same_texts(mistakes):
            return False
        return not gradients or all(alike(bank.outcome(mistakes, number), got[number]) for number in numbers)

    for mistakes in bank.singles():
        if fits(mistakes):
            return [plain(name) for name in mistakes]
    if time.process_time() > until:
        return []
    order = {name: place for place, name in enumerate(bank.question.mistakes)}
    likely_first = sort_key(bank, got, numbers[:2], order)

    def first_fitting(sets):
        for mistakes in sets:
            if fits(mistakes):
                return [plain(name) for name in sorted(mistakes, key=order.get)]
            if time.process_time() > until:
                break
        return []

    pairs = sorted(bank.pairs(), key=likely_first)
    if mistakes := first_fitting(pairs):
        return mistakes
    # three mistakes are recognised by their numbers: without any, the result would be a guess
    if time.process_time() > until or not any(got[number].values for number in numbers):
        return []

    # Two of three mistakes may explain a value that the third does not change.
    values = got[smallest].values
    wrong = wrong_values(bank.expected[smallest], got[smallest])
    wrong = [name for name in wrong if name in values and not is_gradient(name)]

    def explains(pair):
        made = bank.quick_outcome(pair, smallest).values
        return sum(name in made and agree(made[name], values[name]) for name in wrong)

    pairs = sorted(pairs, key=lambda pair: -explains(pair))  # a stable sort
    best = itertools.groupby(pairs[:PAIRS_EXTENDED], explains)
    return first_fitting(
        itertools.chain.from_iterable(sorted(bank.extended([*equal]), key=likely_first) for _, equal in best)
    )


def sort_key(bank, got, numbers, order):
    """Return a sort key for sets of mistakes, the likely ones first, by the effect of each mistake alone.

    First come sets whose wrong numbers occur anywhere in the answer: the trace of one of two mistakes often remains
    where the other has no effect, or has only moved it. Then those that make the same values wrong, as most pairs do;
    among these the plausible ones.
    """

    def traces(outcome_of):
        """Return the names of the wrong values, and the answer's wrong numbers that occur in the outcome."""
        names, occurring = set(), set()
        for number in numbers:
            outcome, expected = outcome_of(number), bank.expected[number]
            wrong = wrong_values(expected, outcome)
            names |= {(number, name) for name in wrong if not is_gradient(name)}
            occurring |= {
                (number, place) for place in occur_in(outcome, wrong_numbers[number]).nonzero().flatten().tolist()
            }
        return names, occurring

    wrong_numbers = {}
    for number in numbers:
        answered = all_numbers(got[number])
        wrong_numbers[number] = answered[~occur_in(bank.expected[number], answered)]
    names, occurring = traces(got.__getitem__)
    alone = {name: traces(partial(bank.quick_outcome, frozenset([name]))) for name in bank.question.mistakes}

    def likely_first(mistakes):
        wrong, traced = (set().union(*parts) for parts in zip(*map(alone.get, mistakes)))
        # any common number counts, not how many: with one decimal some agree by chance
        return not occurring & traced, len(names ^ wrong), max(map(order.get, mistakes))

    return likely_first


def all_numbers(outcome):
    """Return the first `MAX_COMPARED` numbers of an outcome without its gradients, in one row."""
    rows = [value.flatten() for name, value in outcome.values.items() if not is_gradient(name)]
    return torch.cat([torch.empty(0, dtype=torch.float64), *rows])[:MAX_COMPARED]


def occur_in(outcome, numbers):
    """Return which of the numbers occur in the outcome, as a bool tensor."""
    return close(all_numbers(outcome), numbers.unsqueeze(1)).any(dim=1)


def all_gradients_zero(got):
    """Return True if there are gradients and all are zero: the answer's results do not depend on its inputs."""
    gradients = [value for outcome in got for name, value in outcome.values.items() if is_gradient(name)]
    return bool(gradients) and not any(value.any() for value in gradients)


def general_mistakes(bank, got, right):
    """Return the general mistakes of an answer whose mistake is not in the bank. right: numbers of right probes."""
    batch_1 = {number for number, probe in enumerate(bank.probes) if probe.name in BATCH_OF_ONE}
    named = "batch_1" in {bank.probes[number].name for number in right}
    if named and set(right) == batch_1 and all(got[n].error for n in range(len(got)) if n not in batch_1):
        return ["single_batch_only"]
    errors = [mistake_of_error(outcome.error) for outcome in got if outcome.error]
    if "not_written" in errors and len(errors) < len(got):
        errors = ["raises_error"]
    if errors:
        mistake = min(errors, key=GENERAL.index)
        return ["parameter_missing" if mistake == "gates_apart" and not bank.question.by_torch else mistake]
    # the smallest wrong probe decides: elsewhere these may be consequences
    first = next(number for number in range(len(got)) if number not in right)
    ours, theirs = bank.expected[first].values, got[first].values
    numbers = [
        (ours.get(name), theirs[name]) for name in wrong_values(bank.expected[first], got[first]) if name in theirs
    ]
    for name, found in (("not_a_number", torch.isnan), ("infinite", torch.isinf)):
        if any(found(theirs).any() and (ours is None or not found(ours).any()) for ours, theirs in numbers):
            return [name]
    lost = {name for pair in zip(bank.expected, got) for name in pair[0].values.keys() ^ pair[1].values.keys()}
    if lost:
        named = {name for name in lost if not is_gradient(name)}
        listed = all(name.endswith("]") for name in named)  # results in a list are named by their places
        return ["parameter_missing" if not named else "wrong_count" if listed else "wrong_names"]
    wrong = {name for pair in zip(bank.expected, got) for name in wrong_values(*pair)}
    cut = ["no_gradient"] if all_gradients_zero(got) else []
    if any(shape(ours, name) != shape(theirs, name) for ours, theirs in zip(bank.expected, got) for name in wrong):
        return ["wrong_shape", *cut]
    if all(is_gradient(name) for name in wrong):
        return cut or ["wrong_gradient"]
    if all(name.startswith("second_") or is_gradient(name) for name in wrong):
        return ["remembers_last_call"]
    return ["wrong_values", *cut]


def overwritten(expected, got):
    """Return True if an outcome lacks only gradients, because the answer changed in place what they need."""
    missing = expected.values.keys() - got.values.keys()
    return "inplace operation" in (got.error or {}).get("text", "") and all(map(is_gradient, missing))


def with_expected_gradients(expected, got):
    """Return the outcome `got` with the gradients of `expected` and without its error."""
    gradients = {name: value for name, value in expected.values.items() if is_gradient(name)}
    return replace(got, error=None, values=gradients | got.values)


def name_differences(expected, got):
    """Return the names of values (or of parameters, if some are missing) that `got` lacks, and that only `got` has."""
    if "missing" in got.notes:
        return got.notes["missing"], []
    ours, theirs = expected.values, got.values
    return [name for name in ours if name not in theirs], [name for name in theirs if name not in ours]


def mistake_of_error(error):
    """Return the name of the mistake for an error."""
    if error.get("type") == "SystemExit":
        return "stopped_early"
    if error.get("type") != "NotImplementedError":
        return error["kind"]
    # torch raises it as well, with a text, where it lacks an operation
    raised = "raise NotImplementedError" in error.get("code", "")
    return "not_written" if raised or not error["text"] or WITHOUT_FORWARD in error["text"] else error["kind"]


def shape(outcome, name):
    """Return the shape of a value, or None."""
    return outcome.values[name].shape if name in outcome.values else None


def has_trait(probe, name):
    """Return True if `probe` has the trait `name`, after which it or another probe is named."""
    return probe.name == name or name in TRAITS and bool(TRAITS[name](probe))


def evidence(bank, got, right):
    """Return a finding without mistakes: where the answer is wrong, on the smallest probe that shows it."""
    wrong = [number for number in range(len(got)) if number not in right]
    finding = Finding([], probe=wrong[0])
    names = dict.fromkeys(bank.probes[number].name for number in right)
    finding.right = [
        name for name in names if right == [n for n, probe in enumerate(bank.probes) if has_trait(probe, name)]
    ]
    finding.error = next((outcome.error for outcome in got if outcome.error), None)
    finding.error_probe = next((number for number in wrong if got[number].error), None)
    # prefer a probe with a wrong number to one that ended in an error
    shown = {}
    for number in wrong:
        names = [name for name in wrong_values(bank.expected[number], got[number]) if name in got[number].values]
        if names:
            shown[number] = names
    if not shown:
        finding.missing, finding.unasked = name_differences(bank.expected[wrong[0]], got[wrong[0]])
        return finding

    # prefer a wrong shape to a wrong number
    def misshapen(number, name):
        return shape(bank.expected[number], name) != shape(got[number], name)

    finding.probe = number = min(shown, key=lambda number: not any(misshapen(number, name) for name in shown[number]))
    finding.smallest, names = number == wrong[0], shown[number]
    finding.missing, finding.unasked = name_differences(bank.expected[number], got[number])
    finding.error_probe = number if got[number].error else finding.error_probe

    # of an answer that ended in an error, count what it gave before
    def named(names_of):
        pairs = [(names_of(*pair), pair[1]) for pair in zip(bank.expected, got)]
        return [*dict.fromkeys(name for names, ran in pairs for name in names if not ran.error or name in ran.values)]

    finding.compared, finding.wrong = named(lambda ours, theirs: ours.values), named(wrong_values)
    # prefer an output to a gradient
    finding.value = name = min(names, key=lambda name: (is_gradient(name), not misshapen(number, name)))
    ours, theirs = bank.expected[number].values.get(name), got[number].values[name]
    finding.expected, finding.got = ours, theirs
    if ours is not None and ours.shape == theirs.shape:
        finding.first = tuple(int(place) for place in (~close(ours, theirs)).nonzero()[0])
        pairs = [
            (right.values[name], answered.values[name])
            for right, answered in zip(bank.expected, got)
            if name in right.values and shape(right, name) == shape(answered, name) and right.values[name].numel()
        ]
        finding.largest = max(
            float((right - answered).abs().nan_to_num(torch.inf, torch.inf).max()) for right, answered in pairs
        )
        differing = [~close(right, answered) for right, answered in pairs]
        places = max((places for places in differing if places.any()), key=torch.numel)
        finding.spread = tuple(int(place) for place in places.nonzero()[0]), int(places.sum()), places.numel()
    return finding
