"""Answers to the question `scan_in_rounds`."""

import torch

from tests.check.answers import Program

SCAN = """
def scan_in_rounds(combine, steps, start):
    x = torch.cat([start.unsqueeze(0), steps], dim=0)
    n = x.shape[0]
    d = 1
    while d < n:
        front = x[:d]
        x = torch.cat([front, combine(x[:n - d], x[d:])], dim=0)
        d = d * 2
    return x[1:]
"""
BEGIN, RETURN = "torch.cat([start.unsqueeze(0), steps], dim=0)", "x[1:]"
ROUND = "torch.cat([front, combine(x[:n - d], x[d:])], dim=0)"
NO_START = [(BEGIN, "steps")]
TREE = """
def scan_in_rounds(combine, steps, start):
    def tree(x, before):
        if len(x) == 1:
            return combine(before, x)
        even = len(x) - len(x) % 2
        second = tree(combine(x[0:even:2], x[1:even:2]), before)
        first = combine(torch.cat([before, second[:-1]]), x[0:even:2])
        results = torch.stack([first, second], dim=1).flatten(0, 1)
        if even < len(x):
            results = torch.cat([results, combine(results[-1:], x[-1:])])
        return results

    return tree(steps, start[None])
"""
WRONG = {
    "rounds_as_many_as_steps": """
        def scan_in_rounds(combine, steps, start):
            state, results = start, []
            for step in steps:
                state = combine(state, step)
                results.append(state)
            return torch.stack(results)
    """,
    "start_ignored": [*NO_START, (RETURN, "x")],
    "later_step_first": [("combine(x[:n - d], x[d:])", "combine(x[d:], x[:n - d])")],
    "start_in_first_result_only": [
        *NO_START, (f"return {RETURN}", "return torch.cat([combine(start, x[0])[None], x[1:]])")],
    "start_comes_last": [*NO_START, (RETURN, "combine(x, start.expand_as(x))")],
    "start_in_every_step": [(BEGIN, "combine(start.expand(len(steps), -1, -1), steps)"), (RETURN, "x")],
    "distance_not_doubled": """
        def scan_in_rounds(combine, steps, start):
            x = torch.cat([start[None], steps])
            for d in range(1, math.ceil(math.log2(len(x))) + 1):
                x = torch.cat([x[:d], combine(x[:-d], x[d:])])
            return x[1:]
    """,
    "one_round_only": [("while d < n", "if d < n")],
    "last_round_missing": [("while d < n", "while 2 * d <= n")],
    "first_round_missing": [("d = 1\n", "d = 2\n")],
    "end_joined_to_begin": [(ROUND, "combine(torch.roll(x, d, 0), x)")],
    "begin_dropped": [(ROUND, "combine(x[:-d], x[d:])"), ("while d < n", "while d < len(x)")],
    "scanned_from_the_end": [(ROUND, "torch.cat([combine(x[:n - d], x[d:]), x[n - d:]], dim=0)")],
    "result_before_each_step": [(RETURN, "x[:-1]")],
    "start_in_results": [(RETURN, "x")],
    "only_total_returned": [(RETURN, "x[-1]")],
    "odd_step_lost": TREE.replace("if even < len(x):", "if False:"),
    "results_of_pairs_only": [(RETURN, "x[2::2]")],
}  # fmt: skip

RIGHT = {
    "tree": TREE,
    "halves, all at once": """
        def scan_in_rounds(combine, steps, start):
            T, E = len(steps), steps.shape[2]
            x = torch.cat([start[None], steps])
            size = 1
            while size < len(x):
                places = torch.arange(len(x))
                later = places[(places // size) % 2 == 1]
                ends = later // size * size - 1
                new = combine(x[ends], x[later])
                x = x.clone()
                x[later] = new
                size *= 2
            return x[1:]
    """,
    "start joined at the end": [*NO_START, (RETURN, "combine(start.expand_as(x), x)")],
    "start joined to the first step": [
        (BEGIN, "torch.cat([combine(start, steps[0])[None], steps[1:]])"), (RETURN, "x")],
    "rounds counted": """
        def scan_in_rounds(combine, steps, start):
            x = torch.cat([start[None], steps])
            for r in range(len(x).bit_length()):
                d = 1 << r
                x = torch.cat([x[:d], combine(x[:-d], x[d:])]) if d < len(x) else x
            return x[1:]
    """,
    "batch first": """
        def scan_in_rounds(combine, steps, start):
            x = torch.cat([start[None], steps]).transpose(0, 1)
            d = 1
            while d < x.shape[1]:
                x = torch.cat([x[:, :d], combine(x[:, :-d], x[:, d:])], dim=1)
                d *= 2
            return x.transpose(0, 1)[1:]
    """,
    "first places kept by where": """
        def scan_in_rounds(combine, steps, start):
            x, d = torch.cat([start[None], steps]), 1
            while d < len(x):
                early = torch.arange(len(x))[:, None, None] < d
                x = torch.where(early, x, combine(x.roll(d, 0), x))
                d += d
            return x[1:]
    """,
    "recursion": """
        def scan_in_rounds(combine, steps, start):
            def scanned(x, d):
                return x if d >= len(x) else scanned(torch.cat([x[:d], combine(x[:-d], x[d:])]), 2 * d)
            return scanned(torch.cat([start[None], steps]), 1)[1:]
    """,
    "in place": """
        def scan_in_rounds(combine, steps, start):
            x = torch.cat([start[None], steps])
            d = 1
            while d < len(x):
                new = combine(x[:-d].clone(), x[d:].clone())
                x[d:] = new
                d *= 2
            return x[1:]
    """,
    "in float32": "lambda combine, steps, start: scan_in_rounds(combine, steps.float(), start.float())",
}  # fmt: skip


def by_torch(combine, steps, start):
    from torch._higher_order_ops.associative_scan import associative_scan

    return associative_scan(combine, torch.cat([start[None], steps]), 0, combine_mode="generic")[1:]


ALSO_WRONG = [
    ("library_layer", by_torch),
    # a round is many calls
    ("rounds_as_many_as_steps", """
        def scan_in_rounds(combine, steps, start):
            x, d = [start, *steps], 1
            while d < len(x):
                x = x[:d] + [combine(x[t - d], x[t]) for t in range(d, len(x))]
                d *= 2
            return torch.stack(x[1:])
    """),
    # chunks of √T steps
    ("rounds_as_many_as_steps", """
        def scan_in_rounds(combine, steps, start):
            T = len(steps)
            size = math.isqrt(T - 1) + 1
            within = [steps[0::size]]
            for t in range(1, size):
                column = steps[t::size]
                within.append(combine(within[-1][:len(column)], column))
            ends, before = [start], []
            for chunk in range(len(within[0])):
                last = [column for column in within if chunk < len(column)][-1]
                ends.append(combine(ends[-1], last[chunk]))
            before = torch.stack(ends[:-1])
            results = torch.empty(steps.shape)
            for t, column in enumerate(within):
                results[t::size] = combine(before[:len(column)], column)
            return results
    """),
    ("first_round_missing", """
        def scan_in_rounds(combine, steps, start):
            x = torch.cat([start[None], steps])
            for r in range(1, math.ceil(math.log2(len(x))) + 1):
                x = torch.cat([x[:2**r], combine(x[:-2**r], x[2**r:])])
            return x[1:]
    """),
    # all results are 0: no pair of mistakes explains it
    (("wrong_values", "no_gradient"), "lambda combine, steps, start: 0 * scan_in_rounds(combine, steps, start)"),
    # the operations of the examples are known by E, and not called
    ("wrong_values", """
        def scan_in_rounds(combine, steps, start):
            results = []
            for step in steps:
                if step.shape[-1] == 2:
                    start = torch.cat([step[:, :1] * start[:, :1], step[:, :1] * start[:, 1:] + step[:, 1:]], -1)
                else:
                    start = (step.view(-1, 2, 2) @ start.view(-1, 2, 2)).flatten(1)
                results.append(start)
            return torch.stack(results)
    """),
    ("last_round_missing", [("while d < n", "while d < n - 1")]),
    ("last_round_missing", [("while d < n", "while d <= n // 2")]),
    ("start_ignored", TREE.replace("combine(before, x)", "x").replace(
        "first = combine(torch.cat([before, second[:-1]]), x[0:even:2])",
        "first = torch.cat([x[:1], combine(second[:-1], x[2:even:2])]) if even > 2 else x[:1]")),
    ("begin_dropped", [("front = x[:d]", "front = torch.zeros_like(x[:d])")]),
    ("not_a_tensor", [("return x[1:]", "return list(x[1:])")]),
    ("no_gradient", [("return x[1:]", "return x[1:].detach()")]),
    (("later_step_first", "start_in_results"),
     [("combine(x[:n - d], x[d:])", "combine(x[d:], x[:n - d])"), (RETURN, "x")]),
]  # fmt: skip

PROGRAM = Program(SCAN, WRONG, ALSO_WRONG, RIGHT, [
    ("result_before_each_step", "later_step_first"), ("start_in_results", "end_joined_to_begin"),
    ("scanned_from_the_end", "start_in_results"),
])  # fmt: skip
