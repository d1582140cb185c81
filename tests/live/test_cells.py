"""Test what cells print: their outputs, and errors and warnings, which show the reader's lines and no library's."""

import re

import nbformat
from nbformat.v4 import new_code_cell, new_notebook

from tests.live import on_small_torch

# Each cell, and its outputs: a stream's name and text, a result's kind and text, or the name of an error and parts of
# its traceback in this order; the last part ends it.
CELLS = {
    'print("a"); 1 + 1': [("stdout", "a\n"), ("text/plain", "2")],
    "_ + Out[1] + len(In)": [("text/plain", "7")],
    "_;": [],
    'import sys; print("b"); print("c", file=sys.stderr)': [("stdout", "b\n"), ("stderr", "c\n")],
    'text = """\n%x\n"""\ntext': [("text/plain", r"'\n%x\n'")],
    "def f(n):\n    return 1 / n\n\ntry:\n    f(0)\nexcept ValueError:\n    pass": [
        (
            "ZeroDivisionError",
            ["Cell In[6], line 5", "----> 5     f(0)", "line 2, in f", "----> 2     return 1 / n", "by zero"],
        )
    ],
    "try:\n    {}[0]\nexcept KeyError as error:\n    raise ValueError from error": [
        (
            "ValueError",
            ["----> 2     {}[0]", "KeyError: 0", "the direct cause of", "----> 4     raise", "ValueError"],
        )
    ],
    "try:\n    {}[0]\nexcept KeyError:\n    ''.y": [
        ("AttributeError", ["----> 2     {}[0]", "another exception occurred", "----> 4     ''.y", "attribute 'y'"])
    ],
    "input()": [("RuntimeError", ["----> 1 input()", "write the answer into the cell instead"])],
    "print('d', end=''); len(In)": [("stdout", "d"), ("text/plain", "11")],
    "import matplotlib.pyplot as plt, torch, warnings\nfrom torch import nn": [],
    "exec('1 +')": [("SyntaxError", ["----> 1 exec('1 +')", 'File "<string>", line 1', "invalid syntax"])],
    "def f(n):\n    return g(n)\ndef g(n):\n    return f(n + 1)\nf(0)": [
        (
            "RecursionError",
            ["----> 5 f(0)", "----> 2     return g", "----> 4     return f", "more calls of the same lines",
             "----> ", "----> ", "exceeded\nA page allows 400 calls within calls, a notebook more."],
        )
    ],
    "raise ExceptionGroup('two', [KeyError('k'), ValueError('v')])": [
        ("ExceptionGroup", ["----> 1 raise", "Error 1 of 2", "KeyError: 'k'", "Error 2 of 2", "ValueError: v"])
    ],
    "error = ValueError()\nerror.add_note('the note')\nraise error": [("ValueError", ["ValueError\nthe note"])],
    "class Mute(Exception):\n    __str__ = lambda self: 1 / 0\nraise Mute": [("Mute", ["----> 3", "failed>"])],
    "class Mute:\n    def __repr__(self):\n        return 1 / 0\nMute()": [
        ("ZeroDivisionError", ["----> 4 Mute()", "----> 3         return 1 / 0", "by zero"])
    ],
    "class Broken(nn.Module):\n    def forward(self, x):\n        return x @ torch.ones(5)\n"
    "nn.Sequential(Broken())(torch.ones(2, 3))": [
        ("RuntimeError", ["----> 4 nn.Seq", "----> 3         return x @", ""])
    ],
    "x = torch.ones(2, requires_grad=True)\ny = x * 2\ny.register_hook(lambda g: 1 / 0)\ny.sum().backward()": [
        ("ZeroDivisionError", ["----> 4 y.sum().backward()", "----> 3 y.register_hook", "by zero"])
    ],
    "torch.ones(2, 3) @ torch.ones(2, 3)": [("RuntimeError", ["----> 1 torch.ones(2, 3) @", ""])],
    "class Items(torch.utils.data.Dataset):\n    def __len__(self):\n        return 3\n    def __getitem__(self, k):\n"
    "        return {}[k]\nfor item in torch.utils.data.DataLoader(Items()):\n    pass": [
        ("KeyError", ["----> 6 for item", "----> 5         return {}[k]", "KeyError: 0"])
    ],
    "plt.Normalize()(torch.ones(2)).nothing": [("AttributeError", ["----> 1 plt.Norm", ""])],
    "figure = plt.figure()\nfigure.canvas.mpl_connect('draw_event', lambda event: 1 / 0);": [
        ("ZeroDivisionError", ["----> 2 figure.canvas", "by zero"])
    ],
    "1 + 1;": [],  # the drawing that failed is closed
    "import companion\ncompanion.LSTM(2, 3)(torch.ones(4, 5, 6))": [
        ("RuntimeError", ["----> 2 companion.LSTM", "File companion/", ""])
    ],
    "def warn():\n    warnings.warn('w')\nwarn()": [
        ("stderr", "Cell In[26], line 2: UserWarning: w\n  warnings.warn('w')\n")
    ],
    "nn.LSTM(1, 1, dropout=0.5);": [("stderr", "Cell In[27], line 1: UserWarning: dropout option")],
    "import numpy as np\nwith np.errstate(all='ignore'):\n    np.mean([])": [
        ("stderr", "Cell In[28], line 3: RuntimeWarning: Mean of empty slice")
    ],
    "plt.title('日本 汉字 かな 한글', family='monospace'); plt.xlabel('$x$ 月')": [
        ("text/plain", "Text(0.5, 0, '$x$ 月')"),
        ("stderr", "Font 'default' does not have a glyph for"),  # of the formula; the title is text
        ("text/plain", "<Figure size 640x480 with 1 Axes>"),
    ],
}  # fmt: skip
LIBRARIES = re.compile(r"cells\.py|tracebacks\.py|IPython|torch/|matplotlib/|matplotlib_inline|site-packages|frozen")


def outputs_of(sources, code, folder):
    """Run cells as a page does; yield each cell's source and its outputs."""
    nbformat.write(new_notebook(cells=[new_code_cell(source) for source in sources]), folder / "cells.ipynb")
    for cell, outputs, _ in on_small_torch.run(folder / "cells.ipynb", code):
        yield cell.source, outputs


def plain(output):
    """Return the text of a traceback without colours."""
    return re.sub(r"\x1b\[[\d;]*m", "", "\n".join(output.traceback))


def test_outputs_and_tracebacks(code, tmp_path):
    for source, outputs in outputs_of(CELLS, code, tmp_path):
        assert len(outputs) == len(CELLS[source]), (source, outputs)
        for output, (kind, expected) in zip(outputs, CELLS[source], strict=True):
            if output.output_type == "error":
                traceback = plain(output)
                pattern = ".*".join(map(re.escape, expected)) + r"\Z"
                assert output.ename == kind and re.search(pattern, traceback, re.DOTALL), traceback
                assert not LIBRARIES.search(traceback), traceback
                assert len(traceback.split("\n")) < 40
            else:
                text = output.get("text") or output.data["text/plain"]
                assert output.get("name", "text/plain") == kind
                assert text.startswith(expected) if kind == "stderr" else text == expected


OTHERS = "A page has numpy, matplotlib, torch and companion."
MISSING = {
    "import pandas as pd": OTHERS,
    "import statsmodels.api": OTHERS,
    "from seaborn import heatmap": OTHERS,
    "__import__('flask')": OTHERS,
    "import importlib\nimportlib.import_module('xarray')": OTHERS,
    "try:\n    import tensorflow\nexcept ImportError as error:\n    raise ValueError from error": OTHERS,
    "import torch.distributed": None,  # small_torch says so itself
    "import matplotlib.nothing": "A page has a part of matplotlib.",
    "import nunpy": "Did you mean: 'numpy'?",
    "import matplotlib.pyplott": "Did you mean: 'matplotlib.pyplot'?",
    "import randon": "Did you mean: 'random'?",
    "import pytorch": f"Did you mean: 'torch'? {OTHERS}",
    "import torch.Tensor": "Did you mean: from torch import Tensor?",
    "from companion import LTSM": None,
    "raise ModuleNotFoundError('mine')": None,
}


def test_missing_modules_are_explained(code, tmp_path):
    """Check all forms of import, and that a misspelt name gets a suggestion instead."""
    for source, outputs in outputs_of(MISSING, code, tmp_path):
        (output,) = outputs
        text, expected = plain(output), MISSING[source]
        sentences = re.findall(r"A page has (?:[^.]|\.\w)*\.|Did you mean: [^?]*\?", text)
        if "ImportError" not in text:  # Python's own suggestion
            assert " ".join(sentences) == (expected or ""), text
    cell = "try:\n    import pandas\nexcept ImportError as error:\n    print(error, error.name)"
    ((_, [output]),) = outputs_of([cell], code, tmp_path)
    assert output.text == "No module named 'pandas' pandas\n"


LINES_OF_JUPYTER = "%time 1", "%%time\n1", "!pip install a", "files = !ls", "torch.tanh?", "?torch", "pip install a"


def test_lines_of_jupyter_are_explained(code, tmp_path):
    """Check also that a line in a string is none of them."""
    for source, (output,) in outputs_of([f"x = 1\n{line}" for line in LINES_OF_JUPYTER], code, tmp_path):
        assert "run the notebook for them" in plain(output) and source.split("\n")[1] in plain(output)
    ((_, [output]),) = outputs_of(["'''\n%a\n'''\n1 +"], code, tmp_path)
    assert "run the notebook" not in plain(output)
