"""Recurrent layers, attention and the embedding, written in tensor arithmetic."""
