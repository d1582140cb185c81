def gates(x, h, weight_ih, weight_hh, bias_ih, bias_hh):
    pre = F.linear(x, weight_ih, bias_ih) + F.linear(h, weight_hh, bias_hh)
    acts = (torch.sigmoid, torch.sigmoid, torch.tanh, torch.sigmoid)
    return tuple(act(p) for act, p in zip(acts, pre.chunk(4, 1)))


class LSTMCell(nn.Module):
    def __init__(self, input_size, hidden_size):
        super().__init__()
        self.hidden_size = hidden_size
        r = hidden_size ** -0.5
        new = lambda *size: nn.Parameter(torch.empty(*size).uniform_(-r, r))
        self.weight_ih, self.weight_hh = new(4 * hidden_size, input_size), new(4 * hidden_size, hidden_size)
        self.bias_ih, self.bias_hh = new(4 * hidden_size), new(4 * hidden_size)

    def forward(self, x, state=None):
        h, c = state or [x.new_zeros(len(x), self.hidden_size)] * 2
        i, f, g, o = gates(x, h, *self.parameters())
        c = c * f + g * i
        return c.tanh() * o, c


class LSTM(nn.Module):
    def __init__(self, input_size, hidden_size, batch_first=False):
        super().__init__()
        self.hidden_size, self.batch_first = hidden_size, batch_first
        for name, p in LSTMCell(input_size, hidden_size).named_parameters():
            setattr(self, name + "_l0", p)

    def run(self, xs, h, c):
        for x in xs:
            i, f, g, o = gates(x, h, *self.parameters())
            c = f * c + i * g
            h = o * c.tanh()
            yield h, c

    def forward(self, input, state=None):
        axis = 1 if self.batch_first else 0
        xs = input.unbind(axis)
        if state is None:
            z = input.new_zeros(1, len(xs[0]), self.hidden_size)
            state = z, z
        hs, cs = zip(*self.run(xs, *(s[0] for s in state)))
        return torch.stack(hs, axis), (hs[-1][None], cs[-1][None])


def one_bias(weights):
    def swap(w):
        w = w.unflatten(0, (4, -1))
        return w[[1, 0, 2, 3]].flatten(0, 1)

    names = {"W": "weight_ih_l0", "U": "weight_hh_l0", "b": "bias_ih_l0"}
    new = {names[k]: swap(v) for k, v in weights.items()}
    return new | {"bias_hh_l0": weights["b"] * 0}
