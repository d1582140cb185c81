"""Programs of learners on text, letter by letter: counts, perceptrons, recurrent networks, samples."""

import torch
import torch.nn.functional as F
from torch import nn

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
