"""Write random programs: fill in rows of `statements` with variables that fit, as torch alone runs them."""

import random
import re
from pathlib import Path

import torch
from execution import Watch, is_variable, run_statement

LENGTH = 17  # statements in a program
KEPT_REFUSALS = 1 / 6  # share of the statements that torch refuses which stay in a program
WRONG = 0.03  # share of places that are filled in with something of another kind
DTYPES = {"float32": 20, "float64": 6, "int64": 8, "bool": 4, "float16": 1, "int32": 1, "uint8": 1, "complex64": 1}
NUMBERS = [0, 1, 2, 3, -1, -2, 0.5, 1.5, -0.5, 2.25, 4, 0.25] * 3 + [
    10,
    100,
    1e5,
    1e-6,
    float("nan"),
    float("inf"),
    -0.0,
]
SCALARS = [
    "2",
    "-1",
    "0.5",
    "3",
    "0",
    "1",
    "2.0",
    "-1.5",
    "True",
    "0.1",
    "100",
    "1e6",
    "float('inf')",
    "float('nan')",
    "3j",
]
FLOATS = torch.float32, torch.float64, torch.float16
PLACE = re.compile(r"<([a-zA-Z]+\d?)(?: ([^<>]*))?>")


class Unfit(Exception):
    """No variable fits a place of the row."""


def read_statements():
    """Return the parts of statements.txt: kind → weight, rows, their weights; and what stands for a class."""
    text = Path(__file__).with_name("statements.txt").read_text(encoding="utf-8").replace("\\\n", "")
    parts = {}
    for part in re.split(r"^# ", text, flags=re.M)[1:]:
        title, _, lines = part.partition("\n")
        parts[title.partition(":")[0]] = title.partition(": ")[2], lines.strip()
    names, inline = (dict(line.split(": ", 1) for line in parts.pop(key)[1].split("\n")) for key in ("names", "inline"))
    kinds = {}
    for kind, (weight, lines) in parts.items():
        for name, texts in names.items():
            lines = lines.replace(f"{{{name}}}", f"{{{texts}}}")
        rows = [row.strip() for row in re.split(r" \| |\n", lines)]
        # a row that stands for many operations is drawn more often
        weights = [1 + 0.75 * sum(group.count("|") for group in re.findall(r"[.\w]\{([^{}]*)\}", row)) for row in rows]
        kinds[kind] = float(weight), rows, weights
    return kinds, inline


def as_source(values):
    return re.sub(r"\b(nan|inf)\b", r"torch.\1", repr(values))


KINDS, INLINE = read_statements()
TENSOR_KINDS = {
    "x": lambda x: True,
    "f": lambda x: x.dtype in FLOATS,
    "g": lambda x: x.requires_grad,
    "l": lambda x: x.requires_grad and x.is_leaf,
    "i": lambda x: not x.is_floating_point() and not x.is_complex() and x.dtype != torch.bool,
    "b": lambda x: x.dtype == torch.bool,
    "c": lambda x: x.is_complex(),
    "h": lambda x: x.dtype == torch.float16,
    "z": lambda x: x.dim() == 0,
    "v": lambda x: x.dtype in FLOATS and x.dim() == 1,
    "m": lambda x: x.dtype in FLOATS and x.dim() == 2,
    "t": lambda x: x.dtype in FLOATS and x.dim() == 3,
}
AXES = {"z": 0, "v": 1, "m": 2, "t": 3}
KIND_DTYPES = {"i": "int64", "b": "bool", "c": "complex64", "h": "float16"}


class Program:
    """A program that grows by statements; `names` are its variables as torch computed them."""

    def __init__(self, seed):
        self.draw = random.Random(seed)
        self.watch = Watch(seed)
        self.names = self.watch.names
        self.statements, self.rows, self.records, self.calls = [], [], [], {}
        self.spoiled = False  # has a statement that was not kept changed a variable?

    # --- tensors

    def size(self):
        return self.draw.choices([2, 3, 1, 4, 0], [9, 9, 4, 3, 0.7])[0]

    def shape(self, axes=None):
        if axes is None:
            axes = self.draw.choices([0, 1, 2, 3, 4], [2, 6, 8, 4, 0.6])[0]
        return tuple(self.size() for _ in range(axes))

    def number(self, dtype):
        if dtype == "bool":
            return self.draw.random() < 0.5
        value = self.draw.choice(NUMBERS)
        if "int" in dtype:
            value = int(value) % 200 if value == value and abs(value) < 1e4 else 7
            return value if dtype == "uint8" else self.draw.choice([value, -value])
        return value + self.draw.choice([0, 0, 1j, -2j]) if dtype == "complex64" else value

    def nested(self, shape, dtype):
        if not shape:
            return self.number(dtype)
        return [self.nested(shape[1:], dtype) for _ in range(shape[0])]

    def literal(self, shape=None, dtype=None, grad=0.4):
        """Return an expression that creates a tensor."""
        shape = self.shape() if shape is None else tuple(shape)
        dtype = dtype or self.draw.choices([*DTYPES], [*DTYPES.values()])[0]
        size, short = torch.Size(shape).numel(), dtype.removeprefix("torch.")
        name = f"torch.{short}"
        form = self.draw.random()
        if form < 0.5 and size < 13 and 0 not in shape:
            text = f"torch.tensor({as_source(self.nested(shape, short))}, dtype={name})"
        elif form < 0.7 and short in ("float32", "float64"):
            text = f"torch.{self.draw.choice(['randn', 'rand'])}({shape}, dtype={name})"
        elif form < 0.85 and short != "bool":
            text = f"torch.arange({size}, dtype={name}).reshape({shape})"
        elif len(shape) > 1 and short in ("float32", "float64"):
            text = f"torch.randn({shape[::-1]}, dtype={name}).permute({tuple(range(len(shape)))[::-1]})"
        else:
            text = f"torch.{self.draw.choice(['zeros', 'ones'])}({shape}, dtype={name})"
        text = text.replace(", dtype=torch.float32", "")
        if short in ("float32", "float64") and self.draw.random() < grad:
            text += ".requires_grad_()"
        return text

    def tensors(self):
        """Return expression → tensor of all tensors that variables hold."""
        found = {}
        for name, value in self.names.items():
            if not is_variable(name):
                continue
            if isinstance(value, torch.Tensor):
                found[name] = value
            elif isinstance(value, tuple | list) and len(value) < 9:
                found |= {f"{name}[{k}]": part for k, part in enumerate(value) if isinstance(part, torch.Tensor)}
        return {text: x for text, x in found.items() if x.numel() < 200 and not x.is_sparse}

    def pick(self, fits, otherwise, new=0.15):
        """Return the expression of a tensor that fits, a late one rather than an early one, or of a new one."""
        found = [text for text, x in self.tensors().items() if fits(x)] if self.draw.random() > new else []
        text = self.draw.choices(found, range(1, len(found) + 1))[0] if found else otherwise()
        self.last, self.axis = eval(text, self.names), 0
        self.last_text = text
        return text

    def tensor(self, kind):
        if self.draw.random() < WRONG:
            kind = "x"
        dtype = KIND_DTYPES.get(kind)
        if kind in "fglvmt":
            dtype = self.draw.choices(["float32", "float64", "float16"], [20, 4, 0 if kind in "gl" else 0.7])[0]
        shape = self.shape(AXES.get(kind))
        return self.pick(TENSOR_KINDS[kind], lambda: self.literal(shape, dtype, 1 if kind in "gl" else 0.4))

    def fitting(self, shapes, same_type=0.85):
        """Return the expression of a tensor with one of these shapes, mostly of the last tensor's type."""
        last, text = self.last, self.last_text
        dtype = str(last.dtype) if self.draw.random() < same_type else None
        fits = lambda x: tuple(x.shape) in shapes and (dtype is None or x.dtype == last.dtype)  # noqa: E731
        found = self.pick(fits, lambda: self.literal(self.draw.choice(shapes), dtype), new=0.3)
        self.last, self.last_text = last, text
        return found

    # --- places; each method returns the text for one

    def fill(self, match):
        place, detail = match.groups()
        method = getattr(self, f"place_{place}", None)
        if method:
            return str(method(detail) if detail is not None else method())
        if place in TENSOR_KINDS:
            return self.tensor(place)
        return match[0]

    def place_y(self):
        shape = tuple(self.last.shape)
        if self.draw.random() < WRONG:
            return self.tensor("x")
        thin = tuple(self.draw.choice([n, 1]) for n in shape)
        wide = tuple(n if n != 1 else self.draw.choice([1, 2, 3]) for n in shape)
        return self.fitting([shape, shape, thin, shape[1:], thin[1:], (2, *shape)[-4:], wide, ()], 0.7)

    def place_same(self):
        return self.tensor("x") if self.draw.random() < WRONG else self.fitting([tuple(self.last.shape)])

    def place_mm(self):
        inner = self.last.shape[-1] if self.last.dim() else 2
        return self.fitting([(inner, self.size())] * 3 + [(inner,), (2, inner, self.size())], 0.95)

    def place_in(self, pattern):
        wanted = pattern.split()
        last = [part for part in wanted if part != "*"]
        free = "*" in wanted

        def fits(x):
            sizes = [*x.shape][-len(last) :] if last else []
            right = x.dim() >= len(last) if free else x.dim() == len(last)
            return right and x.dtype == torch.float32 and all(p in (".", str(n)) for p, n in zip(last, sizes))

        lead = self.draw.choice([[], [2], [3], [2, 2]]) if free else []
        shape = lead + [int(p) if p != "." else self.draw.choice([1, 2, 3]) for p in last]
        return self.pick(fits, lambda: self.literal(shape, "float32"))

    def place_again(self):
        return self.last_text

    def place_lit(self):
        return self.literal()

    def place_list(self):
        return as_source(self.nested(self.shape(), self.draw.choice(["float32", "int64", "bool"])))

    def place_d(self):
        axes = max(self.last.dim(), 1)
        self.axis = self.draw.randrange(-axes, axes)
        if self.draw.random() < WRONG:
            return axes
        return self.axis

    def place_D(self):  # noqa: N802
        return f"{self.place_d()}, {self.place_d()}"

    def place_ds(self):
        axes = self.last.dim()
        chosen = self.draw.sample(range(axes), self.draw.randint(0, axes))
        return tuple(self.draw.choice([d, d - axes]) for d in chosen)

    def place_perm(self):
        axes = self.last.dim()
        return ", ".join(str(self.draw.choice([d, d - axes])) for d in self.draw.sample(range(axes), axes)) or "()"

    def along(self):
        return self.last.shape[self.axis] if self.last.dim() else 1

    def place_k(self):
        size = self.along() + (self.draw.random() < WRONG)
        return self.draw.randrange(-size, size) if size else 0

    def place_n(self):
        return self.draw.choice([0, 1, 2, 3, 1, 2, 3, 4])

    def place_s(self):
        return self.draw.choices(SCALARS, [9, 6, 9, 4, 4, 4, 6, 4, 1, 3, 2, 1, 1, 1, 0.6])[0]

    def place_p(self):
        return self.draw.choice([0.5, 0.25, 0.0, 1.0, 0.9, 2.0])

    def place_dt(self):
        return "torch." + self.draw.choices([*DTYPES], [*DTYPES.values()])[0]

    def place_shape(self):
        return self.shape()

    def place_view(self):
        size, parts = self.last.numel(), []
        while size > 1 and len(parts) < 3:
            divisor = self.draw.choice([n for n in range(1, size + 1) if size % n == 0])
            parts.append(divisor)
            size //= divisor
        parts = (parts or [1]) if size == 1 else [*parts, size]
        if self.draw.random() < 0.4:
            parts[self.draw.randrange(len(parts))] = -1
        return ", ".join(map(str, parts))

    def place_expand(self):
        lead = self.draw.choice([[], [], [2], [3, 2]])
        return ", ".join(
            str(n)
            for n in lead + [self.draw.choice([-1, n]) if n != 1 else self.size() for n in self.last.shape] or [2]
        )

    def place_ids(self):
        size = self.along() + (self.draw.random() < WRONG)
        values = [self.draw.randrange(size) for _ in range(self.draw.randint(0 if size == 0 else 1, 3))] if size else []
        return f"torch.tensor({values}{', dtype=torch.long' * (not values)})"

    def place_ids0(self):
        self.axis = 0
        return self.place_ids()

    def place_at(self):
        shape = [self.draw.randint(min(n, 1), n) for n in self.last.shape]
        if self.last.dim():
            shape[self.axis] = self.draw.choice([1, 2])
        draw = lambda shape: (
            [draw(shape[1:]) for _ in range(shape[0])] if shape else self.draw.randrange(self.along() or 1)
        )  # noqa: E731
        return f"torch.tensor({draw(shape)}, dtype=torch.long)"

    def place_mask(self):
        shape, text = tuple(self.last.shape), self.last_text
        return self.draw.choice([f"({text} > {self.place_s()})", self.fitting([shape], 0), f"torch.ones({shape}).bool()",
                                 f"torch.randn({shape}).gt(0)", f"({text} != {text})"])  # fmt: skip

    def place_labels(self):
        rows, *classes = self.last.shape if self.last.dim() > 1 else (2, 2)
        values = [self.draw.choice([*range(max(classes[0], 1))] * 8 + [-100, 5]) for _ in range(rows)]
        return f"torch.tensor({values}{', dtype=torch.long' * (not values)})"

    def place_ix(self):
        """Return an index: whole numbers, slices, None, `...`, lists, tensors, masks."""
        parts, shown = [], False
        axes = self.last.dim()
        for axis in range(self.draw.randint(min(1, axes), axes)):
            size = self.last.shape[axis]
            inside = range(-size, size) if size else [0]
            form = self.draw.random()
            lists = [self.draw.choice(inside) for _ in range(self.draw.choice([1, 2, 2, 3]))] if size else []
            if form < 0.3:
                parts.append(str(self.draw.choice(inside) if self.draw.random() > WRONG else size))
            elif form < 0.6:
                parts.append(self.draw.choice([":", ":", "1:", ":1", "::2", ":-1", "-2:", "5:"]))
            elif form < 0.78:
                parts.append(str(lists))
            elif form < 0.88:
                parts.append(f"torch.tensor({lists}{', dtype=torch.long' * (not lists)})")
            elif form < 0.92:
                parts.append(f"torch.tensor({[self.draw.random() < 0.5 for _ in range(size)]}, dtype=torch.bool)")
            elif form < 0.95:
                parts.append(f"torch.tensor({self.draw.choice(inside)})")
            elif not shown:
                parts.append("...")
                shown = True
        if self.draw.random() < 0.2:
            parts.insert(self.draw.randint(0, len(parts)), "None")
        if self.draw.random() < 0.02:
            parts.append(self.draw.choice(["True", "False", "1.5", "'a'"]))
        return ", ".join(parts) or "..."

    def place_var(self, wanted):
        found = [
            name
            for name, value in self.names.items()
            if is_variable(name) and any(class_.__name__ == wanted for class_ in type(value).__mro__)
        ]
        if not found and wanted not in INLINE:
            raise Unfit
        self.chosen = self.draw.choice(found or [INLINE[wanted]])
        return self.chosen

    def place_call(self):
        if self.chosen == INLINE["Module"]:
            return self.place_in("* 3")
        if self.chosen not in self.calls:
            raise Unfit
        return self.expand(self.calls[self.chosen])

    def place_params(self):
        modules = [
            n for n, v in self.names.items() if isinstance(v, torch.nn.Module) and n in self.calls and [*v.parameters()]
        ]
        if modules and self.draw.random() < 0.6:
            return f"{self.draw.choice(modules)}.parameters()"
        return f"[{self.tensor('l')}]"

    def place_new(self):
        return self.next_name()

    def place_sign(self, name):
        return {"or": "|", "lt": "<", "le": "<=", "open": "{", "close": "}"}[name]

    # --- statements

    def next_name(self):
        return f"v{len(self.statements)}"

    def expand(self, row):
        while found := re.search(r"\{([^{}]*)\}", row):
            row = row[: found.start()] + self.draw.choice(found[1].split("|")) + row[found.end() :]
        return PLACE.sub(self.fill, row)

    def propose(self):
        """Return a row, a statement made from it, and how to call the module that it makes, if it makes one."""
        _, rows, weights = self.draw.choices([*KINDS.values()], [weight for weight, _, _ in KINDS.values()])[0]
        row = self.draw.choices(rows, weights)[0]
        self.last, self.last_text, self.axis = torch.zeros(2, 3), "torch.zeros(2, 3)", 0
        body, _, call = row.removeprefix("! ").partition(" => ")
        text = self.expand(body)
        if not row.startswith("!") and not text.startswith(("import", "from", self.next_name())):
            match = re.match(r"(v\d+)\.(\w+)\((.*)\)$", text)
            if match and self.draw.random() < 0.35 and hasattr(torch, match[2]) and not match[2].endswith("_"):
                text = f"torch.{match[2]}({match[1]}{', ' if match[3] else ''}{match[3]})"
            text = f"{self.next_name()} = {text}"
        if text.endswith(")") and self.draw.random() < 0.008:
            text = text[:-1] + ", wrong=1)" * (not text.endswith("()")) + "wrong=1)" * text.endswith("()")
        return row, text, call

    def grow(self):
        """Append a statement, unless no variable fits it or torch refuses it."""
        state = torch.get_rng_state()
        try:
            row, text, call = self.propose()
        except (Unfit, RuntimeError, TypeError, IndexError, ValueError):
            torch.set_rng_state(state)
            return
        torch.set_rng_state(state)
        error, printed = run_statement(text, self.names)
        if error and self.draw.random() > KEPT_REFUSALS:
            self.spoiled = self.spoiled or bool(self.watch.changed())
            torch.set_rng_state(state)
            return
        self.records.append(self.watch.record(error, printed))
        if call and not error:
            self.calls[self.next_name()] = call
        self.statements.append(text)
        self.rows.append(row)


def write_program(seed):
    """Return a program's statements, the rows that they come from, and what each did on torch."""
    program = Program(seed)
    for _ in range(20 * LENGTH):
        if len(program.statements) == LENGTH:
            break
        program.grow()
    return program.statements, program.rows, None if program.spoiled else program.records
