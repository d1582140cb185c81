"""Answers to the question `train`."""

from tests.check.answers import Program

LOOP = """
def train(model, batches, epochs, learning_rate, max_norm):
    optimizer = torch.optim.SGD(model.parameters(), lr=learning_rate)
    criterion = nn.CrossEntropyLoss()
    model.train()
    losses = []
    for epoch in range(epochs):
        for x, y in batches:
            logits, _ = model(x)
            loss = criterion(logits.reshape(-1, logits.size(-1)), y.reshape(-1))
            optimizer.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), max_norm)
            optimizer.step()
            losses.append(loss.item())
    return losses
"""
LOSS = "criterion(logits.reshape(-1, logits.size(-1)), y.reshape(-1))"
CLIPPED = "torch.nn.utils.clip_grad_norm_(model.parameters(), max_norm)"
LOSS_WRONG = {
    "softmax_before_loss": [("criterion(logits", "criterion(logits.softmax(dim=-1)")],
    "nll_of_logits": [("nn.CrossEntropyLoss()", "nn.NLLLoss()")],
    "rows_mixed_up": [("logits.reshape", "logits.transpose(0, 1).reshape")],
    "last_step_only": [(LOSS, "criterion(logits[-1], y[-1])")],
    "first_step_only": [(LOSS, "criterion(logits[0], y[0])")],
    "targets_smoothed": [("nn.CrossEntropyLoss()", "nn.CrossEntropyLoss(label_smoothing=0.1)")],
    "shifted_twice": [(LOSS, "criterion(logits[:-1].flatten(0, 1), y[1:].flatten())")],
}
LEARNING_WRONG = LOSS_WRONG | {
    "gradients_not_zeroed": [("optimizer.zero_grad()", "pass")],
    "weights_unchanged": [("optimizer.step()", "pass")],
    "step_before_backward": [
        ("optimizer.step()\n", "pass\n"),
        ("optimizer.zero_grad()", "optimizer.step(); optimizer.zero_grad()"),
    ],
    "last_step_not_made": [("optimizer.step()\n", "pass\n"), ("logits, ", "optimizer.step(); logits, ")],
    "losses_added_up": [
        ("losses = []", "total, losses = 0, []"),
        ("loss.backward()", "total += loss; total.backward()"),
    ],
    "gradients_not_clipped": [(CLIPPED, "pass"), ("optimizer.step()", "optimizer.step(); " + CLIPPED)],
    "max_norm_ignored": [(CLIPPED, CLIPPED.replace("max_norm", "1.0"))],
    "each_gradient_clipped_alone": [
        (CLIPPED, "[torch.nn.utils.clip_grad_norm_([p], max_norm) for p in model.parameters()]")
    ],
    "clipped_by_value": [(CLIPPED, "nn.utils.clip_grad_value_(model.parameters(), max_norm)")],
    "short_gradients_lengthened": [
        (
            CLIPPED,
            (
                "n = nn.utils.get_total_norm([p.grad for p in model.parameters()]); [p.grad.mul_(max_norm / n) for p in"
                " model.parameters()]"
            ),
        )
    ],
    "loss_summed": [("nn.CrossEntropyLoss()", "nn.CrossEntropyLoss(reduction='sum')")],
    "loss_summed_over_steps": [(LOSS, "sum(criterion(logits[t], y[t]) for t in range(len(y)))")],
    "not_in_training_mode": [("    model.train()\n", "")],
    "stepped_up": [("optimizer.step()", "[p.data.add_(learning_rate * p.grad) for p in model.parameters()]")],
    "learning_rate_ignored": [("lr=learning_rate", "lr=0.1")],
    "adam_for_descent": [("optim.SGD", "optim.Adam")],
    "momentum_added": [("lr=learning_rate", "lr=learning_rate, momentum=0.9")],
    "losses_keep_their_graph": [("loss.item()", "loss")],
}
STEPPED = [
    ("    for epoch in range(epochs):\n", "    for epoch in range(epochs):\n        optimizer.zero_grad()\n"),
    ("            optimizer.zero_grad()\n            loss", "            loss"),
]
TRAIN_WRONG = LEARNING_WRONG | {
    "gradients_zeroed_once_an_epoch": STEPPED,
    "one_step_an_epoch": [
        *STEPPED,
        (f"            {CLIPPED}\n            optimizer.step()\n", ""),
        ("    return", f"        {CLIPPED}\n        optimizer.step()\n    return"),
    ],
    "same_batch_every_time": [("for x, y in batches:", "for _ in batches:\n            x, y = next(iter(batches))")],
    "epochs_ignored": [("    return losses", "        return losses")],
    "epochs_for_each_batch": [
        (
            "    for epoch in range(epochs):\n        for x, y in batches:",
            "    for x, y in batches:\n        for epoch in range(epochs):",
        )
    ],
    "last_batch_missing": [
        ("for x, y in batches:", "for k in range(len(batches) - 1):\n            x, y = batches[k]")
    ],
    "state_carried": [
        ("losses = []", "losses, h = [], None"),
        ("logits, _ = model(x)", "logits, h = model(x, h); h = h.detach()"),
    ],
    "loss_after_step": [("loss.item()", "criterion(model(x)[0].flatten(0, 1), y.flatten()).item()")],
    "one_loss_an_epoch": [
        ("        for x", "        total = 0\n        for x"),
        ("losses.append(loss.item())", "total += loss.item()"),
        ("    return", "        losses.append(total / len(batches))\n    return"),
    ],
}
BY_HAND = "for p in model.parameters():\n                "
TRAIN_RIGHT = [
    [
        ("optimizer.step()", f"with torch.no_grad():\n              {BY_HAND}p -= learning_rate * p.grad"),
        ("loss.item()", "loss.detach()"),
    ],
    [
        ("optimizer.step()", f"{BY_HAND}p.data = p.data - learning_rate * p.grad.data"),
        ("return losses", "return torch.tensor(losses)"),
    ],
    [
        (
            "optimizer.step()",
            "model.load_state_dict({k: p - learning_rate * p.grad for k, p in model.named_parameters()})",
        )
    ],
    [
        (
            "optimizer.step()",
            (
                "[setattr(model, k, nn.Parameter(p.detach() - learning_rate * p.grad)) for k, p in"
                " [*model.named_parameters()]]"
            ),
        )
    ],
    [
        ("            optimizer.zero_grad()\n", ""),
        ("losses.append(loss.item())", "losses.append(loss.item())\n            model.zero_grad()"),
    ],
    [("losses.append(loss.item())", "yield loss.item()"), ("    return losses\n", "")],
    [
        ("model.train()\n", "optimizer = torch.optim.SGD(list(model.parameters()), learning_rate)\n"),
        ("logits, _ = model(x)", "model.train(); logits = model.forward(x)[0]"),
    ],
    [
        (LOSS, "F.cross_entropy(logits.permute(1, 2, 0), y.T)"),
        ("return losses", "model.eval()\n    return tuple(losses)"),
    ],
    [
        (LOSS, "-logits.log_softmax(-1).gather(-1, y[..., None]).mean()"),
        ("losses.append(loss.item())", "losses += [loss.detach().view(1)]"),
    ],
    [
        ("loss.backward()", "gs = torch.autograd.grad(loss, [*model.parameters()])"),
        (CLIPPED, "for p, g in zip(model.parameters(), gs): p.grad = g\n            " + CLIPPED),
    ],
]

PROGRAM = Program(LOOP, TRAIN_WRONG, also_wrong=[
    ("learning_rate_ignored", [(", lr=learning_rate", "")]),
    ("learning_rate_ignored", [("lr=learning_rate", "lr=1e-2")]),
    ("learning_rate_ignored", [("lr=learning_rate", "lr=1")]),
    ("adam_for_descent", [("optim.SGD", "optim.AdamW")]),
    ("rows_mixed_up", [("y.reshape", "y.t().reshape")]),
    ("state_carried", [("losses = []", "losses, h = [], None"), ("logits, _ = model(x)",
    "logits, h = model(x, h)")]),
    ("losses_added_up", [("losses = []", "total, losses = 0, []"), ("loss.backward()",
    "total += loss; total.backward(retain_graph=True)")]),
    ("step_before_backward", [("optimizer.step()\n", "pass\n"), ("optimizer.zero_grad()",
    "[p.grad is None or p.data.sub_(learning_rate * p.grad) for p in model.parameters()]; optimizer.zero_grad()")]),
    ("one_loss_an_epoch", [("        for x", "        total = 0\n        for x"), ("losses.append(loss.item())",
    "total += loss.item()"), ("    return", "        losses.append(total)\n    return")]),
    ("one_loss_an_epoch", [("            losses.append", "        losses.append")]),
    ("wrong_form", "lambda *given: sum(train(*given))"),
    ("wrong_form", "lambda *given: [train(*given)]"),
    ("wrong_values", "lambda *given: [3 * loss for loss in train(*given)]"),
    ("raises_error", "lambda *given: 1 / 0"),
    # `backward` fails for many reasons: only known ones are named.
    ("raises_error", [("losses.append",
    "if losses: raise RuntimeError('of another kind')\n            losses.append")]),
], also_right=TRAIN_RIGHT, pairs=[
    ("gradients_not_zeroed", "not_in_training_mode"),
    ("loss_summed", "gradients_not_clipped"),
    ("stepped_up", "state_carried"),
    ("adam_for_descent", "softmax_before_loss"),
    ("epochs_ignored", "losses_keep_their_graph"),
])  # fmt: skip
