"""Networks that read Morse signals, trained by CTC.

    python -m companion.learning.listening          train and store the networks with one direction and with two

Both together take about three minutes. Training in float32 ends differently on every processor, so the book uses the
stored weights.

Shapes: T steps (pulses and pauses), N signals in a batch, C classes: the blank, and `morse.SIGNS`.
"""

import math
import random
from collections.abc import Callable, Iterator
from importlib.resources import files
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from companion.layers.decoding import best_path
from companion.layers.lstm import LSTM
from companion.learning.morse import SIGNS, Pulses, keyed, signs_of, steps_of
from companion.learning.pretrained import part_of, read_weights, weights_of, write_weights
from companion.learning.sequence_model import evaluation_of
from companion.learning.text import load_text

STORED = Path(str(files("companion.learning") / "listeners.safetensors"))
KINDS = {"one direction": (56, False), "two directions": (40, True)}  # hidden_size, bidirectional
SIGNALS, BATCHES, BATCH_SIZE, LEARNING_RATE = 57_600, 6500, 32, 0.01
SLOWEST, FASTEST = 5.0, 20.0  # words a minute
JITTER, DRIFT, FALSE_PULSES = 0.2, 0.3, 0.05
Signal = tuple[str, Pulses, Tensor]  # text, pulses, steps (T, 2)
# Held-out signals that the page compares on: options of `held_out`.
TESTED: dict[str, dict[str, Any]] = {
    "test": {},
    "random signs": {"mixed": 1.0},
    "short": {"signs": 8},
    "even": {"jitter": 0.1},
    "uneven": {"jitter": 0.3},
    "slow": {"speeds": (5.0, 8.0)},
    "fast": {"speeds": (15.0, 20.0)},
}


class Listener(nn.Module):
    """A recurrent layer and a linear one: from steps of signals, (T, N, 2), to logits of classes, (T, N, C)."""

    def __init__(self, recurrent: nn.Module, size: int) -> None:
        super().__init__()
        self.recurrent = recurrent
        self.linear = nn.Linear(size, len(SIGNS) + 1, dtype=next(recurrent.parameters()).dtype)

    def forward(self, x: Tensor) -> Tensor:
        """Return the logits."""
        return self.linear(self.recurrent(x)[0])


def new_listener(kind: str, lstm: Callable[..., nn.Module] = nn.LSTM, dtype: torch.dtype | None = None) -> Listener:
    """Return an untrained listener; kind: "one direction" or "two directions"."""
    size, bidirectional = KINDS[kind]
    return Listener(lstm(2, size, bidirectional=bidirectional, dtype=dtype), size * (1 + bidirectional))


class Texts:
    """Random texts: from the book's English text, or random signs.

    part: "learn", the first nine tenths of the text, or "test", the last. mixed: the share of random signs.
    """

    def __init__(self, part: str = "learn", mixed: float = 0.3) -> None:
        text = signs_of(load_text("en"))
        cut = int(0.9 * len(text))
        self.text, self.mixed = text[:cut] if part == "learn" else text[cut:], mixed
        self.letters = text.replace(" ", "")

    def draw(self, chance: random.Random, signs: int) -> str:
        """Return a text of about so many signs, of one if signs is 1."""
        if signs == 1:
            return chance.choice(SIGNS[1:])
        if chance.random() >= self.mixed:
            start = chance.randrange(len(self.text) - 2 * signs)
            if chance.random() < 0.5:
                start = self.text.index(" ", start)
            return " ".join(self.text[start : start + signs].split())
        words, left = [], signs
        while left > 0:
            size = min(left, chance.randint(1, 6))
            left -= size
            # letters as often as in the text, and digits
            word = (chance.choice("0123456789" if chance.random() < 0.15 else self.letters) for _ in range(size))
            words.append("".join(word))
        return " ".join(words)


def signal(
    text: str, chance: random.Random, speeds: tuple[float, float] = (SLOWEST, FASTEST), jitter: float = JITTER
) -> Signal:
    """Return a text, its pulses and its steps, with a random speed, drift and last pause."""
    speed = math.exp(chance.uniform(*map(math.log, speeds)))
    drift = chance.uniform(-DRIFT, DRIFT)
    pulses = keyed(text, speed, jitter, drift, FALSE_PULSES, 3, chance.getrandbits(32))
    end = pulses[-1][1] + chance.uniform(5, 40) * 1.2 / speed
    return text, pulses, steps_of(pulses, end)


def batch(signals: list[Signal]) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Return steps (T, N, 2), targets (N, S), and the lengths of both, (N)."""
    steps = [steps for *_, steps in signals]
    targets = [torch.tensor([SIGNS.index(sign) + 1 for sign in text]) for text, *_ in signals]
    input_lengths, target_lengths = (torch.tensor([len(x) for x in parts]) for parts in (steps, targets))
    pad = nn.utils.rnn.pad_sequence
    return pad(steps), pad(targets, batch_first=True), input_lengths, target_lengths


def batches_of(texts: Texts, signs: int, number: int, chance: random.Random) -> list[list[Signal]]:
    """Return a number of signals in batches, those of about as many steps together, so that little is padded."""
    signals = sorted((signal(texts.draw(chance, signs), chance) for _ in range(number)), key=lambda x: len(x[2]))
    return [signals[k : k + BATCH_SIZE] for k in range(0, number, BATCH_SIZE)]


def learn(
    listener: nn.Module,
    batches: int = BATCHES,
    learning_rate: float = LEARNING_RATE,
    seed: int = 0,
    progress: bool = True,
    alone: float = 0.1,
) -> list[float]:
    """Train a listener, and return the loss of each batch.

    alone: the share of batches, the first ones, with single signs. There, all but the last step must be blank. Without
    this start, a network says each sign as soon as a signal begins, before it can know it.
    """
    texts, chance, losses = Texts(), random.Random(seed), []
    number = min(SIGNALS, BATCH_SIZE * batches)
    singles, whole = (batches_of(texts, signs, n, chance) for signs, n in ((1, number // 10), (12, number)))
    optimizer = torch.optim.Adam(listener.parameters(), learning_rate)
    scheduler = torch.optim.lr_scheduler.OneCycleLR(
        optimizer, learning_rate, batches, pct_start=0.1, cycle_momentum=False
    )
    for number in range(batches):
        single = number < alone * batches
        loss = loss_of(listener, chance.choice(singles if single else whole), single)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(listener.parameters(), 1.0)
        optimizer.step()
        scheduler.step()
        losses.append(loss.item())
        if progress and (number + 1) % (batches // 10) == 0:
            print(f"{number + 1:6} batches: loss {losses[-1]:.3f}", flush=True)
    return losses


def loss_of(listener: nn.Module, signals: list[Signal], alone: bool = False) -> Tensor:
    """Return the CTC loss of signals; alone: they have one sign each, which only the last step may say."""
    steps, targets, input_lengths, target_lengths = batch(signals)
    log_probs = listener(steps.to(next(listener.parameters()).dtype)).log_softmax(-1)
    if not alone:
        return F.ctc_loss(log_probs, targets, input_lengths, target_lengths)
    before = torch.arange(len(steps))[:, None] < input_lengths - 1
    last = log_probs[input_lengths - 1, torch.arange(len(signals))]
    return F.nll_loss(last, targets[:, 0]) - (log_probs[..., 0] * before).sum(0).mean()


@torch.no_grad()
def read(listener: nn.Module, signals: list[Signal]) -> list[str]:
    """Return the texts of the likeliest outputs."""
    texts = []
    with evaluation_of(listener):
        for *_, steps in signals:
            log_probs = listener(steps[:, None].to(next(listener.parameters()).dtype)).log_softmax(-1)
            texts.append("".join(SIGNS[k - 1] for k in best_path(log_probs[:, 0])))
    return texts


def held_out(number: int, signs: int = 40, seed: int = 1, mixed: float = 0.0, **options: Any) -> Iterator[Signal]:
    """Yield signals of held-out texts; options: those of `signal`."""
    texts = Texts("test", mixed)
    for k in range(number):
        chance = random.Random(f"test {seed} {k}")
        yield signal(texts.draw(chance, signs), chance, **options)


def error_rate(wanted: list[str], found: list[str]) -> float:
    """Return the letter error rate: the fewest letters to insert, delete and replace, for each letter.

    Spaces are not counted.
    """
    pairs = [(a.replace(" ", ""), b.replace(" ", "")) for a, b in zip(wanted, found, strict=True)]
    return sum(distance(a, b) for a, b in pairs) / sum(len(a) for a, _ in pairs)


def distance(a: str, b: str) -> int:
    """Return the edit distance of two texts (Levenshtein 1966)."""
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, start=1):
        diagonal, row[0] = row[0], i
        for j, y in enumerate(b, start=1):
            diagonal, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, diagonal + (x != y))
    return row[-1]


def load_listener(kind: str, dtype: torch.dtype = torch.float64) -> Listener:
    """Return a trained listener with the companion's LSTM; kind: "one direction" or "two directions"."""
    weights, _ = read_weights(STORED, "listener", dtype)
    listener = new_listener(kind, LSTM, dtype)
    listener.load_state_dict(part_of(weights, kind))
    return listener.eval()


def main() -> None:
    """Train both kinds, and store them."""
    torch.set_num_threads(1)
    listeners = {}
    for kind in KINDS:
        torch.manual_seed(0)
        listeners[kind] = new_listener(kind)
        print(kind)
        learn(listeners[kind])
        signals = list(held_out(100, 40))
        rate = error_rate([text for text, *_ in signals], read(listeners[kind], signals))
        print(f"letter error rate on texts that it has not seen: {100 * rate:.1f} %")
    write_weights(weights_of(listeners), {}, STORED)


if __name__ == "__main__":
    main()
