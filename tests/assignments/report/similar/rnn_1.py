def rnn_step(x, h, weight_ih, weight_hh, bias_ih, bias_hh):
    from_input = torch.matmul(x, weight_ih.t()) + bias_ih
    from_state = torch.matmul(h, weight_hh.t()) + bias_hh
    return torch.tanh(from_input + from_state)


class RNNCell(nn.Module):
    def __init__(self, input_size, hidden_size):
        super().__init__()
        self.hidden_size = hidden_size
        k = 1.0 / math.sqrt(hidden_size)
        self.weight_ih = nn.Parameter(torch.rand(hidden_size, input_size) * 2 * k - k)
        self.weight_hh = nn.Parameter(torch.rand(hidden_size, hidden_size) * 2 * k - k)
        self.bias_ih = nn.Parameter(torch.rand(hidden_size) * 2 * k - k)
        self.bias_hh = nn.Parameter(torch.rand(hidden_size) * 2 * k - k)

    def forward(self, x, h=None):
        if h is None:
            h = torch.zeros(x.size(0), self.hidden_size, dtype=x.dtype)
        return rnn_step(x, h, self.weight_ih, self.weight_hh, self.bias_ih, self.bias_hh)


def rnn(input, h_0, weight_ih, weight_hh, bias_ih, bias_hh):
    seq_len = input.size(0)
    state = h_0.squeeze(0)
    results = []
    for t in range(seq_len):
        state = rnn_step(input[t], state, weight_ih, weight_hh, bias_ih, bias_hh)
        results.append(state)
    return torch.stack(results, dim=0), state.unsqueeze(0)


def read_in_windows(cell, input, h, size):
    ends = []
    total = input.shape[0]
    start = 0
    while start < total:
        stop = min(start + size, total)
        h = h.detach()
        for t in range(start, stop):
            h = cell(input[t], h)
        ends.append(h)
        start = stop
    return ends


def rnn_backward(input, h_0, weight_ih, weight_hh, bias_ih, bias_hh, grad_output, grad_h_n):
    # keep all the states, we need them on the way back
    states = [h_0.squeeze(0)]
    for t in range(input.size(0)):
        states.append(rnn_step(input[t], states[t], weight_ih, weight_hh, bias_ih, bias_hh))
    gi = torch.zeros_like(input)
    gwih = torch.zeros_like(weight_ih)
    gwhh = torch.zeros_like(weight_hh)
    gb = torch.zeros_like(bias_ih)
    carry = grad_h_n.squeeze(0)
    t = input.size(0) - 1
    while t >= 0:
        upstream = carry + grad_output[t]
        local = (1 - states[t + 1].pow(2)) * upstream
        gwih = gwih + torch.matmul(local.t(), input[t])
        gwhh = gwhh + torch.matmul(local.t(), states[t])
        gb = gb + local.sum(dim=0)
        gi[t] = torch.matmul(local, weight_ih)
        carry = torch.matmul(local, weight_hh)
        t -= 1
    return gi, carry.unsqueeze(0), gwih, gwhh, gb, gb.clone()
