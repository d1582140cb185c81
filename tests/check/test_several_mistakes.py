"""Several mistakes at once."""

import time

import pytest

from companion.check.engine.question import all_questions
from tests.check.answers.lstm.gates import PROGRAM
from tests.check.programs import found
from tests.check.small_answers import only_i_differs


def test_two_at_once_are_named_beside_gradients_that_are_gone():
    shuffled = PROGRAM.answer([*PROGRAM.wrong["gates_f_i_g_o"], *PROGRAM.wrong["bias_hh_missing"]])
    detached = found("gates", lambda *arguments: [gate.detach() for gate in shuffled(*arguments)])
    assert set(detached.mistakes) == {"gates_f_i_g_o", "bias_hh_missing", "no_gradient"}


# Three at once, of which the first two never explain all.
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
def test_three_at_once(name):
    assert (
        set(found(name, all_questions()[name].reference(frozenset(TRIPLES[name])), watched=False).mistakes)
        == TRIPLES[name]
    )


@pytest.mark.heavy
def test_a_long_search_finds_nothing_false():
    """Nor does it take longer than it may."""
    began = time.process_time()
    assert found("gates", only_i_differs, seconds=30).mistakes == ["wrong_values"]
    assert time.process_time() - began < 32
