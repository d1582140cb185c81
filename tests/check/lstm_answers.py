"""Right answers to the questions of the assignment `lstm`, for the tests of the checker and of the grader."""

GATES = """
def gates(x, h, weight_ih, weight_hh, bias_ih, bias_hh):
    H = h.shape[1]
    a = x @ weight_ih.T + bias_ih + h @ weight_hh.T + bias_hh
    i = torch.sigmoid(a[:, :H])
    f = torch.sigmoid(a[:, H:2*H])
    g = torch.tanh(a[:, 2*H:3*H])
    o = torch.sigmoid(a[:, 3*H:])
    return i, f, g, o
"""

CELL = """
class LSTMCell(nn.Module):
    def __init__(self, input_size, hidden_size):
        super().__init__()
        self.input_size = input_size
        self.hidden_size = hidden_size
        k = 1 / hidden_size ** 0.5
        self.weight_ih = nn.Parameter(torch.empty(4 * hidden_size, input_size).uniform_(-k, k))
        self.weight_hh = nn.Parameter(torch.empty(4 * hidden_size, hidden_size).uniform_(-k, k))
        self.bias_ih = nn.Parameter(torch.zeros(4 * hidden_size))
        self.bias_hh = nn.Parameter(torch.zeros(4 * hidden_size))

    def forward(self, x, state=None):
        if state is None:
            h = torch.zeros(x.shape[0], self.hidden_size)
            c = torch.zeros(x.shape[0], self.hidden_size)
        else:
            h, c = state
        a = F.linear(x, self.weight_ih, self.bias_ih) + F.linear(h, self.weight_hh, self.bias_hh)
        i, f, g, o = a.chunk(4, dim=1)
        i = torch.sigmoid(i)
        f = torch.sigmoid(f)
        g = torch.tanh(g)
        o = torch.sigmoid(o)
        c_next = f * c + i * g
        h_next = o * torch.tanh(c_next)
        return h_next, c_next
"""

LAYER = """
class LSTM(nn.Module):
    def __init__(self, input_size, hidden_size, batch_first=False):
        super().__init__()
        self.hidden_size = hidden_size
        self.batch_first = batch_first
        self.weight_ih_l0 = nn.Parameter(torch.randn(4 * hidden_size, input_size))
        self.weight_hh_l0 = nn.Parameter(torch.randn(4 * hidden_size, hidden_size))
        self.bias_ih_l0 = nn.Parameter(torch.randn(4 * hidden_size))
        self.bias_hh_l0 = nn.Parameter(torch.randn(4 * hidden_size))

    def step(self, x, h, c):
        a = x @ self.weight_ih_l0.t() + self.bias_ih_l0 + h @ self.weight_hh_l0.t() + self.bias_hh_l0
        i, f, g, o = torch.split(a, self.hidden_size, dim=-1)
        i = i.sigmoid()
        f = f.sigmoid()
        g = g.tanh()
        o = o.sigmoid()
        c = f * c + i * g
        h = o * c.tanh()
        return h, c

    def forward(self, input, state=None):
        if self.batch_first:
            input = input.transpose(0, 1)
        T, N, _ = input.shape
        if state is None:
            h = torch.zeros(N, self.hidden_size)
            c = torch.zeros(N, self.hidden_size)
        else:
            h, c = state[0][0], state[1][0]
        outputs = []
        for t in range(T):
            h, c = self.step(input[t], h, c)
            outputs.append(h)
        output = torch.stack(outputs)
        h_n, c_n = h.unsqueeze(0), c.unsqueeze(0)
        if self.batch_first:
            output = output.transpose(0, 1)
        return output, (h_n, c_n)
"""

ONE_BIAS = """
def one_bias(weights):
    new = {}
    H = weights["b"].shape[0] // 4
    order = [1, 0, 2, 3]
    def reorder(w):
        return torch.cat([w[k * H:(k + 1) * H] for k in order])
    new["weight_ih_l0"] = reorder(weights["W"])
    new["weight_hh_l0"] = reorder(weights["U"])
    new["bias_ih_l0"] = reorder(weights["b"])
    new["bias_hh_l0"] = torch.zeros(4 * H)
    return new
"""

BACKWARD = """
def lstm_backward(x, h, c, weight_ih, weight_hh, bias_ih, bias_hh, grad_h, grad_c):
    H = h.shape[1]
    a = x @ weight_ih.T + bias_ih + h @ weight_hh.T + bias_hh
    i, f, g, o = a[:, :H].sigmoid(), a[:, H:2*H].sigmoid(), a[:, 2*H:3*H].tanh(), a[:, 3*H:].sigmoid()
    c1 = f * c + i * g
    t = torch.tanh(c1)
    do = grad_h * t
    dc = grad_c + grad_h * o * (1 - t * t)
    di = dc * g
    df = dc * c
    dg = dc * i
    da = torch.cat([di * i * (1 - i), df * f * (1 - f), dg * (1 - g * g), do * o * (1 - o)], 1)
    gx = da @ weight_ih
    gh = da @ weight_hh
    gc = dc * f
    gwih = da.T @ x
    gwhh = da.T @ h
    gb = da.sum(0)
    return gx, gh, gc, gwih, gwhh, gb, gb
"""

SOURCES = {"gates": GATES, "lstm_cell": CELL, "lstm": LAYER, "one_bias": ONE_BIAS, "lstm_backward": BACKWARD}

# The beginning of a cell, and several ways to go on

CELL_HEAD = """
class LSTMCell(nn.Module):
    def __init__(self, input_size, hidden_size):
        super().__init__()
        self.input_size, self.hidden_size = input_size, hidden_size
        self.bias_hh = nn.Parameter(torch.zeros(4 * hidden_size))
        self.bias_ih = nn.Parameter(torch.zeros(4 * hidden_size))
        self.weight_hh = nn.Parameter(torch.zeros(4 * hidden_size, hidden_size))
        self.weight_ih = nn.Parameter(torch.zeros(4 * hidden_size, input_size))

    def forward(self, x, state=None):
        zeros = torch.zeros(len(x), self.hidden_size)
        h, c = (zeros, zeros) if state is None else state
"""

CELLS = {
    "einsum, other registration order": """
        w, u = self.weight_ih.view(4, -1, self.input_size), self.weight_hh.view(4, -1, self.hidden_size)
        b = (self.bias_ih + self.bias_hh).view(4, 1, -1)
        a = torch.einsum('ghi,ni->gnh', w, x) + torch.einsum('ghk,nk->gnh', u, h) + b
        s = torch.sigmoid(a)
        c = s[1] * c + s[0] * torch.tanh(a[2])
        return s[3] * torch.tanh(c), c
""",
    "float32 inside": """
        x, h, c = x.float(), h.float(), c.float()
        a = x @ self.weight_ih.float().T + h @ self.weight_hh.float().T + self.bias_ih.float() + self.bias_hh.float()
        i, f, g, o = a.chunk(4, 1)
        c = f.sigmoid() * c + i.sigmoid() * g.tanh()
        return (o.sigmoid() * c.tanh()).double(), c.double()
""",
    "float32 returned": """
        x, h, c = x.float(), h.float(), c.float()
        a = x @ self.weight_ih.float().T + h @ self.weight_hh.float().T + self.bias_ih.float() + self.bias_hh.float()
        i, f, g, o = a.chunk(4, 1)
        c = f.sigmoid() * c + i.sigmoid() * g.tanh()
        return [o.sigmoid() * c.tanh(), c]
""",
    "in place": """
        a = torch.empty(len(x), 4 * self.hidden_size)
        a[:] = self.bias_ih
        a += self.bias_hh
        a += x.matmul(self.weight_ih.t())
        a.addmm_(h, self.weight_hh.t())
        i, f, g, o = (part.clone() for part in a.chunk(4, 1))
        new = i.sigmoid_() * g.tanh_()
        new += f.sigmoid_() * c
        return o.sigmoid_() * new.tanh(), new
""",
    "vmap over the batch": """
        def one(x, h, c):
            i, f, g, o = (self.weight_ih @ x + self.weight_hh @ h + self.bias_ih + self.bias_hh).reshape(4, -1)
            c = f.sigmoid() * c + i.sigmoid() * g.tanh()
            return o.sigmoid() * c.tanh(), c

        return torch.vmap(one)(x, h, c)
""",
    "sparse and complex detours": """
        a = (torch.complex(x @ self.weight_ih.T, torch.zeros(())) + h @ self.weight_hh.T).real
        a = a.unflatten(1, (4, -1)) + self.bias_ih.reshape(4, -1) + self.bias_hh.reshape(4, -1)
        i, f, g, o = a.unbind(1)
        c = torch.lerp(torch.zeros(()), c, f.sigmoid()) + i.sigmoid() * g.tanh()
        return o.sigmoid() * c.tanh(), c
""",
}
