"""Test the values that figures refuse, when they are made and later."""

import math
import re

import pytest
import torch
from traitlets import TraitError

from book.tools.draw import KINDS

OWN = "He felt for the bench and sat down on it, and began to laugh."
# figure → (invalid settings, part of the message)
REFUSED = {
    "attention": [
        ({"text": ""}, "1 to 25 words, not 0"), ({"text": " - "}, "not 0"), ({"text": "four cats"}, "'cats'"),
        ({"text": "one " * 26}, "not 26"),
    ],
    "gates": [
        ({"x": 3}, "x"), ({"bias": [0, 0, 0]}, "bias"), ({"bias": [0, 0, 0, 11]}, "bias"), ({"t": 21}, "t"),
        ({"closed": -1}, "closed"), ({"c": "one"}, "c"), ({"line": "x"}, "line"), ({"shown": 7}, "shown"),
    ],
    "guess": [
        ({"passage": 4}, "passage"), ({"tries": [7]}, "tries"), ({"tries": [1] * 99},
        "tries has 99 numbers; passage 1 has "),
        ({"text": OWN, "passage": 2}, "passage must be 1, not 2"), ({"text": "short"},
        "text has 5 characters; from 20 to 200"),
        ({"text": OWN + "ξ"}, "text: not in the vocabulary of 54 characters: 'ξ'"),
    ],
    "learning": [
        ({"gap": 0}, "gap"), ({"kind": "CNN"}, "kind"), ({"bias": 7}, "bias"), ({"learning_rate": 0.5},
        "learning_rate"),
        ({"examples": [[[0, 1], -1]]}, "examples"), ({"examples": [[[], 1]]}, "examples"), ({"examples": [3]},
        "examples"), ({"begin_with": [[1.0], [2.0]]}, "begin_with"),
    ],
    "listening": [
        ({"pulses": [[0.0, 0.0]]}, "pulses must follow one another"),
        ({"pulses": [[0.0, 0.5], [0.4, 0.6]]}, "must follow one another"), ({"pulses": [[0.0]]}, "pulses"),
        ({"pulses": [[0.0, 0.5]], "end": 0.5}, "end must be after the last pulse, at 0.5 s, not at 0.5"),
        ({"pulses": [[k, k + 0.5] for k in range(401)]}, "pulses"), ({"kind": "three"}, "kind"), ({"unit": 56}, "unit"),
    ],
    "lookup": [
        ({"place": -1}, "place"), ({"place": 8}, "place"), ({"padding_idx": 1}, "padding_idx"), ({"padding_idx": False},
        "padding_idx"), ({"padding_idx": True}, "padding_idx"),
        ({"text": "helloworl"}, "text"), ({"text": 3}, "text"), ({"weight": [[0, 0, 0]]}, "weight"), ({"weight": [[0,
        0]] * 8}, "weight"),
        ({"weight": [[0, 0, 100]] * 8}, "weight"), ({"weight": [[0, 0, math.nan]] * 8}, "weight"),
        ({"last_step": [0] * 7}, "last_step"),
    ],
    "pairs": [
        ({"writes": [[7, [0] * 4]]}, "writes"), ({"writes": [[0, 2]]}, "writes"), ({"writes": [[0, [3, 0, 0, 0]]]},
        "writes"), ({"writes": [[0, [0] * 3]]}, "writes"), ({"writes": [[0, [0] * 4]] * 11}, "writes"),
        ({"asked": 7}, "asked"), ({"value": [3, 0, 0, 0]}, "value"), ({"alpha": 0.4}, "alpha"), ({"beta": 2.1}, "beta"),
    ],
    "past": [
        ({"text": "a"}, "from 2 to 120"), ({"text": "☃☃"}, "text"), ({"text": "abc", "place": 3},
        "place must be from 1 to 2"), ({"measure": "love"}, "measure"), ({"kinds": ["CNN"]}, "kinds"),
        ({"text": "a" * 121}, "121 characters"),
    ],
    "scan": [
        ({"a": [0.5] * 7}, "a"), ({"b": [3] * 8}, "b"), ({"cuts": [3, 1]}, "cuts"), ({"cuts": [8]}, "cuts"),
        ({"cuts": [2, 2]}, "cuts"), ({"way": "ring"}, "way"), ({"t": 9}, "t"),
    ],
    "shapes": [
        ({"input_size": -1}, "input_size"), ({"input_size": 1025}, "input_size"), ({"hidden_size": 2.5}, "hidden_size"),
        ({"num_layers": 4}, "num_layers"),
        ({"proj_size": -2}, "proj_size"), ({"dropout": 2}, "dropout"), ({"bias": "no"}, "bias"),
        ({"input_layout": "ragged"}, "input_layout"), ({"T": 0}, "T"), ({"N": 101}, "N"),
        ({"lengths": []}, "lengths"), ({"lengths": [1] * 9}, "lengths"), ({"lengths": [101]}, "lengths"),
        ({"marked": "weight_ih_l3"}, "marked"),
    ],
    "shares": [({"gap": 24}, "gap"), ({"gap": 0}, "gap"), ({"scale": 0.1}, "scale"), ({"bias": 6}, "bias"),
    ({"window": 25}, "window"), ({"seed": -1}, "seed")],
    "steps": [
        ({"first": "banan"}, "first"), ({"second": "bananas"}, "second"), ({"first": "cabana"}, "first"),
        ({"t": 0}, "t"), ({"t": 7}, "t"), ({"word": 3}, "word"), ({"factor": 2.1}, "factor"),
        ({"W_ih": [[0.5] * 2] * 2}, "W_ih"), ({"W_hh": [[3.0, 0.0], [0.0, 0.0]]}, "W_hh"),
    ],
    "unrolling": [
        ({"radius": -0.1}, "radius"), ({"radius": 2.1}, "radius"), ({"t": 0}, "t"), ({"t": 51}, "t"),
        ({"nonlinearity": "sigmoid"}, "nonlinearity"), ({"impulse": 0.5}, "impulse"),
        ({"Q": [[1.0]]}, "Q"), ({"Q": (2 * torch.eye(8)).tolist()}, "must be 1, not 2: divide Q by it"),
        ({"Q": torch.zeros(8, 8).tolist()}, "Q"), ({"Q": [[math.nan] * 8] * 8}, "Q"),
    ],
    "writing": [
        ({"temperature": 2.1}, "temperature"), ({"temperature": -0.1}, "temperature"), ({"temperature": math.nan},
        "temperature"), ({"seed": 100}, "seed"), ({"seed": -1}, "seed"),
        ({"unit": -1}, "unit"), ({"unit": 160}, "unit must be from 0 to 159, not 160: the writer has 160 units"),
        ({"language": "ko", "unit": 104}, "from 0 to 103"),
        ({"beginning": ""}, "beginning is empty"), ({"beginning": "ξ"}, "not in the vocabulary of 54 characters: 'ξ'"),
        ({"written": "é"}, "not in the vocabulary"),
        ({"beginning": "a" * 401}, "at most 400"), ({"written": "a" * 2001}, "at most 2000"),
    ],
}  # fmt: skip


def test_every_figure_has_invalid_values():
    assert REFUSED.keys() == KINDS.keys()


@pytest.mark.parametrize("name, values, message", [(name, *row) for name, rows in REFUSED.items() for row in rows])
def test_invalid_values_are_refused(name, values, message):
    with pytest.raises(TraitError, match=re.escape(message)):
        KINDS[name](**values)
    figure = KINDS[name]()
    for trait, value in values.items() if len(values) == 1 and {*values} <= {*figure.traits()} else ():
        with pytest.raises(TraitError, match=re.escape(message)):
            setattr(figure, trait, value)
    assert repr(figure) == f"{KINDS[name].__name__}()"
