"""How a tensor is printed: torch's way, to the letter.

All numbers are written with as many digits as the one that needs most, in columns; what has more than a thousand
is shown by its ends.
"""

import math

import numpy as np

OPTIONS = {"precision": 4, "threshold": 1000, "edgeitems": 3, "linewidth": 80, "sci_mode": None}
PROFILES = {
    "default": OPTIONS.copy(),
    "short": {"precision": 2, "threshold": 1000, "edgeitems": 2, "linewidth": 80},
    "full": {"precision": 4, "threshold": math.inf, "edgeitems": 3, "linewidth": 80},
}


def set_printoptions(precision=None, threshold=None, edgeitems=None, linewidth=None, profile=None, sci_mode=None):
    """How many digits, how many numbers before there are dots, how many at each end, how wide, in powers of ten or
    not."""
    if profile is not None:
        OPTIONS.update(PROFILES[profile])
    given = {"precision": precision, "threshold": threshold, "edgeitems": edgeitems, "linewidth": linewidth}
    OPTIONS.update({name: value for name, value in given.items() if value is not None})
    OPTIONS["sci_mode"] = sci_mode


class Format:
    """How the numbers of one tensor are written: chosen by all that are shown."""

    def __init__(self, shown):
        self.kind, self.whole, self.powers, self.width = shown.dtype.kind, True, False, 1
        flat = shown.reshape(-1)
        if self.kind != "f":
            self.width = max((len(str(one)) for one in flat.tolist()), default=1)
            return
        counted = flat[np.isfinite(flat) & (flat != 0)].astype(np.float64)
        if not counted.size:  # zeros, and what is not finite, say nothing about digits
            return
        self.whole = bool((counted == np.ceil(counted)).all())
        least, most = np.abs(counted).min(), np.abs(counted).max()
        self.powers = bool(most / least > 1000 or most > 1e8 or least < 1e-4)
        if OPTIONS["sci_mode"] is not None:
            self.powers = OPTIONS["sci_mode"]
        self.width = max(len(self.of(one)) for one in counted.tolist())

    def of(self, value):
        if self.kind != "f":
            return str(value)
        if self.powers:
            return f"{value:.{OPTIONS['precision']}e}"
        if self.whole:
            text = f"{value:.0f}"
            return text if math.isinf(value) or math.isnan(value) else text + "."
        return f"{value:.{OPTIONS['precision']}f}"

    def text(self, value):
        return self.of(value).rjust(self.width)


def summary(array):
    """What is shown of a large tensor: its ends, along each axis."""
    ends = OPTIONS["edgeitems"]
    for dim, n in enumerate(array.shape):
        if n > 2 * ends:
            array = np.take(array, [*range(ends), *range(n - ends, n)], dim)
    return array


def scalar(value, formats):
    if len(formats) == 1:
        return formats[0].text(value)
    imag = formats[1].text(value.imag).lstrip()
    return formats[0].text(value.real) + (f"+{imag}j" if imag[0] not in "+-" else f"{imag}j")


def vector(values, indent, short, formats):
    length = sum(one.width for one in formats) + 2 + (len(formats) - 1)  # a comma and a space; j
    ends = OPTIONS["edgeitems"]
    if short and len(values) > 2 * ends:
        texts = [scalar(one, formats) for one in values[:ends].tolist()] + [" ..."]
        texts += [scalar(one, formats) for one in values[-ends:].tolist()]
    else:
        texts = [scalar(one, formats) for one in values.tolist()]
    per_line = max(1, math.floor((OPTIONS["linewidth"] - indent) / length))
    lines = [", ".join(texts[i : i + per_line]) for i in range(0, len(texts), per_line)]
    return "[" + (",\n" + " " * (indent + 1)).join(lines) + "]"


def nested(array, indent, short, formats):
    if array.ndim == 0:
        return scalar(array.item(), formats)
    if array.ndim == 1:
        return vector(array, indent, short, formats)
    ends = OPTIONS["edgeitems"]
    parts = lambda rows: [nested(one, indent + 1, short, formats) for one in rows]  # noqa: E731
    texts = [*parts(array[:ends]), "...", *parts(array[-ends:])] if short and len(array) > 2 * ends else parts(array)
    return "[" + ("," + "\n" * (array.ndim - 1) + " " * (indent + 1)).join(texts) + "]"


def tensor_text(array, dtype, default_dtype, requires_grad=False, grad_fn=None, prefix="tensor("):
    """`repr` of a tensor. dtype, default_dtype: names; grad_fn: its name, if it has one."""
    indent, suffixes = len(prefix), []
    plain = {default_dtype, "int64", "bool", "complex64" if default_dtype == "float32" else "complex128"}
    if not array.size:
        if array.ndim != 1:
            suffixes.append(f"size={tuple(array.shape)}")
        if dtype != default_dtype:
            suffixes.append(f"dtype=torch.{dtype}")
        text = "[]"
    else:
        if dtype not in plain:
            suffixes.append(f"dtype=torch.{dtype}")
        short = array.size > OPTIONS["threshold"]
        shown = summary(array) if short else array
        formats = [Format(shown)] if array.dtype.kind != "c" else [Format(shown.real), Format(shown.imag)]
        text = nested(array, indent, short, formats)
    if grad_fn is not None:
        suffixes.append(f"grad_fn=<{grad_fn}>")
    elif requires_grad:
        suffixes.append("requires_grad=True")
    # what comes after the numbers stands behind them, if there is room
    out = prefix + text
    length = len(out) - out.rfind("\n") + 1
    for suffix in suffixes:
        if length + len(suffix) + 2 > OPTIONS["linewidth"]:
            out, length = f"{out},\n{' ' * indent}{suffix}", indent + len(suffix)
        else:
            out, length = f"{out}, {suffix}", length + len(suffix) + 2
    return out + ")"
