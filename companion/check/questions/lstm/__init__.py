"""Questions of the assignment `lstm`: the gates, the cell, the layer, weights with one bias, gradients by hand."""
