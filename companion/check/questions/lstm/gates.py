"""Question `gates`: the four gates of an LSTM."""

from torch import nn

from companion.check.engine.probe import Probe
from companion.check.engine.question import Question
from companion.check.engine.run_answer import Function
from companion.check.questions.lstm.step import EXCLUSIVE, GATE_MISTAKES, ORDERS, OTHER_ORDER, RETURNED, gates_reference
from companion.check.questions.weights import WEIGHTS, weights


def gates_probes(draw):
    def probe(name, draw, batch, inputs, hidden, calls=1):
        tensors = {"x": draw(batch, inputs), "h": draw(batch, hidden)} | weights(draw, inputs, hidden, gates=4)
        return Probe(name, tensors, gradients=tuple(tensors), calls=calls)

    return [
        probe("one_number", draw.few, 1, 1, 1),
        probe("batch_1", draw.few, 1, 3, 2),
        probe("several", draw, 3, 4, 5),
        probe("several", draw, 2, 6, 3, calls=2),
    ]


def gates_truth(x, h, weight_ih, weight_hh, bias_ih, bias_hh):
    """Return the gates by the formulas in torch's documentation. A test compares them with torch's cell."""
    a = nn.functional.linear(x, weight_ih, bias_ih) + nn.functional.linear(h, weight_hh, bias_hh)
    i, f, g, o = a.chunk(4, dim=-1)
    return i.sigmoid(), f.sigmoid(), g.tanh(), o.sigmoid()


QUESTION = Question(
    name="gates",
    assignment="lstm",
    task=1,
    points=2,
    place="lstm#six-equations",
    call=Function(("x", "h", *WEIGHTS), ("i", "f", "g", "o")),
    truth=gates_truth,
    reference=gates_reference,
    mistakes=GATE_MISTAKES | dict.fromkeys(RETURNED, ""),
    probes=gates_probes,
    exclusive=(
        *EXCLUSIVE,
        frozenset([*ORDERS, OTHER_ORDER]),
        # an answer that treats all gates alike gives the numbers of another order of the weights
        frozenset({OTHER_ORDER, "tanh_on_all_gates", "gates_not_activated"}),
    ),
    axes=dict.fromkeys("ifgoh", ("batch", "unit")) | {"x": ("batch", "feature")},
)
