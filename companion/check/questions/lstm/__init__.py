"""The questions of the assignment `lstm`: the gates, the cell, the layer, weights with one bias, and the way back."""
