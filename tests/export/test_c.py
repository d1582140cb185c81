"""Test the networks in C: each is compiled, and its outputs are compared with those of the model in torch."""

import re
import subprocess
from types import SimpleNamespace

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn

import companion
from companion.export.c import Costs, costs_of, quantized, to_c
from companion.export.c_parts import parts_of, to_int8, weights_of
from companion.layers.minimal import MinGRUStep
from companion.learning import small_writers, writer
from companion.learning.sequence_model import OneHot
from companion.learning.text import load_text
from companion.learning.training import evaluate, perplexity
from companion.learning.windows import ConsecutiveWindows, split
from tests.export.c_networks import EMBEDDINGS, KINDS, Network, compile_c, inputs_of, new_model, outputs_of


def check_equal(model, folder, int8):
    inputs = inputs_of(model)
    network = Network(model, folder, int8)
    expected = outputs_of(quantized(model) if int8 else model, inputs)
    torch.testing.assert_close(network.run(inputs), expected, atol=1e-5, rtol=1e-5)
    assert network.library.memory() == network.costs.memory


@pytest.mark.parametrize("int8", [False, True], ids=["float32", "int8"])
@pytest.mark.parametrize("embedding", EMBEDDINGS)
@pytest.mark.parametrize(("kind", "layers"), [("LSTM", 2), ("nn.GRU", 3), ("MinGRU", 2)])
def test_outputs_are_those_of_the_model(kind, layers, embedding, int8, tmp_path):
    check_equal(new_model(kind, embedding, num_layers=layers, scale=0.7), tmp_path / "c", int8)


sizes = st.integers(1, 9)


@settings(max_examples=15)
@given(
    st.sampled_from(sorted(KINDS)), st.sampled_from(EMBEDDINGS), sizes, sizes, sizes, st.integers(1, 3),
    st.booleans(), st.booleans(),
)  # fmt: skip
def test_sizes_layers_and_biases(tmp_path_factory, kind, embedding, inputs, hidden, outputs, layers, bias, int8):
    model = new_model(kind, embedding, inputs, hidden, outputs, 0.7, num_layers=layers, bias=bias)
    check_equal(model, tmp_path_factory.mktemp("c"), int8)


@pytest.mark.parametrize("int8", [False, True], ids=["float32", "int8"])
@pytest.mark.parametrize(
    "change",
    [
        lambda model: model.double(),
        lambda model: companion.by_hand(model),
        lambda model: setattr(model, "linear", nn.Linear(4, 5, bias=False)),
        lambda model: setattr(model.recurrent, "batch_first", True),
        lambda model: setattr(model.recurrent, "dropout", 0.5),
        lambda model: [nn.init.zeros_(weight[1]) for weight in model.parameters()],
    ],
    ids=["float64", "by hand", "no bias of the outputs", "batch first", "dropout", "rows of zeros"],
)
def test_models_that_differ(change, int8, tmp_path):
    model = new_model("LSTM", "Embedding", num_layers=2)
    change(model)
    inputs = inputs_of(model)
    expected = outputs_of(quantized(model) if int8 else model, inputs).float()
    torch.testing.assert_close(Network(model, tmp_path / "c", int8).run(inputs), expected, atol=1e-5, rtol=1e-5)


def test_any_object_with_the_three_parts_is_a_model(tmp_path):
    model = new_model("LSTM", "Embedding")
    parts = SimpleNamespace(embedding=model.embedding, recurrent=model.recurrent, linear=model.linear)
    assert to_c(parts, tmp_path / "a.c") == to_c(model.train(), str(tmp_path / "b.c"))
    assert (tmp_path / "a.c").read_bytes() == (tmp_path / "b.c").read_bytes()


@pytest.mark.parametrize("kind", ["LSTM", "GRU", "MinGRU"])
def test_states_are_carried_reset_and_separate(kind, tmp_path):
    model = new_model(kind, "Embedding", num_layers=2)
    network = Network(model, tmp_path / "c")
    first, second = inputs_of(model, 20), inputs_of(model, 20)
    expected = outputs_of(model, first), outputs_of(model, second)
    # two sequences in turn, each with its own state
    outputs, states = ([], []), []
    for _ in outputs:
        network.new_state()
        states.append(network.state)
    for pair in zip(first, second):
        for k, x in enumerate(pair):
            network.state = states[k]
            outputs[k].append(network.step(x))
    for k in range(2):
        torch.testing.assert_close(torch.stack(outputs[k]), expected[k], atol=1e-5, rtol=1e-5)
    # the same state, used again
    network.library.network_reset(network.state)
    torch.testing.assert_close(network.run(first), expected[0], atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("int8", [False, True], ids=["float32", "int8"])
@pytest.mark.parametrize("kind", ["LSTM", "GRU", "MinGRU"])
def test_extreme_inputs(kind, int8, tmp_path):
    model = new_model(kind, "Identity", num_layers=2)
    inputs = torch.tensor([[1e4, -1e4, 1e4], [-1e4, 1e4, 1e4], [0, 0, 0], [1e-30, -1e-30, 0], [3e4, 3e4, 3e4]])
    outputs, expected = (
        Network(model, tmp_path / "c", int8).run(inputs),
        outputs_of(quantized(model) if int8 else model, inputs),
    )
    assert outputs.isfinite().all()
    torch.testing.assert_close(outputs, expected, atol=1e-5, rtol=1e-5)


def test_sigmoid_and_tanh(tmp_path):
    """Check them at 40,000 numbers, where they saturate, at infinities and at nan."""
    network = Network(new_model("LSTM", "Embedding"), tmp_path / "c")
    far = torch.tensor([-3e38, -1e4, -89, -88.5, -87, 87, 88.5, 89, 1e4, 3e38, float("inf"), -float("inf")])
    x = torch.cat([torch.linspace(-100, 100, 20_000), torch.linspace(-3, 3, 20_000), far])
    for name, function in ("sigmoid_at", torch.sigmoid), ("tanh_at", torch.tanh):
        assert (network.function(name, x) - function(x.double())).abs().max() < 1.5e-7
        assert network.function(name, torch.tensor([float("nan")])).isnan().all()


def test_a_program_with_the_file_needs_no_library(tmp_path):
    model = new_model("GRU", "Embedding")
    to_c(model, tmp_path / "network.c", int8=True)
    (tmp_path / "program.c").write_text(
        """
        #include <stdio.h>
        #include "network.c"
        int main(void)
        {
            struct network_state state;
            float outputs[OUTPUTS];
            network_reset(&state);
            for (int index = 0; index < EMBEDDINGS; index++) {
                network_step(&state, index, outputs);
                printf("%.9g\\n", outputs[0]);
            }
            return 0;
        }
        """
    )
    program = compile_c(tmp_path, "program.c")
    printed = subprocess.run([program], capture_output=True, text=True, check=True).stdout
    expected = outputs_of(quantized(model), torch.arange(6))[:, 0]
    torch.testing.assert_close(torch.tensor([*map(float, printed.split())]), expected, atol=1e-5, rtol=1e-5)
    text = (tmp_path / "network.c").read_text(encoding="utf-8")
    assert re.findall("#include (.*)", text) == ["<stdint.h>"]


def arrays(path):
    """Return name → (type, number of elements, the elements) of the arrays in a file."""
    text = re.sub(r"/\*.*?\*/", "", path.read_text(encoding="utf-8"), flags=re.DOTALL)
    found = re.findall(r"static const (float|int8_t) (\w+)\[(\d+)\] = \{(.*?)\};", text, re.DOTALL)
    return {
        name: (kind, int(size), [float(number.strip(" \nf")) for number in body.split(",") if number.strip()])
        for kind, name, size, body in found
    }


def test_float32_comes_back_exactly(tmp_path):
    model = new_model("GRU", "Embedding")
    with torch.no_grad():
        model.linear.bias.copy_(torch.tensor([0.0, 1.0, 1e-42, 3.4e38, 1 / 3]))
        # just above a power of ten, eight digits are too few
        model.linear.weight.copy_(torch.linspace(0.01, 0.0101, 20).view(5, 4))
    to_c(model, tmp_path / "network.c")
    read = arrays(tmp_path / "network.c")
    weights = weights_of(parts_of(model))
    assert [*read] == [*weights]
    for name, weight in weights.items():
        kind, size, numbers = read[name]
        assert (kind, size) == ("float", weight.numel())
        assert torch.equal(torch.tensor(numbers, dtype=torch.float64).float(), weight.flatten())


@pytest.mark.parametrize("int8", [False, True], ids=["float32", "int8"])
@pytest.mark.parametrize("embedding", EMBEDDINGS)
@pytest.mark.parametrize("kind", ["LSTM", "GRU", "MinGRU"])
def test_bytes_are_those_of_the_arrays(kind, embedding, int8, tmp_path):
    costs = to_c(new_model(kind, embedding, num_layers=2), tmp_path / "network.c", int8=int8)
    read = arrays(tmp_path / "network.c").values()
    assert costs.bytes == sum({"float": 4, "int8_t": 1}[kind] * len(numbers) for kind, _, numbers in read)
    assert all(size == len(numbers) for _, size, numbers in read)


def test_costs_of_an_lstm_by_hand(tmp_path):
    model = new_model("LSTM", "Embedding", 3, 4, 5)  # 6 indices
    costs = to_c(model, tmp_path / "network.c")
    weights, biases = 6 * 3 + 16 * 3 + 16 * 4 + 5 * 4, 16 + 5
    products = 16 * 3 + 16 * 4 + 5 * 4 + 3 * 4
    assert costs == (4 * (weights + biases), products, 4 * (4 + 4 + 3 + 16))
    assert str(costs) == "684 bytes of weights, 144 multiplications a step, 108 bytes of memory"
    assert str(costs) in (tmp_path / "network.c").read_text(encoding="utf-8")
    # each matrix has a scale a row; each sum, and each number of the row that is looked up, is multiplied by one
    costs = to_c(model, tmp_path / "network.c", int8=True)
    assert costs == Costs(weights + 4 * (6 + 16 + 16 + 5 + biases), products + 3 + 16 + 16 + 5, 108)
    assert "weights in int8" in (tmp_path / "network.c").read_text(encoding="utf-8")


def test_multiplications_of_the_other_kinds():
    def multiplications(*arguments, int8=False, **options):
        network = parts_of(new_model(*arguments, **options))
        return costs_of(network, weights_of(network), int8).multiplications

    assert multiplications("GRU", "Identity") == 12 * 3 + 12 * 4 + 5 * 4 + 3 * 4
    assert multiplications("GRU", "Identity", num_layers=2) == 12 * 3 + 12 * 4 * 3 + 5 * 4 + 2 * 3 * 4
    assert multiplications("GRU", "OneHot") == 12 * 4 + 5 * 4 + 3 * 4
    assert multiplications("GRU", "OneHot", int8=True) == 12 * 4 + 5 * 4 + 3 * 4 + 12 + 12 + 5
    assert multiplications("MinGRU", "Identity") == 8 * 3 + 5 * 4 + 2 * 4


def test_int8_rounds_each_row_by_its_largest_number():
    weight = torch.tensor([[1.27, -0.634, 0.016], [0, 0, 0], [-5, 2.5, 0], [1e-45, 0, 0], [4.4e-43, 0, 0]])
    numbers, scales = to_int8(weight)
    assert numbers.tolist() == [[127, -63, 2], [0, 0, 0], [-127, 64, 0], [0, 0, 0], [127, 0, 0]]
    torch.testing.assert_close(scales, torch.tensor([0.01, 0, 5 / 127, 0, 0]))
    weight = torch.randn(40, 50) * torch.logspace(-6, 6, 40)[:, None]
    numbers, scales = to_int8(weight)
    assert (numbers == numbers.round()).all() and (numbers.abs().amax(dim=1) == 127).all()
    assert ((numbers * scales[:, None] - weight).abs() <= scales[:, None] * 0.5001).all()


def test_quantized_is_a_copy():
    model = new_model("LSTM", "Embedding").double()
    before = {name: weight.clone() for name, weight in model.state_dict().items()}
    copied = quantized(model)
    assert all(torch.equal(weight, before[name]) for name, weight in model.state_dict().items())
    for name, weight in copied.state_dict().items():
        assert weight.dtype == torch.float64
        assert torch.equal(weight, before[name]) == ("bias" in name)
        if weight.dim() == 2:
            assert all(len(row.unique()) <= 255 for row in weight)
    again = quantized(copied).state_dict()
    for name, weight in copied.state_dict().items():
        torch.testing.assert_close(again[name], weight, rtol=1e-6, atol=0)


def perplexity_in_c(network, held_out):
    outputs = network.run(held_out[:-1])
    return perplexity(nn.functional.cross_entropy(outputs.double(), held_out[1:]).item())


@pytest.mark.parametrize("kind", ["LSTM of 128,000 numbers", "GRU of 45,000 numbers"])
def test_int8_costs_a_pretrained_writer_less_than_a_hundredth_in_perplexity(kind, tmp_path):
    if kind.startswith("LSTM"):
        model, vocabulary = writer.load_writer("en", torch.float32)
    else:
        models, vocabulary = small_writers.load_small_writers("en", torch.float32)
        model = models["GRU"]
    _, held_out = split(vocabulary.encode(load_text("en")))
    held_out = held_out[:2501]
    batches = ConsecutiveWindows(held_out, 1, 500)
    found = {}
    for int8 in (False, True):
        network = Network(model, tmp_path / str(int8), int8)
        found[int8] = perplexity_in_c(network, held_out)
        expected = perplexity(evaluate(quantized(model) if int8 else model, batches))
        assert found[int8] == pytest.approx(expected, rel=1e-5)
        print(f"{kind}, {'int8' if int8 else 'float32'}: perplexity {found[int8]:.4f}, {network.costs}")
    assert found[True] < 1.01 * found[False]
    assert found[True] != pytest.approx(found[False], rel=1e-5)


class OtherStep(MinGRUStep):
    def step(self, sums, state, w):
        return state


class Other(companion.MinGRU):
    _step = OtherStep()


def changed(**parts):
    model = new_model("LSTM", "Embedding")
    for name, part in parts.items():
        setattr(model, name, part)
    return model


def with_number(number):
    model = new_model("LSTM", "Embedding").double()
    model.recurrent.weight_hh_l0.data[2, 1] = number
    return model


def with_biases(number):
    model = new_model("LSTM", "Embedding")
    nn.init.constant_(model.recurrent.bias_ih_l0, number)
    nn.init.constant_(model.recurrent.bias_hh_l0, number)
    return model


NOT_FINITE = "recurrent.weight_hh_l0 has numbers that float32 cannot hold"


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: nn.LSTM(3, 4), "a LSTM has no embedding, no recurrent, no linear: the model needs the parts"),
        (lambda: SimpleNamespace(embedding=nn.Identity(), recurrent=nn.GRU(3, 4)), "a SimpleNamespace has no linear"),
        (lambda: changed(recurrent=nn.RNN(3, 4)), "must be an LSTM, a GRU or a MinGRU, not RNN"),
        (lambda: changed(recurrent=companion.RNN(3, 4)), "must be an LSTM, a GRU or a MinGRU, not RNN"),
        (lambda: changed(recurrent=companion.LogMinGRU(3, 4)), "not LogMinGRU"),
        (lambda: changed(recurrent=companion.MLSTM(3, 4)), "not MLSTM"),
        (lambda: changed(recurrent=companion.LSTMCell(3, 4)), "not LSTMCell"),
        (lambda: changed(recurrent=Other(3, 4)), "not Other"),
        (lambda: changed(recurrent=nn.GRU(3, 2, bidirectional=True)), "bidirectional=True cannot be written as C"),
        (lambda: changed(recurrent=companion.LSTM(3, 6, proj_size=4)), "proj_size=4 cannot be written as C"),
        (lambda: changed(embedding=nn.Linear(3, 3)), "embedding must be an Embedding, OneHot or nn.Identity, not Line"),
        (
            lambda: changed(embedding=nn.Embedding(6, 3, max_norm=1.0)),
            "an embedding with max_norm=1.0 changes its rows",
        ),
        (lambda: changed(linear=nn.Identity()), "linear must be a linear layer, not Identity"),
        (lambda: changed(embedding=OneHot(4)), "the embedding makes 4 features, the recurrent layer reads 3"),
        (lambda: changed(linear=nn.Linear(3, 5)), "the recurrent layer makes 4 features, the linear layer reads 3"),
        (lambda: with_number(float("nan")), NOT_FINITE),
        (lambda: with_number(float("-inf")), NOT_FINITE),
        (lambda: with_number(1e39), NOT_FINITE),
        (lambda: with_biases(3e38), "recurrent.bias_hh_l0 has numbers that float32 cannot hold"),
    ],
)
def test_what_cannot_be_written_is_refused(make, message, tmp_path):
    path = tmp_path / "network.c"
    path.write_text("kept")
    for write in (lambda: to_c(make(), path), lambda: to_c(make(), path, int8=True), lambda: quantized(make())):
        with pytest.raises(ValueError, match=re.escape(message)):
            write()
    assert path.read_text() == "kept"


def test_paths_that_cannot_be_written_are_refused(tmp_path):
    model = new_model("LSTM", "Embedding")
    with pytest.raises(ValueError, match="is a folder; give the path of a file in it, such as network.c"):
        to_c(model, tmp_path)
    with pytest.raises(FileNotFoundError, match="there is no folder .*missing' to write network.c into"):
        to_c(model, tmp_path / "missing" / "network.c")


@pytest.mark.parametrize("embedding", EMBEDDINGS)
@pytest.mark.parametrize("kind", ["LSTM", "GRU", "MinGRU"])
def test_lines_fit_on_a_page(kind, embedding, tmp_path):
    to_c(new_model(kind, embedding, 24, 104, 54), tmp_path / "network.c", int8=True)
    lines = (tmp_path / "network.c").read_text(encoding="utf-8").splitlines()
    assert [line for line in lines if len(line) > 88 and not re.match(r" *[-\d]", line)] == []
