"""Write random programs: rows of statements.txt, filled in, that torch alone runs while the program grows."""

import inspect
import re
from pathlib import Path

import torch
from execution import limited_time, run_statement
from places import Places, Unfit

LENGTH = 17  # statements in a program
KEPT_REFUSALS = 1 / 6  # share of the statements that torch refuses which stay in a program


def read_statements():
    """Return the parts of statements.txt: for each kind its weight, rows, their weights; and class → expression."""
    text = Path(__file__).with_name("statements.txt").read_text(encoding="utf-8").replace("\\\n", "")
    parts = {}
    for part in re.split(r"^# ", text, flags=re.M)[1:]:
        title, _, lines = part.partition("\n")
        kind, _, weight = title.partition(": ")
        parts[kind] = weight, lines.strip()
    groups, inline = (
        dict(line.split(": ", 1) for line in parts.pop(kind)[1].split("\n")) for kind in ("names", "inline")
    )
    kinds = []
    for weight, lines in parts.values():
        for name, texts in groups.items():
            lines = lines.replace(f"{{{name}}}", f"{{{texts}}}")
        rows = [row.strip() for row in re.split(r" \| |\n", lines)]
        # a row that stands for many operations is drawn more often
        bars = [sum(group.count("|") for group in re.findall(r"[.\w]\{([^{}]*)\}", row)) for row in rows]
        kinds.append((float(weight), rows, [1 + 0.75 * n for n in bars]))
    return kinds, inline


KINDS, INLINE = read_statements()


class Program(Places):
    """A program that grows by statements."""

    def __init__(self, seed):
        super().__init__(seed, INLINE)
        self.statements, self.rows = [], []

    def place_new(self):
        return f"v{len(self.statements)}"

    def propose(self):
        """Return a row, a statement made from it, and the row of the input if it creates a module."""
        _, rows, weights = self.draw.choices(KINDS, [weight for weight, _, _ in KINDS])[0]
        row, _, call = self.draw.choices(rows, weights)[0].partition(" => ")
        self.forget()
        row = self.choose(row)
        text = self.expand(row.removeprefix("! "))
        if not row.startswith("!"):
            method = re.fullmatch(r"(v\d+)\.(?!detach)([a-z]\w*[a-z0-9])\(((?:(?!\)\.).)*)\)", text)
            if method and self.often(0.35) and inspect.isbuiltin(getattr(torch, method[2], None)):
                text = f"torch.{method[2]}({', '.join(filter(None, method.group(1, 3)))})"
            text = f"{self.place_new()} = {text}"
        if text.endswith(")") and self.often(0.008):  # an argument that torch does not know
            text = text[:-1] + (", " if text[-2] != "(" else "") + "wrong=1)"
        return row, text, call

    def grow(self):
        """Append a statement, unless no variable fits it or torch refuses it."""
        state = torch.get_rng_state()
        try:
            row, text, call = self.propose()
        except (Unfit, RuntimeError, TypeError, IndexError, ValueError):
            return
        finally:
            torch.set_rng_state(state)
        error, _ = run_statement(text, self.names)
        if error and not self.often(KEPT_REFUSALS):
            torch.set_rng_state(state)
            return
        if call and not error:
            self.calls[self.place_new()] = call
        self.statements.append(text)
        self.rows.append(row)


def write_program(seed):
    """Return a program's statements, and the rows they come from."""
    with limited_time():
        program = Program(seed)
        for _ in range(20 * LENGTH):
            if len(program.statements) < LENGTH:
                program.grow()
    return program.statements, program.rows
