"""Recurrent networks from scratch, equal to `torch.nn`, and the functions that the chapters call."""

from companion.export.c import to_c
from companion.export.onnx import to_onnx
from companion.layers.additive import AdditiveAttention
from companion.layers.attention import MultiheadAttention, scaled_dot_product_attention
from companion.layers.blocks import Blocks
from companion.layers.causal_attention import CausalAttention
from companion.layers.ctc import ctc_loss
from companion.layers.delta_mixer import DeltaMixer, KimiMixer
from companion.layers.embedding import Embedding
from companion.layers.griffin_mixer import GriffinMixer
from companion.layers.gru import GRU, GRUCell
from companion.layers.linear_attention import DeltaNet, GatedDeltaNet, GatedLinearAttention, LinearAttention
from companion.layers.lstm import LSTM, LSTMCell
from companion.layers.mamba_mixer import Mamba2Mixer, MambaMixer
from companion.layers.minimal import LogMinGRU, MinGRU, MinLSTM
from companion.layers.mlstm import MLSTM
from companion.layers.mlstm_mixer import MLSTMMixer
from companion.layers.rnn import RNN, RNNCell
from companion.layers.scan import scan
from companion.layers.selective import SelectiveSSM
from companion.layers.slstm import SLSTM
from companion.layers.through_time import by_hand
from companion.layers.tracking import DeltaProduct, RotaryLinearAttention
from companion.layers.transformer import TransformerEncoderLayer
from companion.proof import Comparison, compare

__version__ = "0.1.0"

__all__ = [
    "GRU", "LSTM", "MLSTM", "RNN", "SLSTM", "AdditiveAttention", "Blocks", "CausalAttention", "Comparison",
    "DeltaMixer", "DeltaNet", "DeltaProduct", "Embedding", "GRUCell", "GatedDeltaNet", "GatedLinearAttention",
    "GriffinMixer", "KimiMixer", "LSTMCell", "LinearAttention", "LogMinGRU", "MLSTMMixer", "Mamba2Mixer", "MambaMixer",
    "MinGRU", "MinLSTM", "MultiheadAttention", "RNNCell", "RotaryLinearAttention", "SelectiveSSM",
    "TransformerEncoderLayer", "by_hand", "compare", "ctc_loss", "scaled_dot_product_attention", "scan", "to_c",
    "to_onnx",
]  # fmt: skip
