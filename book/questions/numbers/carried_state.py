"""Numbers of the questions about *Where a state begins and ends*."""

from book.questions.parts import Numbers


def state_and_gradient(rng):
    window, number = rng.choice((10, 20, 30, 40)), rng.randint(3, 6)
    mistakes = {
        "values_lost": (window, window),
        "gradient_not_stopped": (number * window, number * window),
        "swapped": (window, number * window),
        "one_window_more": (number * window, 2 * window),
    }
    return Numbers((number * window, window), mistakes, {"window": window, "number": number})


def one_document_ends(rng):
    num_layers, hidden_size, batch = rng.randint(3, 5), rng.choice((10, 20, 30)), rng.randint(6, 9)
    mistakes = {
        "only_h": num_layers * hidden_size,
        "only_one_layer": 2 * hidden_size,
        "all_rows": 2 * num_layers * batch * hidden_size,
        "one_layer_of_all_rows": 2 * batch * hidden_size,
    }
    values = {"num_layers": num_layers, "hidden_size": hidden_size, "batch": batch}
    return Numbers(2 * num_layers * hidden_size, mistakes, values)
