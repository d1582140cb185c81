"""Answers of three imagined students (folder `similar`), and disguised copies of them.

A copy changes names, comments, order, and other things that need no understanding.
"""

import re
from pathlib import Path

from tests.check.programs import changed

ANSWERS = {
    file.stem: file.read_text(encoding="utf-8") for file in sorted((Path(__file__).parent / "similar").glob("*.py"))
}


def pieces(source):
    """Return the functions and classes of a file by name."""
    parts = [part.strip() for part in re.split(r"\n\n\n(?=def |class )", source)]
    return {re.search(r"(?:def|class) (\w+)", part)[1]: part for part in parts}


def renamed(source, names):
    """Replace whole words. names: `old new, old new`."""
    for old, new in (pair.split() for pair in names.split(", ")):
        source = re.sub(rf"(?<![\w\"']){old}\b", new, source)
    return source


def commented(source, every=3):
    """Replace the comments by others between the lines."""
    lines = [re.sub(r"\s*#.*", "", line) for line in source.split("\n")]
    lines = [line for line in lines if line.strip()]
    out = []
    for number, line in enumerate(lines):
        inside = line.startswith("    ") and lines[number - 1].rstrip().endswith((")", "]", ":"))
        if number % every == 1 and inside and not line.lstrip().startswith((")", "bias", "input_size", "x,")):
            out.append(" " * (len(line) - len(line.lstrip())) + f"# now comes the part with number {number}")
        out.append(line)
    return "\n".join(out)


def reordered(source):
    return "\n\n\n".join(commented(part) for part in reversed(pieces(source).values()))


def copies():
    """Return {name: (author, source)}."""
    other_names = renamed(
        ANSWERS["rnn_1"],
        "from_input left, from_state right, k bound, seq_len length, state current, results collected, "
        "ends finals, total count, start begin, stop end, states memory, gi d_in, gwih d_w, gwhh d_u, gb d_b, carry back, "  # noqa: E501
        "upstream incoming, local delta, t step")  # fmt: skip
    other_text = changed(
        renamed(ANSWERS["rnn_3"],
        "output outs, rows parts, previous before, dh d, dz e, dx gi, dW gw, dU gu, db gb, dh_next carry"),
        ("        gi[t] = e.mm(weight_ih)\n        gw = gw + input[t].T.mm(e).T\n",
         "        gw = gw + input[t].T.mm(e).T\n        gi[t] = e.mm(weight_ih)\n"),
        ("if t > 0 else", "if t else"),
    )  # fmt: skip
    own, others = pieces(ANSWERS["rnn_2"]), pieces(other_text)
    parts = own | {"rnn": others["rnn"], "rnn_backward": commented(others["rnn_backward"])}
    return {
        "other names, other order": ("rnn_1", reordered(other_names)),
        "two answers of five": ("rnn_3", "\n\n\n".join(parts.values())),
    }


# Equivalent ways to write each step of `rnn`, for the answers of a class without copies.
WAYS = {
    "product": ("{a} @ {w}.T", "torch.matmul({a}, {w}.t())", "{a}.mm({w}.T)", "F.linear({a}, {w})",
    "{a} @ {w}.transpose(0, 1)"),
    "tanh": ("torch.tanh({a})", "({a}).tanh()"),
    "sum": ("{xw} + {bi} + {hw} + {bh}", "{xw} + {hw} + {bi} + {bh}", "({xw} + {bi}) + ({hw} + {bh})",
    "{xw} + {hw} + ({bi} + {bh})"),
    "named": ("return {all}", "a = {sum}\n    return {tanh_a}",
    "left = {sum}\n    new_h = {tanh_left}\n    return new_h"),
    "first": ("[0]", ".squeeze(0)", ".view({n}, -1)"),
    "last": ("[None]", ".unsqueeze(0)", ".reshape(1, *h.shape)"),
    "loop": ("for x in input:", "for t in range(len(input)):\n        x = input[t]", "for t, x in enumerate(input):",
             "for t in range(input.shape[0]):\n        x = input[t]", "for x in input.unbind(0):"),
    "join": ("torch.stack(out)", "torch.stack(out, dim=0)", "torch.cat([o.unsqueeze(0) for o in out])"),
    "add": ("out.append(h)", "out += [h]", "out = out + [h]"),
    "turn": ("for t in reversed(range(len(input))):", "for t in range(len(input) - 1, -1, -1):",
    "for t in list(range(len(input)))[::-1]:"),
    "slope": ("(1 - {y} ** 2)", "(1 - {y} * {y})", "(1 - {y}.pow(2))", "(1 - torch.square({y}))"),
    "back": ("dw_ih += d.T @ input[t]\n        dw_hh += d.T @ hs[t]",
    "dw_ih = dw_ih + d.t() @ input[t]\n        dw_hh = dw_hh + d.t() @ hs[t]",
             "dw_hh = dw_hh + torch.matmul(d.T, hs[t])\n        dw_ih = dw_ih + torch.matmul(d.T, input[t])"),
    "bias": ("db += d.sum(0)", "db = db + d.sum(dim=0)", "db = db + torch.sum(d, 0)"),
}  # fmt: skip


def independent(random):
    """Return answers to three questions of `rnn`, with a random choice from each entry of WAYS."""
    way = {name: random.choice(ways) for name, ways in WAYS.items()}
    product = lambda a, w: way["product"].format(a=a, w=w)  # noqa: E731
    total = way["sum"].format(xw=product("x", "weight_ih"), hw=product("h", "weight_hh"), bi="bias_ih", bh="bias_hh")
    tanh = {f"tanh_{name}": way["tanh"].format(a=name) for name in ("a", "left")}
    body = way["named"].format(all=way["tanh"].format(a=total), sum=total, **tanh)
    step = random.choice(("rnn_step(x, h, weight_ih, weight_hh, bias_ih, bias_hh)", "rnn_step(x, h, *w)"))
    w = "w = weight_ih, weight_hh, bias_ih, bias_hh\n    " if "*w" in step else ""
    first = way["first"].format(n="input.shape[1]")
    return f"""def rnn_step(x, h, weight_ih, weight_hh, bias_ih, bias_hh):
    {body}


def rnn(input, h_0, weight_ih, weight_hh, bias_ih, bias_hh):
    {w}h = h_0{first}
    out = []
    {way["loop"]}
        h = {step}
        {way["add"]}
    return {way["join"]}, h{way["last"]}


def rnn_backward(
    input, h_0, weight_ih, weight_hh, bias_ih, bias_hh, grad_output, grad_h_n
):
    {w}h = h_0{first}
    hs = [h]
    {way["loop"]}
        h = {step}
        hs.append(h)
    dx = torch.zeros_like(input)
    dw_ih, dw_hh, db = torch.zeros_like(weight_ih), torch.zeros_like(weight_hh), torch.zeros_like(bias_ih)
    dh = grad_h_n{first}
    {way["turn"]}
        d = (grad_output[t] + dh) * {way["slope"].format(y="hs[t + 1]")}
        dx[t] = d @ weight_ih
        {way["back"]}
        {way["bias"]}
        dh = d @ weight_hh
    return dx, dh{way["last"]}, dw_ih, dw_hh, db, db.clone()
"""
