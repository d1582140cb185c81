"""Tests of blocks of layers: their equations, states in pieces, errors, and learning."""

import copy
import pickle

import pytest
import torch
from torch.nn.utils.rnn import pack_sequence, unpack_sequence

from companion import GRU, LSTM, MLSTM, Blocks, DeltaNet, Embedding, MinGRU
from companion.learning.generation import generate
from companion.learning.sequence_model import SequenceModel
from companion.learning.text import Vocabulary
from companion.learning.training import train
from companion.learning.windows import ConsecutiveWindows
from tests.layers.torch_comparison import flat, near

float64 = {"dtype": torch.float64}


def blocks_of(size=4, **options):
    return Blocks(layer(size, size, **options) for layer in (LSTM, DeltaNet, MLSTM, MinGRU))


def test_blocks_equal_their_equations_also_in_pieces():
    torch.manual_seed(0)
    blocks, x = blocks_of(**float64), torch.randn(6, 2, 4, **float64)
    assert len({*blocks.norms}) == len({*blocks.networks}) == 4
    output, end = blocks(x)
    expected, ends = x, []
    for layer, norm, network in zip(blocks.layers, blocks.norms, blocks.networks, strict=True):

        def normed(x, norm):
            return (x - x.mean(-1, keepdim=True)) / (
                x.var(-1, correction=0, keepdim=True) + 1e-5
            ).sqrt() * norm.weight + norm.bias

        made, state = layer(normed(expected, norm))
        expected = expected + made
        first, _, second = network[1:]
        z = normed(expected, network[0]) @ first.weight.T + first.bias
        assert first.weight.shape == (8, 4)
        expected = expected + (z * (1 + torch.erf(z / 2**0.5)) / 2) @ second.weight.T + second.bias
        ends.append(state)
    near([output, *flat(end)], [expected, *flat(ends)])
    assert [len(s) if isinstance(s, tuple) else 1 for s in end] == [2, 1, 3, 1]
    first, state = blocks(x[:2])
    second, state = blocks(x[2:], state)
    near([torch.cat([first, second]), *flat(state)], [output, *flat(end)])
    near([blocks(x[:, 1])[0]], [output[:, 1]])
    twin = blocks_of(**float64)
    twin.load_state_dict(blocks.state_dict())
    for other in (twin, copy.deepcopy(blocks), pickle.loads(pickle.dumps(blocks))):
        with torch.device("meta"):  # all tensors are on the input's device
            result = other(x)
        near(flat(result), flat((output, end)))
    assert {p.device.type for p in blocks_of(device="meta").parameters()} == {"meta"}
    sequences = [x[:n, row] for n, row in ((3, 1), (6, 0))]
    packed = pack_sequence(sequences, enforce_sorted=False)
    output, end = blocks(packed)
    # the layers of torch's form have their states as (layers, B, size), the others as (B, *)
    (h, c), delta, mlstm, gru = end
    for k, sequence in enumerate(sequences):
        alone, state = blocks(sequence)
        near([unpack_sequence(output)[k]], [alone])
        near([h[:, k], c[:, k], delta[k], *(s[k] for s in mlstm), gru[:, k]], flat(state))
    # the size of the projection counts, not hidden_size
    assert Blocks([LSTM(4, 7, proj_size=4)])(torch.randn(3, 2, 4))[0].shape == (3, 2, 4)


def test_wrong_layers_and_inputs_are_refused():
    wrong = (
        [],
        [GRU(4, 4), GRU(5, 5)],
        [GRU(4, 5)],
        [GRU(4, 4, batch_first=True)],
        [GRU(4, 4, bidirectional=True)],
        [LSTM(4, 4, proj_size=2)],
    )
    for layers in wrong:
        with pytest.raises(
            ValueError,
            match="layers must have one size, that of what they read and make, one direction, and time first",
        ):
            Blocks(layers)
    blocks, x = blocks_of(), torch.randn(5, 2, 4)
    state = blocks(x)[1]
    for error, words, *arguments in (
        (ValueError, "Blocks: input is torch.float64, the weights are torch.float32", x.double()),
        (RuntimeError, "Expected 4, got 1", x[..., :1]),
        (ValueError, "Blocks: Expected 4 states, one for each layer, got 3", x, state[:3]),
        (RuntimeError, "Expected sequence length to be larger than 0", x[:0]),
        (ValueError, "2D or 3D", x[None]),
        (RuntimeError, "MLSTM: Expected state of", x, (state[0], state[1], state[2][:2], state[3])),
    ):
        with pytest.raises(error, match=words):
            blocks(*arguments)


@pytest.mark.parametrize("kind", [DeltaNet, MLSTM, Blocks])
def test_model_with_the_layer_learns_and_generates(kind):
    """Check them in place of an LSTM, with carried states of tensors, tuples, or tuples of tuples."""
    torch.manual_seed(0)
    text = "a rose is a rose is a rose. " * 24
    vocabulary = Vocabulary(text)
    recurrent = Blocks([DeltaNet(16, 16, 2), MLSTM(16, 16, 2)]) if kind is Blocks else kind(16, 16, 2)
    model = SequenceModel(Embedding(len(vocabulary), 16), recurrent, len(vocabulary))
    batches = ConsecutiveWindows(vocabulary.encode(text), 4, 16)
    history = train(model, batches, torch.optim.Adam(model.parameters(), lr=0.02), 6, progress=False)
    assert history[-1].loss < 0.5 * history[0].loss
    written = generate(model, vocabulary, "a rose is ", 30, temperature=0)
    assert written.startswith("a rose is ") and len(written) == 40
