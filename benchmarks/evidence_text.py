"""Evidence on the English text, by one recipe: kinds of networks of one size, and sizes of an LSTM; 75 minutes.

    python benchmarks/evidence_text.py           compute missing runs; an interrupted call can be repeated
    python benchmarks/evidence_text.py --again   recompute all runs

The first 80 % of the text are learned, the next 10 % choose the learning rate, and the last 10 % test the result. Every
network (float32) reads the text in windows of 64 characters, eight in a batch, for 16 epochs, with AdamW, OneCycleLR
and clipped gradients; it is measured after the last epoch. *kinds*: recurrent layers and a transformer with as many
parameters as a model with an LSTM of 72 units, within 2 %. *sizes*: an LSTM with other numbers of units and layers, and
with dropout. A transformer has no state: it reads windows in random order, and is measured on the second half of each.
Output: companion/learning/evidence/text.json, with the losses on the three parts.
"""

import functools
import sys

import torch
from evidence_protocol import count, main, nearest, numbers_of_state, train_in_one_cycle
from torch import nn
from torch.nn import functional as F

import companion
from companion.learning import protocol
from companion.learning.sequence_model import SequenceModel
from companion.learning.text import Vocabulary, load_text
from companion.learning.training import IGNORED, evaluate
from companion.learning.transformer_model import TransformerModel
from companion.learning.windows import ConsecutiveWindows, RandomWindows, split

NAME, VERSION = "text", 1  # increase when the program computes something else
METHOD = ("experiment", "kind", "hidden_size", "num_layers", "dropout")
EPOCHS, BATCH_SIZE, WINDOW_SIZE, EMBEDDING_DIM, HEADS, EQUAL_TO = 16, 8, 64, 16, 4, 72
# torch's layers where they compute the same numbers faster
LAYERS = {"LSTM": nn.LSTM, "GRU": nn.GRU, "RNN": nn.RNN, "MinGRU": companion.MinGRU, "MinLSTM": companion.MinLSTM}
MATRICES = {  # the state is a matrix
    "GLA": functools.partial(companion.GatedLinearAttention, num_heads=2),
    "MLSTM": functools.partial(companion.MLSTM, num_heads=2),
    "GatedDeltaNet, β to 2": functools.partial(companion.GatedDeltaNet, num_heads=2, most=2.0),
}
LAYERS |= MATRICES
KINDS = (  # kind, num_layers
    ("LSTM", 1),
    ("transformer", 2),
    ("GRU", 1),
    ("RNN", 1),
    ("MinGRU", 1),
    ("MinGRU", 2),
    ("MinLSTM", 1),
    ("LSTM, in blocks", 2),
    ("MinGRU, in blocks", 2),
    *((f"{kind}, in blocks", 2) for kind in MATRICES),
)
SIZES = (  # hidden_size, num_layers, dropout
    (32, 1, 0.0),
    (64, 1, 0.0),
    (64, 2, 0.0),
    (64, 3, 0.0),
    (128, 1, 0.0),
    (128, 2, 0.0),
    (128, 2, 0.5),
    (256, 1, 0.0),
    (256, 1, 0.5),
)


class LSTM(nn.LSTM):
    """An LSTM with dropout after every layer, the last one included; `nn.LSTM` leaves out the last."""

    def __init__(self, input_size, hidden_size, num_layers, dropout):
        super().__init__(input_size, hidden_size, num_layers, dropout=dropout if num_layers > 1 else 0.0)
        self.last_dropout = dropout

    def forward(self, x, state=None):
        """Return the outputs, with dropout while training, and the state."""
        output, state = super().forward(x, state)
        return F.dropout(output, self.last_dropout, self.training), state


class SecondHalves:
    """Windows that overlap by half, for a model without a state: only the second half of each is predicted."""

    carried = False

    def __init__(self, indices, window_size):
        half = window_size // 2
        starts = torch.arange(0, len(indices) - window_size, half)
        positions = starts + torch.arange(window_size)[:, None]
        self.inputs, self.targets = indices[positions], indices[positions + 1]
        self.targets[:half] = IGNORED

    def epoch(self, number):
        """Return one batch of all windows."""
        return [(self.inputs, self.targets)]


@functools.cache
def parts():
    """Return the number of signs, and the parts for learning, choosing and testing, as indices."""
    text = load_text("en")
    vocabulary = Vocabulary(text)
    rest, test = split(vocabulary.encode(text), held_out=0.1)
    return len(vocabulary), *split(rest, held_out=1 / 9), test


def new_model(kind, hidden_size, num_layers, dropout=0.0):
    """Return a new network; hidden_size: the `d_model` of a transformer."""
    signs = parts()[0]
    if kind == "transformer":
        sizes = hidden_size, HEADS, 2 * hidden_size
        blocks = [nn.TransformerEncoderLayer(*sizes, dropout=dropout, norm_first=True) for _ in range(num_layers)]
        model = TransformerModel(companion.Embedding(signs, hidden_size), blocks, signs)
        model.linear = nn.Sequential(nn.LayerNorm(hidden_size), model.linear)  # as in GPT
        return model
    if kind.endswith("in blocks"):
        make = LAYERS[kind.removesuffix(", in blocks")]
        blocks = companion.Blocks([make(hidden_size, hidden_size) for _ in range(num_layers)])
        return SequenceModel(companion.Embedding(signs, hidden_size), blocks, signs)
    sizes = EMBEDDING_DIM, hidden_size, num_layers
    layer = LSTM(*sizes, dropout) if dropout else LAYERS[kind](*sizes)
    return SequenceModel(companion.Embedding(signs, EMBEDDING_DIM), layer, signs)


def equal_size(kind, num_layers):
    """Return the size that gives a network about as many parameters as one with an LSTM of `EQUAL_TO` units."""
    heads = HEADS if kind == "transformer" else 2 if kind.removesuffix(", in blocks") in MATRICES else 1
    parts()  # not on the device "meta"
    with torch.device("meta"):
        wanted = count(new_model("LSTM", EQUAL_TO, 1))
        multiples = range(heads, 400, heads)  # of the number of heads
        return nearest(multiples, lambda size: count(new_model(kind, size, num_layers)), wanted)


def methods():
    """Yield the methods, the small networks first."""
    for kind, num_layers in KINDS:
        yield "kinds", kind, equal_size(kind, num_layers), num_layers, 0.0
    for hidden_size, num_layers, dropout in SIZES:
        yield "sizes", "LSTM", hidden_size, num_layers, dropout


def start(method):
    """Return the rates with which the search begins, which only saves time: it goes on to lower and higher ones."""
    return (0.003, 0.01, 0.03) if method[1] in ("RNN", "transformer") else (0.01, 0.03, 0.1)


def rank(run):
    """Return the numbers by which a learning rate is chosen: the losses on the second part and on the first."""
    return run["choose"], run["learn"]


def state_size(model, steps):
    """Return how many numbers are stored after some steps; the keys and values of all layers for a transformer."""
    if isinstance(model, TransformerModel):
        return len(model.blocks) * 2 * steps * model.embedding.embedding_dim
    return numbers_of_state(model(torch.zeros(steps, 1, dtype=torch.long))[1])


def run(settings, epochs=EPOCHS):
    """Train and measure one network, and return its measurements.

    epochs: fewer than `EPOCHS` stop early, with the same learning rates until then.
    """
    _, *sizes, seed, learning_rate = settings
    torch.manual_seed(seed)
    model = new_model(*sizes)
    texts = dict(zip(("learn", "choose", "test"), parts()[1:], strict=True))
    if isinstance(model, TransformerModel):
        batches = RandomWindows(texts["learn"], BATCH_SIZE, WINDOW_SIZE, seed=seed)
        measured = {name: SecondHalves(text, WINDOW_SIZE) for name, text in texts.items()}
    else:
        batches = ConsecutiveWindows(texts["learn"], BATCH_SIZE, WINDOW_SIZE)
        rows = {"learn": BATCH_SIZE}  # the long part in several rows, which is faster
        measured = {name: ConsecutiveWindows(text, rows.get(name, 1), 500) for name, text in texts.items()}
    optimizer = torch.optim.AdamW(model.parameters(), lr=learning_rate, weight_decay=0.1)
    history, per_step = train_in_one_cycle(model, batches, optimizer, EPOCHS, epochs)
    if seed in protocol.CHOOSING:  # the test part chooses nothing
        del measured["test"]
    losses = {name: round(evaluate(model, part), 4) for name, part in measured.items()}
    numbers = {"parameters": count(model), "state": state_size(model, WINDOW_SIZE), "per_step": per_step}
    return numbers | losses | {"epochs": [round(epoch.loss, 4) for epoch in history]}


if __name__ == "__main__":
    main(sys.modules[__name__])
