"""Programs of learners on modules: classes, containers, hooks, buffers, states, saving, copies, losses."""

import torch
import torch.nn.functional as F
from torch import nn


# %% lists and dictionaries of modules
class Deep(nn.Module):
    def __init__(self, sizes):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(a, b) for a, b in zip(sizes, sizes[1:]))
        self.acts = nn.ModuleDict({"relu": nn.ReLU(), "tanh": nn.Tanh()})
        self.scales = nn.ParameterList([nn.Parameter(torch.ones(1) * i) for i in range(2)])
        self.wrong = [nn.Linear(9, 9)]

    def forward(self, x, act="relu"):
        for layer in self.layers:
            x = self.acts[act](layer(x))
        return x * self.scales[1]


torch.manual_seed(0)
net = Deep([2, 3, 1])
print(net)
print(net(torch.ones(1, 2)), net(torch.ones(1, 2), act="tanh"), [n for n, _ in net.named_parameters()])
net.layers.append(nn.Linear(1, 1))
print(len(net.layers), net.layers[-1], "relu" in net.acts, list(net.acts.keys()), net.layers[:1])
try:
    net(torch.ones(1, 2), act="gelu")
except KeyError as error:
    print(type(error).__name__, error)
seq = nn.Sequential(nn.Linear(1, 1))
seq.append(nn.Tanh())
seq.append(nn.Identity())
print(seq, len(seq))
del seq[0]
print(seq[-1])

# %% hooks that watch a network
torch.manual_seed(0)
net = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2))
activations = {}


def get_activation(name):
    def hook(model, input, output):
        activations[name] = output.detach()

    return hook


handles = [layer.register_forward_hook(get_activation(name)) for name, layer in net.named_children()]
net[0].register_forward_pre_hook(lambda m, args: print("pre", m, [a.shape for a in args]))
out = net(torch.randn(2, 3))
out.sum().backward()
print({name: tuple(a.shape) for name, a in activations.items()}, activations["1"])
[h.remove() for h in handles]
activations.clear()
net(torch.randn(1, 3))
print(activations)
doubled = net[1].register_forward_hook(lambda m, i, o: o * 0)
print(net(torch.randn(1, 3)) == net[2].bias)
doubled.remove()
net[0].register_forward_hook(lambda m, args, kwargs, out: print("kwargs", kwargs), with_kwargs=True)
net[0](input=torch.ones(1, 3))

# %% save weights, load weights, and what can go wrong
import io

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(2, 3), nn.Tanh(), nn.Linear(3, 1))
buffer = io.BytesIO()
torch.save(model.state_dict(), buffer)
buffer.seek(0)
again = nn.Sequential(nn.Linear(2, 3), nn.Tanh(), nn.Linear(3, 1))
print(again.load_state_dict(torch.load(buffer)))
x = torch.ones(1, 2)
print(torch.equal(model(x), again(x)), again.eval().training)
for wrong in (
    nn.Sequential(nn.Linear(2, 4), nn.Tanh(), nn.Linear(4, 1)),
    nn.Sequential(nn.Linear(2, 3)),
    nn.Linear(2, 3),
):
    try:
        wrong.load_state_dict(model.state_dict())
    except RuntimeError as error:
        print(error)
print(nn.Sequential(nn.Linear(2, 3)).load_state_dict(model.state_dict(), strict=False))
buffer = io.BytesIO()
torch.save([x, {"y": torch.arange(3)}], buffer)
buffer.seek(0)
print(torch.load(buffer))
partial = {k: v for k, v in model.state_dict().items() if k.startswith("0")}
print(list(partial), model.load_state_dict(partial, strict=False).missing_keys)

# %% train, eval and dropout
torch.manual_seed(0)
net = nn.Sequential(nn.Linear(4, 4), nn.Dropout(0.5), nn.BatchNorm1d(4))
print(net.training, net[1].training)
x = torch.randn(6, 4)
a, b = net(x), net(x)
print(torch.equal(a, b))
net.eval()
print(torch.equal(net(x), net(x)), [m.training for m in net.modules()])
print(net(x)[0])
net.train()
print(net[1](torch.ones(2, 4)), F.dropout(torch.ones(3), 0.5, training=False), nn.Dropout(p=1.0)(torch.ones(2)))
try:
    net(x[:1])
except ValueError as error:
    print(error)
try:
    nn.Dropout(1.5)
except ValueError as error:
    print(error)


def dropout_layer(X, dropout):
    mask = (torch.rand(X.shape) > dropout).float()
    return mask * X / (1.0 - dropout)


print(dropout_layer(torch.arange(8.0).reshape(2, 4), 0.5))

# %% buffers, types and copies
import copy


class Counter(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("steps", torch.tensor(0))
        self.register_buffer("cache", torch.zeros(2), persistent=False)
        self.scale = nn.Parameter(torch.tensor(1.5))
        self.note = "plain"

    def forward(self, x):
        self.steps += 1
        return x * self.scale


m = Counter()
m(torch.ones(1))
m(torch.ones(1))
print(dict(m.state_dict()), m.steps, [n for n, _ in m.named_buffers()])
c = copy.deepcopy(m)
c.scale.data.zero_()
print(m.scale, c.scale, c.steps is m.steps)
m.double()
print(m.scale.dtype, m.steps.dtype, m.cache.dtype, m.half().scale, m.to(torch.float32).scale.dtype)
m.requires_grad_(False)
print(m.scale.requires_grad, m.note)
try:
    m.scale = torch.ones(1)
except TypeError as error:
    print(error)
m.scale = nn.Parameter(torch.ones(1))
del m.scale
print(list(m.parameters()))
try:
    m(torch.ones(1))
except AttributeError as error:
    print(error)


# %% activations on one line
x = torch.linspace(-3, 3, 5)
for name in "ReLU LeakyReLU GELU SiLU Sigmoid Tanh Softplus".split():
    layer = getattr(nn, name)()
    y = x.clone().requires_grad_()
    layer(y).sum().backward()
    print(layer, layer(x), y.grad)
print(nn.Softmax(dim=0)(x), F.leaky_relu(x, 0.5), nn.LogSoftmax(0), F.gelu(x, approximate="tanh"))

# %% losses on one line
torch.manual_seed(0)
logits, target = torch.randn(3, 4), torch.tensor([1, 0, 3])
a, b = torch.randn(3), torch.randn(3)
c = (b > 0).float()
print(
    nn.CrossEntropyLoss()(logits, target),
    nn.NLLLoss()(logits.log_softmax(1), target),
    -logits.log_softmax(1)[range(3), target].mean(),
    nn.MSELoss()(a, b),
    nn.L1Loss(reduction="sum")(a, b),
    F.smooth_l1_loss(a, b),
    F.huber_loss(a, b, delta=0.5),
    nn.BCEWithLogitsLoss()(a, c),
    nn.BCELoss()(a.sigmoid(), c),
    F.kl_div(logits.log_softmax(1), torch.full((3, 4), 0.25), reduction="batchmean"),
)
print(
    nn.CrossEntropyLoss(weight=torch.ones(4), ignore_index=0),
    nn.CrossEntropyLoss(reduction="none")(logits, target),
    nn.MSELoss(reduction="none")(a, b),
    nn.BCEWithLogitsLoss(weight=torch.ones(3))(a, c),
    nn.CrossEntropyLoss(label_smoothing=0.2)(logits, target),
    F.cosine_similarity(logits, logits.flip(1)),
)

# %% mse with a wrong shape warns
torch.manual_seed(0)
pred, target = torch.randn(3, 1), torch.randn(3)
print(F.mse_loss(pred, target), F.l1_loss(pred.squeeze(1), target))
print(F.softmax(pred.squeeze()), F.log_softmax(torch.ones(2, 2)))
print(torch.ones(2, 3, 4).T.shape, torch.nn.functional.tanh(torch.ones(1)))
x = torch.ones(2, requires_grad=True) * 2
print(x.grad)
torch.tensor(torch.ones(2))
print(nn.GRU(2, 2, dropout=0.1))
print(F.sigmoid(torch.zeros(1)))


# %% names of modules
net = nn.Sequential(nn.Linear(2, 2))
print(net[0].bias.shape)
print(net.get_submodule("0"), net.get_parameter("0.weight").shape)

# %% gradients of modules
net = nn.Linear(2, 1)
net.register_full_backward_hook(lambda m, g_in, g_out: print(g_out))
net(torch.ones(1, 2)).sum().backward()

# %% rarer activations
x = torch.linspace(-3, 3, 5)
for name in "Tanh ELU Softsign Hardtanh Mish SELU LogSigmoid Hardswish".split():
    print(getattr(nn, name)()(x))
