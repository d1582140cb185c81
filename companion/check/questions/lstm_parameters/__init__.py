"""Questions of the assignment `lstm_parameters`: shapes, layers, directions, projection, lengths, all at once."""

CHAPTER = "lstm_parameters"
