"""Test the types of `companion`: mypy accepts a correct program that uses it, and finds wrong calls."""

import inspect
import re
import subprocess
import sys
import typing

import pytest
from torch import nn

import companion
from tests.project.paths import ROOT

RIGHT = """
import torch
from torch import Tensor
from torch.nn.utils.rnn import PackedSequence, pack_sequence

from companion import GRU, LSTM, RNN, Embedding, GatedDeltaNet, LSTMCell, MinGRU, MultiheadAttention, by_hand, compare
from companion.learning.sequence_model import SequenceModel
from companion.learning.text import Vocabulary
from companion.learning.training import evaluate, train
from companion.learning.windows import ConsecutiveWindows, split

vocabulary = Vocabulary("a text to learn from " * 50)
learned_from, held_out = split(vocabulary.encode("a text to learn from " * 50), 0.2)
embedding = Embedding(len(vocabulary), 8, padding_idx=0, dtype=torch.float64)
lstm = by_hand(LSTM(8, 16, num_layers=2, dropout=0.5, dtype=torch.float64))
output, (h_n, c_n) = lstm(embedding(learned_from[:, None]))
packed: PackedSequence = GRU(3, 4, 1, False, bidirectional=True)(pack_sequence([torch.ones(2, 3)]))[0]
states: Tensor = RNN(3, 4, 1, "relu")(torch.ones(5, 2, 3), torch.zeros(1, 2, 4))[1]
h, c = LSTMCell(3, 4)(torch.ones(2, 3), (torch.zeros(2, 4), torch.zeros(2, 4)))
delta = GatedDeltaNet(3, 4, num_heads=2, batch_first=True)
matrices: Tensor = delta(torch.ones(2, 5, 3))[1]
matrices = delta(torch.ones(2, 1, 3), matrices)[1]
weights: Tensor | None = MultiheadAttention(4, 2)(h, h, h, need_weights=True)[1]
total: float = lstm.weight_ih_l0.sum().item() + output.sum().item() + MinGRU(3, 4)(torch.ones(5, 3))[0].sum().item()
same: bool = compare(LSTMCell(3, 4), torch.nn.LSTMCell(3, 4)).ok
model = SequenceModel(embedding, lstm, len(vocabulary))
logits, state = model(learned_from[:9, None])
logits, state = model(learned_from[9:18, None], state)
batches = ConsecutiveWindows(learned_from, 4, 16)
history = train(model, batches, torch.optim.Adam(model.parameters()), 2, held_out=batches, progress=False)
loss: float = evaluate(model, ConsecutiveWindows(held_out, 1, 50)) + history[-1].loss
"""
WRONG = {
    'LSTM(3, 4, dropout="x")': '"str"; expected "float"',
    "LSTM(3, 4, hiden_layers=2)": '"hiden_layers"',
    "lstm((h_n, c_n))": "tuple[Tensor, Tensor]",
}


@pytest.mark.parametrize("name", companion.__all__)
def test_help_begins_with_the_real_signature(name):
    """Check that no public name hides its arguments, and that those with torch's names have torch's arguments."""
    ours, theirs = (getattr(library, name, None) for library in (companion, nn))
    parameters = inspect.signature(ours).parameters
    hidden = {p.name for p in parameters.values() if p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD)}
    assert hidden == ({"call"} if name == "compare" else set())  # `call` is arguments of the modules
    if theirs is not None:
        declared, *_ = [*typing.get_overloads(theirs.__init__), theirs.__init__]
        wanted = [(p.name, p.default) for p in inspect.signature(declared).parameters.values()]
        assert [("self", inspect.Parameter.empty), *((p.name, p.default) for p in parameters.values())] == wanted


@pytest.mark.heavy
def test_mypy_accepts_right_calls_and_finds_wrong_ones(tmp_path):
    program, lines = tmp_path / "program.py", [*RIGHT.splitlines(), *WRONG]
    program.write_text("\n".join(lines) + "\n", encoding="utf-8")
    command = [sys.executable, "-m", "mypy", "--config-file", "pyproject.toml", "--hide-error-context", str(program)]
    output = subprocess.run(command, cwd=ROOT, capture_output=True, text=True).stdout
    errors = re.findall(r"program\.py:(\d+): error: (.*)", output)
    assert [lines[int(number) - 1] for number, _ in errors] == [*WRONG], output
    assert all(part in message for part, (_, message) in zip(WRONG.values(), errors, strict=True)), output
