"""Answers to short programs, on a graphics card and without one, compared with what the page of complaints quotes.

    python benchmarks/card_messages.py          all programs
    python benchmarks/card_messages.py double   one of them, with its whole answer

Each program runs in a process of its own, because some errors leave a card unusable. The answers from a card were seen
with torch 2.11 on an NVIDIA H200. Status 1 if an answer is another one.
"""

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import torch

BEGIN = """
import copy, tempfile, torch
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence
device = "{}"
x, lstm = torch.randn(5, 2, 3, device=device, requires_grad=True), nn.LSTM(3, 4).to(device)
"""
WITHOUT_CUDNN = "with torch.backends.cudnn.flags(enabled=False): y = lstm(x)[0]\n"
TWICE = "g, = torch.autograd.grad(y.sum(), x, create_graph=True); g.square().sum().backward()"
UNUSED = """
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm, self.unused = nn.LSTM(3, 4), nn.Linear(4, 2)
    def forward(self, x): return self.lstm(x)[0]
file = tempfile.mkdtemp() + "/shared"
torch.distributed.init_process_group("gloo", init_method="file://" + file, rank=0, world_size=1)
model = nn.parallel.DistributedDataParallel(Model(), find_unused_parameters={})
for step in range(2): model(x).sum().backward()
torch.distributed.destroy_process_group()
"""
HALF_MODEL = """
model = nn.Linear(3, 2){}
scaler, optimizer = torch.amp.GradScaler(device), torch.optim.SGD(model.parameters(), 0.1)
with torch.autocast(device, torch.float16): y = model(x.to(model.weight.dtype))
scaler.scale(y.float().sum()).backward()
scaler.step(optimizer)
"""
REPEATED = """
def run():
    torch.manual_seed(0)
    model = nn.LSTM(64, 64, 2, dropout=0.3).cuda()
    y = model(torch.ones(200, 32, 64).cuda())[0]
    y.square().sum().backward()
    return [y, *(parameter.grad for parameter in model.parameters())]
print("repeated:", all(map(torch.equal, run(), run())))
"""
# name → a program, and a part of its answer; "" stands for an end without any error or warning
ON_CARD = {
    "devices": ("lstm(x.cpu())", "Input and parameter tensors are not at the same device"),
    "device of indices": (
        "nn.Embedding(5, 3).cuda()(torch.tensor([1]))",
        "but got index is on cpu, different from other tensors on cuda:0",
    ),
    "lengths": (
        "pack_padded_sequence(x, torch.tensor([5, 3]).cuda())",
        "'lengths' argument should be a 1D CPU int64 tensor, but got 1D",
    ),
    "transposed state": ("h = torch.zeros(1, 4, 2).cuda().mT; lstm(x, (h, h))", "rnn: hx is not contiguous"),
    "numpy": ("x.detach().numpy()", "can't convert cuda:0 device type tensor to numpy"),
    "index": (
        "y = nn.Embedding(5, 3).cuda()(torch.tensor([9]).cuda()); print(y)",
        "CUDA error: device-side assert triggered",
    ),
    "index, the reason": (
        "print(nn.Embedding(5, 3).cuda()(torch.tensor([9]).cuda()))",
        "Assertion `srcIndex < srcSelectDimSize` failed",
    ),
    "target, the reason": (
        "print(nn.functional.cross_entropy(torch.randn(2, 3).cuda(), torch.tensor([0, 7]).cuda()))",
        "Assertion `t >= 0 && t < n_classes` failed",
    ),
    "memory": ("torch.empty(10**12, device=device)", "CUDA out of memory. Tried to allocate"),
    "evaluation": (
        "lstm.eval()(x)[0].sum().backward()",
        "cudnn RNN backward can only be called in training mode",
    ),
    "evaluation without cuDNN": ("lstm.eval()\n" + WITHOUT_CUDNN + "y.sum().backward()", ""),
    "double": (
        "y = lstm(x)[0]; " + TWICE,
        "the derivative for '_cudnn_rnn_backward' is not implemented. Double backwards is not supported for CuDNN RNNs",
    ),
    "double without cuDNN": (WITHOUT_CUDNN + TWICE, ""),
    "copied": ("copy.deepcopy(lstm)(x)", "RNN module weights are not part of single contiguous chunk of memory"),
    "replaced": ("lstm.weight_hh_l0 = nn.Parameter(lstm.weight_hh_l0.detach().clone()); lstm(x)", ""),
    "long": (
        "lstm(torch.randn(70_000, 1, 3).cuda())",
        "cuDNN error: CUDNN_STATUS_NOT_SUPPORTED. This error may appear if you passed in a non-contiguous input.",
    ),
    "repeated": (REPEATED, "repeated: True"),
    "autocast": ("with torch.autocast('cuda', torch.bfloat16): print(lstm(x.detach())[0].dtype)", "torch.float16"),
}
ANYWHERE = {
    "half": ("nn.Linear(3, 2).to(device)(x.half())", "mat1 and mat2 must have the same dtype, but got Half and Float"),
    "scaler": (HALF_MODEL.format(".to(device)"), ""),
    "scaler of a half model": (HALF_MODEL.format(".to(device).half()"), "Attempting to unscale FP16 gradients."),
    "full graph": (
        "torch.compile(lstm, fullgraph=True, backend='eager')(x)",
        "Attempted to wrap RNN, GRU, or LSTM",
    ),
    "unused parameters": (
        "x, lstm = x.cpu(), lstm.cpu()" + UNUSED.format(False),
        "Expected to have finished reduction in the prior iteration before starting a new one",
    ),
    "unused parameters found": ("x, lstm = x.cpu(), lstm.cpu()" + UNUSED.format(True), ""),
}


def answer(program, device):
    """Return all that a program prints, with its error and warnings, as one line."""
    command = [sys.executable, "-W", "always", "-c", BEGIN.format(device) + program]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=300)
    return " ".join((ended.stdout + ended.stderr).split())


def as_quoted(program, expected, device):
    """Return whether the answer is the expected one, and the answer."""
    found = answer(program, device)
    return (expected in found if expected else not found), found


def main():
    device = "cuda" if torch.cuda.is_available() else "cpu"
    programs = ANYWHERE | (ON_CARD if device == "cuda" else {})
    chosen = {name: programs[name] for name in sys.argv[1:] or programs}
    with ThreadPoolExecutor(4) as pool:
        results = list(pool.map(lambda case: as_quoted(*case, device), chosen.values()))
    for name, (same, found) in zip(chosen, results, strict=True):
        print(f"{name:26}", "as quoted" if same else f"another answer: {found[-2000:]}")
        if sys.argv[1:]:
            print(found)
    return not all(same for same, _found in results)


if __name__ == "__main__":
    sys.exit(main())
