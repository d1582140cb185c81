"""Evidence that `DeltaMixer` computes what the layer of Qwen3-Next in the package transformers computes.

    _build/outside/bin/python benchmarks/evidence_released.py

`make outside` makes that environment. Both layers get the same random weights; the runs are the rows of
`companion.compare`. Where transformers is not installed, a page shows these rows. Output:
companion/learning/evidence/released.json.
"""

import dataclasses

import torch
from torch import nn

import companion
from companion.layers.released import released_weights
from companion.learning import evidence

NAME, VERSION = "released", 1  # increase when the program compares something else
SIZES = 32, 32, 4, 2, 8, 8


class Output(nn.Module):
    """A layer without its state, which the layer of transformers stores in another way."""

    def __init__(self, layer):
        super().__init__()
        self.layer = layer

    def forward(self, x):
        return self.layer(x)[0]


def compared():
    """Return the comparison. Needs transformers."""
    from transformers import Qwen3NextConfig, logging
    from transformers.models.qwen3_next.modeling_qwen3_next import Qwen3NextGatedDeltaNet

    logging.set_verbosity_error()
    _, hidden_size, *numbers = SIZES
    names = "linear_num_value_heads", "linear_num_key_heads", "linear_key_head_dim", "linear_value_head_dim"
    config = Qwen3NextConfig(hidden_size=hidden_size, **dict(zip(names, numbers, strict=True)))
    qwen = Qwen3NextGatedDeltaNet(config, 0)

    class Theirs(companion.DeltaMixer):
        def forward(self, x, state=None):
            weights = released_weights(self, "qwen3_next")
            return torch.func.functional_call(qwen, weights, x.transpose(0, 1)).transpose(0, 1), None

    torch.manual_seed(0)
    pair = [Output(kind(*SIZES)) for kind in (companion.DeltaMixer, Theirs)]
    return companion.compare(*pair, torch.randn(20, 3, SIZES[0]))


if __name__ == "__main__":
    rows = compared()
    print(rows)
    evidence.store(NAME, VERSION, [dataclasses.asdict(row) for row in rows])
