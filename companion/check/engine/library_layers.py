"""Recognise torch's own layers, the companion's and the questions' references while an answer runs."""

import sys
import threading
from contextlib import contextmanager
from functools import cache
from pathlib import Path

import torch
from torch.autograd import _disable_profiler_legacy, _enable_profiler_legacy
from torch.autograd.profiler_legacy import profile

COMPANION = Path(__file__).resolve().parents[2]
TORCH = str(Path(torch.__file__).parent)

# The operations behind torch's own layers, however they are reached.
RECURRENT = frozenset(
    f"aten::{name}"
    for name in (
        "lstm", "lstm_cell", "gru", "gru_cell", "rnn_tanh", "rnn_relu", "rnn_tanh_cell", "rnn_relu_cell",
        "mkldnn_rnn_layer", "_cudnn_rnn", "_thnn_fused_lstm_cell", "_thnn_fused_gru_cell",
        "quantized_lstm", "quantized_gru", "quantized_lstm_cell", "quantized_rnn_tanh_cell",
    )
)  # fmt: skip
EMBEDDING = frozenset(
    f"aten::{name}"
    for name in (
        "embedding", "embedding_bag", "_embedding_bag", "_embedding_bag_forward_only", "one_hot",
        "embedding_backward", "embedding_dense_backward", "embedding_sparse_backward",
    )
)  # fmt: skip
# Some of torch's attention is Python code with products and a softmax, as in answers: it is recognised by its name.
ATTENTION = frozenset(
    f"aten::{name}"
    for name in (
        "scaled_dot_product_attention", "_scaled_dot_product_attention_math",
        "_scaled_dot_product_attention_math_for_mps",
        *(f"_scaled_dot_product_{name}_attention" for name in ("flash", "efficient", "cudnn")),
        *(f"_scaled_dot_product_{name}_attention_backward" for name in ("flash", "efficient", "cudnn")),
        "_scaled_dot_product_flash_attention_for_cpu", "_scaled_dot_product_flash_attention_for_cpu_backward",
        "_scaled_dot_product_fused_attention_overrideable", "_scaled_dot_product_fused_attention_overrideable_backward",
        *(f"_{name}_attention_{way}" for name in ("flash", "efficient", "cudnn") for way in ("forward", "backward")),
        "_flash_attention_forward_no_dropout_inplace", "_native_multi_head_attention", "_transform_bias_rescale_qkv",
        "_transformer_encoder_layer_fwd", "_triton_multi_head_attention", "_triton_scaled_dot_attention",
        "_masked_softmax", "_masked_softmax_backward",
    )
) | {
    "torch.nn.functional.multi_head_attention_forward", "torch.nn.attention", "torch.ao.nn.quantizable",
    "torch.onnx.ops",
}  # fmt: skip
# torch's own scans, which are Python code as well.
SCAN = frozenset({"torch._higher_order_ops.associative_scan", "torch._higher_order_ops.scan"})
# Operations of an answer that leaves gradients to torch, where they are asked for by hand.
AUTOGRAD = frozenset({"autograd::engine::evaluate_function"})
# The companion's own windows of a series.
SERIES_WINDOWS = frozenset({"companion.learning.series.windows"})
# The folders of the companion's layers, of its other functions, and of the references of the questions.
LAYERS, LEARNING, QUESTIONS = COMPANION / "layers", COMPANION / "learning", COMPANION / "check/questions"


@cache
def library_name(code):
    """Return the module of the companion's layer or reference that has this code, or None.

    For code of ATTENTION or SCAN, and for functions of `companion.learning`, return the function's own name.
    """
    path = Path(code.co_filename)
    if Path(TORCH) in path.parents:
        place = "torch." + ".".join(path.relative_to(TORCH).with_suffix("").parts)
        return next((name for name in ATTENTION | SCAN if f"{place}.{code.co_name}".startswith(name)), None)
    if path.parent == LEARNING:
        return f"companion.learning.{path.stem}.{code.co_name}"
    layer = path.parent == LAYERS and code.co_name not in ("__init__", "reset_parameters")
    if not layer and (QUESTIONS not in path.parents or "reference" not in code.co_qualname.lower()):
        return None
    return ".".join(path.relative_to(COMPANION.parent).with_suffix("").parts)


@contextmanager
def note_library_layers(forbidden, outcome):
    """Note in `outcome.notes["library"]` which forbidden operations and companion's layers run in the block."""
    if not forbidden:
        yield
        return
    seen = set()

    def look(frame, event, _):
        name = library_name(frame.f_code) if event == "call" else None
        if name and (name in forbidden or not name.startswith(("torch.", "companion.learning."))):
            seen.add(name)

    def look_in_thread(frame, event, function):
        """Look also at calls of C functions: torch's profiler does not record the answer's own threads."""
        look(frame, event, function)
        if event == "c_call":
            name = function.__name__
            seen.update((AUTOGRAD if name == "run_backward" else {f"aten::{name}"}) & forbidden)

    before, before_in_threads = sys.getprofile(), threading.getprofile()
    sys.setprofile(look)
    threading.setprofile(look_in_thread)
    # only the names are needed: `profile` itself makes an object of every event, which takes 20 times as long
    _enable_profiler_legacy(profile().config())
    try:
        yield
    finally:
        sys.setprofile(before)
        threading.setprofile(before_in_threads)
        names = {event.name() for events in _disable_profiler_legacy() for event in events}
        # the name of an event of autograd ends with the operation whose gradient it computes: `name: operation`
        seen |= {name.split(": ")[0] for name in names} & forbidden
        if seen:
            outcome.notes = {**outcome.notes, "library": sorted(seen)}
