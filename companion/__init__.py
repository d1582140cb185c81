"""Recurrent networks from scratch, equal to their namesakes in `torch.nn`, and what the chapters call."""

from companion.embedding import Embedding
from companion.gru import GRU, GRUCell
from companion.lstm import LSTM, LSTMCell
from companion.proof import Comparison, compare
from companion.rnn import RNN, RNNCell
from companion.through_time import by_hand

__all__ = ["GRU", "LSTM", "RNN", "Comparison", "Embedding", "GRUCell", "LSTMCell", "RNNCell", "by_hand", "compare"]
