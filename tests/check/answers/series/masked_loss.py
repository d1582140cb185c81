"""Answers to the question `masked_loss`."""

from tests.check.answers import Program

LOSS = """
def masked_loss(forecasts, targets, lengths):
    T, N = forecasts.shape
    mask = torch.zeros(T, N)
    for b in range(N):
        mask[:lengths[b], b] = 1
    squared = mask * (forecasts - targets).pow(2)
    return squared.sum() / mask.sum()
"""
EMPTY, FILLED, ERRORS = "torch.zeros(T, N)", "mask[:lengths[b], b]", "mask * (forecasts - targets).pow(2)"
SAID = "return squared.sum() / mask.sum()"
BY_SEQUENCE = "return (squared.sum(0) / mask.sum(0)).mean()"
LOSS_WRONG = {
    "padding_in_loss": [(EMPTY, "torch.ones(T, N)")],
    "padding_in_sum": [(ERRORS, "(forecasts - targets).pow(2)")],
    "padding_in_divisor": [(SAID, "return squared.mean()")],
    "padding_alone_in_loss": [(FILLED, "mask[lengths[b]:, b]")],
    "loss_not_divided": [(SAID, "return squared.sum()")],
    "loss_divided_by_sequences": [(SAID, "return squared.sum() / N")],
    "loss_divided_by_steps": [(SAID, "return squared.sum() / T")],
    "sequence_means_added": [(SAID, "return (squared.sum(0) / lengths).sum()")],
    "steps_weigh_alike": [(SAID, "return (squared.sum(1) / mask.sum(1)).mean()")],
    "return_in_the_loop": [(f"{FILLED} = 1", "return F.mse_loss(forecasts[:lengths[b], b], targets[:lengths[b], b])")],
    "one_side_masked": [(ERRORS, "(mask * forecasts - targets).pow(2)")],
    "mask_batch_first": [(EMPTY, "torch.zeros(N, T)"), (FILLED, "mask[b, :lengths[b]]")],
    "one_step_too_many": [(FILLED, "mask[:lengths[b] + 1, b]")],
    "one_step_too_few": [(FILLED, "mask[:lengths[b] - 1, b]")],
    "cut_to_shortest": [(FILLED, "mask[:min(lengths), b]")],
    "padding_expected_first": [(FILLED, "mask[T - lengths[b]:, b]")],
    "last_elements_only": [(FILLED, "mask[lengths[b] - 1, b]")],
    "absolute_error_for_squared": [(".pow(2)", ".abs()")],
    "error_not_squared": [(".pow(2)", "")],
    "root_of_squared_error": [("return ", "return torch.sqrt("), (" / mask.sum()", " / mask.sum())")],
    "loss_halved": [("return ", "return 0.5 * ")],
    "sum_before_square": [(".pow(2)", ""), (SAID, "return (squared.sum() / mask.sum()).square()")],
}
RIGHT = {
    "boolean places": """
        def masked_loss(forecasts, targets, lengths):
            real = torch.arange(forecasts.size(0)).unsqueeze(-1).lt(lengths)
            return F.mse_loss(forecasts[real], targets[real])
    """,
    "both packed": """
        def masked_loss(forecasts, targets, lengths):
            x = pack_padded_sequence(forecasts, lengths, enforce_sorted=False).data
            y = pack_padded_sequence(targets, lengths, enforce_sorted=False).data
            return F.mse_loss(x, y)
    """,
    "sequence after sequence": """
        def masked_loss(forecasts, targets, lengths):
            total, count = 0, 0
            for b, n in enumerate(lengths.tolist()):
                for t in range(n):
                    total = total + (targets[t, b] - forecasts[t, b]) ** 2
                    count += 1
            return total / count
    """,
    "batch first": """
        def masked_loss(forecasts, targets, lengths):
            forecasts, targets = forecasts.T, targets.T
            mask = torch.arange(forecasts.shape[1])[None, :] < lengths[:, None]
            losses = F.mse_loss(forecasts, targets, reduction="none")
            return losses.masked_fill(~mask, 0.0).sum() / lengths.sum()
    """,
    "both set to zero": """
        def masked_loss(forecasts, targets, lengths):
            outside = torch.arange(len(targets))[:, None] >= lengths
            a, b = forecasts.masked_fill(outside, 0), targets.masked_fill(outside, 0)
            return ((a - b) ** 2).sum() / (~outside).sum()
    """,
    "weights": """
        def masked_loss(forecasts, targets, lengths):
            inside = torch.arange(len(targets)).repeat(len(lengths), 1).T < lengths
            weights = inside / inside.sum()
            return torch.einsum("tn,tn,tn->", weights, forecasts - targets, forecasts - targets)
    """,
    "targets that are not numbers": """
        def masked_loss(forecasts, targets, lengths):
            steps = torch.arange(len(targets))[:, None]
            kept = torch.where(steps < lengths, targets, forecasts)
            return (kept - forecasts).square().sum() / int(sum(lengths))
    """,
}

PROGRAM = Program(LOSS, LOSS_WRONG, also_wrong=[
    ("one_side_masked", [(ERRORS, "(forecasts - mask * targets).pow(2)")]),
    ("one_side_masked", [(ERRORS, "(mask * forecasts - targets).pow(2)"), (SAID, "return squared.mean()")]),
    ("one_side_masked", [(ERRORS, "(forecasts - mask * targets).pow(2)"), (SAID, "return squared.mean()")]),
    ("padding_in_divisor", [
        (ERRORS, "F.mse_loss(forecasts * mask, targets * mask)"), (SAID, "return squared")]),
    ("padding_in_loss", "lambda forecasts, targets, lengths: F.mse_loss(forecasts, targets)"),
    ("one_step_too_many", [(FILLED, "mask[:lengths[b] + 1, b]"), (SAID, "return squared.sum() / lengths.sum()")]),
    ("one_step_too_few", [(FILLED, "mask[:lengths[b] - 1, b]"), (SAID, "return squared.sum() / lengths.sum()")]),
    ("mask_batch_first", """
        def masked_loss(forecasts, targets, lengths):
            mask = torch.arange(len(forecasts)) < lengths[:, None]
            return (forecasts - targets)[mask].square().mean()
    """),
    ("no_gradient", [("return ", "with torch.no_grad():\n        return ")]),
    ("not_a_tensor", [("return ", "return float("), (" / mask.sum()", " / mask.sum())")]),
    ("wrong_shape", [(SAID, "return squared.sum(0) / mask.sum(0)")]),
    ("changes_its_input", [
        ("    T, N", "    forecasts -= targets\n    T, N"), ("forecasts - targets", "forecasts")]),
], also_right=RIGHT, pairs=[
    ("padding_in_sum", "absolute_error_for_squared"),
    ("one_step_too_many", "loss_halved"),
    ("cut_to_shortest", "error_not_squared"),
    ("one_step_too_few", "loss_divided_by_steps"),
], variants={
    "loss_places_weigh_alike": [], "loss_sequences_weigh_alike": [(SAID, BY_SEQUENCE)],
})  # fmt: skip
