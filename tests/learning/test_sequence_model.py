"""Tests of the model around a recurrent layer: its computation, and the errors for parts that do not fit."""

import pytest
import torch
from torch import nn
from torch.nn import functional as F

import companion
from companion.learning.sequence_model import OneHot, SequenceModel, evaluation_of


@pytest.mark.parametrize("source", [companion, nn], ids=["companion", "nn"])
@pytest.mark.parametrize(("name", "options"), [("RNN", {}), ("GRU", {}), ("LSTM", {"proj_size": 3}), ("LSTM", {})])
def test_model_continues_from_a_state(source, name, options):
    layer = getattr(source, name)(4, 5, 2, dtype=torch.float64, **options)
    model = SequenceModel(source.Embedding(6, 4, dtype=torch.float64), layer, 7)
    indices = torch.randint(6, (8, 3))
    outputs, state = model(indices)
    expected, end = layer(F.embedding(indices, model.embedding.weight))
    expected = expected @ model.linear.weight.T + model.linear.bias
    assert outputs.shape == (8, 3, 7) and model.linear.weight.dtype == torch.float64
    torch.testing.assert_close((outputs, state), (expected, end))
    first, between = model(indices[:5])
    second, after = model(indices[5:], between)
    torch.testing.assert_close((torch.cat([first, second]), after), (outputs, state))


def test_one_hot_is_an_embedding_with_the_identity():
    one_hot = OneHot(5, dtype=torch.float64)
    indices = torch.tensor([[0, 4], [2, 2], [1, 3]])
    assert one_hot(indices).equal(torch.eye(5, dtype=torch.float64)[indices])
    assert OneHot(5)(indices).dtype == torch.float32 and not [*one_hot.parameters()] and repr(one_hot) == "OneHot(5)"
    layer = companion.RNN(5, 3)
    model, vectors = SequenceModel(OneHot(5), layer, 2), SequenceModel(nn.Identity(), layer, 2)
    vectors.linear = model.linear
    assert vectors(OneHot(5)(indices))[0].equal(model(indices)[0])


@pytest.mark.parametrize("source", [companion, nn], ids=["companion", "nn"])
@pytest.mark.parametrize(
    ("embedding", "options", "words"),
    [
        (OneHot(3), {}, "the embedding makes 3 features, the recurrent layer reads 4"),
        (OneHot(4), {"bidirectional": True}, "a bidirectional layer sees the future"),
        (OneHot(4), {"batch_first": True}, "time first here: make the layer with batch_first=False"),
    ],
)
def test_parts_that_do_not_fit_are_refused(source, embedding, options, words):
    with pytest.raises(ValueError, match=words):
        SequenceModel(embedding, source.GRU(4, 5, **options), 2)


@pytest.mark.parametrize("training", [True, False])
def test_evaluation_restores_the_mode(training):
    model = SequenceModel(OneHot(4), nn.GRU(4, 5), 2).train(training)
    model.linear.train(not training)  # a part may have another mode
    with pytest.raises(ZeroDivisionError), evaluation_of(model):
        assert not any(m.training for m in model.modules()) and not torch.is_grad_enabled()
        raise ZeroDivisionError
    assert model.training is model.recurrent.training is training is not model.linear.training
    assert torch.is_grad_enabled()
