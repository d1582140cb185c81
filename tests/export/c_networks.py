"""Compile models with `cc`, and run them: the helpers of `test_c.py`."""

import ctypes
import shutil
import subprocess

import pytest
import torch
from torch import nn

import companion
from companion.export.c import to_c
from companion.learning.sequence_model import OneHot, SequenceModel

FLAGS = "-std=c99", "-O2", "-Wall", "-Wextra", "-Werror", "-pedantic"
KINDS = {
    "LSTM": companion.LSTM,
    "nn.LSTM": nn.LSTM,
    "GRU": companion.GRU,
    "nn.GRU": nn.GRU,
    "MinGRU": companion.MinGRU,
}
EMBEDDINGS = "Embedding", "nn.Embedding", "OneHot", "Identity"
# It shows the tests what the file keeps to itself.
WRAPPER = """
#include "network.c"
unsigned long memory(void);
float sigmoid_at(float x);
unsigned long memory(void) { return sizeof(struct network_state); }
float sigmoid_at(float x) { return sigmoid(x); }
"""
TANH = "float tanh_at(float x);\nfloat tanh_at(float x) { return tanh_of(x); }\n"
GUARD = b"guard" * 8


def compile_c(folder, name, *flags):
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.fail(
            "these tests compile C and found no cc. Install a compiler, on Debian: apt-get install gcc libc6-dev"
        )
    result = folder / name.replace(".c", ".out")
    process = subprocess.run([compiler, *FLAGS, *flags, "-o", result, folder / name], capture_output=True, text=True)
    assert not process.returncode, process.stderr
    return result


class Network:
    """A model as a compiled library, with one state, in memory that begins as nan and ends with a guard."""

    def __init__(self, model, folder, int8=False):
        folder.mkdir(exist_ok=True)
        self.costs = to_c(model, folder / "network.c", int8=int8)
        text = (folder / "network.c").read_text(encoding="utf-8")
        (folder / "wrapper.c").write_text(WRAPPER + (TANH if "tanh_of" in text else ""), encoding="utf-8")
        self.library = ctypes.CDLL(str(compile_c(folder, "wrapper.c", "-shared", "-fPIC")))
        self.library.memory.restype = ctypes.c_ulong
        self.num_outputs = model.linear.out_features
        self.new_state()

    def new_state(self):
        content = b"\xff" * self.costs.memory + GUARD
        self.state = ctypes.create_string_buffer(content, len(content))
        self.library.network_reset(self.state)

    def step(self, x):
        """Return the outputs of one step. x: a number, or a vector (INPUTS)."""
        x = ctypes.c_int(x.item()) if x.dim() == 0 else (ctypes.c_float * len(x))(*x.tolist())
        outputs = (ctypes.c_float * (self.num_outputs + 1))(*[float("nan")] * self.num_outputs, 7)
        self.library.network_step(self.state, x, outputs)
        assert outputs[self.num_outputs] == 7 and self.state.raw.endswith(GUARD)
        return torch.tensor(outputs[: self.num_outputs])

    def run(self, inputs):
        return torch.stack([self.step(x) for x in inputs])

    def function(self, name, x):
        """Return a function of the file at each number of a tensor."""
        call = getattr(self.library, name)
        call.argtypes, call.restype = [ctypes.c_float], ctypes.c_float
        return torch.tensor([call(number) for number in x.tolist()])


def new_model(kind, embedding, input_size=3, hidden_size=4, num_outputs=5, scale=1.0, **options):
    """Return a model whose weights are normal, so that the gates open and close."""
    make = {
        "Embedding": lambda: companion.Embedding(6, input_size),
        "nn.Embedding": lambda: nn.Embedding(6, input_size),
        "OneHot": lambda: OneHot(input_size),
        "Identity": nn.Identity,
    }
    torch.manual_seed(0)
    model = SequenceModel(make[embedding](), KINDS[kind](input_size, hidden_size, **options), num_outputs)
    for parameter in model.parameters():
        nn.init.normal_(parameter, std=scale)
    return model.eval()


def inputs_of(model, steps=50):
    if isinstance(model.embedding, nn.Identity):
        return torch.randn(steps, model.recurrent.input_size)
    return torch.randint(model.embedding.num_embeddings, (steps,))


def outputs_of(model, inputs):
    with torch.no_grad():
        batch = 0 if model.recurrent.batch_first else 1
        return model(inputs.unsqueeze(batch))[0].squeeze(batch)
