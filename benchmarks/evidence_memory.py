"""Evidence for the chapter "Memory, measured": which layers learn to remember; an hour on one core.

    python benchmarks/evidence_memory.py --workers 1   compute missing runs; an interrupted call can be repeated
    python benchmarks/evidence_memory.py --again       recompute all runs

A method is a kind of layer with one start on one task with one gap. Its recurrent layer has as many parameters as that
of the other methods, within 2 %. Networks that choose a learning rate are measured on sequences of one seed, those that
are reported on sequences of another. Output: companion/learning/evidence/memory.json.
"""

import sys

import torch
from evidence_protocol import equal_size, main, parameters
from torch import nn
from torch.nn.utils import parametrizations, parametrize

import companion
from companion.layers.initialisation import chrono_
from companion.learning import protocol
from companion.learning.sequence_model import SequenceModel
from companion.learning.tasks import Adding, Brackets, Recall, accuracy
from companion.learning.training import evaluate, train

NAME, VERSION = "memory", 2  # increase when the program computes something else
METHOD = ("experiment", "kind", "start", "length")
BATCHES, BATCH_SIZE = {"recall, four times as long": 1600}, 32  # elsewhere 400
CHOOSE, TEST, MEASURED = 2000, 1000, 16  # seeds of the sequences for measuring, and the number of their batches of 64
HIDDEN_SIZE = 32  # of the LSTM; the others have as many parameters
BIASES = {"b_f = 1": (None, 1), "b_f = 3": (None, 3), "b_f = 5": (None, 5), "5 and -5": (-5, 5)}  # of i and f

# torch: its own; W_hh the identity, or kept orthogonal; biases of forget gates, or of forget and input gates; chrono
STARTS = {
    "RNN": ["torch", "identity", "orthogonal"],
    "GRU": ["torch", "chrono"],
    "LSTM": ["torch", "b_f = 1", "b_f = 3", "b_f = 5", "5 and -5", "chrono"],
}
KINDS = [(kind, start) for kind, starts in STARTS.items() for start in starts]
FROM_TORCH = [(kind, "torch") for kind in STARTS]
# experiment → input_size, number of outputs, gaps or lengths, kinds
EXPERIMENTS = {
    "recall": (16, 8, (20, 40, 100), KINDS),
    "only long gaps": (16, 8, (50,), KINDS),
    "recall, four times as long": (16, 8, (100,), FROM_TORCH),
    "adding": (2, 1, (50,), [*FROM_TORCH, ("RNN", "identity"), *KINDS[-5:]]),
    "brackets": (8, 3, (40,), [*FROM_TORCH, *KINDS[-3:]]),
}


class KeptOrthogonal(nn.RNN):
    """An RNN whose recurrent weight stays orthogonal through training."""

    def __init__(self, input_size, hidden_size):
        super().__init__(input_size, hidden_size)
        nn.init.orthogonal_(self.weight_hh_l0)
        parametrizations.orthogonal(self, "weight_hh_l0", orthogonal_map="cayley")  # the fastest

    def forward(self, x, state=None):
        """Compute the orthogonal matrix once for all steps, and the states with it."""
        with parametrize.cached():
            return super().forward(x, state)


def free_parameters(input_size, size):
    """Return the number of parameters of a `KeptOrthogonal`: an orthogonal matrix has n (n − 1) / 2 free ones."""
    return parameters("RNN", input_size, size) - size * (size + 1) // 2


def size_of(kind, start, input_size):
    """Return the number of units of a layer, and its number of parameters."""
    if start == "orthogonal":
        wanted = parameters("LSTM", input_size, HIDDEN_SIZE)
        size = min(range(1, 5 * HIDDEN_SIZE), key=lambda size: abs(free_parameters(input_size, size) - wanted))
        return size, free_parameters(input_size, size)
    size = equal_size(kind, input_size, HIDDEN_SIZE)
    return size, parameters(kind, input_size, size)


def network(experiment, kind, start, length, seed):
    """Return a new model with a recurrent layer of this kind and initialisation."""
    input_size, num_outputs = EXPERIMENTS[experiment][:2]
    size, _ = size_of(kind, start, input_size)
    torch.manual_seed(seed)
    # the fastest of equal layers
    makes = {"RNN": nn.RNN, "GRU": companion.GRU, "LSTM": nn.LSTM}
    layer = (KeptOrthogonal if start == "orthogonal" else makes[kind])(input_size, size)
    signs = (Brackets if experiment == "brackets" else Recall).vocab_size
    embedding = nn.Identity() if experiment == "adding" else companion.Embedding(signs, input_size)
    model = SequenceModel(embedding, companion.by_hand(layer) if kind == "GRU" else layer, num_outputs)
    if start == "chrono":
        chrono_(layer, 2 * length, torch.Generator().manual_seed(seed))
    elif start == "identity":
        nn.init.eye_(layer.weight_hh_l0)
    elif start in BIASES:
        gates = zip(layer.bias_ih_l0.data.chunk(4), layer.bias_hh_l0.data.chunk(4), BIASES[start], strict=False)
        for bias, other, value in gates:  # of input gates, of forget gates
            if value is not None:
                bias.fill_(value)
                other.zero_()
    return model


def task_of(experiment, length, measured=False, **options):
    """Return a task: batches for training, or with the option `measured` those for measuring."""
    gap = length if experiment == "only long gaps" or measured else (1, length)
    make = {"adding": Adding, "brackets": Brackets}.get(experiment)
    return make(length, **options) if make else Recall(gap, **options)


def run(settings):
    """Train and measure one network, and return its results.

    settings: the values of `METHOD`, a seed and a learning rate.
    """
    experiment, kind, start, length, seed, learning_rate = settings
    model = network(experiment, kind, start, length, seed)
    batches = BATCHES.get(experiment, 400)
    task = task_of(experiment, length, batch_size=BATCH_SIZE, seed=seed, batches=batches)
    optimizer = torch.optim.Adam(model.parameters(), lr=learning_rate)
    loss_function = Adding.loss if experiment == "adding" else None
    history = train(model, task, optimizer, epochs=1, loss_function=loss_function, progress=False)
    part = CHOOSE if seed in protocol.CHOOSING else TEST
    measured = task_of(experiment, length, measured=True, seed=part, batches=MEASURED)
    if experiment == "adding":
        result = {"error": round(evaluate(model, measured, loss_function), 5)}
    else:
        result = {"accuracy": round(accuracy(model, measured), 5)}
    size, number = size_of(kind, start, EXPERIMENTS[experiment][0])
    sizes = {"hidden_size": size, "parameters": number, "state": 2 * size if kind == "LSTM" else size}
    return sizes | {"batches": batches, "loss": round(history[0].loss, 5)} | result


def methods():
    """Yield the values of `METHOD`."""
    for experiment, (_, _, lengths, kinds) in EXPERIMENTS.items():
        for kind, start in kinds:
            for length in lengths:
                yield experiment, kind, start, length


def rank(run):
    """Return the numbers by which a learning rate is chosen: the result that is shown, then the training loss."""
    return run.get("error", -run.get("accuracy", 0)), run["loss"]


if __name__ == "__main__":
    main(sys.modules[__name__])
