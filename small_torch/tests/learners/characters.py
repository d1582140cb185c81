"""Programs of learners on text, letter by letter: counts, perceptrons, recurrent networks, samples."""

import torch
import torch.nn.functional as F
from torch import nn

# %% minimal character model in the style of min-char-rnn
text = "to be or not to be"
chars = sorted(set(text))
V, H, T = len(chars), 24, 6
ix = {c: i for i, c in enumerate(chars)}
torch.manual_seed(0)
Wxh = torch.randn(H, V) * 0.01
Whh = torch.randn(H, H) * 0.01
Why = torch.randn(V, H) * 0.01
bh = torch.zeros(H, 1)
by = torch.zeros(V, 1)
params = [Wxh, Whh, Why, bh, by]
[p.requires_grad_() for p in params]
memory = [torch.zeros_like(p) for p in params]


def loss_of(inputs, targets, h):
    loss = 0
    for i, t in zip(inputs, targets):
        x = torch.zeros(V, 1)
        x[i] = 1
        h = torch.tanh(Wxh @ x + Whh @ h + bh)
        p = F.softmax(Why @ h + by, dim=0)
        loss = loss - torch.log(p[t, 0])
    return loss, h


smooth = -torch.log(torch.tensor(1.0 / V)) * T
p = 0
for n in range(60):
    if p + T + 1 >= len(text) or n == 0:
        h, p = torch.zeros(H, 1), 0
    loss, h = loss_of([ix[c] for c in text[p : p + T]], [ix[c] for c in text[p + 1 : p + T + 1]], h.detach())
    loss.backward()
    smooth = smooth * 0.95 + loss.detach() * 0.05
    p += T
    with torch.no_grad():
        for param, mem in zip(params, memory):
            param.grad.clamp_(-5, 5)
            mem += param.grad * param.grad
            param += -0.1 * param.grad / torch.sqrt(mem + 1e-8)
            param.grad.zero_()
    if n % 20 == 0:
        print(f"iter {n}, loss: {smooth.item():.3f}")

# %% sample from a character model
text = "the cat sat on the mat. "
chars = sorted(set(text))
V = len(chars)
ix = {c: i for i, c in enumerate(chars)}
data = torch.tensor([ix[c] for c in text])
torch.manual_seed(0)


class CharLSTM(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(V, 8)
        self.lstm = nn.LSTM(8, 32, batch_first=True)
        self.out = nn.Linear(32, V)

    def forward(self, x, state=None):
        y, state = self.lstm(self.embed(x), state)
        return self.out(y), state


model = CharLSTM()
optimizer = torch.optim.AdamW(model.parameters(), lr=0.02)
for step in range(40):
    logits, _ = model(data[None, :-1])
    loss = F.cross_entropy(logits.flatten(0, 1), data[1:])
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    optimizer.step()
print(f"{loss.item():.4f}", f"perplexity {loss.exp().item():.3f}")


@torch.no_grad()
def generate(start, length, temperature=1.0, k=3):
    model.eval()
    x, state, out = torch.tensor([[ix[start]]]), None, start
    for _ in range(length):
        logits, state = model(x, state)
        logits = logits[:, -1] / temperature
        values, _ = logits.topk(k)
        logits[logits < values[:, [-1]]] = -float("inf")
        x = torch.multinomial(F.softmax(logits, dim=-1), 1)
        out += chars[x.item()]
    return out


torch.manual_seed(1)
print(repr(generate("t", 20)))
print(repr(generate("c", 12, temperature=0.3)))

# %% classify names, letter by letter
import string
import unicodedata

allowed = string.ascii_letters + " .,;'" + "_"
n_letters = len(allowed)


def unicodeToAscii(s):
    return "".join(c for c in unicodedata.normalize("NFD", s) if unicodedata.category(c) != "Mn" and c in allowed)


def lineToTensor(line):
    tensor = torch.zeros(len(line), 1, n_letters)
    for li, letter in enumerate(line):
        tensor[li][0][allowed.find(letter)] = 1
    return tensor


print(unicodeToAscii("Ślusàrski"), lineToTensor("Ahn").size(), lineToTensor("a")[0, 0].nonzero())


class CharRNN(nn.Module):
    def __init__(self, input_size, hidden_size, output_size):
        super().__init__()
        self.rnn = nn.RNN(input_size, hidden_size)
        self.h2o = nn.Linear(hidden_size, output_size)
        self.softmax = nn.LogSoftmax(dim=1)

    def forward(self, line_tensor):
        rnn_out, hidden = self.rnn(line_tensor)
        return self.softmax(self.h2o(hidden[0]))


torch.manual_seed(0)
rnn = CharRNN(n_letters, 32, 2)
print(rnn)
names = {"Ahn": 0, "Baik": 0, "Rossi": 1, "Bianchi": 1}
optimizer = torch.optim.SGD(rnn.parameters(), lr=0.15)
for epoch in range(25):
    batch_loss = 0
    for name, label in names.items():
        batch_loss += nn.NLLLoss()(rnn(lineToTensor(name)), torch.tensor([label]))
    optimizer.zero_grad()
    batch_loss.backward()
    nn.utils.clip_grad_norm_(rnn.parameters(), 3)
    optimizer.step()
print(f"{batch_loss.item() / 4:.4f}", [rnn(lineToTensor(n)).topk(1).indices.item() for n in names])

# %% bigrams counted and bigrams learned
words = ["emma", "olivia", "ava", "isabella"]
chars = sorted(list(set("".join(words))))
stoi = {s: i + 1 for i, s in enumerate(chars)}
stoi["."] = 0
V = len(stoi)
N = torch.zeros((V, V), dtype=torch.int32)
xs, ys = [], []
for w in words:
    chs = ["."] + list(w) + ["."]
    for ch1, ch2 in zip(chs, chs[1:]):
        N[stoi[ch1], stoi[ch2]] += 1
        xs.append(stoi[ch1])
        ys.append(stoi[ch2])
P = (N + 1).float()
P /= P.sum(1, keepdims=True)
xs, ys = torch.tensor(xs), torch.tensor(ys)
nll = -torch.log(P[xs, ys]).mean()
print(N[0], P[0].sum(), f"{nll=}")
g = torch.Generator().manual_seed(2147483647)
W = torch.randn((V, V), generator=g, requires_grad=True)
for k in range(50):
    xenc = F.one_hot(xs, num_classes=V).float()
    logits = xenc @ W
    counts = logits.exp()
    probs = counts / counts.sum(1, keepdims=True)
    loss = -probs[torch.arange(len(xs)), ys].log().mean() + 0.01 * (W**2).mean()
    W.grad = None
    loss.backward()
    W.data += -20 * W.grad
print(round(loss.item(), 4), W[0])
print(torch.multinomial(P[0], 5, replacement=True, generator=g))

# %% names with a perceptron over three letters
import random

words = ["emma", "olivia", "ava", "isabella", "sophia", "mia"]
chars = sorted(set("".join(words)))
stoi = {s: i + 1 for i, s in enumerate(chars)} | {".": 0}
V = len(stoi)
block_size = 3
X, Y = [], []
random.seed(42)
random.shuffle(words)
for w in words:
    context = [0] * block_size
    for ch in w + ".":
        X.append(context)
        Y.append(stoi[ch])
        context = context[1:] + [stoi[ch]]
X, Y = torch.tensor(X), torch.tensor(Y)
g = torch.Generator().manual_seed(2147483647)
C = torch.randn((V, 2), generator=g)
W1 = torch.randn((6, 20), generator=g) * (5 / 3) / 6**0.5
b1 = torch.randn(20, generator=g) * 0.01
W2 = torch.randn((20, V), generator=g) * 0.01
b2 = torch.zeros(V)
parameters = [C, W1, b1, W2, b2]
print(sum(p.nelement() for p in parameters), X.shape)
for p in parameters:
    p.requires_grad = True
for i in range(60):
    ix = torch.randint(0, X.shape[0], (16,), generator=g)
    emb = C[X[ix]]
    h = torch.tanh(emb.view(emb.shape[0], -1) @ W1 + b1)
    loss = F.cross_entropy(h @ W2 + b2, Y[ix])
    for p in parameters:
        p.grad = None
    loss.backward()
    lr = 0.1 if i < 40 else 0.01
    for p in parameters:
        p.data += -lr * p.grad
print(f"{loss.item():.4f}", (h.abs() > 0.99).float().mean(), C[:2])

# %% windows of a text
text = "hello world, hello torch"
chars = sorted(list(set(text)))
stoi = {ch: i for i, ch in enumerate(chars)}
itos = {i: ch for i, ch in enumerate(chars)}
encode = lambda s: [stoi[c] for c in s]
decode = lambda l: "".join([itos[i] for i in l])
data = torch.tensor(encode(text), dtype=torch.long)
print(data.shape, data.dtype, data[:10], decode(data.tolist()[:5]))
n = int(0.9 * len(data))
train_data, val_data = data[:n], data[n:]
block_size = 4
for t in range(block_size):
    print(f"when input is {train_data[: t + 1]} the target: {train_data[t + 1]}")
torch.manual_seed(1337)
ix = torch.randint(len(train_data) - block_size, (3,))
x = torch.stack([train_data[i : i + block_size] for i in ix])
y = torch.stack([train_data[i + 1 : i + block_size + 1] for i in ix])
print(x, y, sep="\n")
print(data.unfold(0, 5, 5).shape, [itos[i.item()] for i in x[0]])
corpus = data[: len(data) // 2 * 2].view(2, -1).t().contiguous()
print(corpus.shape, corpus[:3], torch.utils.data.TensorDataset(x, y)[0][1])
