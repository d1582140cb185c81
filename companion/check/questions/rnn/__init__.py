"""Questions of the assignment `rnn`: the step, the cell, the loop, windows, and gradients by hand."""
