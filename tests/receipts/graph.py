"""What a proof rests on: the files of the project that it reaches, by imports, by name, or because they were read."""

import ast
import hashlib
import os
import re
import subprocess
from functools import cached_property
from pathlib import Path

from .reads import BUILT, MADE, OWN, ROOT

FOLDERS = "", "book/", "assignments/", "tests/"  # from which modules are imported
KEPT = 12  # versions of a file of which is remembered what it read


def sha(data):
    return hashlib.sha256(data).hexdigest()[:32]


def all_files():
    """The project's files: those that git has or would have; without git, all but what tools make."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
    try:
        said = subprocess.run(command, cwd=ROOT, capture_output=True, check=True).stdout.decode()
        names = said.split("\0")
    except (OSError, subprocess.CalledProcessError):
        names = []
        for folder, inner, files in os.walk(ROOT):
            inner[:] = [one for one in inner if one not in MADE and one != "__pycache__" and not one.endswith(".egg-info")]
            names += [Path(folder, file).relative_to(ROOT).as_posix() for file in files]
    return {name for name in names if name and (ROOT / name).is_file()}


class Graph:
    """The project's files as they are now, and who rests on whom.

    read: node → version of its file → the files that it was seen to read, from one run to the next. A node is a file's
    name, or a file's name, `::` and the name of a test or fixture in it.
    """

    def __init__(self, read):
        self.read, self.names = read, all_files()
        self.versions, self.imports = {}, {}

    def version(self, name):
        if name not in self.versions:
            try:
                self.versions[name] = sha((ROOT / name).read_bytes())
            except OSError:
                self.versions[name] = "gone"
        return self.versions[name]

    def note(self, node, files):
        """Remember what a node was seen to read."""
        known = self.read.setdefault(node, {})
        version = self.version(node.partition("::")[0])
        before = known.pop(version, [])  # the latest stands last
        known[version] = sorted({*before, *(file for file in files if file in self.names or file.startswith(BUILT))})
        for old in [*known][:-KEPT]:
            del known[old]

    def reached(self, *nodes):
        """All files that these nodes rest on, themselves among them."""
        found, todo = set(), list(nodes)
        while todo:
            node = todo.pop()
            if node in found:
                continue
            found.add(node)
            file = node.partition("::")[0]
            todo += self.read.get(node, {}).get(self.version(file), ())
            todo += self.imported(node)
            if node != file:
                todo.append(file)
        return {node for node in found if "::" not in node}

    def digest(self, *nodes):
        """Changes with whatever the nodes rest on."""
        files = sorted(self.reached(*nodes))
        return sha("\n".join(f"{name} {self.version(name)}" for name in files).encode())

    def imported(self, node):
        """The modules that a Python file imports and the files that it names; of a fixture of conftest.py its own."""
        file, _, name = node.partition("::")
        if not file.endswith(".py"):
            return ()
        if node not in self.imports:
            tree = self.tree(file)
            conftest = file.endswith("conftest.py")
            if name:
                inside = [one for one in tree.body if isinstance(one, ast.FunctionDef) and one.name == name] if conftest else []
                parts = [inner for one in inside for inner in ast.walk(one)]
            elif conftest:  # what its fixtures import, only those rest on who ask for them
                parts = [inner for one in tree.body if not isinstance(one, ast.FunctionDef) for inner in ast.walk(one)]
            else:
                parts = ast.walk(tree)
            self.imports[node] = sorted({found for part in parts for found in self.meant(file, part)})
        return self.imports[node]

    def tree(self, file):
        try:
            return ast.parse((ROOT / file).read_bytes())
        except (OSError, SyntaxError, ValueError):
            return ast.Module([], [])

    def meant(self, file, part):
        """The files that a piece of a Python file leads to."""
        if isinstance(part, ast.Import):
            for alias in part.names:
                yield from self.module(alias.name)
        elif isinstance(part, ast.ImportFrom):
            base = part.module or ""
            if part.level:
                folder = "/".join(file.split("/")[: -part.level])
                base = f"{folder}/{base.replace('.', '/')}".strip("/")
            for alias in part.names:
                yield from self.module(f"{base}.{alias.name}" if base else alias.name, by_path=bool(part.level))
        elif isinstance(part, ast.Constant) and isinstance(part.value, str) and re.fullmatch(r"[\w./-]{4,80}", part.value):
            folder, named = file.rpartition("/")[0], part.value.strip("/")
            beside = f"{folder}/{named}" if folder else named
            yield from {beside, named} & self.names
            yield from self.folders.get(beside, ())
            if "." in named:
                yield from self.module(named)

    @cached_property
    def folders(self):
        """Folder → the files right in it."""
        found = {}
        for name in self.names:
            found.setdefault(name.rpartition("/")[0], []).append(name)
        return found

    def module(self, dotted, by_path=False):
        """The files that are run when this is imported; its last part may be a name within a module."""
        parts = re.split(r"[./]", dotted)
        for root in ("",) if by_path else FOLDERS:
            found = []
            for count in range(1, len(parts) + 1):
                path = root + "/".join(parts[:count])
                found += {f"{path}.py", f"{path}/__init__.py"} & self.names
            yield from found

    def built(self):
        """The built site's files, of which tests see some."""
        folder = ROOT / BUILT
        return sorted(path.relative_to(ROOT).as_posix() for path in folder.rglob("*") if path.is_file())

    def outer(self):
        """The files that every proof rests on, as lines: the settings, what is installed, how receipts are kept."""
        own = [name for name in self.names if name.startswith(OWN)]
        return [f"{name} {self.version(name)}" for name in sorted({*own, "pyproject.toml", "requirements.txt"} & self.names)]
