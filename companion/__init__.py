"""Recurrent networks from scratch, equal to their namesakes in `torch.nn`, and what the chapters call."""

from companion.layers.embedding import Embedding
from companion.layers.gru import GRU, GRUCell
from companion.layers.lstm import LSTM, LSTMCell
from companion.layers.rnn import RNN, RNNCell
from companion.layers.through_time import by_hand
from companion.proof import Comparison, compare

__all__ = ["GRU", "LSTM", "RNN", "Comparison", "Embedding", "GRUCell", "LSTMCell", "RNNCell", "by_hand", "compare"]
