"""Test the wheel of `companion`: metadata, contents, and programs where only what it requires is installed."""

import ast
import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import tomllib
import venv
import zipfile
from importlib.metadata import PackageNotFoundError, PathDistribution, distribution, distributions
from pathlib import Path

import nbformat
import pytest
import yaml
from nbclient import NotebookClient
from packaging.metadata import Metadata
from packaging.requirements import Requirement

import companion
from book.tools import install_cell
from tests.project.paths import ROOT

BUILD = "import sys, setuptools.build_meta as backend; getattr(backend, sys.argv[1])('..')"
SITE, REPOSITORY = "https://unrolled.test", "https://code.test/someone/unrolled"
README = (ROOT / "README.md").read_text(encoding="utf-8")
links = pytest.mark.skipif(os.name == "nt", reason="Windows makes no links for everyone")
PIP = "-m", "pip"
COMMAND = 'pip install "unrolled[notebook]"'


def copy_project(folder, ignore=()):
    """Copy what the package is built from."""
    for name in ("pyproject.toml", "setup.py", "MANIFEST.in", "_config.yml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, folder)
    shutil.copytree(ROOT / "companion", folder / "companion", ignore=shutil.ignore_patterns("__pycache__", *ignore))


def build(project, step):
    """Call a function of the build backend, which writes into the folder above."""
    process = subprocess.run([sys.executable, "-c", BUILD, step], cwd=project, capture_output=True, text=True)
    assert not process.returncode, process.stderr


@pytest.mark.parametrize("addresses", [("", ""), (SITE, REPOSITORY)], ids=["without addresses", "with addresses"])
def test_metadata(tmp_path, addresses):
    project = tmp_path / "project"
    project.mkdir()
    copy_project(project, ["learning", "layers", "figures", "check"])
    config = (ROOT / "_config.yml").read_text(encoding="utf-8")
    for key, address in zip(("baseurl", "url"), addresses):
        config = re.sub(rf'^(  {key}:) "[^"]*"', rf'\1 "{address}"', config, flags=re.MULTILINE)
    (project / "_config.yml").write_text(config, encoding="utf-8")
    build(project, "prepare_metadata_for_build_wheel")
    (path,) = tmp_path.glob("*.dist-info/METADATA")
    metadata = Metadata.from_email(path.read_bytes())  # raises errors for what an index refuses

    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert metadata.summary == settings["description"] and metadata.keywords == settings["keywords"]
    assert metadata.classifiers == settings["classifiers"]
    versions = [line.rpartition(" ")[2] for line in metadata.classifiers if "Python :: 3." in line]
    minors = re.fullmatch(r">=3\.(\d+),<3\.(\d+)", settings["requires-python"]).groups()
    assert versions == [f"3.{minor}" for minor in range(*map(int, minors))]

    branch = f"{REPOSITORY}/blob/main/"
    urls = {"Source": REPOSITORY, "Changes": f"{branch}CHANGELOG.md", "Documentation": SITE} if all(addresses) else {}
    assert (metadata.project_urls or {}) == urls
    assert metadata.description_content_type == "text/markdown" and len(metadata.description) > 5000
    links = re.findall(r"\]\(([^)]*)\)", metadata.description)
    pictures = [f"{REPOSITORY}/raw/main/book/pictures/site.png"] if urls else []
    assert [link for link in links if not link.startswith(branch)] == pictures and bool(links) == bool(urls)
    assert all((ROOT / link.removeprefix(branch).split("#")[0]).exists() for link in links if link.startswith(branch))
    code = r"(?ms)^```.*?^```"
    assert re.findall(code, metadata.description) == re.findall(code, README)


def test_versions_come_from_one_place():
    assert "version" in tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["dynamic"]
    assert distribution("unrolled").version == companion.__version__
    assert str(yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))["version"]) == companion.__version__


def test_changes_say_what_alters_numbers():
    """Check that each version begins with the changes after which a program computes other numbers."""
    versions = re.split(r"(?m)^## ", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"))[1:]
    assert versions[0].split()[0] in ("Unreleased", companion.__version__)
    assert [text.split("\n")[0] for text in versions if re.findall("(?m)^### (.*)", text)[0] != "Numbers"] == []


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """Build the wheel from the source distribution; return its path."""
    folder = tmp_path_factory.mktemp("wheel")
    (project := folder / "project").mkdir()
    copy_project(project)
    build(project, "build_sdist")
    with tarfile.open(*folder.glob("*.tar.gz")) as archive:
        archive.extractall(folder, filter="data")
    build(folder / f"unrolled-{companion.__version__}", "build_wheel")
    (path,) = folder.glob("*.whl")
    return path


@pytest.mark.heavy
def test_wheel_has_the_package_and_nothing_else(wheel):
    names = {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name}
    files = {path.relative_to(ROOT) for path in (ROOT / "companion").rglob("*") if path.is_file()}
    expected = {path.as_posix() for path in files if "__pycache__" not in path.parts}
    assert names == expected - {"companion/README.md"}  # for developers


def required(wheel_distribution, extra):
    """Return the distributions that pip would install beside a wheel, with an extra or (if it is "") without."""
    found, queue = {}, [wheel_distribution]
    while queue:
        owner = queue.pop()
        for requirement in map(Requirement, owner.requires or []):
            wanted = extra if owner is wheel_distribution else ""
            if requirement.name in found or requirement.marker and not requirement.marker.evaluate({"extra": wanted}):
                continue
            try:
                found[requirement.name] = distribution(requirement.name)
            except PackageNotFoundError:  # torch's CUDA, which the environment leaves out
                assert owner is not wheel_distribution, f"{requirement.name} is not installed"
            else:
                queue.append(found[requirement.name])
    return found.values()


@pytest.fixture(scope="module", params=["", "notebook"], ids=["unrolled", "unrolled[notebook]"])
def environment(request, wheel, tmp_path_factory):
    """Let pip install the wheel into an environment with links to what it requires.

    Return the extra, the folder of packages, and a function. The function runs a program in this environment, or
    Python with these options, and returns what it prints.
    """
    folder = tmp_path_factory.mktemp("environment") / "env"
    pip = list(distributions(name="pip"))  # linking is faster than installing
    venv.create(folder, symlinks=True, with_pip=not pip)
    packages = Path(sysconfig.get_path("purelib", "venv", {"base": str(folder)}))
    (information,) = [path for path in zipfile.Path(wheel).iterdir() if path.name.endswith(".dist-info")]
    for package in [*required(PathDistribution(information), request.param), *pip]:
        for name in {file.parts[0] for file in package.files} - {"..", "__pycache__"}:
            if not name.endswith(".pth") and not (packages / name).exists():
                (packages / name).symlink_to(package.locate_file(name))

    def run(program, *options):
        command = [folder / "bin" / "python", *options, *(["-c", program] if program else [])]
        variables = os.environ | {"PYTHONDONTWRITEBYTECODE": "1", "PIP_NO_INDEX": "1"}
        variables.pop("PROVE", None)
        process = subprocess.run(command, cwd=folder.parent, env=variables, capture_output=True, text=True)
        assert not process.returncode, process.stderr
        return process.stdout

    run("", *PIP, "install", "--quiet", address(wheel, request.param))
    return request.param, packages, run


def address(wheel, extra):
    """Return a requirement of pip that names the wheel's file."""
    return f"unrolled{f'[{extra}]' if extra else ''} @ {wheel.as_uri()}"


IMPORT_ALL = """
import pkgutil, sys
from importlib import import_module
import companion

for module in [*pkgutil.walk_packages(companion.__path__, "companion.", onerror=lambda name: None)]:
    if not module.name.startswith(skipped):
        import_module(module.name)
from companion.learning.numeral_readers import load_reader
from companion.learning.series import load_series
from companion.learning.small_writers import load_small_writers
from companion.learning.text import load_text, shipped_texts
from companion.learning.writer import load_writer

for language in shipped_texts():
    load_text(language), load_writer(language), load_small_writers(language)
print(companion.__file__, companion.__version__)
"""
MISSING = """
def message(program):
    try:
        exec(program)
    except ModuleNotFoundError as error:
        return str(error)

for program in programs:
    print(message(program))
"""

CHAPTERS = "lstm", "series", "first_network"
OTHER_EXTRAS = "onnxruntime", "transformers"  # needed by cells whose pages say how to install them


def statements_of_import():
    """Return all statements of chapters and assignments that import something."""
    lines = {}
    for path in [*ROOT.glob("book/en/*.ipynb"), *ROOT.glob("assignments/source/en/*.ipynb")]:
        for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
            if cell["cell_type"] == "code" and "import" in (code := "".join(cell["source"])):
                tree = ast.walk(ast.parse(re.sub("(?m)^[%!].*", "", code)))
                lines |= {ast.unparse(node): path for node in tree if isinstance(node, ast.Import | ast.ImportFrom)}
    return [line for line in lines if not line.split()[1].startswith(OTHER_EXTRAS)]


@pytest.mark.heavy
@links
def test_imports_and_data(environment):
    extra, packages, run = environment
    skipped = () if extra else ("companion.page", "companion.figures")
    output = run(f"skipped = {skipped}\n{IMPORT_ALL}", "-W", "error")
    assert output.split() == [str(packages / "companion" / "__init__.py"), companion.__version__]
    if extra:
        lines = statements_of_import()
        assert len(lines) > 100
        run("\n".join(["import ipykernel, pooch", *lines]))
    else:
        packages = {"companion.page": "IPython", "companion.page.pictures": "IPython", "companion.figures": "traitlets"}
        programs = {f"import {name}": package for name, package in packages.items()}
        programs["from companion.learning.text import load_text; load_text('time_machine')"] = "pooch"
        messages = run(f"programs = {[*programs]}\n{MISSING}").splitlines()
        for package, message in zip(programs.values(), messages, strict=True):
            assert message.startswith(f"{package} is not installed.") and message.endswith(COMMAND)


@pytest.mark.heavy
@links
@pytest.mark.parametrize("environment", ["notebook"], indirect=True, ids=["unrolled[notebook]"])
@pytest.mark.parametrize("name", CHAPTERS)
def test_chapters_install_the_package_and_run(environment, wheel, name, tmp_path, monkeypatch):
    """Run all cells of a chapter as Colab does: in a folder of its own, in a kernel that lacks the package."""
    _, packages, run = environment
    run("", *PIP, "uninstall", "--quiet", "--yes", "unrolled")
    config = (ROOT / "_config.yml").read_text(encoding="utf-8")
    config, lines = re.subn("(?m)^  install: .*", f"  install: {address(wheel, 'notebook')}", config)
    assert lines == 1
    (tmp_path / "_config.yml").write_text(config, encoding="utf-8")
    monkeypatch.setattr(install_cell, "CONFIG", tmp_path / "_config.yml")
    notebook = nbformat.read(ROOT / f"book/en/{name}.ipynb", as_version=4)
    install_cell.add_install_cell(notebook, "en")
    notebook.cells.append(nbformat.v4.new_code_cell("import companion\n\nprint(companion.__file__)"))

    kernel = tmp_path / "kernels" / "empty" / "kernel.json"
    kernel.parent.mkdir(parents=True)
    python = str(packages.parents[2] / "bin" / "python")
    argv = [python, "-m", "ipykernel_launcher", "-f", "{connection_file}"]
    kernel.write_text(json.dumps({"argv": argv, "display_name": "", "language": "python"}), encoding="utf-8")
    for variable, value in (("JUPYTER_PATH", tmp_path), ("PIP_NO_INDEX", 1)):
        monkeypatch.setenv(variable, str(value))
    monkeypatch.delenv("PROVE", raising=False)
    resources = {"metadata": {"path": str(tmp_path)}}
    NotebookClient(notebook, kernel_name="empty", timeout=300, resources=resources).execute()
    assert notebook.cells[-1].outputs[0].text == f"{packages / 'companion' / '__init__.py'}\n"


@pytest.mark.heavy
@links
@pytest.mark.parametrize("environment", [""], indirect=True, ids=["unrolled"])
def test_programs_of_the_readme(environment):
    _, packages, run = environment
    (compares, table), (trains, _) = [
        (program, printed)
        for program, printed in re.findall(r"```python\n(.*?)```(?:\n\n```\n(.*?)```)?", README, re.S)
    ]
    assert run(compares, "-W", "error") == table
    assert run(trains).startswith("The ") and (packages.parents[3] / "run.pt").exists()
    assert Path(packages, "companion", "py.typed").exists()
