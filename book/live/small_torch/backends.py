"""What torch may compute with. Here: numpy, and nothing else."""

import contextlib


@contextlib.contextmanager
def flags(enabled=False, benchmark=False, benchmark_limit=10, deterministic=False, allow_tf32=True, fp32_precision="none"):
    yield


class _Backend:
    enabled = False
    flags = staticmethod(flags)

    @staticmethod
    def is_available():
        return False


cudnn, mkldnn, mps, mkl, cuda = (_Backend() for _ in range(5))
