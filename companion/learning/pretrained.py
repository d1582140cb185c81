"""Weights of trained models that come with the package: files in float16, and the command line that trains them.

Training in float32 ends differently on every processor. So the book computes, in float64, with the stored weights.
"""

import argparse
from collections.abc import Mapping, Sequence
from pathlib import Path

import torch
from safetensors import safe_open
from safetensors.torch import save_file
from torch import Tensor, nn


def read_weights(path: Path, what: str, dtype: torch.dtype = torch.float64) -> tuple[dict[str, Tensor], dict[str, str]]:
    """Return (weights, metadata), two dicts, from a file of `write_weights`.

    what: the model's kind, for the error. FileNotFoundError, with the names of the files beside it, if there is no such
    file.
    """
    if not path.is_file():
        names = ", ".join(sorted(repr(file.stem) for file in path.parent.glob("*.safetensors")))
        raise FileNotFoundError(f"there is no {what} for {path.stem!r}, only for {names}")
    with safe_open(path, framework="pt") as file:
        return {name: file.get_tensor(name).to(dtype) for name in file.keys()}, file.metadata()


def write_weights(weights: Mapping[str, Tensor], metadata: dict[str, str], path: Path) -> None:
    """Write weights in float16 to a file, with strings as metadata."""
    path.parent.mkdir(exist_ok=True)
    save_file({name: weight.half().contiguous() for name, weight in weights.items()}, path, metadata)


def weights_of(models: Mapping[str, nn.Module]) -> dict[str, Tensor]:
    """Return the weights of several models in one dict.

    The key `LSTM.linear.bias` is `linear.bias` of the model named LSTM.
    """
    return {f"{kind}.{name}": weight for kind, model in models.items() for name, weight in model.state_dict().items()}


def part_of(weights: Mapping[str, Tensor], kind: str) -> dict[str, Tensor]:
    """Return one model's weights from the result of `weights_of`, under their own names."""
    return {name.removeprefix(f"{kind}."): weight for name, weight in weights.items() if name.startswith(f"{kind}.")}


def named_languages(description: str | None, all_languages: Sequence[str]) -> Sequence[str]:
    """Return the languages that the command line names, all if it names none, and make torch use one thread."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("languages", nargs="*", help="default: all")
    torch.set_num_threads(1)
    return parser.parse_args().languages or all_languages
