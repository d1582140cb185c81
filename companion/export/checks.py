"""Checks that `to_c` and `to_onnx` share: of the parts of a model, and of the file to write."""

from pathlib import Path
from typing import Any

from torch import nn

from companion.layers.linear import Linear


def check_sizes(embedding: Any, layer: Any, linear: Any) -> None:
    """Raise ValueError for a part `linear` that is no linear layer, and for parts of sizes that do not fit."""
    if not isinstance(linear, nn.Linear | Linear):
        raise ValueError(f"linear must be a linear layer, not {type(linear).__name__}")
    size = getattr(embedding, "embedding_dim", layer.input_size)
    if size != layer.input_size:
        raise ValueError(f"the embedding makes {size} features, the recurrent layer reads {layer.input_size}")
    size = layer.hidden_size * (2 if getattr(layer, "bidirectional", False) else 1)
    if size != linear.in_features:
        raise ValueError(f"the recurrent layer makes {size} features, the linear layer reads {linear.in_features}")


def check_path(path: Path, example: str) -> None:
    """Raise ValueError for a folder, FileNotFoundError for a path in a folder that is missing."""
    if path.is_dir():
        raise ValueError(f"{str(path)!r} is a folder; give the path of a file in it, such as {example}")
    if not path.parent.is_dir():
        raise FileNotFoundError(f"there is no folder {str(path.parent)!r} to write {path.name} into")
