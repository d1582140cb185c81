"""Programs of learners on training: loops by hand, optimizers, schedules, clipping, checkpoints."""

import torch
import torch.nn.functional as F
from torch import nn


# %% train loop and test loop
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
X = torch.randn(160, 8)
y = (X[:, 0] * X[:, 1] > 0).long() + (X[:, 2] > 1).long()
train_dataloader = DataLoader(TensorDataset(X[:128], y[:128]), batch_size=32, shuffle=True)
test_dataloader = DataLoader(TensorDataset(X[128:], y[128:]), batch_size=32)


class NeuralNetwork(nn.Module):
    def __init__(self):
        super().__init__()
        self.flatten = nn.Flatten()
        self.linear_relu_stack = nn.Sequential(
            nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 32), nn.ReLU(), nn.Linear(32, 3)
        )

    def forward(self, x):
        return self.linear_relu_stack(self.flatten(x))


model = NeuralNetwork().to("cpu")
print(model)
loss_fn = nn.CrossEntropyLoss()
optimizer = torch.optim.SGD(model.parameters(), lr=1e-1)


def train(dataloader, model, loss_fn, optimizer):
    size = len(dataloader.dataset)
    model.train()
    for batch, (X, y) in enumerate(dataloader):
        loss = loss_fn(model(X), y)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        if batch % 2 == 0:
            print(f"loss: {loss.item():>7f}  [{(batch + 1) * len(X):>5d}/{size:>5d}]")


def test(dataloader, model, loss_fn):
    model.eval()
    test_loss, correct = 0, 0
    with torch.no_grad():
        for X, y in dataloader:
            pred = model(X)
            test_loss += loss_fn(pred, y).item()
            correct += (pred.argmax(1) == y).type(torch.float).sum().item()
    print(
        f"Test Error: \n Accuracy: {(100 * correct / len(dataloader.dataset)):>0.1f}%,"
        f" Avg loss: {test_loss / len(dataloader):>8f} \n"
    )


for t in range(3):
    print(f"Epoch {t + 1}\n-------------------------------")
    train(train_dataloader, model, loss_fn, optimizer)
    test(test_dataloader, model, loss_fn)

# %% all optimizers on one valley
for name, options in {
    "SGD": {"lr": 0.1, "momentum": 0.9, "nesterov": True},
    "Adam": {"lr": 0.1, "betas": (0.8, 0.99)},
    "AdamW": {"lr": 0.1, "weight_decay": 0.1},
    "RMSprop": {"lr": 0.05, "alpha": 0.9},
    "Adagrad": {"lr": 0.5},
}.items():
    w = torch.tensor([5.0, -2.0], requires_grad=True)
    optimizer = getattr(torch.optim, name)([w], **options)
    for _ in range(20):
        optimizer.zero_grad()
        loss = 0.1 * w[0] ** 2 + 2 * w[1] ** 2
        loss.backward()
        optimizer.step()
    print(f"{name:10s} {loss.item():.4f}", w.detach())

# %% what an optimizer holds
torch.manual_seed(0)
model = nn.Linear(2, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.001, momentum=0.9)
print(optimizer)
model(torch.ones(1, 2)).sum().backward()
optimizer.step()
print("Model's state_dict:")
for param_tensor in model.state_dict():
    print(param_tensor, "\t", model.state_dict()[param_tensor].size())
print("Optimizer's state_dict:")
for var_name in optimizer.state_dict():
    print(var_name, "\t", optimizer.state_dict()[var_name])
optimizer.param_groups[0]["lr"] = 0.5
print(optimizer.param_groups[0]["lr"], len(optimizer.state), optimizer.defaults["momentum"])
optimizer.zero_grad(set_to_none=False)
print(model.weight.grad)
optimizer.zero_grad()
print(model.weight.grad)
other = torch.optim.SGD(model.parameters(), lr=1.0)
other.load_state_dict(optimizer.state_dict())
print(other.param_groups[0]["lr"], other.state_dict()["state"][0])

# %% schedules of the learning rate
from torch.optim import lr_scheduler


def rates(make, steps=8):
    optimizer = torch.optim.SGD([nn.Parameter(torch.zeros(1))], lr=1.0)
    scheduler = make(optimizer)
    found = []
    for _ in range(steps):
        found.append(round(optimizer.param_groups[0]["lr"], 4))
        optimizer.step()
        scheduler.step()
    return found


print(rates(lambda o: lr_scheduler.StepLR(o, 3)))
print(rates(lambda o: lr_scheduler.MultiStepLR(o, [2, 5], gamma=0.5)))
print(rates(lambda o: lr_scheduler.ExponentialLR(o, 0.9)))
print(rates(lambda o: lr_scheduler.CosineAnnealingLR(o, T_max=8, eta_min=0.1)))
print(rates(lambda o: lr_scheduler.LambdaLR(o, lambda epoch: 0.95**epoch)))
print(rates(lambda o: lr_scheduler.LinearLR(o, start_factor=0.25, total_iters=4)))
print(rates(lambda o: lr_scheduler.OneCycleLR(o, max_lr=2.0, total_steps=10)))
print(rates(lambda o: lr_scheduler.CosineAnnealingWarmRestarts(o, T_0=3, T_mult=2)))

# %% lower the rate on a plateau
torch.manual_seed(0)
model = nn.Linear(1, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
scheduler = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, mode="min", factor=0.1, patience=1)
for epoch, val_loss in enumerate([1.0, 0.9, 0.95, 0.93, 0.91, 0.92, 0.5]):
    optimizer.step()
    scheduler.step(val_loss)
    print(epoch, val_loss, optimizer.param_groups[0]["lr"], scheduler.get_last_lr(), scheduler.num_bad_epochs)
saved = scheduler.state_dict()
print(saved["best"], saved["last_epoch"])
warmup = torch.optim.lr_scheduler.LambdaLR(
    torch.optim.Adam(model.parameters(), lr=1e-3), lambda step: min((step + 1) / 4, ((step + 1) / 4) ** -0.5)
)
print([warmup.get_last_lr()[0]])
warmup.optimizer.step()
warmup.step()
print(warmup.get_last_lr(), warmup.last_epoch)

# %% a scheduler before its optimizer
model = nn.Linear(1, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=1)
scheduler.step()
print(scheduler.get_last_lr())
for wrong in (
    lambda: torch.optim.lr_scheduler.StepLR(model, 1),
    lambda: torch.optim.lr_scheduler.StepLR(optimizer),
    lambda: torch.optim.lr_scheduler.StepLR(optimizer, 1, gama=0.5),
    lambda: torch.optim.Adam(model.parameters(), learning_rate=0.1),
):
    try:
        wrong()
    except Exception as error:
        print(type(error).__name__, error)

# %% clipping of gradients
torch.manual_seed(0)
rnn = nn.RNN(2, 4)
x = torch.randn(30, 1, 2) * 10
(rnn(x)[0] ** 2).sum().mul(100).backward()
norm = torch.nn.utils.clip_grad_norm_(rnn.parameters(), max_norm=1.0)
print(round(norm.item(), 2))
total = sum((p.grad**2).sum() for p in rnn.parameters()).sqrt()
print(round(total.item(), 4))
nn.utils.clip_grad_value_(rnn.parameters(), 0.1)
print(max(p.grad.abs().max().item() for p in rnn.parameters()) <= 0.1 + 1e-9, rnn.bias_hh_l0.grad)
w = nn.Parameter(torch.ones(2))
print(nn.utils.clip_grad_norm_([w], 1.0), nn.utils.clip_grad_norm_(w, 1.0))
w.grad = torch.tensor([3.0, 4.0])
print(nn.utils.clip_grad_norm_(w, 2.5), w.grad, nn.utils.get_total_norm([w.grad]), nn.utils.parameters_to_vector([w]))
w.grad = torch.tensor([float("nan"), 1.0])
try:
    nn.utils.clip_grad_norm_(w, 1.0, error_if_nonfinite=True)
except RuntimeError as error:
    print(error)

# %% save and resume a checkpoint
import os
import tempfile

torch.manual_seed(0)
path = os.path.join(tempfile.mkdtemp(), "checkpoint.pt")
net = nn.GRU(2, 3)
optimizer = torch.optim.Adam(net.parameters(), lr=0.01)
x = torch.randn(4, 2, 2)


def step(net, optimizer):
    optimizer.zero_grad()
    loss = net(x)[0].pow(2).mean()
    loss.backward()
    optimizer.step()
    return loss.item()


for epoch in range(3):
    loss = step(net, optimizer)
torch.save(
    {
        "epoch": epoch,
        "model_state_dict": net.state_dict(),
        "optimizer_state_dict": optimizer.state_dict(),
        "loss": loss,
    },
    path,
)
again = nn.GRU(2, 3)
other = torch.optim.Adam(again.parameters())
checkpoint = torch.load(path, weights_only=True)
print(again.load_state_dict(checkpoint["model_state_dict"]))
other.load_state_dict(checkpoint["optimizer_state_dict"])
print(
    checkpoint["epoch"],
    f"{checkpoint['loss']:.5f}",
    step(net, optimizer) == step(again, other),
    other.param_groups[0]["lr"],
    os.path.exists(path),
    list(checkpoint),
    [*other.state_dict()["state"][0]],
)

# %% logistic regression and accuracy
torch.manual_seed(1)
X = torch.cat([torch.randn(30, 2) + 2, torch.randn(30, 2) - 2])
y = torch.cat([torch.ones(30), torch.zeros(30)]).unsqueeze(1)
w = torch.zeros(2, 1, requires_grad=True)
b = torch.zeros(1, requires_grad=True)
optimizer = torch.optim.SGD([w, b], lr=0.5)
for epoch in range(20):
    p = torch.sigmoid(X @ w + b)
    loss = F.binary_cross_entropy(p, y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if epoch % 5 == 0:
        print(epoch, round(loss.item(), 4), ((p > 0.5) == y).float().mean().item())
print(
    w.data,
    F.binary_cross_entropy_with_logits(X @ w + b, y).item() < 0.05,
    nn.BCEWithLogitsLoss(pos_weight=torch.tensor([2.0]))(X[:2] @ w, y[:2]).shape,
    F.binary_cross_entropy(p, y, reduction="none").shape,
)

# %% averages of weights and gradient accumulation
import copy

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1))
ema = copy.deepcopy(model)
[p.requires_grad_(False) for p in ema.parameters()]
optimizer = torch.optim.Adam(model.parameters(), lr=0.05)
x, y = torch.randn(12, 3), torch.randn(12, 1)
for step in range(6):
    for xb, yb in zip(x.chunk(3), y.chunk(3)):
        (F.mse_loss(model(xb), yb) / 3).backward()
    optimizer.step()
    optimizer.zero_grad()
    with torch.no_grad():
        for slow, fast in zip(ema.parameters(), model.parameters()):
            slow.lerp_(fast, 0.1)
print(F.mse_loss(model(x), y), F.mse_loss(ema(x), y))
print(ema[0].bias, ema[0].bias.requires_grad, [torch.equal(a, b) for a, b in zip(ema.parameters(), model.parameters())])
