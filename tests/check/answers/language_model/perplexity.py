"""Answers to the question `perplexity`."""

from tests.check.answers import Program

PERPLEXITY = """
def perplexity(logits, targets, mask):
    V = logits.shape[-1]
    losses = F.cross_entropy(logits.reshape(-1, V), targets.reshape(-1), reduction="none")
    mask = mask.reshape(-1)
    loss = losses[mask].sum() / mask.sum()
    return torch.exp(loss)
"""
LOSS, RETURN, CE = (
    "losses[mask].sum() / mask.sum()",
    "torch.exp(loss)",
    'F.cross_entropy(logits.reshape(-1, V), targets.reshape(-1), reduction="none")',
)
ROWS = [("mask = mask.reshape(-1)", "losses = losses.reshape(mask.shape)")]
PERPLEXITY_WRONG = {
    "exp_missing": [(RETURN, "loss")],
    "base_two": [(RETURN, "torch.exp2(loss)")],
    "bits_returned": [(RETURN, "loss / torch.log(torch.tensor(2.0))")],
    "padding_counted": [(LOSS, "losses.mean()")],
    "masked_count_as_zero": [(LOSS, "(losses * mask).mean()")],
    "padding_alone_counted": [(LOSS, "losses[mask == False].mean()")],
    "mean_of_exponentials": [(RETURN, "losses[mask].exp().mean()")],
    "mean_of_rows": [*ROWS, (LOSS, "((losses * mask).sum(1) / mask.sum(1)).mean()")],
    "sum_for_mean": [(LOSS, "losses[mask].sum()")],
    "sum_over_rows": [(LOSS, "losses[mask].sum() / logits.size(0)")],
    "sum_over_steps": [(LOSS, "losses[mask].sum() / logits.size(1)")],
    "logits_for_log_probabilities": [(CE, "F.nll_loss(logits.reshape(-1, V), targets.reshape(-1), reduction='none')")],
    "softmax_twice": [("logits.reshape(-1, V)", "F.softmax(logits, dim=2).reshape(-1, V)")],
    "log_missing": [(CE, "-F.softmax(logits, 2).gather(2, targets[..., None]).reshape(-1)")],
    "axes_not_swapped": [(CE, "F.cross_entropy(logits.view(len(mask), V, -1), targets, reduction='none').flatten()")],
    "index_0_not_counted": [(LOSS, "losses[mask & (targets.reshape(-1) != 0)].mean()")],
    "softmax_over_steps": [(CE, "-F.log_softmax(logits, 1).gather(2, targets[..., None]).reshape(-1)")],
    "softmax_over_rows": [(CE, "-F.log_softmax(logits, 0).gather(2, targets[..., None]).reshape(-1)")],
    "sign_missing": [(RETURN, "torch.exp(-loss)")],
    "surprise_of_likeliest": [(CE, "-F.log_softmax(logits, -1).max(-1).values.reshape(-1)")],
    "targets_shifted_again": [
        ("    V =", "    logits, targets, mask = logits[:, :-1], targets[:, 1:], mask[:, :-1]\n    V ="),
    ],
    "last_step_only": [
        ("    V =", "    logits, targets, mask = logits[:, -1:], targets[:, -1:], mask[:, -1:]\n    V =")
    ],
    "first_row_only": [("    V =", "    logits, targets, mask = logits[:1], targets[:1], mask[:1]\n    V =")],
    "divided_by_vocabulary": [(RETURN, "torch.exp(loss) / V")],
}
PERPLEXITY_RIGHT = [
    "def perplexity(logits, targets, mask):\n    return F.cross_entropy(logits[mask], targets[mask]).exp().item()",
    [(RETURN, "torch.exp(loss).reshape(1)")],
    [(RETURN, "numpy.exp(loss.numpy())")],
]

PROGRAM = Program(PERPLEXITY, PERPLEXITY_WRONG, also_right=PERPLEXITY_RIGHT)
