"""Right answers of the questions about *Changing the cell*, computed in another way."""

import itertools
import math

from torch import nn

from companion.layers.lstm import LSTMStep
from companion.layers.recurrent import RNNBase
from tests.questions.recomputed import count


class PeepholeStep(LSTMStep):
    """The step of an LSTM with the parameters of peepholes, named as in the checker's `peephole_lstm_step`."""

    def shapes(self, below, hidden_size, size, bias):
        peepholes = dict.fromkeys(("weight_ci", "weight_cf", "weight_co"), (hidden_size,))
        return super().shapes(below, hidden_size, size, bias) | peepholes


class PeepholeLSTM(RNNBase):
    """A layer that has the parameters of an LSTM with peepholes."""

    _step = PeepholeStep()


def peephole_weights(input_size, hidden_size):
    layer = PeepholeLSTM("PeepholeLSTM", input_size, hidden_size)
    return count(layer) - count(nn.LSTM(input_size, hidden_size))


def never_dropped(p, steps, kept, product):
    """Go through all ways to keep or drop a unit at each step."""
    assert product.split(" · ") == [str(kept)] * steps
    ways = itertools.product((True, False), repeat=steps)
    chances = [(math.prod(1 - p if keep else p for keep in way), all(way)) for way in ways]
    assert math.isclose(sum(chance for chance, _ in chances), 1)
    return 100 * sum(chance for chance, is_kept in chances if is_kept)
