def gates(x, h, weight_ih, weight_hh, bias_ih, bias_hh):
    hidden = h.shape[-1]
    z = torch.matmul(x, weight_ih.t()) + torch.matmul(h, weight_hh.t()) + bias_ih + bias_hh
    input_gate = torch.sigmoid(z[:, 0:hidden])
    forget_gate = torch.sigmoid(z[:, hidden:2 * hidden])
    candidate = torch.tanh(z[:, 2 * hidden:3 * hidden])
    output_gate = torch.sigmoid(z[:, 3 * hidden:4 * hidden])
    return input_gate, forget_gate, candidate, output_gate


class LSTMCell(nn.Module):
    def __init__(self, input_size, hidden_size):
        super().__init__()
        self.hidden_size = hidden_size
        stdv = 1.0 / math.sqrt(hidden_size)
        self.weight_ih = nn.Parameter(torch.Tensor(4 * hidden_size, input_size))
        self.weight_hh = nn.Parameter(torch.Tensor(4 * hidden_size, hidden_size))
        self.bias_ih = nn.Parameter(torch.Tensor(4 * hidden_size))
        self.bias_hh = nn.Parameter(torch.Tensor(4 * hidden_size))
        for weight in self.parameters():
            weight.data.uniform_(-stdv, stdv)

    def forward(self, x, state=None):
        batch = x.size(0)
        if state is None:
            h = torch.zeros(batch, self.hidden_size, dtype=x.dtype)
            c = torch.zeros(batch, self.hidden_size, dtype=x.dtype)
        else:
            h, c = state
        i, f, g, o = gates(x, h, self.weight_ih, self.weight_hh, self.bias_ih, self.bias_hh)
        c_next = torch.mul(f, c) + torch.mul(i, g)
        h_next = torch.mul(o, torch.tanh(c_next))
        return h_next, c_next


class LSTM(nn.Module):
    def __init__(self, input_size, hidden_size, batch_first=False):
        super().__init__()
        self.hidden_size, self.batch_first = hidden_size, batch_first
        stdv = 1.0 / math.sqrt(hidden_size)
        self.weight_ih_l0 = nn.Parameter(torch.Tensor(4 * hidden_size, input_size))
        self.weight_hh_l0 = nn.Parameter(torch.Tensor(4 * hidden_size, hidden_size))
        self.bias_ih_l0 = nn.Parameter(torch.Tensor(4 * hidden_size))
        self.bias_hh_l0 = nn.Parameter(torch.Tensor(4 * hidden_size))
        for weight in self.parameters():
            weight.data.uniform_(-stdv, stdv)

    def forward(self, input, state=None):
        if self.batch_first:
            input = input.permute(1, 0, 2)
        seq_len, batch, _ = input.size()
        if state is None:
            h_t = torch.zeros(batch, self.hidden_size, dtype=input.dtype)
            c_t = torch.zeros(batch, self.hidden_size, dtype=input.dtype)
        else:
            h_t, c_t = state[0].squeeze(0), state[1].squeeze(0)
        hidden_seq = []
        for t in range(seq_len):
            i_t, f_t, g_t, o_t = gates(
                input[t], h_t, self.weight_ih_l0, self.weight_hh_l0, self.bias_ih_l0, self.bias_hh_l0
            )
            c_t = f_t * c_t + i_t * g_t
            h_t = o_t * torch.tanh(c_t)
            hidden_seq.append(h_t.unsqueeze(0))
        hidden_seq = torch.cat(hidden_seq, dim=0)
        if self.batch_first:
            hidden_seq = hidden_seq.permute(1, 0, 2)
        return hidden_seq, (h_t.unsqueeze(0), c_t.unsqueeze(0))


def one_bias(weights):
    H = weights["b"].size(0) // 4
    result = {}
    for old, new in (("W", "weight_ih_l0"), ("U", "weight_hh_l0"), ("b", "bias_ih_l0")):
        w = weights[old]
        forget, inp, cand, out = w[:H], w[H:2 * H], w[2 * H:3 * H], w[3 * H:]
        result[new] = torch.cat((inp, forget, cand, out), dim=0)
    result["bias_hh_l0"] = torch.zeros(4 * H, dtype=weights["b"].dtype)
    return result
