"""Programs of learners with mistakes in models, and the errors that they see."""

import torch
import torch.nn.functional as F
from torch import nn


def show(*programs):
    """Print what each program returns, or its error."""
    for program in programs:
        try:
            print(program())
        except Exception as error:
            print(f"{type(error).__name__}: {error}")


# %% shapes that recurrent layers refuse
rnn, lstm, gru, cell = (
    nn.RNN(3, 4),
    nn.LSTM(3, 4, 2, batch_first=True),
    nn.GRU(3, 4, bidirectional=True),
    nn.LSTMCell(3, 4),
)
show(
    lambda: rnn(torch.ones(5, 2, 4)),
    lambda: rnn(torch.ones(3)),
    lambda: rnn(torch.ones(5, 2, 3), torch.ones(1, 3, 4)),
    lambda: lstm(torch.ones(2, 5, 3), torch.ones(2, 2, 4)),
    lambda: lstm(torch.ones(2, 5, 3), (torch.ones(1, 2, 4), torch.ones(1, 2, 4))),
    lambda: gru(torch.ones(5, 2, 3), torch.ones(1, 2, 4)),
    lambda: cell(torch.ones(2, 4)),
    lambda: cell(torch.ones(2, 3), torch.ones(2, 4)),
    lambda: cell(torch.ones(2, 3), (torch.ones(2, 5), torch.ones(2, 4))),
    lambda: rnn(torch.ones(5, 2, 3).long()),
    lambda: rnn(torch.ones(5, 2, 3).double()),
    lambda: rnn([1, 2, 3]),
    lambda: nn.RNN(3, 4, nonlinearity="sigmoid"),
    lambda: nn.RNN(3, 0),
    lambda: nn.LSTM(3, 4, dropout=2),
    lambda: nn.LSTM(3, 4, proj_size=5),
    lambda: nn.GRU(3, 4, proj_size=2),
    lambda: lstm(torch.ones(5, 3), (torch.ones(2, 1, 4), torch.ones(2, 1, 4))),
    lambda: rnn(torch.ones(0, 2, 3)),
    lambda: rnn(torch.ones(5, 0, 3))[0].shape,
    lambda: nn.RNN(3.0, 4),
    lambda: nn.RNNCell(3, 4)(torch.ones(1, 1, 3)),
    lambda: rnn(torch.ones(5, 2, 3), None)[1].shape,
)


# %% losses that are given the wrong way round
logits, target = torch.randn(3, 4, generator=torch.Generator().manual_seed(0)), torch.tensor([0, 1, 2])
show(
    lambda: F.cross_entropy(target, logits),
    lambda: F.cross_entropy(logits, target[:2]),
    lambda: F.cross_entropy(logits, torch.tensor([0, 1, 4])),
    lambda: F.cross_entropy(logits, torch.tensor([0, 1, -1])),
    lambda: F.cross_entropy(logits, F.one_hot(target, 4)),
    lambda: F.cross_entropy(logits, F.one_hot(target, 4).float()),
    lambda: F.cross_entropy(logits, target.int()),
    lambda: F.cross_entropy(logits.view(3, 2, 2), target),
    lambda: F.nll_loss(logits, target.float()),
    lambda: F.binary_cross_entropy(logits, logits),
    lambda: F.binary_cross_entropy(torch.ones(3), torch.ones(2)),
    lambda: F.mse_loss(torch.ones(3), torch.ones(2)),
    lambda: nn.MSELoss(torch.ones(3), torch.ones(3)),
    lambda: nn.CrossEntropyLoss(logits, target),
    lambda: nn.CrossEntropyLoss()(logits),
    lambda: F.cross_entropy(logits, None),
    lambda: F.cross_entropy(logits, [0, 1, 2]),
    lambda: F.cross_entropy(logits[0], torch.tensor(1)),
    lambda: F.kl_div(logits, logits[:2]),
    lambda: F.cross_entropy(logits, target, weight=torch.ones(3)),
    lambda: F.cross_entropy(logits, target, label_smoothing=2.0),
    lambda: F.nll_loss(logits, torch.tensor([[0], [1], [2]])),
)
