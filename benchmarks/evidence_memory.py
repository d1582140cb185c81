"""Which layer learns to remember? The runs on which the chapter "Memory, measured" rests: a quarter of an hour on one core.

    python benchmarks/evidence_memory.py           compute what is missing; it may be stopped and started again
    python benchmarks/evidence_memory.py --again   compute all of it anew

Every kind of network gets as many parameters in its recurrent layer as the others, within 2 %. For each experiment and
kind the learning rate is chosen first, on seeds of its own: the one with the best mean, and among equals the one with
the lowest loss while learning. Then five other seeds learn with it. Written is companion/learning/evidence/memory.json.
"""

import argparse
import statistics

import torch
from torch import nn

import companion
from companion.layers.initialisation import chrono_
from companion.learning import evidence
from companion.learning.sequence_model import SequenceModel
from companion.learning.tasks import Adding, Brackets, Recall, accuracy
from companion.learning.training import evaluate, train

NAME, VERSION = "memory", 1  # another version when something else is computed
SEEDS, CHOOSING = (0, 1, 2, 3, 4), (100, 101)
LEARNING_RATES = (0.003, 0.01, 0.03)
BATCHES, BATCH_SIZE = 400, 32
GATES = {"RNN": 1, "GRU": 3, "LSTM": 4}
HIDDEN_SIZE = 32  # of the LSTM; the others have as many parameters
float64 = {"dtype": torch.float64}

# what biases a network begins with: torch's own, a forget gate at 1, or memories for the task
STARTS = {"RNN": ["torch"], "GRU": ["torch", "chrono"], "LSTM": ["torch", "b_f = 1", "chrono"]}
KINDS = [(kind, start) for kind, starts in STARTS.items() for start in starts]
# experiment → input_size, number of outputs, gaps or lengths, what is measured, and the kinds that take part
EXPERIMENTS = {
    "recall": (16, 8, (5, 10, 20, 40, 100), "accuracy", KINDS),
    "only long gaps": (16, 8, (50,), "accuracy", KINDS),
    "adding": (2, 1, (50,), "error", KINDS),
    "brackets": (8, 3, (40,), "accuracy", [kind for kind in KINDS if kind[1] != "chrono"]),
}


def parameters(kind, input_size, hidden_size):
    """How many parameters a recurrent layer has."""
    return GATES[kind] * hidden_size * (input_size + hidden_size + 2)


def equal_size(kind, input_size):
    """The number of units with which a layer has about as many parameters as an LSTM of `HIDDEN_SIZE`."""
    wanted = parameters("LSTM", input_size, HIDDEN_SIZE)
    return min(range(1, 200), key=lambda size: abs(parameters(kind, input_size, size) - wanted))


def network(experiment, kind, start, length, seed):
    """A new model, with a recurrent layer of the given kind that begins with the given biases."""
    input_size, num_outputs = EXPERIMENTS[experiment][:2]
    torch.manual_seed(seed)
    layer = getattr(companion, kind)(input_size, equal_size(kind, input_size), **float64)
    reads_vectors = experiment == "adding"
    vocab_size = Brackets.vocab_size if experiment == "brackets" else Recall.vocab_size
    embedding = nn.Identity() if reads_vectors else companion.Embedding(vocab_size, input_size, **float64)
    model = SequenceModel(embedding, companion.by_hand(layer), num_outputs)
    if start == "chrono":
        chrono_(layer, 2 * length, torch.Generator().manual_seed(seed))
    elif start == "b_f = 1":
        with torch.no_grad():
            layer.bias_ih_l0.chunk(4)[1].fill_(1.0)
            layer.bias_hh_l0.chunk(4)[1].zero_()
    return model


def task_of(experiment, length, **options):
    """What is learned, and what is asked afterwards."""
    if experiment == "recall":
        return Recall(gap=(1, length), batch_size=BATCH_SIZE, **options), Recall(gap=length)
    if experiment == "only long gaps":
        return Recall(gap=length, batch_size=BATCH_SIZE, **options), Recall(gap=length)
    if experiment == "adding":
        return Adding(length, batch_size=BATCH_SIZE, **float64, **options), Adding(length, seed=1000, **float64)
    return Brackets(length, batch_size=BATCH_SIZE, **options), Brackets(length)


def run(experiment, kind, start, length, seed, learning_rate):
    """One network, from new to measured: a dictionary of settings and results."""
    input_size, _, _, measured, _ = EXPERIMENTS[experiment]
    model = network(experiment, kind, start, length, seed)
    learned, asked = task_of(experiment, length, seed=seed, batches=BATCHES)
    optimizer = torch.optim.Adam(model.parameters(), lr=learning_rate)
    loss_function = Adding.loss if experiment == "adding" else None
    history = train(model, learned, optimizer, epochs=1, loss_function=loss_function, progress=False)
    result = accuracy(model, asked) if measured == "accuracy" else evaluate(model, asked, loss_function)
    size = model.recurrent.hidden_size
    settings = {"experiment": experiment, "kind": kind, "start": start, "length": length, "seed": seed}
    settings |= {"learning_rate": learning_rate, "hidden_size": size, "parameters": parameters(kind, input_size, size)}
    return settings | {"batches": BATCHES, "loss": round(history[0].loss, 5), measured: round(result, 5)}


class Runs:
    """The runs so far. A run that is there already is not computed again."""

    def __init__(self, again):
        self.done = [] if again or not self.is_ours() else evidence.load(NAME)

    @staticmethod
    def is_ours():
        return (evidence.FOLDER / f"{NAME}.json").is_file() and evidence.versions(NAME)["program"] == VERSION

    def get(self, chosen, *settings):
        names = ("experiment", "kind", "start", "length", "seed", "learning_rate")
        found = evidence.having(self.done, chosen=chosen, **dict(zip(names, settings, strict=True)))
        if not found:
            found = [run(*settings) | {"chosen": chosen}]
            self.done += found
            evidence.store(NAME, VERSION, self.done)
            print(*found[0].values(), flush=True)
        return found[0]


def best_rate(runs, experiment, kind, start):
    """The learning rate with which the seeds for choosing do best."""
    _, _, lengths, measured, _ = EXPERIMENTS[experiment]
    sign = 1 if measured == "error" else -1

    def badness(rate):
        found = [runs.get(False, experiment, kind, start, length, seed, rate) for length in lengths for seed in CHOOSING]
        return tuple(statistics.mean(factor * one[key] for one in found) for factor, key in ((sign, measured), (1, "loss")))

    return min(LEARNING_RATES, key=badness)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--again", action="store_true", help="compute anew what is stored")
    runs = Runs(parser.parse_args().again)
    torch.set_num_threads(1)
    for experiment, (_, _, lengths, _, kinds) in EXPERIMENTS.items():
        for kind, start in kinds:
            rate = best_rate(runs, experiment, kind, start)
            for length in lengths:
                for seed in SEEDS:
                    runs.get(True, experiment, kind, start, length, seed, rate)


if __name__ == "__main__":
    main()
