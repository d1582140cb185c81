"""Numbers of the questions about *The parameters of nn.LSTM*."""

import torch

from book.questions.parts import Numbers, count
from companion import GRU, LSTM


def shape_of_h_n(rng):
    input_size, hidden_size, batch, steps = rng.sample(range(4, 21), 4)
    layers = rng.choice((2, 3))
    layer = LSTM(input_size, hidden_size, num_layers=layers, batch_first=True)
    output, (h_n, _) = layer(torch.zeros(batch, steps, input_size))
    mistakes = {
        "batch_first_states": (batch, layers, hidden_size),
        "time_for_batch": (layers, steps, hidden_size),
        "output_for_state": tuple(output.shape),
        "upper_layer_only": (1, batch, hidden_size),
    }
    values = {"input_size": input_size, "hidden_size": hidden_size, "layers": layers, "batch": batch, "steps": steps}
    return Numbers(tuple(h_n.shape), mistakes, values)


def two_shapes(h_n, c_n):
    return f"`h_n`: `{tuple(h_n)}`, `c_n`: `{tuple(c_n)}`"


def projected_states(rng):
    input_size, batch, proj_size = rng.sample(range(2, 10), 3)
    hidden_size = rng.randint(11, 30)
    layer = LSTM(input_size, hidden_size, proj_size=proj_size)
    _, (h_n, c_n) = layer(torch.zeros(5, batch, input_size))
    short, long = (1, batch, proj_size), (1, batch, hidden_size)
    mistakes = {
        "both_projected": two_shapes(short, short),
        "none_projected": two_shapes(long, long),
        "cell_projected": two_shapes(long, short),
    }
    values = {"input_size": input_size, "hidden_size": hidden_size, "proj_size": proj_size, "batch": batch}
    return Numbers(two_shapes(h_n.shape, c_n.shape), mistakes, values)


def numbers_of_two_layers(rng):
    input_size, hidden_size = rng.sample(range(2, 11), 2)
    right = count(LSTM(input_size, hidden_size, num_layers=2))
    lower = count(LSTM(input_size, hidden_size))
    mistakes = {
        "upper_reads_input": 2 * lower,
        "one_layer": lower,
        "one_bias": right - 2 * 4 * hidden_size,
        "three_gates": count(GRU(input_size, hidden_size, num_layers=2)),
    }
    return Numbers(right, mistakes, {"input_size": input_size, "hidden_size": hidden_size})
