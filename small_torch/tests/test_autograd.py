"""Options of gradients, hooks, transforms of functions, products of matrices, data sets and schedules, as in torch."""

import pytest

from both_torches import agree, split_rows

# In all rows x is [1, 2] and m a matrix, both without gradients; y is x·w summed, for leaves l = [1, 2] and w = 3.
GRADIENTS = """
[t.autograd.grad(l.unbind(0), l, [t.ones(())] * len(l)), (l.unbind(0)[0] + l.unbind(0)[1]).backward()] | t.autograd.grad(y, [l, w]) | t.autograd.grad(y, (l, u)) | t.autograd.grad(y, (l, u), allow_unused=True) | t.autograd.grad(y, [])
t.autograd.grad(y, (l, u), materialize_grads=True) | t.autograd.grad(y, (l, u), materialize_grads=True, allow_unused=False)
t.autograd.grad([l * 2, l**2], l, [t.ones(2)]) | t.autograd.grad(l * 2, l, [1.0]) | (l * 2).backward([1.0, 1.0]) | y.backward(inputs=[])
y.backward(inputs=[t.ones(1)]) | y.backward(foo=1) | t.autograd.backward([l * 2, l * 3], [t.ones(2)]) | t.autograd.grad(y, l, 3)
hooked(l * 3, lambda g: "a") | hooked(l * 3, lambda g: t.ones(3)) | hooked(l * 3, lambda g: g.double()) | hooked(l * 3, lambda g: g * 2)
kept(l * 3, lambda g: g * 10) | kept((l * 3).mul_(2), lambda g: g + 1) | hooked(l, lambda g: g.clamp(max=0.5))
J.jacobian(lambda a: m @ a, x, vectorize=True) | J.jacobian(lambda a: a, [x]) | J.jacobian(lambda a: 3, x) | J.jacobian(lambda a: t.ones(2), x, strict=True)
J.hessian(lambda a, b: (a * b**2).sum(), (x, x)) | J.hessian(lambda a: a**2, x) | J.jacobian(t.tanh, x[:0]) | order(l * w, w, l)
(z := Double.apply(l * 1), z.sum().backward(), z.sum().backward(), l.grad) | t.pdist(m.half()) | t.cdist(m.half(), m.half()) | L.matrix_rank(m.long()) | t.addmm(l, m, m, beta=0) | t.ones(2).index_fill(0, t.tensor([0]), t.tensor(1j))
"""  # noqa: E501
TRANSFORMS = """
f.grad(lambda a: a**2)(x) | f.grad(lambda a, b: (a * b).sum(), argnums=(0, 1))(x, x + 1)
f.grad(lambda d: (d["w"]**2).sum())({"w": x}) | f.grad(f.grad(t.sin))(w.detach()) | f.vmap(f.grad(t.sin))(x)
f.vmap(lambda d: d["a"] * d["b"], in_dims=({"a": 0, "b": None},))({"a": m, "b": x}) | f.vmap(lambda a: {"s": a.sum()})(m) | f.vmap(lambda a: 3)(m)
f.vmap(lambda a: t.rand(1))(m) | f.vmap(lambda a: a * 2, out_dims=1)(m) | f.vmap(t.dot)(m, t.ones(3, 2))
f.vmap(lambda a, b: a * b, in_dims=(0, None))(m, x) | f.vmap(f.vmap(lambda a, b: a * b, in_dims=(None, 0)), in_dims=(0, None))(x, x)
f.jacrev(lambda a, b: a * b, argnums=(0, 1))(x, x) | f.jacrev(f.jacrev(lambda a: (a**3).sum()))(x)
f.vmap(f.grad(lambda p, a: f.functional_call(n, p, (a,)).sum()), in_dims=(None, 0))({"weight": t.ones(1, 2), "bias": t.zeros(1)}, m)
f.vmap(lambda a: a * 2)(m[:0]) | f.vmap(t.sum)(l[:0]).requires_grad | f.vmap(t.sum, in_dims=1)(m[:, :0]) | f.jacrev(t.tanh)(x[:0]) | f.jacrev(t.exp)(l).sqrt_()
"""  # noqa: E501
MATRICES = """
t.einsum("ij,jk->ik", m.long(), m) | t.einsum("i,i->", x.long(), x) | t.einsum("ij,jk", m > 0, m > 0) | t.einsum("i1->i", m) | t.einsum("ij->ijj", m)
t.einsum("...ij,...jk->...ik", m[None], m) | t.einsum("ij->ji", m).stride() | t.einsum(3, m) | t.einsum("ij,jk,kl->il", m, m, m[:, :1]) | t.einsum("ij,ik,k->j", m[:1], m, x) | t.einsum("ij", 3) | t.kron(x, x) | t.outer(m, x)
(m > 0) @ (m > 0) | (x > 0) @ (x > 0) | (m > 0) @ (x > 0) | t.bmm(m[None], m[None].double()) | t.addmm(x.long(), m, m) | t.trace(x) | t.trace(m > 0)
L.cross(x, m) | t.cdist(m.long(), m) | t.pdist(m[None]) | x.H
L.norm(m, -1) | L.norm(x.sum(), 1) | m[None].norm(dim=(0, 1, 2)) | m.prod(0, 1) | L.matrix_power(m / 0, 4) | L.norm(m, 3) | L.norm(m[None], 1) | L.norm(m, 1, (0, 1), True) | L.norm(m, 2, keepdim=True) | L.norm(m, dtype=t.float64) | L.vector_norm(m, "fro")
L.matrix_norm(m[None], 1, (0, 1)) | L.matrix_norm(m, -1, keepdim=True) | L.matrix_norm(x) | L.svdvals(x) | L.eigvals(t.ones(2, 3)) | L.qr(m, "r").R.abs() | L.qr(m, "a")
L.det(t.ones(2, 3)) | L.det(x) | L.inv(m.long()) | L.solve(t.ones(2, 2), m) | L.inv(m.half()) | L.solve(m, x.double()) | L.solve(m, m, left=False) | L.solve(m.expand(3, 2, 2), t.ones(3, 2))
L.solve_triangular(m, x, upper=True) | L.solve_triangular(t.ones(2, 2), m, upper=True, unitriangular=True) | L.lstsq(m, m).rank | L.lstsq(m.repeat(2, 1), t.arange(4.0), driver="gelsd").solution | L.lstsq(m, m, driver="a") | L.matrix_power(x, 2) | L.matrix_rank(x)
t.kron(x[0], x[1]) | t.einsum("->", x[0]) | t.einsum("i,i->", x > 0, x[:1]) | t.einsum("ii", m[:, :1]) | L.matrix_power(m, 0) | t.matrix_power(w.view(1, 1), 0)
L.inv(m).stride() | L.svd(m).U.stride() | L.solve(m, m).stride() | L.inv(m * t.nan) | L.solve_triangular(m, m.long(), upper=True)
m[:, :0].bool() @ m[:0].bool() | L.matrix_norm(m.half(), 1) | L.matrix_norm(m[:0], 2) | t.addmm(m, m, m.double()) | t.addmm(m, m, x) | m.inverse(1)
t.sparse_coo_tensor([[0, 1], [1, 0]], [1.0, 2.0], (2, 2)) | repr(t.sparse_coo_tensor([[0], [1]], [2], dtype=t.float64)) | t.sparse_coo_tensor([[0, 1]], [1], (2,))
t.matmul(m.expand(3, 2, 2), w.expand(2, 1)[:, :0]).sum().backward() | t.prod(l * t.inf).backward() or l.grad
"""  # noqa: E501
DATA = """
list(D.DataLoader(range(5), 2, shuffle=True)) | D.RandomSampler([])
D.DataLoader([], shuffle=True)
D.random_split(range(3), [1.2, -0.2]) | D.random_split(range(10), [3, 7])[0].indices | D.TensorDataset([1, 2])
next(iter(D.DataLoader(range(5), batch_size=None)))
t.optim.SGD([l], foreach=True, fused=True) | t.optim.Adam([l], lr=t.ones(2)) | str(t.optim.Adam([l], lr=t.tensor(0.5)))
"""  # noqa: E501


def names(t):
    l, w, u = (t.tensor(value, requires_grad=True) for value in ([1.0, 2.0], 3.0, 0.0))  # noqa: E741

    def hooked(y, hook):
        y.register_hook(hook)
        y.sum().backward()
        return l.grad

    class Double(t.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * 2

        @staticmethod
        def backward(ctx, gradient):
            return gradient * 2

    def order(*tensors):
        """Return the numbers of the tensors in the order in which their hooks are called."""
        called = []
        for number, x in enumerate(tensors):
            x.register_hook(lambda g, number=number: called.append(number))
        tensors[0].exp().sum().backward()
        return called

    def kept(y, hook):
        y.retain_grad()
        y.register_hook(hook)
        y.sum().backward()
        return y.grad, l.grad, y.retains_grad

    places = {"J": t.autograd.functional, "f": t.func, "L": t.linalg, "D": t.utils.data, "n": t.nn.Linear(2, 1)}
    tensors = {
        "l": l,
        "w": w,
        "u": u,
        "y": (l**2 * w).sum(),
        "x": t.tensor([1.0, 2.0]),
        "m": t.tensor([[1.0, 2], [3, 5]]),
    }
    return {"t": t, "hooked": hooked, "kept": kept, "order": order, "Double": Double} | places | tensors


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("row", split_rows(GRADIENTS + TRANSFORMS + MATRICES + DATA))
def test_row(row):
    def program(t):
        t.manual_seed(0)
        return eval(row, names(t))

    agree(program, 1e-5)
