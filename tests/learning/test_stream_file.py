"""Test the files of streams: what is refused, and what is built again."""

import json

import pytest
import torch
from safetensors import safe_open
from safetensors.torch import save_file
from torch import nn

import companion
from companion.learning.sequence_model import SequenceModel
from companion.learning.stream import Stream, file
from tests.learning.stream_models import HIDDEN, LAYERS, SIZE, VOCABULARY, Own, new_model


def saved(tmp_path, **options):
    stream = Stream(new_model("companion.LSTM"), vocabulary=VOCABULARY, **options)
    stream.push([("A", "abc"), ("B", "d")])
    path = tmp_path / "run.safetensors"
    stream.save(path)
    return stream, path


def test_files_that_are_cut_or_changed_are_refused(tmp_path):
    _, path = saved(tmp_path)
    raw = path.read_bytes()
    for length in (0, 7, 50, 500, len(raw) // 2, len(raw) - 1):
        path.write_bytes(raw[:length])
        with pytest.raises(ValueError, match=r"run.safetensors' is cut, or is not a safetensors file"):
            Stream.load(path)
    changed = bytearray(raw)
    changed[-3] ^= 1
    path.write_bytes(changed)
    with pytest.raises(ValueError, match="has changed since it was written: its checksum is another"):
        Stream.load(path)
    assert [*tmp_path.iterdir()] == [path]


def test_files_of_another_kind_version_or_model_are_refused(tmp_path):
    stream, path = saved(tmp_path)
    with safe_open(path, "pt") as file:
        tensors, metadata = {name: file.get_tensor(name) for name in file.keys()}, file.metadata()  # noqa: SIM118
    save_file(tensors, path, metadata | {"version": "2"})
    with pytest.raises(ValueError, match="is of version 2, this program reads version 1"):
        Stream.load(path)
    save_file(tensors, path)
    with pytest.raises(ValueError, match="is a safetensors file, but none of a stream"):
        Stream.load(path)
    with pytest.raises(FileNotFoundError, match="No such file"):
        Stream.load(tmp_path / "other.safetensors")
    with pytest.raises(ValueError, match="give the path of a file, such as run.safetensors"):
        stream.save(tmp_path)
    stream.save(path)
    other = new_model("companion.LSTM")
    with torch.no_grad():
        other.linear.bias[0] += 1e-9
    with pytest.raises(ValueError, match=r"has the states of another model: linear.bias has other numbers"):
        Stream.load(path, other)
    with pytest.raises(ValueError, match=r"another model: recurrent.weight_ih_l0 is \(12, 6\)"):
        Stream.load(path, new_model("companion.GRU"))


def test_models_of_a_readers_own_are_passed_to_load(tmp_path):
    path = tmp_path / "own.safetensors"
    torch.manual_seed(0)
    model = SequenceModel(nn.Embedding(len(VOCABULARY), SIZE), Own(), 2)
    stream = Stream(model, vocabulary=VOCABULARY)
    stream.push([("A", "ab")])
    stream.notes = {"place": 12}
    stream.save(path)
    with pytest.raises(ValueError, match="does not describe its model, a class of your own: pass it as `model`"):
        Stream.load(path)
    loaded = Stream.load(path, model)
    assert loaded.notes == {"place": 12}
    assert torch.equal(loaded.push([("A", "c")])[0], stream.push([("A", "c")])[0])


@pytest.mark.parametrize("name", LAYERS)
def test_models_are_described_and_built_again(name):
    for dtype in (torch.float32, torch.float64):
        model = new_model(name).to(dtype)
        description = json.loads(json.dumps(file.describe(model)))
        again = file.build(description, dtype)
        again.load_state_dict(model.state_dict())
        assert repr(again) == repr(model)
        inputs = torch.tensor([[1, 2], [3, 4]])
        assert torch.equal(again(inputs)[0], model(inputs)[0])


def test_models_that_compute_something_else_are_refused(tmp_path):
    """Save models whose description, or whose weights, are not all that they compute with."""
    path = tmp_path / "run.safetensors"
    for layer, other in ((nn.RNN(2, 3), nn.RNN(2, 3, nonlinearity="relu")), (companion.MinGRU(2, 3), None)):
        stream = Stream(layer)
        stream.push([("A", [1.0, 2.0])])
        if other is None:
            layer.register_forward_hook(lambda module, inputs, outputs: (2 * outputs[0], outputs[1]))
        else:
            other.load_state_dict(layer.state_dict())
        stream.save(path)
        with pytest.raises(ValueError, match="another model, with the same weights and other outputs"):
            Stream.load(path, other)
    model = new_model("companion.LSTM")
    model.linear = nn.Linear(HIDDEN, 2, bias=False, dtype=torch.float64)
    Stream(model, vocabulary=VOCABULARY).save(path)
    with pytest.raises(ValueError, match="does not describe its model fully"):
        Stream.load(path)
    assert repr(Stream.load(path, model)) == "Stream(SequenceModel, 0 users, 8 numbers of state each)"


def test_files_that_were_not_written_by_save_are_refused(tmp_path):
    _, path = saved(tmp_path)
    with safe_open(path, "pt") as opened:
        tensors, metadata = {name: opened.get_tensor(name) for name in opened.keys()}, opened.metadata()  # noqa: SIM118
    known = json.loads(metadata["settings"])
    for change in ({"options": {"gap": []}}, {"dtype": "load"}, {"model": {"class": "os.system"}}, {"vocabulary": 3}):
        text = json.dumps(known | change)
        save_file(tensors, path, metadata | {"settings": text, "checksum": file.checksum(tensors, text)})
        with pytest.raises(ValueError, match=r"run.safetensors' does not describe|gap must be|the vocabulary has"):
            Stream.load(path)
    fewer = tensors | {"state.0": tensors["state.0"][:1]}
    text = metadata["settings"]
    save_file(fewer, path, metadata | {"checksum": file.checksum(fewer, text)})
    with pytest.raises(ValueError, match="has other states than its users and model"):
        Stream.load(path)
    stream, _ = saved(tmp_path)
    stream.notes = {"place": tmp_path}
    with pytest.raises(ValueError, match="cannot be written as JSON"):
        stream.save(path)
    link, target = tmp_path / "link", tmp_path / "target"
    target.write_text("")
    target.chmod(0o640)
    link.symlink_to(target)
    stream.notes = {}
    stream.save(link)
    assert link.is_symlink() and target.stat().st_mode & 0o777 == 0o640 and len(Stream.load(link)) == 2
