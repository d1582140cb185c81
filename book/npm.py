"""Install the npm packages that a folder's package-lock.json pins."""

import shutil
import subprocess
from pathlib import Path


class NpmError(Exception):
    """npm is missing, or could not install the packages."""


def install(pins: Path, home: Path) -> Path:
    """Install into `home` the packages that `pins`/package-lock.json names; return the folder node_modules.

    npm verifies every checksum. Raises NpmError if npm is missing or fails; npm has then printed its own errors.
    """
    if not (npm := shutil.which("npm")):
        raise NpmError("npm is not installed. Install Node.js.")
    home.mkdir(parents=True, exist_ok=True)
    for name in ("package.json", "package-lock.json"):
        shutil.copy(pins / name, home)
    # By default npm tries again for minutes when there is no network.
    retry = "--fetch-retries=1", "--fetch-retry-mintimeout=2000", "--fetch-timeout=60000"
    if subprocess.run([npm, "ci", "--silent", "--no-audit", "--no-fund", *retry], cwd=home).returncode:
        raise NpmError(f"npm could not download the packages of {pins.name}/package-lock.json. Check the network.")
    return home / "node_modules"
