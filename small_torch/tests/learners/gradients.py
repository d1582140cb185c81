"""Programs of learners on gradients: backward, hooks, custom functions, modes, Jacobian matrices, torch.func."""

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

# %% the graph behind a loss
x = torch.ones(5)
y = torch.zeros(3)
torch.manual_seed(0)
w = torch.randn(5, 3, requires_grad=True)
b = torch.randn(3, requires_grad=True)
z = torch.matmul(x, w) + b
loss = torch.nn.functional.binary_cross_entropy_with_logits(z, y)
print(z, loss)
print(z.grad_fn is not None, z.is_leaf, w.is_leaf, w.grad_fn, loss.requires_grad)
loss.backward()
print(w.grad)
print(b.grad)
with torch.no_grad():
    z = torch.matmul(x, w) + b
print(z.requires_grad)
z_det = z.detach()
print(z_det.requires_grad, type(loss.grad_fn).__name__ != "NoneType", loss.grad_fn.next_functions[0][0] is not None)

# %% hooks on tensors
x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
grads = {}


def save(name):
    def hook(grad):
        grads[name] = grad

    return hook


y = x * 2
y.register_hook(save("y"))
y.retain_grad()
z = (y**2).mean()
z.register_hook(lambda grad: print("z:", grad))
handle = x.register_hook(lambda grad: grad.clamp(max=5))
z.backward()
print(grads["y"], y.grad, x.grad)
handle.remove()
x.grad = None
(x * 10).sum().backward()
print(x.grad)
(x * 1.5).sum().backward()


# %% a straight-through estimator
class Sign(torch.autograd.Function):
    @staticmethod
    def forward(ctx, input, width=1.0):
        ctx.save_for_backward(input)
        ctx.width = width
        return input.sign()

    @staticmethod
    def backward(ctx, grad_output):
        (input,) = ctx.saved_tensors
        return grad_output * (input.abs() <= ctx.width), None


x = torch.tensor([-2.0, -0.5, 0.5, 2.0], requires_grad=True)
y = Sign.apply(x)
print(y)
y.sum().backward()
print(x.grad)
x.grad = None
Sign.apply(x, 0.1).sum().backward()
print(x.grad, torch.autograd.gradcheck(lambda t: t * 2, torch.rand(2, dtype=torch.double, requires_grad=True)))
r = torch.tensor([0.3, 1.7], requires_grad=True)
quantized = r + (r.round() - r).detach()
quantized.pow(2).sum().backward()
print(quantized, r.grad)


# %% changes in place that gradients forbid
a = torch.ones(2, requires_grad=True)
for change in (lambda: a.add_(1), lambda: a[0].mul_(2), lambda: a.__setitem__(0, 5.0)):
    try:
        change()
    except RuntimeError as error:
        print(error)
b = a.exp()
b.add_(1)
try:
    b.sum().backward()
except RuntimeError as error:
    print(str(error).split(";")[0])
c = a * 2
c[0] = 7.0
c.sum().backward()
print(c, a.grad)
d = a.clone()
d += 1
d.mul_(a)
d.sum().backward()
print(a.grad, d._version)
a.data.add_(1)
print(a, a._version)
with torch.no_grad():
    a -= 0.5
    a[0] = 0
print(a, a.requires_grad, a.is_leaf)

# %% jacobians and hessians
from torch.autograd.functional import hessian, jacobian


def f(x):
    return torch.stack([x[0] ** 2 * x[1], 5 * x[0] + x[1].sin()])


x = torch.tensor([1.0, 2.0])
print(jacobian(f, x))
print(hessian(lambda x: (x**3).sum() + x[0] * x[1], x))
J = torch.stack(
    [
        torch.autograd.grad(output, inputs, retain_graph=True)[0]
        for inputs in [x.clone().requires_grad_()]
        for output in f(inputs)
    ]
)
print(J)
print(jacobian(lambda a, b: a * b, (torch.ones(2), torch.full((2,), 3.0))))

# %% functions of functions
from torch.func import functional_call, grad, jacrev, vmap

print(
    grad(torch.sin)(torch.tensor(0.0)),
    grad(grad(torch.sin))(torch.tensor(1.0)),
    grad(lambda w, x: (w @ x).sum(), argnums=(0, 1))(torch.ones(2, 2), torch.arange(2.0)),
)
print(
    vmap(torch.dot)(torch.ones(2, 3), torch.arange(6.0).view(2, 3)),
    vmap(lambda x, y: x + y, in_dims=(0, None))(torch.arange(3), torch.tensor(10)),
    jacrev(lambda x: x**2)(torch.tensor([1.0, 2.0])),
)
torch.manual_seed(0)
model = nn.Linear(2, 1)
params = dict(model.named_parameters())
x = torch.randn(4, 2)
y = torch.randn(4, 1)


def loss(params, x, y):
    return F.mse_loss(functional_call(model, params, (x.unsqueeze(0),)).squeeze(0), y)


per_sample = vmap(grad(loss), in_dims=(None, 0, 0))(params, x, y)
print({name: g.shape for name, g in per_sample.items()})
print(per_sample["weight"].mean(0), torch.func.grad(lambda t: (t**2).sum())(x[0]))


# %% gradients vanish and explode
torch.manual_seed(0)
for scale in (0.5, 1.0, 1.5):
    x = torch.ones(1, 8, requires_grad=True)
    h = x
    W = torch.randn(8, 8) * scale / 8**0.5
    for _ in range(20):
        h = h @ W
    h.sum().backward()
    print(f"{scale}: {x.grad.norm().item():.3e}")
x = torch.arange(-8.0, 8.0, 4.0, requires_grad=True)
y = torch.sigmoid(x)
y.backward(torch.ones_like(x))
print(x.grad)
x.grad = None
torch.tanh(x).sum().backward()
print(x.grad)
x.grad = None
F.relu(x).sum().backward()
print(x.grad)
with torch.autograd.set_detect_anomaly(True):
    torch.zeros(1, requires_grad=True).exp().backward()
z = torch.zeros(1, requires_grad=True)
torch.sqrt(z).backward()
print(z.grad, torch.isnan(torch.log(torch.tensor(-1.0))), (0 * z.grad).isnan().any())
