"""Programs of learners on sequence models: seq2seq, attention, transformers, language models, language of names."""

import torch
import torch.nn.functional as F
from torch import nn

# %% translate with an encoder and a decoder
torch.manual_seed(0)
SOS, EOS = 0, 1
pairs = [([2, 3, 4], [5, 6]), ([3, 2], [6, 5]), ([4], [7])]


class Encoder(nn.Module):
    def __init__(self, n, h):
        super().__init__()
        self.embedding = nn.Embedding(n, h)
        self.gru = nn.GRU(h, h, batch_first=True)

    def forward(self, x):
        return self.gru(self.embedding(x))


class Decoder(nn.Module):
    def __init__(self, n, h):
        super().__init__()
        self.embedding = nn.Embedding(n, h)
        self.gru = nn.GRU(h, h, batch_first=True)
        self.out = nn.Linear(h, n)

    def forward(self, hidden, target=None, length=4):
        token, outputs = torch.full((1, 1), SOS), []
        for i in range(length if target is None else len(target)):
            y, hidden = self.gru(F.relu(self.embedding(token)), hidden)
            logits = self.out(y)
            outputs.append(logits)
            token = logits.topk(1)[1].squeeze(-1).detach() if target is None else torch.tensor([[target[i]]])
        return F.log_softmax(torch.cat(outputs, 1), -1)


enc, dec = Encoder(5, 16), Decoder(8, 16)
opts = [torch.optim.Adam(m.parameters(), lr=0.02) for m in (enc, dec)]
criterion = nn.NLLLoss()
for epoch in range(25):
    total = 0
    for source, target in pairs:
        goal = target + [EOS]
        [o.zero_grad() for o in opts]
        out, h = enc(torch.tensor([source]))
        logp = dec(h, goal)
        loss = criterion(logp.view(-1, 8), torch.tensor(goal))
        loss.backward()
        [o.step() for o in opts]
        total += loss.item()
print(f"{total / 3:.4f}")
with torch.no_grad():
    for source, target in pairs:
        words = dec(enc(torch.tensor([source]))[1]).argmax(-1)[0].tolist()
        print(source, target, words[: words.index(EOS)] if EOS in words else words)


# %% additive attention
class BahdanauAttention(nn.Module):
    def __init__(self, hidden_size):
        super().__init__()
        self.Wa = nn.Linear(hidden_size, hidden_size)
        self.Ua = nn.Linear(hidden_size, hidden_size)
        self.Va = nn.Linear(hidden_size, 1)

    def forward(self, query, keys):
        scores = self.Va(torch.tanh(self.Wa(query) + self.Ua(keys))).squeeze(2).unsqueeze(1)
        weights = F.softmax(scores, dim=-1)
        return torch.bmm(weights, keys), weights


torch.manual_seed(0)
attention = BahdanauAttention(4)
keys = torch.randn(2, 5, 4)
context, weights = attention(keys[:, :1], keys)
print(context.shape, weights.shape, weights[0])
context.sum().backward()
print(attention.Va.weight.grad, attention.Va.bias.grad.abs() < 1e-6)
scores = torch.randn(2, 1, 5).masked_fill(torch.arange(5) >= torch.tensor([2, 5]).view(2, 1, 1), float("-inf"))
print(scores.softmax(-1))

# %% one head of causal attention
torch.manual_seed(1337)
B, T, C = 4, 8, 32
x = torch.randn(B, T, C)
head_size = 16
key = nn.Linear(C, head_size, bias=False)
query = nn.Linear(C, head_size, bias=False)
value = nn.Linear(C, head_size, bias=False)
k, q = key(x), query(x)
wei = q @ k.transpose(-2, -1) * head_size**-0.5
tril = torch.tril(torch.ones(T, T))
wei = wei.masked_fill(tril == 0, float("-inf"))
wei = F.softmax(wei, dim=-1)
out = wei @ value(x)
print(out.shape, wei[0])
print(k.var(), q.var(), wei.var())
xbow = torch.zeros((B, T, C))
for b in range(B):
    for t in range(T):
        xbow[b, t] = torch.mean(x[b, : t + 1], 0)
averages = torch.tril(torch.ones(T, T))
averages = averages / averages.sum(1, keepdim=True)
print(
    torch.allclose(xbow, averages @ x, atol=1e-6),
    torch.allclose(F.scaled_dot_product_attention(q, k, value(x), is_causal=True), out, atol=1e-6),
    averages[2],
)

# %% multi-head attention of torch
torch.manual_seed(0)
mha = nn.MultiheadAttention(8, 2, batch_first=True)
x = torch.randn(2, 4, 8)
mask = torch.triu(torch.ones(4, 4, dtype=torch.bool), diagonal=1)
out, weights = mha(x, x, x, attn_mask=mask)
print(mha, out.shape, weights[0])
pad = torch.tensor([[False] * 4, [False, False, True, True]])
out, weights = mha(x, x, x, key_padding_mask=pad, average_attn_weights=False)
print(weights.shape, weights[1, 0])
print(mha(x, x, x, need_weights=False)[1], [n for n, _ in mha.named_parameters()])
q, k, v = F.linear(x, mha.in_proj_weight, mha.in_proj_bias).chunk(3, -1)
heads = [t.view(2, 4, 2, 4).transpose(1, 2) for t in (q, k, v)]
again = mha.out_proj(F.scaled_dot_product_attention(*heads).transpose(1, 2).reshape(2, 4, 8))
print(torch.allclose(again, mha(x, x, x)[0], atol=1e-6))
try:
    nn.MultiheadAttention(8, 3)
except AssertionError as error:
    print(error)

# %% positions of a transformer
import math


class PositionalEncoding(nn.Module):
    def __init__(self, d_model, dropout=0.1, max_len=50):
        super().__init__()
        self.dropout = nn.Dropout(p=dropout)
        position = torch.arange(max_len).unsqueeze(1)
        div_term = torch.exp(torch.arange(0, d_model, 2) * (-math.log(10000.0) / d_model))
        pe = torch.zeros(max_len, 1, d_model)
        pe[:, 0, 0::2] = torch.sin(position * div_term)
        pe[:, 0, 1::2] = torch.cos(position * div_term)
        self.register_buffer("pe", pe)

    def forward(self, x):
        return self.dropout(x + self.pe[: x.size(0)])


torch.manual_seed(0)
encode = PositionalEncoding(6)
print(encode.pe[:3, 0], encode(torch.zeros(2, 1, 6)), encode.eval()(torch.zeros(2, 1, 6)))
layer = nn.TransformerEncoderLayer(6, 2, 12, batch_first=True, dropout=0.0)
x = torch.randn(1, 3, 6)
y = layer(
    x,
    src_mask=nn.Transformer.generate_square_subsequent_mask(3) if hasattr(nn, "Transformer") else None,
    is_causal=hasattr(nn, "Transformer"),
)
print(y.shape, layer)

# %% a block of a small language model
torch.manual_seed(0)


class Block(nn.Module):
    def __init__(self, n_embd, n_head):
        super().__init__()
        self.ln1, self.ln2 = nn.LayerNorm(n_embd), nn.LayerNorm(n_embd)
        self.attn = nn.MultiheadAttention(n_embd, n_head, batch_first=True)
        self.mlp = nn.Sequential(nn.Linear(n_embd, 4 * n_embd), nn.GELU(), nn.Linear(4 * n_embd, n_embd))

    def forward(self, x):
        T = x.size(1)
        mask = torch.full((T, T), float("-inf")).triu(1)
        y = self.ln1(x)
        x = x + self.attn(y, y, y, attn_mask=mask, need_weights=False)[0]
        return x + self.mlp(self.ln2(x))


class GPT(nn.Module):
    def __init__(self, V=6, T=5, n=8):
        super().__init__()
        self.tok, self.pos = nn.Embedding(V, n), nn.Embedding(T, n)
        self.blocks = nn.Sequential(*[Block(n, 2) for _ in range(2)])
        self.ln_f = nn.LayerNorm(n)
        self.head = nn.Linear(n, V, bias=False)
        self.apply(self._init)
        self.head.weight = self.tok.weight

    def _init(self, m):
        if isinstance(m, (nn.Linear, nn.Embedding)):
            nn.init.normal_(m.weight, 0.0, 0.2)

    def forward(self, idx, targets=None):
        x = self.ln_f(self.blocks(self.tok(idx) + self.pos(torch.arange(idx.size(1)))))
        logits = self.head(x)
        return logits, None if targets is None else F.cross_entropy(logits.view(-1, logits.size(-1)), targets.view(-1))


model = GPT()
print(sum(p.numel() for p in model.parameters()), len(model.state_dict()))
data = torch.arange(12) % 6
x, y = data[:10].view(2, 5), data[1:11].view(2, 5)
optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
for step in range(15):
    _, loss = model(x, y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(f"{loss.item():.3f}", model(x)[0].argmax(-1), model.head.weight is model.tok.weight)

# %% beam search
torch.manual_seed(0)
V = 5
transitions = torch.randn(V, V).log_softmax(-1)
beams = [([0], 0.0)]
for _ in range(3):
    candidates = []
    for tokens, score in beams:
        values, indices = transitions[tokens[-1]].topk(3)
        for value, index in zip(values.tolist(), indices.tolist()):
            candidates.append((tokens + [index], score + value))
    beams = sorted(candidates, key=lambda pair: -pair[1])[:2]
for tokens, score in beams:
    print(tokens, f"{score:.4f}")
greedy = [0]
for _ in range(3):
    greedy.append(transitions[greedy[-1]].argmax().item())
print(greedy, transitions.exp().sum(-1))
logits = transitions[0].clone()
sorted_logits, order = torch.sort(logits, descending=True)
remove = sorted_logits.softmax(-1).cumsum(-1) > 0.8
remove[1:] = remove[:-1].clone()
remove[0] = False
logits[order[remove]] = -torch.inf
print(logits, logits.softmax(-1))

# %% teacher forcing with probability
import random

torch.manual_seed(0)
random.seed(0)
cell = nn.GRUCell(4, 8)
embed = nn.Embedding(6, 4)
out = nn.Linear(8, 6)
target = torch.tensor([[1, 2, 3, 4], [4, 3, 2, 1]])
params = [p for m in (cell, embed, out) for p in m.parameters()]
optimizer = torch.optim.Adam(params, lr=0.03)
for step in range(30):
    h = torch.zeros(2, 8)
    token = torch.zeros(2, dtype=torch.long)
    h[:, 0] = torch.tensor([1.0, -1.0])
    loss = 0.0
    forced = 0
    for t in range(target.size(1)):
        h = cell(embed(token), h)
        logits = out(h)
        loss = loss + F.cross_entropy(logits, target[:, t])
        teacher = random.random() < 0.5
        forced += teacher
        token = target[:, t] if teacher else logits.argmax(1)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(f"{loss.item() / 4:.4f}", forced, token)


# %% scores of a translation
def bleu(pred, label, k):
    import collections
    import math

    pred, label = pred.split(" "), label.split(" ")
    score = math.exp(min(0, 1 - len(label) / len(pred)))
    for n in range(1, k + 1):
        matches, subs = 0, collections.Counter(" ".join(label[i : i + n]) for i in range(len(label) - n + 1))
        for i in range(len(pred) - n + 1):
            if subs[" ".join(pred[i : i + n])] > 0:
                matches += 1
                subs[" ".join(pred[i : i + n])] -= 1
        score *= math.pow(matches / (len(pred) - n + 1), math.pow(0.5, n))
    return score


print(f"{bleu('il est calme', 'il est calme .', 2):.3f}")
a = torch.tensor([1, 3, 2, 2])
b = torch.tensor([1, 2, 2])
table = torch.zeros(len(a) + 1, len(b) + 1, dtype=torch.long)
table[:, 0], table[0] = torch.arange(len(a) + 1), torch.arange(len(b) + 1)
for i in range(1, len(a) + 1):
    for j in range(1, len(b) + 1):
        table[i, j] = min(table[i - 1, j] + 1, table[i, j - 1] + 1, table[i - 1, j - 1] + (a[i - 1] != b[j - 1]))
print(table, table[-1, -1].item())
print(
    F.cosine_similarity(torch.tensor([[1.0, 2.0]]), torch.tensor([[2.0, 4.1]])),
    F.kl_div(torch.tensor([0.4, 0.6]).log(), torch.tensor([0.5, 0.5]), reduction="batchmean"),
    F.mse_loss(a.float(), torch.ones(4)),
)

# %% teach a policy by rewards
torch.manual_seed(0)
policy = nn.Sequential(nn.Linear(2, 8), nn.Tanh(), nn.Linear(8, 2), nn.Softmax(dim=-1))
optimizer = torch.optim.Adam(policy.parameters(), lr=0.05)
rewards = []
for episode in range(30):
    state = torch.eye(2)[torch.randint(0, 2, (8,))]
    probs = policy(state)
    action = torch.multinomial(probs, 1).squeeze(-1)
    reward = (action == state.argmax(1)).float()
    log_prob = torch.log(probs.gather(1, action[:, None]).squeeze(1))
    loss = -(log_prob * (reward - reward.mean())).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    rewards.append(reward.mean().item())
print(rewards[:5], rewards[-5:], policy(torch.eye(2)).detach())
