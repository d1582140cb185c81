"""Numbers of the questions about *RNN*."""

from book.questions.from_checker import by_hand
from book.questions.parts import Numbers, count
from companion import RNN


def parameters(rng):
    input_size, hidden_size = rng.sample(range(3, 30), 2)
    right = count(RNN(input_size, hidden_size))
    mistakes = {
        "one_bias": right - hidden_size,
        "no_bias": right - 2 * hidden_size,
        "no_recurrent_weights": right - hidden_size**2,
        "as_an_lstm": 4 * right,
    }
    return Numbers(right, mistakes, {"input_size": input_size, "hidden_size": hidden_size})


def state_by_hand(rng):
    return by_hand(rng, "rnn_step", "h_new", ["tanh_missing", "bias_hh_missing", "recurrent_weights_missing"])
