"""Programs of learners on tensors: creation, types, indexing, broadcasting, reductions, numpy, printing."""

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

# %% ways to create a tensor
data = [[1, 2], [3, 4]]
x = torch.tensor(data)
x_ones = torch.ones_like(x)
x_rand = torch.rand_like(x, dtype=torch.float)
print(f"Ones Tensor: \n {x_ones} \n")
print(f"Random Tensor: \n {x_rand} \n")
shape = (2, 3)
print(torch.rand(shape), torch.ones(shape), torch.zeros(shape), torch.empty(0), torch.full((2, 2), 7), torch.eye(3))
print(torch.arange(0, 1, 0.25), torch.linspace(0, 1, 5))
print(torch.randint(0, 10, (2, 5)), torch.randperm(6), torch.randn(2, 2).shape)

# %% attributes of a tensor
tensor = torch.rand(3, 4)
print(f"Shape of tensor: {tensor.shape}")
print(f"Datatype of tensor: {tensor.dtype}")
print(f"Device tensor is stored on: {tensor.device}")
print(tensor.ndim, tensor.dim(), tensor.size(), tensor.size(-1), tensor.numel(), len(tensor), tensor.stride())
print(tensor.is_contiguous(), tensor.T.is_contiguous(), tensor.layout)
rows, columns = tensor.shape
print(rows * columns, isinstance(tensor.shape, tuple), list(tensor.shape), type(tensor), tensor.type())
device = "cuda" if torch.cuda.is_available() else "cpu"
print(tensor.to(device).device, tensor.is_cuda, tensor.data_ptr() == tensor.to("cpu").data_ptr())

# %% types and promotion
i = torch.tensor([1, 2, 3])
f = torch.tensor([1.0, 2.0, 3.0])
b = i > 1
d = f.double()
h = f.half()
for name, value in {
    "i + f": i + f,
    "i / 2": i / 2,
    "i // 2": i // 2,
    "i * 2.5": i * 2.5,
    "b + b": b + b,
    "f + d": f + d,
    "h * f": h * f,
    "h + 1": h + 1,
    "i ** 2": i**2,
    "b.sum()": b.sum(),
    "i.float().mean()": i.float().mean(),
    "~b": ~b,
    "i % 2": i % 2,
    "-i": -i,
    "2 ** i": 2**i,
    "i + True": i + True,
    "i & 1": i & 1,
}.items():
    print(name, value, value.dtype)
print(torch.result_type(i, 1.0), torch.result_type(f, d))
print(i.to(torch.uint8), f.long(), torch.tensor([0.5, -1.7]).int(), torch.tensor([0, 2]).bool(), i.type(torch.float64))
print(torch.get_default_dtype(), torch.finfo(torch.float32).eps, torch.tensor(1.0).type())

# %% masks and where
torch.manual_seed(1)
x = torch.randn(3, 4)
mask = x > 0
print(mask, x[mask], mask.sum().item(), mask.any(dim=1), mask.all(0))
x[x < 0] = 0
print(x)
x[0, x[0] > 1] = 1.0
print(x[0])
y = torch.where(x > 0.5, x, torch.tensor(-1.0))
print(y)
print(torch.where(y == -1), (y == -1).nonzero()[:3], torch.nonzero(y > 0, as_tuple=True)[1], x.masked_fill(mask, 9)[0])
rows = torch.tensor([0, 2])
print(x[rows], x[rows, 1], x[:, rows], x[rows.unsqueeze(1), torch.tensor([0, 3])])
x[rows, 0] += 10
print(x[:, 0])
x[None, 0].shape
print(x[..., None].shape, x[:, :, None, None].size(), x[1:2, ::2])
print(x.gather(1, x.argmax(1, keepdim=True)), x.gather(1, torch.tensor([[0], [1], [2]])))

# %% broadcasting by hand
x = torch.arange(3.0).reshape(3, 1)
y = torch.arange(4.0)
print(x + y, (x * y).shape, [t.shape for t in torch.broadcast_tensors(x, y)])
points = torch.tensor([[0.0, 0.0], [3.0, 4.0], [6.0, 8.0]])
difference = points[:, None, :] - points[None, :, :]
print(difference.shape, difference.pow(2).sum(-1).sqrt(), torch.cdist(points, points))
X = torch.tensor([[1.0, 2.0], [3.0, 5.0], [5.0, 11.0]])
standard = (X - X.mean(dim=0)) / X.std(dim=0)
print(standard, standard.mean(0).abs() < 1e-6, standard.std(0))
P = torch.tensor([[1, 3], [2, 2]]).float()
print(P / P.sum(1, keepdim=True), P / P.sum(0))
P /= P.sum(1)[:, None]
print(P)

# %% reductions
A = torch.arange(20, dtype=torch.float32).reshape(5, 4)
print(A.sum(), A.sum(axis=0), A.sum(axis=[0, 1]), A.mean(), A.sum() / A.numel(), A.mean(dim=0), A.cumsum(axis=0))
print(
    A.max(),
    A.max(dim=1),
    A.min(1).values,
    A.argmax(),
    A.argmin(dim=0),
    A.prod(1)[:2],
    A.var(0),
    A.std(0, unbiased=False),
)
values, indices = torch.topk(A[2], 2)
print(values, indices)
print(torch.sort(torch.tensor([3, 1, 2]), descending=True))
print(
    torch.tensor([1.0, 5.0, 2.0, 4.0]).median(),
    torch.tensor([1, 1, 2]).unique(return_counts=True),
    torch.bincount(torch.tensor([0, 2, 2])),
)
u = torch.tensor([3.0, -4.0])
print(torch.norm(u), torch.abs(u).sum(), u.norm(p=1), torch.linalg.norm(u), u.pow(2).sum().sqrt())
print(
    torch.stack([u, u]).mean(),
    A.amax((0, 1)),
    torch.logsumexp(u, 0),
    A.sum(dim=1, keepdim=True).shape,
    u.softmax(0),
    torch.aminmax(u),
)

# %% linear algebra basics
x = torch.arange(4, dtype=torch.float32)
y = torch.ones(4, dtype=torch.float32)
print(x, y, torch.dot(x, y), torch.sum(x * y))
A = torch.arange(20, dtype=torch.float32).reshape(5, 4)
B = torch.ones(4, 3)
print(A.shape, x.shape, torch.mv(A, x), A @ x, torch.mm(A, B), A.T[0], torch.outer(x, y)[3])
S = torch.tensor([[2.0, 1.0], [1.0, 3.0]])
print(
    torch.inverse(S),
    torch.allclose(torch.linalg.inv(S) @ S, torch.eye(2), atol=1e-6),
    torch.det(S),
    torch.linalg.solve(S, torch.ones(2)),
)
print(
    torch.trace(S), torch.triu(S), torch.tril(S, -1), torch.diag(S), torch.diag(torch.tensor([1, 2])), S.matrix_power(3)
)
b1 = torch.ones(2, 3, 4)
b2 = torch.full((2, 4, 5), 0.5)
print(torch.bmm(b1, b2).shape, (b1 @ b2)[0, 0], torch.einsum("bij,bjk->ik", b1, b2))

# %% splitting, stacking and repeating
x = torch.arange(12).reshape(3, 4)
first, second = x.split([1, 3], dim=1)
print(first, second)
print([c.shape for c in x.chunk(2)], x.unbind(1)[0])
print(
    torch.stack((x[0], x[1]), dim=1), torch.vstack([x[0], x[1]]), torch.hstack([x[0], x[1]]), torch.cat((x, x[:1]))[-1]
)
print(
    torch.tensor([1, 2]).repeat(2, 2),
    torch.tensor([1, 2]).repeat_interleave(2),
    x.roll(1, 0)[0],
    torch.tile(torch.tensor([1, 2]), (2,)),
)
print(
    x.unfold(1, 2, 1)[0],
    x.movedim(0, 1).shape,
    x.swapaxes(0, 1).shape,
    x.transpose(0, 1)[0],
    x.flatten(),
    x.narrow(1, 1, 2)[0],
)
for index, row in enumerate(x):
    print(index, row, row[0].item())

# %% changes in place
x = torch.tensor([1.0, 4.0, 9.0])
y = x
y.sqrt_()
print(x, x is y, id(x) == id(y))
before = id(y)
y = y + x
print(id(y) == before)
before = id(x)
x += y
print(id(x) == before, x)
x[:] = y * 2
x.mul_(2).sub_(1).clamp_(0, 10)
print(x)
x.zero_()
x.fill_(3).neg_()
print(x, x.abs_(), x.pow_(2), x.copy_(torch.tensor([1, 2, 3])))
z = torch.zeros_like(x)
z[:] = x + y
print(z, torch.add(x, y, out=z), z)
z.index_fill_(0, torch.tensor([0]), -1)
z.scatter_(0, torch.tensor([1]), 5.0)
print(z)
m = torch.zeros(2, 3)
m[0, 1] = 5
m[1] = torch.arange(3)
m[:, -1] += 1
m = m.t()
print(m, m.shape)
m.fill_diagonal_(7)
print(m)
x.data = torch.ones(2)
print(x)
