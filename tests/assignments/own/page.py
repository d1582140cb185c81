"""Texts that the page about own questions shows, and students' answers to its question."""

import re

from tests.project.paths import ROOT

PAGE = (ROOT / "book/en/own_question.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```\w+\n(.*?)```", PAGE, re.DOTALL)
FILE = next(block for block in BLOCKS if "def inputs" in block)
OF_NEW = """def leaky_step(x, h, weight, leak):
    return h + leak * (torch.tanh(x @ weight.T + h) - h)
"""
OF_OLD = """def leaky_step(x, h, weight, leak):
    new = torch.tanh(torch.nn.functional.linear(x, weight) + h)
    return new + leak * (h - new)
"""
NOT_IN_TANH = OF_NEW.replace("weight.T + h)", "weight.T)")


def filled(notebook, **answers):
    """Return a copy of a notebook with these answers, by the ids of their cells."""
    copy = notebook.copy()
    copy["cells"] = [cell.copy() for cell in notebook.cells]
    for cell in copy["cells"]:
        cell["source"] = answers.get(cell["id"], cell["source"])
    return copy
