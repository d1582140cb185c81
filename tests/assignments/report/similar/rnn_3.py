def rnn_step(x, h, weight_ih, weight_hh, bias_ih, bias_hh):
    """One step of Elman's network."""
    combined = torch.cat((x, h), dim=1)
    weight = torch.cat((weight_ih, weight_hh), dim=1)
    pre_activation = combined @ weight.transpose(0, 1) + (bias_ih + bias_hh)
    new_hidden = torch.tanh(pre_activation)
    return new_hidden


class RNNCell(nn.Module):
    def __init__(self, input_size, hidden_size):
        super().__init__()
        self.hidden_size = hidden_size
        shapes = dict(
            weight_ih=(hidden_size, input_size),
            weight_hh=(hidden_size, hidden_size),
            bias_ih=(hidden_size,),
            bias_hh=(hidden_size,),
        )
        for name in shapes:
            setattr(self, name, nn.Parameter(torch.randn(shapes[name]) * 0.1))

    def forward(self, x, h=None):
        batch_size = x.shape[0]
        if h is None:
            h = torch.zeros((batch_size, self.hidden_size), dtype=x.dtype, device=x.device)
        next_h = rnn_step(
            x,
            h,
            self.weight_ih,
            self.weight_hh,
            self.bias_ih,
            self.bias_hh,
        )
        return next_h


def rnn(input, h_0, weight_ih, weight_hh, bias_ih, bias_hh):
    T, N, I = input.shape
    H = weight_hh.shape[0]
    output = torch.empty(T, N, H, dtype=input.dtype)
    h = h_0[0]
    rows = []
    for t in range(T):
        h = rnn_step(input[t], h, weight_ih, weight_hh, bias_ih, bias_hh)
        rows.append(h.view(1, N, H))
    output = torch.cat(rows, dim=0)
    h_n = output[-1:].clone()
    return output, h_n


def read_in_windows(cell, input, h, size):
    last_states = []
    for step, x in enumerate(input):
        if step % size == 0:
            h = h.detach()
        h = cell(x, h)
        window_is_full = (step + 1) % size == 0
        if window_is_full or step == len(input) - 1:
            last_states.append(h)
    return last_states


def rnn_backward(input, h_0, weight_ih, weight_hh, bias_ih, bias_hh, grad_output, grad_h_n):
    T = len(input)
    output, h_n = rnn(input, h_0, weight_ih, weight_hh, bias_ih, bias_hh)
    dx = [None] * T
    dW, dU, db = 0, 0, 0
    dh_next = grad_h_n[0]
    for t in range(T - 1, -1, -1):
        previous = output[t - 1] if t > 0 else h_0[0]
        dh = grad_output[t] + dh_next
        dz = dh - dh * output[t] ** 2
        dx[t] = dz.mm(weight_ih)
        dW = dW + input[t].T.mm(dz).T
        dU = dU + previous.T.mm(dz).T
        db = db + dz.sum(axis=0)
        dh_next = dz.mm(weight_hh)
    return torch.stack(dx), dh_next.reshape(h_0.shape), dW, dU, db, db
