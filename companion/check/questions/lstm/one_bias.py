"""Question `one_bias`: convert weights with one bias and the gates in the order f, i, g, o to those of torch."""

import torch

from companion.check.engine.probe import Probe, Unfit, form, kind, values
from companion.check.engine.question import Question
from companion.check.engine.run_answer import copy, note_changes
from companion.check.questions.lstm.step import ORDERS
from companion.check.questions.weights import WEIGHTS

NAMES = tuple(name + "_l0" for name in WEIGHTS)


def one_bias_call(answer, probe, outcome):
    """Call a function from {"W", "U", "b"} to torch's four tensors, of whose biases only the sum counts."""
    passed = {name: copy(tensor) for name, tensor in probe.tensors.items()}
    returned = answer(dict(passed))
    note_changes(probe.tensors, passed, outcome)
    if returned is None:
        raise Unfit("returns_none", name="dict")
    if not hasattr(returned, "keys"):
        raise Unfit("wrong_form", name="dict", got=form(returned))
    returned = dict(returned)
    for name, tensor in returned.items():
        if not isinstance(tensor, torch.Tensor):
            raise Unfit("not_a_tensor", name=name, got=kind(tensor))
    # a name without its layer is accepted
    by_name = {f"{str(name).removesuffix('_l0')}_l0": tensor for name, tensor in returned.items()}
    results = {name: by_name[name] for name in NAMES[:2] if name in by_name}
    biases = {name: by_name[name] for name in NAMES[2:] if name in by_name}
    if len({bias.shape for bias in biases.values()}) == 1:
        results["bias_ih_l0 + bias_hh_l0"] = sum(biases.values())
    else:  # show the bias that does not fit
        results |= {name: bias for name, bias in biases.items() if bias.shape != probe.tensors["b"].shape}
    if set(returned) != set(NAMES):
        raise Unfit("wrong_form", results, name=", ".join(NAMES), got=", ".join(sorted(map(str, returned))))
    outcome.values |= values(results)


def one_bias_truth(weights):
    def turn(rows):
        f, i, g, o = rows.chunk(4)
        return torch.cat([i, f, g, o])

    bias = turn(weights["b"])
    return dict(zip(NAMES, [turn(weights["W"]), turn(weights["U"]), bias, torch.zeros_like(bias)]))


ONE_BIAS_MISTAKES = {
    "gates_f_i_g_o": "lstm#wrong-order",
    "weight_ih_order_kept": "lstm#wrong-order",
    "weight_hh_order_kept": "lstm#wrong-order",
    "bias_order_kept": "lstm#wrong-order",
    "bias_loaded_twice": "lstm#exercise-one-bias",
    "bias_lost": "lstm#exercise-one-bias",
    "one_bias": "lstm#two-biases",
    "layer_missing_in_names": "lstm#from-cell-to-layer",
    "weights_transposed": "lstm#one-product",
    "gates_interleaved": "lstm#one-product",
    "matrices_swapped": "lstm#two-biases",
} | dict.fromkeys(ORDERS, "lstm#wrong-order")


def one_bias_reference(mistakes):
    order = next((ORDERS[name] for name in mistakes if name in ORDERS), "ifgo")

    def turn(rows, name):
        if f"{name}_order_kept" in mistakes:
            return rows
        if "gates_interleaved" in mistakes:
            blocks = rows.reshape(-1, 4, *rows.shape[1:]).unbind(1)
        else:
            blocks = rows.chunk(4)
        gates = dict(zip("figo", blocks))
        return torch.cat([gates[gate] for gate in order])

    def one_bias(weights):
        swapped = "matrices_swapped" in mistakes
        keys = {"weight_ih": "U" if swapped else "W", "weight_hh": "W" if swapped else "U", "bias": "b"}
        tensors = {name: turn(weights[key], name) for name, key in keys.items()}
        bias = tensors.pop("bias")
        if "weights_transposed" in mistakes:
            tensors = {name: weight.T for name, weight in tensors.items()}
        tensors["bias_ih"] = bias * ("bias_lost" not in mistakes)
        if "one_bias" not in mistakes:
            tensors["bias_hh"] = bias * ("bias_loaded_twice" in mistakes)
        ending = "" if "layer_missing_in_names" in mistakes else "_l0"
        return {name + ending: tensor for name, tensor in tensors.items()}

    return one_bias


def one_bias_probes(draw):
    def probe(name, draw, inputs, hidden):
        return Probe(name, {"W": draw(4 * hidden, inputs), "U": draw(4 * hidden, hidden), "b": draw(4 * hidden)})

    return [probe("one_number", draw.few, 1, 1), probe("several", draw.few, 1, 2), probe("several", draw, 3, 5)]


QUESTION = Question(
    name="one_bias",
    assignment="lstm",
    task=4,
    points=2,
    place="lstm#exercise-one-bias",
    call=one_bias_call,
    truth=one_bias_truth,
    reference=one_bias_reference,
    mistakes=ONE_BIAS_MISTAKES,
    probes=one_bias_probes,
    exclusive=(
        frozenset([*ORDERS, "gates_interleaved"]),
        *(frozenset({*ORDERS, f"{name}_order_kept"}) for name in ("weight_ih", "weight_hh", "bias")),
        frozenset({"bias_loaded_twice", "bias_lost", "one_bias"}),
        frozenset({"bias_lost", "bias_order_kept"}),
    ),
    axes=dict.fromkeys(NAMES[:2], ("row", "feature")) | {"bias_ih_l0 + bias_hh_l0": ("row",)},
)
