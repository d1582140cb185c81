"""Question `all_at_once`: an LSTM with all options."""

from torch import nn

from companion.check.engine.question import Question
from companion.check.questions.lstm_parameters import CHAPTER, projected, stacked
from companion.check.questions.lstm_parameters.bidirectional import DIRECTION_EXCLUSIVE
from companion.check.questions.lstm_parameters.calls import Network
from companion.check.questions.lstm_parameters.direction import (
    MODULE_MISTAKES,
    PROJECTED_STEP_MISTAKES,
    SEQUENCE_MISTAKES,
    STATES_MISTAKES,
)
from companion.check.questions.lstm_parameters.drawing import AXES, RESULTS, dropout_probes, network_probe, sizes
from companion.check.questions.lstm_parameters.mistakes import (
    BATCH_FIRST_MISTAKES,
    DIRECTION_MISTAKES,
    DROPOUT_MISTAKES,
    PACKED_LAYER_MISTAKES,
    PROJECTION_MISTAKES,
    READ_BY_UPPER,
    READ_PROJECTED,
    STACK_MISTAKES,
)
from companion.check.questions.lstm_parameters.network import IMPLIED, network_reference

ALL_OPTIONS = ("num_layers", "bias", "batch_first", "dropout", "bidirectional", "proj_size")


def all_probes(draw):
    def probe(name, draw, steps, batch, inputs, hidden, state=True, calls=1, lengths=None, **options):
        return network_probe(name, draw, steps, batch, sizes(inputs, hidden, **options), state, calls, lengths)

    everything = {"num_layers": 2, "bidirectional": True, "proj_size": 2}
    return [
        probe("two_steps", draw.few, 2, 1, 1, 1),
        probe("batch_1", draw.few, 2, 1, 2, 3, num_layers=2),
        *dropout_probes(draw),
        probe("batch_first", draw, 3, 2, 3, 4, batch_first=True, bias=False),
        probe("no_state", draw, 3, 2, 4, 3, state=False, calls=2, num_layers=3, proj_size=2),
        probe("one_layer", draw, 3, 4, 2, 3, bidirectional=True),
        probe("no_projection", draw, 3, 2, 4, 3, num_layers=2, bidirectional=True),
        probe("packed", draw, 4, 3, 2, 5, lengths=[1, 4, 2], **everything),
        probe("several", draw, 4, 3, 5, 4, **everything | {"num_layers": 3}),
    ]


QUESTION = Question(
    name="all_at_once",
    answer="LSTM",
    assignment=CHAPTER,
    task=6,
    points=4,
    place=f"{CHAPTER}#summary-table",
    call=Network(("input_size", "hidden_size"), ("input", ("h_0", "c_0")), RESULTS, ALL_OPTIONS),
    truth=nn.LSTM,
    reference=network_reference,
    mistakes=STACK_MISTAKES
    | DROPOUT_MISTAKES
    | DIRECTION_MISTAKES
    | PROJECTION_MISTAKES
    | READ_BY_UPPER
    | READ_PROJECTED
    | PACKED_LAYER_MISTAKES
    | BATCH_FIRST_MISTAKES
    | STATES_MISTAKES
    | MODULE_MISTAKES
    | SEQUENCE_MISTAKES
    | PROJECTED_STEP_MISTAKES,
    probes=all_probes,
    exclusive=(
        *stacked.QUESTION.exclusive,
        *DIRECTION_EXCLUSIVE,
        *projected.QUESTION.exclusive,
        frozenset({"batch_first_ignored", "batch_first_the_other_way", "view_for_batch_first"}),
        frozenset({"batch_first_ignored", "output_not_batch_first"}),
        frozenset({"batch_first_ignored", "h_n_batch_first"}),
        frozenset({"batch_first_ignored", "h_0_batch_first"}),
        frozenset({"h_n_after_padding", "backward_starts_in_padding", "packed_ignores_lengths", "output_not_packed"}),
        frozenset({*READ_BY_UPPER, *READ_PROJECTED, *IMPLIED}),
    ),
    axes=AXES,
    stretch=True,
)
