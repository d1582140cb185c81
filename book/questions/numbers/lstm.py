"""Numbers of the questions about *LSTM*."""

from book.questions.parts import Numbers


def cell_state_by_hand(rng):
    i, f, o = (tenths / 10 for tenths in rng.sample((2, 3, 5, 6, 9), 3))  # no two add up to 1
    g, c = (tenths / 10 for tenths in rng.sample(range(2, 10), 2))
    mistakes = {
        "gates_f_i_g_o": i * c + f * g,
        "coupled_gates": f * c + (1 - f) * g,
        "forget_gate_missing": c + i * g,
        "input_gate_missing": f * c + g,
        "output_gate_on_c": o * (f * c + i * g),
    }
    return Numbers(f * c + i * g, mistakes, {"i": i, "f": f, "o": o, "g": g, "c": c}, digits=2)


def forget_rows(rng):
    input_size, hidden_size = rng.sample(range(3, 13), 2)
    mistakes = {
        "gates_f_i_g_o": f"`[:{hidden_size}]`",
        "candidate": f"`[{2 * hidden_size}:{3 * hidden_size}]`",
        "gates_interleaved": "`[1::4]`",
        "counted_by_inputs": f"`[{input_size}:{2 * input_size}]`",
    }
    right = f"`[{hidden_size}:{2 * hidden_size}]`"
    return Numbers(right, mistakes, {"input_size": input_size, "hidden_size": hidden_size})
