"""Mistakes with the states, for programs that call them h0, c0 and return h_n, c_n."""

STATES_WRONG = {
    "state_detached": [("h0, c0 = state", "h0, c0 = state[0].detach(), state[1].data")],
    "state_read_as_c_h": [("h0, c0 = state", "c0, h0 = state")],
    "state_returned_as_c_h": [("(h_n, c_n)", "(c_n, h_n)")],
    "state_swapped": [("h0, c0 = state", "c0, h0 = state"), ("(h_n, c_n)", "(c_n, h_n)")],
}
DEFAULTS_WRONG = {
    "default_state_missing": [("if state is None:", "if False:")],
    "default_state_ones": [("torch.zeros(", "torch.ones(")],
    "default_state_random": [("torch.zeros(", "torch.randn(")],
    "state_kept_between_calls": [
        ("if state is None:", "state = state or getattr(self, 'state', None)\n        if state is None:"),
        ("        return", "        self.state = h_n, c_n\n        return"),
    ],
}
DEFAULTS_OTHERWISE = [
    ("default_state_random", [("torch.zeros(", "torch.rand(")]),
    ("state_kept_between_calls", [
        DEFAULTS_WRONG["state_kept_between_calls"][0],
        ("        return", "        self.state = h_n.detach(), c_n.detach()\n        return"),
    ]),
]  # fmt: skip
