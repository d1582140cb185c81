"""List the notebooks that differ from the last commit, and the English ones that use what differs, for `make check`.

    python -m book.tools.affected_notebooks    print their paths

A notebook is affected if it imports a changed module, directly or through other modules, or a module that reads a
changed file. Affected notebooks that take more than LIMIT seconds together are only named, on standard error, with the
command that runs them.
"""

import ast
import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = "companion"
NOTEBOOKS = "book/{}/*.ipynb", "assignments/source/{}/*.ipynb"  # of a language
LIMIT = 180  # seconds
# Processor seconds that notebooks take; those that are not here take SHORT.
SECONDS = {
    "book/en/attention": 25,
    "book/en/chunks": 8,
    "book/en/comparing": 30,
    "book/en/complaints": 19,
    "book/en/first_network": 19,
    "book/en/forecasts": 15,
    "book/en/forget_bias": 17,
    "book/en/gru": 12,
    "book/en/language_model": 30,
    "book/en/matrix_state": 30,
    "book/en/memory": 19,
    "book/en/names": 20,
    "book/en/newton": 8,
    "book/en/series": 15,
    "book/en/released": 12,
    "book/en/state_tracking": 25,
    "book/en/step_sizes": 25,
    "book/en/surprise": 10,
    "book/en/todays_models": 25,
    "book/en/training": 13,
    "book/en/transformer": 15,
    "book/en/units": 15,
    "book/en/vanishing": 18,
    "book/en/why": 10,
    "assignments/source/en/language_model": 10,
}
SHORT = 5


def changed_files(root=ROOT):
    """Return the files under `root` that differ from the last commit, relative to it. Without git, return none."""
    names = set()
    for command in ["diff", "--name-only", "--relative", "HEAD"], ["ls-files", "--others", "--exclude-standard"]:
        try:
            process = subprocess.run(["git", *command], cwd=root, capture_output=True, text=True, check=True)
        except (OSError, subprocess.CalledProcessError):
            return set()
        names.update(process.stdout.splitlines())
    return names


class Modules:
    """The modules of the package below `root`, with what each imports and reads."""

    def __init__(self, root):
        self.root, self.paths = root, {}
        for path in sorted((root / PACKAGE).rglob("*.py")):
            name = ".".join(path.relative_to(root).with_suffix("").parts)
            self.paths[name.removesuffix(".__init__")] = path
        self.trees = {name: ast.parse(path.read_text(encoding="utf-8")) for name, path in self.paths.items()}

    def definer(self, module, name):
        """Return the module that defines `name`, which can be imported from `module`."""
        if f"{module}.{name}" in self.paths:
            return f"{module}.{name}"
        for node in self.trees[module].body if module in self.trees else ():
            if isinstance(node, ast.ImportFrom) and any((alias.asname or alias.name) == name for alias in node.names):
                (original,) = [alias.name for alias in node.names if (alias.asname or alias.name) == name]
                return self.definer(node.module, original) if node.module in self.paths else module
        return module

    def imported(self, tree):
        """Return the package's modules that define what code imports, or uses as `package.name`."""
        found = set()
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom) and node.module in self.paths:
                found |= {self.definer(node.module, alias.name) for alias in node.names}
            elif isinstance(node, ast.Import):
                found |= {alias.name for alias in node.names if alias.name in self.paths and alias.name != PACKAGE}
            elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == PACKAGE:
                found.add(self.definer(PACKAGE, node.attr))
        return found

    def reads(self, module, file):
        """Return whether a module's code names a folder of its subpackage that has the file, as in "texts"."""
        subpackage = self.root.joinpath(*module.split(".")[:2])
        if not (self.root / file).is_relative_to(subpackage):
            return False
        folders = (self.root / file).parent.relative_to(subpackage).parts
        return any(isinstance(node, ast.Constant) and node.value in folders for node in ast.walk(self.trees[module]))

    def affected(self, changed):
        """Return the modules that are among the changed files, read one, or import such a module."""
        affected = {name for name, path in self.paths.items() if path.relative_to(self.root).as_posix() in changed}
        files = [file for file in changed if file.startswith(f"{PACKAGE}/")]
        affected |= {name for name in self.paths if any(self.reads(name, file) for file in files)}
        imports = {name: self.imported(tree) for name, tree in self.trees.items()}
        while more := {name for name, needed in imports.items() if needed & affected} - affected:
            affected |= more
        return affected


def code_of(path):
    """Return the syntax trees of a notebook's code cells, without those that are not plain Python."""
    trees = []
    for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
        if cell["cell_type"] == "code":
            try:
                trees.append(ast.parse("".join(cell["source"])))
            except SyntaxError:  # a line for Jupyter, or an error that the page shows
                continue
    return trees


def affected_notebooks(changed, root=ROOT):
    """Return the paths of the English notebooks that use one of the changed files, relative to `root`."""
    modules = Modules(root)
    affected = modules.affected(changed)
    return [
        path.relative_to(root).as_posix()
        for pattern in NOTEBOOKS
        for path in sorted(root.glob(pattern.format("en")))
        if any(modules.imported(tree) & affected for tree in code_of(path))
    ]


def main():
    changed = changed_files()
    notebooks = {path.relative_to(ROOT).as_posix() for pattern in NOTEBOOKS for path in ROOT.glob(pattern.format("*"))}
    paths = [path for path in affected_notebooks(changed) if path not in changed]
    seconds = sum(SECONDS.get(path.removesuffix(".ipynb"), SHORT) for path in paths)
    print(*sorted(notebooks & changed), *(paths if seconds <= LIMIT else ()))
    if seconds <= LIMIT:
        return
    print(
        f"Not run: {len(paths)} English notebooks that use what you changed. One after another they take about"
        f" {seconds / 60:.0f} minutes. To run them:\n"
        f"    .venv/bin/python -m pytest --nbval --numprocesses auto --dist loadfile {' '.join(paths)}",
        file=sys.stderr,
    )


if __name__ == "__main__":
    main()
