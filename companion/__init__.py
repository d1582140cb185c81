"""Recurrent networks from scratch, equal to their namesakes in `torch.nn`, and what the chapters call."""

from companion.embedding import Embedding
from companion.lstm import LSTM, LSTMCell
from companion.proof import Comparison, compare
from companion.rnn import RNN, RNNCell

__all__ = ["LSTM", "RNN", "Comparison", "Embedding", "LSTMCell", "RNNCell", "compare"]
