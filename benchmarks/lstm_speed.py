"""Speed of a readable LSTM as a multiple of torch's fused one, measured side by side in one run.

    python benchmarks/lstm_speed.py                    the four sizes
    python benchmarks/lstm_speed.py --repeat 30        more rounds: steadier medians
    python benchmarks/lstm_speed.py --long             growth of time and memory to 10,000 steps
    python benchmarks/lstm_speed.py --machine          effect of threads, number types and fusing on this machine
    python benchmarks/lstm_speed.py --device cuda      the four sizes on a graphics card

The contenders take turns, so that a machine that slows down slows all of them. The output is medians over the rounds:
milliseconds for torch's fused LSTM, for the others multiples of it. One thread, float32, except in `--machine`.
"""

import argparse
import statistics
import time
import warnings

import torch
from torch import nn

import companion

SIZES = [(35, 32, 28, 32), (35, 32, 28, 512), (100, 64, 128, 256), (200, 16, 64, 128)]


class TutorialLSTM(nn.Module):
    """The loop as tutorials write it: a pair of small products for each gate, at every step."""

    def __init__(self, input_size, hidden_size):
        super().__init__()
        for gate in "ifgo":
            self.register_parameter("W" + gate, nn.Parameter(torch.randn(input_size, hidden_size) * 0.1))
            self.register_parameter("U" + gate, nn.Parameter(torch.randn(hidden_size, hidden_size) * 0.1))
            self.register_parameter("b" + gate, nn.Parameter(torch.zeros(hidden_size)))
        self.hidden_size = hidden_size

    def forward(self, inputs):
        h = c = torch.zeros(inputs.size(1), self.hidden_size)
        outputs = []
        for x in inputs:
            i = torch.sigmoid(torch.mm(x, self.Wi) + torch.mm(h, self.Ui) + self.bi)
            f = torch.sigmoid(torch.mm(x, self.Wf) + torch.mm(h, self.Uf) + self.bf)
            g = torch.tanh(torch.mm(x, self.Wg) + torch.mm(h, self.Ug) + self.bg)
            o = torch.sigmoid(torch.mm(x, self.Wo) + torch.mm(h, self.Uo) + self.bo)
            c = f * c + i * g
            h = o * torch.tanh(c)
            outputs.append(h)
        return torch.stack(outputs), (h, c)


def contenders(input_size, hidden_size):
    """Return name → a function of the input that returns the output."""
    fused = nn.LSTM(input_size, hidden_size)
    readable = companion.LSTM(input_size, hidden_size)
    by_hand = companion.by_hand(companion.LSTM(input_size, hidden_size))
    tutorial = TutorialLSTM(input_size, hidden_size)
    for ours in (readable, by_hand):
        ours.load_state_dict(fused.state_dict())

    def unfused(x):
        with torch.backends.mkldnn.flags(enabled=False):
            return fused(x)

    return {
        "nn.LSTM": fused,
        "nn.LSTM, unfused": unfused,
        "companion.LSTM": readable,
        "by hand": by_hand,
        "tutorials' loop": tutorial,
    }


def compute_on(device):
    if device != "cpu":  # set explicitly, the processor would slow down every call
        torch.set_default_device(device)


def wait():
    """Wait until a graphics card has computed what it was given."""
    if torch.get_default_device().type == "cuda":
        torch.cuda.synchronize()


def seconds(run, x, backward):
    wait()
    start = time.perf_counter()
    output, _ = run(x)
    if backward:
        output.sum().backward()
    wait()
    return time.perf_counter() - start


def compare(size, repeat, backward):
    steps, batch, input_size, hidden_size = size
    runs = contenders(input_size, hidden_size)
    x = torch.randn(steps, batch, input_size, requires_grad=backward)
    times = {name: [] for name in runs}
    with torch.set_grad_enabled(backward):
        for round_ in range(repeat + 2):
            for name, run in runs.items():
                took = seconds(run, x, backward)
                if round_ >= 2:  # two rounds to warm up
                    times[name].append(took)
    return {name: statistics.median(values) for name, values in times.items()}


def table(repeat):
    for backward in (False, True):
        print("forward with backward" if backward else "forward")
        for size in SIZES:
            medians = compare(size, repeat, backward)
            base = medians.pop("nn.LSTM")
            cells = [f"{name} {median / base:5.2f}" for name, median in medians.items()]
            print(f"  {size!s:20} nn.LSTM {base * 1e3:7.2f} ms   " + "   ".join(cells), flush=True)


class Loop(nn.Module):
    """A loop that calls nn.LSTMCell at every time step."""

    def __init__(self, input_size, hidden_size):
        super().__init__()
        self.cell = nn.LSTMCell(input_size, hidden_size)

    def forward(self, inputs):
        state, outputs = None, []
        for x in inputs:
            state = self.cell(x, state)
            outputs.append(state[0])
        return torch.stack(outputs), state


def machine(repeat):
    """Print the time of nn.LSTM, forward with backward, and the ratios with one thing changed."""
    every = torch.get_num_threads()
    print(
        f"forward with backward; nn.LSTM in float32 with 1 thread, and ratios to it ({every} threads are this machine's"
        " default)"
    )
    for steps, batch, input_size, hidden_size in SIZES:
        plain = nn.LSTM(input_size, hidden_size)
        wide = nn.LSTM(input_size, hidden_size, dtype=torch.float64)
        x = torch.randn(steps, batch, input_size, requires_grad=True)
        runs = {
            "nn.LSTM": (plain, x, 1),
            f"{every} threads": (plain, x, every),
            "float64": (wide, x.detach().double().requires_grad_(), 1),
            "a loop over nn.LSTMCell": (Loop(input_size, hidden_size), x, 1),
        }
        times = {name: [] for name in runs}
        for round_ in range(repeat + 2):
            for name, (run, inputs, threads) in runs.items():
                torch.set_num_threads(threads)
                run(inputs)  # start the threads before measuring
                took = seconds(run, inputs, backward=True)
                if round_ >= 2:
                    times[name].append(took)
        medians = {name: statistics.median(values) for name, values in times.items()}
        base = medians.pop("nn.LSTM")
        cells = [f"{name} {median / base:5.2f}" for name, median in medians.items()]
        size = (steps, batch, input_size, hidden_size)
        print(f"  {size!s:20} nn.LSTM {base * 1e3:7.2f} ms   " + "   ".join(cells), flush=True)


def kept_for_backward(run, x):
    """Return the bytes that the forward pass keeps for the backward pass, each storage counted once."""
    storages = {}

    def keep(tensor):
        storage = tensor.untyped_storage()
        storages[storage.data_ptr()] = storage.nbytes()
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(keep, lambda tensor: tensor):
        output, _ = run(x)
    return sum(storages.values())


def growth():
    """Print time and memory per step for growing sequences; both should stay the same."""
    batch, input_size, hidden_size = 8, 16, 32
    runs = contenders(input_size, hidden_size)
    print("time steps      microseconds and kilobytes for each")
    for steps in (100, 300, 1000, 3000, 10_000):
        x = torch.randn(steps, batch, input_size)
        cells = []
        for name in ("nn.LSTM, unfused", "companion.LSTM", "by hand"):
            took = statistics.median(seconds(runs[name], x, backward=True) for _ in range(3))
            kept = kept_for_backward(runs[name], x)
            cells.append(f"{name} {took / steps * 1e6:5.0f} µs {kept / steps / 1e3:5.1f} kB")
        print(f"{steps:10,}      " + "   ".join(cells), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeat", type=int, default=15, help="rounds that count")
    parser.add_argument("--long", action="store_true", help="growth of time and memory to 10,000 steps")
    parser.add_argument(
        "--machine", action="store_true", help="effect of threads, number types and fusing on this machine"
    )
    parser.add_argument("--device", default="cpu")
    arguments = parser.parse_args()
    compute_on(arguments.device)
    if not arguments.machine:
        torch.set_num_threads(1)
    torch.manual_seed(0)
    # raised whenever oneDNN's flags are set, and relevant for graphics cards only
    warnings.filterwarnings("ignore", message="TF32 acceleration on top of oneDNN")
    if arguments.machine:
        machine(arguments.repeat)
    elif arguments.long:
        growth()
    else:
        table(arguments.repeat)


if __name__ == "__main__":
    main()
