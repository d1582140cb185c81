"""Models that the tests of streams run."""

import functools

import torch
from torch import nn

import companion
from companion.learning.sequence_model import SequenceModel
from companion.learning.text import Vocabulary

SIGNS = "abcd."
VOCABULARY = Vocabulary.of(["?", *SIGNS])
SIZE, HIDDEN = 6, 4
LAYERS = {
    f"{room}.{name}": getattr(room_of, name)
    for room, room_of, names in (
        ("torch.nn", nn, "RNN GRU LSTM"),
        ("companion", companion, "RNN GRU LSTM MinGRU LogMinGRU MinLSTM SelectiveSSM LinearAttention DeltaNet"),
        ("companion", companion, "GatedLinearAttention GatedDeltaNet MLSTM MambaMixer SLSTM"),
    )
    for name in names.split()
}
LAYERS |= {
    "two layers": lambda size, hidden, **options: nn.GRU(size, hidden, 2, **options),
    "projected": lambda size, hidden, **options: companion.LSTM(size, 2 * hidden, proj_size=hidden, **options),
    "two heads": lambda size, hidden, **options: companion.GatedDeltaNet(size, hidden, 2, **options),
    **{
        name: functools.partial(getattr(companion, name), num_heads=2)
        for name in (
            "DeltaMixer KimiMixer Mamba2Mixer MLSTMMixer GriffinMixer DeltaProduct RotaryLinearAttention".split()
        )
    },
    "blocks": lambda size, hidden, **options: companion.Blocks(
        [companion.LSTM(size, size, **options), companion.DeltaNet(size, size, **options)]
    ),
}


def new_model(name, inputs="text"):
    """Return a model with a recurrent layer of this name, in float64."""
    torch.manual_seed(0)
    embedding = (
        nn.Identity() if inputs == "numbers" else companion.Embedding(len(VOCABULARY), SIZE, dtype=torch.float64)
    )
    outputs = 2 if inputs == "numbers" else len(VOCABULARY)
    layer = LAYERS[name](SIZE, SIZE if name == "blocks" else HIDDEN, dtype=torch.float64)
    return SequenceModel(embedding, layer, outputs)


class Own(nn.Module):
    """A layer of a reader."""

    input_size, hidden_size, proj_size, bidirectional, batch_first = SIZE, HIDDEN, 0, False, False

    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.eye(HIDDEN, SIZE))

    def forward(self, x, state=None):
        h = (x @ self.weight.T).cumsum(0) + (0 if state is None else state)
        return h, h[-1]
