"""Calls that people get wrong, run with torch when the sheet is made."""

import re
import tomllib
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import nn

FILE = Path(__file__).with_suffix(".toml")
LONGEST = 80  # letters of a message on the sheet


@dataclass(frozen=True)
class Call:
    """Wrong lines, the right ones, what stands before both, and the place that explains them."""

    name: str
    before: str
    wrong: str
    right: str
    place: str

    def run(self, lines, **names):
        """Run lines after those before; return the error, or None, and the names that they define."""
        torch.manual_seed(0)
        scope = {"torch": torch, "nn": nn}
        exec(self.before, scope)
        scope |= names
        try:
            exec(lines, scope)
        except Exception as error:
            return error, scope
        return None, scope

    def shown(self, lines, comments):
        """Return lines as the sheet shows them. comments: the words of each comment."""
        return re.sub(r"# \{(\w+)\}", lambda match: f"# {comments[match[1]]}", lines.strip())

    @property
    def message(self):
        """The error of the wrong lines, with its class and shortened, or "" if they raise none."""
        error, _ = self.run(self.wrong)
        if error is None:
            return ""
        text = f"{type(error).__name__}: {' '.join(str(error).split())}"
        if len(text) <= LONGEST:
            return text
        return text[: text.rfind(" ", 0, LONGEST)] + " …"


def calls():
    """Return all calls, in the order of the sheet."""
    return [Call(name, **entry) for name, entry in tomllib.loads(FILE.read_text(encoding="utf-8")).items()]
