"""Programs that once gave other results on small_torch than on torch: each must print what torch prints."""

import contextlib
import io
import re
import warnings

import numpy as np
import pytest
import torch

import small_torch

# A program is a comment and the lines after it. A program with `try` ends in an error on torch.
PROGRAMS = """
# random numbers of transposed tensors
print(F.dropout(torch.ones(2, 3, 2).transpose(0, 1)))
output, _ = nn.LSTM(2, 2, batch_first=True)(torch.ones(3, 2, 2))
print(nn.Dropout(0.5)(output) != 0)
x = torch.zeros(2, 3).T
print(torch.rand_like(x), x.bernoulli_(0.5))

# types of results
print(torch.tensor([np.arange(3.0), np.ones(3)]).dtype, torch.tensor([np.float64(1)]).dtype)
print(torch.einsum("i,j->ij", torch.arange(2), torch.ones(2)).dtype)
print(F.huber_loss(torch.ones(2), torch.zeros(2, dtype=torch.float64), reduction="none").dtype)
print(torch.zeros(1, dtype=torch.float16) * 1e6, torch.ones(1, dtype=torch.float16) * 1e-8 * 1e8)
print(nn.LayerNorm(4)(torch.ones(4).half()).dtype)
print((torch.ones(2, requires_grad=True) * np.ones(2)).dtype)

# copies, not views
x = torch.zeros(2, 2)
torch.diag(x).add_(1)
print(x)
x = torch.tensor(1.0)
y = x.amax()
y += 1
print(x)
x = torch.arange(3.0)
y = x.diff(0)
y += 1
print(x)

# requires_grad after changes in place
y = torch.ones(2, requires_grad=True) * 1
y.uniform_()
print(y.requires_grad)
y = torch.ones(2, requires_grad=True) * 1
y.copy_(torch.zeros(2))
print(y.requires_grad)
x = torch.zeros(2)
v = x[:1]
x.requires_grad_()
print(v.requires_grad)

# numbers
print(torch.tensor([1.0, float("nan"), 2.0]).quantile(0.5))
print(torch.tensor([1e5, 1e-5]).logcumsumexp(0), torch.tensor([1.0, 10.0, 100.0]).logcumsumexp(0))
print(F.elu(torch.tensor([-0.0])), torch.tensor([-0.0]).div(3, rounding_mode="floor"))
print(torch.einsum("i,j->ij", torch.zeros(1), -torch.ones(1)))
x = torch.tensor([1.0, 2.0])
print(torch.kron(x, x))
print(torch.tensor([1.0, 1.0, 0.0, 1.0]).topk(2).values, torch.tensor([4, 4, 3, 4]).topk(3).values)

# sums and powers of complex numbers, and determinants, of numbers that are not finite
print(torch.ones(1) + torch.tensor([complex("inf+1j")]), torch.ones(1) - torch.tensor([complex("1+nanj")]))
print(torch.tensor([0j]).reciprocal(), torch.tensor([0j]) ** -1, torch.tensor([complex("inf+1j")]) ** 0.5)
print(torch.tensor([[float("nan"), 0.5], [0.0, 0.0]]).det(), torch.tensor([float("inf")]).half().prod())

# variances of large numbers
torch.manual_seed(0)
print((torch.rand(3, 40) + 1e5).var(1), (torch.rand(3, 40) + 1e5).std(0), torch.rand(5).half().var(0))

# probabilities of which one is too large
x = torch.zeros(3)
try:
    x.bernoulli_(torch.tensor([0.9, 2.0, 0.4]))
except RuntimeError:
    print(x, torch.rand(()))

# tensors without numbers
print(torch.ones(3, 0)[[5, 7]], torch.ones(3, 0).cummax(2), torch.normal(torch.arange(0), 1.0), torch.tensor(3j).mode())
print(F.cross_entropy(torch.zeros(2, 0), torch.zeros(2, 0), label_smoothing=0.1))

# matrices that repeat numbers, changed in place
print(torch.ones(2, 2).expand(2, 2, 2).tril_())

# a factor that its type cannot hold
torch.addcmul(torch.ones(2), torch.ones(2), torch.ones(2), value=3j)

# a factor of a product of matrices that its type cannot hold
torch.addmm(torch.ones(1, 1), torch.ones(1, 1), torch.ones(1, 1), alpha=3j)

# out of another type
torch.abs(torch.ones(2), out=torch.ones(2, dtype=torch.float64))

# a complex number in place of NaN
torch.ones(2).nan_to_num(3j)

# a change of the result of a recurrent cell
h = nn.RNNCell(3, 2)(torch.ones(2, 3))
h.add_(1)
h.sum().backward()

# an index that is overwritten
x = torch.arange(3)
x[x] = 2

# alpha that its type cannot hold
torch.ones(2).half().add(torch.ones(2).half(), alpha=1e6)

# small numbers of float16 times and by large ones
x = torch.ones(2).half()
print(x * 1e-5 * torch.tensor(1e6), x // 0.1, 1e6 // x)
print(torch.func.grad(lambda x: x.prod())(torch.tensor([float("inf"), 2.0])))
x.random_(100000)

# gradients at zeros of a recurrent layer, and float16
torch.manual_seed(0)
layer = nn.RNN(3, 2, nonlinearity="relu")
layer(torch.randn(4, 2, 3))[0].log().sum().backward()
print(layer.weight_ih_l0.grad)
print(torch.tensor([100.0]).half().round(decimals=3))

# numpy's functions and arrays
print(np.sqrt(torch.tensor([4.0])), np.exp(torch.zeros(1)))
print(np.ones(2) + torch.ones(2))

# gradients
x = torch.zeros(2, requires_grad=True)
(x**x).sum().backward()
print(x.grad)
x = torch.tensor([1.0, -2.0], requires_grad=True)
x.sgn().sum().backward()
print(x.grad)
x = torch.tensor([float("nan"), 1.0], requires_grad=True)
x.clamp(min=0).sum().backward()
print(x.grad)
x = torch.ones(2, requires_grad=True)
y = x.repeat_interleave(2)
y.sum().backward()
y.sum().backward()
print(x.grad)
x = torch.ones(2, requires_grad=True)
y = x * 3
y.retain_grad()
y.register_hook(lambda g: g * 10)
y.sum().backward()
print(y.grad)
m = nn.Linear(2, 1)
y = m(torch.ones(2))
m.double()
y.sum().backward()
print(m.weight.grad.dtype)

# axes and strides
x = torch.arange(24).view(2, 3, 4)
print(x[0, :, [1, 3]], x[1:, None, 2, :, None].shape)
print(F.linear(torch.ones(3), torch.ones(3)))
print(torch.tensor(3.0).index_select(0, torch.tensor([0])), torch.tensor(3.0).index_fill(0, torch.tensor([0]), 1.0))
print(torch.cross(torch.ones(3, 2), torch.ones(3, 2)).shape)
print((torch.ones(3, 2).T.expand(2, -1, -1) / 2).stride())
x = torch.rand(2, 3).T
print(x.quantile(torch.tensor([0.25, 0.5]), 0).stride(), torch.tensor(x.expand(2, 3, 2).T).stride())
print(F.binary_cross_entropy(x, x.contiguous(), reduction="none").stride(), torch.vmap(lambda a: a * 2)(x).stride())
print(x.expand(2, 3, 2).round(decimals=1).stride(), torch.kron(x, x).stride(), torch.kron(x, torch.ones(3, 2)))

# versions of copies, powers of complex zeros
import copy
print([f(torch.ones(2))._version for f in (copy.copy, copy.deepcopy)], copy.deepcopy(nn.Linear(1, 1)).weight._version)
x = torch.zeros(2, dtype=torch.cfloat)
print(x**x, x**0)

# changes in place
x = torch.zeros(2, 3, 4)
x[0, :, [1, 3]] = torch.arange(6.0).view(3, 2)
print(x[0])
x = torch.ones(2)
x += 1
print(x._version)
x = torch.tensor([1, 2])
print(x.addcmul_(x, x, value=1))
x = torch.zeros(2, 2, 4)
x[0, :, [1, 3]] = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
print(x[0])
x = torch.zeros(3)
w = x.unfold(0, 2, 1)
w += 1
print(x)

# types and functions without axes
print(isinstance(torch.ones(1), torch.FloatTensor), isinstance(torch.ones(1), torch.LongTensor))
print(torch.ones(2).bool() @ torch.ones(2).bool())

# a change of one of several views
x = torch.ones(2, 2, requires_grad=True)
a, b = (x * 1).unbind(0)
a.mul_(2)

# uniform_ of whole numbers
print(torch.arange(3).uniform_())

# maximum with a number
print(torch.maximum(torch.ones(1), 2))

# softmax with keepdim
print(torch.softmax(torch.ones(2), 0, keepdim=True))

# outer of matrices
print(torch.outer(torch.ones(2, 1), torch.ones(2)).shape)

# a write to what is read
x = torch.ones(3)
x.index_add_(0, torch.tensor([0]), x[:1])

# detach_ of a view
x = torch.ones(2, requires_grad=True) * 1
x[:1].detach_()

# torch.distributions
import torch.distributions
"""
SENTENCE = "is not in small_torch"
SPLIT = [program.partition("\n") for program in PROGRAMS.strip().split("\n\n")]


def printed(program, t):
    """Return what a program prints, and its error's type and text."""
    t.manual_seed(0)
    out = io.StringIO()
    with contextlib.redirect_stdout(out), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch gives some only once
        try:
            exec(
                program.replace("import torch", f"import {t.__name__}"),
                {"torch": t, "nn": t.nn, "F": t.nn.functional, "np": np},
            )
        except Exception as error:  # noqa: BLE001  both torches must raise the same
            print(f"{type(error).__name__}: {error}")
    return re.sub(r"\nException raised from.*", "", out.getvalue(), flags=re.S)


@pytest.mark.parametrize("program", [program for _, _, program in SPLIT], ids=[title[2:] for title, _, _ in SPLIT])
def test_known_programs(program):
    ours = printed(program, small_torch)
    assert ours == printed(program, torch) or SENTENCE in ours
