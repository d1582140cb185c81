"""A reader of Morse signals without a network: thresholds on lengths, for the likeliest speed."""

import math

import torch
from torch import Tensor

from companion.learning.morse import Pulses, decoded

# Units of a pulse or a pause, with their shares; the last kind of pulses are false ones.
PULSES, PAUSES = {1.0: 0.55, 3.0: 0.42, 0.25: 0.03}, {1.0: 0.65, 3.0: 0.28, 7.0: 0.07}
SPREAD = 0.25  # standard deviation of the logarithm of a length
SPEEDS = torch.logspace(math.log10(4), math.log10(25), 60)  # words a minute that are tried
DRIFTS = torch.linspace(-0.3, 0.3, 7)
DOT, SIGN, WORD = 3**0.5, 3**0.5, 21**0.5  # limits in units, halfway between 1, 3 and 7 in the logarithm


def read(pulses: Pulses) -> str:
    """Return the text of a signal.

    It knows how signals are made: of all speeds and drifts on a grid, it takes those with which the lengths are most
    probable, and then decides each length by itself. Pulses below half a unit are false, and left out.
    """
    if not pulses:
        return ""
    unit, drift = speed_of(pulses)
    end = pulses[-1][1]
    kept = [(down, up, unit / (1 + drift * down / end)) for down, up in pulses]
    kept = [(down, up, u) for down, up, u in kept if up - down > u / 2]
    codes = [""]
    for k, (down, up, u) in enumerate(kept):
        codes[-1] += "." if up - down < DOT * u else "-"
        pause = kept[k + 1][0] - up if k + 1 < len(kept) else 0
        codes += ["", ""] if pause > WORD * u else [""] if pause > SIGN * u else []
    return decoded(codes)


def speed_of(pulses: Pulses) -> tuple[float, float]:
    """Return the likeliest unit at the start, in seconds, and the drift."""
    times = torch.tensor(pulses, dtype=torch.float64)
    share = times / times[-1, 1]
    total = torch.zeros(len(SPEEDS), len(DRIFTS), dtype=torch.float64)
    down, up = times.unbind(1)
    for lengths, at, kinds in (
        (up - down, share[:, 0], PULSES),
        (down[1:] - up[:-1], share[:-1, 1], PAUSES),
    ):
        # log( length / unit ), (speed, drift, length)
        units = 1.2 / SPEEDS.double()[:, None, None] / (1 + DRIFTS.double()[:, None] * at)
        total += likelihood((lengths / units).log(), kinds).sum(-1)
    speed, drift = divmod(int(total.argmax()), len(DRIFTS))
    return 1.2 / SPEEDS[speed].item(), DRIFTS[drift].item()


def likelihood(x: Tensor, kinds: dict[float, float]) -> Tensor:
    """Return the logarithm of the density of lengths, x the logarithm of their units, without a constant."""
    parts = [math.log(share) - (x - math.log(units)) ** 2 / (2 * SPREAD**2) for units, share in kinds.items()]
    # a length of another kind, such as a long pause, has a small density
    return torch.logsumexp(torch.stack([*parts, torch.full_like(x, math.log(1e-6))]), dim=0)
