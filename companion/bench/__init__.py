"""The protocol as a command: a reader's own layer, measured as the companion's layers are.

    python -m companion.bench my_cell.py:MyCell

`MyCell(input_size, hidden_size)` makes a layer that is called as `output, state = layer(input, state)`. It may also be
a `Step` (see `companion/layers/step.py`), or a function of the two sizes. An example:

    class MyCell(torch.nn.Module):
        def __init__(self, input_size, hidden_size):
            super().__init__()
            self.cell = torch.nn.RNNCell(input_size, hidden_size)

        def forward(self, input, state=None):  # input: (T, B, input_size); state: None, or what the last call returned
            outputs = []
            for x in input:
                state = self.cell(x, state)
                outputs.append(state)
            return torch.stack(outputs), state

First one call over all steps is compared with calls over pieces and over single steps (`check.py`). Then networks learn
what `measure.py` defines, by the protocol of `companion/learning/protocol.py`: learning rates are chosen on three
seeds, by data that are not reported, and five networks with other seeds are reported. On one free core, all parts take
an LSTM about ten minutes and a loop in Python a quarter of an hour; --quick takes a minute or two.
"""
