"""An LSTM with all options of torch and its mistakes, shared by answers to `lstm` and `lstm_parameters`."""

from tests.check.answers import changed
from tests.check.answers.lstm.states import DEFAULTS_WRONG, STATES_WRONG
from tests.check.answers.lstm.step import STEP

RUN = (
    STEP
    + """
def run(x, h, c, on, W, U, b1, b2, V=0):
    h_start, c_start = h, c
    said = []
    for t in range(len(x)):
        old_h, old_c = h, c
        h, c = step(x[t], h, c, W, U, b1, b2)
        if torch.is_tensor(V):
            h = h @ V.T
        said.append(h * on[t])
        h, c = torch.where(on[t], h, old_h), torch.where(on[t], c, old_c)
    return torch.stack(said), h, c
"""
)
NETWORK = (
    RUN
    + """
class LSTM(nn.Module):
    def __init__(self, input_size, hidden_size, OPTIONS):
        super().__init__()
        self.H, self.L, self.D, self.R = hidden_size, num_layers, 1 + bidirectional, proj_size or hidden_size
        self.batch_first, self.p = batch_first, dropout
        H, R = self.H, self.R
        for k in range(num_layers):
            size = input_size if k == 0 else R * self.D
            for end in ["", "_reverse"][:self.D]:
                shapes = [("weight_ih", (4 * H, size)), ("weight_hh", (4 * H, R))]
                if bias:
                    shapes += [("bias_ih", (4 * H,)), ("bias_hh", (4 * H,)), ]
                if proj_size:
                    shapes += [("weight_hr", (R, H))]
                for name, shape in shapes:
                    self.register_parameter(f"{name}_l{k}{end}", nn.Parameter(torch.randn(shape)))

    def forward(self, x, state=None):
        packed = x if isinstance(x, PackedSequence) else None
        if packed:
            x, lengths = pad_packed_sequence(x)
        elif self.batch_first:
            x = x.transpose(0, 1)
        T, N, _ = x.shape
        on = torch.arange(T)[:, None, None] < (lengths[:, None] if packed else T)
        if state is None:
            state = torch.zeros(self.L * self.D, N, self.R), torch.zeros(self.L * self.D, N, self.H)
        h0, c0 = state
        hs, cs, layers, given = [], [], [], x
        for k in range(self.L):
            sides = []
            for d in range(self.D):
                turn = (lambda z: z.flip(0)) if d else (lambda z: z)
                h, c = h0[k * self.D + d], c0[k * self.D + d]
                end = f"_l{k}" + "_reverse" * d
                weights = {name.split("_l")[0]: p for name, p in self.named_parameters() if name.endswith(end)}
                names = ["weight_ih", "weight_hh", "bias_ih", "bias_hh", "weight_hr"]
                side, h, c = run(turn(x), h, c, turn(on), *[weights.get(name, 0) for name in names])
                sides.append(turn(side))
                hs.append(h)
                cs.append(c)
            x = torch.cat(sides, -1)
            layers.append(x)
            if k + 1 < self.L:
                x = F.dropout(x, self.p, self.training)
        y, h_n, c_n = x, torch.stack(hs), torch.stack(cs)
        if packed:
            y = pack_padded_sequence(y, lengths, enforce_sorted=False)
        elif self.batch_first:
            y = y.transpose(0, 1)
        return y, (h_n, c_n)
"""
)
OPTIONS = {"num_layers": 1, "bias": True, "batch_first": False, "dropout": 0.0, "bidirectional": False, "proj_size": 0}


def network(*asked, **others):
    """Return the program of a layer that always gets the options `asked`, with defaults for the others."""
    defaults = [f"{name}={value}" for name, value in (OPTIONS | others).items() if name not in asked]
    return changed(NETWORK, ("OPTIONS", ", ".join([*asked, *defaults])))


SAY, STEPS, START = "said.append(h * on[t])", "range(len(x))", "h, c = h0[k * self.D + d], c0[k * self.D + d]"
HOLD = "h, c = torch.where(on[t], h, old_h), torch.where(on[t], c, old_c)"
LAST, TOP, BACK = "torch.stack(hs), torch.stack(cs)", "y, h_n, c_n = x", ("y = y.transpose(0, 1)", "pass")
# Mistakes in the loop over time and its results
LOOP_WRONG = STATES_WRONG | {
    "given_state_ignored": [("h0, c0 = state", "h0, c0 = 0 * state[0], 0 * state[1]")],
    "c_n_is_h_n": [("(h_n, c_n)", "(h_n, h_n)")],
    "h_n_always_batch_first": [("(h_n, c_n)", "(h_n.transpose(0, 1), c_n.transpose(0, 1))")],
    "state_not_carried": [("step(x[t], h, c,", "step(x[t], h_start, c_start,")],
    "output_only_last": [(TOP, f"{TOP}[-1]")],
    "output_always_batch_first": [(TOP, f"{TOP}.transpose(0, 1)")],
    "output_detached": [("return y", "return y.detach()")],
    "output_is_c": [(SAY, "said.append(c * on[t])")],
    "state_detached_each_step": [(HOLD, f"{HOLD}; h, c = h.detach(), c.detach()")],
}
NETWORK_WRONG = LOOP_WRONG | DEFAULTS_WRONG | {
    "input_always_batch_first": [("T, N, _ = x.shape", "x = x.transpose(0, 1); T, N, _ = x.shape")],
    "only_output_returned": [(", (h_n, c_n)", "")],
    "state_returned_flat": [("(h_n, c_n)", "h_n, c_n")],
    "h_n_without_layer": [(LAST, "h, c")],
    "one_bias": [('("bias_hh", (4 * H,)), ', "")],
    "weights_transposed": [("(4 * H, size)", "(size, 4 * H)"), ("(4 * H, R)", "(R, 4 * H)"), ("W.T", "W"), ("U.T",
    "U")],
}  # fmt: skip
BATCH_FIRST_WRONG = {
    "batch_first_ignored": [("= batch_first, dropout", "= False, dropout")],
    "batch_first_the_other_way": [("= batch_first, dropout", "= not batch_first, dropout")],
    "output_not_batch_first": [BACK],
    "view_for_batch_first": [(" x = x.transpose(0, 1)", " x = x.reshape(x.size(1), x.size(0), -1)")],
    "h_n_batch_first": [
        ("return y", "if self.batch_first: h_n, c_n = h_n.transpose(0, 1), c_n.transpose(0, 1)\n        return y"),
    ],
    "h_0_batch_first": [("h0, c0 = state", "h0, c0 = [s.transpose(0, 1) if self.batch_first else s for s in state]")],
}
