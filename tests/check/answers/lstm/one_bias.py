"""Answers to the question `one_bias`."""

from tests.check.answers.lstm.pairs import program
from tests.check.answers.lstm.step import ORDERS
from tests.check.lstm_answers import ONE_BIAS

WRONG = {name: [("[1, 0, 2, 3]", str(["figo".index(gate) for gate in order]))] for name,
order in ORDERS.items()} | {
    "weight_ih_order_kept": [('reorder(weights["W"])', 'weights["W"]')],
    "weight_hh_order_kept": [('reorder(weights["U"])', 'weights["U"]')],
    "bias_order_kept": [('reorder(weights["b"])', 'weights["b"]')],
    "bias_loaded_twice": [("torch.zeros(4 * H)", 'reorder(weights["b"])')],
    "bias_lost": [('reorder(weights["b"])', "torch.zeros(4 * H)")],
    "one_bias": [('    new["bias_hh_l0"] = torch.zeros(4 * H)\n', "")],
    "layer_missing_in_names": [("_l0", "")],
    "weights_transposed": [('reorder(weights["W"])', 'reorder(weights["W"]).T'),
                           ('reorder(weights["U"])', 'reorder(weights["U"]).T')],
    "gates_interleaved": [("w[k * H:(k + 1) * H]", "w[k::4]")],
    "matrices_swapped": [('"W"', '"X"'), ('"U"', '"W"'), ('"X"', '"U"')],
}  # fmt: skip

PROGRAM = program("one_bias", ONE_BIAS, WRONG, [], [
    [('reorder(weights["b"])', 'reorder(weights["b"]) * 0.7'), ("torch.zeros(4 * H)",
    '0.3 * reorder(weights["b"])')],
])  # fmt: skip
