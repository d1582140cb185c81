"""The questions of the assignment `gru`: its step, its layer, and cells that are built another way."""
