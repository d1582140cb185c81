"""Answers to the assignment `training`."""

from tests.check.answers import Program

WINDOWS = """
def inputs_and_targets(indices, size):
    inputs, targets = [], []
    for t in range(0, len(indices) - size, size):
        inputs.append(indices[t : t + size])
        targets.append(indices[t + 1 : t + size + 1])
    inputs, targets = torch.stack(inputs, dim=1), torch.stack(targets, dim=1)
    return inputs, targets
"""
RANGE = "range(0, len(indices) - size, size)"
PIECE, NEXT = "indices[t : t + size]", "indices[t + 1 : t + size + 1]"
EVERY = [(RANGE, "range(0, len(indices) // size * size, size)")]  # all windows that have inputs
WINDOWS_WRONG = {
    "targets_not_shifted": [(NEXT, PIECE)],
    "inputs_and_targets_swapped": [("return inputs, targets", "return targets, inputs")],
    "targets_wrap_in_window": [(NEXT, f"torch.roll({PIECE}, -1)")],
    "target_made_up": [*EVERY, (NEXT, "torch.cat([indices, indices[:1]])[t + 1 : t + size + 1]")],
    "last_target_missing": EVERY,
    "targets_of_next_window": [(RANGE, "range(0, len(indices) - 2 * size + 1, size)"), (NEXT,
    "indices[t + size : t + 2 * size]")],
    "one_target_a_window": [(NEXT, "indices[t + size]"), ("torch.stack(targets, dim=1)", "torch.stack(targets)")],
    "windows_interleaved": [
        ("torch.stack(inputs, dim=1), torch.stack(targets, dim=1)",
        "(torch.cat(one).view(-1, size).reshape(size, -1) for one in (inputs, targets))"),
    ],
    "windows_overlap": [(RANGE, "range(len(indices) - size)")],
    "windows_lose_one": [(RANGE, "range(0, len(indices) - size, size + 1)")],
    "windows_one_short": [*EVERY, (PIECE, "indices[t : t + size - 1]"), (NEXT, "indices[t + 1 : t + size]")],
    "whole_window_missing": [(RANGE, "range(0, len(indices) - size - 1, size)")],
    "rest_filled_up": [
        (RANGE, "range(0, len(indices) - 1, size)"), (PIECE, "F.pad(indices[:-1], (0, size))[t : t + size]"),
        (NEXT, "F.pad(indices[1:], (0, size))[t : t + size]"),
    ],
    "variant_windows_first": [("    return inputs, targets", "    return inputs.T, targets.T")],
    "windows_shuffled": [("    return",
    "    order = torch.randperm(inputs.shape[1])\n    inputs, targets = inputs[:, order], targets[:, order]\n    return")],  # noqa: E501
    "first_index_missing": [("range(0, len(indices) - size,", "range(1, len(indices) - size,")],
}  # fmt: skip
WINDOWS_RIGHT = [
    (
        "lambda x, n: [x[:-1][: (len(x) - 1) // n * n].reshape(-1, n).t(), x[1:][: (len(x) - 1) // n * n].reshape(-1,"
        " n).t()]"
    ),
    "lambda x, n: torch.stack([x[:-1].unfold(0, n, n).T, x[1:].unfold(0, n, n).T])",
    "lambda x, n: tuple(w.int().contiguous() for w in x.unfold(0, n + 1, n).T.unfold(0, n, 1).movedim(2, 1))",
    "lambda x, n: tuple([[x[k + t + s].item() for k in range(0, len(x) - n, n)] for t in range(n)] for s in (0, 1))",
    "lambda x, n: tuple([x[s + t : len(x) - n + s + t : n] for t in range(n)] for s in (0, 1))",
    (
        "lambda x, n: (x[torch.arange(n)[:, None] + torch.arange(0, len(x) - n, n)].numpy(), inputs_and_targets(x,"
        " n)[1].double())"
    ),
]

CLIP = """
def clip_gradients(gradients, max_norm):
    total = 0.0
    for g in gradients:
        total = total + (g ** 2).sum().item()
    norm = math.sqrt(total)
    factor = max_norm / norm
    if factor < 1:
        for g in gradients:
            g *= factor
    return norm
"""
ROOT, SHORTEN = "norm = math.sqrt(total)", "    if factor < 1:\n        for g in gradients:\n            g *= factor\n"
CLIP_WRONG = {
    "gradients_unchanged": [("g *= factor", "g = g * factor")],
    "each_gradient_clipped_alone": [
        (
            SHORTEN,
            "    for g in gradients:\n        if g.norm() > max_norm:\n            g.div_(g.norm()).mul_(max_norm)\n",
        )
    ],
    "clipped_by_value": [(SHORTEN, "    for g in gradients:\n        torch.clip(g, -max_norm, max_norm, out=g)\n")],
    "short_gradients_lengthened": [("if factor < 1:", "if norm > 0:")],
    "clipped_when_short": [("factor < 1", "factor > 1")],
    "factor_inverted": [("max_norm / norm", "norm / max_norm"), ("factor < 1", "factor > 1")],
    "shortened_to_one": [("g *= factor", "g /= norm")],
    "root_missing": [("math.sqrt(total)", "total")],
    "norms_added": [("(g ** 2).sum().item()", "g.norm()"), ("math.sqrt(total)", "total")],
    "largest_norm_taken": [(ROOT, "norm = max(torch.linalg.vector_norm(g) for g in gradients)")],
    "norms_averaged": [(ROOT, "norm = sum(float(g.norm()) for g in gradients) / len(gradients)")],
    "norm_of_means": [(ROOT, "norm = math.sqrt(total / sum(g.numel() for g in gradients))")],
    "absolute_values_added": [("(g ** 2).sum().item()", "g.abs().sum().item()"), ("math.sqrt(total)", "total")],
    "largest_number_taken": [
        ("total = total + (g ** 2).sum().item()", "total = max(total, g.abs().max().item() ** 2)")
    ],
    "norm_of_last_only": [("total = total +", "total =")],
    "norm_of_first_only": [("for g in gradients:\n        total", "for g in gradients[:1]:\n        total")],
    "norm_measured_again": [
        ("g *= factor", "g *= max_norm / torch.cat([one.reshape(-1) for one in gradients]).norm()")
    ],
    "gradients_dropped": [("g *= factor", "g.fill_(0.0)")],
    "return_in_the_loop": [("g *= factor", "g *= factor\n            return norm")],
    "norm_after_clipping": [("return norm", "return torch.cat([g.flatten() for g in gradients]).norm()")],
    "factor_returned": [("return norm", "return factor if factor < 1 else 1")],
}
CLIP_RIGHT = [
    [("factor = max_norm / norm", "factor = max_norm / (norm + 1e-6)")],
    [
        (SHORTEN, "    torch._foreach_mul_(gradients, min(1.0, factor))\n"),
        ("return norm", "return torch.tensor([norm])"),
    ],
    [("if factor < 1:", "if norm >= max_norm:"), ("g *= factor", "g.copy_(g / norm * max_norm)")],
    [(ROOT, "norm = torch.nn.utils.get_total_norm(gradients)"), ("g *= factor", "g.data.mul_(factor)")],
    [("for g in gradients:\n            g *=", "for k in range(len(gradients)):\n            gradients[k] *=")],
]

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
IN_WINDOWS = """
def train_in_windows(model, inputs, targets, size, learning_rate, max_norm):
    optimizer = torch.optim.SGD(model.parameters(), lr=learning_rate)
    criterion = nn.CrossEntropyLoss()
    model.train()
    losses, state = [], None
    for start in range(0, inputs.shape[0], size):
        x, y = inputs[start : start + size], targets[start : start + size]
        if state is not None:
            state = state.detach()
        logits, state = model(x, state)
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
WINDOWED = (
    "inputs[start : start + size], targets[start : start + size]",
    "inputs[start : start + size{}], targets[start : start + size{}]",
)
STARTS = "range(0, inputs.shape[0], size)"
IN_WINDOWS_WRONG = LEARNING_WRONG | {
    "state_not_carried": [("model(x, state)", "model(x)")],
    "state_not_cut": [("            state = state.detach()", "            pass")],
    "state_cut_within_window": [
        (
            "logits, state = model(x, state)",
            (
                "steps = []\n        for x_t in x.split(1):\n            out, state = model(x_t, None if state is None"
                " else state.data); steps.append(out)\n        logits = torch.cat(steps)"
            ),
        ),
    ],
    "losses_added_up": [
        ("losses, state = [], None", "total, losses, state = 0, [], None"),
        ("loss.backward()", "total += loss; total.backward()"),
    ],
    "last_window_dropped": [(STARTS, "range(0, len(inputs) // size * size, size)")],
    "last_window_divided_by_size": [(LOSS, f"{LOSS} * len(x) / size")],
    "state_computed_again": [
        ("logits, state = model(x, state)", "logits, _ = model(x, state)"),
        ("losses.append", "state = model(x, state)[1]; losses.append"),
    ],
    "size_as_number_of_windows": [
        (f"for start in {STARTS}:", "for x, y in zip(inputs.chunk(size), targets.chunk(size)):"),
        (f"        x, y = {WINDOWED[0]}\n", ""),
    ],
    "windows_overlap": [(STARTS, "range(max(len(inputs) - size + 1, 1))")],
    "windows_end_one_late": [(WINDOWED[0], WINDOWED[1].format(" + 1", " + 1"))],
    "windows_end_one_early": [(WINDOWED[0], WINDOWED[1].format(" - 1", " - 1"))],
    "first_window_missing": [(STARTS, "range(size, inputs.shape[0], size)")],
    "windows_reversed": [(STARTS, "range(0, inputs.shape[0], size)[::-1]")],
    "windows_cut_across": [
        (STARTS, "range(0, inputs.shape[1], size)"),
        (WINDOWED[0], "inputs[:, start : start + size], targets[:, start : start + size]"),
    ],
    "one_step_at_the_end": [
        ("        optimizer.zero_grad()\n", ""),
        (f"        {CLIPPED}\n        optimizer.step()\n", ""),
        ("    return", f"    {CLIPPED}\n    optimizer.step()\n    return"),
    ],
}
IN_WINDOWS_RIGHT = [
    [
        (f"for start in {STARTS}:", "for x, y in zip(inputs.split(size), targets.split(size)):"),
        (f"        x, y = {WINDOWED[0]}\n", ""),
    ],
    [
        ("        if state is not None:\n            state = state.detach()\n", ""),
        ("losses.append(loss.item())", "losses.append(loss)\n        state = state.data"),
        ("return losses", "return torch.stack(losses).detach()"),
    ],
    [
        ("losses, state = [], None", "losses, state = [], torch.zeros(inputs.shape[1], len(model.weight_hh))"),
        ("optimizer.step()", "[p.data.sub_(p.grad * learning_rate) for p in model.parameters()]"),
    ],
    [
        ("state = state.detach()", "state = torch.tensor(state.tolist())"),
        ("losses.append(loss.item())", "yield loss.item()"),
        ("    return losses\n", ""),
    ],
]

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

ANSWERS = {
    "inputs_and_targets": Program(WINDOWS, WINDOWS_WRONG, also_wrong=[
        ("targets_not_shifted", [*EVERY, (NEXT, PIECE)]),
        ("targets_wrap_in_window", [*EVERY, (NEXT, f"torch.cat([{PIECE}[1:], {PIECE}[:1]])")]),
        ("target_made_up", [*EVERY, (NEXT, "F.pad(indices, (0, 1))[t + 1 : t + size + 1]")]),
        ("target_made_up", [*EVERY, (NEXT, "F.pad(indices, (0, 1), value=-100)[t + 1 : t + size + 1]")]),
        ("whole_window_missing", [(RANGE, "range(0, len(indices) // size * size - size, size)")]),
        ("rest_filled_up", [
            (RANGE, "range(0, len(indices) - 1, size)"), (PIECE, "F.pad(indices[:-1], (0, size))[t : t + size]"),
            (NEXT, "F.pad(indices[1:], (0, size), value=-100)[t : t + size]"),
        ]),
        ("wrong_form", "lambda x, n: list(zip(x.split(n), x[1:].split(n)))"),
    ], also_right=WINDOWS_RIGHT, pairs=[
        ("inputs_and_targets_swapped", "whole_window_missing"),
        ("variant_windows_first", "targets_not_shifted"),
    ]),
    "clip_gradients": Program(CLIP, CLIP_WRONG, also_wrong=[
        ("each_gradient_clipped_alone", [
            (SHORTEN,
            "    for g in gradients:\n        norm = g.norm()\n        if norm > max_norm:\n            g *= max_norm / norm\n"),  # noqa: E501
        ]),
        ("wrong_form", "lambda g, c: [one * c for one in g]"),
        ("returns_none", "lambda g, c: None"),
    ], also_right=CLIP_RIGHT, pairs=[
        ("norms_added", "factor_returned"),
        ("root_missing", "short_gradients_lengthened"),
    ]),
    "train": Program(LOOP, TRAIN_WRONG, also_wrong=[
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
        # `backward` stops for many reasons: only those that are known are named.
        ("raises_error", [("losses.append",
        "if losses: raise RuntimeError('of another kind')\n            losses.append")]),
    ], also_right=TRAIN_RIGHT, pairs=[
        ("gradients_not_zeroed", "not_in_training_mode"),
        ("loss_summed", "gradients_not_clipped"),
        ("stepped_up", "state_carried"),
        ("adam_for_descent", "softmax_before_loss"),
        ("epochs_ignored", "losses_keep_their_graph"),
    ]),
    "evaluate": Program(HELD_OUT, HELD_OUT_WRONG, also_wrong=[
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
    ]),
    "train_in_windows": Program(IN_WINDOWS, IN_WINDOWS_WRONG, also_wrong=[
        ("state_not_cut", [("            state = state.detach()", "            pass"), ("backward()",
        "backward(retain_graph=True)")]),
        ("wrong_shape", "lambda *given: iter([])"),
        # `backward` stops for many reasons: only those that are known are named.
        ("raises_error", [("state = state.detach()", "state = state.detach().T")]),
        ("raises_error", [("losses.append", "if start: raise RuntimeError('of another kind')\n        losses.append")]),
    ], also_right=IN_WINDOWS_RIGHT, pairs=[
        ("state_not_carried", "last_window_dropped"),
        ("windows_reversed", "gradients_not_clipped"),
        ("state_not_cut", "not_in_training_mode"),
    ]),
}  # fmt: skip
