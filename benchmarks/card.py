"""Run on a graphics card all that needs one: `make card`.

    python benchmarks/card.py             everything
    python benchmarks/card.py messages    one step, or several, by name

The steps are the tests of layers and of learning, the scan in Triton, the messages that the book quotes, speed, and the
evidence, which is stored in companion/learning/evidence/card.json. Without a card nothing is run, and the status is 1,
because a status of 0 would say that all of this was checked.
"""

import subprocess
import sys
from pathlib import Path

import torch

ROOT = Path(__file__).parents[1]
ON_CARD = ["--device", "cuda"]
TESTS = ["-m", "pytest", *ON_CARD, "--numprocesses", "4", "--dist", "loadfile"]
STEPS = {
    "tests": [[*TESTS, "tests/layers", "tests/learning"]],
    "triton": [["-m", "pytest", *ON_CARD, "tests/layers/against_triton.py"]],
    "messages": [["benchmarks/card_messages.py"]],
    "speed": [[f"benchmarks/{name}_speed.py", *ON_CARD] for name in ("lstm", "gru", "attention")],
    "evidence": [["benchmarks/evidence_card.py"]],
}


def missing_card():
    """Return why torch has no graphics card here, or None if it has one."""
    if torch.cuda.is_available():
        return None
    if torch.version.cuda is None:
        return (
            f"torch {torch.__version__} is made for processors only. If there is a card, delete .venv and type"
            " UV_TORCH_BACKEND=auto make card"
        )
    return f"torch {torch.__version__} finds none"


def main(names):
    reason = missing_card()
    if reason:
        print(f"No graphics card, so nothing was run: {reason}.", file=sys.stderr)
        return 1
    failed = []
    for name in names or STEPS:
        print(f"== {name}: {torch.cuda.get_device_name()}, torch {torch.__version__}", flush=True)
        codes = [subprocess.run([sys.executable, *arguments], cwd=ROOT).returncode for arguments in STEPS[name]]
        failed += [name] * any(codes)
    print("failed: " + ", ".join(failed) if failed else "all steps passed")
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
