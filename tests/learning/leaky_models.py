"""Models for the tests of leaks: sound ones, and ones with a fault."""

import torch
from torch import nn
from torch.nn import functional as F

from companion.learning.classifier import SequenceClassifier
from companion.learning.transformer_model import TransformerModel

V, T, B = 6, 9, 4
INDICES = torch.randint(V, (T + 1, B), generator=torch.Generator().manual_seed(1))
INPUTS, TARGETS = INDICES[:-1], INDICES[1:]


class Model(nn.Module):
    """Embedding, recurrent layer, norm, linear layer, with what a test puts before and after the recurrent layer."""

    def __init__(self, recurrent, norm=None, before=None, after=None):
        super().__init__()
        self.embedding, self.recurrent, self.norm = nn.Embedding(V, 5), recurrent, norm
        self.linear = nn.LazyLinear(V)
        self.before, self.after = before, after
        self(INPUTS)  # makes the linear layer

    def forward(self, inputs, state=None):
        x = self.embedding(inputs)
        x, state = self.recurrent(x if self.before is None else self.before(x), state)
        x = x if self.norm is None else self.norm(x.flatten(0, 1)).unflatten(0, x.shape[:2])
        return self.linear(x if self.after is None else self.after(x)), state


class Keywords(nn.Module):
    """A part that gives its own part the inputs by their names."""

    def __init__(self, layer):
        super().__init__()
        self.layer = layer

    def forward(self, x, state):
        return self.layer(input=x, hx=state)


class Attention(nn.Module):
    """Attention to earlier steps, with a softmax over a dimension of the weights (B, queries, keys)."""

    def __init__(self, dim, softmax=None):
        super().__init__()
        self.embedding, self.query, self.output = nn.Embedding(V, T), nn.Linear(T, T), nn.Linear(T, V)  # T features
        self.dim, self.softmax = dim, softmax

    def forward(self, inputs, state=None):
        x = self.embedding(inputs).transpose(0, 1)
        scores = self.query(x) @ x.transpose(1, 2)
        scores = scores.masked_fill(torch.ones_like(scores[0]).bool().triu(1), -1e9)
        weights = self.softmax(scores) if self.softmax else scores.softmax(self.dim)
        return self.output((weights @ x).transpose(0, 1)), ()


class Cells(nn.Module):
    """A loop over a cell, with a norm of its state at each step."""

    def __init__(self, norm):
        super().__init__()
        self.embedding, self.cell, self.norm, self.linear = nn.Embedding(V, 5), nn.LSTMCell(5, B), norm, nn.Linear(B, V)

    def forward(self, inputs, state=None):
        outputs = []
        for x in self.embedding(inputs):
            h, c = self.cell(x, state)
            state = self.norm(h), c
            outputs.append(self.linear(state[0]))
        return torch.stack(outputs), state


class Convolution(nn.Module):
    """A convolution over time, with T features; causal if the steps behind the end are cut off."""

    def __init__(self, padding):
        super().__init__()
        self.embedding, self.linear = nn.Embedding(V, T), nn.Linear(T, V)
        self.convolution = nn.Conv1d(T, T, 3, padding=padding)

    def forward(self, inputs, state=None):
        x = self.convolution(self.embedding(inputs).permute(1, 2, 0))[..., : len(inputs)]
        return self.linear(x.permute(2, 0, 1)), ()


class Unmasked(TransformerModel):
    """A transformer that attends to later steps, too."""

    def forward(self, inputs, state=None):
        x = self.embedding(inputs)
        for block in self.blocks:
            x = block(x)
        return self.linear(x), ()


class Padded(SequenceClassifier):
    """A classifier with a fault in its summary."""

    fault = ""

    def summarise(self, x, lengths):
        if self.fault == "mean":
            return self.recurrent(x)[0].mean(0)
        if self.fault == "last state":
            return self.recurrent(x)[1][0][-1]
        lengths = lengths.sort(descending=True).values if self.fault == "sorted" else torch.full_like(lengths, T)
        return super().summarise(x, lengths)


class Mean(nn.Module):
    """The mean over time, of all steps or only of the valid ones."""

    def forward(self, x, lengths=None):
        return x.mean(0) if lengths is None else x.cumsum(0)[lengths - 1, range(B)] / lengths[:, None]


class Looped(nn.Module):
    """A classifier that loops over a cell, and summarises all states or only takes the last one."""

    def __init__(self, mean=None, valid=False):
        super().__init__()
        self.embedding, self.cell, self.linear, self.mean = nn.Embedding(V, 5), nn.GRUCell(5, 7), nn.Linear(7, 3), mean
        self.valid = valid

    def forward(self, inputs, lengths):
        h, states = None, []
        for x in self.embedding(inputs):
            h = self.cell(x, h)
            states.append(h)
        return self.linear(self.mean(torch.stack(states), lengths if self.valid else None) if self.mean else h)


class Reader(nn.Module):
    """A tagger that returns outputs (T, B, …) and a last state, for lengths."""

    def __init__(self, layer, packed):
        super().__init__()
        self.layer, self.packed = layer, packed

    def forward(self, inputs, lengths):
        x = F.one_hot(inputs, V).float()
        if not self.packed:
            return self.layer(x)
        x = nn.utils.rnn.pack_padded_sequence(x, lengths, enforce_sorted=False)
        output, state = self.layer(x)
        return nn.utils.rnn.pad_packed_sequence(output)[0], state


class LastValid(Reader):
    """A classifier that answers with the output at the last valid step, and returns all outputs as well."""

    def forward(self, inputs, lengths):
        outputs, _ = super().forward(inputs, lengths)
        return outputs[lengths - 1, range(B)], outputs


class Alone(nn.Module):
    """A model that returns its first outputs without a state."""

    def __init__(self, steps):
        super().__init__()
        self.steps = steps

    def forward(self, inputs, state=None):
        return inputs[: self.steps].float()
