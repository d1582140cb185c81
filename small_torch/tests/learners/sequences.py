"""Programs of learners on sequence models: seq2seq, attention, transformers, language models, language of names."""

import torch
import torch.nn.functional as F
from torch import nn

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
