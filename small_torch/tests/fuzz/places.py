"""Fill in the places of rows: tensors that fit, axes, indices, shapes, numbers (statements.txt describes them)."""

import math
import random
import re

import torch
from execution import Watch

WRONG = 0.03  # share of places that are filled in with something of another kind
DTYPES = {"float32": 20, "float64": 6, "int64": 8, "bool": 4, "float16": 1, "int32": 1, "uint8": 1, "complex64": 1}
NUMBERS = [0, 1, 2, 3, -1, -2, 0.5, 1.5, -0.5, 2.25, 4, 0.25] * 3 + [10, 100, 1e5, 1e-6, -0.0, math.nan, math.inf]
CHOICES = {
    "n": [0, 1, 2, 3, 1, 2, 3, 4],
    "s": "2 2 2 0.5 0.5 0.5 -1 -1 2.0 2.0 3 0 1 -1.5 0.1 100 True 1e6 3j float('inf') float('nan')".split(),
    "p": [0.5, 0.25, 0.0, 1.0, 0.9, 2.0],
}
FLOATS = torch.float32, torch.float64, torch.float16
# Kind of tensor → which tensors are of this kind, and how to create one: number of axes, type.
TENSORS = {
    "x": (lambda x: True, None, None),
    "f": (lambda x: x.dtype in FLOATS, None, "float"),
    "g": (lambda x: x.requires_grad, None, "grad"),
    "l": (lambda x: x.requires_grad and x.is_leaf, None, "grad"),
    "i": (lambda x: x.dtype in (torch.int64, torch.int32, torch.uint8), None, "int64"),
    "z": (lambda x: x.dim() == 0, 0, "float"),
    "v": (lambda x: x.dim() == 1 and x.dtype in FLOATS, 1, "float"),
    "m": (lambda x: x.dim() == 2 and x.dtype in FLOATS, 2, "float"),
    "t": (lambda x: x.dim() == 3 and x.dtype in FLOATS, 3, "float"),
}
SIGNS = {"or": "|", "lt": "<", "le": "<=", "open": "{", "close": "}"}
SLICES = [":", ":", "1:", ":1", "::2", ":-1", "-2:", "5:"]
PLACE = re.compile(r"<([a-zA-Z]+\d?)(?: ([^<>]*))?>")


class Unfit(Exception):
    """No variable fits a place of the row."""


def as_source(values):
    return re.sub(r"\b(nan|inf)\b", r"torch.\1", repr(values))


def indices(values):
    """Return an expression for a tensor of whole numbers."""
    return f"torch.tensor({values}{'' if values else ', dtype=torch.long'})"


class Places:
    """The variables of a program as torch computed them, and what may stand in its next statement."""

    def __init__(self, seed, inline):
        self.draw = random.Random(seed)
        self.watch = Watch(seed)
        self.names = self.watch.names
        self.calls = {}  # module → the row of its input
        self.inline = inline
        self.forget()

    def forget(self):
        """Begin a statement: until a tensor stands in it, places refer to this one."""
        self.last, self.last_text, self.axis = torch.zeros(2, 3), "torch.zeros(2, 3)", 0

    def often(self, share):
        return self.draw.random() < share

    def fill(self, match):
        """Return the text for a place; self.place_name(detail) makes it."""
        place, detail = match.groups()
        if place in TENSORS:
            return self.tensor(place)
        if place in CHOICES:
            return str(self.draw.choice(CHOICES[place]))
        return str(getattr(self, f"place_{place}")(*([] if detail is None else [detail])))

    # New tensors

    def size(self):
        return self.draw.choices([2, 3, 1, 4, 0], [9, 9, 4, 3, 0.7])[0]

    def place_shape(self, axes=None):
        axes = self.draw.choices([0, 1, 2, 3, 4], [2, 6, 8, 4, 0.6])[0] if axes is None else axes
        return tuple(self.size() for _ in range(axes))

    def dtype(self):
        return self.draw.choices([*DTYPES], [*DTYPES.values()])[0]

    def number(self, dtype):
        if dtype == "bool":
            return self.often(0.5)
        value = self.draw.choice(NUMBERS)
        if "int" in dtype:
            value = int(value) % 200 if math.isfinite(value) else 7
            return value if dtype == "uint8" else self.draw.choice([value, -value])
        return value + self.draw.choice([0, 0, 1j, -2j]) if dtype == "complex64" else value

    def nested(self, shape, dtype):
        return [self.nested(shape[1:], dtype) for _ in range(shape[0])] if shape else self.number(dtype)

    def place_lit(self, shape=None, dtype=None, grad=0.4):
        """Return an expression that creates a tensor."""
        shape = self.place_shape() if shape is None else tuple(shape)
        dtype = (dtype or self.dtype()).removeprefix("torch.")
        drawn = dtype in ("float32", "float64")  # may its numbers be random?
        name, size, form = f"torch.{dtype}", math.prod(shape), self.draw.random()
        if form < 0.5 and 0 < size < 13:
            text = f"torch.tensor({as_source(self.nested(shape, dtype))}, dtype={name})"
        elif form < 0.7 and drawn:
            text = f"torch.{self.draw.choice(['randn', 'rand'])}({shape}, dtype={name})"
        elif form < 0.85 and dtype != "bool":
            text = f"torch.arange({size}, dtype={name}).reshape({shape})"
        elif len(shape) > 1 and drawn:
            text = f"torch.randn({shape[::-1]}, dtype={name}).permute({tuple(range(len(shape)))[::-1]})"
        else:
            text = f"torch.{self.draw.choice(['zeros', 'ones'])}({shape}, dtype={name})"
        text = text.replace(", dtype=torch.float32", "")
        return text + ".requires_grad_()" if drawn and self.often(grad) else text

    def place_list(self):
        return as_source(self.nested(self.place_shape(), self.draw.choice(["float32", "int64", "bool"])))

    # Tensors of variables

    def tensors(self):
        """Return expression → tensor of all tensors that variables hold."""
        found = {}
        for name, value in self.watch.variables().items():
            if isinstance(value, torch.Tensor):
                found[name] = value
            elif isinstance(value, tuple | list) and len(value) < 9:
                found |= {f"{name}[{k}]": part for k, part in enumerate(value) if isinstance(part, torch.Tensor)}
        return {text: x for text, x in found.items() if x.numel() < 200 and not x.is_sparse}

    def pick(self, fits, create, new=0.15):
        """Return the expression of a tensor that fits, a late one rather than an early one, or of a new one."""
        found = [] if self.often(new) else [text for text, x in self.tensors().items() if fits(x)]
        text = self.draw.choices(found, range(1, len(found) + 1))[0] if found else create()
        self.last, self.last_text, self.axis = eval(text, self.names), text, 0
        return text

    def tensor(self, kind):
        fits, axes, dtype = TENSORS["x" if self.often(WRONG) else kind]
        grad = 1 if dtype == "grad" else 0.4
        if dtype in ("float", "grad"):
            dtype = self.draw.choices(["float32", "float64", "float16"], [20, 4, 0 if grad == 1 else 0.7])[0]
        return self.pick(fits, lambda: self.place_lit(self.place_shape(axes), dtype, grad))

    def fitting(self, shapes, same_dtype=0.85):
        """Return a tensor of one of these shapes, mostly of the last tensor's type; places still refer to the last."""
        last = self.last, self.last_text
        dtype = str(self.last.dtype) if self.often(same_dtype) else None

        def fits(x):
            return tuple(x.shape) in shapes and dtype in (None, str(x.dtype))

        found = self.pick(fits, lambda: self.place_lit(self.draw.choice(shapes), dtype), new=0.3)
        self.last, self.last_text = last
        return found

    def place_y(self):
        if self.often(WRONG):
            return self.tensor("x")
        shape = tuple(self.last.shape)
        thin = tuple(self.draw.choice([n, 1]) for n in shape)
        wide = tuple(n if n != 1 else self.draw.choice([1, 2, 3]) for n in shape)
        return self.fitting([shape, shape, thin, shape[1:], thin[1:], (2, *shape)[-4:], wide, ()], 0.7)

    def place_same(self):
        return self.tensor("x") if self.often(WRONG) else self.fitting([tuple(self.last.shape)])

    def place_mm(self):
        inner = self.last.shape[-1] if self.last.dim() else 2
        return self.fitting([(inner, self.size())] * 3 + [(inner,), (2, inner, self.size())], 0.95)

    def place_in(self, pattern):
        free, sizes = pattern.startswith("*"), pattern.replace("*", "").split()

        def fits(x):
            right = x.dtype == torch.float32 and (x.dim() >= len(sizes) if free else x.dim() == len(sizes))
            return right and all(p in (".", str(n)) for p, n in zip(sizes[::-1], [*x.shape][::-1]))

        lead = self.draw.choice([[], [2], [3], [2, 2]]) if free else []
        shape = lead + [self.draw.choice([1, 2, 3]) if size == "." else int(size) for size in sizes]
        return self.pick(fits, lambda: self.place_lit(shape, "float32"))

    def place_again(self):
        return self.last_text

    def place_mask(self):
        x, shape, limit = self.last_text, tuple(self.last.shape), self.draw.choice(CHOICES["s"])
        masks = [f"({x} > {limit})", f"torch.ones({shape}).bool()", f"torch.randn({shape}).gt(0)", f"({x} != {x})"]
        return self.draw.choice([*masks, self.fitting([shape], 0)])

    # Axes, shapes, indices of the last tensor

    def place_d(self):
        axes = max(self.last.dim(), 1)
        self.axis = self.draw.randrange(-axes, axes)
        return axes if self.often(WRONG) else self.axis

    def place_D(self):  # noqa: N802
        return f"{self.place_d()}, {self.place_d()}"

    def place_ds(self, least=0):
        axes = self.last.dim()
        drawn = self.draw.sample(range(axes), self.draw.randint(least, axes))
        return tuple(self.draw.choice([d, d - axes]) for d in drawn)

    def place_perm(self):
        return str(self.place_ds(self.last.dim()))[1:-1].rstrip(",") or "()"

    def along(self):
        """Return the size of the last axis that was drawn."""
        return self.last.shape[self.axis] if self.last.dim() else 1

    def place_k(self):
        size = self.along() + self.often(WRONG)
        return self.draw.randrange(-size, size) if size else 0

    def place_ids(self):
        size = self.along() + self.often(WRONG)
        return indices([self.draw.randrange(size) for _ in range(self.draw.randint(1, 3))] if size else [])

    def place_ids0(self):
        self.axis = 0
        return self.place_ids()

    def place_at(self):
        shape = [self.draw.randint(min(n, 1), n) for n in self.last.shape]
        if shape:
            shape[self.axis] = self.draw.choice([1, 2])
        values = torch.zeros(shape).tolist()
        text = re.sub(r"0\.0", lambda _: str(self.draw.randrange(self.along() or 1)), str(values))
        return f"torch.tensor({text}, dtype=torch.long)"

    def place_labels(self):
        rows, classes, *_ = self.last.shape if self.last.dim() > 1 else (2, 2)
        return indices([self.draw.choice([*range(max(classes, 1))] * 8 + [-100, 5]) for _ in range(rows)])

    def place_view(self):
        size, parts = self.last.numel(), []
        while size > 1 and len(parts) < 3:
            parts.append(self.draw.choice([n for n in range(1, size + 1) if size % n == 0]))
            size //= parts[-1]
        parts += [] if parts and size == 1 else [size]
        if self.often(0.4):
            parts[self.draw.randrange(len(parts))] = -1
        return str(parts)[1:-1]

    def place_expand(self):
        sizes = [self.size() if n == 1 else self.draw.choice([-1, n]) for n in self.last.shape]
        return str(self.draw.choice([[], [], [2], [3, 2]]) + sizes or [2])[1:-1]

    def place_ix(self):
        """Return an index: whole numbers, slices, lists, tensors, masks, None, `...`."""
        axes = self.last.dim()
        parts = [self.index(n) for n in self.last.shape[: self.draw.randint(min(1, axes), axes)]]
        if self.often(0.2):
            parts.insert(self.draw.randint(0, len(parts)), "None")
        if self.often(0.15):
            parts[self.draw.randint(0, len(parts)) :] = ["..."]
        if self.often(0.02):
            parts.append(self.draw.choice(["True", "False", "1.5", "'a'"]))
        return ", ".join(parts) or "..."

    def index(self, size):
        """Return an index of an axis of this size."""
        inside = range(-size, size) if size else [0]
        some = [self.draw.choice(inside) for _ in range(self.draw.choice([1, 2, 2, 3]))] if size else []
        number = self.draw.choice(inside) if self.often(1 - WRONG) else size
        mask = [self.often(0.5) for _ in range(size)]
        forms = [number, self.draw.choice(SLICES), some, indices(some), f"torch.tensor({mask}, dtype=torch.bool)"]
        return str(self.draw.choices([*forms, f"torch.tensor({number})"], [30, 33, 18, 10, 5, 4])[0])

    # Numbers, types, other variables

    def place_dt(self):
        return f"torch.{self.dtype()}"

    def place_sign(self, name):
        return SIGNS[name]

    def place_var(self, wanted):
        """Return a variable whose class, or a class above it, has this name; `self.chosen` is its name."""
        classes = {name: type(value).__mro__ for name, value in self.watch.variables().items()}
        found = [name for name, mro in classes.items() if wanted in [class_.__name__ for class_ in mro]]
        if not found and wanted not in self.inline:
            raise Unfit
        self.chosen = self.draw.choice(found or [self.inline[wanted]])
        return self.chosen

    def place_call(self):
        if self.chosen not in self.calls and self.chosen != self.inline["Module"]:
            raise Unfit
        return self.expand(self.calls.get(self.chosen, "<in * 3>"))

    def place_params(self):
        modules = [name for name in self.calls if isinstance(self.names.get(name), torch.nn.Module)]
        modules = [name for name in modules if [*self.names[name].parameters()]]
        return f"{self.draw.choice(modules)}.parameters()" if modules and self.often(0.6) else f"[{self.tensor('l')}]"

    def choose(self, row):
        """Return a row with one of the texts in place of each group."""
        while found := re.search(r"\{([^{}]*)\}", row):
            row = row[: found.start()] + self.draw.choice(found[1].split("|")) + row[found.end() :]
        return row

    def expand(self, row):
        return PLACE.sub(self.fill, self.choose(row))
