"""Programs of learners that compute by hand what torch computes, and compare."""

import torch
import torch.nn.functional as F
from torch import nn


# %% batch normalization by hand
torch.manual_seed(0)
hpreact = torch.randn(32, 10) * 3 + 2
bngain, bnbias = torch.ones(1, 10), torch.zeros(1, 10)
mean, std = hpreact.mean(0, keepdim=True), hpreact.std(0, keepdim=True)
out = bngain * (hpreact - mean) / std + bnbias
print(out.mean(0).abs().max() < 1e-5, out.std(0))


class BatchNorm1d:
    def __init__(self, dim, eps=1e-5, momentum=0.1):
        self.eps, self.momentum, self.training = eps, momentum, True
        self.gamma, self.beta = torch.ones(dim), torch.zeros(dim)
        self.running_mean, self.running_var = torch.zeros(dim), torch.ones(dim)

    def __call__(self, x):
        xmean, xvar = (
            (x.mean(0, keepdim=True), x.var(0, keepdim=True))
            if self.training
            else (self.running_mean, self.running_var)
        )
        if self.training:
            with torch.no_grad():
                self.running_mean = (1 - self.momentum) * self.running_mean + self.momentum * xmean
                self.running_var = (1 - self.momentum) * self.running_var + self.momentum * xvar
        return self.gamma * (x - xmean) / torch.sqrt(xvar + self.eps) + self.beta


ours = BatchNorm1d(10)
theirs = nn.BatchNorm1d(10)
ours(hpreact)
y = theirs(hpreact)
print(
    theirs,
    theirs.running_mean,
    ours.running_mean.allclose(theirs.running_mean),
    ours.running_var.allclose(theirs.running_var),
    theirs.num_batches_tracked,
    y.shape,
)
theirs.eval()
print(theirs(hpreact)[0])
print(nn.LayerNorm(10)(hpreact)[0, :3], F.layer_norm(hpreact, (10,))[0, :3])

# %% recurrence by hand equals nn.RNN
torch.manual_seed(0)
rnn = nn.RNN(3, 4, batch_first=True)
x = torch.randn(2, 6, 3)
h = torch.zeros(2, 4)
outs = []
for t in range(x.size(1)):
    h = torch.tanh(x[:, t] @ rnn.weight_ih_l0.T + rnn.bias_ih_l0 + h @ rnn.weight_hh_l0.T + rnn.bias_hh_l0)
    outs.append(h)
ours = torch.stack(outs, dim=1)
theirs, last = rnn(x)
print(torch.allclose(ours, theirs, atol=1e-6), (ours - theirs).abs().max().item() < 1e-6, ours[0, -1])
ours.sum().backward()
by_hand = rnn.weight_hh_l0.grad.clone()
rnn.zero_grad()
theirs.sum().backward()
print(torch.allclose(by_hand, rnn.weight_hh_l0.grad, atol=1e-5), rnn.weight_hh_l0.grad)

# %% gates of an LSTM cell by hand
torch.manual_seed(0)
cell = nn.LSTMCell(2, 3)
x, h, c = torch.randn(4, 2), torch.zeros(4, 3), torch.zeros(4, 3)
gates = F.linear(x, cell.weight_ih, cell.bias_ih) + F.linear(h, cell.weight_hh, cell.bias_hh)
i, f, g, o = gates.chunk(4, 1)
c1 = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
h1 = torch.sigmoid(o) * torch.tanh(c1)
h2, c2 = cell(x, (h, c))
print(torch.allclose(h1, h2), torch.allclose(c1, c2), h2[0])
print(cell, cell.weight_ih.shape)
with torch.no_grad():
    cell.bias_ih[3:6] = 1.0
    cell.bias_hh.chunk(4)[1].zero_()
print(
    cell.bias_ih.view(4, 3)[1],
    cell(x)[0].shape,
    nn.GRUCell(2, 3)(x).shape,
    nn.RNNCell(2, 3, nonlinearity="relu")(x[0]).shape,
    len(list(cell.parameters())),
)

# %% a GRU by hand
torch.manual_seed(2)
gru = nn.GRU(2, 3)
x = torch.randn(5, 1, 2)
h = torch.zeros(1, 3)
W_ir, W_iz, W_in = gru.weight_ih_l0.chunk(3)
W_hr, W_hz, W_hn = gru.weight_hh_l0.split(3)
b_ir, b_iz, b_in = gru.bias_ih_l0.chunk(3)
b_hr, b_hz, b_hn = gru.bias_hh_l0.chunk(3)
for x_t in x:
    r = torch.sigmoid(x_t @ W_ir.T + b_ir + h @ W_hr.T + b_hr)
    z = torch.sigmoid(x_t @ W_iz.T + b_iz + h @ W_hz.T + b_hz)
    n = torch.tanh(x_t @ W_in.T + b_in + r * (h @ W_hn.T + b_hn))
    h = (1 - z) * n + z * h
print(h, torch.allclose(h, gru(x)[1][0], atol=1e-6))
print(
    sum(p.numel() for p in gru.parameters()),
    [f"{n}: {tuple(p.shape)}" for n, p in gru.named_parameters()],
    z.detach(),
    gru(x, torch.ones(1, 1, 3))[0][-1],
)
