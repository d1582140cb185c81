"""Question `rnn_step`: one step."""

import torch

from companion.check.engine.probe import Probe
from companion.check.engine.question import Question
from companion.check.engine.run_answer import Function
from companion.check.questions.weights import WEIGHTS, weights

STEP_MISTAKES = {
    "tanh_missing": "rnn#equation",
    "recurrent_weights_transposed": "rnn#batch-of-rows",
    "view_for_transpose": "rnn#batch-of-rows",
    "view_for_transpose~ih": "",
    "bias_ih_missing": "rnn#equation",
    "bias_hh_missing": "rnn#equation",
    "bias_ih_twice": "rnn#equation",
    "bias_hh_twice": "rnn#equation",
    "hidden_ignored": "rnn#state-instead",
    "input_ignored": "rnn#state-instead",
    "sigmoid_for_tanh": "rnn#equation",
    "relu_for_tanh": "rnn#equation",
    "concatenated_in_other_order": "rnn#concatenation",
    "concatenated_in_other_order~weights": "",
    "tanh_on_each_part": "rnn#equation",
    "tanh_on_input_only": "rnn#equation",
    "tanh_on_hidden_only": "rnn#equation",
    "biases_after_tanh": "rnn#equation",
    "biases_after_tanh~ih": "",
    "biases_after_tanh~hh": "",
    "tanh_twice": "rnn#equation",
    "tanh_by_sigmoid": "rnn#equation",
    "hard_tanh": "rnn#equation",
    "softmax_for_tanh": "rnn#equation",
    "parts_multiplied": "rnn#equation",
    "recurrent_weights_missing": "rnn#equation",
    "old_h_added": "rnn#equation",
    "state_detached": "through_time#long-chains",
    "weights_detached": "through_time#long-chains",
    "input_detached": "through_time#long-chains",
}
ACTIVATIONS = {
    "tanh_missing": lambda a: a,
    "sigmoid_for_tanh": torch.sigmoid,
    "relu_for_tanh": torch.relu,
    "tanh_twice": lambda a: a.tanh().tanh(),
    "tanh_by_sigmoid": lambda a: 2 * a.sigmoid() - 1,
    "hard_tanh": lambda a: a.clamp(-1, 1),
    "softmax_for_tanh": lambda a: a.softmax(dim=-1),
}
STEP_EXCLUSIVE = (
    frozenset(ACTIVATIONS),
    frozenset({"tanh_missing", "biases_after_tanh"}),
    frozenset(
        {"tanh_on_each_part", "tanh_on_input_only", "tanh_on_hidden_only", "biases_after_tanh", "parts_multiplied"}
    ),
    frozenset({"tanh_missing", "tanh_on_each_part", "tanh_on_input_only", "tanh_on_hidden_only"}),
    frozenset({"bias_ih_missing", "bias_ih_twice", "no_bias"}),
    frozenset({"bias_hh_missing", "bias_hh_twice", "no_bias", "one_bias"}),
    frozenset(
        {
            "recurrent_weights_transposed",
            "view_for_transpose",
            "hidden_ignored",
            "recurrent_weights_missing",
            "concatenated_in_other_order",
            "weights_transposed",
        }
    ),
    frozenset({"view_for_transpose", "input_ignored", "concatenated_in_other_order"}),
    frozenset({"input_ignored", "input_detached"}),
)


def step_reference(mistakes):
    """Return the new h."""
    activated = next((ACTIVATIONS[name] for name in ACTIVATIONS if name in mistakes), torch.tanh)

    def rnn_step(x, h, weight_ih, weight_hh, bias_ih, bias_hh):
        given_weights = weight_ih, weight_hh, bias_ih, bias_hh
        if "weights_detached" in mistakes:
            weight_ih, weight_hh, bias_ih, bias_hh = (
                weight if weight is None else weight.detach() for weight in given_weights
            )
        if "state_detached" in mistakes:
            h = h.detach()
        if "input_detached" in mistakes:
            x = x.detach()

        viewed = mistakes & {"view_for_transpose", "view_for_transpose~ih"}
        from_x = x @ (weight_ih.reshape(weight_ih.T.shape) if viewed else weight_ih.T)
        from_h = h @ (weight_hh if mistakes & {"recurrent_weights_transposed", "view_for_transpose"} else weight_hh.T)
        if "recurrent_weights_missing" in mistakes:
            from_h = h
        if "concatenated_in_other_order" in mistakes:
            from_x, from_h = torch.cat([h, x], dim=-1) @ torch.cat([weight_ih, weight_hh], dim=-1).T, 0 * from_h
        if "concatenated_in_other_order~weights" in mistakes:
            from_x, from_h = torch.cat([x, h], dim=-1) @ torch.cat([weight_hh, weight_ih], dim=-1).T, 0 * from_h
        from_x, from_h = from_x * ("input_ignored" not in mistakes), from_h * ("hidden_ignored" not in mistakes)
        b_ih, b_hh = (
            0 if bias is None or f"{name}_missing" in mistakes else 2 * bias if f"{name}_twice" in mistakes else bias
            for name, bias in (("bias_ih", bias_ih), ("bias_hh", bias_hh))
        )

        if "biases_after_tanh" in mistakes:
            new = activated(from_x + from_h) + b_ih + b_hh
        elif "tanh_on_each_part" in mistakes:
            new = activated(from_x + b_ih) + activated(from_h + b_hh)
        elif "tanh_on_input_only" in mistakes:
            new = activated(from_x + b_ih) + from_h + b_hh
        elif "tanh_on_hidden_only" in mistakes:
            new = from_x + b_ih + activated(from_h + b_hh)
        elif "parts_multiplied" in mistakes:
            new = activated((from_x + b_ih) * (from_h + b_hh))
        elif "biases_after_tanh~ih" in mistakes:
            new = activated(from_x + from_h + b_hh) + b_ih
        elif "biases_after_tanh~hh" in mistakes:
            new = activated(from_x + b_ih + from_h) + b_hh
        else:
            new = activated(from_x + b_ih + from_h + b_hh)
        if "old_h_added" in mistakes:
            new = new + h
        return (new,) if "state_in_tuple" in mistakes else new

    return rnn_step


def step_probes(draw):
    def probe(name, draw, batch, inputs, hidden, zero=False, calls=1):
        h = torch.zeros(batch, hidden, dtype=torch.float64) if zero else draw(batch, hidden)
        tensors = {"x": draw(batch, inputs), "h": h} | weights(draw, inputs, hidden)
        return Probe(name, tensors, gradients=tuple(tensors), calls=calls)

    return [
        probe("one_number", draw.few, 1, 1, 1),
        probe("batch_1", draw.few, 1, 3, 2),
        probe("zero_state", draw.few, 2, 1, 2, zero=True),
        probe("several", draw, 3, 4, 5),
        probe("several", draw, 2, 6, 3, calls=2),
    ]


def step_truth(x, h, *weights):
    return torch.rnn_tanh_cell(x, h, *weights)


QUESTION = Question(
    name="rnn_step",
    assignment="rnn",
    task=1,
    points=2,
    place="rnn#equation",
    call=Function(("x", "h", *WEIGHTS), "h_new"),
    truth=step_truth,
    reference=step_reference,
    mistakes=STEP_MISTAKES | {"state_in_tuple": "complaints#tuples"},
    probes=step_probes,
    exclusive=STEP_EXCLUSIVE,
    axes={"h_new": ("batch", "unit"), "h": ("batch", "unit"), "x": ("batch", "feature")},
)
