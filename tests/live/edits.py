"""Programs that readers might write from the chapters' cells: other numbers, other layers, own steps, and mistakes.

A comment above each program names its chapter and the change. The programs are independent; all begin with the imports
of `test_edits.py`, which runs each with torch and with small_torch and compares the outputs. Results and errors of
single calls are tested in test_operations.py, test_nn.py, test_optim.py and test_tape.py.
"""


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
print([row.tensor for row in compare(Peephole(3, 4, **float64), nn.LSTM(3, 4, **float64)) if row.ok])


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
print(Gate.apply(x[0, 0]), list(layer.state_dict()))


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
print((torch.linalg.eigvals(J).abs().max() < 1).item(), torch.func.jacrev(torch.tanh)(torch.arange(3.0)))

# %% language_model: a network of 16 units that begins to learn a text by heart
text = "hello world "
letters = sorted(set(text))
indices = torch.tensor([letters.index(letter) for letter in text])


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
