"""Questions of the assignment `language_model`: perplexity, probabilities, generation, and two trained networks."""
