"""Figure of a network that reads the Morse signs that the reader taps."""

from functools import cache
from typing import Any

import torch
from torch import Tensor
from traitlets import Dict, Enum, Int, List, TraitError, default, validate

from companion.figures.figure import Loading, Number, script
from companion.layers.decoding import best_path
from companion.learning.listening import KINDS, STORED, load_listener
from companion.learning.morse import CODES, SIGNS, keyed, steps_of

listener_of = cache(load_listener)
MOST = 400  # pulses
# Text, words a minute, jitter and seed; the first one is shown at the beginning.
EXAMPLES: list[tuple[str, float, float, int]] = [("HELLO", 9, 0.2, 3), ("SOS", 6, 0.2, 2), ("PARIS 73", 18, 0.2, 0)]
UNIT = 6  # of the network with one direction, which follows the ends of signs; the chapter finds it


class Listening(Loading):
    """Pulses of a key, and what a trained network reads in them.

    pulses: pairs (down, up) of seconds, up to 400, one after another. end: the second at which the last pause ends.
    kind: of the network, "one direction" or "two directions". unit: whose state h_t is drawn, from 0 to 55; with two
    directions, those from 40 on read backward.
    """

    _esm = script("listening")
    files = {"listeners.safetensors": STORED}
    pulses = List(List(Number(min=0), minlen=2, maxlen=2), maxlen=MOST).tag(sync=True)
    end = Number(min=0).tag(sync=True)
    kind = Enum([*KINDS], "one direction").tag(sync=True)
    unit = Int(UNIT, min=0, max=55).tag(sync=True)
    listener = Dict(read_only=True).tag(sync=True)  # the file of the weights
    stored = Dict(read_only=True).tag(sync=True)  # what the page shows before it has the weights
    examples = Dict(read_only=True).tag(sync=True)  # name → pulses
    codes = Dict(CODES, read_only=True).tag(sync=True)
    settings = ("pulses", "end", "kind", "unit")

    def __init__(self, language: str = "en", **values: Any) -> None:
        super().__init__(language, **values)
        self.set_trait("listener", {"file": STORED.name, "bytes": STORED.stat().st_size})
        self.set_trait("examples", {how[0]: example(*how) for how in EXAMPLES})
        self.set_trait("stored", self._stored())

    def steps(self) -> Tensor:
        """Return what the network reads: (T, 2), float64."""
        return steps_of([(down, up) for down, up in self.pulses], self.end).double()

    @torch.no_grad()
    def probabilities(self) -> Tensor:
        """Return the probability of each class at each step: (T, C), float64."""
        return listener_of(self.kind)(self.steps()[:, None])[:, 0].softmax(-1)

    @torch.no_grad()
    def states(self) -> Tensor:
        """Return the states of the network at each step, forward and then backward: (T, hidden_size), float64."""
        return listener_of(self.kind).recurrent(self.steps()[:, None])[0][:, 0]

    def text(self) -> str:
        """Return the text of the likeliest outputs."""
        return "".join(SIGNS[k - 1] for k in best_path(self.probabilities())) if self.pulses else ""

    def _stored(self):
        """Return the classes and probabilities of the likeliest outputs, and the values of the unit, in thousandths."""
        shown = {name: getattr(self, name) for name in self.settings}
        if not self.pulses:
            return shown | {"path": [], "p": [], "blank": [], "values": []}
        p = self.probabilities()
        numbers = {"p": p.amax(-1), "blank": p[:, 0], "values": self.states()[:, self.unit]}
        thousandths = {name: (1000 * x).round().int().tolist() for name, x in numbers.items()}
        return shown | {"path": p.argmax(-1).tolist()} | thousandths

    @default("pulses")
    def _example(self):
        return example(*EXAMPLES[0])

    @default("end")
    def _end(self):
        return self.pulses[-1][1] + 1.0 if self.pulses else 0.0

    @validate("pulses")
    def _check_pulses(self, proposal):
        times = [time for pulse in proposal.value for time in pulse]
        if any(not after > before for before, after in zip(times, times[1:], strict=False)):
            raise TraitError("pulses must follow one another, each with a time down before the time up")
        return proposal.value

    @validate("end")
    def _check_end(self, proposal):
        if self.pulses and not proposal.value > self.pulses[-1][1]:
            raise TraitError(
                f"end must be after the last pulse, at {self.pulses[-1][1]:g} s, not at {proposal.value:g}"
            )
        return proposal.value


def example(text: str, words_per_minute: float, jitter: float, seed: int) -> list[list[float]]:
    """Return the pulses of a text, in milliseconds' precision."""
    return [[round(down, 3), round(up, 3)] for down, up in keyed(text, words_per_minute, jitter, seed=seed)]
