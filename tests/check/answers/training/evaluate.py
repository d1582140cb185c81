"""Answers to the question `evaluate`."""

from tests.check.answers import Program
from tests.check.answers.training.train import LOSS_WRONG

HELD_OUT = """
def evaluate(model, batches):
    criterion = nn.CrossEntropyLoss()
    was_training = model.training
    model.eval()
    total, n = 0.0, 0
    with torch.no_grad():
        for x, y in batches:
            logits, _ = model(x)
            loss = criterion(logits.reshape(-1, logits.size(-1)), y.reshape(-1))
            total = total + loss.item() * y.numel()
            n = n + y.numel()
    if was_training:
        model.train()
    avg = total / n
    return avg, math.exp(avg)
"""
RESTORED = "    if was_training:\n        model.train()\n"
HELD_OUT_WRONG = LOSS_WRONG | {
    "not_in_evaluation_mode": [("    model.eval()\n", "")],
    "left_in_evaluation_mode": [(RESTORED, "")],
    "left_in_training_mode": [("    if was_training:\n        model.train()", "    model.train()")],
    "graph_recorded": [("with torch.no_grad():", "if True:")],
    "weights_frozen": [
        ("with torch.no_grad():", "for p in model.parameters():\n        p.requires_grad = False\n    if True:")
    ],
    "gradients_changed": [("for x, y in batches:", "for x, y in batches:\n            model.zero_grad()")],
    "generator_changed": [("model.eval()", "torch.manual_seed(0); model.eval()")],
    "gradients_left_off": [("    with torch.no_grad():", "    torch.set_grad_enabled(False)\n    if True:")],
    "dropout_left_off": [
        ("    model.eval()\n", "    for m in model.modules():\n        if isinstance(m, nn.Dropout): m.p = 0\n"),
        (RESTORED, ""),
    ],
    "mean_of_means": [("loss.item() * y.numel()", "loss.item()"), ("total / n", "total / len(batches)")],
    "weighted_by_rows": [("* y.numel()", "* y.size(1)"), ("+ y.numel()", "+ y.size(1)")],
    "weighted_by_steps": [("* y.numel()", "* y.size(0)"), ("+ y.numel()", "+ y.size(0)")],
    "mean_divided_again": [("loss.item() * y.numel()", "loss.item()")],
    "divided_by_batches": [
        ("nn.CrossEntropyLoss()", "nn.CrossEntropyLoss(reduction='sum')"),
        ("loss.item() * y.numel()", "loss.item()"),
        ("total / n", "total / len(batches)"),
    ],
    "sum_for_mean": [("avg = total / n", "avg = total")],
    "last_batch_only": [
        ("total = total + loss.item() * y.numel()", "total = loss.item() * y.numel()"),
        ("n = n + y", "n = y"),
    ],
    "return_in_the_loop": [
        (
            "n = n + y.numel()",
            (
                "n = n + y.numel()\n            model.train(was_training)\n            return total / n, math.exp(total"
                " / n)"
            ),
        )
    ],
    "perplexity_first": [("return avg, math.exp(avg)", "return math.exp(avg), avg")],
    "perplexity_of_base_two": [("math.exp(avg)", "2 ** avg")],
    "perplexity_inverted": [("math.exp(avg)", "1 / math.exp(avg)")],
    "mean_of_perplexities": [
        ("total, n = 0.0, 0", "total, n, all_ = 0.0, 0, []"),
        ("n = n +", "all_.append(math.exp(loss.item())); n = n +"),
        ("math.exp(avg)", "sum(all_) / len(batches)"),
    ],
    "perplexity_of_last_batch": [("math.exp(avg)", "torch.exp(loss)")],
    "loss_in_bits": [("avg = total / n", "avg = total / n / math.log(2)"), ("math.exp(avg)", "2 ** avg")],
    "state_carried": [
        ("total, n = 0.0, 0", "total, n, h = 0.0, 0, None"),
        ("logits, _ = model(x)", "logits, h = model(x, h)"),
    ],
}
HELD_OUT_RIGHT = [
    [
        ("criterion = nn.CrossEntropyLoss()", "criterion = nn.CrossEntropyLoss(reduction='sum')"),
        ("loss.item() * y.numel()", "loss"),
    ],
    [
        ("with torch.no_grad()", "with torch.inference_mode()"),
        ("return avg, math.exp(avg)", "return [torch.tensor(avg), torch.tensor(avg).exp()]"),
    ],
    [
        ("criterion(logits", "F.cross_entropy(logits"),
        (RESTORED, "    model.train(was_training)\n"),
        ("return avg, math.exp(avg)", "return torch.tensor([avg, math.e**avg])"),
    ],
    [
        (
            "    was_training = model.training\n    model.eval()",
            "    import copy\n    model = copy.deepcopy(model).eval()\n    was_training = False",
        )
    ],
    [
        ("with torch.no_grad():", "asked = [p.requires_grad_(False) for p in model.parameters()]\n    if True:"),
        ("    avg =", "    [p.requires_grad_() for p in asked]\n    avg ="),
    ],
    [
        ("        for x, y in batches:", "        for x, y in reversed(batches):"),
        ("math.exp(avg)", "2 ** (avg / math.log(2))"),
    ],
]

PROGRAM = Program(HELD_OUT, HELD_OUT_WRONG, also_wrong=[
    ("mean_of_perplexities", [("total, n =", "all_ = 0\n    total, n ="), ("n = n +",
    "all_ += loss.exp() * y.numel(); n = n +"), ("math.exp(avg)", "all_ / n")]),
    ("gradients_changed", [("with torch.no_grad():", "if True:"), ("total = total",
    "loss.backward(); total = total")]),
    ("not_in_evaluation_mode", [("model.eval()", "model.train()"), (RESTORED, "    model.train(was_training)\n")]),
    ("sum_for_mean", [("loss.item() * y.numel()", "loss.item()"), ("avg = total / n", "avg = total")]),
    ("wrong_form", "lambda *given: evaluate(*given)[0]"),
    ("wrong_form", "lambda *given: dict(zip('lp', evaluate(*given)))"),
], also_right=HELD_OUT_RIGHT, pairs=[
    ("mean_of_means", "left_in_evaluation_mode"),
    ("graph_recorded", "not_in_evaluation_mode"),
    ("perplexity_first", "weighted_by_rows"),
])  # fmt: skip
