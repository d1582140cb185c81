"""The wheel of small_torch: its contents, its metadata, and a training step where only it and numpy are installed."""

import os
import re
import shutil
import subprocess
import sys
import zipfile
from importlib.metadata import distribution
from pathlib import Path

import pytest
from packaging.metadata import Metadata

PROJECT = Path(__file__).resolve().parents[1]
MAX_WHEEL_BYTES = 210_000
TRAINING_STEP = """
import small_torch as torch

print(torch.__file__)
torch.manual_seed(0)
layer = torch.nn.LSTM(2, 3)
optimizer = torch.optim.Adam(layer.parameters(), lr=0.1)
x, target = torch.randn(5, 4, 2), torch.zeros(5, 4, 3)
for _ in range(2):
    loss = torch.nn.functional.mse_loss(layer(x)[0], target)
    print(loss.item())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """Build the wheel from a copy of the project, which stays unchanged; return its path."""
    folder = tmp_path_factory.mktemp("wheel")
    ignore = shutil.ignore_patterns("tests", "build", "*.egg-info", "__pycache__")
    copy = shutil.copytree(PROJECT, folder / "project", ignore=ignore)
    build = "import setuptools.build_meta; setuptools.build_meta.build_wheel('..')"
    subprocess.run([sys.executable, "-c", build], cwd=copy, check=True, stdout=subprocess.DEVNULL)
    (path,) = folder.glob("*.whl")
    return path


def test_wheel_holds_small_torch_and_needs_numpy_only(wheel):
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        (metadata,) = (name for name in names if name.endswith(".dist-info/METADATA"))
        metadata = Metadata.from_email(archive.read(metadata))  # raises errors for what an index refuses
    source = PROJECT / "src"
    modules = {path.relative_to(source).as_posix() for path in source.glob("small_torch/**/*.py")}
    assert {name for name in names if ".dist-info/" not in name} == modules
    assert [*map(str, metadata.requires_dist)] == ["numpy>=2"]
    assert metadata.keywords and metadata.classifiers and metadata.description_content_type == "text/markdown"
    assert not re.search(r"\]\((?!https:)", metadata.description)  # an index has no folder for relative links
    assert (PROJECT / "LICENSE").read_bytes() == (PROJECT.parent / "LICENSE").read_bytes()
    assert wheel.stat().st_size < MAX_WHEEL_BYTES


def test_training_step_without_torch(wheel, tmp_path):
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path)
    numpy = distribution("numpy")
    for name in {file.parts[0] for file in numpy.files} - {".."}:
        (tmp_path / name).symlink_to(numpy.locate_file(name))
    environment = os.environ | {"PYTHONPATH": str(tmp_path)}
    process = subprocess.run(
        [sys.executable, "-S", "-c", TRAINING_STEP],  # without site-packages
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
    )
    assert not process.returncode, process.stderr
    module_path, first_loss, second_loss = process.stdout.splitlines()
    assert Path(module_path).is_relative_to(tmp_path)
    assert float(second_loss) < float(first_loss)
