"""The questions of the assignment `lstm_parameters`: shapes, layers, directions, projection, lengths, and all at
once."""

CHAPTER = "lstm_parameters"
