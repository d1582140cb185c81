"""Questions of the assignment `gru`: its step, its layer, and other cells."""
