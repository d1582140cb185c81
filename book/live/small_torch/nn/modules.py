"""Where torch keeps its layers: some ask for them there, and messages name these places."""

import sys
from types import ModuleType

from . import attention, containers, layers, losses, module, recurrent

PLACES = {
    "activation": [
        layers.Tanh, layers.Sigmoid, layers.ReLU, layers.GELU, layers.SiLU, layers.Softplus, layers.LeakyReLU, layers.Softmax,
        layers.LogSoftmax, attention.MultiheadAttention,
    ],
    "batchnorm": [layers.BatchNorm1d],
    "container": [containers.Sequential, containers.ModuleList, containers.ParameterList],
    "dropout": [layers._DropoutNd, layers.Dropout],
    "flatten": [layers.Flatten],
    "linear": [layers.Identity, layers.Linear, attention.NonDynamicallyQuantizableLinear],
    "loss": [
        losses.MSELoss, losses.L1Loss, losses.BCELoss, losses.BCEWithLogitsLoss, losses.NLLLoss, losses.CrossEntropyLoss,
    ],
    "module": [module.Module],
    "normalization": [layers.LayerNorm],
    "rnn": [
        recurrent.RNNBase, recurrent.RNN, recurrent.LSTM, recurrent.GRU, recurrent.RNNCellBase, recurrent.RNNCell,
        recurrent.LSTMCell, recurrent.GRUCell,
    ],
    "sparse": [layers.Embedding],
    "transformer": [attention.TransformerEncoderLayer],
}  # fmt: skip

for _place, _classes in PLACES.items():
    for _one in _classes:
        _one.__module__ = f"torch.nn.modules.{_place}"
    globals()[_place] = sys.modules[f"{__name__}.{_place}"] = ModuleType(f"{__name__}.{_place}")  # pickle looks for them there
    vars(globals()[_place]).update({_one.__name__: _one for _one in _classes})
