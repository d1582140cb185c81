"""Question `stacked`: an LSTM of several layers, with dropout."""

from torch import nn

from companion.check.engine.question import Question
from companion.check.questions.lstm_parameters import CHAPTER
from companion.check.questions.lstm_parameters.calls import Network
from companion.check.questions.lstm_parameters.direction import (
    MODULE_MISTAKES,
    SEQUENCE_EXCLUSIVE,
    SEQUENCE_MISTAKES,
    STATES_MISTAKES,
    STEP_MISTAKES,
)
from companion.check.questions.lstm_parameters.drawing import AXES, RESULTS, dropout_probes, network_probe, sizes
from companion.check.questions.lstm_parameters.mistakes import DROPOUT_MISTAKES, STACK_MISTAKES
from companion.check.questions.lstm_parameters.network import network_reference


def stacked_probes(draw):
    def options(inputs, hidden, layers, dropout=0.0):
        return sizes(inputs, hidden, num_layers=layers, dropout=dropout)

    return [
        network_probe("one_number", draw.few, 1, 1, options(1, 1, 2)),
        network_probe("two_steps", draw.few, 2, 1, options(1, 1, 2)),
        network_probe("batch_1", draw.few, 2, 1, options(2, 3, 2)),
        *dropout_probes(draw),
        network_probe("no_state", draw, 3, 2, options(3, 4, 2), state=False, calls=2),
        network_probe("several", draw, 4, 3, options(2, 5, 3)),
    ]


QUESTION = Question(
    name="stacked",
    answer="StackedLSTM",
    assignment=CHAPTER,
    task=2,
    points=3,
    place=f"{CHAPTER}#num-layers",
    call=Network(("input_size", "hidden_size", "num_layers", "dropout"), ("input", ("h_0", "c_0")), RESULTS),
    truth=lambda inputs, hidden, layers, dropout: nn.LSTM(inputs, hidden, layers, dropout=dropout),
    reference=lambda mistakes: stacked_reference(network_reference(mistakes)),
    mistakes=STACK_MISTAKES | DROPOUT_MISTAKES | STATES_MISTAKES | MODULE_MISTAKES | SEQUENCE_MISTAKES | STEP_MISTAKES,
    probes=stacked_probes,
    exclusive=(
        *SEQUENCE_EXCLUSIVE,
        frozenset({"upper_layers_read_input", "upper_layers_read_c", "input_added_between_layers", "layers_detached"}),
        frozenset({"relu_between_layers", "tanh_between_layers", "upper_layers_read_input"}),
        frozenset({"first_layer_weights_everywhere", "layers_share_weights"}),
        frozenset({"first_state_for_all_layers", "upper_layers_start_at_zero", "state_passed_up"}),
        frozenset({"given_state_ignored", "first_state_for_all_layers"}),
        frozenset({"given_state_ignored", "upper_layers_start_at_zero"}),
        frozenset({"h_n_of_top_layer_only", "h_n_of_first_layer_only", "h_n_layers_reversed"}),
        frozenset({"output_of_first_layer", "outputs_of_all_layers"}),
        frozenset({"dropout_ignored", "dropout_in_evaluation", "dropout_scales_in_evaluation"}),
        frozenset({"dropout_ignored", "dropout_between_steps"}),
        frozenset({"dropout_after_last_layer", "dropout_between_steps"}),
        frozenset({"dropout_not_scaled", "dropout_scales_in_evaluation", "dropout_keeps_p", "dropout_mask_inverted"}),
        *(
            frozenset({"dropout_ignored", name})
            for name in DROPOUT_MISTAKES
            if name.startswith(
                (
                    "dropout_not_",
                    "dropout_without",
                    "dropout_keeps",
                    "dropout_mask",
                    "dropout_shared",
                    "dropout_in_states",
                )
            )
        ),
    ),
    axes=AXES,
)


def stacked_reference(network):
    return lambda inputs, hidden, layers, dropout: network(inputs, hidden, layers, dropout=dropout)
