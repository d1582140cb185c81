def parameter_shapes(
    input_size, hidden_size, num_layers, bias, bidirectional, proj_size
):
    H4, R = 4 * hidden_size, proj_size or hidden_size
    D = 1 + bidirectional
    found = {}
    for n, end in itertools.product(range(num_layers), ["", "_reverse"][:D]):
        one = {"weight_ih": (H4, input_size if n == 0 else D * R), "weight_hh": (H4, R)}
        if bias:
            one |= {"bias_ih": (H4,), "bias_hh": (H4,)}
        if proj_size:
            one["weight_hr"] = (R, hidden_size)
        found |= {f"{name}_l{n}{end}": size for name, size in one.items()}
    return found


class StackedLSTM(nn.Module):
    def __init__(self, input_size, hidden_size, num_layers, dropout):
        super().__init__()
        self.hidden_size, self.num_layers = hidden_size, num_layers
        self.dropout = dropout
        for name, size in parameter_shapes(input_size, hidden_size, num_layers, True, False, 0).items():
            self.register_parameter(name, nn.Parameter(torch.randn(size) / 10))

    def forward(self, input, state=None):
        zeros = input.new_zeros(self.num_layers, input.shape[1], self.hidden_size)
        h0, c0 = (zeros, zeros) if state is None else state
        p = list(self.parameters())
        seq, finals = input, []
        for n in range(self.num_layers):
            if n:
                seq = F.dropout(seq, self.dropout, self.training)
            h, c, hs = h0[n], c0[n], []
            for x in seq:
                h, c = lstm_step(x, h, c, *p[4 * n:4 * n + 4])
                hs.append(h)
            seq = torch.stack(hs)
            finals.append(torch.stack([h, c]))
        return seq, tuple(torch.stack(finals, 1))


class ProjectedLSTM(nn.Module):
    def __init__(self, input_size, hidden_size, proj_size):
        super().__init__()
        self.hidden_size, self.proj_size = hidden_size, proj_size
        for name, size in parameter_shapes(input_size, hidden_size, 1, True, False, proj_size).items():
            self.register_parameter(name, nn.Parameter(torch.randn(size) / 10))

    def forward(self, input, state=None):
        *four, project = self.parameters()
        if state:
            h, c = state[0][0], state[1][0]
        else:
            h, c = (input.new_zeros(input.shape[1], n) for n in (self.proj_size, self.hidden_size))
        hs = []
        for x in input:
            h, c = lstm_step(x, h, c, *four)
            hs.append(h := h @ project.T)
        return torch.stack(hs), (h[None], c[None])


def lstm_packed(input, lengths, h_0, c_0, weight_ih, weight_hh, bias_ih, bias_hh):
    rows, hn, cn = [], [], []
    for n, length in enumerate(lengths.tolist()):
        h, c, mine = h_0[0, n:n + 1], c_0[0, n:n + 1], []
        for x in input[:length, n:n + 1]:
            h, c = lstm_step(x, h, c, weight_ih, weight_hh, bias_ih, bias_hh)
            mine.append(h)
        mine += [torch.zeros_like(h)] * (len(input) - length)
        rows.append(torch.stack(mine))
        hn.append(h)
        cn.append(c)
    return torch.cat(rows, 1), torch.cat(hn)[None], torch.cat(cn)[None]
