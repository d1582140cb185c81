"""Question `projected`: an LSTM with a projection."""

from torch import nn

from companion.check.engine.question import Question
from companion.check.questions.lstm_parameters import CHAPTER
from companion.check.questions.lstm_parameters.calls import Network
from companion.check.questions.lstm_parameters.direction import (
    MODULE_MISTAKES,
    PROJECTED_STEP_MISTAKES,
    SEQUENCE_EXCLUSIVE,
    SEQUENCE_MISTAKES,
    STATES_MISTAKES,
)
from companion.check.questions.lstm_parameters.drawing import AXES, RESULTS, network_probe, sizes
from companion.check.questions.lstm_parameters.mistakes import PROJECTION_MISTAKES
from companion.check.questions.lstm_parameters.network import network_reference


def projected_probes(draw):
    def probe(name, draw, steps, batch, inputs, hidden, projected, **more):
        return network_probe(name, draw, steps, batch, sizes(inputs, hidden, proj_size=projected), **more)

    return [
        probe("two_steps", draw.few, 2, 1, 1, 2, 1),
        probe("batch_1", draw.few, 2, 1, 2, 4, 3),
        probe("no_state", draw, 3, 2, 4, 5, 3, state=False, calls=2),
        probe("several", draw, 4, 3, 5, 6, 2),
    ]


def projected_network_reference(network):
    return lambda inputs, hidden, projected: network(inputs, hidden, proj_size=projected)


QUESTION = Question(
    name="projected",
    answer="ProjectedLSTM",
    assignment=CHAPTER,
    task=4,
    points=2,
    place=f"{CHAPTER}#proj-size",
    call=Network(("input_size", "hidden_size", "proj_size"), ("input", ("h_0", "c_0")), RESULTS),
    truth=lambda inputs, hidden, projected: nn.LSTM(inputs, hidden, proj_size=projected),
    reference=lambda mistakes: projected_network_reference(network_reference(mistakes)),
    mistakes=PROJECTION_MISTAKES
    | {"h_n_without_layer": f"{CHAPTER}#formula"}
    | STATES_MISTAKES
    | MODULE_MISTAKES
    | SEQUENCE_MISTAKES
    | PROJECTED_STEP_MISTAKES,
    probes=projected_probes,
    exclusive=(
        *SEQUENCE_EXCLUSIVE,
        frozenset({
            "projection_after_layer", "output_not_projected", "weight_hr_missing", "projection_in_rows",
            "projection_of_c",
        }),
        frozenset({"projection_by_view", "weight_hr_transposed", "weight_hr_missing", "projection_in_rows"}),
        frozenset({"projection_squashed", "projection_after_layer", "weight_hr_missing", "projection_in_rows"}),
        frozenset({"c_n_projected", "weight_hr_missing", "projection_in_rows"}),
        frozenset({"default_state_missing", "default_state_size", "projection_after_layer"}),
        frozenset({"output_is_c", "output_not_projected"}),
    ),
    axes=AXES,
)  # fmt: skip
