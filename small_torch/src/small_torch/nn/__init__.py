"""`torch.nn`: layers, losses, initial values and functions of all parameters of a model."""

from . import functional, init, modules, utils  # noqa: F401
from .attention import MultiheadAttention, TransformerEncoderLayer  # noqa: F401
from .cells import GRUCell, LSTMCell, RNNCell, RNNCellBase  # noqa: F401
from .containers import ModuleList, ParameterList, Sequential  # noqa: F401
from .layers import (  # noqa: F401
    GELU,
    BatchNorm1d,
    Dropout,
    Embedding,
    Flatten,
    Identity,
    LayerNorm,
    LeakyReLU,
    Linear,
    LogSoftmax,
    ReLU,
    Sigmoid,
    SiLU,
    Softmax,
    Softplus,
    Tanh,
)  # fmt: skip
from .losses import BCELoss, BCEWithLogitsLoss, CrossEntropyLoss, L1Loss, MSELoss, NLLLoss  # noqa: F401
from .module import Module  # noqa: F401
from .parameter import Parameter  # noqa: F401
from .recurrent import GRU, LSTM, RNN, RNNBase  # noqa: F401
