"""Lint all JavaScript files and check their format with Biome.

    python -m book.tools.scripts [--fix]

    --fix    format the files, and apply the fixes that Biome considers safe

The folder javascript/ pins Biome and has its settings. Without npm nothing is checked, which is an error on GitHub.
"""

import argparse
import os
import subprocess
import sys
from pathlib import Path

from book import npm

SETTINGS = Path(__file__).resolve().parent / "javascript"
ROOT = SETTINGS.parents[2]


def install(home):
    """Install the Biome that package-lock.json pins, unless it is installed; return its path."""
    program, lock = home / "node_modules" / ".bin" / "biome", SETTINGS / "package-lock.json"
    installed = home / "package-lock.json"
    if not program.exists() or installed.read_bytes() != lock.read_bytes():
        npm.install(SETTINGS, home)
    return program


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--fix", action="store_true")
    arguments = parser.parse_args()
    try:
        program = install(ROOT / "_build" / "biome")
    except npm.NpmError as error:
        print(f"JavaScript is not checked: {error}", file=sys.stderr)
        sys.exit("GITHUB_ACTIONS" in os.environ)
    list_files = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "*.js"]
    names = subprocess.run(list_files, cwd=ROOT, check=True, capture_output=True, text=True).stdout.splitlines()
    names = [name for name in names if (ROOT / name).is_file()]
    command = [
        program,
        "check",
        f"--config-path={SETTINGS}",
        "--error-on-warnings",
        *(["--write"] if arguments.fix else []),
    ]
    sys.exit(subprocess.run([*command, *names], cwd=ROOT).returncode)


if __name__ == "__main__":
    main()
