"""Figure of the parameters of nn.LSTM, and the shapes that follow from them."""

from typing import Any

import torch
from torch import Tensor
from torch.nn.utils.rnn import PackedSequence, pack_padded_sequence
from traitlets import Bool, Enum, Int, List

from companion.figures.figure import Figure, Number, script
from companion.layers.lstm import LSTM

KINDS = ("weight_ih", "weight_hh", "bias_ih", "bias_hh", "weight_hr")
WEIGHTS = [f"{kind}_l{layer}{end}" for layer in range(3) for end in ("", "_reverse") for kind in KINDS]


class Shapes(Figure):
    """An `nn.LSTM` with every parameter of its constructor, drawn, and the shapes of all its tensors.

    input_size, hidden_size: from 0 to 1024. num_layers: from 0 to 3. bias, batch_first, bidirectional: bool. dropout:
    from -0.5 to 1.5. proj_size: from -1 to 1024. The ranges include values that torch refuses: the figure says why.
    input_layout: "batched", "unbatched" or "packed". T: time steps, N: sequences, from 1 to 100; a packed
    input has lengths instead, up to 8 numbers from 0 to 100. marked: what the drawing highlights, "input", "output",
    "h_n", "c_n", the name of a weight of a network of up to 3 layers, or "" for nothing.
    """

    _esm = script("shapes")
    input_size = Int(10, min=0, max=1024).tag(sync=True)
    hidden_size = Int(20, min=0, max=1024).tag(sync=True)
    num_layers = Int(2, min=0, max=3).tag(sync=True)
    bias = Bool(True).tag(sync=True)
    batch_first = Bool(False).tag(sync=True)
    dropout = Number(0.0, min=-0.5, max=1.5).tag(sync=True)
    bidirectional = Bool(True).tag(sync=True)
    proj_size = Int(0, min=-1, max=1024).tag(sync=True)
    # not `layout`, which is a trait of every widget
    input_layout = Enum(["batched", "unbatched", "packed"], "batched").tag(sync=True)
    T = Int(5, min=1, max=100).tag(sync=True)
    N = Int(3, min=1, max=100).tag(sync=True)
    lengths = List(Int(min=0, max=100), [5, 3, 2], minlen=1, maxlen=8).tag(sync=True)
    marked = Enum(["", "input", "output", "h_n", "c_n", *WEIGHTS], "output").tag(sync=True)
    arguments = (
        "input_size", "hidden_size", "num_layers", "bias", "batch_first", "dropout", "bidirectional", "proj_size",
    )  # fmt: skip
    settings = (*arguments, "input_layout", "T", "N", "lengths", "marked")

    def lstm(self, **options: Any) -> LSTM:
        """Return a `companion.LSTM` with the figure's parameters.

        options: `device` and `dtype`, as `companion.LSTM` takes them. Raises torch's error for what torch refuses.
        """
        return LSTM(**{name: getattr(self, name) for name in self.arguments}, **options)

    def input(self, **options: Any) -> Tensor | PackedSequence:
        """Return an input of zeros for `lstm()` in the figure's layout, a tensor or a PackedSequence.

        options: `device` and `dtype`, as `torch.zeros` takes them. Raises RuntimeError for lengths that torch refuses.
        """
        if self.input_layout == "unbatched":
            return torch.zeros(self.T, self.input_size, **options)
        packed = self.input_layout == "packed"
        T, N = (max(self.lengths), len(self.lengths)) if packed else (self.T, self.N)
        shape = (N, T) if self.batch_first else (T, N)
        x = torch.zeros(*shape, self.input_size, **options)
        return pack_padded_sequence(x, self.lengths, self.batch_first) if packed else x
