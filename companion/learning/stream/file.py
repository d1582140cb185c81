"""The file of a stream: weights and states as safetensors, and everything else as JSON in its metadata.

A model of the companion's and torch's layers is described by its classes and their arguments, so that the file is
enough to build it again.
"""

import hashlib
import inspect
import json
import os
import shutil
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor, nn

from companion.layers.blocks import Blocks
from companion.layers.delta_mixer import DeltaMixer, KimiMixer
from companion.layers.embedding import Embedding
from companion.layers.griffin_mixer import GriffinMixer
from companion.layers.gru import GRU
from companion.layers.linear_attention import DeltaNet, GatedDeltaNet, GatedLinearAttention, LinearAttention
from companion.layers.lstm import LSTM
from companion.layers.mamba_mixer import Mamba2Mixer, MambaMixer
from companion.layers.minimal import LogMinGRU, MinGRU, MinLSTM
from companion.layers.mlstm import MLSTM
from companion.layers.mlstm_mixer import MLSTMMixer
from companion.layers.rnn import RNN
from companion.layers.selective import SelectiveSSM
from companion.layers.slstm import SLSTM
from companion.layers.tracking import DeltaProduct, RotaryLinearAttention
from companion.learning.sequence_model import OneHot, SequenceModel, evaluation_of
from companion.learning.series import Scaling
from companion.learning.stream.states import User
from companion.learning.text import Vocabulary

FORMAT, VERSION = "unrolled stream", 1
OPTIONS = ("target", "change", "features", "end", "gap")  # of a stream
OWN = (Embedding, OneHot, RNN, GRU, LSTM, MinGRU, LogMinGRU, MinLSTM, SelectiveSSM, LinearAttention)
OWN += (GatedLinearAttention, MLSTM, DeltaNet, GatedDeltaNet, DeltaProduct, RotaryLinearAttention, SLSTM)
OWN += (DeltaMixer, KimiMixer, MambaMixer, Mamba2Mixer, MLSTMMixer, GriffinMixer)
CLASSES: dict[str, Any] = {f"companion.{kind.__name__}": kind for kind in OWN}
CLASSES |= {f"torch.nn.{kind.__name__}": kind for kind in (nn.Embedding, nn.Identity, nn.RNN, nn.GRU, nn.LSTM)}


def describe(module: nn.Module) -> dict[str, Any] | None:
    """Return a module's class and arguments as JSON can hold them; None for a class that is not known here."""
    if type(module) is SequenceModel:
        parts = {"embedding": describe(module.embedding), "recurrent": describe(module.recurrent)}
        parts["num_outputs"] = getattr(module.linear, "out_features", None)
        return None if None in parts.values() else parts
    if type(module) is Blocks:
        layers = [describe(layer) for layer in module.layers]
        return None if None in layers else {"blocks": layers}
    name = next((name for name, kind in CLASSES.items() if type(module) is kind), None)
    if name is None:
        return None
    # torch's recurrent layers take *args: their arguments are those of the companion's
    like = CLASSES.get(name.replace("torch.nn", "companion"), CLASSES[name])
    arguments = {key: getattr(module, key) for key in inspect.signature(like).parameters if hasattr(module, key)}
    simple = {key: value for key, value in arguments.items() if isinstance(value, int | float | str | None)}
    return {"class": name, "arguments": simple}


def build(description: dict[str, Any], dtype: torch.dtype) -> Any:
    """Return a new module of a description. Errors: those of its class."""
    if "recurrent" in description:
        embedding, recurrent = (build(description[part], dtype) for part in ("embedding", "recurrent"))
        return SequenceModel(embedding, recurrent, description["num_outputs"])
    if "blocks" in description:
        return Blocks([build(layer, dtype) for layer in description["blocks"]])
    kind, arguments = CLASSES[description["class"]], description["arguments"]
    return kind() if kind is nn.Identity else kind(**arguments, dtype=dtype)


def save_stream(stream: Any, path: str | Path) -> None:
    """Write a stream to a file, which is replaced as a whole."""
    path = Path(os.path.realpath(path))  # a link stays a link
    if not path.parent.is_dir() or path.is_dir():
        raise ValueError(f"{str(path)!r} is a folder, or in none; give the path of a file, such as run.safetensors")
    rows = torch.tensor([user.row for user in stream.users.values()], dtype=torch.int64)
    tensors = {f"model.{name}": weight for name, weight in stream.model.state_dict().items()}
    tensors |= {f"state.{k}": leaf[rows] for k, leaf in enumerate(stream.states.leaves)}
    users = {name: [user.begins, user.time, user.session] for name, user in stream.users.items()}
    tensors["users"] = torch.tensor(list(json.dumps(users).encode()), dtype=torch.uint8)  # may be long
    tensors["sample"] = outputs_of(stream)
    scaling, vocabulary = stream.scaling, stream.vocabulary
    if scaling is not None:
        tensors |= {"scaling.mean": scaling.mean, "scaling.std": scaling.std}
    tensors = {name: tensor.detach().cpu().clone().contiguous() for name, tensor in tensors.items()}
    settings = {
        "model": describe(stream.model),
        "dtype": str(stream.dtype).removeprefix("torch."),
        "vocabulary": vocabulary and vocabulary.characters,
        "options": {name: getattr(stream, name) for name in OPTIONS},
        "notes": stream.notes,
    }
    try:
        text = json.dumps(settings, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise ValueError(f"the notes, or the settings of the model, cannot be written as JSON: {error}") from None
    metadata = {"format": FORMAT, "version": str(VERSION), "settings": text, "checksum": checksum(tensors, text)}
    unfinished = path.with_name(f"{path.name}.{os.getpid()}.unfinished")
    try:
        save_file(tensors, unfinished, metadata)
        if path.exists():
            shutil.copymode(path, unfinished)
        with unfinished.open("rb+") as file:
            os.fsync(file.fileno())  # a power failure leaves the old file or the new one
        os.replace(unfinished, path)
    except SafetensorError as error:  # no space, no permission
        raise OSError(f"{str(path)!r} cannot be written: {error}") from None
    finally:
        unfinished.unlink(missing_ok=True)


def outputs_of(stream: Any) -> Tensor:
    """Return the model's outputs for the sample: a model that is loaded must compute the same."""
    with evaluation_of(stream.model):
        return stream.model(stream.sample(), None)[0]


def load_stream(kind: Any, path: str | Path, model: Any = None) -> Any:
    """Return the stream in a file. See `Stream.load`."""
    tensors, settings = read(Path(path))
    try:
        return build_stream(kind, path, model, tensors, settings)
    except (KeyError, TypeError, AttributeError, RuntimeError, IndexError) as error:
        raise ValueError(
            f"{str(path)!r} does not describe its model fully, or was not written by `Stream.save`: {error!r}. If it is"
            " your file, pass the model as `model`"
        ) from error


def build_stream(kind: Any, path: str | Path, model: Any, tensors: dict[str, Tensor], settings: dict[str, Any]) -> Any:
    """Return the stream of what `read` returns. Errors of many kinds for a file that was not written by `save`."""
    weights = {name.removeprefix("model."): tensor for name, tensor in tensors.items() if name.startswith("model.")}
    if model is None:
        if settings["model"] is None:
            raise ValueError(f"{str(path)!r} does not describe its model, a class of your own: pass it as `model`")
        model = build(settings["model"], getattr(torch, settings["dtype"]))
        model.load_state_dict(weights)
    elif differs := differing_weight(model.state_dict(), weights):
        raise ValueError(f"{str(path)!r} has the states of another model: {differs}")
    scaling = None
    if "scaling.mean" in tensors:
        scaling = Scaling.of(tensors["scaling.mean"], tensors["scaling.std"])
    vocabulary = settings["vocabulary"] and Vocabulary.of(settings["vocabulary"])
    stream = kind(model, vocabulary=vocabulary, scaling=scaling, **settings["options"])
    stream.notes = settings["notes"]
    if not torch.allclose(outputs_of(stream).cpu(), tensors["sample"], rtol=1e-4, atol=1e-5):
        raise ValueError(f"{str(path)!r} has the states of another model, with the same weights and other outputs")
    users = json.loads(bytes(tensors["users"].tolist()))
    for row, (name, (begins, time, session)) in enumerate(users.items()):
        stream.users[name] = User(row, begins, time, session)
    kept = [tensors[f"state.{k}"].to(stream.device) for k in range(len(stream.states.leaves))]
    for leaf, empty in zip(kept, stream.states.leaves, strict=True):
        if (leaf.dtype, leaf.shape) != (empty.dtype, (len(users), *empty.shape[1:])):
            raise ValueError(f"{str(path)!r} has other states than its users and model: {tuple(leaf.shape)}")
    stream.states.leaves = kept
    return stream


def read(path: Path) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """Return the tensors and the settings in a file. Errors: `Stream.load`."""
    if path.is_dir():
        raise ValueError(f"{str(path)!r} is a folder; give the path of a file, such as run.safetensors")
    path.open("rb").close()  # FileNotFoundError, PermissionError
    try:
        with safe_open(path, framework="pt") as file:
            metadata = file.metadata() or {}
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    except SafetensorError as error:
        raise ValueError(f"{str(path)!r} is cut, or is not a safetensors file ({error})") from None
    if metadata.get("format") != FORMAT or not {"version", "settings", "checksum"} <= metadata.keys():
        raise ValueError(f"{str(path)!r} is a safetensors file, but none of a stream")
    if metadata["version"] != str(VERSION):
        raise ValueError(f"{str(path)!r} is of version {metadata['version']}, this program reads version {VERSION}")
    if checksum(tensors, metadata["settings"]) != metadata["checksum"]:
        raise ValueError(f"{str(path)!r} has changed since it was written: its checksum is another")
    return tensors, json.loads(metadata["settings"])


def checksum(tensors: dict[str, Tensor], text: str) -> str:
    """Return a hash of all names, types, shapes and numbers of tensors, and of a text."""
    digest = hashlib.sha256(text.encode())
    for name, tensor in sorted(tensors.items()):
        digest.update(f"{name} {tensor.dtype} {tuple(tensor.shape)}".encode())
        digest.update(tensor.flatten().contiguous().view(torch.uint8).numpy().tobytes())
    return digest.hexdigest()


def differing_weight(there: dict[str, Tensor], stored: dict[str, Tensor]) -> str | None:
    """Return how a model's weights differ from stored ones; None if they are the same."""
    for name in [*there, *stored]:
        if name not in stored or name not in there:
            return f"only one of them has {name}"
        mine, other = there[name].cpu(), stored[name]
        if (mine.shape, mine.dtype) != (other.shape, other.dtype):
            return f"{name} is {tuple(mine.shape)} {mine.dtype}, in the file {tuple(other.shape)} {other.dtype}"
        if not torch.equal(mine, other):
            return f"{name} has other numbers"
    return None
