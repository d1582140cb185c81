"""Train a character LSTM (char_lstm.py TEXT), or let it write (char_lstm.py --load)."""

import argparse
import math
from pathlib import Path

import torch
from torch import nn

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"


class CharLSTM(nn.Module):
    def __init__(self, characters, H=256):
        super().__init__()
        self.characters, self.dropout = characters, nn.Dropout(0.2)
        self.embedding = nn.Embedding(len(characters), 32)
        self.lstm, self.output = nn.LSTM(32, H), nn.Linear(H, len(characters))
        nn.init.ones_(self.lstm.bias_ih_l0[H : 2 * H])  # forget gates begin open:
        nn.init.zeros_(self.lstm.bias_hh_l0[H : 2 * H])  # the biases add up to 1

    def forward(self, indices, state=None):
        states, state = self.lstm(self.dropout(self.embedding(indices)), state)
        return self.output(self.dropout(states)), state

    def encode(self, text):
        return torch.tensor([self.characters.index(one) for one in text], device=DEVICE)


def mean_loss(model, text, rows, optimizer=None, steps=64):
    model.train(optimizer is not None)  # dropout only while it learns
    indices, state, total = model.encode(text), None, 0.0
    size = (len(indices) - 1) // rows * rows
    # (T, rows), rows that are read side by side: each character, and the one after it
    x, y = (indices[i : i + size].view(rows, -1).T for i in (0, 1))
    for inputs, targets in zip(x.split(steps), y.split(steps)):
        with torch.set_grad_enabled(optimizer is not None):
            logits, state = model(inputs, state)
            loss = nn.functional.cross_entropy(logits.mT, targets)
        state = tuple(part.detach() for part in state)  # the gradient ends here
        total += loss.item() * targets.numel()
        if optimizer is not None:
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
    return total / size


@torch.no_grad()
def write(model, text, temperature, length=400):
    model.eval()
    inputs, state = model.encode(text)[:, None], None  # (T, 1): a batch of one
    for _ in range(length):
        logits, state = model(inputs, state)
        inputs = torch.softmax(logits[-1] / temperature, dim=1).multinomial(1)
        text += model.characters[inputs.item()]
    return text


def main(arguments=None, epochs=30, temperature=0.7):
    parser = argparse.ArgumentParser()
    parser.add_argument("text", nargs="?", default="companion/learning/texts/en.txt")
    parser.add_argument("--load", action="store_true")
    options = parser.parse_args(arguments)
    torch.manual_seed(0)
    if not options.load:
        text = Path(options.text).read_text(encoding="utf-8")
        model, cut = CharLSTM(sorted(set(text))).to(DEVICE), len(text) * 9 // 10
        optimizer = torch.optim.Adam(model.parameters(), lr=0.003)
        for epoch in range(epochs):
            mean_loss(model, text[:cut], 32, optimizer)
            loss = mean_loss(model, text[cut:], 1)  # on what it does not learn from
            print(f"{epoch + 1}: perplexity {math.exp(loss):.2f}", flush=True)
        start = text[:4]  # what it will write on from
        torch.save((model.characters, start, model.state_dict()), "char_lstm.pt")
    characters, start, weights = torch.load("char_lstm.pt", map_location=DEVICE)
    model = CharLSTM(characters).to(DEVICE)
    model.load_state_dict(weights)
    torch.manual_seed(0)
    print(write(model, start, temperature))


if __name__ == "__main__":
    main()
