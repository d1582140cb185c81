"""Check the format of all JavaScript files, and lint them, with Biome: python -m book.tools.scripts

    --fix    write the format, and mend what Biome can mend safely

The folder javascript/ pins Biome and has its settings. Without npm nothing is checked: an error in the workflow.
"""

import argparse
import os
import shutil
import subprocess
import sys
from pathlib import Path

SETTINGS = Path(__file__).resolve().parent / "javascript"
ROOT = SETTINGS.parents[2]


def install(home):
    """Install what package-lock.json pins, unless that is done; return the path of Biome, or None without npm."""
    program, lock = home / "node_modules" / ".bin" / "biome", SETTINGS / "package-lock.json"
    installed = home / "package-lock.json"
    if program.exists() and installed.read_bytes() == lock.read_bytes():
        return program
    if not (npm := shutil.which("npm")):
        return None
    home.mkdir(parents=True, exist_ok=True)
    shutil.copy(SETTINGS / "package.json", home)
    command = [npm, "ci", "--silent", "--no-audit", "--no-fund"]
    shutil.copy(lock, installed)
    if subprocess.run(command, cwd=home).returncode:
        installed.unlink()
        return None
    return program


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--fix", action="store_true")
    arguments = parser.parse_args()
    program = install(ROOT / "_build" / "biome")
    if program is None:
        print("JavaScript is not checked: Biome comes by npm, which is not here or has no network.", file=sys.stderr)
        sys.exit("GITHUB_ACTIONS" in os.environ)
    listed = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "*.js"]
    names = subprocess.run(listed, cwd=ROOT, check=True, capture_output=True, text=True).stdout.splitlines()
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
