"""Answers to the question `read_piece`."""

from tests.check.answers import Program

PIECE = """
def read_piece(x, before, h, weight, a):
    D, W = weight.shape
    both = torch.cat((before, x), 0)
    states = torch.empty_like(x)
    old = h
    for t, x_t in enumerate(x):
        u = 0
        for j in range(W):
            u = u + weight[:, j] * both[t + j]
        h = u + h * a
        states[t] = h
    rest = both[both.shape[0] - W + 1:]
    return states, rest, h
"""
BOTH, ADD, STEP, NOTE, REST, RETURN = (
    "torch.cat((before, x), 0)", "u = u + weight[:, j] * both[t + j]", "u + h * a", "states[t] = h",
    "both[both.shape[0] - W + 1:]", "return states, rest, h")  # fmt: skip
LISTED = [("states = torch.empty_like(x)", "states = []"), (NOTE, "states.append(h)")]
WRONG = {
    "short_piece_shortens_memory": [(REST, "x[-(W - 1):]")],
    "slice_from_minus_zero": [(REST, "both[-(W - 1):]")],
    "inputs_not_remembered": [(REST, "before")],
    "given_inputs_ignored": [(BOTH, "torch.cat((torch.zeros_like(before), x), 0)")],
    "given_state_ignored": [("    old = h\n", "    h = torch.zeros_like(h)\n")],
    "state_not_carried": [(RETURN, "return states, rest, old")],
    "one_input_too_many_kept": [(REST, "both[-W:]")],
    "one_input_too_few_kept": [(REST, "both[both.shape[0] - W + 2:]")],
    "all_inputs_kept": [(REST, "both")],
    "inputs_newest_first": [(REST, f"{REST}.flip(0)")],
    "outputs_kept_for_inputs": [(REST, "torch.cat((before, states), 0)[len(x):]")],
    "kernel_turned": [("weight[:, j]", "weight[:, W - 1 - j]")],
    "convolution_missing": [("h = u + h * a", "h = x_t + h * a")],
    "newest_input_only": [("range(W)", "[W - 1]")],
    "newest_input_left_out": [("range(W)", "range(W - 1)")],
    "inputs_averaged": [("h = u + h * a", "h = u / W + h * a")],
    "factor_missing": [(STEP, "u + h")],
    "factor_on_sum": [(STEP, "(u + h) * a")],
    "input_gets_the_rest": [(STEP, "(1 - a) * u + h * a")],
    "old_state_lost": [(STEP, "u + 0 * h")],
    "convolution_for_output": [(NOTE, "states[t] = u")],
    "output_one_early": [(f"h = {STEP}\n        {NOTE}", f"{NOTE}\n        h = {STEP}")],
    "empty_piece_stops": [*LISTED, ("return states", "return torch.stack(states)")],
    "empty_piece_without_axes": [
        *LISTED, ("return states", "return torch.stack(states) if states else torch.zeros(0)")],
    "empty_piece_clears_state": [
        ("    D, W", "    if len(x) == 0:\n        return x, torch.zeros_like(before), torch.zeros_like(h)\n    D, W")],
    "only_last_output": [("return states", "return h")],
    "divided_by_products": """
        def read_piece(x, before, h, weight, a):
            L, W = len(x), weight.shape[1]
            both = torch.cat([before, x])
            u = torch.zeros_like(x)
            for j in range(W):
                u = u + weight[:, j] * both[j:j + L]
            powers = a.expand(L, len(a)).cumprod(0).unsqueeze(1)
            states = powers * (h + torch.cumsum(u / powers, 0))
            return states, both[L:], torch.cat([h[None], states])[-1]
    """,
    "state_detached": [(RETURN, "return states, rest.detach(), h.detach()")],
    "states_in_other_order": [(RETURN, "return states, h, rest")],
}  # fmt: skip

RIGHT = {
    "convolution of torch": """
        def read_piece(x, before, h, weight, a):
            both = torch.cat([before, x])
            if not len(x):
                return x, before, h
            u = F.conv1d(both.permute(1, 2, 0), weight.unsqueeze(1), groups=len(a)).permute(2, 0, 1)
            output = []
            for u_t in u:
                h = torch.addcmul(u_t, a, h)
                output.append(h)
            return torch.stack(output), both[len(x):], h
    """,
    "windows": """
        def read_piece(x, before, h, weight, a):
            L, W = x.shape[0], weight.shape[1]
            both = torch.cat([before, x])
            u = sum(both[j:j + L] * weight[:, j] for j in range(W))
            states = [h]
            for t in range(L):
                states.append(a * states[-1] + u[t])
            return torch.stack(states)[1:], both[L:], states[L]
    """,
    "inputs shifted one by one": """
        def read_piece(x, before, h, weight, a):
            output = x.new_empty(x.shape)
            for t in range(len(x)):
                window = torch.cat([before, x[t:t + 1]])
                h = a * h + torch.einsum("wnd,dw->nd", window, weight)
                before = window[1:]
                output[t] = h
            return output, before, h
    """,
    "sums of powers": """
        def read_piece(x, before, h, weight, a):
            L, W = len(x), weight.shape[1]
            both = torch.cat([before, x])
            u = sum(both[j:j + L] * weight[:, j] for j in range(W))
            apart = torch.arange(L)[:, None] - torch.arange(L)
            share = torch.where(apart[..., None] < 0, 0.0, a ** apart.clamp(min=0)[..., None])
            output = torch.einsum("tsd,snd->tnd", share, u) + a ** torch.arange(1, L + 1)[:, None, None] * h
            return [output, both[L:], output[-1] if L else h]
    """,
    "step by step by itself": """
        def read_piece(x, before, h, weight, a):
            if len(x) == 0:
                return x.clone(), before.clone(), h.clone()
            if len(x) == 1:
                window = torch.cat([before, x])
                h = h * a + (window * weight.T.unsqueeze(1)).sum(0)
                return h[None], window[1:], h
            first, before, h = read_piece(x[:1], before, h, weight, a)
            others, before, h = read_piece(x[1:], before, h, weight, a)
            return torch.cat([first, others]), before, h
    """,
    "numbers one by one": """
        def read_piece(x, before, h, weight, a):
            both, out = torch.cat([before, x]), torch.zeros_like(x)
            h = list(h.unbind(1))
            for t in range(len(x)):
                for d in range(len(a)):
                    h[d] = a[d] * h[d] + both[t:t + weight.shape[1], :, d].T @ weight[d]
                    out[t, :, d] = h[d]
            return out, both[len(x):], torch.stack(h, dim=1)
    """,
    "in float32": "lambda *given: read_piece(*(tensor.float() for tensor in given))",
}  # fmt: skip

ALSO_WRONG = [
    ("one_input_too_many_kept", [(REST, "both[both.shape[0] - W:]")]),
    ("short_piece_shortens_memory", [(REST, "x[-(W - 1):] if W > 1 else before")]),
    ("inputs_not_remembered", [(REST, "torch.zeros_like(before)")]),
    ("state_not_carried", [(STEP, "u + old * a")]),
    ("given_inputs_ignored", """
        def read_piece(x, before, h, weight, a):
            W, both, states = weight.shape[1], torch.cat([before, x]), []
            if len(x) == 0:
                return x, before, h
            padded = F.pad(x.permute(1, 2, 0), (W - 1, 0))
            for u in F.conv1d(padded, weight[:, None], groups=len(a)).permute(2, 0, 1):
                h = a * h + u
                states.append(h)
            return torch.stack(states), both[len(x):], h
    """),
    ("empty_piece_stops", [(RETURN, "return states, rest, states[-1]")]),
    ("empty_piece_clears_state", [(RETURN, "return states, rest, h if len(x) else torch.zeros_like(h)")]),
    ("state_detached", [(RETURN, "return states, rest, h.detach()")]),
    ("state_detached", [(RETURN, "return states, rest.detach(), h")]),
    ("one_input_too_many_kept", [(REST, "both[max(len(x) - 1, 0):]")]),
    ("wrong_form", [(RETURN, "return states, (rest, h)")]),
    ("returns_none", [(f"    {RETURN}\n", "")]),
    ("no_gradient", [(RETURN, "return states.detach(), rest.detach(), h.detach()")]),
    ("changes_its_input", [("    old = h\n", "    weight.mul_(1.5).div_(1.5).add_(1e-9)\n")]),
    (("kernel_turned", "factor_missing"), [("weight[:, j]", "weight[:, W - 1 - j]"), (STEP, "u + h")]),
    (("given_inputs_ignored", "factor_on_sum"),
     [(BOTH, "torch.cat((torch.zeros_like(before), x), 0)"), (STEP, "(u + h) * a")]),
]  # fmt: skip

PROGRAM = Program(PIECE, WRONG, ALSO_WRONG, RIGHT, [
    ("kernel_turned", "inputs_not_remembered"), ("factor_missing", "given_inputs_ignored"),
    ("input_gets_the_rest", "state_not_carried"),
])  # fmt: skip
