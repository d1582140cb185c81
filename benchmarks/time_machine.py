"""Perplexity and training time of an LSTM on The Time Machine, letter by letter, beside the LSTM of d2l.

    python benchmarks/time_machine.py                  downloads the novel, once
    python benchmarks/time_machine.py PATH             reads it from a file
    python benchmarks/time_machine.py --quick          one epoch each: shows that everything runs

The peer is the LSTM of "Dive into Deep Learning" 1.0.3, chapter 10.1, in its concise form, written again from its
description: 32 units of `nn.LSTM` and a linear layer, initialised by torch, read one-hot letters. It is trained on the
10,000 windows of 32 letters that start at the letters 0, 1, 2, ..., each without a state before it, shuffled into
batches of 1,024, by SGD with learning rate 4 and gradients of norm 1 at most, for 50 epochs. Ours are trained on all of
the text but the held-out part, on windows that follow one another and carry the state, by AdamW.

Held out are the letters 10,000 to 15,031. The peer, as described, has seen the first 32 of them, as targets of its last
windows; ours have seen none. Perplexity is measured twice, in the same way for all: on "windows" of 32 letters that
start at 10,000 ... 14,999, each without a state before it, as the peer measures; and "read through" once, letter after
letter, with the state carried, as one reads. The targets are for the second.

The time is that of training alone, in seconds of CPU time on one thread. The peer's own program also evaluates the
held-out windows after every epoch, collates batches example by example and draws: that is not counted. Ours were tuned
on two other parts of the novel, held out in their turn.
"""

import argparse
import re
import string
import time

import torch
from torch import nn

import companion
from companion.learning.sequence_model import OneHot, SequenceModel
from companion.learning.text import Vocabulary, load_text
from companion.learning.training import evaluate, perplexity, train
from companion.learning.windows import ConsecutiveWindows, generator_of, split, windows_at

LETTERS = Vocabulary(string.ascii_lowercase + " ")  # 28 with the unknown, for every text
WINDOW = 32
HELD_OUT = (10_000, 15_032)  # the letters that the peer's 5,000 held-out windows read or predict
PEER_STARTS, HELD_OUT_STARTS = torch.arange(10_000), torch.arange(10_000, 15_000)
PEER = {"hidden_size": 32, "batch_size": 1024, "lr": 4.0, "epochs": 50}
OURS = {"hidden_size": 192, "embedding_dim": 32, "batch_size": 32, "lr": 0.02, "epochs": 4}
# the largest perplexity, read through, and the largest share of the peer's CPU time
TARGETS = {"nn.LSTM": (3.6, 0.5), "companion.LSTM": (4.0, 1.0)}


class SlidingWindows:
    """A window for each start, in random order, each without a state: neighbours share all letters but one."""

    carried = False

    def __init__(self, indices, starts, seed):
        self.indices, self.starts, self.seed = indices, starts, seed

    def __len__(self):
        return -(-len(self.starts) // PEER["batch_size"])

    def epoch(self, number):
        order = torch.randperm(len(self.starts), generator=generator_of(self.seed, number))
        return windows_at(self.indices, self.starts[order], PEER["batch_size"], WINDOW)


def read(path):
    """Return the text, and False if it is a substitute for the novel."""
    if path:
        return load_text(path), True
    try:
        return load_text("time_machine"), True
    except ConnectionError as error:
        print(f"{error}.\n\nWhat follows is NOT The Time Machine, but the text 'en' that comes with the package.\n")
        return load_text("en"), False


def encode(text):
    """Return the indices of the letters in lower case; anything between them becomes one space."""
    return LETTERS.encode(re.sub("[^a-z]+", " ", text, flags=re.ASCII | re.IGNORECASE).lower(), strict=True)


def peer(indices, epochs, seed):
    torch.manual_seed(seed)
    model = SequenceModel(OneHot(len(LETTERS)), nn.LSTM(len(LETTERS), PEER["hidden_size"]), len(LETTERS))
    optimizer = torch.optim.SGD(model.parameters(), lr=PEER["lr"])
    return model, seconds(model, SlidingWindows(indices, PEER_STARTS, seed), optimizer, epochs)


def ours(library, indices, epochs, seed):
    """Train our model, and return it with its CPU seconds.

    library: `nn` or `companion`, which have layers of the same names.
    """
    torch.manual_seed(seed)
    embedding = library.Embedding(len(LETTERS), OURS["embedding_dim"])
    model = SequenceModel(embedding, library.LSTM(OURS["embedding_dim"], OURS["hidden_size"]), len(LETTERS))
    if library is companion:  # torch's layers have gradients by hand already
        companion.by_hand(model)
    batches = ConsecutiveWindows(split(indices, HELD_OUT)[0], OURS["batch_size"], WINDOW)
    check_no_leak(batches, indices)
    optimizer = torch.optim.AdamW(model.parameters(), lr=OURS["lr"])
    scheduler = torch.optim.lr_scheduler.OneCycleLR(
        optimizer, OURS["lr"], total_steps=epochs * len(batches), pct_start=0.1, cycle_momentum=False
    )
    return model, seconds(model, batches, optimizer, epochs, scheduler)


def check_no_leak(batches, indices):
    """Check that no batch has a held-out letter, with the same windows cut from the letters' positions."""
    start, stop = HELD_OUT
    learned = split(torch.arange(len(indices)), HELD_OUT)[0]
    where = ConsecutiveWindows(learned, OURS["batch_size"], WINDOW)
    for letters, origins in zip(batches.epoch(0), where.epoch(0), strict=True):
        for letter, origin in zip(letters, origins, strict=True):
            assert torch.equal(letter, indices[origin])
            assert not ((origin >= start) & (origin < stop)).any()


def seconds(model, batches, optimizer, epochs, scheduler=None):
    start = time.process_time()
    train(model, batches, optimizer, epochs, clip=1.0, scheduler=scheduler, progress=False)
    return time.process_time() - start


def perplexities(model, indices):
    """Return the perplexity on windows without a state before them, and read through."""
    piece = split(indices, HELD_OUT)[1]
    return [
        perplexity(evaluate(model, batches))
        for batches in (SlidingWindows(indices, HELD_OUT_STARTS, seed=0), ConsecutiveWindows(piece, 1, WINDOW))
    ]


def table(indices, quick, seed):
    """Print a line for each contender, and return name → (perplexity read through, share of the peer's time)."""
    peer_epochs, our_epochs = (1, 1) if quick else (PEER["epochs"], OURS["epochs"])
    runs = {
        "d2l's LSTM": lambda: peer(indices, peer_epochs, seed),
        "nn.LSTM": lambda: ours(nn, indices, our_epochs, seed),
        "companion.LSTM": lambda: ours(companion, indices, our_epochs, seed),
    }
    print(f"{len(indices):,} letters, held out: {HELD_OUT[0]:,} to {HELD_OUT[1] - 1:,}")
    print(f"{'':16}  weights  CPU seconds  ratio   windows  read through")
    results, base = {}, None
    for name, run in runs.items():
        model, took = run()
        base = base or took
        windows, through = perplexities(model, indices)
        weights = sum(p.numel() for p in model.parameters())
        print(f"{name:16} {weights:8,} {took:12.1f} {took / base:6.2f} {windows:9.2f} {through:13.2f}", flush=True)
        results[name] = through, took / base
    return results


def verdict(results):
    print()
    for name, (largest, share) in TARGETS.items():
        through, ratio = results[name]
        met = "met" if through <= largest and ratio <= share else "MISSED"
        print(f"{name:16} at most {largest} read through, in at most {share} of the peer's time: {met}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("path", nargs="?", help="the novel as a text file; downloaded if not given")
    parser.add_argument("--quick", action="store_true", help="one epoch each")
    parser.add_argument("--seed", type=int, default=0, help="of initial weights and order")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    text, is_novel = read(arguments.path)
    indices = encode(text)
    if len(indices) < 20_000:
        parser.error(f"the text has {len(indices):,} letters from A to Z and spaces; at least 20,000 are needed")
    results = table(indices, arguments.quick, arguments.seed)
    if arguments.quick or not is_novel:
        print("\nThe targets are for The Time Machine and all epochs: not judged.")
    else:
        verdict(results)


if __name__ == "__main__":
    main()
