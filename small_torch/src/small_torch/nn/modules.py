"""Where torch keeps its layers: some ask for them there, and messages name these places."""

import sys
from types import ModuleType

from . import attention, cells, containers, layers, losses, module, recurrent

PLACES = {
    "activation": "Tanh Sigmoid ReLU GELU SiLU Softplus LeakyReLU Softmax LogSoftmax MultiheadAttention",
    "batchnorm": "BatchNorm1d",
    "container": "Sequential ModuleList ParameterList",
    "dropout": "_DropoutNd Dropout",
    "flatten": "Flatten",
    "linear": "Identity Linear NonDynamicallyQuantizableLinear",
    "loss": "MSELoss L1Loss BCELoss BCEWithLogitsLoss NLLLoss CrossEntropyLoss",
    "module": "Module",
    "normalization": "LayerNorm",
    "rnn": "RNNBase RNN LSTM GRU RNNCellBase RNNCell LSTMCell GRUCell",
    "sparse": "Embedding",
    "transformer": "TransformerEncoderLayer",
}
_found = {}
for _module in (attention, cells, containers, layers, losses, module, recurrent):
    _found |= vars(_module)
for _place, _names in PLACES.items():
    _module = globals()[_place] = sys.modules[f"{__name__}.{_place}"] = ModuleType(f"{__name__}.{_place}")  # for pickle
    for _name in _names.split():
        _found[_name].__module__ = f"torch.nn.modules.{_place}"
        setattr(_module, _name, _found[_name])
