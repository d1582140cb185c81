"""torch's modules of layers (`torch.nn.modules.rnn`, …), which imports, pickles and messages name."""

import sys
from types import ModuleType

from . import attention, containers, from_functions, layers, module, recurrent

LAYERS_BY_MODULE = {
    "activation": " ".join([*from_functions.ACTIVATIONS, "MultiheadAttention"]),
    "batchnorm": "BatchNorm1d",
    "container": "Sequential ModuleList ModuleDict ParameterList",
    "conv": "Conv1d",
    "dropout": "_DropoutNd Dropout",
    "flatten": "Flatten",
    "linear": "Identity Linear NonDynamicallyQuantizableLinear",
    "loss": " ".join(from_functions.LOSSES),
    "module": "Module",
    "normalization": "LayerNorm",
    "pooling": "MaxPool1d AvgPool1d AdaptiveAvgPool1d",
    "rnn": "RNNBase RNN LSTM GRU RNNCellBase RNNCell LSTMCell GRUCell",
    "sparse": "Embedding EmbeddingBag",
    "transformer": "TransformerEncoderLayer",
}
layers_by_name = {}
for _module in (attention, containers, from_functions, layers, module, recurrent):
    layers_by_name |= vars(_module)
for _path, _names in LAYERS_BY_MODULE.items():
    _module = globals()[_path] = sys.modules[f"{__name__}.{_path}"] = ModuleType(f"{__name__}.{_path}")  # for pickle
    for _name in _names.split():
        layers_by_name[_name].__module__ = f"torch.nn.modules.{_path}"
        setattr(_module, _name, layers_by_name[_name])

public = {name: layers_by_name[name] for names in LAYERS_BY_MODULE.values() for name in names.split()}
for _name in ("_DropoutNd", "NonDynamicallyQuantizableLinear"):
    del public[_name]
