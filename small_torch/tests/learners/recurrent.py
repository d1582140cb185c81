"""Programs of learners on recurrent layers: shapes, states, cells, packed sequences, series, characters."""

import torch
import torch.nn.functional as F
from torch import nn

# %% a first recurrent layer
torch.manual_seed(0)
rnn = nn.RNN(10, 20, 2)
input = torch.randn(5, 3, 10)
h0 = torch.randn(2, 3, 20)
output, hn = rnn(input, h0)
print(rnn, output.shape, hn.shape)
print(output[0, 0, :5], torch.equal(output[-1], hn[-1]))
for name, param in rnn.named_parameters():
    print(name, param.shape, round(param.std().item(), 3))
print(
    nn.RNN(1, 2, nonlinearity="relu", bias=False),
    rnn.all_weights[0][0].shape,
    nn.RNN(3, 4, batch_first=True)(torch.zeros(2, 5, 3))[0].shape,
    rnn(torch.zeros(4, 10))[0].shape,
    rnn.hidden_size,
    rnn.num_layers,
)

# %% an LSTM from the tutorial
torch.manual_seed(1)
lstm = nn.LSTM(3, 3)
inputs = [torch.randn(1, 3) for _ in range(5)]
hidden = (torch.randn(1, 1, 3), torch.randn(1, 1, 3))
for i in inputs:
    out, hidden = lstm(i.view(1, 1, -1), hidden)
inputs = torch.cat(inputs).view(len(inputs), 1, -1)
hidden = (torch.randn(1, 1, 3), torch.randn(1, 1, 3))
out, hidden = lstm(inputs, hidden)
print(out)
print(hidden)

# %% two directions and several layers
torch.manual_seed(0)
lstm = nn.LSTM(4, 5, num_layers=2, bidirectional=True, batch_first=True, dropout=0.2)
lstm.eval()
x = torch.randn(3, 7, 4)
out, (h, c) = lstm(x)
print(lstm, out.shape, h.shape, c.shape)
forward, backward = out[:, -1, :5], out[:, 0, 5:]
print(torch.allclose(forward, h[-2]), torch.allclose(backward, h[-1]))
last = torch.cat((h[-2], h[-1]), dim=1)
print(last.shape, last[0], h.view(2, 2, 3, 5)[1, 0].equal(h[2]))
print([name for name, _ in lstm.named_parameters()])
lstm.train()
torch.manual_seed(3)
a = lstm(x)[0]
torch.manual_seed(3)
print(torch.equal(a, lstm(x)[0]), a[0, 0])
nn.LSTM(2, 2, dropout=0.5)
print(nn.LSTM(4, 6, proj_size=2)(x)[0].shape)

# %% padded batch, packed and unpacked
from torch.nn.utils.rnn import pack_padded_sequence, pack_sequence, pad_packed_sequence, pad_sequence

torch.manual_seed(0)
seqs = [torch.randn(n, 2) for n in (4, 3, 1)]
lengths = [len(s) for s in seqs]
padded = pad_sequence(seqs, batch_first=True)
packed = pack_padded_sequence(padded, lengths, batch_first=True)
print(packed.data.shape, packed.batch_sizes, packed.sorted_indices)
rnn = nn.GRU(2, 3, batch_first=True)
out, h = rnn(packed)
out, n = pad_packed_sequence(out, batch_first=True, padding_value=-1.0)
print(out, n, h, sep="\n")
print(torch.allclose(h[0, 2], rnn(seqs[2])[1][0], atol=1e-6), out[torch.arange(3), n - 1].allclose(h[0]))
print(pack_sequence([torch.tensor([1, 2]), torch.tensor([3])]))
for wrong in (
    lambda: pack_padded_sequence(padded, [1, 3, 4], batch_first=True),
    lambda: pack_padded_sequence(padded, [4, 3, 0], batch_first=True),
    lambda: pack_padded_sequence(padded, lengths),
):
    try:
        print(wrong().data.shape)
    except (RuntimeError, ValueError) as error:
        print(type(error).__name__, error)
unsorted = pack_sequence([seqs[2], seqs[0]], enforce_sorted=False)
print(unsorted.sorted_indices, unsorted.unsorted_indices, rnn(unsorted)[1].shape)

# %% state carried through truncated time
torch.manual_seed(0)
series = torch.cumsum(torch.randn(1, 48, 1), 1) / 5
rnn = nn.GRU(1, 8, batch_first=True)
head = nn.Linear(8, 1)
params = [*rnn.parameters(), *head.parameters()]
optimizer = torch.optim.RMSprop(params, lr=0.01)
h = None
for epoch in range(2):
    for start in range(0, 40, 8):
        x, y = series[:, start : start + 8], series[:, start + 1 : start + 9]
        if h is not None:
            h = h.detach()
        out, h = rnn(x, h)
        loss = F.l1_loss(head(out), y)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(params, 1.0)
        optimizer.step()
    print(epoch, f"{loss.item():.4f}", h.requires_grad, h.shape)
h = torch.zeros(1, 1, 8)
out, h = rnn(x, h)
out, h = rnn(x, h)
loss = out.sum()
loss.backward()
out, h = rnn(x, h)
try:
    out.sum().backward()
except RuntimeError as error:
    print(str(error)[:60])

# %% classify sequences by their sum
torch.manual_seed(0)
X = torch.randint(0, 2, (64, 8, 1)).float()
y = (X.sum((1, 2)) > 4).float()
model = nn.Module()
model.rnn, model.head = nn.RNN(1, 12, batch_first=True), nn.Linear(12, 1)
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
criterion = nn.BCEWithLogitsLoss()
print(model)
for epoch in range(30):
    _, h = model.rnn(X)
    logits = model.head(h.squeeze(0)).squeeze(1)
    loss = criterion(logits, y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(round(loss.item(), 4), ((logits > 0) == y.bool()).float().mean().item())
tp = ((logits > 0) & (y == 1)).sum()
print(tp / (logits > 0).sum(), tp / (y == 1).sum())
for k in range(2):
    print(X[k].flatten().int().tolist(), y[k].item(), round(torch.sigmoid(logits[k]).item(), 3))

# %% first weights for recurrent layers
torch.manual_seed(0)
lstm = nn.LSTM(4, 3)
for name, param in lstm.named_parameters():
    if "weight_ih" in name:
        nn.init.xavier_uniform_(param.data)
    elif "weight_hh" in name:
        nn.init.orthogonal_(param.data)
    elif "bias" in name:
        param.data.fill_(0)
        n = param.size(0)
        param.data[n // 4 : n // 2].fill_(1)
print(lstm.weight_ih_l0[0], lstm.bias_hh_l0, (lstm.weight_hh_l0[:3] @ lstm.weight_hh_l0[:3].T).diagonal(), sep="\n")
w = torch.empty(3, 5)
for init in (
    nn.init.kaiming_normal_,
    nn.init.kaiming_uniform_,
    nn.init.xavier_normal_,
    nn.init.normal_,
    nn.init.uniform_,
    nn.init.trunc_normal_,
    nn.init.eye_,
    nn.init.ones_,
):
    print(init.__name__, init(w)[0])
print(nn.init.calculate_gain("tanh"))

# %% a convolution over time before a GRU
torch.manual_seed(0)
net = nn.Sequential(nn.Conv1d(3, 8, kernel_size=3, padding=1), nn.ReLU(), nn.MaxPool1d(2))
x = torch.randn(2, 3, 10)
features = net(x)
print(net, features.shape, features[0, 0])
gru = nn.GRU(8, 4, batch_first=True)
out, h = gru(features.transpose(1, 2))
h.sum().backward()
print(out.shape, net[0].weight.grad[0, 0], net[0].weight.shape)
print(
    F.conv1d(torch.arange(5.0).view(1, 1, 5), torch.tensor([[[1.0, 0.0, -1.0]]])),
    F.avg_pool1d(torch.arange(6.0).view(1, 1, 6), 3, stride=1),
    F.max_pool1d(x, 4).shape,
    nn.AvgPool1d(2)(x).shape,
    nn.Conv1d(1, 1, 2, stride=2, bias=False),
)
try:
    net(torch.randn(2, 4, 10))
except RuntimeError as error:
    print(error)
