"""Answers in many hands: right ones in unusual styles, and the same with a mistake that students make.

None of them is built like the references, to find what these do not foresee.
"""

import pytest
import torch
from programs import defined, found
from sampling import sample
from torch import nn
from torch.nn import functional as F
from torch.nn.utils.rnn import PackedSequence, pack_padded_sequence, pad_packed_sequence

KNOWN = {
    "torch": torch,
    "nn": nn,
    "F": F,
    "PackedSequence": PackedSequence,
    "pack_padded_sequence": pack_padded_sequence,
    "pad_packed_sequence": pad_packed_sequence,
}

# Time outside, layers inside; a helper class holds the weights of a layer.
TIME_OUTSIDE = '''
class Layer:
    def __init__(self, owner, number):
        names = ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
        self.w = {name: getattr(owner, f"{name}_l{number}") for name in names}

    def step(self, x, h, c):
        W = self.w
        z = torch.einsum("bi,gi->bg", x, W["weight_ih"]) + torch.einsum("bi,gi->bg", h, W["weight_hh"])
        z = z + (W["bias_ih"] + W["bias_hh"])
        z = z.unflatten(-1, (4, -1))
        i, f, g, o = z[:, 0], z[:, 1], z[:, 2], z[:, 3]
        c = c * f.sigmoid() + g.tanh() * i.sigmoid()
        return c.tanh() * o.sigmoid(), c


class DeepLSTM(nn.Module):
    def __init__(self, n_in, n_hidden, n_layers, p):
        super().__init__()
        self.n_hidden, self.n_layers = n_hidden, n_layers
        self.drop = nn.Dropout(p)
        for k in range(n_layers):
            d = n_in if not k else n_hidden
            self.__setattr__(f"weight_ih_l{k}", nn.Parameter(torch.empty(4 * n_hidden, d).uniform_(-1, 1)))
            self.__setattr__(f"weight_hh_l{k}", nn.Parameter(torch.empty(4 * n_hidden, n_hidden).uniform_(-1, 1)))
            self.__setattr__(f"bias_ih_l{k}", nn.Parameter(torch.zeros(4 * n_hidden)))
            self.__setattr__(f"bias_hh_l{k}", nn.Parameter(torch.zeros(4 * n_hidden)))

    def forward(self, seq, hc=None):
        layers = [Layer(self, k) for k in range(self.n_layers)]
        if hc is None:
            zeros = seq.new_zeros(self.n_layers, seq.shape[1], self.n_hidden)
            hc = (zeros, zeros)
        hs, cs = [list(s) for s in hc]
        tops = []
        for x in seq:
            for k, layer in enumerate(layers):
                hs[k], cs[k] = layer.step(x, hs[k], cs[k])
                x = hs[k] if k == self.n_layers - 1 else self.drop(hs[k])
            tops.append(x)
        return torch.stack(tops, 0), (torch.stack(hs, 0), torch.stack(cs, 0))
'''

# Two directions by a generator over indices, written into an output made beforehand.
BY_INDEX = '''
class Bi(nn.Module):
    def __init__(self, inp, hid, layers):
        super().__init__()
        self.hid, self.layers = hid, layers
        width = inp
        for l in range(layers):
            for suffix in ["", "_reverse"]:
                self.register_parameter("weight_ih_l%d%s" % (l, suffix), nn.Parameter(torch.rand(4 * hid, width)))
                self.register_parameter("weight_hh_l%d%s" % (l, suffix), nn.Parameter(torch.rand(4 * hid, hid)))
                self.register_parameter("bias_ih_l%d%s" % (l, suffix), nn.Parameter(torch.rand(4 * hid)))
                self.register_parameter("bias_hh_l%d%s" % (l, suffix), nn.Parameter(torch.rand(4 * hid)))
            width = 2 * hid

    def scan(self, seq, suffix, h, c, backwards):
        names = ["weight_ih", "weight_hh", "bias_ih", "bias_hh"]
        w_ih, w_hh, b_ih, b_hh = (self._parameters[n + suffix] for n in names)
        steps = len(seq)
        result = [None] * steps
        t = steps - 1 if backwards else 0
        while 0 <= t < steps:
            gates = F.linear(seq[t], w_ih, b_ih) + F.linear(h, w_hh, b_hh)
            ingate, forgetgate, cellgate, outgate = torch.split(gates, self.hid, dim=1)
            c = torch.sigmoid(forgetgate) * c + torch.sigmoid(ingate) * torch.tanh(cellgate)
            h = torch.sigmoid(outgate) * torch.tanh(c)
            result[t] = h
            t = t - 1 if backwards else t + 1
        return result, (h, c)

    def forward(self, seq, state=None):
        batch = seq.size(1)
        if state is None:
            state = [torch.zeros(2 * self.layers, batch, self.hid) for _ in range(2)]
        h_all, c_all = state
        finals = []
        current = seq.unbind(0)
        for l in range(self.layers):
            fwd, last_f = self.scan(current, f"_l{l}", h_all[2 * l], c_all[2 * l], False)
            bwd, last_b = self.scan(current, f"_l{l}_reverse", h_all[2 * l + 1], c_all[2 * l + 1], True)
            finals += [last_f, last_b]
            current = [torch.hstack(pair) for pair in zip(fwd, bwd)]
        out = torch.stack(tuple(current))
        return out, tuple(torch.stack(s) for s in zip(*finals))
'''

# A projection, gate by gate, with a matrix for each.
GATE_BY_GATE = '''
class LSTMP(nn.Module):
    def __init__(self, D, H, P):
        super().__init__()
        self.D, self.H, self.P = D, H, P
        make = lambda *size: nn.Parameter(0.1 * torch.randn(*size))
        self.weight_ih_l0, self.weight_hh_l0 = make(4 * H, D), make(4 * H, P)
        self.bias_ih_l0, self.bias_hh_l0 = make(4 * H), make(4 * H)
        self.weight_hr_l0 = make(P, H)

    def gate(self, k, x, h):
        rows = slice(k * self.H, (k + 1) * self.H)
        return (
            x.matmul(self.weight_ih_l0[rows].t())
            + self.bias_ih_l0[rows]
            + h.matmul(self.weight_hh_l0[rows].t())
            + self.bias_hh_l0[rows]
        )

    def forward(self, x, hx=None):
        if hx is None:
            hx = (torch.zeros(1, x.shape[1], self.P), torch.zeros(1, x.shape[1], self.H))
        h, c = hx[0].squeeze(0), hx[1].squeeze(0)
        ys = ()
        for t in range(x.shape[0]):
            i = torch.sigmoid(self.gate(0, x[t], h))
            f = torch.sigmoid(self.gate(1, x[t], h))
            candidate = torch.tanh(self.gate(2, x[t], h))
            o = torch.sigmoid(self.gate(3, x[t], h))
            c = torch.add(f * c, i * candidate)
            m = o * torch.tanh(c)
            h = m.matmul(self.weight_hr_l0.t())
            ys += (h,)
        return torch.stack(ys), (h[None, ...], c[None, ...])
'''

# Lengths: every sequence on its own, results put together by padding.
EACH_ALONE = '''
def lstm_packed(inputs, lengths, h0, c0, w_ih, w_hh, b_ih, b_hh):
    outs, hn, cn = [], [], []
    longest = inputs.shape[0]
    for n, length in enumerate(lengths.tolist()):
        h, c = h0[0, n], c0[0, n]
        ys = []
        for x in inputs[:length, n]:
            i, f, g, o = (w_ih @ x + w_hh @ h + b_ih + b_hh).view(4, -1)
            c = f.sigmoid() * c + i.sigmoid() * g.tanh()
            h = o.sigmoid() * c.tanh()
            ys.append(h)
        y = torch.stack(ys)
        outs.append(F.pad(y, (0, 0, 0, longest - length)))
        hn.append(h)
        cn.append(c)
    return torch.stack(outs, dim=1), torch.stack(hn).unsqueeze(0), torch.stack(cn).unsqueeze(0)
'''

# The loop of the simple network, as functions within functions.
CLOSURES = '''
def rnn(inputs, h0, W, U, b, d):
    def cell(x, h):
        return torch.tanh(x @ W.T + b + h @ U.T + d)

    def run(xs, h):
        for x in xs:
            h = cell(x, h)
            yield h

    first = h0.squeeze(0)
    outputs = list(run(inputs, first))
    return torch.stack(outputs, dim=0), outputs[-1].unsqueeze(0)
'''

WITH_LINEAR = '''
class MyRNNCell(nn.Module):
    def __init__(self, a, b):
        super().__init__()
        i2h, h2h = nn.Linear(a, b), nn.Linear(b, b)
        self.weight_ih, self.weight_hh, self.bias_ih, self.bias_hh = i2h.weight, h2h.weight, i2h.bias, h2h.bias

    def forward(self, x, h=None):
        h = torch.zeros(x.shape[0], self.weight_hh.shape[0]) if h is None else h
        pre = torch.nn.functional.linear(x, self.weight_ih, self.bias_ih)
        pre = pre + torch.nn.functional.linear(h, self.weight_hh, self.bias_hh)
        return pre.tanh()
'''

WHILE = '''
def read_in_windows(cell, x, h, size):
    found = []
    t = 0
    while t < x.shape[0]:
        if t % size == 0:
            h = h.detach()
        h = cell(x[t], h)
        t += 1
        if t % size == 0 or t == x.shape[0]:
            found.append(h)
    return found
'''

TABLES = '''
def rnn_backward(x, h0, W, U, b, d, dy, dh_n):
    T = x.size(0)
    hs = {-1: h0[0]}
    for t in range(T):
        hs[t] = torch.tanh(F.linear(x[t], W, b) + F.linear(hs[t - 1], U, d))
    dW, dU, db = torch.zeros_like(W), torch.zeros_like(U), torch.zeros_like(b)
    dx = torch.empty_like(x)
    carry = dh_n[0]
    for t in range(T - 1, -1, -1):
        total = dy[t] + carry
        dz = (1 - hs[t] * hs[t]) * total
        dW += torch.einsum("no,ni->oi", dz, x[t])
        dU += torch.einsum("no,ni->oi", dz, hs[t - 1])
        db += dz.sum(dim=0)
        dx[t] = dz.mm(W)
        carry = dz.mm(U)
    return dx, carry.unsqueeze(0), dW, dU, db, db.clone()
'''

PLAIN_STEP = '''
def rnn_step(x, h, W, U, b, d):
    together = torch.cat((x, h), dim=1)
    stacked = torch.cat((W, U), dim=1)
    return torch.tanh(torch.addmm(b + d, together, stacked.t()))
'''

# All at once, out of three small classes.
THREE_CLASSES = '''
class Weights:
    def __init__(self, module, layer, reverse):
        end = f"_l{layer}" + ("_reverse" if reverse else "")
        get = lambda name: getattr(module, name + end, None)
        self.ih, self.hh = get("weight_ih"), get("weight_hh")
        self.b_ih, self.b_hh, self.hr = map(get, ["bias_ih", "bias_hh", "weight_hr"])

    def __call__(self, x, h, c):
        z = F.linear(x, self.ih, self.b_ih) + F.linear(h, self.hh, self.b_hh)
        i, f, g, o = z.tensor_split(4, dim=-1)
        c = f.sigmoid().mul(c).add(i.sigmoid().mul(g.tanh()))
        h = o.sigmoid().mul(c.tanh())
        return (h if self.hr is None else F.linear(h, self.hr)), c


class Scan:
    def __init__(self, weights, reverse, live):
        self.weights, self.reverse, self.live = weights, reverse, live

    def __call__(self, xs, h, c):
        order = list(range(len(xs)))
        if self.reverse:
            order.reverse()
        ys = {}
        for t in order:
            new_h, new_c = self.weights(xs[t], h, c)
            if self.live is None:
                h, c, ys[t] = new_h, new_c, new_h
            else:
                on = self.live[t]
                h, c, ys[t] = torch.where(on, new_h, h), torch.where(on, new_c, c), torch.where(on, new_h, 0.0)
        return torch.stack([ys[t] for t in sorted(ys)]), h, c


class EveryLSTM(nn.Module):
    def __init__(self, input_size, hidden_size, num_layers=1, bias=True, batch_first=False, dropout=0.0,
                 bidirectional=False, proj_size=0):
        super().__init__()
        self.__dict__.update(hidden=hidden_size, depth=num_layers, first=batch_first, p=dropout, proj=proj_size)
        self.ways = [False, True] if bidirectional else [False]
        out = proj_size or hidden_size
        for k in range(num_layers):
            for r in self.ways:
                end = f"_l{k}" + ("_reverse" if r else "")
                columns = input_size if k == 0 else out * len(self.ways)
                self.register_parameter("weight_ih" + end, nn.Parameter(torch.ones(4 * hidden_size, columns)))
                self.register_parameter("weight_hh" + end, nn.Parameter(torch.ones(4 * hidden_size, out)))
                if bias:
                    self.register_parameter("bias_ih" + end, nn.Parameter(torch.ones(4 * hidden_size)))
                    self.register_parameter("bias_hh" + end, nn.Parameter(torch.ones(4 * hidden_size)))
                if proj_size:
                    self.register_parameter("weight_hr" + end, nn.Parameter(torch.ones(proj_size, hidden_size)))

    def forward(self, x, hx=None):
        live = None
        if isinstance(x, PackedSequence):
            x, lengths = pad_packed_sequence(x)
            live = (torch.arange(len(x)).view(-1, 1) < lengths).unsqueeze(-1)
        elif self.first:
            x = x.permute(1, 0, 2)
        rows = self.depth * len(self.ways)
        if hx is None:
            hx = x.new_zeros(rows, x.size(1), self.proj or self.hidden), x.new_zeros(rows, x.size(1), self.hidden)
        starts = iter(zip(*hx))
        ends = []
        for k in range(self.depth):
            sides = []
            for r in self.ways:
                y, *end = Scan(Weights(self, k, r), r, live)(x, *next(starts))
                sides.append(y)
                ends.append(end)
            x = torch.cat(sides, dim=2)
            if self.p and k != self.depth - 1:
                x = F.dropout(x, self.p, self.training)
        h_n, c_n = (torch.stack(one) for one in zip(*ends))
        if live is not None:
            x = pack_padded_sequence(x, lengths, enforce_sorted=False)
        elif self.first:
            x = x.permute(1, 0, 2)
        return x, (h_n, c_n)
'''

PROGRAMS = {
    "stacked": TIME_OUTSIDE,
    "bidirectional": BY_INDEX,
    "projected": GATE_BY_GATE,
    "packed": EACH_ALONE,
    "all_at_once": THREE_CLASSES,
    "rnn_step": PLAIN_STEP,
    "rnn": CLOSURES,
    "rnn_cell": WITH_LINEAR,
    "windows": WHILE,
    "rnn_backward": TABLES,
}


def answer(source, *edits):
    """What a program defines last, after each `(old, new)` has replaced a piece of it."""
    return defined(source, edits, KNOWN)[-1]


WRONG = [
    # time outside
    ("stacked", "upper_layers_read_c", [("self.drop(hs[k])", "self.drop(cs[k])")]),
    ("stacked", "dropout_after_last_layer", [("hs[k] if k == self.n_layers - 1 else self.drop(hs[k])",
                                              "self.drop(hs[k])")]),
    ("stacked", "dropout_between_steps", [("x = hs[k] if k == self.n_layers - 1 else self.drop(hs[k])",
                                           "x = hs[k] = self.drop(hs[k])")]),
    ("stacked", "gates_interleaved", [("(4, -1)", "(-1, 4)"), ("z[:, 0], z[:, 1], z[:, 2], z[:, 3]", "z.unbind(-1)")]),
    ("stacked", "layers_detached", [("self.drop(hs[k])", "self.drop(hs[k].detach())")]),
    ("stacked", "state_detached_each_step", [("tops.append(x)",
                                              "tops.append(x); hs, cs = [h.detach() for h in hs], [c.detach() for c "
                                              "in cs]")]),
    ("stacked", "one_bias", [('self.__setattr__(f"bias_hh_l{k}", nn.Parameter(torch.zeros(4 * n_hidden)))', "pass"),
                             (', "bias_hh")', ")"), (' + W["bias_hh"]', "")]),
    ("stacked", "h_n_joined_by_cat", [("torch.stack(hs, 0), torch.stack(cs, 0)",
                                       "torch.cat(hs, 0), torch.cat(cs, 0)")]),
    ("stacked", "outputs_of_all_layers", [("tops.append(x)", "tops.append(torch.cat(hs, -1))")]),
    ("stacked", "first_layer_weights_everywhere", [("Layer(self, k)", "Layer(self, min(k, 0))")]),
    ("stacked", "state_read_as_c_h", [("hs, cs = [list", "cs, hs = [list")]),
    ("stacked", "input_always_batch_first", [("for x in seq:", "for x in seq.transpose(0, 1):"), 
                                             ("seq.shape[1]", "seq.shape[0]")]),
    ("stacked", "tanh_missing_on_c", [("c.tanh() * o", "c * o")]),
    # by index
    ("bidirectional", "backward_not_flipped", [("result[t] = h", "result[t if not backwards else steps - 1 - t] = h")]),
    ("bidirectional", "directions_share_weights", [('f"_l{l}_reverse", h_all', 'f"_l{l}", h_all')]),
    ("bidirectional", "backward_h_n_from_output_last",
     [("finals += [last_f, last_b]", "finals += [last_f, (bwd[-1], last_b[1])]")]),
    ("bidirectional", "directions_before_layers", [("h_all[2 * l], c_all[2 * l]", "h_all[l], c_all[l]"),
                                                   ("h_all[2 * l + 1], c_all[2 * l + 1]",
                                                    "h_all[l + self.layers], c_all[l + self.layers]"),
                                                   ("zip(*finals)", "zip(*finals[::2], *finals[1::2])")]),
    ("bidirectional", "output_interleaved", [("torch.hstack(pair)", "torch.stack(pair, 2).flatten(1)")]),
    ("bidirectional", "directions_added", [("width = 2 * hid", "width = hid"), ("torch.hstack(pair)", "sum(pair)")]),
    ("bidirectional", "output_of_forward_only", [("out = torch.stack(tuple(current))", "out = torch.stack(fwd)")]),
    ("bidirectional", "directions_added", [("out = torch.stack(tuple(current))",
                                            "out = torch.stack(fwd).add(torch.stack(bwd))")]),
    ("bidirectional", "backward_starts_from_forward", [("h_all[2 * l + 1], c_all[2 * l + 1]", "*last_f")]),
    ("bidirectional", "gates_f_i_g_o", [("ingate, forgetgate, cellgate, outgate = ",
                                         "forgetgate, ingate, cellgate, outgate = ")]),
    ("bidirectional", "state_returned_as_c_h", [("for s in zip(*finals))", "for s in list(zip(*finals))[::-1])")]),
    # gate by gate
    ("projected", "projection_of_c", [("h = m.matmul(", "h = c.matmul(")]),
    ("projected", "output_not_projected", [("ys += (h,)", "ys += (m,)")]),
    ("projected", "projection_by_view", [("self.weight_hr_l0.t()", "self.weight_hr_l0.view(self.H, self.P)")]),
    ("projected", "bias_hh_missing", [("            + self.bias_hh_l0[rows]\n", "")]),
    ("projected", "default_state_size", [("x.shape[1], self.P)", "x.shape[1], self.H)")]),
    ("projected", "gates_i_f_o_g", [("self.gate(2,", "self.gate(9,"), ("self.gate(3,", "self.gate(2,"),
                                    ("self.gate(9,", "self.gate(3,")]),
    # each alone
    ("packed", "packed_ignores_lengths", [("lengths.tolist()", "[longest] * len(lengths)")]),
    ("packed", "cut_to_shortest", [("lengths.tolist()", "[int(lengths.min())] * len(lengths)")]),
    ("packed", "one_step_too_few", [("inputs[:length, n]", "inputs[:length - 1, n]"),
                                    ("y = torch.stack(ys)",
                                     "y = torch.stack(ys) if ys else inputs.new_zeros(0, len(h))"),
                                    ("longest - length)", "longest - length + 1)")]),
    ("packed", "output_repeats_last", [("F.pad(y, (0, 0, 0, longest - length))",
                                        "torch.cat([y, y[-1:].expand(longest - length, -1)])")]),
    ("packed", "padding_expected_first", [("inputs[:length, n]", "inputs[longest - length:, n]"),
                                          ("(0, 0, 0, longest - length)", "(0, 0, longest - length, 0)")]),
    ("packed", "h_n_without_layer", [("torch.stack(hn).unsqueeze(0), torch.stack(cn).unsqueeze(0)",
                                      "torch.stack(hn), torch.stack(cn)")]),
    # three classes
    ("all_at_once", "backward_reads_forwards", [("order.reverse()", "pass")]),
    ("all_at_once", "output_not_batch_first",
     [("        elif self.first:\n            x = x.permute(1, 0, 2)\n        return", "        return")]),
    ("all_at_once", "view_for_batch_first",
     [("        elif self.first:\n            x = x.permute(1, 0, 2)\n        rows",
       "        elif self.first:\n            x = x.contiguous().view(x.size(1), x.size(0), -1)\n        rows")]),
    ("all_at_once", "projection_squashed", [("F.linear(h, self.hr)", "F.linear(h, self.hr).tanh()")]),
    ("all_at_once", "dropout_in_evaluation", [("self.p, self.training)", "self.p, True)")]),
    ("all_at_once", "h_n_after_padding", [("torch.where(on, new_h, h), torch.where(on, new_c, c), torch",
                                           "new_h, new_c, torch")]),
    ("all_at_once", "output_not_packed", [("x = pack_padded_sequence(x, lengths, enforce_sorted=False)", "pass")]),
    ("all_at_once", "forget_gate_on_sum", [("f.sigmoid().mul(c).add(i.sigmoid().mul(g.tanh()))",
                                            "f.sigmoid().mul(c.add(i.sigmoid().mul(g.tanh())))")]),
    # the simple network
    ("rnn_step", "concatenated_in_other_order", [("(x, h)", "(h, x)")]),
    ("rnn_step", "bias_hh_missing", [("b + d", "b")]),
    ("rnn_step", "biases_after_tanh", [("torch.tanh(torch.addmm(b + d, together, stacked.t()))",
                                        "torch.tanh(together.mm(stacked.t())) + b + d")]),
    ("rnn_cell", "state_kept_between_calls", [("if h is None else h\n",
                                               "if h is None else h\n        h = getattr(self, 'old', h)\n"),
                                               ("return pre.tanh()",
                                                "self.old = pre.tanh()\n        return self.old")]),
    ("rnn_cell", "relu_for_tanh", [("pre.tanh()", "pre.relu()")]),
    ("rnn_cell", "default_state_random", [("torch.zeros(", "torch.randn(")]),
    ("rnn", "state_not_carried", [("            h = cell(x, h)\n            yield h", "            yield cell(x, h)")]),
    ("rnn", "output_one_early", [("            h = cell(x, h)\n            yield h",
                                  "            yield h\n            h = cell(x, h)"),
                                 ("outputs[-1].unsqueeze(0)", "cell(inputs[-1], outputs[-1])[None]")]),
    ("rnn", "h_n_from_last_row~layer", [("outputs[-1].unsqueeze(0)", "torch.stack(outputs)[:, -1][None]")]),
    ("rnn", "output_always_batch_first", [("outputs, dim=0", "outputs, dim=1")]),
    ("rnn", "state_detached_each_step", [("h = cell(x, h)", "h = cell(x, h.detach())")]),
    ("rnn", "h_n_without_layer", [("outputs[-1].unsqueeze(0)", "outputs[-1]")]),
    ("windows", "state_not_cut", [("h = h.detach()", "pass")]),
    ("windows", "last_window_dropped", [(" or t == x.shape[0]", "")]),
    ("windows", "state_detached_each_step", [("if t % size == 0:\n            h = h", "if True:\n            h = h")]),
    ("windows", "states_of_all_steps", [("if t % size == 0 or t == x.shape[0]:", "if True:")]),
    ("rnn_backward", "new_h_for_old_h", [("dz, hs[t - 1])", "dz, hs[t])")]),
    ("rnn_backward", "grad_h_n_ignored", [("carry = dh_n[0]", "carry = torch.zeros_like(dh_n[0])")]),
    ("rnn_backward", "recurrent_weights_transposed_on_way_back", [("carry = dz.mm(U)", "carry = dz.mm(U.t())")]),
    ("rnn_backward", "gradient_overwritten", [("dW +=", "dW ="), ("dU +=", "dU ="), ("db +=", "db =")]),
    ("rnn_backward", "tanh_slope_not_squared", [("1 - hs[t] * hs[t]", "1 - hs[t]")]),
]  # fmt: skip

# Another way to the same numbers: none is accused.
RIGHT = [
    *((question, []) for question in PROGRAMS),
    ("stacked", [("c.tanh() * o.sigmoid(), c", "torch.mul(torch.tanh(c), 1 / (1 + torch.exp(-o))), c")]),
    ("stacked", [("hs, cs = [list(s) for s in hc]",
                  "hs, cs = {}, {}\n        for k, (h, c) in enumerate(zip(*hc)): hs[k], cs[k] = h, c"),
                 ("torch.stack(hs, 0), torch.stack(cs, 0)",
                  "torch.stack([*hs.values()]), torch.stack([*cs.values()])")]),
    ("bidirectional", [("torch.hstack(pair)",
                        "torch.cat([F.pad(pair[0], (0, self.hid)) + F.pad(pair[1], (self.hid, 0))])")]),
    ("bidirectional", [("F.linear(seq[t], w_ih, b_ih) + F.linear(h, w_hh, b_hh)",
                        "torch.baddbmm(b_ih.view(1, 1, -1), seq[t][None], w_ih.t()[None])[0] + torch.tensordot(h, "
                        "w_hh, ([1], [1])) + b_hh")]),
    ("projected", [("x.matmul(self.weight_ih_l0[rows].t())", "(x.unsqueeze(1) * self.weight_ih_l0[rows]).sum(-1)")]),
    ("projected", [("h = m.matmul(self.weight_hr_l0.t())", "h = torch.vmap(lambda row: self.weight_hr_l0 @ row)(m)")]),
    ("packed", [("F.pad(y, (0, 0, 0, longest - length))",
                 "torch.zeros(longest, y.shape[1]).index_copy(0, torch.arange(length), y)")]),
    ("packed", [("torch.stack(outs, dim=1)", "nn.utils.rnn.pad_sequence([y[:n] for y, n in zip(outs, lengths)])")]),
    ("all_at_once", [("f.sigmoid().mul(c).add(i.sigmoid().mul(g.tanh()))",
                      "torch.lerp(i.sigmoid() * g.tanh(), c + i.sigmoid() * g.tanh(), f.sigmoid())")]),
    ("all_at_once", [("order.reverse()", "order = order[::-1]"),
                     ("x.permute(1, 0, 2)", "x.swapaxes(0, 1).contiguous()")]),
    ("rnn", [("torch.tanh(x @ W.T + b + h @ U.T + d)", "2 * torch.sigmoid(2 * (x @ W.T + b + h @ U.T + d)) - 1")]),
    ("rnn_cell", [("pre.tanh()", "(pre.exp() - (-pre).exp()) / (pre.exp() + (-pre).exp())")]),
    ("windows", [("h = h.detach()", "h = h.clone().data")]),
    ("rnn_backward", [("(1 - hs[t] * hs[t]) * total", "total - hs[t].square() * total")]),
]  # fmt: skip


@pytest.mark.parametrize("question, name, edits", sample(WRONG, 20))
def test_mistakes_in_other_hands_are_named(question, name, edits):
    finding = found(question, answer(PROGRAMS[question], *edits), seed=7)
    assert finding.known and finding.mistakes == [name.split("~")[0]]


# Modules within a module: the right arithmetic under other names.
FUSED = '''
class Cell(nn.Module):
    def __init__(self, i, h):
        super().__init__()
        self.x2h, self.h2h = nn.Linear(i, 4 * h), nn.Linear(h, 4 * h)

    def forward(self, x, h, c):
        i, f, g, o = (self.x2h(x) + self.h2h(h)).chunk(4, 1)
        c = f.sigmoid() * c + i.sigmoid() * g.tanh()
        return o.sigmoid() * c.tanh(), c


class Net(nn.Module):
    def __init__(self, i, h, layers, p):
        super().__init__()
        self.cells = nn.ModuleList([Cell(h if k else i, h) for k in range(layers)])
        self.h, self.drop = h, nn.Dropout(p)

    def forward(self, x, state=None):
        h_n, c_n = [], []
        for k, cell in enumerate(self.cells):
            h, c = (one[k] for one in state) if state else (torch.zeros(x.shape[1], self.h),) * 2
            ys = []
            for x_t in x:
                h, c = cell(x_t, h, c)
                ys.append(h)
            h_n.append(h)
            c_n.append(c)
            x = torch.stack(ys)
            if cell is not self.cells[-1]:
                x = self.drop(x)
        return x, (torch.stack(h_n), torch.stack(c_n))
'''
GATES = [("self.x2h, self.h2h = nn.Linear(i, 4 * h), nn.Linear(h, 4 * h)",
          "self.gates = nn.ModuleList([nn.Linear(i + h, h) for _ in range(4)])"),
         ("(self.x2h(x) + self.h2h(h)).chunk(4, 1)", "(gate(torch.cat([x, h], 1)) for gate in self.gates)")]
LINEAR = '''
class Elman(nn.Module):
    def __init__(self, i, h):
        super().__init__()
        self.input, self.recurrent = nn.Linear(i, h), nn.Linear(h, h)

    def forward(self, x, h=None):
        if h is None:
            h = x.new_zeros(len(x), self.recurrent.in_features)
        return torch.tanh(self.input(x) + self.recurrent(h))
'''
NAMED_OTHERWISE = [
    ("stacked", FUSED, [], {"parameter_names"}),
    ("stacked", FUSED, [("i, f, g, o =", "f, i, g, o =")], {"parameter_names", "gates_f_i_g_o"}),
    ("stacked", FUSED, [("if cell is not self.cells[-1]:", "if True:")],
     {"parameter_names", "dropout_after_last_layer"}),
    ("stacked", FUSED, GATES, {"gates_apart"}),
    ("rnn_cell", LINEAR, [], {"parameter_names"}),
    ("rnn_cell", LINEAR, [("torch.tanh", "torch.sigmoid")], {"parameter_names", "sigmoid_for_tanh"}),
    ("rnn_cell", LINEAR, [("x.new_zeros", "torch.ones")], {"parameter_names", "default_state_ones"}),
]  # fmt: skip


@pytest.mark.parametrize("question, source, edits, names", sample(NAMED_OTHERWISE, 4))
def test_modules_within_a_module_have_other_names(question, source, edits, names):
    assert set(found(question, answer(source, *edits), seed=7).mistakes) == names


# The cells of two directions, kept in many ways: `{made}` makes them, and `{pair}` are the layer's two.
CELLS = '''
class Cell(nn.Module):
    def __init__(self, i, h):
        super().__init__()
        self.weight_ih, self.weight_hh = (nn.Parameter(torch.rand(4 * h, size)) for size in (i, h))
        self.bias_ih, self.bias_hh = (nn.Parameter(torch.rand(4 * h)) for _ in range(2))

    def forward(self, x, h, c):
        i, f, g, o = (x @ self.weight_ih.T + h @ self.weight_hh.T + self.bias_ih + self.bias_hh).chunk(4, 1)
        c = f.sigmoid() * c + i.sigmoid() * g.tanh()
        return o.sigmoid() * c.tanh(), c


class Bi(nn.Module):
    def __init__(self, i, h, layers):
        super().__init__()
        self.h, self.layers = h, layers
        def new():
            return [Cell(2 * h if k else i, h) for k in range(layers)]
        MADE

    def forward(self, x, state=None):
        h_n, c_n = [], []
        for k in range(self.layers):
            ys = []
            for d, cell in enumerate(PAIR):
                row = 2 * k + d
                h, c = (one[row] for one in state) if state else (torch.zeros(x.shape[1], self.h),) * 2
                said = []
                for x_t in x.flip(0) if d else x:
                    h, c = cell(x_t, h, c)
                    said.append(h)
                h_n.append(h)
                c_n.append(c)
                ys.append(torch.stack(said[::-1] if d else said))
            x = torch.cat(ys, 2)
        return x, (torch.stack(h_n), torch.stack(c_n))
'''
LISTS = [
    ("self.forwards, self.backwards = nn.ModuleList(new()), nn.ModuleList(new())",
     "(self.forwards[k], self.backwards[k])"),
    ("self.back, self.ahead = nn.ModuleList(new()), nn.ModuleList(new())", "(self.ahead[k], self.back[k])"),
    ("self.one, self.other = nn.ModuleList(new()), nn.ModuleList(new())", "(self.one[k], self.other[k])"),
    ("self.cells = nn.ModuleList([*new(), *new()])", "(self.cells[k], self.cells[self.layers + k])"),
    ("self.cells = nn.ModuleList([one for pair in zip(new(), new()) for one in pair])", "self.cells[2 * k : 2 * k + 2]"),
    ("self.cells = nn.ModuleList([nn.ModuleList(new()), nn.ModuleList(new())])", "(self.cells[0][k], self.cells[1][k])"),
]  # fmt: skip
WORDS = [("weight_ih", "W"), ("weight_hh", "A"), ("bias_ih", "b"), ("bias_hh", "d")]


@pytest.mark.parametrize("words", [[], WORDS], ids=["torch's words", "own words"])
@pytest.mark.parametrize("made, pair", sample(LISTS, 3))
def test_each_cell_of_a_list_is_taken_for_the_layer_that_it_is(made, pair, words):
    right = answer(CELLS, ("MADE", made), ("PAIR", pair), *words)
    finding = found("bidirectional", right, seed=7)
    assert finding.mistakes == ["parameter_names"]
    word = "W" if words else "weight_ih"
    assert all(other.endswith("." + word) for name, other in finding.notes["renamed"] if name.startswith("weight_ih"))


@pytest.mark.parametrize("question, edits", sample(RIGHT, 6))
def test_what_is_right_in_another_hand_is_right(question, edits):
    assert found(question, answer(PROGRAMS[question], *edits), seed=7).mistakes == []
