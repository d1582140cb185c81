"""Check that two or three mistakes at once are named."""

import pytest

from companion.check.engine.question import all_questions
from tests.check.answers.lstm.gates import PROGRAM
from tests.check.programs import finding_of
from tests.check.small_answers import only_i_differs


def test_two_mistakes_are_named_besides_missing_gradients():
    shuffled = PROGRAM.answer([*PROGRAM.wrong["gates_f_i_g_o"], *PROGRAM.wrong["bias_hh_missing"]])
    detached = finding_of("gates", lambda *arguments: [gate.detach() for gate in shuffled(*arguments)])
    assert set(detached.mistakes) == {"gates_f_i_g_o", "bias_hh_missing", "no_gradient"}


# Three mistakes at once, none of whose pairs explains all.
TRIPLES = {
    "gates": {"hidden_ignored", "sigmoid_missing_on_f", "gates_f_i_g_o"},
    "lstm_cell": {"weights_transposed", "tanh_kept_in_c", "default_state_ones"},
    "rnn_step": {"tanh_by_sigmoid", "parts_multiplied", "bias_ih_missing"},
    "lookup": {"shape_of_indices_lost", "first_column_only", "rows_scaled"},
    "weight_gradient": {"padding_always_row_zero", "grad_output_ignored", "size_from_indices"},
    "rnn_backward": {"h_0_gradient_missing", "grad_output_last_only", "gradient_overwritten"},
    "lstm_backward": {"gradient_averaged", "new_h_for_old_h", "gates_f_i_g_o"},
}


@pytest.mark.parametrize("name", TRIPLES)
def test_three_mistakes_are_named(name):
    assert (
        set(finding_of(name, all_questions()[name].reference(frozenset(TRIPLES[name])), watched=False).mistakes)
        == TRIPLES[name]
    )


@pytest.mark.heavy
def test_long_search_gives_no_wrong_name():
    assert finding_of("gates", only_i_differs, seconds=30).mistakes == ["wrong_values"]
