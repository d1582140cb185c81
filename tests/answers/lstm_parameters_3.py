def parameter_shapes(
    input_size, hidden_size, num_layers, bias, bidirectional, proj_size
):
    def of_layer(size, end):
        yield f"weight_ih{end}", (hidden_size * 4, size)
        if proj_size == 0:
            yield f"weight_hh{end}", (hidden_size * 4, hidden_size)
        else:
            yield f"weight_hh{end}", (hidden_size * 4, proj_size)
        if bias is True:
            yield f"bias_ih{end}", (hidden_size * 4,)
            yield f"bias_hh{end}", (hidden_size * 4,)
        if proj_size != 0:
            yield f"weight_hr{end}", (proj_size, hidden_size)

    everything = {}
    size = input_size
    for layer in range(num_layers):
        everything.update(of_layer(size, "_l" + str(layer)))
        if bidirectional:
            everything.update(of_layer(size, "_l" + str(layer) + "_reverse"))
        width = proj_size if proj_size != 0 else hidden_size
        size = 2 * width if bidirectional else width
    return everything


class StackedLSTM(nn.Module):
    def __init__(self, input_size, hidden_size, num_layers, dropout):
        super().__init__()
        self.hidden_size, self.num_layers = hidden_size, num_layers
        self.dropout = dropout
        k = math.sqrt(1 / hidden_size)
        sizes = [input_size] + [hidden_size] * (num_layers - 1)
        for number, size in enumerate(sizes):
            for kind, shape in [("weight_ih", (4 * hidden_size, size)), ("weight_hh", (4 * hidden_size, hidden_size)),
                                ("bias_ih", (4 * hidden_size,)), ("bias_hh", (4 * hidden_size,))]:
                value = torch.empty(shape)
                nn.init.uniform_(value, -k, k)
                self.register_parameter(kind + "_l" + str(number), nn.Parameter(value))

    def one_layer(self, number, sequence, h, c):
        weights = [self.get_parameter(kind + "_l" + str(number)) for kind in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")]
        result = []
        for element in sequence.unbind(0):
            h, c = lstm_step(element, h, c, *weights)
            result.append(h)
        return torch.stack(result, 0), h, c

    def forward(self, input, state=None):
        if state is None:
            empty = torch.zeros(self.num_layers, input.size(1), self.hidden_size).to(input)
            state = (empty, empty)
        all_h, all_c = [], []
        for number in range(self.num_layers):
            if number >= 1 and self.training:
                input = nn.functional.dropout(input, self.dropout)
            input, h, c = self.one_layer(number, input, state[0][number], state[1][number])
            all_h.append(h.unsqueeze(0))
            all_c.append(c.unsqueeze(0))
        return input, (torch.cat(all_h, 0), torch.cat(all_c, 0))


class ProjectedLSTM(nn.Module):
    def __init__(self, input_size, hidden_size, proj_size):
        super().__init__()
        self.hidden_size, self.proj_size = hidden_size, proj_size
        k = math.sqrt(1 / hidden_size)
        for name, shape in parameter_shapes(input_size, hidden_size, 1, True, False, proj_size).items():
            value = torch.empty(shape)
            nn.init.uniform_(value, -k, k)
            setattr(self, name, nn.Parameter(value))

    def forward(self, input, state=None):
        N = input.size(1)
        h = torch.zeros(N, self.proj_size).to(input) if state is None else state[0].squeeze(0)
        c = torch.zeros(N, self.hidden_size).to(input) if state is None else state[1].squeeze(0)
        output = torch.empty(0, N, self.proj_size).to(input)
        for element in input.unbind(0):
            full, c = lstm_step(element, h, c, self.weight_ih_l0, self.weight_hh_l0, self.bias_ih_l0, self.bias_hh_l0)
            h = F.linear(full, self.weight_hr_l0)
            output = torch.cat((output, h.unsqueeze(0)), 0)
        return output, (output[-1:], c.unsqueeze(0))


def lstm_packed(input, lengths, h_0, c_0, weight_ih, weight_hh, bias_ih, bias_hh):
    T, N = input.shape[:2]
    h, c = h_0[0].clone(), c_0[0].clone()
    output = torch.zeros(T, N, h.shape[1]).to(input)
    steps = []
    for t in range(T):
        active = [n for n in range(N) if lengths[n] > t]
        idle = [n for n in range(N) if lengths[n] <= t]
        some_h, some_c = lstm_step(input[t, active], h[active], c[active], weight_ih, weight_hh, bias_ih, bias_hh)
        order = torch.tensor(active + idle).argsort()
        h = torch.cat((some_h, h[idle]))[order]
        c = torch.cat((some_c, c[idle]))[order]
        steps.append(torch.cat((some_h, torch.zeros_like(h[idle])))[order])
    return torch.stack(steps), h.unsqueeze(0), c.unsqueeze(0)
