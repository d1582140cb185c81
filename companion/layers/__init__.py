"""The recurrent layers, and the embedding: tensor arithmetic and nothing else. They know nothing of text or of
training."""
