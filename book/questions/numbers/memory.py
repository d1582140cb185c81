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
