"""Question `bidirectional`: an LSTM with two directions."""

from torch import nn

from companion.check.engine.question import Question
from companion.check.questions.lstm_parameters import CHAPTER, stacked
from companion.check.questions.lstm_parameters.calls import Network
from companion.check.questions.lstm_parameters.direction import (
    MODULE_MISTAKES,
    SEQUENCE_MISTAKES,
    STATES_MISTAKES,
    STEP_MISTAKES,
)
from companion.check.questions.lstm_parameters.drawing import AXES, RESULTS, network_probe, sizes
from companion.check.questions.lstm_parameters.mistakes import DIRECTION_MISTAKES, READ_BY_UPPER, STACK_MISTAKES
from companion.check.questions.lstm_parameters.network import network_reference


def bidirectional_probes(draw):
    def probe(name, draw, steps, batch, inputs, hidden, layers, **more):
        options = sizes(inputs, hidden, num_layers=layers, bidirectional=True)
        return network_probe(name, draw, steps, batch, options, **more)

    return [
        probe("two_steps", draw.few, 2, 1, 1, 1, 1),
        probe("batch_1", draw.few, 2, 1, 3, 2, 2),
        probe("one_layer", draw, 4, 2, 2, 3, 1),
        probe("no_state", draw, 3, 2, 3, 4, 2, state=False, calls=2),
        probe("several", draw, 4, 3, 2, 5, 3),
    ]


def bidirectional_reference(network):
    return lambda inputs, hidden, layers: network(inputs, hidden, layers, bidirectional=True)


DIRECTION_EXCLUSIVE = (
    frozenset({"backward_not_flipped", "backward_reads_forwards", "flipped_over_batch", "flipped_over_features"}),
    frozenset({"directions_share_weights", "reverse_weights_missing"}),
    frozenset({"backward_starts_from_forward", "directions_share_state"}),
    frozenset({"directions_share_state", "directions_before_layers"}),
    frozenset({"directions_before_layers", "h_n_backward_first", "h_n_of_forward_only", "h_n_directions_joined"}),
    frozenset({
        "output_backward_first", "output_interleaved", "output_of_forward_only", "directions_added",
        "directions_averaged", "directions_kept_apart", "directions_joined_over_time", "directions_joined_over_batch",
        "upper_layers_read_forward_only",
    }),
)  # fmt: skip
QUESTION = Question(
    name="bidirectional",
    answer="BiLSTM",
    assignment=CHAPTER,
    task=3,
    points=3,
    place=f"{CHAPTER}#bidirectional",
    call=Network(("input_size", "hidden_size", "num_layers"), ("input", ("h_0", "c_0")), RESULTS),
    truth=lambda inputs, hidden, layers: nn.LSTM(inputs, hidden, layers, bidirectional=True),
    reference=lambda mistakes: bidirectional_reference(network_reference(mistakes)),
    mistakes=DIRECTION_MISTAKES
    | READ_BY_UPPER
    | {name: place for name, place in STACK_MISTAKES.items() if name != "state_passed_up"}
    | STATES_MISTAKES
    | MODULE_MISTAKES
    | SEQUENCE_MISTAKES
    | STEP_MISTAKES,
    probes=bidirectional_probes,
    exclusive=(*stacked.QUESTION.exclusive, *DIRECTION_EXCLUSIVE),
    axes=AXES,
)
