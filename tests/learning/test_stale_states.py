"""Test what the page on carried states says of an old network's states: they help only if it had learned the task."""

import copy

import torch
from torch import nn

from companion.learning.sequence_model import OneHot, SequenceModel
from companion.learning.tasks import Cups, accuracy
from companion.learning.training import train


def test_states_of_a_network_that_had_not_learned_help_no_more_than_zeros():
    torch.manual_seed(0)
    task = Cups(2, 20, batch_size=32, batches=60)
    model = SequenceModel(OneHot(2, torch.float64), nn.LSTM(2, 32, dtype=torch.float64), 2)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.03)
    moves, _ = next(Cups(2, 40, batch_size=200).epoch(1))
    networks = [copy.deepcopy(model)]
    for _ in range(3):
        train(model, task, optimizer, 1, progress=False)
        networks.append(copy.deepcopy(model))
    assert accuracy(networks[0], task) < 0.6 and accuracy(model, task) > 0.99
    with torch.no_grad():
        right = model(moves)[0][-1].softmax(-1)

        def distance(state):
            return (model(moves[20:], state)[0][-1].softmax(-1) - right).abs().sum(-1).mean().item() / 2

        from_zeros, unlearned, learned = distance(None), *(distance(old(moves[:20])[1]) for old in networks[::2])
    assert unlearned > 0.9 * from_zeros > 0.4
    assert learned < 0.01
