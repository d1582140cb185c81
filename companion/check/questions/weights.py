"""Random weights of a recurrent cell, with the rows of all gates below one another as in torch."""

WEIGHTS = ("weight_ih", "weight_hh", "bias_ih", "bias_hh")


def weights(draw, inputs, hidden, gates=1, ending=""):
    """Return {name: tensor} with `gates` times `hidden` rows. gates: 1 in an RNN, 3 in a GRU, 4 in an LSTM."""
    shapes = {"weight_ih": (inputs,), "weight_hh": (hidden,), "bias_ih": (), "bias_hh": ()}
    return {name + ending: draw(gates * hidden, *shape) for name, shape in shapes.items()}
