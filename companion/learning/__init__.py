"""Learning from text, numbers and made-up tasks: data, models, training, generation."""
