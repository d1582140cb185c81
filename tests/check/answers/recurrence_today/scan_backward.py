"""Answers to the question `scan_backward`."""

import torch

from tests.check.answers import Program, drawn_pairs

BACKWARD = """
def scan_backward(a, b, h_0, grad_h):
    T = a.shape[0]
    states = [h_0]
    for t in range(T):
        states.append(a[t] * states[t] + b[t])
    da, db = torch.empty_like(a), torch.empty_like(b)
    carry = torch.zeros_like(h_0)
    for t in range(T - 1, -1, -1):
        dh = grad_h[t] + carry
        da[t] = dh * states[t]
        db[t] = dh
        carry = dh * a[t]
    dh_0 = carry
    return da, db, dh_0
"""
SUM, CARRY, DA, DB, LAST = (
    "grad_h[t] + carry", "carry = dh * a[t]", "dh * states[t]", "db[t] = dh\n", "dh_0 = carry")  # fmt: skip
RETURN = "return da, db, dh_0"
WRONG = {
    "factor_of_own_step": [(SUM, "grad_h[t] + a[t] * carry"), (CARRY, "carry = dh")],
    "factor_missing_on_way_back": [(CARRY, "carry = dh")],
    "state_after_step_in_gradient": [(DA, "dh * states[t + 1]")],
    "first_state_left_out": [(DA, "dh * states[t] if t > 0 else 0")],
    "given_state_ignored": [("states = [h_0]", "states = [torch.zeros_like(h_0)]")],
    "later_steps_missing": [(SUM, "grad_h[t]")],
    "gradient_one_step_back_only": [(CARRY, "carry = grad_h[t] * a[t]")],
    "gradient_of_last_state_only": [(SUM, "carry if t < T - 1 else grad_h[t]")],
    "gradient_multiplied_by_later": [(SUM, "grad_h[t] * carry if t < T - 1 else grad_h[t]")],
    "loop_stops_early": [("range(T - 1, -1, -1)", "range(T - 1, 0, -1)"), ("torch.empty_like", "torch.zeros_like")],
    "time_not_reversed": [("range(T - 1, -1, -1)", "range(T)")],
    "gradients_left_reversed": [(RETURN, "return da.flip(0), db.flip(0), dh_0")],
    "state_missing_in_grad_a": [(DA, "dh")],
    "b_for_state_in_grad_a": [(DA, "dh * b[t]")],
    "grad_a_from_own_step": [(DA, "grad_h[t] * states[t]")],
    "grad_b_from_own_step": [(DB, "db[t] = grad_h[t]\n")],
    "factor_in_grad_b": [(DB, "db[t] = dh * a[t]\n")],
    "factor_missing_in_grad_h_0": [(LAST, "dh_0 = dh")],
    "grad_h_0_zero": [(LAST, "dh_0 = torch.zeros_like(h_0)")],
    "grad_h_0_from_first_step": [(LAST, "dh_0 = grad_h[0] * a[0]")],
    "old_state_by_division": [(DA, "dh * ((states[t + 1] - b[t]) / a[t])")],
    "divided_by_products": """
        def scan_backward(a, b, h_0, grad_h):
            states = [h_0]
            for a_t, b_t in zip(a, b):
                states.append(a_t * states[-1] + b_t)
            P = a.cumprod(0)
            db = (P * grad_h).flip(0).cumsum(0).flip(0) / P
            return db * torch.stack(states[:-1]), db, a[0] * db[0]
    """,
    "gradient_negated": [(RETURN, "return -da, -db, -dh_0")],
    "sequences_averaged": [(RETURN, "return da / a.size(1), db / a.size(1), dh_0 / a.size(1)")],
    "gradients_of_a_and_b_exchanged": [(RETURN, "return db, da, dh_0")],
}  # fmt: skip

RIGHT = {
    "a scan to the left": """
        def scan_backward(a, b, h_0, grad_h):
            def scan(a, b, h):
                states = []
                for a_t, b_t in zip(a, b):
                    h = a_t * h + b_t
                    states.append(h)
                return torch.stack(states)

            h = scan(a, b, h_0)
            later = torch.cat([a[1:], torch.zeros_like(a[:1])])
            delta = scan(later.flip(0), grad_h.flip(0), torch.zeros_like(h_0)).flip(0)
            return delta * torch.cat([h_0[None], h[:-1]]), delta, a[0] * delta[0]
    """,
    "sums of products": """
        def scan_backward(a, b, h_0, grad_h):
            T, before = len(a), [h_0]
            for t in range(T):
                before.append(a[t] * before[t] + b[t])
            delta = []
            for s in range(T):
                delta.append(sum(grad_h[t] * a[s + 1:t + 1].prod(0) for t in range(s, T)))
            delta = torch.stack(delta)
            return [delta * torch.stack(before[:T]), delta, delta[0] * a[0]]
    """,
    "lists from the front": """
        def scan_backward(a, b, h_0, grad_h):
            hs, grads_a, grads_b, g = [h_0], [], [], 0
            for x, y in zip(a, b):
                hs.append(x * hs[-1] + y)
            for x, h, d in reversed(list(zip(a, hs, grad_h))):
                d = d + g
                grads_a.insert(0, d * h)
                grads_b.insert(0, d)
                g = x * d
            return torch.stack(grads_a), torch.stack(grads_b), g
    """,
    "by a matrix": """
        def scan_backward(a, b, h_0, grad_h):
            T = len(a)
            share = torch.zeros(T, T, *h_0.shape)
            for s in range(T):
                share[s, s] = 1
                for t in range(s + 1, T):
                    share[t, s] = share[t - 1, s] * a[t]
            h = (share * b[None]).sum(1) + a.cumprod(0) * h_0
            delta = (share * grad_h[:, None]).sum(0)
            return delta * torch.cat([h_0[None], h[:-1]]), delta, delta[0] * a[0]
    """,
    "under no_grad": [("def scan", "@torch.no_grad()\ndef scan")],
    "in numpy": """
        def scan_backward(a, b, h_0, grad_h):
            a, b, h_0, grad_h = (x.numpy() for x in (a, b, h_0, grad_h))
            h, d = [h_0], numpy.zeros_like(h_0)
            for t in range(len(a)):
                h.append(a[t] * h[t] + b[t])
            out = numpy.zeros_like(a)
            for t in range(len(a))[::-1]:
                out[t] = grad_h[t] + d
                d = a[t] * out[t]
            given = out * numpy.stack(h[:-1]), out, d
            return tuple(torch.from_numpy(x.copy()) for x in given)
    """,
    "in float32": "lambda *given: scan_backward(*(tensor.float() for tensor in given))",
}  # fmt: skip


def by_autograd(a, b, h_0, grad_h):
    with torch.enable_grad():
        a, b, h_0 = (tensor.clone().requires_grad_() for tensor in (a, b, h_0))
        h, states = h_0, []
        for a_t, b_t in zip(a, b):
            h = a_t * h + b_t
            states.append(h)
        return torch.autograd.grad(torch.stack(states), (a, b, h_0), grad_h)


ALSO_WRONG = [
    ("loop_stops_early", """
        def scan_backward(a, b, h_0, grad_h):
            states, grads_a, grads_b, later = [h_0], [], [], torch.zeros_like(h_0)
            for a_t, b_t in zip(a, b):
                states.append(a_t * states[-1] + b_t)
            for t in range(len(a) - 1, 0, -1):
                delta = grad_h[t] + later
                grads_a.insert(0, delta * states[t])
                grads_b.insert(0, delta)
                later = a[t] * delta
            return torch.stack(grads_a), torch.stack(grads_b), later
    """),
    ("library_layer", by_autograd),
    ("library_layer", lambda a, b, h_0, grad_h: companion_scan(a, b, h_0, grad_h)),
    ("factor_of_own_step", """
        def scan_backward(a, b, h_0, grad_h):
            h = [h_0]
            for t in range(len(a)):
                h.append(a[t] * h[t] + b[t])
            delta = [grad_h[-1]]
            for t in range(len(a) - 2, -1, -1):
                delta.insert(0, grad_h[t] + a[t] * delta[0])
            delta = torch.stack(delta)
            return delta * torch.stack(h[:-1]), delta, a[0] * delta[0]
    """),
    ("gradients_left_reversed", [(RETURN, "return da.flip(0), db, dh_0")]),
    ("returns_none", [(f"    {RETURN}\n", "")]),
    ("wrong_form", [(RETURN, "return da, db")]),
    ("changes_its_input", [("carry = dh * a[t]", "carry = dh * a[t]; grad_h[t] = dh")]),
    (("factor_missing_in_grad_h_0", "state_after_step_in_gradient"),
     [(LAST, "dh_0 = dh"), (DA, "dh * states[t + 1]")]),
    ("divided_by_products", """
        def scan_backward(a, b, h_0, grad_h):
            P = a.cumprod(0)
            h = P * (h_0 + (b / P).cumsum(0))
            delta, d = torch.zeros_like(a), 0
            for t in reversed(range(len(a))):
                delta[t] = grad_h[t] + d
                d = a[t] * delta[t]
            return delta * torch.cat([h_0[None], h[:-1]]), delta, d
    """),
]  # fmt: skip


def companion_scan(a, b, h_0, grad_h):
    from companion import scan

    h = scan(a, b, h_0)
    delta = scan(torch.cat([torch.zeros_like(a[:1]), a[1:].flip(0)]), grad_h.flip(0)).flip(0)
    return delta * torch.cat([h_0[None], h[:-1]]), delta, a[0] * delta[0]


PROGRAM = Program(
    BACKWARD,
    WRONG,
    ALSO_WRONG,
    RIGHT,
    drawn_pairs(
        "scan_backward",
        BACKWARD,
        {name: edits for name, edits in WRONG.items() if isinstance(edits, list)},
        16,
        lambda pair, edits: len({old for old, _ in edits}) < len(edits),
    ),
)
