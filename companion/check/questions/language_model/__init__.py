"""The questions of the assignment `language_model`: perplexity, what is drawn from, writing, and two networks that
learn."""
