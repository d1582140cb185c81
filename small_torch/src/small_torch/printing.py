"""Print tensors exactly as torch does.

All numbers get as many digits as the one that needs most, in columns; a tensor of more than a thousand numbers is shown
by its ends.
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
    """Set digits, the size above which tensors are shortened, numbers at each end, line width and notation."""
    options = {"precision": precision, "threshold": threshold, "edgeitems": edgeitems, "linewidth": linewidth}
    OPTIONS.update(PROFILES.get(profile, {}))
    OPTIONS.update({name: value for name, value in options.items() if value is not None}, sci_mode=sci_mode)


class Format:
    """How the numbers of one tensor are written: derived from all that are shown."""

    def __init__(self, shown):
        self.is_float, self.integers, self.powers, self.width = shown.dtype.kind == "f", True, False, 0
        flat = shown.reshape(-1)
        if self.is_float:  # zeros, infinities and NaN do not decide the digits
            flat = flat[np.isfinite(flat) & (flat != 0)].astype(np.float64)
        if self.is_float and flat.size:
            self.integers = bool((flat == np.ceil(flat)).all())
            smallest, largest = np.abs(flat).min(), np.abs(flat).max()
            self.powers = bool(largest / smallest > 1000 or largest > 1e8 or smallest < 1e-4)
            if OPTIONS["sci_mode"] is not None:
                self.powers = OPTIONS["sci_mode"]
        self.width = max((len(self.value_text(value)) for value in flat.tolist()), default=1)

    def value_text(self, value):
        """Return the text of one number, padded to the width of the column."""
        if not self.is_float:
            text = str(value)
        elif self.powers:
            text = f"{value:.{OPTIONS['precision']}e}"
        elif self.integers:
            text = f"{value:.0f}." if math.isfinite(value) else f"{value:.0f}"
        else:
            text = f"{value:.{OPTIONS['precision']}f}"
        return text.rjust(self.width)


def summary(array):
    """Return the ends of a large tensor along each axis."""
    ends = OPTIONS["edgeitems"]
    for dim, n in enumerate(array.shape):
        if n > 2 * ends:
            array = np.take(array, [*range(ends), *range(n - ends, n)], dim)
    return array


def scalar(value, formats):
    """Return the text of one number, real or complex."""
    if len(formats) == 1:
        return formats[0].value_text(value)
    imag = formats[1].value_text(value.imag).lstrip()
    return formats[0].value_text(value.real) + (f"+{imag}j" if imag[0] not in "+-" else f"{imag}j")


def nested(array, indent, short, formats):
    """Return the text of an array with any number of axes. short: whether to leave out its middle."""
    if array.ndim == 0:
        return scalar(array.item(), formats)
    ends = OPTIONS["edgeitems"] if short and len(array) > 2 * OPTIONS["edgeitems"] else len(array)
    first, last = (
        [nested(row, indent + 1, short, formats) for row in rows] for rows in (array[:ends], array[ends:][-ends:])
    )
    if array.ndim > 1:
        texts = [*first, "...", *last] if last else first
        return "[" + ("," + "\n" * (array.ndim - 1) + " " * (indent + 1)).join(texts) + "]"
    texts = [*first, " ...", *last] if last else first
    length = sum(part.width for part in formats) + 2 + (len(formats) - 1)  # ", " and, for complex numbers, "j"
    per_line = max(1, math.floor((OPTIONS["linewidth"] - indent) / length))
    lines = [", ".join(texts[i : i + per_line]) for i in range(0, len(texts), per_line)]
    return "[" + (",\n" + " " * (indent + 1)).join(lines) + "]"


def tensor_text(array, dtype, default_dtype, requires_grad=False, grad_fn=None, prefix="tensor("):
    """Return the `repr` of a tensor.

    dtype, default_dtype: names; grad_fn: its name, or None.
    """
    suffixes, text = [], "[]"
    plain = {default_dtype}
    if array.size:
        plain |= {"int64", "bool", "complex64" if default_dtype == "float32" else "complex128"}
        short = array.size > OPTIONS["threshold"]
        shown = summary(array) if short else array
        formats = [Format(shown)] if array.dtype.kind != "c" else [Format(shown.real), Format(shown.imag)]
        text = nested(array, len(prefix), short, formats)
    elif array.ndim != 1:
        suffixes.append(f"size={tuple(array.shape)}")
    if dtype not in plain:
        suffixes.append(f"dtype=torch.{dtype}")
    if grad_fn is not None:
        suffixes.append(f"grad_fn=<{grad_fn}>")
    elif requires_grad:
        suffixes.append("requires_grad=True")
    # suffixes go on the last line, if there is room
    out = prefix + text
    length = len(out) - out.rfind("\n") + 1
    for suffix in suffixes:
        if length + len(suffix) + 2 > OPTIONS["linewidth"]:
            out, length = f"{out},\n{' ' * len(prefix)}{suffix}", len(prefix) + len(suffix)
        else:
            out, length = f"{out}, {suffix}", length + len(suffix) + 2
    return out + ")"


def meta_text(shape, dtype, default_dtype):
    """Return the `repr` of a tensor without numbers."""
    return f"tensor(..., device='meta', size={shape}" + (")" if dtype is default_dtype else f", dtype={dtype})")
