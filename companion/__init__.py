"""Recurrent networks from scratch, equal to their namesakes in `torch.nn`, and what the chapters call."""

from companion.layers.additive import AdditiveAttention
from companion.layers.attention import MultiheadAttention, scaled_dot_product_attention
from companion.layers.embedding import Embedding
from companion.layers.gru import GRU, GRUCell
from companion.layers.lstm import LSTM, LSTMCell
from companion.layers.minimal import MinGRU, MinLSTM
from companion.layers.rnn import RNN, RNNCell
from companion.layers.scan import scan
from companion.layers.through_time import by_hand
from companion.layers.transformer import TransformerEncoderLayer
from companion.proof import Comparison, compare

__all__ = [
    "GRU", "LSTM", "RNN", "AdditiveAttention", "Comparison", "Embedding", "GRUCell", "LSTMCell", "MinGRU", "MinLSTM",
    "MultiheadAttention", "RNNCell", "TransformerEncoderLayer", "by_hand", "compare", "scan", "scaled_dot_product_attention",
]  # fmt: skip
