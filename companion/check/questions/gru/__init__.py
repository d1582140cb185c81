"""The questions of the assignment `gru`: its step, its layer, and cells that are built another way."""

WEIGHTS = ("weight_ih", "weight_hh", "bias_ih", "bias_hh")


def weights(draw, inputs, hidden, gates=3, ending=""):
    """The rows of all gates stand above one another."""
    shapes = {"weight_ih": (inputs,), "weight_hh": (hidden,), "bias_ih": (), "bias_hh": ()}
    return {name + ending: draw(gates * hidden, *shape) for name, shape in shapes.items()}
