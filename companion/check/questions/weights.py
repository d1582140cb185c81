"""The weights of a recurrent cell, as torch has them: the rows of all gates stand above one another."""

WEIGHTS = ("weight_ih", "weight_hh", "bias_ih", "bias_hh")


def weights(draw, inputs, hidden, gates=1, ending=""):
    """{name: tensor}, with `gates` times `hidden` rows: one block of them in an RNN, three in a GRU, four in an
    LSTM."""
    shapes = {"weight_ih": (inputs,), "weight_hh": (hidden,), "bias_ih": (), "bias_hh": ()}
    return {name + ending: draw(gates * hidden, *shape) for name, shape in shapes.items()}
