"""Figure of an RNN of two units that reads two words letter by letter."""

import torch
from torch import Tensor
from torch.nn import functional as F
from traitlets import Int, List, TraitError, Unicode, validate

from companion.figures.figure import Figure, Number, script
from companion.layers.rnn import RNN

LETTERS, STEPS, UNITS = "abn", 6, 2


def matrix(rows: list[list[float]]) -> List:
    """Return a trait of a matrix of numbers from -2 to 2, of the shape of `rows`."""
    row = List(Number(min=-2, max=2), minlen=len(rows[0]), maxlen=len(rows[0]))
    return List(row, rows, minlen=len(rows), maxlen=len(rows)).tag(sync=True)


class Steps(Figure):
    """h_t = tanh( W_ih x_t + W_hh h_{t-1} ) with two units, over two words of six letters.

    first, second: the words, with letters of "abn". t: the last step that is shown, 1 to 6. word: 1 or 2, the word
    whose step t is computed in numbers. factor: from 0 to 2; the network's weight_hh is factor · W_hh. W_ih: (2, 3), a
    column for each letter. W_hh: (2, 2). The weights are from -2 to 2.
    """

    _esm = script("steps")
    first = Unicode("banana").tag(sync=True)
    second = Unicode("nanana").tag(sync=True)
    t = Int(1, min=1, max=STEPS).tag(sync=True)
    word = Int(1, min=1, max=2).tag(sync=True)
    factor = Number(1.0, min=0, max=2).tag(sync=True)
    W_ih = matrix([[0.9, -0.3, -1.0], [0.5, -1.0, 0.5]])
    W_hh = matrix([[0.9, -0.7], [0.8, 0.3]])
    pictured = {"t": STEPS}
    settings = ("first", "second", "t", "word", "factor", "W_ih", "W_hh")

    @validate("first", "second")
    def _check_word(self, proposal):
        if len(proposal.value) != STEPS or not {*proposal.value} <= {*LETTERS}:
            raise TraitError(f"{proposal.trait.name} must have {STEPS} letters, each a, b or n, not {proposal.value!r}")
        return proposal.value

    def inputs(self) -> Tensor:
        """Return both words as one-hot vectors in float64, (6, 2, 3): time, batch, input_size."""
        indices = torch.tensor([[LETTERS.index(letter) for letter in word] for word in (self.first, self.second)])
        return F.one_hot(indices.T, len(LETTERS)).double()

    def rnn(self) -> RNN:
        """Return a `companion.RNN` in float64 with the figure's weights."""
        network = RNN(len(LETTERS), UNITS, bias=False, dtype=torch.float64)
        with torch.no_grad():
            network.weight_ih_l0[:] = torch.tensor(self.W_ih, dtype=torch.float64)
            network.weight_hh_l0[:] = self.factor * torch.tensor(self.W_hh, dtype=torch.float64)
        return network
