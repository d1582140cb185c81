"""Programs of the assignment `lstm`, with random pairs of mistakes."""

from tests.check.answers import Program, drawn_pairs

# Mistakes that hide others, or equal them. With i and g exchanged, some orders are equal: both have the same function,
# or neither acts on c alone.
HIDES = {
    "only_h_returned", "old_c_returned", "default_state_missing", "forget_gate_missing", "input_gate_missing",
    "output_gate_missing", "coupled_gates", "old_c_ignored", "hidden_ignored", "input_ignored", "softmax_over_gates",
    "state_detached", "c_squashed", "forget_gate_on_new_content", "sigmoid_on_g", "tanh_on_i", "tanh_on_all_gates",
    "gates_not_activated", "tanh_missing_on_g", "gates_returned_in_other_order", "state_returned_nested",
}  # fmt: skip
# Two assume torch's order of the gates; the bank combines the third only with a given state.
APART = {"new_h_too_early", "biases_after_activation", "default_state_random"}


def program(question, source, wrong, also_wrong=(), also_right=()):
    apart = {name: edits for name, edits in wrong.items() if name not in HIDES | APART}
    return Program(source, wrong, also_wrong, also_right, drawn_pairs(question, source, apart, 12))
