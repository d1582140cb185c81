"""The wheel of small_torch: what it holds and needs, and that it works in a Python without torch."""

import os
import shutil
import subprocess
import sys
import zipfile
from email import message_from_bytes
from pathlib import Path

import pytest

PROJECT = Path(__file__).resolve().parents[1]
MAX_WHEEL_BYTES = 150_000
TRAINING_STEP = """
import sys

sys.modules.update(torch=None, companion=None)  # to import one of these is an ImportError now
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
    """Return the path of a wheel that is built of a copy, which leaves the folder itself as it was."""
    place = tmp_path_factory.mktemp("wheel")
    left_out = shutil.ignore_patterns("tests", "build", "*.egg-info", "__pycache__")
    copy = shutil.copytree(PROJECT, place / "project", ignore=left_out)
    build = "import setuptools.build_meta; setuptools.build_meta.build_wheel('..')"
    subprocess.run([sys.executable, "-c", build], cwd=copy, check=True, stdout=subprocess.DEVNULL)
    (path,) = place.glob("*.whl")
    return path


def test_wheel_holds_small_torch_and_needs_numpy_only(wheel):
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        (about,) = (name for name in names if name.endswith(".dist-info/METADATA"))
        needed = message_from_bytes(archive.read(about)).get_all("Requires-Dist")
    source = PROJECT / "src"
    modules = {path.relative_to(source).as_posix() for path in source.glob("small_torch/**/*.py")}
    assert {name for name in names if ".dist-info/" not in name} == modules
    assert needed == ["numpy>=2"]
    assert wheel.stat().st_size < MAX_WHEEL_BYTES


def test_training_step_without_torch(wheel, tmp_path):
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path)
    environment = os.environ | {"PYTHONPATH": str(tmp_path)}
    ran = subprocess.run(
        [sys.executable, "-c", TRAINING_STEP], cwd=tmp_path, env=environment, capture_output=True, text=True
    )
    assert not ran.returncode, ran.stderr
    place, first, second = ran.stdout.splitlines()
    assert Path(place).is_relative_to(tmp_path)
    assert float(second) < float(first)
