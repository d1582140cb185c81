"""What torch may compute with. Here: numpy, and nothing else."""

import contextlib


class _Backend:
    enabled = False

    @staticmethod
    def is_available():
        return False

    @staticmethod
    @contextlib.contextmanager
    def flags(**unused):
        yield


cudnn, mkldnn, mps, mkl, cuda = (_Backend() for _ in range(5))
