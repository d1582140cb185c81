"""Answers to the question `rolling_origin`."""

from tests.check.answers import Program

ROLLING = """
def rolling_origin(fit, series, first, size):
    result = []
    origin = first
    while origin + size <= len(series):
        model = fit(series[:origin])
        total = 0
        for i in range(size):
            y = model(series[:origin + i])
            total += torch.abs(series[origin + i] - y)
        result.append(total / size)
        origin += size
    return torch.stack(result)
"""
WHILE, FIT, ASKED = "origin + size <= len(series)", "fit(series[:origin])", "model(series[:origin + i])"
ERROR, STEPS, MEAN, RETURNED = "torch.abs(series[origin + i] - y)", "range(size)", "total / size", "torch.stack(result)"
WRONG = {
    "learned_from_whole_series": [(FIT, "fit(series)")],
    "learned_from_block_too": [(FIT, "fit(series[:origin + size])")],
    "learned_from_block_only": [(FIT, "fit(series[origin:origin + size])")],
    "learned_one_step_more": [(FIT, "fit(series[:origin + 1])")],
    "learned_one_step_less": [(FIT, "fit(series[:origin - 1])")],
    "learned_once": [
        (f"        model = {FIT}\n", ""), ("    result = []", "    result = []\n    model = fit(series[:first])")],
    "learned_at_every_step": [(ASKED, "fit(series[:origin + i])(series[:origin + i])")],
    "learned_from_recent_values": [(FIT, "fit(series[origin - first:origin])")],
    "target_among_past": [(ASKED, "model(series[:origin + i + 1])")],
    "past_ends_at_origin": [(ASKED, "model(series[:origin])")],
    "past_begins_at_origin": [(ASKED, "model(series[origin:origin + i])")],
    "past_cut_short": [(ASKED, "model(series[origin + i - first:origin + i])")],
    "past_one_step_short": [(ASKED, "model(series[:origin + i - 1])")],
    "forecasts_read_for_values": [
        ("        total = 0\n", "        total, past = 0, series[:origin]\n"),
        (ASKED, "model(past)\n            past = torch.cat([past, y.view(1)])")],
    "short_block_counted": [
        (WHILE, "origin < len(series)"), (STEPS, "range(min(size, len(series) - origin))"), (MEAN, "total / (i + 1)")],
    "last_block_missing": [(WHILE, "origin + size < len(series)")],
    "first_block_missing": [("    origin = first", "    origin = first + size")],
    "origin_at_every_step": [("origin += size", "origin += 1")],
    "first_origin_ignored": [("    origin = first", "    origin = size")],
    "step_after_origin_missing": [(STEPS, "range(1, size)"), (MEAN, "total / (size - 1)")],
    "one_step_past_the_block": [
        (STEPS, "range(min(size + 1, len(series) - origin))"), (MEAN, "total / (i + 1)")],
    "compared_one_early": [(ERROR, "torch.abs(series[origin + i - 1] - y)")],
    "errors_squared": [(ERROR, "(series[origin + i] - y) ** 2")],
    "root_of_squared_errors": [(ERROR, "(series[origin + i] - y) ** 2"), (MEAN, "(total / size) ** 0.5")],
    "errors_not_absolute": [(ERROR, "y - series[origin + i]")],
    "errors_summed": [(MEAN, "total")],
    "block_not_emptied": [
        ("        total = 0\n", ""), ("    result = []", "    result, total, count = [], 0, 0"),
        ("            y =", "            count += 1\n            y ="), (MEAN, "total / count")],
    "errors_of_all_steps": [
        (f"            total += {ERROR}", f"            result.append({ERROR})"),
        (f"        result.append({MEAN})\n", "")],
    "one_mean_for_all_blocks": [(RETURNED, "torch.stack(result).mean()")],
    "only_last_block": [(RETURNED, "result[-1]")],
    "return_in_the_loop": [(f"    return {RETURNED}", f"        return {RETURNED}")],
}  # fmt: skip
RIGHT = {
    "a list of numbers": [(MEAN, "(total / size).item()"), (RETURNED, "result")],
    "blocks by their number": """
        def rolling_origin(fit, series, first, size):
            blocks = (series.numel() - first) // size
            errors = torch.zeros(blocks)
            for k in range(blocks):
                a, b = first + k * size, first + (k + 1) * size
                model = fit(series[:a])
                forecasts = torch.tensor([float(model(series[:t])) for t in range(a, b)])
                errors[k] = F.l1_loss(forecasts, series[a:b])
            return errors
    """,
    "all errors first": """
        def rolling_origin(fit, series, first, size):
            errors, model = [], None
            for t in range(first, len(series)):
                if (t - first) % size == 0:
                    model = fit(series[:t])
                errors.append((model(series[:t]) - series[t]).abs())
            return [torch.stack(block).mean() for block in zip(*[iter(errors)] * size)]
    """,
    "split": """
        def rolling_origin(fit, series, first, size):
            learned, means = series[:first], []
            for block in series[first:].split(size):
                if len(block) == size:
                    model, past, errors = fit(learned), learned, []
                    for x in block:
                        errors.append(abs(model(past) - x))
                        past = torch.cat([past, x[None]])
                    learned = past
                    means.append(sum(errors) / size)
            return torch.tensor(means)
    """,
    "unfold": """
        def rolling_origin(fit, series, first, size):
            origins = torch.arange(first, len(series) - size + 1, size)
            models = [fit(series[:o]) for o in origins]
            blocks = series[first:].unfold(0, size, size)
            forecasts = [[m(series[:o + i]) for i in range(size)] for m, o in zip(models, origins)]
            return (torch.tensor(forecasts) - blocks).abs().mean(1)
    """,
}

PROGRAM = Program(ROLLING, WRONG, also_wrong=[
    ("block_not_emptied", [("        total = 0\n", ""), ("    result = []", "    result, total = [], 0")]),
    ("learned_from_recent_values", [(FIT, "fit(series[origin - size:origin])")]),
    ("past_cut_short", [(ASKED, "model(series[origin + i - size:origin + i])")]),
    ("short_block_counted", [(WHILE, "origin < len(series)")]),
    ("errors_not_absolute", [(ERROR, "series[origin + i] - y"), (MEAN, "abs(total / size)")]),
    ("return_in_the_loop", [("result.append(total / size)", "return total / size")]),
    ("returns_none", [(f"    return {RETURNED}", "")]),
    ("not_a_tensor", [(RETURNED, "{'errors': result}")]),
    ("not_a_tensor", [(MEAN, "model"), (RETURNED, "result")]),
    ("not_a_tensor", [(MEAN, "print(total)"), (RETURNED, "result")]),
    ("changes_its_input", [(f"    return {RETURNED}", f"    series.zero_()\n    return {RETURNED}")]),
], also_right=RIGHT, pairs=[
    ("learned_from_whole_series", "last_block_missing"),
    ("learned_once", "past_ends_at_origin"),
    ("target_among_past", "errors_squared"),
    ("learned_from_block_too", "errors_summed"),
    ("origin_at_every_step", "compared_one_early"),
])  # fmt: skip
