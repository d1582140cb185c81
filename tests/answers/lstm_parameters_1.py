def parameter_shapes(
    input_size, hidden_size, num_layers, bias, bidirectional, proj_size
):
    shapes = {}
    num_directions = 2 if bidirectional else 1
    out_size = proj_size if proj_size > 0 else hidden_size
    for layer in range(num_layers):
        for direction in range(num_directions):
            if layer == 0:
                in_size = input_size
            else:
                in_size = out_size * num_directions
            suffix = "_reverse" if direction == 1 else ""
            shapes["weight_ih_l{}{}".format(layer, suffix)] = (4 * hidden_size, in_size)
            shapes["weight_hh_l{}{}".format(layer, suffix)] = (4 * hidden_size, out_size)
            if bias:
                shapes["bias_ih_l{}{}".format(layer, suffix)] = (4 * hidden_size,)
                shapes["bias_hh_l{}{}".format(layer, suffix)] = (4 * hidden_size,)
            if proj_size > 0:
                shapes["weight_hr_l{}{}".format(layer, suffix)] = (proj_size, hidden_size)
    return shapes


class StackedLSTM(nn.Module):
    def __init__(self, input_size, hidden_size, num_layers, dropout):
        super().__init__()
        self.hidden_size, self.num_layers = hidden_size, num_layers
        self.dropout = dropout
        for l in range(num_layers):
            size = input_size if l == 0 else hidden_size
            setattr(self, f"weight_ih_l{l}", nn.Parameter(torch.randn(4 * hidden_size, size)))
            setattr(self, f"weight_hh_l{l}", nn.Parameter(torch.randn(4 * hidden_size, hidden_size)))
            setattr(self, f"bias_ih_l{l}", nn.Parameter(torch.zeros(4 * hidden_size)))
            setattr(self, f"bias_hh_l{l}", nn.Parameter(torch.zeros(4 * hidden_size)))

    def forward(self, input, state=None):
        seq_len, batch, _ = input.shape
        if state is None:
            h_0 = torch.zeros(self.num_layers, batch, self.hidden_size, dtype=input.dtype)
            c_0 = torch.zeros(self.num_layers, batch, self.hidden_size, dtype=input.dtype)
        else:
            h_0, c_0 = state
        layer_input = input
        h_list, c_list = [], []
        for l in range(self.num_layers):
            w_ih = getattr(self, f"weight_ih_l{l}")
            w_hh = getattr(self, f"weight_hh_l{l}")
            b_ih = getattr(self, f"bias_ih_l{l}")
            b_hh = getattr(self, f"bias_hh_l{l}")
            h, c = h_0[l], c_0[l]
            outs = []
            for t in range(seq_len):
                h, c = lstm_step(layer_input[t], h, c, w_ih, w_hh, b_ih, b_hh)
                outs.append(h)
            layer_input = torch.stack(outs)
            if l < self.num_layers - 1:
                layer_input = F.dropout(layer_input, p=self.dropout, training=self.training)
            h_list.append(h)
            c_list.append(c)
        return layer_input, (torch.stack(h_list), torch.stack(c_list))


class ProjectedLSTM(nn.Module):
    def __init__(self, input_size, hidden_size, proj_size):
        super().__init__()
        self.hidden_size, self.proj_size = hidden_size, proj_size
        self.weight_ih_l0 = nn.Parameter(torch.randn(4 * hidden_size, input_size))
        self.weight_hh_l0 = nn.Parameter(torch.randn(4 * hidden_size, proj_size))
        self.bias_ih_l0 = nn.Parameter(torch.zeros(4 * hidden_size))
        self.bias_hh_l0 = nn.Parameter(torch.zeros(4 * hidden_size))
        self.weight_hr_l0 = nn.Parameter(torch.randn(proj_size, hidden_size))

    def forward(self, input, state=None):
        seq_len, batch, _ = input.shape
        if state is None:
            h = torch.zeros(batch, self.proj_size, dtype=input.dtype)
            c = torch.zeros(batch, self.hidden_size, dtype=input.dtype)
        else:
            h, c = state[0].squeeze(0), state[1].squeeze(0)
        outs = []
        for t in range(seq_len):
            h, c = lstm_step(input[t], h, c, self.weight_ih_l0, self.weight_hh_l0, self.bias_ih_l0, self.bias_hh_l0)
            h = torch.matmul(h, self.weight_hr_l0.t())
            outs.append(h)
        return torch.stack(outs), (h.unsqueeze(0), c.unsqueeze(0))


def lstm_packed(input, lengths, h_0, c_0, weight_ih, weight_hh, bias_ih, bias_hh):
    h, c = h_0.squeeze(0), c_0.squeeze(0)
    outputs = []
    for t in range(input.size(0)):
        h_new, c_new = lstm_step(input[t], h, c, weight_ih, weight_hh, bias_ih, bias_hh)
        mask = (lengths > t).unsqueeze(1).to(input.dtype)
        h = mask * h_new + (1 - mask) * h
        c = mask * c_new + (1 - mask) * c
        outputs.append(mask * h_new)
    return torch.stack(outputs), h.unsqueeze(0), c.unsqueeze(0)
