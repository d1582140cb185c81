"""Numbers of the questions about *Memory, measured*."""

import math

from book.questions.parts import Numbers


def bits(rng):
    symbols, bits = rng.choice((10, 20, 25, 40)), rng.choice((2, 3))
    mistakes = {
        "guessing": 100 / symbols,
        "bits_as_symbols": 100 * bits / symbols,
        "bits_guessed": 100 / 2**bits,
        "share_of_bits": 100 * bits / math.log2(symbols),
    }
    return Numbers(100 * 2**bits / symbols, mistakes, {"symbols": symbols, "bits": bits}, digits=1)


def loss_of_guessing(rng):
    symbols = rng.choice((3, 4, 5, 6, 8, 10, 12, 20))
    mistakes = {
        "accuracy": 1 / symbols,
        "in_bits": math.log2(symbols),
        "perplexity": float(symbols),
        "of_all_others": -math.log(1 - 1 / symbols),
    }
    return Numbers(math.log(symbols), mistakes, {"symbols": symbols}, digits=2)
