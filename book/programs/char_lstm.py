"""Train a character LSTM (char_lstm.py TEXT), or let it write (char_lstm.py --load)."""

import argparse
import math
from pathlib import Path

import torch
from torch import nn

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"


class CharLSTM(nn.Module):
    def __init__(self, characters, hidden_size=256):
        super().__init__()
        self.characters, self.dropout = characters, nn.Dropout(0.2)
        self.embedding = nn.Embedding(len(characters), 32)
        self.lstm = nn.LSTM(32, hidden_size)
        self.output = nn.Linear(hidden_size, len(characters))
        forget_gate = slice(hidden_size, 2 * hidden_size)
        nn.init.ones_(self.lstm.bias_ih_l0[forget_gate])  # forget gates begin open:
        nn.init.zeros_(self.lstm.bias_hh_l0[forget_gate])  # the biases add up to 1

    def forward(self, indices, state=None):
        states, state = self.lstm(self.dropout(self.embedding(indices)), state)
        return self.output(self.dropout(states)), state

    def encode(self, text):
        indices = [self.characters.index(character) for character in text]
        return torch.tensor(indices, device=DEVICE)


def run_epoch(model, text, batch_size, optimizer=None, window_size=64):
    model.train(optimizer is not None)  # dropout only in training
    indices, state, total = model.encode(text), None, 0.0
    size = (len(indices) - 1) // batch_size * batch_size
    # x: each character, y: the character after it, both (time, batch_size)
    x, y = (indices[i : i + size].view(batch_size, -1).T for i in (0, 1))
    for inputs, targets in zip(x.split(window_size), y.split(window_size)):
        with torch.set_grad_enabled(optimizer is not None):
            logits, state = model(inputs, state)
            loss = nn.functional.cross_entropy(logits.mT, targets)
        state = tuple(tensor.detach() for tensor in state)  # the gradient ends here
        total += loss.item() * targets.numel()
        if optimizer is not None:
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
    return total / size


@torch.no_grad()
def generate(model, text, temperature, length=400):
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
        train_text, val_text = text[: len(text) * 9 // 10], text[len(text) * 9 // 10 :]
        model = CharLSTM(sorted(set(text))).to(DEVICE)
        optimizer = torch.optim.Adam(model.parameters(), lr=0.003)
        for epoch in range(epochs):
            run_epoch(model, train_text, 32, optimizer)
            val_loss = run_epoch(model, val_text, 1)
            print(f"{epoch + 1}: perplexity {math.exp(val_loss):.2f}", flush=True)
        prompt = text[:4]  # the model will continue it
        torch.save((model.characters, prompt, model.state_dict()), "char_lstm.pt")
    characters, prompt, weights = torch.load("char_lstm.pt", map_location=DEVICE)
    model = CharLSTM(characters).to(DEVICE)
    model.load_state_dict(weights)
    torch.manual_seed(0)
    print(generate(model, prompt, temperature))


if __name__ == "__main__":
    main()
