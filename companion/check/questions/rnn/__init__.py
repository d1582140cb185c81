"""The questions of the assignment `rnn`: the step, the cell, the loop, reading in windows, and the way back."""
