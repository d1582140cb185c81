"""Mistakes in an LSTM's step: between the inputs and the four gates, and between the gates and the states."""

from itertools import permutations

import torch

# The orders of the gates that differ from torch's; first those of papers, TensorFlow and ONNX.
KNOWN = ["figo", "ifog", "igfo", "iofg", "fiog", "fogi"]
ORDERS = {
    f"gates_{'_'.join(letters)}": "".join(letters)
    for letters in sorted(permutations("ifgo"), key=lambda order: (*KNOWN, "".join(order)).index("".join(order)))
    if "".join(letters) != "ifgo"
}

# Wrong orders of returned gates. With g in its place they equal orders of the weights.
OTHER_ORDER = "gates_returned_in_other_order"
RETURNED = {OTHER_ORDER: "ifog"} | {
    f"{OTHER_ORDER}~{order}": order for order in ORDERS.values() if order != "ifog" and order[2] != "g"
}

# Mistakes between the inputs and the four gates.
GATE_MISTAKES = {
    "gates_f_i_g_o": "lstm#wrong-order",
    "gates_i_f_o_g": "lstm#wrong-order",
    "gates_interleaved": "lstm#one-product",
    "hidden_ignored": "",
    "input_ignored": "",
    "bias_ih_missing": "lstm#two-biases",
    "bias_hh_missing": "lstm#two-biases",
    "bias_ih_twice": "lstm#two-biases",
    "bias_hh_twice": "lstm#two-biases",
    "recurrent_weights_transposed": "lstm#one-product",
    "view_for_transpose": "lstm#one-product",
    "view_for_transpose~ih": "",
    "view_for_transpose~hh": "",
    "tanh_missing_on_g": "lstm#input-gate",
    "sigmoid_on_g": "lstm#input-gate",
    "relu_on_g": "lstm#input-gate",
    "sigmoid_missing_on_i": "lstm#input-gate",
    "sigmoid_missing_on_f": "lstm#forget-gate",
    "sigmoid_missing_on_o": "lstm#output-gate",
    "tanh_on_i": "lstm#input-gate",
    "tanh_on_f": "lstm#forget-gate",
    "tanh_on_o": "lstm#output-gate",
    "tanh_on_all_gates": "lstm#six-equations",
    "gates_not_activated": "lstm#by-hand",
    "hard_sigmoid": "lstm#by-hand",
    "hard_sigmoid~steeper": "",
    "softmax_over_gates": "lstm#by-hand",
    "forget_bias_added": "forget_bias#forget-bias",
    "biases_after_activation": "lstm#six-equations",
    "sigmoid_turned": "lstm#by-hand",
} | dict.fromkeys(ORDERS, "lstm#wrong-order")

# Mistakes between the gates and the two new states.
STATE_MISTAKES = {
    "tanh_missing_on_c": "lstm#output-gate",
    "sigmoid_on_c": "lstm#output-gate",
    "c_squashed": "lstm#cell-state",
    "tanh_kept_in_c": "lstm#output-gate",
    "h_from_old_c": "lstm#output-gate",
    "new_h_too_early": "lstm#output-gate",
    "forget_gate_missing": "lstm#cell-state",
    "input_gate_missing": "lstm#cell-state",
    "output_gate_missing": "lstm#output-gate",
    "coupled_gates": "gru#one-gate-for-two",
    "forget_gate_on_sum": "lstm#cell-state",
    "forget_gate_on_new_content": "lstm#cell-state",
    "old_c_ignored": "lstm#cell-state",
    "input_added_not_gated": "lstm#cell-state",
    "tanh_on_product": "lstm#output-gate",
}
EXCLUSIVE = (
    frozenset([*ORDERS, "gates_interleaved"]),
    frozenset({"tanh_missing_on_g", "sigmoid_on_g", "relu_on_g", "gates_not_activated"}),
    *(
        frozenset({f"sigmoid_missing_on_{gate}", f"tanh_on_{gate}", "tanh_on_all_gates", "gates_not_activated"})
        | {"hard_sigmoid", "softmax_over_gates", "sigmoid_turned"}
        for gate in "ifo"
    ),
    frozenset({"bias_ih_missing", "bias_ih_twice"}),
    frozenset({"bias_hh_missing", "bias_hh_twice"}),
    frozenset({"bias_hh_missing", "bias_hh_twice", "one_bias"}),
    frozenset({"recurrent_weights_transposed", "view_for_transpose", "hidden_ignored", "weights_transposed"}),
    frozenset({"tanh_missing_on_c", "sigmoid_on_c", "tanh_kept_in_c", "h_from_old_c", "tanh_on_product"}),
    frozenset({"tanh_kept_in_c", "c_squashed"}),
    frozenset({"output_gate_missing", "new_h_too_early"}),
    frozenset({"forget_gate_missing", "forget_gate_on_sum", "forget_gate_on_new_content", "old_c_ignored"}),
    frozenset({"input_gate_missing", "coupled_gates", "input_added_not_gated"}),
)


def gates_reference(mistakes):
    """Return i, f, g, o after their sigmoid and tanh, with the weights as torch has them."""

    def gates(x, h, weight_ih, weight_hh, bias_ih, bias_hh):
        size = h.shape[-1]
        view_ih = mistakes & {"view_for_transpose", "view_for_transpose~ih"}
        view_hh = mistakes & {"view_for_transpose", "view_for_transpose~hh"}
        from_x = x @ (weight_ih.reshape(weight_ih.T.shape) if view_ih else weight_ih.T)
        from_h = h @ (weight_hh.reshape(weight_hh.T.shape) if view_hh else weight_hh.T)
        if "recurrent_weights_transposed" in mistakes:
            from_h = torch.cat([h @ block for block in weight_hh.split(size)], dim=-1)
        a = from_x * ("input_ignored" not in mistakes) + from_h * ("hidden_ignored" not in mistakes)
        later = 0 * a if "biases_after_activation" in mistakes else None
        for bias, name in ((bias_ih, "bias_ih"), (bias_hh, "bias_hh")):
            if bias is not None:
                bias = bias * (0 if f"{name}_missing" in mistakes else 2 if f"{name}_twice" in mistakes else 1)
                a, later = (a + bias, None) if later is None else (a, later + bias)

        sums = blocks_reference(mistakes, a, size)
        later = dict.fromkeys("ifgo", 0) if later is None else blocks_reference(mistakes, later, size)
        if "forget_bias_added" in mistakes:
            sums["f"] = sums["f"] + 1
        order = next((RETURNED[name] for name in mistakes if name in RETURNED), "ifgo")
        return tuple(activated_reference(mistakes, gate, sums) + later[gate] for gate in order)

    return gates


def blocks_reference(mistakes, a, size):
    """Return the four blocks of a sum, by gate."""
    order = next((ORDERS[name] for name in mistakes if name in ORDERS), "ifgo")
    if "gates_interleaved" in mistakes:
        return dict(zip(order, a.reshape(*a.shape[:-1], size, 4).unbind(-1)))
    return dict(zip(order, a.split(size, dim=-1)))


def activated_reference(mistakes, gate, sums):
    a = sums[gate]
    if "gates_not_activated" in mistakes:
        return a
    if gate == "g":
        if "tanh_missing_on_g" in mistakes:
            return a
        if "relu_on_g" in mistakes:
            return a.relu()
        return a.sigmoid() if "sigmoid_on_g" in mistakes else a.tanh()
    if f"sigmoid_missing_on_{gate}" in mistakes:
        return a
    if f"tanh_on_{gate}" in mistakes or "tanh_on_all_gates" in mistakes:
        return a.tanh()
    if "hard_sigmoid" in mistakes:
        return (a / 6 + 0.5).clamp(0, 1)
    if "hard_sigmoid~steeper" in mistakes:  # Keras'
        return (a / 5 + 0.5).clamp(0, 1)
    if "sigmoid_turned" in mistakes:
        return (-a).sigmoid()
    return a.softmax(dim=-1) if "softmax_over_gates" in mistakes else a.sigmoid()


def step_reference(mistakes):
    """Return the new h and c."""
    gates = gates_reference(mistakes)

    def step(x, h, c, *weights):
        i, f, g, o = gates(x, h, *weights)
        old_c = c
        if "forget_gate_missing" in mistakes:
            f = torch.ones_like(f)
        if "input_gate_missing" in mistakes:
            i = torch.ones_like(i)
        if "coupled_gates" in mistakes:
            i = 1 - f
        if "old_c_ignored" in mistakes:
            c = 0 * c
        new = i + g if "input_added_not_gated" in mistakes else i * g
        if "forget_gate_on_sum" in mistakes:
            c = f * (c + new)
        elif "forget_gate_on_new_content" in mistakes:
            c = c + f * new
        else:
            c = f * c + new
        if "c_squashed" in mistakes or "tanh_kept_in_c" in mistakes:
            c = c.tanh()
        if "new_h_too_early" in mistakes:  # h is overwritten before o has read it
            o = gates(x, c.tanh(), *weights)[3]
        if "output_gate_missing" in mistakes:
            o = torch.ones_like(o)
        if "tanh_on_product" in mistakes:
            return (o * c).tanh(), c
        shown = old_c if "h_from_old_c" in mistakes else c
        if "sigmoid_on_c" in mistakes:
            shown = shown.sigmoid()
        elif not mistakes & {"tanh_missing_on_c", "tanh_kept_in_c"}:
            shown = shown.tanh()
        return o * shown, c

    return step
