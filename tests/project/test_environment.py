"""Test `.ci/environment`: it finds a suitable Python or says what is missing, and repeats interrupted installations."""

import os
import re
import shutil
import subprocess
import sys
import tomllib

import pytest
import yaml

from tests.project.paths import ROOT

pytestmark = pytest.mark.skipif(os.name == "nt", reason="Windows has no make; the README gives other commands")
PYTHON = """#!/bin/sh
case "$1 $2" in
"-m venv") echo "{name} $*" >> ../log; mkdir -p "$3/bin"; cp '{path}' "$3/bin/python"; touch "$3/bin/pip" ;;
"-m pip") echo "{name} $*" >> ../log; {install} ;;
*) code=$2; shift 2; exec '{real}' -c "import sys
sys.version_info, sys.base_prefix, sys._base_executable = {version}, '/usr/{name}', '{path}'
sys.modules.update(dict.fromkeys({without}))
$code" "$@" ;;
esac
"""
UV = """#!/bin/sh
echo "uv $*" >> ../log
case "$*" in venv*) mkdir -p .venv/bin; cp ../uv_python .venv/bin/python ;; *--torch-backend*) exit {status} ;; esac
"""
MADE = ["python3 -m venv .venv", "python3 -m pip install --disable-pip-version-check --requirement requirements.txt"]


class Machine:
    """A copy of the script, and a PATH whose Python and uv are stand-ins."""

    def __init__(self, folder):
        self.book, self.path, self.log = folder / "本 book", folder / "bin", folder / "log"
        for folder in (self.path, self.book / ".ci"):
            folder.mkdir(parents=True)
        for name in (".ci/environment", "requirements.txt", "pyproject.toml"):
            shutil.copy(ROOT / name, self.book / name)
        for tool in ("sh", "cat", "cksum", "cp", "dirname", "mkdir", "rm", "sed", "touch", "uname"):
            (self.path / tool).symlink_to(shutil.which(tool))

    def add(self, name="python3", version=(3, 13), without=(), install=":", script=PYTHON, status=0):
        path = self.path / name
        values = {"real": sys.executable, "version": version, "without": without, "install": install, "status": status}
        path.write_text(script.format(name=name, path=path, **values))
        path.chmod(0o755)
        return path

    def run(self, **settings):
        """Run the script; return whether it succeeded, its output, and the calls of the stand-ins."""
        self.log.write_text("")
        command, environment = [self.path / "sh", self.book / ".ci/environment"], {"PATH": str(self.path), **settings}
        process = subprocess.run(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        return process.returncode == 0, process.stdout, self.log.read_text().splitlines()


@pytest.fixture
def machine(tmp_path):
    return Machine(tmp_path)


def test_script_readme_workflow_and_package_name_the_same_versions():
    oldest, newest = map(
        int, re.search(r"\(3, (\d+)\) <= .* <= \(3, (\d+)\)", (ROOT / ".ci/environment").read_text()).groups()
    )
    assert (
        tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["requires-python"]
        == f">=3.{oldest},<3.{newest + 1}"
    )
    assert f"Python 3.{oldest} to 3.{newest}" in (ROOT / "README.md").read_text(encoding="utf-8")
    jobs = yaml.safe_load((ROOT / ".github/workflows/book.yml").read_text(encoding="utf-8"))["jobs"]
    versions = {*jobs["pythons"]["strategy"]["matrix"]["python"], jobs["prove"]["steps"][1]["with"]["python-version"]}
    assert versions == {f"3.{minor}" for minor in range(oldest, newest + 1)}


def test_the_published_site_has_what_runs_its_cells():
    jobs = yaml.safe_load((ROOT / ".github/workflows/book.yml").read_text(encoding="utf-8"))["jobs"]
    commands = [step.get("run") for step in jobs["site"]["steps"]]
    (build,) = [command for command in commands if command and "book.site.build" in command]
    assert "--live" in build.split()
    assert ".venv/bin/python -m book.live.fetch" in commands[: commands.index(build)]


def test_only_a_tag_uploads_packages_and_only_after_their_checks():
    workflow = yaml.safe_load((ROOT / ".github/workflows/package.yml").read_text(encoding="utf-8"))
    jobs, uploads = workflow["jobs"], "pypa/gh-action-pypi-publish"
    (name,) = [name for name, job in jobs.items() if any(uploads in step.get("uses", "") for step in job["steps"])]
    assert jobs[name]["if"] == "github.ref_type == 'tag'" and {*jobs[name]["needs"]} == {*jobs} - {name}
    assert [name for name, job in jobs.items() if "id-token" in job.get("permissions", {})] == [name]
    assert workflow["permissions"] == {"contents": "read"}
    assert any(step.get("run", "").startswith(".ci/release ") for step in jobs["build"]["steps"])


def test_installs_once_and_again_for_new_pins_another_place_or_another_python(machine):
    machine.add("python3")
    assert machine.run()[2] == MADE
    assert machine.run() == machine.run(PYTHON="python3") == (True, "", [])
    (machine.book / "requirements.txt").write_text("torch==9\n")
    assert machine.run()[2] == MADE[1:] and machine.run() == (True, "", [])
    machine.book = machine.book.rename(machine.book.with_name("elsewhere"))
    assert machine.run()[2] == MADE
    machine.add("python3.14", (3, 14))
    assert machine.run(PYTHON="python3.14")[2] == [line.replace("python3", "python3.14") for line in MADE]


@pytest.mark.parametrize(
    ("stand_in", "words"),
    [
        ({"version": (3, 10)}, "python3 is Python 3.10"),
        ({"version": (3, 15)}, "python3 is Python 3.15"),
        (
            {"without": ("ensurepip",)},
            "python3 lacks venv or ensurepip; on Debian and Ubuntu: apt-get install python3.13-venv",
        ),
        ({"name": "python2"}, "no Python"),
    ],
)
def test_says_what_is_missing_or_takes_the_next_python(machine, stand_in, words):
    machine.add(**stand_in)
    succeeded, output, calls = machine.run()
    assert (
        not succeeded and "needs Python 3.11 to 3.14" in output and words in output and "uv" in output and calls == []
    )
    machine.add("python3.12", (3, 12))
    assert machine.run()[2][0] == "python3.12 -m venv .venv"
    assert "python3.19 does not run" in machine.run(PYTHON="python3.19")[1]


@pytest.mark.parametrize("install", ["exit 1", "kill -9 $PPID"])
def test_an_interrupted_installation_is_repeated(machine, install):
    machine.add(install=install)
    assert not machine.run()[0] and not (machine.book / ".venv/stamp").exists()
    machine.add()
    assert machine.run()[2] == MADE and machine.run() == (True, "", [])


@pytest.mark.skipif(sys.platform != "linux", reason="only for Linux does torch's own index differ")
def test_uv_installs_where_it_is_and_brings_a_python(machine):
    machine.add("hidden").rename(machine.path.parent / "uv_python")
    machine.add("uv", script=UV)
    calls = [
        "uv venv --quiet --python 3.13 .venv",
        "uv pip install --python .venv/bin/python --requirement requirements.txt",
    ]
    assert machine.run()[2] == [calls[0], f"{calls[1]} --torch-backend cpu"]
    machine.add("uv", script=UV, status=2)
    (machine.book / "requirements.txt").write_text("torch==9\n")
    assert machine.run(UV_TORCH_BACKEND="auto")[2] == [f"{calls[1]} --torch-backend auto", calls[1]]
    (machine.book / "requirements.txt").write_text("torch==8\n")
    machine.add()
    assert machine.run(UV="")[2] == MADE
