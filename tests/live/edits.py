"""What readers make of the chapters' cells: other numbers, other layers, steps of their own, and the mistakes on the way.

Forty programs, each below a line that names its chapter and what is changed. None of them knows of another; all begin with
the imports of `test_edits.py`, which runs each with torch and with the small one, and wants the same of both.
"""

# %% embedding: a third row of padded indices, and a row that is never read
padded = torch.tensor([[1, 2, 3], [2, 0, 0], [3, 3, 0]])
embedding = companion.Embedding(5, 3, padding_idx=0)
embedding(padded).sum().backward()
print(embedding.weight.grad)
for row, gradient in enumerate(embedding.weight.grad):
    print(row, int(gradient[0]), "times read", (padded == row).sum().item())
embedding.weight[0], embedding

# %% embedding: other sizes, and indices of the wrong type, too large, and negative
short = nn.Embedding(6, 4, max_norm=1.0, dtype=torch.float64)
print(short(torch.arange(6)).norm(dim=1) <= 1 + 1e-6, short.weight)
small = nn.Embedding(6, 4)
for wrong in (torch.tensor([0, 6]), torch.tensor([-1]), torch.tensor([1.0]), 3):
    try:
        small(wrong)
    except (IndexError, RuntimeError, TypeError) as error:
        print(type(error).__name__, error)
F.one_hot(torch.tensor([0, 7]), 6)

# %% embedding: two words nearer to each other, after Adam with weight decay in one group of two
model = nn.Sequential(nn.Embedding(5, 2), nn.Flatten(), nn.Linear(4, 1))
groups = [{"params": model[0].parameters(), "lr": 0.1}, {"params": model[2].parameters(), "weight_decay": 0.1}]
optimizer = torch.optim.Adam(groups, lr=0.01)
for step in range(20):
    loss = (model(torch.tensor([[1, 2], [3, 4]])).squeeze() - torch.tensor([1.0, -1.0])).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 5 == 0:
        print(f"{step:2} {loss:.5f}")
rows = model[0].weight.detach()
print(F.cosine_similarity(rows[1:2], rows[1:]), rows[0] @ rows.T)
optimizer

# %% rnn: a number at the lower right of W_hh, and longer silence
W_ih = torch.tensor([[1.0, 0.0], [0.0, 0.5]])
W_hh = torch.tensor([[0.0, 0.0], [1.0, 0.9]])
h = torch.zeros(2)
for x in torch.tensor([[1.0, 0.0], [0.0, 1.0]] + [[0.0, 0.0]] * 5):
    h = torch.tanh(W_ih @ x + W_hh @ h)
    print("x =", x.tolist(), "  h =", [round(number, 3) for number in h.tolist()])
h, W_hh.T, torch.linalg.eigvals(W_hh)

# %% rnn: the weights forgotten to be transposed
X, H = torch.tensor([[1.0, 2.0]]), torch.tensor([[3.0, 4.0, 5.0]])
W_ih, W_hh = torch.arange(6.0).view(3, 2), torch.eye(3)
print(X @ W_ih.T + H @ W_hh.T)
print(torch.cat([X, H], dim=1) @ torch.cat([W_ih.T, W_hh.T]))
for wrong in (lambda: X @ W_ih, lambda: torch.cat([W_ih, W_hh]), lambda: X + H, lambda: W_ih @ torch.ones(2).long()):
    try:
        print(wrong())
    except RuntimeError as error:
        print(error)

# %% rnn: relu in place of tanh, two layers, both directions, batch first, held against the companion
options = {"num_layers": 2, "nonlinearity": "relu", "batch_first": True, "bidirectional": True, **float64}
layer = nn.RNN(3, 4, **options)
output, h_n = layer(torch.randn(2, 5, 3, **float64))
print(output.shape, h_n.shape, (output[:, -1, :4] == h_n[2]).all())
print(layer, [name for name in layer.state_dict() if "l1" in name])
compare(companion.RNN(3, 4, **options), layer)

# %% rnn: units in another order
layer, order = nn.RNN(5, 4), torch.tensor([2, 0, 3, 1])
moved = nn.RNN(5, 4)
with torch.no_grad():
    moved.weight_ih_l0.copy_(layer.weight_ih_l0[order])
    moved.weight_hh_l0.copy_(layer.weight_hh_l0[order][:, order])
    for one, other in ((moved.bias_ih_l0, layer.bias_ih_l0), (moved.bias_hh_l0, layer.bias_hh_l0)):
        one.copy_(other[order])
x = torch.randn(3, 2, 5)
print(torch.allclose(layer(x)[0][..., order], moved(x)[0], atol=1e-6), order.argsort(), order[order])
layer(x)[1].detach(), moved(x)[1].detach()

# %% rnn: an RNN of one's own with a list of weights, which the optimizer does not find
class Mine(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.weights = [nn.Parameter(torch.randn(size, size)), nn.Parameter(torch.zeros(size))]

    def forward(self, x, h):
        W, b = self.weights
        return [h := torch.tanh(x_t + h @ W.T + b) for x_t in x][-1]


mine = Mine(3)
print(mine, len(list(mine.parameters())), mine(torch.ones(4, 3), torch.zeros(3)))
torch.optim.SGD(mine.parameters(), lr=0.1)

# %% lstm: the gates in another order
lstm, wrong = nn.LSTM(4, 1, **float64), nn.LSTM(4, 1, **float64)
order = [1, 0, 2, 3]
wrong.load_state_dict({name: weight[order] for name, weight in lstm.state_dict().items()})
x = F.one_hot(torch.tensor([2, 0, 0, 3, 1]), 4).double()
(output, (h, c)), (other, _) = lstm(x), wrong(x)
print(torch.stack([output.flatten(), other.flatten()]).detach())
print(h.detach(), c.detach(), lstm.bias_ih_l0.chunk(4)[1])
(output.sum() + 2 * c.sum()).backward()
print(lstm.weight_ih_l0.grad, lstm.weight_hh_l0.grad.T)
lstm.load_state_dict({name: weight[[0, 1, 2]] for name, weight in lstm.state_dict().items()})

# %% lstm: gates by hand, at other places, with numbers of type float32
a = torch.tensor([-5.0, 0.0, 0.5, 5.0])
print(torch.sigmoid(a), torch.tanh(a), 1 - torch.sigmoid(a), torch.sigmoid(a) ** 60)
f, i, g = torch.sigmoid(a), torch.sigmoid(-a), torch.tanh(a)
c = torch.zeros(4)
for t in range(6):
    c = f * c + i * g
    print(t, [round(one, 4) for one in c.tolist()])
a.sigmoid_().round(decimals=2), a, a.exp().log1p()

# %% lstm: a peephole, as a subclass of the companion's step
class PeepholeStep(LSTMStep):
    def step(self, a, state, w):
        h, c = state
        i, f, g, o = (a + h @ w.hh).chunk(4, dim=-1)
        c = torch.sigmoid(f + c) * c + torch.sigmoid(i + c) * torch.tanh(g)
        return torch.sigmoid(o + c) * torch.tanh(c), c


class Peephole(companion.LSTM):
    _step = PeepholeStep()


layer = Peephole(3, 4, 2, bidirectional=True, batch_first=True)
output, (h, c) = layer(torch.randn(2, 5, 3))
output.square().mean().backward()
print(layer, output[0, :2], sep="\n")
print({name: round(parameter.grad.norm().item(), 5) for name, parameter in layer.named_parameters() if "hh" in name})
[row.tensor for row in compare(Peephole(3, 4, **float64), nn.LSTM(3, 4, **float64)) if row.ok]

# %% lstm: the candidate with relu, by changing the function of the chapter
def lstm_step(x, h, c, W_ih, W_hh, b):
    i, f, g, o = (x @ W_ih.T + h @ W_hh.T + b).chunk(4, dim=1)
    c = f.sigmoid() * c + i.sigmoid() * F.relu(g)
    return o.sigmoid() * c.tanh(), c


W_ih, W_hh, b = (torch.randn(shape, requires_grad=True) for shape in ((8, 3), (8, 2), (8,)))
h = c = torch.zeros(1, 2)
for x in torch.randn(4, 1, 3):
    h, c = lstm_step(x, h, c, W_ih, W_hh, b)
    print(h, c)
h.sum().backward()
W_hh.grad, b.grad.view(4, 2)

# %% lstm: wrong states: swapped, missing, of another batch, without a dimension
lstm, x = nn.LSTM(4, 6), torch.randn(5, 3, 4)
zeros = torch.zeros(1, 3, 6)
print(lstm(x, (zeros, zeros + 1))[1][1].shape)
for state in (zeros, (zeros, zeros[:, :2]), (zeros[0], zeros[0]), (zeros,), (zeros, zeros, zeros)):
    try:
        print(len(lstm(x, state)))
    except (RuntimeError, ValueError, IndexError) as error:
        print(type(error).__name__, error)
lstm(x[..., :3])

# %% lstm: the gradient along the belt, from a forget bias of 2
cell = companion.LSTMCell(3, 8, **float64)
with torch.no_grad():
    cell.bias_ih.chunk(4)[1].fill_(2.0)
    cell.bias_hh.chunk(4)[1].zero_()
first = c = torch.zeros(1, 8, **float64, requires_grad=True)
h, kept = torch.zeros(1, 8, **float64), []
for x_t in torch.randn(30, 1, 3, **float64):
    h, c = cell(x_t, (h, c))
    c.retain_grad()
    kept.append(c)
h.sum().backward()
print([f"{c.grad.norm():.1e}" for c in kept[::10]], f"{first.grad.norm() / kept[-1].grad.norm():.2e}")
cell.bias_ih.grad.view(4, 8).norm(dim=1)

# %% lstm_parameters: many parameters at once, and every shape
def look(layer, *shape):
    output, state = layer(torch.zeros(shape))
    for name, tensor in {"output": output, "h_n": state[0], "c_n": state[1]}.items():
        print(f"{name:8}{tuple(tensor.shape)}")
    for name, parameter in layer.named_parameters():
        print(f"{name:24}{tuple(parameter.shape)}", parameter.numel())


look(nn.LSTM(3, 5, 2, batch_first=True, bidirectional=True, proj_size=2, bias=False), 4, 6, 3)
look(nn.LSTM(3, 5), 6, 3)
look(nn.LSTM(3, 5), 6)

# %% lstm_parameters: arguments that do not go together
for options in (
    {"proj_size": 5}, {"proj_size": -1}, {"dropout": 1.5}, {"num_layers": 0}, {"bias": 1}, {"batch_first": None}, {"layers": 2},
    {"dtype": torch.int64},
):  # fmt: skip
    try:
        print(nn.LSTM(3, 5, **options))
    except (ValueError, TypeError, RuntimeError) as error:
        print(options, type(error).__name__, error)
nn.GRU(3, 5, proj_size=2)

# %% lstm_parameters: sequences of other lengths, packed in any order, forwards and backwards
layer = companion.LSTM(4, 3, bidirectional=True, **float64)
sequences = [torch.randn(length, 4, **float64) for length in (2, 5, 3)]
padded, lengths = pad_sequence(sequences, padding_value=-1.0), torch.tensor([2, 5, 3])
packed = pack_padded_sequence(padded, lengths, enforce_sorted=False)
print(packed.batch_sizes, packed.sorted_indices, packed.unsorted_indices)
output, (h, _) = layer(packed)
unpacked, again = pad_packed_sequence(output, batch_first=True, padding_value=9.0)
print(unpacked.detach(), again)
for k, one in enumerate(sequences):
    print(k, torch.allclose(layer(one)[1][0], h[:, k], atol=1e-6))
pack_padded_sequence(padded, [2, 5, 3])

# %% lstm_parameters: dropout of another strength, from a seed, in training and evaluation
layer, x = nn.LSTM(4, 3, 3, dropout=0.7, **float64), torch.ones(4, 2, 4, **float64)
torch.manual_seed(5)
one = layer(x)[0]
torch.manual_seed(5)
print(torch.equal(layer(x)[0], one), torch.equal(layer(x)[0], one))
mask = F.dropout(torch.ones(3, 8), 0.7)
print(mask, (mask == 0).float().mean())
print(layer.eval().training, torch.equal(layer(x)[0], layer(x)[0]), nn.Dropout(0.7).eval()(mask) is mask)
one.detach()[-1], layer(x)[0][-1].detach()

# %% lstm_parameters: orthogonal weights, and forget gates that begin open
@torch.no_grad()
def begin(layer):
    for name, parameter in layer.named_parameters():
        if "bias" in name:
            parameter.zero_()
        else:
            for gate in parameter.chunk(4):
                nn.init.orthogonal_(gate) if "hh" in name else nn.init.xavier_normal_(gate, gain=0.5)
    layer.bias_ih_l0[4:8] = 1


layer = nn.LSTM(3, 4)
begin(layer)
W = layer.weight_hh_l0.chunk(4)[2]
print((W @ W.T).round(decimals=5).detach() + 0.0, layer.bias_ih_l0.detach(), layer.weight_ih_l0[:2], sep="\n")
layer.bias_ih_l0[4:8] = 1

# %% gru: an update gate that takes the new, by another sign
class OtherStep(GRUStep):
    def step(self, a, state, w):
        (h,) = state
        (a_r, a_z, a_n), (u_r, u_z, u_n) = (b.chunk(3, dim=-1) for b in (a, h @ w.hh + w.b_hh))
        r, z = torch.sigmoid(a_r + u_r), torch.sigmoid(a_z + u_z)
        return (z * torch.tanh(a_n + r * u_n) + (1 - z) * h,)


class Other(companion.GRU):
    _step = OtherStep()


other, gru = Other(3, 4, **float64), nn.GRU(3, 4, **float64)
with torch.no_grad():
    for name, parameter in gru.named_parameters():
        r, z, n = getattr(other, name).chunk(3)
        parameter.copy_(torch.cat([r, -z, n]))
x = torch.randn(6, 2, 3, **float64)
print(torch.allclose(gru(x)[0], other(x)[0]), gru(x)[0][-1].detach())
compare(Other(3, 4, **float64), gru)

# %% gru: nobody takes the state for a pair, with one layer and with two
layer = nn.GRU(3, 4, num_layers=2)
output, (h, c) = layer(torch.ones(5, 1, 3))
print(h.shape, torch.equal(c, output[-1]))
output, h = nn.GRU(3, 4)(torch.ones(5, 1, 3))
try:
    h, c = h
except ValueError as error:
    print(error)
layer(torch.ones(5, 1, 3), (h, h))

# %% gru: the counting experiment, shorter, with other sizes and momentum
layer, read_off = nn.GRU(1, 5, **float64), nn.Linear(5, 1, **float64)
parameters = [*layer.parameters(), *read_off.parameters()]
optimizer = torch.optim.SGD(parameters, lr=0.3, momentum=0.9, nesterov=True)
for step in range(12):
    ones = torch.randint(0, 2, (8, 16, 1)).double()
    loss = ((read_off(layer(ones)[0]) - ones.cumsum(0) / 8) ** 2).mean()
    optimizer.zero_grad(set_to_none=False)
    loss.backward()
    norm = nn.utils.clip_grad_norm_(parameters, 0.5)
    optimizer.step()
    if step % 3 == 0:
        print(f"{step:2} loss {loss.item():.6f}, norm {norm:.4f}, clipped {read_off.weight.grad.norm():.4f}")
[round(20 * one, 6) for one in read_off(layer(torch.ones(20, 1, 1, **float64))[0]).flatten().tolist()[::5]]

# %% changing_the_cell: a step with one gate, and a derivative of one's own for it
class Gate(torch.autograd.Function):
    @staticmethod
    def forward(ctx, a):
        y = torch.sigmoid(a)
        ctx.save_for_backward(y)
        return y

    @staticmethod
    def backward(ctx, g):
        (y,) = ctx.saved_tensors
        return g * y * (1 - y)


class Minimal(Step):
    name, gates = "MINIMAL", 2

    def step(self, a, state, w):
        (h,) = state
        f, n = (a + h @ w.hh).chunk(2, dim=-1)
        f = Gate.apply(f)
        return (f * h + (1 - f) * torch.tanh(n),)


class Layer(RNNBase):
    _step = Minimal()


layer = Layer("MINIMAL", 3, 4, num_layers=2, dtype=torch.float64)
x = torch.randn(5, 2, 3, **float64, requires_grad=True)
output, h = layer(x)
print(torch.autograd.gradcheck(Gate.apply, torch.randn(4, **float64, requires_grad=True)))
print(torch.autograd.gradcheck(lambda x: layer(x)[0], (x,)), layer, h.shape)
Gate.apply(x[0, 0]), list(layer.state_dict())

# %% changing_the_cell: a Function whose backward is wrong in three ways
class Square(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, k):
        ctx.save_for_backward(x)
        ctx.k = k
        return k * x * x

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return {1: (g * x, None), 2: g * 2 * x, 3: ((g * 2 * x)[:1], None)}[ctx.k]


x = torch.tensor([1.0, 2.0, 3.0], **float64, requires_grad=True)
for k in (1, 2, 3):
    try:
        Square.apply(x, k).sum().backward()
        print(x.grad)
    except RuntimeError as error:
        print(error)
torch.autograd.gradcheck(lambda x: Square.apply(x, 1), (x,))

# %% changing_the_cell: layer normalisation of the state, and functional_call with doubled weights
class Normed(companion.GRU):
    class _Step(GRUStep):
        def step(self, a, state, w):
            return super().step(a, (F.layer_norm(state[0], state[0].shape[-1:]),), w)

    _step = _Step()


layer, x = Normed(3, 4, **float64), torch.randn(6, 1, 3, **float64)
weights = {name: 2 * parameter for name, parameter in layer.named_parameters()}
doubled, _ = functional_call(layer, weights, (x,))
doubled.sum().backward()
print(layer(x)[0][-1].detach(), doubled[-1].detach(), layer.weight_hh_l0.grad.norm(), sep="\n")
doubled.sum().backward()

# %% through_time: how far back the gradient reaches, with hooks and other widths
cell = nn.RNNCell(2, 6, **float64)
h, norms = torch.zeros(1, 6, **float64, requires_grad=True), {}
for t in range(12):
    h = cell(torch.ones(1, 2, **float64), h)
    h.register_hook(lambda g, t=t: norms.__setitem__(t, round(g.norm().item(), 6)))
h.sum().backward()
print(norms)
J = torch.autograd.functional.jacobian(lambda h: cell(torch.ones(1, 2, **float64), h), h.detach())[0, :, 0]
print(J, torch.linalg.svdvals(J), torch.linalg.matrix_norm(J, 2), sep="\n")
(torch.linalg.eigvals(J).abs().max() < 1).item(), torch.func.jacrev(torch.tanh)(torch.arange(3.0))

# %% through_time: truncated windows, the state not detached, detached, and changed in place
gru, x = nn.GRU(2, 3), torch.randn(4, 1, 2)


def windows(carried):
    state = torch.zeros(1, 1, 3)
    for _ in range(2):
        output, state = gru(x, state)
        output.sum().backward()
        state = carried(state)
    return gru.weight_hh_l0.grad.norm()


print(windows(lambda state: state.detach()), windows(lambda state: state.data))
for wrong in (lambda state: state, lambda state: state.add_(1)):
    try:
        print(windows(wrong))
    except RuntimeError as error:
        print(str(error)[:90])

# %% through_time: in-place operations that autograd minds, and those that it does not
w = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
y = w * 2
y[0] = 0.0
y[1:].mul_(10)
kept = torch.empty(2, 3).copy_(w)
(y.sum() + kept[1, 2] * 5).backward()
print(y, kept, w.grad)
mask, place = w.detach() > 1.5, torch.tensor([0])
for one, change in ((torch.where(mask, w, 0.0), mask.logical_not_), (w[place], lambda: place.add_(1))):
    change()
    try:
        print(torch.autograd.grad(one.sum(), w))
    except RuntimeError as error:
        print(error)
for change in (
    lambda: w.add_(1), lambda: w.__setitem__(0, 5.0), lambda: w.exp().add_(1).sum().backward(),
    lambda: w.tanh().mul_(2).sum().backward(), lambda: w.numpy(),
):  # fmt: skip
    try:
        print(change(), w.grad)
    except RuntimeError as error:
        print(error)
with torch.no_grad():
    w -= 0.1 * w.grad
w

# %% through_time: second derivatives through an LSTM, with a projection
lstm = nn.LSTM(2, 4, proj_size=3, **float64)
x = torch.randn(3, 1, 2, **float64, requires_grad=True)
(g,) = torch.autograd.grad(lstm(x)[0].sum(), x, create_graph=True)
penalty = g.square().sum()
penalty.backward()
print(penalty, x.grad, lstm.weight_hr_l0.grad, sep="\n")
(unused,) = torch.autograd.grad(lstm(x)[0].sum(), torch.ones(1, requires_grad=True), allow_unused=True)
print(unused)
torch.autograd.functional.hessian(lambda x: lstm(x)[0].pow(2).sum(), x.detach()).shape, penalty.backward()

# %% training: cross-entropy with other options, and targets that do not fit
logits, targets = torch.randn(4, 5, requires_grad=True), torch.tensor([0, 3, -100, 4])
for options in (
    {}, {"reduction": "none"}, {"reduction": "sum"}, {"label_smoothing": 0.1}, {"weight": torch.arange(5.0)}, {"ignore_index": 3},
):  # fmt: skip
    try:
        print(options, F.cross_entropy(logits, targets, **options))
    except IndexError as error:
        print(options, error)
F.cross_entropy(logits, targets).backward()
print(logits.grad, F.cross_entropy(logits.detach(), logits.detach().softmax(1)), F.nll_loss(logits.log_softmax(1), targets))
for wrong in (targets[:3], targets + 1, targets.float(), targets[:, None]):
    try:
        print(F.cross_entropy(logits, wrong))
    except (IndexError, RuntimeError, ValueError) as error:
        print(type(error).__name__, error)

# %% training: other schedules of the learning rate, and a checkpoint from which one goes on
model = nn.Linear(3, 1)
optimizer = torch.optim.AdamW(model.parameters(), lr=0.1)
schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=4)
for step in range(6):
    model(torch.ones(2, 3)).mean().backward()
    optimizer.step()
    schedule.step()
    print(f"{schedule.get_last_lr()[0]:.6f}", end=" ")
    if step == 2:
        with tempfile.TemporaryDirectory() as folder:
            torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict()}, f"{folder}/run.pt")
            kept = torch.load(f"{folder}/run.pt")
print(kept["model"], kept["optimizer"]["param_groups"][0]["lr"], sep="\n")
print(model.load_state_dict(kept["model"]), optimizer.load_state_dict(kept["optimizer"]))
model.weight, optimizer.state[model.bias]["exp_avg"], [round(one, 5) for one in optimizer.param_groups[0]["betas"]]

# %% training: a plateau, warming up, and clipping by value
model = nn.Sequential(nn.Linear(2, 4), nn.Tanh(), nn.Linear(4, 1))
optimizer = torch.optim.RMSprop(model.parameters(), lr=0.02, centered=True, momentum=0.5)
plateau = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, factor=0.5, patience=1)
x = torch.tensor([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
for step in range(12):
    loss = F.binary_cross_entropy_with_logits(model(x)[:, 0], torch.tensor([0.0, 1.0, 1.0, 0.0]))
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_value_(model.parameters(), 0.05)
    optimizer.step()
    plateau.step(round(loss.item(), 1))
    print(f"{loss.item():.4f} {optimizer.param_groups[0]['lr']}")
model[0].weight.grad.abs().max(), model, sum(p.numel() for p in model.parameters())

# %% training: our own Adam with another name for its memory, against torch's
class Adam:
    def __init__(self, parameters, lr=0.01, betas=(0.9, 0.99)):
        self.parameters, self.lr, self.betas, self.t = list(parameters), lr, betas, 0
        self.m, self.v = ([torch.zeros_like(w) for w in self.parameters] for _ in range(2))

    @torch.no_grad()
    def step(self):
        self.t += 1
        for w, m, v in zip(self.parameters, self.m, self.v):
            m.lerp_(w.grad, 1 - self.betas[0])
            v.mul_(self.betas[1]).addcmul_(w.grad, w.grad, value=1 - self.betas[1])
            w.sub_(self.lr * (m / (1 - self.betas[0] ** self.t)) / ((v / (1 - self.betas[1] ** self.t)).sqrt() + 1e-8))


ours, theirs = (torch.ones(3, **float64, requires_grad=True) for _ in range(2))
steps = Adam([ours]), torch.optim.Adam([theirs], lr=0.01, betas=(0.9, 0.99))
for k in range(5):
    for w, optimizer in zip((ours, theirs), steps):
        w.grad = None
        (w * torch.tensor([50.0, -1.0, 0.001], **float64)).pow(2).sum().backward()
        optimizer.step()
    print(ours.detach(), torch.allclose(ours, theirs, rtol=0, atol=1e-12))

# %% language_model: letters drawn at other temperatures, from a generator, and the k likeliest only
logits, generator = torch.tensor([2.0, 1.0, 0.5, -1.0, -3.0]), torch.Generator().manual_seed(7)
for temperature in (0.1, 0.5, 1.0, 5.0):
    p = (logits / temperature).softmax(-1)
    drawn = torch.multinomial(p, 300, replacement=True, generator=generator)
    print(temperature, p, drawn[:12].tolist(), drawn.bincount(minlength=5))
best, where = logits.topk(2)
cut = logits.masked_fill(logits < best[-1], -torch.inf)
print(cut, cut.softmax(-1), where, (-cut.softmax(-1) * cut.log_softmax(-1)).nansum())
torch.multinomial(cut.softmax(-1), 6)

# %% language_model: a network of 16 units that begins to learn a text by heart
text = "hello world "
letters = sorted(set(text))
indices = torch.tensor([letters.index(one) for one in text])


class Writer(nn.Module):
    def __init__(self, kind, size):
        super().__init__()
        self.table, self.layer, self.out = nn.Embedding(len(letters), 5), kind(5, size), nn.Linear(size, len(letters))

    def forward(self, indices, state=None):
        h, state = self.layer(self.table(indices), state)
        return self.out(h), state


for kind in (nn.LSTM, companion.GRU):
    torch.manual_seed(1)
    model = Writer(kind, 16)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.03)
    for _ in range(15):
        loss = F.cross_entropy(model(indices[:-1, None])[0].squeeze(1), indices[1:])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    model.eval()
    index, state, written = indices[:1, None], None, "h"
    for _ in range(14):
        logits, state = model(index, state)
        index = logits.argmax(-1)
        written += letters[index.item()]
    print(f"{loss:.3f} {math.exp(loss):.2f}", written)

# %% sequences: masks for sequences of other lengths, sums that leave the padding out
lengths = torch.tensor([4, 1, 3])
mask = torch.arange(5) < lengths[:, None]
x = torch.arange(15.0).view(3, 5).requires_grad_()
mean = (x * mask).sum(1) / mask.sum(1)
mean.sum().backward()
print(mask, mean, x.grad, sep="\n")
print(torch.where(mask, x, torch.nan), x.masked_fill(~mask, -math.inf).max(1), x[mask], sep="\n")
print(x.gather(1, (lengths - 1)[:, None]), x.flip(1)[:, ::2], mask.nonzero()[-2:], mask.any(0), ~mask[0])
x * mask[:, :4]

# %% attention: another mask, two heads by einsum, and what a head looks at
q, k, v = torch.randn(3, 2, 4, 6, **float64).unbind(0)
heads = [one.unflatten(-1, (2, 3)).transpose(1, 2) for one in (q, k, v)]
scores = torch.einsum("bhid,bhjd->bhij", *heads[:2]) / 3**0.5
mask = torch.ones(4, 4, dtype=torch.bool).tril()
weights = scores.masked_fill(~mask, -torch.inf).softmax(-1)
output = (weights @ heads[2]).transpose(1, 2).flatten(2)
print(weights[0, 1], weights.sum(-1)[0], sep="\n")
print(output[0], (output - F.scaled_dot_product_attention(*heads, is_causal=True).transpose(1, 2).flatten(2)).abs().max() < 1e-12)
print(weights.argmax(-1)[1], weights[0, 0, 1:].topk(2, dim=-1).indices)
torch.einsum("bid,bje->bij", q, k[..., :5]).shape, torch.einsum("bid,jd->bij", q, k)

# %% attention: torch's own layer with other options, and sizes that no head divides
layer, x = nn.MultiheadAttention(6, 3, batch_first=True), torch.randn(2, 4, 6)
padding = torch.tensor([[False, False, False, True], [False] * 4])
output, weights = layer(x, x, x, key_padding_mask=padding, average_attn_weights=False)
print(output[0].detach(), weights.shape, weights[0, 0].detach(), sep="\n")
print(layer, sum(parameter.numel() for parameter in layer.parameters()))
for wrong in (lambda: nn.MultiheadAttention(6, 4), lambda: layer(x, x[..., :5], x), lambda: F.layer_norm(x, (5,))):
    try:
        print(wrong())
    except (AssertionError, RuntimeError) as error:
        print(type(error).__name__, error)

# %% matrix_state: a memory of outer products, other sizes, overwritten and read
keys, values = F.normalize(torch.randn(4, 3), dim=1), torch.eye(4)
C, n = torch.zeros(4, 3), torch.zeros(3)
for k, v in zip(keys, values):
    C, n = 0.9 * C + torch.outer(v, k), 0.9 * n + k
read = C @ keys.T / (n @ keys.T).abs().clamp(min=1)
print(C, read, read.argmax(0), torch.linalg.matrix_rank(C), sep="\n")
C[:, 0], C[1] = -1.0, torch.arange(3.0)
C[torch.tensor([0, 2]), torch.tensor([1, 1])] += 10
print(C, C.diagonal(), torch.trace(C[:3]), C[C > 9], torch.kron(C[:1], torch.tensor([1.0, 2.0])))
C.index_add(0, torch.tensor([0, 0]), torch.ones(2, 3)), C @ keys

# %% complaints: printing, of every size and kind
for one in (
    torch.zeros(3), torch.zeros(2, 0), torch.tensor([]), torch.tensor(7), torch.tensor(0.1), torch.arange(20) * 1000,
    torch.tensor([1e-6, 1.0]), torch.tensor([1.0, 2.0, torch.nan, -torch.inf]), torch.tensor([0.5, 1e9]), torch.ones(2, 1, 3),
    torch.rand(40, 30), torch.rand(2, 3) > 0.5, torch.ones(2, dtype=torch.float16), torch.tensor([1 + 2j, 0.5j]),
    torch.linspace(-1, 1, 11, requires_grad=True), torch.full((2, 2), -3, dtype=torch.int8), torch.zeros(1, requires_grad=True) * 2,
):  # fmt: skip
    print(one, one.dtype, one.numel(), one.dim())
torch.set_printoptions(precision=2, sci_mode=False, linewidth=60)
print(torch.linspace(0, 1e-3, 12), torch.tensor([1e-5, 123.456]))
torch.Size([2, 3]), torch.float64, torch.device("cpu"), nn.Parameter(torch.ones(2)), torch.rand(2, 2).max(0)
