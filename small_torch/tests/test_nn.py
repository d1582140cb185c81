"""Calls of `nn`, initial values and operations on all parameters, compared with torch's."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from both_torches import agree, compile_row, numbers, on_both, split_rows

SEVEN = "linear", "conv1d", "sigmoid", "tanh", "relu", "leaky_relu", "selu"

# Programs for compile_row.
CALLS = """
nn.LSTM(4, 5, dropout=0.5).dropout | nn.LSTM(4, 5, 2, dropout=1.5) | nn.LSTM(4.0, 5) | nn.GRU(4, 0) | nn.RNN(4, 5, 0)
nn.RNN(4, 5, bias=1) | nn.RNN(4, 5, batch_first=0) | nn.LSTM(4, 5, proj_size=5)
nn.GRU(4, 5, proj_size=1) | nn.RNN(4, 5, proj_size=1) | nn.RNN(4, 5, nonlinearity="sin") | nn.RNN(4, 5, 1, "sin")
nn.Sequential(hidden=3) | nn.LSTM(4, 5, layers=2) | nn.LSTM(4, 5, dtype=t.int64) | nn.LSTM(4, 5)(zeros(4))
nn.RNN(4, 5)(zeros(4, 1, 1, 1)) | nn.GRU(4, 5)(zeros(7, 4, 3)) | nn.GRU(4, 5)(rnn.pack_sequence([zeros(2, 3)]))
nn.GRU(4, 5)(rnn.pack_sequence([zeros(2)])) | nn.LSTM(4, 5)(zeros(2, 2, 4).double())
nn.GRU(4, 5)(zeros(2, 2, 4), zeros(1, 2, 5).double()) | nn.GRU(4, 5, bias=False)(zeros(2, 2, 4), zeros(1, 2, 5).double())
nn.GRU(4, 5)(zeros(7, 3, 4), zeros(1, 8, 5)) | nn.LSTM(4, 5)(zeros(7, 3, 4), (zeros(1, 8, 5),) * 2)
nn.LSTM(4, 5, 2)(zeros(7, 3, 4), (zeros(2, 3, 5), zeros(1, 3, 5))) | nn.GRU(4, 5)(zeros(7, 3, 4), zeros(3, 5))
nn.LSTM(4, 5)(zeros(7, 3, 4), (zeros(3, 5),) * 2) | nn.GRU(4, 5)(zeros(7, 4), zeros(1, 1, 5))
nn.GRU(4, 5)(zeros(7, 3, 4), (zeros(1, 3, 5),) * 2) | nn.LSTM(4, 5)(zeros(7, 3, 4), zeros(1, 3, 5))
nn.LSTM(4, 5)(zeros(7, 3, 4), (zeros(1, 3, 5),)) | nn.LSTM(4, 5)(zeros(7, 3, 4), (zeros(1, 3, 5),) * 3)
[o := nn.LSTM(4, 5)(zeros(2, 1, 4))[0], loss := o.sum(), o.mul_(2), loss.backward()] | nn.ModuleList([nn.Tanh()]).insert(-1, nn.Tanh())
nn.LSTM(4, 5)(zeros(0, 3, 4)) | nn.LSTM(4, 5)(zeros(7, 3, 4).to("meta"))
nn.GRU(4, 5)(zeros(7, 3, 4), zeros(1, 3, 5, device="meta")) | nn.LSTMCell(4, 5)(zeros(2, 3, 4))
nn.GRUCell(4, 5)(zeros(3, 4), zeros(1, 3, 5)) | nn.LSTMCell(4, 5)(zeros(3, 4), (zeros(3, 5), zeros(1, 3, 5)))
nn.RNNCell(4, 5)(zeros(3, 5)) | nn.RNNCell(4, 5)(zeros(3, 4), zeros(2, 5))
nn.LSTMCell(4, 5)(zeros(3, 4), (zeros(3, 5), zeros(3, 4))) | nn.LSTMCell(4, 5)(zeros(3, 4), zeros(3, 5))
nn.LSTMCell(4, 5)(zeros(3, 4).double()) | nn.RNNCell(4, 5, nonlinearity="sin")(zeros(3, 4))
nn.Linear(5, 2)((zeros(3, 5), zeros(3, 5))) | nn.Linear(5, 2)(zeros(7, 3, 10)) | zeros(3, 2) @ t.ones(2).long()
nn.Embedding(4, 3, padding_idx=4) | nn.Embedding.from_pretrained(zeros(3)) | nn.Embedding(4, 3, _weight=zeros(3, 3))
nn.Embedding(4, 3)(t.tensor([4])) | nn.Embedding(4, 3)(t.tensor([1.0])) | nn.Embedding(4, 3)(3) | F.one_hot(t.tensor([0, 3]), 6)
F.one_hot(t.tensor([0, 7]), 6) | F.cosine_similarity(numbers(1, 3), numbers(4, 3)) | F.normalize(numbers(4, 3), dim=1)
F.cross_entropy(numbers(4, 5), numbers(4, 5, seed=1).softmax(1)) | F.cross_entropy(zeros(4, 5), t.tensor([0, 3, 1]))
F.cross_entropy(zeros(2, 5), t.tensor([0, 5])) | F.cross_entropy(zeros(2, 5), t.tensor([0.0, 1.0]))
F.cross_entropy(zeros(2, 5), t.tensor([[0], [1]])) | F.layer_norm(zeros(2, 4, 6), (5,)) | nn.Dropout(1.5)
nn.BatchNorm1d(3)(zeros(3)) | nn.BatchNorm1d(10)(zeros(7, 3, 10)) | nn.MultiheadAttention(5, 2) | nn.MultiheadAttention(5, 0)
[t.manual_seed(1), nn.MultiheadAttention(4, 2, dtype=t.float64)(*(numbers(3, 4),) * 3, need_weights=False)][1]
F.scaled_dot_product_attention(*(numbers(2, 4, 6, seed=k) for k in range(3)), is_causal=True)
nn.MultiheadAttention(4, 2)(*(zeros(3, 1, 6),) * 3) | nn.MultiheadAttention(4, 2)(*(zeros(4),) * 3)
nn.MultiheadAttention(4, 2)(zeros(3, 4), *(zeros(3, 1, 4),) * 2)
nn.MultiheadAttention(4, 2)(*(zeros(n, 1, 4) for n in (3, 3, 5)))
nn.MultiheadAttention(4, 2)(*(zeros(3, 1, 4),) * 3, attn_mask=zeros(2, 3))
nn.MultiheadAttention(4, 2)(*(zeros(3, 1, 4),) * 3, zeros(2, 3))
nn.MultiheadAttention(4, 2)(*(zeros(3, 1, 4),) * 3, attn_mask=zeros(3, 3, dtype=t.int64))
nn.MultiheadAttention(4, 2)(*(zeros(3, 1, 4),) * 3, is_causal=True) | nn.TransformerEncoderLayer(4, 2, activation="sin")
nn.TransformerEncoderLayer(4, 2, 4, dropout=0.0)(zeros(3, 1, 4), zeros(3, 3), t.tensor([[False, False, True]])).shape
[init.calculate_gain("leaky_relu", 0.3), *(float(init.calculate_gain(name)) for name in SEVEN)] | init.calculate_gain("sin")
init.calculate_gain("leaky_relu", "steep") | init.xavier_uniform_(zeros(3)) | init.kaiming_uniform_(zeros(3, 3), mode="fan")
init.kaiming_uniform_(zeros(0, 3)).shape | init.eye_(zeros(3)) | init.orthogonal_(zeros(3))
rnn.pack_padded_sequence(zeros(7, 3, 4), [2, 5, 7]) | rnn.pack_padded_sequence(zeros(7, 3, 4), [7, 5, 0])
rnn.pack_padded_sequence(zeros(7, 3, 4), [7, 5]) | rnn.pack_padded_sequence(zeros(7, 3, 4), t.tensor([7, 5, 2], device="meta"))
rnn.pack_padded_sequence(zeros(7, 3, 4), t.ones(3, 1, dtype=t.int64)) | rnn.pack_padded_sequence(zeros(0, 3, 4), [1, 1, 1])
rnn.pack_padded_sequence(zeros(2, 3, 4), [2, 2, 1, 1], enforce_sorted=False) | nn.GRU(4, 5)(rnn.pack_padded_sequence(zeros(7, 3, 4), [9, 8, 2]))
rnn.pad_packed_sequence(zeros(7, 3, 4)) | rnn.pad_packed_sequence(rnn.pack_padded_sequence(zeros(7, 3, 4), [9, 8, 2]))
rnn.pad_packed_sequence(rnn.pack_sequence([zeros(3, 1)]), total_length=2) | rnn.pad_sequence([]) | rnn.pad_sequence(3)
rnn.pad_sequence([zeros(2)], padding_side="top") | nn.Linear(2, 3).to(t.float64, copy=True)
t.autograd.gradcheck(t.sin, (zeros(2),), epsilon=1e-6) | utils.clip_grad_norm_(nn.Linear(1, 1).parameters(), 1.0)
utils.clip_grad_norm_((p for p in ()), 1.0)
repr(rnn.pack_sequence([t.ones(2), t.zeros(3)], enforce_sorted=False)) | list(rnn.PackedSequence((t.ones(2), t.tensor([1, 1]))))
t.utils.data.DataLoader([1, 2], shuffle=True, sampler=[1]) | t.utils.data.DataLoader([1, 2], batch_sampler=[[1]], batch_size=2)
t.utils.data.DataLoader([1, 2], batch_size=0) | t.autograd.functional.hessian(lambda x: x.pow(3).sum(), numbers(3))
utils.vector_to_parameters([1.0], []) | t.einsum("ij,j->i", zeros(2, 3), zeros(2, 3)) | zeros(2, 3).to("meta")[0].device.type
"""  # noqa: E501


@pytest.mark.parametrize("row", split_rows(CALLS))
def test_call(row):
    assert agree(compile_row(row, **globals())) is not None


# Initial values, and operations on all parameters


INITIAL_VALUES = """
init.uniform_(x, -2, 3) | init.normal_(x, 1.0, 0.5) | init.normal_(x, generator=t.Generator().manual_seed(3)) | init.constant_(x, 0.3)
init.ones_(x) | init.zeros_(x) | init.eye_(x) | init.xavier_uniform_(x, gain=2.0) | init.xavier_normal_(x) | init.orthogonal_(x[:3])
init.kaiming_uniform_(x, 0.2, mode="fan_out") | init.kaiming_uniform_(x, nonlinearity="relu")
"""  # noqa: E501


@pytest.mark.parametrize("row", split_rows(INITIAL_VALUES))
@pytest.mark.parametrize("shape", [(5, 3), (20, 7)])
def test_initial_values(row, shape):
    def draw(t):
        t.manual_seed(9)
        x = t.zeros(shape, requires_grad=True)
        returned = compile_row(row, x=x)(t)
        return x, returned is x, x.grad_fn is None, t.rand(1)

    agree(draw, 2e-6 if "normal" in row or "orthogonal" in row else 0)


@pytest.mark.parametrize("shape", [(5, 3), (3, 5), (4, 2, 3)])
@on_both()
def test_orthogonal(t, shape):
    t.manual_seed(9)
    return t.nn.init.orthogonal_(t.zeros(shape, dtype=t.float64), gain=1.5), t.rand(1)


@settings(max_examples=15)
@given(max_norm=st.floats(0.01, 100), norm_type=st.sampled_from([1.0, 2.0, 3.0, float("inf")]), seed=st.integers(0, 99))
@on_both()
def test_gradient_clipping(t, max_norm, norm_type, seed):
    parameters = [numbers(t, 3, k, seed=seed, grad=True) for k in (1, 4)] + [t.zeros(2, requires_grad=True)]
    for parameter in parameters[:2]:
        parameter.grad = parameter.detach() * 3
    norm = t.nn.utils.clip_grad_norm_(iter(parameters), max_norm, norm_type)
    first = [parameter.grad.clone() for parameter in parameters[:2]]
    t.nn.utils.clip_grad_value_(parameters, 0.05)
    return norm, first, [parameter.grad for parameter in parameters]


@on_both(0)
def test_loaders(t):
    data = t.utils.data
    t.manual_seed(6)
    items = data.TensorDataset(t.arange(7), t.arange(14.0).view(7, 2))
    pairs = [(k, float(k), "abc"[k % 3], {"x": t.tensor(k)}) for k in range(5)]
    loaders = [
        data.DataLoader(items), data.DataLoader(items, 3, shuffle=True), data.DataLoader(pairs, 2, drop_last=True),
        data.DataLoader(items, 4, shuffle=True, generator=t.Generator().manual_seed(2)),
        data.DataLoader(items, batch_size=None),
        data.DataLoader(pairs, batch_sampler=[[0, 3], [1]], collate_fn=lambda batch: [item[0] for item in batch]),
        data.DataLoader(data.random_split(items, [0.5, 0.5])[0], 2),
    ]  # fmt: skip
    return [len(loader) for loader in loaders[:-2]], [[*loader] for loader in loaders for _ in range(2)], t.rand(2)
