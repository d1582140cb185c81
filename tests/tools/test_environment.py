"""`make` finds a Python that is fit or says what to type, and leaves nothing that only looks finished."""

import os
import re
import shutil
import signal
import subprocess
import sys
import time
import tomllib

import pytest
import yaml
from repository import ROOT

SCRIPT = ROOT / ".ci/environment"

if os.name == "nt":
    pytest.skip("Windows has no make; the README's commands are run as they stand there", allow_module_level=True)

# Stands in for an interpreter: one of another version, or of another make. As the one in an environment it installs.
PYTHON = """#!{python}
import os, pathlib, platform, sys
arguments = sys.argv[1:]
with open({log!r}, "a") as log:
    print({name!r}, *arguments, file=log)
sys.version_info, sys.base_prefix, sys._base_executable = {version} + (0, "final", 0), {prefix!r}, {executable!r}
platform.python_implementation = lambda: {implementation!r}
sys.modules.update(dict.fromkeys({without}))
if arguments[:1] == ["-"]:
    sys.argv = arguments
    exec(sys.stdin.read())
elif arguments[:1] == ["-c"]:
    exec(arguments[1])
elif arguments[:2] == ["-m", "venv"]:
    (pathlib.Path(arguments[2]) / "bin").mkdir(parents=True)
    inside = pathlib.Path(arguments[2]) / "bin/python"
    inside.write_text(pathlib.Path({executable!r}).read_text())
    inside.chmod(0o755)
elif arguments[:3] == ["-m", "pip", "install"]:
    {install}
"""

UV = """#!/bin/sh
echo uv "$@" >> '{log}'
if [ "$1" = venv ]; then
    mkdir -p .venv/bin
    cp '{python}' .venv/bin/python
else
    {install}
fi
"""


def heed():
    """What runs in the background, or under nohup, is started deaf to some signals, and so is all that it starts."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)


class Machine:
    """A folder with a copy of what the script reads, and a path on which only what a test puts there is a Python."""

    def __init__(self, folder):
        self.book = folder / "本 한국어 book"
        self.path = folder / "bin"
        self.log = folder / "log"
        (self.book / ".ci").mkdir(parents=True)
        self.path.mkdir()
        for name in (".ci/environment", "requirements.txt", "pyproject.toml"):
            shutil.copy(ROOT / name, self.book / name)
        for tool in ("sh", "cat", "cksum", "cp", "dirname", "grep", "id", "mkdir", "mv", "rm", "sed", "tail", "uname"):
            (self.path / tool).symlink_to(shutil.which(tool))

    def python(self, name, version=(3, 13), implementation="CPython", without=(), install="pass"):
        """Put an interpreter on the path; return its path."""
        path = self.path / name
        path.write_text(
            PYTHON.format(
                python=sys.executable,
                log=str(self.log),
                name=name,
                version=version,
                prefix=f"/usr/{name}",
                executable=str(path),
                implementation=implementation,
                without=without,
                install=install,
            )
        )
        path.chmod(0o755)
        return path

    def tool(self, name, script):
        (self.path / name).write_text(script)
        (self.path / name).chmod(0o755)

    def uv(self, install=":"):
        hidden = self.python("hidden")
        brought = hidden.rename(self.path.parent / "python that uv brings")
        self.tool("uv", UV.format(log=self.log, python=brought, install=install))

    def start(self, **settings):
        return subprocess.Popen(
            [self.path / "sh", self.book / ".ci/environment"],
            env={"PATH": str(self.path), **settings},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
            preexec_fn=heed,
        )

    def make(self, **settings):
        """Whether the script says that all is well, and what it printed."""
        process = self.start(**settings)
        output, _ = process.communicate(timeout=60)
        assert self.finished == (process.returncode == 0), output
        return process.returncode == 0, output

    @property
    def finished(self):
        return (self.book / ".venv/stamp").exists()

    @property
    def done(self):
        """What was installed and made since the last look."""
        lines = self.log.read_text().splitlines() if self.log.exists() else []
        self.log.write_text("")
        return [line for line in lines if re.search("venv|install", line) and " - " not in line]


@pytest.fixture
def machine(tmp_path):
    return Machine(tmp_path)


def test_versions_are_those_of_the_package():
    oldest, newest = map(int, re.search(r"OLDEST=(\d+) NEWEST=(\d+)", SCRIPT.read_text(encoding="utf-8")).groups())
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["requires-python"] == f">=3.{oldest},<3.{newest + 1}"
    jobs = yaml.safe_load((ROOT / ".github/workflows/book.yml").read_text(encoding="utf-8"))["jobs"]
    assert jobs["test"]["strategy"]["matrix"]["python"] == [f"3.{minor}" for minor in range(oldest, newest + 1)]
    assert f"Python 3.{oldest} to 3.{newest}" in (ROOT / "README.md").read_text(encoding="utf-8")


def test_installs_once(machine):
    machine.python("python3")
    assert machine.make()[0]
    assert machine.done == [
        "python3 -m venv .venv",
        "python3 -m pip install --disable-pip-version-check --requirement requirements.txt",
    ]
    assert machine.make() == (True, "") and machine.done == []


@pytest.mark.parametrize("version", [(3, 9), (3, 10), (3, 15), (4, 0)])
def test_goes_past_a_python_that_is_unfit(machine, version):
    machine.python("python3", version)
    machine.python("python3.12", (3, 12))
    assert machine.make()[0]
    assert machine.done[0] == "python3.12 -m venv .venv"


@pytest.mark.parametrize(
    ("what", "words"),
    [
        ({"version": (3, 10)}, "python3 is Python 3.10: too old"),
        ({"version": (3, 15)}, "python3 is Python 3.15: too new"),
        ({"implementation": "PyPy"}, "python3 is PyPy"),
        ({"without": ("ensurepip",)}, "python3 is Python 3.13, which is right, but lacks what makes environments"),
        ({"without": ("venv",)}, "python3 is Python 3.13, which is right, but lacks what makes environments"),
    ],
)
def test_says_what_is_wrong(machine, what, words):
    machine.python("python3", **what)
    well, output = machine.make()
    assert not well and "needs Python 3.11 to 3.14" in output and words in output
    assert "make PYTHON=" in output and "uv" in output


def test_says_that_there_is_no_python(machine):
    well, output = machine.make()
    assert not well and "there is no Python here" in output


def test_says_that_a_python_does_not_run(machine):
    machine.tool("python3", "#!/bin/sh\nexit 127\n")
    well, output = machine.make()
    assert not well and "python3 does not run" in output


def test_takes_the_python_that_is_asked_for_and_no_other(machine):
    machine.python("python3")
    machine.python("python3.10", (3, 10))
    well, output = machine.make(PYTHON="python3.10")
    assert not well and "python3.10 is Python 3.10: too old" in output and "python3 " not in output
    well, output = machine.make(PYTHON="python3.19")
    assert not well and "python3.19 is not there" in output


def test_another_python_makes_another_environment(machine):
    machine.python("python3")
    machine.python("python3.12", (3, 12))
    machine.make()
    assert machine.make(PYTHON="python3.12")[0] and "python3.12 -m venv .venv" in machine.done
    assert machine.make(PYTHON="python3.12") == (True, "") and machine.done == []
    assert machine.make() == (True, "") and machine.done == []


APT = '#!/bin/sh\n[ "$1" = show ] && case "$2" in {}) echo Package: "$2" ;; esac\n'


@pytest.mark.parametrize(
    ("python", "packages", "command"),
    [
        ({"version": (3, 14), "without": ("ensurepip",)}, "none", "apt-get install python3.14-venv"),
        ({"version": (3, 10)}, "python3.11-venv", "apt-get install python3.11-venv"),
        (None, "python3.13-venv | python3.14-venv", "apt-get install python3.13-venv"),
        (None, "none", "apt-get update && "),
    ],
)
def test_names_the_package_of_debian(machine, python, packages, command):
    machine.tool("apt-get", "#!/bin/sh\n")
    machine.tool("apt-cache", APT.format(packages))
    if python:
        machine.python("python3", **python)
    well, output = machine.make()
    assert not well and command in output


@pytest.mark.parametrize(
    ("tool", "command"),
    [("dnf", "dnf install python3.13"), ("zypper", "zypper install python313"), ("brew", "brew install python@3.13")],
)
def test_names_the_package_of_other_systems(machine, tool, command):
    machine.tool(tool, "#!/bin/sh\n")
    assert command in machine.make()[1]


def test_new_pins_are_installed_into_the_same_environment(machine):
    machine.python("python3")
    machine.make()
    (machine.book / "requirements.txt").write_text("torch==9\n")
    machine.done  # noqa: B018
    assert machine.make()[0]
    assert [line.split()[2] for line in machine.done] == ["pip"]


def test_a_folder_that_moved_gets_an_environment_of_its_own(machine):
    machine.python("python3")
    machine.make()
    machine.book = machine.book.rename(machine.book.with_name("elsewhere"))
    machine.done  # noqa: B018
    assert machine.make()[0]
    assert machine.done[0] == "python3 -m venv .venv"


def test_a_python_that_is_gone_is_replaced(machine):
    machine.python("python3")
    machine.make()
    (machine.book / ".venv/bin/python").unlink()
    assert machine.make()[0] and (machine.book / ".venv/bin/python").exists()


def test_failure_leaves_nothing(machine):
    machine.python("python3", install="sys.exit('no network')")
    well, output = machine.make()
    assert not well and "no network" in output and "type the same command again" in output
    assert not (machine.book / ".venv").exists()


def test_new_pins_that_fail_are_tried_again(machine):
    machine.python("python3")
    machine.make()
    (machine.book / ".venv/bin/python").write_text(machine.python("python3", install="sys.exit('no network')").read_text())
    (machine.book / "requirements.txt").write_text("torch==9\n")
    assert not machine.make()[0]
    machine.python("python3")
    machine.done  # noqa: B018
    assert machine.make()[0] and machine.done


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGKILL])
def test_interruption_leaves_nothing_that_looks_finished(machine, how):
    machine.python("python3", install="import time; pathlib.Path('.venv/half').touch(); time.sleep(60)")
    process = machine.start()
    while not (machine.book / ".venv/half").exists():
        assert process.poll() is None
        time.sleep(0.02)
    os.killpg(process.pid, how)
    process.communicate(timeout=30)
    assert process.returncode != 0 and not machine.finished
    assert how == signal.SIGKILL or not (machine.book / ".venv").exists()
    machine.python("python3")
    assert machine.make()[0] and not (machine.book / ".venv/half").exists()


def test_uv_makes_it_where_it_is_installed(machine):
    machine.uv()
    python = machine.python("python3", without=("ensurepip",))
    assert machine.make()[0]
    made, installed = machine.done
    assert made == f"uv venv --quiet --python {python} .venv"
    assert installed.startswith("uv pip install --python .venv/bin/python --requirement requirements.txt")
    assert installed.endswith("--torch-backend cpu") == (sys.platform == "linux")
    assert machine.make() == (True, "") and machine.done == []


def test_uv_brings_a_python(machine):
    machine.uv()
    machine.python("python3", (3, 9))
    assert machine.make()[0]
    assert machine.done[0] == "uv venv --quiet --python 3.13 .venv"


def test_without_uv_if_so_asked(machine):
    machine.uv()
    machine.python("python3")
    assert machine.make(UV="")[0]
    assert machine.done[0] == "python3 -m venv .venv"


@pytest.mark.skipif(sys.platform != "linux", reason="only for Linux is torch's own index another one")
def test_uv_falls_back_to_the_general_index(machine):
    machine.uv(install='case "$*" in *--torch-backend*) exit 2 ;; esac')
    machine.python("python3")
    well, output = machine.make()
    assert well and "general one" in output
    assert [line.endswith("cpu") for line in machine.done] == [False, True, False]


def test_uv_takes_the_torch_that_is_asked_for(machine):
    machine.uv()
    machine.python("python3")
    machine.make(UV_TORCH_BACKEND="auto")
    assert sys.platform != "linux" or machine.done[1].endswith("--torch-backend auto")
