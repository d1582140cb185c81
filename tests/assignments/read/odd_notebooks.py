"""Right notebooks, each changed in an unusual way that real submissions show."""

import gzip

from tests.assignments.grading import zipped
from tests.assignments.read.right_notebook import Book, indented

LANGUAGES = "en", "ja", "ko", "zh"
ODD = []  # (assignment, language, function that changes the notebook)


def odd(assignment):
    """Register a function that changes a right notebook, and may return files to send instead of it."""

    def register(change):
        ODD.append((assignment, LANGUAGES[len(ODD) % 4], change))
        return change

    return register


# Embedding


@odd("embedding")
def colab(book):
    book["imports"] += (
        "\nimport os, torchvision\nfrom google.colab import drive\ndrive.mount('/content/drive')\n"
        "os.chdir('/content/drive')\ndevice = torch.device('cuda' if torch.cuda.is_available() else 'cpu')\n!nvidia-smi"
    )
    book.swap("one_hot", "(num_embeddings)", "(num_embeddings).to(device)")
    book.notebook["nbformat_minor"] = 0
    for number, cell in enumerate(book.cells):
        cell["metadata"] = {"id": f"Xy{number}"}
        del cell["id"]


@odd("embedding")
def program_as_a_text(book):
    return {"答え.txt": "get_ipython().run_line_magic('matplotlib', 'inline')\n" + book.script("# In[ ]:")}


@odd("embedding")
def strict_settings(book):
    book["imports"] += (
        "\nimport warnings, random\nwarnings.filterwarnings('error')\ntorch.manual_seed(0); random.seed(0)\n"
        "torch.set_default_dtype(torch.float32)\ntorch.use_deterministic_algorithms(True)\ntorch.set_num_threads(8)"
    )
    book["lookup"] += "\n\nassert lookup(torch.eye(3), torch.tensor([1])).dtype == torch.float32"


@odd("embedding")
def all_in_one_cell(book):
    whole = "\n\n".join(cell["source"] for cell in book.code())
    book.cells[1:] = []
    book.add(f"%%time\n{whole}\n!ls -la\n%pip list")


@odd("embedding")
def the_whole_language(book):
    book["imports"] += (
        "\nfrom torch import *\nfrom math import *\nfrom functools import *\nfrom dataclasses import dataclass"
    )
    book["one_hot"] = """
def logged(f):
    return wraps(f)(lambda *a: print("called", f.__name__, *a) or f(*a))
@lru_cache(maxsize=None)
def eye_of(n: int): return eye(n)
@dataclass
class Table:
    weight: "Tensor"
    def __call__(self, at): return einsum("...v,ve->...e", one_hot(at, len(self.weight)), self.weight)
@logged
def one_hot(indices, num_embeddings): return eye_of(num_embeddings)[indices]"""
    book["lookup"] = "lookup = logged(lambda weight, indices: Table(weight)(indices))"
    book["embedding_bag"] = """
def embedding_bag(weight, indices, offsets):
    def bags(ends):
        for a, b in zip([0, *ends], [*ends, len(indices)]):
            yield lookup(weight, indices[a:b])
    return stack([reduce(add, rows, zeros(weight.shape[1])) / (len(rows) or 1) for rows in bags(offsets.tolist()[1:])])"""  # noqa: E501


@odd("embedding")
def backwards_without_names(book):
    first, *others = book.code()
    book.cells[:] = [first, *others[::-1]]
    for cell in book.cells:
        del cell["id"]
        cell["metadata"] = {}


@odd("embedding")
def numpy_in_between(book):
    book["imports"] += "\nimport pandas as pd, numpy as np"
    book["one_hot"] = "def one_hot(indices, n):\n    return torch.from_numpy(np.eye(n)[indices.numpy()])"
    book["weight_gradient"] = """
def weight_gradient(indices, grad_output, num_embeddings, padding_idx=None):
    table = np.zeros((num_embeddings, grad_output.shape[-1]))
    np.add.at(table, indices.numpy(), grad_output.detach().numpy())
    if padding_idx is not None:
        table[padding_idx] = 0
    return torch.as_tensor(table)"""


@odd("embedding")
def notebook_of_version_3(book):
    cells = [{"cell_type": "heading", "level": 1, "source": ["Homework"]}]
    for cell in book.cells:
        name = "input" if cell["cell_type"] == "code" else "source"
        cells.append({"cell_type": cell["cell_type"], "metadata": {}, name: cell["source"].splitlines(True)})
    book.notebook = {"metadata": {"name": ""}, "nbformat": 3, "nbformat_minor": 0, "worksheets": [{"cells": cells}]}


@odd("embedding")
def broken_cells_between(book):
    book.add("name = input('Your name? ')", before="one_hot")
    book.add("open('mine.txt', 'w').write('1')\n1 / 0\nnotes = open('notes.txt')", before="lookup")
    book["lookup"] = (
        "class Lookup:\n    def __call__(self, weight, at):\n        return weight[at] * ONE\n\nlookup = Lookup()\n"
        "ONE = int(open('mine.txt').read())"
    )
    book.add("def half(\n", before="weight_gradient")
    book.add("import sys\nsys.exit(0)", before="embedding_layer")
    book["embedding-layer-check"] = "if __name__ == '__main__':\n    check('embedding_layer', Embedding)"


# RNN


@odd("rnn")
def words_of_the_shell(book):
    book["rnn_step"] = (
        f"pip install torch\n%time x = 3\nprint('%d'\n  % x)\n{book['rnn_step']}\n!echo \"it's\" \\\n  done"
    )
    book["rnn_cell"] += "\n\nls -la\ncd ..\nprint(RNNCell(2, 3)"
    book["rnn"] = f"?torch.stack\n{book['rnn']}\ntorch.stack??\n>>> rnn\nThe result is right.\n結果は正しい。"
    book["windows"] = f"<<<<<<< HEAD\n=======\n{book['windows']}\n>>>>>>> 3f2a (mine)\n"


@odd("rnn")
def answers_in_a_class(book):
    book["rnn_step"] = """
class Net:
    @staticmethod
    def step(x, h, w, u, b, d): return (x @ w.mT + b + h @ u.mT + d).tanh()
    @classmethod
    def run(cls, x, h, *weights):
        states = [h[0]]
        for x_t in x: states += [cls.step(x_t, states[-1], *weights)]
        return torch.stack(states[1:]), states[-1][None]

rnn_step, rnn = Net.step, Net.run"""
    book["rnn"] = "rnn  # see above"


@odd("rnn")
def zip_of_a_folder(book):
    stub = Book("rnn")
    stub["rnn_step"] = "def rnn_step(*a):\n    raise NotImplementedError()"
    files = {
        "my homework/rnn.ipynb": book.text(), "__MACOSX/my homework/._rnn.ipynb": b"\0\5\x16\7",
        "my homework/me.jpg": b"x",
        "my homework/.ipynb_checkpoints/rnn-checkpoint.ipynb": stub.text(),
    }  # fmt: skip
    return {"homework.zip": zipped(files.items())}


@odd("rnn")
def other_names(book):
    book.add("import __main__ as me\nstep = rnn_step\nagain = lambda *a: me.rnn_step(*a)", before="rnn_cell")
    book.swap("rnn_cell", "rnn_step(", "step(")
    book["rnn"] = book["rnn"].replace("def rnn(", "def my_rnn(").replace("rnn_step(", "globals()['again'](")
    book["rnn"] += "\n\nrnn = my_rnn\ndel my_rnn"
    book["rnn-check"] = "result = check('rnn', rnn)\nassert result.ok"


@odd("rnn")
def switches(book):
    book["imports"] += (
        "\ntorch.autograd.set_detect_anomaly(True)\ntorch.set_default_device('cpu')\n"
        "torch.backends.cudnn.benchmark = True\nimport os; os.makedirs('runs', exist_ok=True)"
    )
    book["rnn_step"] = "@torch.jit.script\n" + book["rnn_step"]
    book["rnn_backward"] = "@torch.no_grad()\n" + book["rnn_backward"]
    book.add("torch.set_grad_enabled(False)")


@odd("rnn")
def talkative(book):
    book["imports"] += (
        "\nimport logging, time, sys\nfrom tqdm.auto import tqdm\nlogging.basicConfig(filename='log.txt')"
    )
    book.swap("rnn", "for x in input:",
    "start = time.perf_counter()\n    for x in tqdm(input):\n        logging.error('step')\n"
              "        print('x' * 2_000_000); sys.stderr.write('!' * 100_000)")  # fmt: skip


@odd("rnn")
def widgets_and_recursion(book):
    book["imports"] = (
        "%matplotlib inline\nimport ipywidgets as widgets\nfrom IPython.display import display, clear_output\n"
        "import matplotlib.pyplot as plt\n" + book["imports"]
    )
    book["rnn"] = """
def rnn(input, h_0, *weights):
    if len(input) == 0:
        return input.new_zeros(0, *h_0.shape[1:]), h_0
    h = rnn_step(input[0], h_0[0], *weights)[None]
    rest, last = rnn(input[1:], h, *weights)
    return torch.cat([h, rest]), last

@widgets.interact(T=(1, 10))
def show(T=3):
    clear_output()
    display(plt.plot(rnn(torch.randn(T, 1, 1), torch.zeros(1, 1, 1), *torch.ones(2, 1, 1), *torch.ones(2, 1))[0]))"""


# LSTM


@odd("lstm")
def typed(book):
    book["imports"] = "from typing import *\nimport doctest, unittest\nfrom jaxtyping import Float\n" + book["imports"]
    book.swap("gates", "(x, h,", "(x: Float[torch.Tensor, 'n i'], h: Float[torch.Tensor, 'n h'],")
    book.swap("lstm", "state=None):", "state: Optional[Tuple[torch.Tensor, ...]] = None) -> 'State':  # type: ignore")
    book.add("doctest.testmod()\nclass Test(unittest.TestCase): pass\nunittest.main(argv=[''], exit=False)")


@odd("lstm")
def letters_of_all_scripts(book):
    book.add("σ, 双曲正接 = torch.sigmoid, torch.tanh\n# 全角　スペース", before="gates")
    book["gates"] = """
def gates(x, h, weight_ih, weight_hh, bias_ih, bias_hh):
    𝐚 = x @ weight_ih.T + bias_ih + h @ weight_hh.T + bias_hh
    入力, 忘却, 候補, 出力 = a.chunk(4, dim=-1)  # 𝐚 は a
    return σ(入力), σ(忘却), 双曲正接(候補), σ(出力)"""


@odd("lstm")
def stars(book):
    book["imports"] = (
        "from torch import *\nfrom torch.nn import *\nfrom torch.nn.functional import *\n" + book["imports"]
    )
    book["gates"] = """
def gates(x, h, weight_ih, weight_hh, bias_ih, bias_hh):
    i, f, g, o = split(linear(x, weight_ih, bias_ih) + linear(h, weight_hh, bias_hh), h.size(1), 1)
    return sigmoid(i), sigmoid(f), tanh(g), sigmoid(o)"""
    book.swap("lstm_cell", "nn.Module", "Module")


@odd("lstm")
def classes_in_pieces(book):
    book["lstm_cell"], forward = book["lstm_cell"].split("    def forward")
    book.add("def add_to_class(Class):\n    return lambda f: setattr(Class, f.__name__, f)", before="lstm-cell-check")
    book.add("@add_to_class(LSTMCell)\ndef forward" + forward.replace("\n    ", "\n"), before="lstm-cell-check")
    book["lstm"], forward = book["lstm"].split("    def forward")
    book.add("class LSTM(LSTM):\n    def forward" + forward, before="lstm-check")


@odd("lstm")
def magics(book):
    book["imports"] = "%load_ext autoreload\n%reset -f\n%precision 4\n" + book["imports"]
    book["gates"] = f"\n%%capture out\n%%time\n{book['gates']}\nwhere = !pwd\n%timeit -n1 torch.ones(2)\n"
    book["lstm_cell"] = f"%env A=1\n{book['lstm_cell']}\n%who\nLSTMCell?\n"
    book.add("%%bash\necho hello", before="lstm")
    book.add(book["one_bias"], before="one-bias-check")
    book["one_bias"] = "%%timeit -n1 -r1\npass"


@odd("lstm")
def one_key_too_many(book):
    for name, kind in ("gates", "raw"), ("lstm_cell", "markdown"):
        book.cell(name)["cell_type"] = kind
    book["lstm_cell"] = f"```python\n{book['lstm_cell']}\n```"


@odd("lstm")
def threads_and_new_syntax(book):
    book["gates"] = """
from concurrent.futures import ThreadPoolExecutor
pool = ThreadPoolExecutor(4)
def gates(x, h, *weights):
    match weights:
        case w, u, b, d if (n := h.shape[1]):
            one = lambda k: (x @ w.T + b + h @ u.T + d)[:, k * n:][:, :n]
    return tuple(pool.map(lambda k: (torch.tanh if k == 2 else torch.sigmoid)(one(k)), range(4)))"""


@odd("lstm")
def modules_written_and_run(book):
    book["gates"] = "%%file gates.py\nimport torch\n" + book["gates"]
    book.add("from gates import gates", before="gates-check")
    book.add("%%writefile helpers.py\nTURNED = [1, 0, 2, 3]", before="one_bias")
    book.add("%%writefile -a helpers.py\ndef turned(rows):\n    return rows[TURNED]", before="one_bias")
    book["one_bias"] = """
%run ./helpers.py
def one_bias(weights):
    W, U, b = (turned(weights[k].view(4, -1, *weights[k].shape[1:])).flatten(0, 1) for k in "WUb")
    return dict(weight_ih_l0=W, weight_hh_l0=U, bias_ih_l0=b, bias_hh_l0=b * 0)"""


# The parameters of an LSTM


@odd("lstm_parameters")
def damaged_form(book):
    for number, cell in enumerate(book.cells):
        cell.update(id="same", source=cell["source"].splitlines(keepends=True))
        for name in ("metadata", "outputs", "execution_count")[number % 2 :]:
            cell.pop(name, None)
    book.notebook["metadata"] = {}
    return {"Untitled12.ipynb": book.text()}


@odd("lstm_parameters")
def cached_and_buffered(book):
    book["imports"] += "\nfrom functools import cached_property"
    book.swap(
        "stacked",
        "self.dropout = dropout",
        "self.drop = nn.Dropout(dropout); self.register_buffer('zero', torch.zeros(1))",
    )
    book.swap("stacked", "nn.functional.dropout(x, self.dropout, self.training)", "self.drop(x) + self.zero")
    book["stacked"] += "\n    @cached_property\n    def size(self):\n        return len(self.zero)"


@odd("lstm_parameters")
def program_in_parts(book):
    book["stacked"] = "if __name__ == '__main__':\n" + indented(book["stacked"])
    book["packed"] = f"try:\n{indented(book['packed'])}\nexcept Exception as error:\n    print(error)"
    book.add("def main():\n    import argparse\n    argparse.ArgumentParser().parse_args()\n\nmain()")
    return {"my solution.PY": "# -*- coding: utf-8 -*-\n" + book.script("# %%")}


@odd("lstm_parameters")
def made_of_what_stands_below(book):
    """Use names before the cells that define them, as if the cells had been run in another order."""
    book["stacked"] = (
        "class StackedLSTM(LSTM):\n    def __init__(self, I, H, L, p): super().__init__(I, H, L, dropout=p)"
    )
    book["bidirectional"] = (
        "class BiLSTM(LSTM):\n    def __init__(self, I, H, L): super().__init__(I, H, L, bidirectional=True)"
    )
    book["projected"] = "ProjectedLSTM = lambda *sizes: proj(*sizes)"
    book.add("import functools\nproj = made\nmade = functools.partial(lambda I, H, P: LSTM(I, H, proj_size=P))")


# Files beside the notebook, waiting, and questions about the machine


@odd("rnn")
def files_beside_the_notebook(book):
    step, cell = book["rnn_step"], book["rnn_cell"]
    book["rnn_step"] = "exec(open('step.py').read())"
    book["rnn_cell"] = "import sys\nsys.path.append('src')\nfrom parts.cell import *"
    book["rnn"] = "import json\nPARTS = json.load(open('parts.json'))\n" + book["rnn"].replace(
        "h_0[0]", "h_0[PARTS[0]]"
    )
    imports = "import torch\nfrom torch import nn\n"
    return {
        "hw/rnn.ipynb": book.text(), "hw/step.py": step, "hw/parts.json": "[0]", "hw/src/parts/__init__.py": "",
        "hw/src/parts/cell.py": f"{imports}{step}\n\n{cell}",
    }  # fmt: skip


@odd("attention")
def waiting_and_the_machine(book):
    book["imports"] += (
        "\nimport asyncio, psutil\nones = await asyncio.gather(*(asyncio.sleep(0, k) for k in (1, 1)))\n"
        "LARGE = torch.inf if ones == [1, 1] else 0\nmemory = lambda: psutil.Process().memory_info().rss / 2**20"
    )
    book["attend"] = book["attend"].replace("torch.inf", "LARGE") + "\n\nassert memory() - memory() < 2**20"
    return {"attention.ipynb.gz": gzip.compress(book.text().encode())}


# These two need a module or a file that is missing where they are graded


@odd("lstm_parameters")
def another_library(book):
    book["packed"] = "from einops import rearrange\n" + book["packed"].replace(
        "h_0[0]", "rearrange(h_0, '1 n h -> n h')"
    )


@odd("lstm_parameters")
def a_file_of_ones_own(book):
    book["packed"] = "ONE = int(open('one.txt').read())\n" + book["packed"].replace("h_0[0]", "h_0[0] * ONE")
