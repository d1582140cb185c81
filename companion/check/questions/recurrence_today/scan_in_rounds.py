"""Question `scan_in_rounds`: all results of a scan in about log₂ T rounds, for any associative operation."""

import itertools
import math
from functools import lru_cache

import torch

from companion.check.engine.library_layers import RECURRENT, SCAN
from companion.check.engine.probe import Probe, gradients, named, values
from companion.check.engine.question_from_edits import generate_question
from companion.check.engine.run_answer import inputs_of, note_changes, seed


def combine_pairs(first, second):
    """Combine steps (a, b) of h → a h + b."""
    (a_1, b_1), (a_2, b_2) = first.chunk(2, dim=-1), second.chunk(2, dim=-1)
    return torch.cat([a_2 * a_1, a_2 * b_1 + b_2], dim=-1)


def combine_matrices(first, second):
    """Combine steps h → A h, with matrices of two rows and two columns."""
    first, second = (step.unflatten(-1, (2, 2)) for step in (first, second))
    return (second @ first).flatten(-2)


OPERATIONS = {"pairs": combine_pairs, "matrices": combine_matrices}


def operation_of(probe):
    """Return a probe's operation, in a basis that its option `basis` draws: nobody can know it without calling it."""
    operation = OPERATIONS[probe.options["operation"]]
    if "basis" not in probe.options:
        return operation
    generator = torch.Generator().manual_seed(probe.options["basis"])
    size = probe.tensors["start"].size(-1)
    basis = torch.linalg.qr(torch.randn(size, size, generator=generator, dtype=torch.float64)).Q

    def in_basis(first, second):
        result = operation(first @ basis.to(first), second @ basis.to(second))
        return result @ basis.T.to(result)

    return in_basis


def counted(operation, calls):
    """Return a function that runs an operation and takes a number from the iterator `calls`.

    The cache keeps no results: a function in C has no attribute that leads to the operation or to the count.
    """

    def combine(first, second):
        next(calls)
        return operation(first, second)

    hidden = lru_cache(maxsize=0)(combine)
    del hidden.__wrapped__
    return hidden


def call(answer, probe, outcome):
    """Call an answer, and count its calls of `combine`."""
    calls = itertools.count()  # code that finds it cannot turn it back
    seed()
    tensors = inputs_of(probe, probe.gradients or ())
    passed = {name: tensor.clone() for name, tensor in tensors.items()}
    returned = answer(counted(operation_of(probe), calls), passed["steps"], passed["start"])
    note_changes(tensors, passed, outcome)
    results = named(returned, "results")
    outcome.values |= values(results)
    if "calls allowed" in probe.options:
        made = next(calls)
        too_many, too_few = made > probe.options["calls allowed"], made < probe.options["calls needed"]
        outcome.values["calls of combine"] = torch.tensor(float(too_many - too_few))
    outcome.values |= gradients(results, {name: tensors[name] for name in probe.gradients or ()})


def scan_in_rounds_reference(combine, steps, start):
    joined = torch.cat([start[None], steps])
    rounds = math.ceil(math.log2(len(joined)))
    for number in range(rounds):
        distance = 2**number
        later = combine(joined[:-distance], joined[distance:])
        joined = torch.cat([joined[:distance], later])
    results = joined[1:]
    return results


PLACE, CHUNKS, TREE = "without_waiting#figure-said", "without_waiting#chunks-said", "without_waiting#few-lines"
ALL, ROUNDS, BEGIN = "results = joined[1:]", "math.ceil(math.log2(len(joined)))", "torch.cat([start[None], steps])"
JOIN, KEEP = "combine(joined[:-distance], joined[distance:])", "torch.cat([joined[:distance], later])"
WITHOUT_START = (BEGIN, "steps")


def one_after_another(combine, steps, start):
    results = []
    for step in steps:
        start = combine(start, step)
        results.append(start)
    return torch.stack(results)


def tree_without_rest(combine, steps, start):
    def tree(x, before):
        if len(x) == 1:
            return combine(before, x)
        even = len(x) // 2 * 2
        second = tree(combine(x[0:even:2], x[1:even:2]), before)
        first = combine(torch.cat([before, second[:-1]]), x[0:even:2])
        return torch.stack([first, second], dim=1).flatten(0, 1)

    return tree(steps, start[None])


def shorter_each_round(combine, steps, start):
    x, distance = torch.cat([start[None], steps]), 1
    while distance < len(x):
        x, distance = combine(x[:-distance], x[distance:]), 2 * distance
    return x[1:]


def zeros_in_front(combine, steps, start):
    """Lose the first places. It is a whole answer: with some other mistakes it would explain any zeros falsely."""
    x, distance = torch.cat([start[None], steps]), 1
    while distance < len(x):
        x = torch.cat([torch.zeros_like(x[:distance]), combine(x[:-distance], x[distance:])])
        distance *= 2
    return x[1:]


MISTAKES = {
    "rounds_as_many_as_steps": (PLACE, one_after_another),
    "start_ignored": ("without_waiting#associative", *WITHOUT_START, ALL, "results = joined"),
    "later_step_first": ("without_waiting#linear", JOIN, "combine(joined[distance:], joined[:-distance])"),
    "start_in_first_result_only": (
        CHUNKS, *WITHOUT_START, ALL, "results = torch.cat([combine(start[None], joined[:1]), joined[1:]])"),
    "start_comes_last": (CHUNKS, *WITHOUT_START, ALL, "results = combine(joined, start.expand_as(joined))"),
    "start_in_every_step": (CHUNKS, BEGIN, "combine(start.expand_as(steps), steps)", ALL, "results = joined"),
    "distance_not_doubled": (PLACE, "2**number", "1"),
    "distance_not_doubled~grows_by_one": ("", "2**number", "number + 1"),
    "one_round_only": (PLACE, "range(rounds)", "range(1)"),
    "last_round_missing": (PLACE, ROUNDS, "math.floor(math.log2(len(joined)))"),
    "last_round_missing~of_steps": ("", ROUNDS, "math.ceil(math.log2(len(steps)))"),
    "last_round_missing~of_steps_floor": ("", ROUNDS, "math.floor(math.log2(len(steps)))"),
    "first_round_missing": (PLACE, "range(rounds)", "range(1, rounds)"),
    "first_round_missing~one_more_at_the_end": ("", "range(rounds)", "range(1, rounds + 1)"),
    "end_joined_to_begin": (PLACE, JOIN, "combine(joined.roll(distance, 0), joined)", KEEP, "later"),
    "end_joined_to_begin~without_start": (
        "", *WITHOUT_START, JOIN, "combine(joined.roll(distance, 0), joined)", KEEP, "later",
        ALL, "results = combine(start.expand_as(joined), joined)"),
    "begin_dropped": (PLACE, KEEP, "later"),
    "begin_dropped~while_longer": ("", shorter_each_round),
    "begin_dropped~zeros": ("", zeros_in_front),
    "scanned_from_the_end": (PLACE, KEEP, "torch.cat([later, joined[-distance:]])"),
    "scanned_from_the_end~without_start": (
        "", *WITHOUT_START, KEEP, "torch.cat([later, joined[-distance:]])",
        ALL, "results = combine(start.expand_as(joined), joined)"),
    "result_before_each_step": (PLACE, ALL, "results = joined[:-1]"),
    "start_in_results": (PLACE, ALL, "results = joined"),
    "only_total_returned": (PLACE, ALL, "results = joined[-1]"),
    "odd_step_lost": (TREE, tree_without_rest),
    "odd_step_lost~at_the_end": ("", ALL, "results = joined[1 : 1 + len(steps) // 2 * 2]"),
    "results_of_pairs_only": (TREE, ALL, "results = joined[2::2]"),
}  # fmt: skip


def truth(combine, steps, start):
    """Return the results of recursive halving: the last of the first half is joined to all of the second."""
    if len(steps) == 1:
        return combine(start[None], steps)
    half = 2 ** (math.ceil(math.log2(len(steps))) - 1)
    length = 2 * half
    states = torch.cat([combine(start[None], steps[:1]), steps[1:]])
    at = torch.arange(len(steps))
    size = 1
    while size < length:
        second = at // size % 2 == 1
        ends = at[second] // size * size - 1
        states = states.index_copy(0, at[second], combine(states[ends], states[second]))
        size *= 2
    return states


def probes(draw):
    def probe(name, draw_numbers, T, N, E, operation, known=False, is_counted=False):
        tensors = {"steps": draw_numbers(T, N, E), "start": draw_numbers(N, E)}
        options = {"operation": operation}
        if not known:
            options["basis"] = int(draw.whole(10**6))
        if is_counted:
            # a call at most doubles the number of elements that are combined in a result
            options |= {"calls allowed": 3 * math.ceil(math.log2(T)) + 1, "calls needed": math.ceil(math.log2(T + 1))}
        return Probe(name, tensors, options, gradients=None if is_counted else tuple(tensors))

    return [
        probe("batch_1", draw.few, 1, 1, 2, "pairs", known=True),
        probe("batch_1", draw.few, 2, 1, 2, "pairs", known=True),
        probe("several", draw, 4, 2, 4, "matrices"),
        probe("batch_1", draw, 5, 1, 2, "pairs"),
        probe("several", draw, 7, 3, 4, "matrices"),
        probe("several", draw, 8, 3, 4, "pairs"),
        probe("several", draw, 13, 2, 2, "pairs"),
        # long enough that chunks of √T steps need too many rounds
        probe("batch_1", draw, 300, 1, 2, "pairs", is_counted=True),
    ]


QUESTION = generate_question(
    scan_in_rounds_reference,
    MISTAKES,
    truth=truth,
    by_torch=False,
    name="scan_in_rounds",
    assignment="recurrence_today",
    task=2,
    points=3,
    place=PLACE,
    call=call,
    probes=probes,
    axes={"results": ("step", "sequence", "entry"), "steps": ("step", "sequence", "entry")},
    forbidden=RECURRENT | SCAN,
)
