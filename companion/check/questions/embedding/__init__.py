"""Questions of the assignment `embedding`: one-hot vectors, look-up, its gradient, the layer, means of bags."""
