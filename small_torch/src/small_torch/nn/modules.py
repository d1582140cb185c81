"""torch's modules of layers (`torch.nn.modules.rnn`, …), which imports, pickles and messages name."""

import sys
from types import ModuleType

from . import attention, cells, containers, layers, losses, module, recurrent

LAYERS_BY_MODULE = {
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
_layers = {}
for _module in (attention, cells, containers, layers, losses, module, recurrent):
    _layers |= vars(_module)
for _path, _names in LAYERS_BY_MODULE.items():
    _module = globals()[_path] = sys.modules[f"{__name__}.{_path}"] = ModuleType(f"{__name__}.{_path}")  # for pickle
    for _name in _names.split():
        _layers[_name].__module__ = f"torch.nn.modules.{_path}"
        setattr(_module, _name, _layers[_name])
