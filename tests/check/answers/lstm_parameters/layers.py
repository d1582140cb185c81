"""Mistakes and answers that the questions about several layers share."""

from companion.check.engine.question import all_questions
from tests.check.answers.lstm.network import LAST, SAY, START, TOP
from tests.check.answers.lstm.step import STEP_WRONG

# The steps of a network are those of `lstm` and `projected`, whose programs make the other mistakes of a step.
SOME_STEPS_WRONG = {name: STEP_WRONG[name] for name in (
    "gates_f_i_g_o", "gates_i_f_o_g", "bias_ih_missing", "bias_hh_missing", "tanh_missing_on_g", "tanh_missing_on_c",
    "c_squashed", "recurrent_weights_transposed", "new_h_too_early",
)}  # fmt: skip

END, CAT, UP = 'end = f"_l{k}" +', "torch.cat(sides, -1)", "if k + 1 < self.L:"
LAYERS_WRONG = {
    "upper_layers_read_input": [(" if k == 0 else R * self.D", ""),
                                ("layers.append(x)", "x = x if k + 1 == self.L else given")],
    "upper_layers_read_c": [("c, on, W", "c, on, top, W"), ("turn(on), *", "turn(on), k + 1 == self.L, *"),
                            (SAY, "said.append((h if top else c) * on[t])")],
    "first_layer_weights_everywhere": [(END, 'end = "_l0" +')],
    "layers_share_weights": [(END, 'end = ("_l1" if k else "_l0") +')],
    "first_state_for_all_layers": [(START, "h, c = h0[d], c0[d]")],
    "upper_layers_start_at_zero": [(START, f"{START}\n                h, c = (h, c) if k == 0 else (0 * h, 0 * c)")],
    "h_n_of_top_layer_only": [(LAST, "torch.stack(hs[-self.D:]), torch.stack(cs[-self.D:])")],
    "h_n_of_first_layer_only": [(LAST, "torch.stack(hs[:self.D]), torch.stack(cs[:self.D])")],
    "h_n_layers_reversed": [(LAST, "torch.stack(hs[::-1]), torch.stack(cs[::-1])")],
    "h_n_joined_by_cat": [(LAST, "torch.cat(hs), torch.cat(cs)")],
    "output_of_first_layer": [(TOP, "y, h_n, c_n = layers[0]")],
    "outputs_of_all_layers": [(TOP, "y, h_n, c_n = torch.cat(layers, 2)")],
    "layers_detached": [(UP, f"{UP}\n                x = x.detach()")],
    "relu_between_layers": [(UP, f"{UP}\n                x = x.relu()")],
    "tanh_between_layers": [(UP, f"{UP}\n                x = x.tanh()")],
    "input_added_between_layers": [
        (f"x = {CAT}", f"below, x = x, {CAT}\n            x = x + below if 0 < k < self.L - 1 else x"),
    ],
}  # fmt: skip

SUM = "a = x @ W.T + b1 + h @ U.T + b2"
IN_FLOAT32 = [(SUM, f"x, h, W, U, b1, b2 = (torch.as_tensor(one).float() for one in (x, h, W, U, b1, b2))\n    {SUM}")]


def libraries(question):
    """Return answers from a library: the truth and the reference."""
    asked = all_questions()[question]
    return [("library_layer", asked.truth), ("library_layer", asked.reference(frozenset()))]
