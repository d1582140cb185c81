"""Numbers of the questions about *GRU*."""

from book.questions.parts import Numbers, count, few
from companion import GRU, LSTM, RNN


def parameters(rng):
    input_size, hidden_size = rng.sample(range(3, 20), 2)
    right, rnn = count(GRU(input_size, hidden_size)), count(RNN(input_size, hidden_size))
    mistakes = {
        "as_an_lstm": count(LSTM(input_size, hidden_size)),
        "two_gates": 2 * rnn,
        "one_bias": right - 3 * hidden_size,
    }
    return Numbers(right, mistakes, {"rnn": rnn, "input_size": input_size, "hidden_size": hidden_size})


def step_by_hand(rng):
    r, z, n, h = abs(few(rng)), abs(few(rng)), few(rng), few(rng)
    mistakes = {
        "update_gate_inverted": z * n + (1 - z) * h,
        "old_content_not_gated": (1 - z) * n + h,
        "reset_state_mixed": (1 - z) * n + z * r * h,
        "state_mixed_by_r": (1 - r) * n + r * h,
    }
    return Numbers((1 - z) * n + z * h, mistakes, {"r": r, "z": z, "n": n, "h": h}, digits=2)
