"""What else a proof rests on: Python, the packages, the processor, the browser and its fonts."""

import os
import platform
import shutil
import subprocess
import sys
from importlib.metadata import distributions
from pathlib import Path

# Of the environment's variables those that change what is computed.
ASKED = "ATEN_CPU_CAPABILITY", "ONEDNN_MAX_CPU_ISA", "MKL_CBWR", "FUZZ", "UNROLLED_LANGUAGE"


def facts():
    """All of it, in lines."""
    yield f"python {sys.version}"
    yield f"system {platform.platform()} {platform.machine()}"
    yield from sorted({f"package {one.metadata['Name']} {one.version}" for one in distributions()})
    yield from (f"{name}={os.environ[name]}" for name in ASKED if name in os.environ)
    yield f"processor {processor()}"
    yield f"browser {browser()}"
    if lists := shutil.which("fc-list"):
        fonts = subprocess.run([lists], capture_output=True, text=True).stdout
        yield from sorted(f"font {line}" for line in fonts.splitlines())


def processor():
    """Its instructions, where the system says them: by these torch chooses how it computes."""
    cpus = Path("/proc/cpuinfo")
    if cpus.is_file():
        return next((line for line in cpus.read_text().splitlines() if line.startswith(("flags", "Features"))), "")
    return platform.processor()


def browser():
    from browser import program  # of book/

    path = program()
    if path is None:
        return None
    about = Path(path).resolve().stat()
    return path, about.st_size, about.st_mtime_ns
