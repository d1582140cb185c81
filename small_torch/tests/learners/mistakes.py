"""Programs of learners with mistakes, and the errors that they see."""

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn


def show(*programs):
    """Print what each program returns, or its error."""
    for program in programs:
        try:
            print(program())
        except Exception as error:
            print(f"{type(error).__name__}: {error}")


# %% shapes that do not fit
x, w = torch.ones(2, 3), torch.ones(2, 3)
show(
    lambda: x @ w,
    lambda: x + torch.ones(2),
    lambda: x.view(4, 2),
    lambda: x.reshape(-1, 4),
    lambda: torch.cat([x, torch.ones(2, 2)]),
    lambda: torch.stack([x, torch.ones(3)]),
    lambda: nn.Linear(4, 2)(x),
    lambda: x.squeeze(5),
    lambda: torch.mm(x, torch.ones(3)),
    lambda: torch.bmm(x, x),
    lambda: torch.dot(x, x),
    lambda: x.permute(0),
    lambda: x.expand(3, 3),
    lambda: x.sum(2),
    lambda: torch.mv(x, torch.ones(2)),
    lambda: torch.einsum("ij,jk->ik", x, w),
    lambda: x.unsqueeze(4),
    lambda: x.transpose(0, 2),
    lambda: torch.ones(2, 3) * torch.ones(3, 2),
    lambda: torch.cat(x, x),
    lambda: torch.outer(x, x),
)

# %% types that do not fit
i, f, d = torch.ones(2, 2, dtype=torch.long), torch.ones(2, 2), torch.ones(2, 2).double()
show(
    lambda: i @ f,
    lambda: f @ d,
    lambda: i.mean(),
    lambda: nn.Linear(2, 1)(i),
    lambda: nn.Linear(2, 1)(d),
    lambda: torch.ones(2, dtype=torch.int).requires_grad_(),
    lambda: torch.tensor([1, 2], requires_grad=True),
    lambda: F.cross_entropy(f, f[0].long() + 5),
    lambda: F.cross_entropy(f, d),
    lambda: F.nll_loss(f, f[0]),
    lambda: i.std(),
    lambda: f[f],
    lambda: f[0.5],
    lambda: F.embedding(f, f),
    lambda: F.one_hot(f),
    lambda: i.add_(0.5),
    lambda: f & f,
    lambda: i.softmax(0),
    lambda: F.mse_loss(i, f),
    lambda: F.binary_cross_entropy(f * 2, f),
    lambda: ~f,
    lambda: F.binary_cross_entropy_with_logits(f, i),
    lambda: i.div_(2),
    lambda: torch.multinomial(i, 1),
)

# %% indices out of range
x = torch.arange(6).view(2, 3)
show(
    lambda: x[2],
    lambda: x[0, 5],
    lambda: x[0, 0, 0],
    lambda: x[[3]],
    lambda: x[torch.tensor([0, 1, 2])],
    lambda: x[torch.tensor([True, False, True])],
    lambda: x[::-1],
    lambda: x.gather(1, torch.tensor([[9]])),
    lambda: x.index_select(0, torch.tensor([7])),
    lambda: torch.tensor(5)[0],
    lambda: len(torch.tensor(5)),
    lambda: list(torch.tensor(5)),
    lambda: x.narrow(0, 1, 4),
    lambda: x.__setitem__(5, 0),
    lambda: x.__setitem__(0, torch.ones(4)),
    lambda: x[-3],
    lambda: x[1:1],
    lambda: x[:, 3:],
    lambda: x.chunk(0),
    lambda: x.split([1, 5]),
    lambda: x.item(),
    lambda: x.topk(4),
    lambda: x[None, ..., None, 0].shape,
    lambda: x[1.0:2],
    lambda: x.unbind(3),
)

# %% names and keywords that do not exist
x = torch.ones(2, 2)
show(
    lambda: x.Sum(),
    lambda: x.length,
    lambda: x.append(1),
    lambda: torch.zeros(2, dtype="float32"),
    lambda: torch.ones(2, type=torch.long),
    lambda: nn.Linear(2, 2, bais=False),
    lambda: nn.LSTM(2, 2, layers=2),
    lambda: nn.Linear(2),
    lambda: nn.Linear(2, 2)(),
    lambda: nn.Linear(2, 2)(x, x),
    lambda: F.softmax(x, axis=1),
    lambda: torch.softmax(x),
    lambda: torch.randn("3"),
    lambda: torch.zeros(2.5),
    lambda: torch.zeros(-1),
    lambda: torch.tensor(),
    lambda: torch.tensor(1, 2),
    lambda: torch.cat([]),
    lambda: torch.cat([1, 2]),
    lambda: nn.Dropout(probability=0.5),
    lambda: F.cross_entropy(x, torch.tensor([0, 1]), reduction="avg"),
    lambda: torch.manual_seed("x"),
)

# %% lists that are not rectangles
show(
    lambda: torch.tensor([[1, 2], [3]]),
    lambda: torch.tensor([1, "a"]),
    lambda: torch.tensor("abc"),
    lambda: torch.tensor(None),
    lambda: torch.tensor([None]),
    lambda: torch.tensor({"a": 1}),
    lambda: torch.tensor([torch.ones(2), torch.ones(2)]),
    lambda: torch.tensor([torch.tensor(1), torch.tensor(2)]),
    lambda: torch.tensor(np.array(["a"])),
    lambda: torch.from_numpy([1, 2]),
    lambda: torch.from_numpy(np.array([1, 2], dtype=np.uint8)),
    lambda: torch.Tensor(2, 3).shape,
    lambda: torch.Tensor([2, 3]),
    lambda: torch.LongTensor([1, 2]),
    lambda: torch.FloatTensor(2).shape,
    lambda: torch.tensor([[], []]),
    lambda: torch.tensor([1, 2.5, True]),
    lambda: torch.tensor(range(3)),
    lambda: torch.tensor([1, 2**70]),
    lambda: torch.tensor([300], dtype=torch.uint8),
    lambda: torch.tensor([1.7], dtype=torch.int32),
    lambda: torch.stack([1, 2]),
    lambda: torch.stack([]),
    lambda: torch.as_tensor([[1.0], [2]]),
    lambda: torch.tensor(x for x in [1, 2]),
)

# %% gradients that are missing
import copy

x = torch.ones(2, requires_grad=True)
y = torch.ones(2)
show(
    lambda: y.backward(),
    lambda: (x * 2).backward(),
    lambda: y.sum().backward(),
    lambda: x.numpy(),
    lambda: x.add_(1),
    lambda: (x * 2).detach().sum().backward(),
    lambda: (x > 0).float().sum().backward(),
    lambda: x.argmax().backward(),
    lambda: torch.autograd.grad(y.sum(), x),
    lambda: x.sum().backward(torch.ones(3)),
    lambda: (x * 2).requires_grad_(False),
    lambda: setattr(x, "grad", torch.ones(3)),
    lambda: setattr(x, "grad", 5),
    lambda: setattr(x, "grad", torch.ones(2).long()),
    lambda: x.item(),
    lambda: y.register_hook(print),
    lambda: y.retain_grad(),
    lambda: np.array(x),
    lambda: float(x[0]),
    lambda: x.tolist(),
    lambda: x.data.numpy(),
    lambda: nn.Parameter([1, 2]),
    lambda: nn.Parameter(torch.ones(1, dtype=torch.int)),
    lambda: torch.tensor(x).requires_grad,
    lambda: copy.deepcopy(x * 1),
    lambda: x.requires_grad_("yes"),
)

# %% mistakes with numpy
a, t = np.ones(3), torch.ones(3)
show(
    lambda: np.add(a, t),
    lambda: a + t,
    lambda: t + a,
    lambda: a * torch.ones(3, requires_grad=True),
    lambda: np.dot(t, t),
    lambda: torch.dot(a, t),
    lambda: torch.sum(a),
    lambda: t.dot(a),
    lambda: np.sum(t),
    lambda: np.argmax(t),
    lambda: torch.exp(2.0),
    lambda: torch.sqrt(4),
    lambda: t.astype(np.float32),
    lambda: t.shape[3],
    lambda: np.reshape(t, (3, 1)),
    lambda: torch.from_numpy(t),
    lambda: torch.from_numpy(a[::-1]),
    lambda: a[torch.tensor([0, 1])],
    lambda: t[np.array([0, 2])],
    lambda: t[np.int64(1)],
    lambda: np.float32(2) * t,
    lambda: t * np.float64(2),
    lambda: np.array([t, t]),
    lambda: a == t,
    lambda: t == a,
    lambda: np.allclose(a, t),
    lambda: t.numpy().tensor(),
    lambda: torch.maximum(t, 2),
    lambda: torch.tensor(a) + 1j,
)

# %% mistakes that could pass in silence
x = torch.arange(6.0).view(2, 3)
v = torch.tensor([3.0, 1.0, 2.0])
i = torch.tensor([0, 1, 1])
show(
    lambda: torch.tensor([1.5, 2]).type(torch.LongTensor),
    lambda: x.sum(0, 1),
    lambda: x.__setitem__(0, [1, 2, 3]),
    lambda: x.__setitem__(0, None),
    lambda: nn.Flatten()(torch.tensor(1.0)),
    lambda: nn.BCELoss()(x / 6, x.long()),
    lambda: setattr(x, "requires_grad", 3),
    lambda: list(torch.utils.data.DataLoader([], shuffle=True)),
    lambda: torch.utils.data.TensorDataset([1, 2]),
    lambda: torch.randperm(-1),
    lambda: torch.zeros(),
    lambda: torch.linspace(0, 1, -1),
    lambda: torch.std(torch.tensor([1.0])),
    lambda: v.T,
    lambda: x.split(0),
    lambda: x.split(-1),
    lambda: x.chunk(-1),
    lambda: x.masked_fill(i > 0, v),
    lambda: x.masked_select(i),
    lambda: F.pad(x, (1,)),
    lambda: torch.diag(torch.ones(2, 2, 2)),
    lambda: "a" in v,
    lambda: reversed(v),
    lambda: v.numpy() + v,
    lambda: v.numpy() * 2 == v * 2,
    lambda: torch.flip(x, 1),
    lambda: torch.tensor([300], dtype=torch.uint8),
    lambda: F.cross_entropy(x, i[:2], weight=torch.ones(2)),
    lambda: F.cosine_similarity(v, x, dim=1),
)
