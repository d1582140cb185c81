"""From a text to a network that has learned from it: windows, tasks, training, generation. It knows no page and no
figure."""
