def gates(x, h, weight_ih, weight_hh, bias_ih, bias_hh):
    W_i, W_f, W_g, W_o = torch.tensor_split(weight_ih, 4)
    U_i, U_f, U_g, U_o = torch.tensor_split(weight_hh, 4)
    b_i, b_f, b_g, b_o = torch.tensor_split(bias_ih + bias_hh, 4)
    i = torch.sigmoid(x @ W_i.T + h @ U_i.T + b_i)
    f = torch.sigmoid(x @ W_f.T + h @ U_f.T + b_f)
    g = torch.tanh(x @ W_g.T + h @ U_g.T + b_g)
    o = torch.sigmoid(x @ W_o.T + h @ U_o.T + b_o)
    return i, f, g, o


class LSTMCell(nn.Module):
    def __init__(self, input_size, hidden_size):
        super().__init__()
        self.hidden_size = hidden_size
        self.weight_ih = nn.Parameter(torch.randn(4 * hidden_size, input_size))
        self.weight_hh = nn.Parameter(torch.randn(4 * hidden_size, hidden_size))
        self.bias_ih = nn.Parameter(torch.zeros(4 * hidden_size))
        self.bias_hh = nn.Parameter(torch.zeros(4 * hidden_size))

    def forward(self, x, state=None):
        if state is None:
            zeros = torch.zeros_like(x[:, :1]).repeat(1, self.hidden_size)
            state = (zeros, zeros.clone())
        old_h, old_c = state
        # compute the four gates
        i, f, g, o = gates(x, old_h, self.weight_ih, self.weight_hh, self.bias_ih, self.bias_hh)
        # forget, then write
        new_c = old_c.mul(f).add(i.mul(g))
        new_h = o.mul(new_c.tanh())
        return new_h, new_c


class LSTM(nn.Module):
    def __init__(self, input_size, hidden_size, batch_first=False):
        super().__init__()
        self.hidden_size, self.batch_first = hidden_size, batch_first
        self.weight_ih_l0 = nn.Parameter(0.1 * torch.randn(4 * hidden_size, input_size))
        self.weight_hh_l0 = nn.Parameter(0.1 * torch.randn(4 * hidden_size, hidden_size))
        self.bias_ih_l0 = nn.Parameter(torch.zeros(4 * hidden_size))
        self.bias_hh_l0 = nn.Parameter(torch.zeros(4 * hidden_size))

    def forward(self, input, state=None):
        x = torch.transpose(input, 0, 1) if self.batch_first else input
        T, N = x.shape[0], x.shape[1]
        h = torch.zeros(N, self.hidden_size).to(x) if state is None else state[0].view(N, -1)
        c = torch.zeros(N, self.hidden_size).to(x) if state is None else state[1].view(N, -1)
        output = []
        t = 0
        while t < T:
            i, f, g, o = gates(x[t], h, self.weight_ih_l0, self.weight_hh_l0, self.bias_ih_l0, self.bias_hh_l0)
            c = (f * c).add(i * g)
            h = o * torch.tanh(c)
            output.append(h)
            t = t + 1
        out = torch.stack(output, dim=0)
        last = (out[-1].view(1, N, -1), c.view(1, N, -1))
        if self.batch_first:
            out = torch.transpose(out, 0, 1)
        return out, last


def one_bias(weights):
    W, U, b = weights["W"], weights["U"], weights["b"]
    n = len(b) // 4
    idx = list(range(n, 2 * n)) + list(range(0, n)) + list(range(2 * n, 4 * n))
    return {
        "weight_ih_l0": W[idx],
        "weight_hh_l0": U[idx],
        "bias_ih_l0": b[idx],
        "bias_hh_l0": torch.zeros_like(b),
    }
