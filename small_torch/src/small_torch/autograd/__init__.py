"""torch's functions for gradients. The tape itself is in `small_torch.tape`."""

from ..tape import (  # noqa: F401
    detect_anomaly,
    enable_grad,
    inference_mode,
    is_grad_enabled,
    no_grad,
    set_detect_anomaly,
    set_grad_enabled,
)  # fmt: skip
from . import functional, profiler_legacy  # noqa: F401
from .engine import backward, grad  # noqa: F401
from .function import Function  # noqa: F401
from .gradcheck import GradcheckError, gradcheck  # noqa: F401
from .profiler_legacy import _disable_profiler_legacy, _enable_profiler_legacy  # noqa: F401
