"""Random numbers that depend on a seed and a place only, equal to those of numbers.js."""

import math


def uniform(seed: int, place: int) -> float:
    """Return a number from U[0, 1) for a seed and a place, by mulberry32."""
    low = 0xFFFFFFFF  # 32 bits
    a = (0x9E3779B1 * (seed + 1) + 0x6D2B79F5 * (place + 1)) & low
    b = ((a ^ a >> 15) * (a | 1)) & low
    b ^= (b + (b ^ b >> 7) * (b | 61)) & low
    return (b ^ b >> 14) / 2**32


def normal(seed: int, place: int) -> float:
    """Return a number from N(0, 1) for a seed and a place, from two uniform ones (Box and Muller 1958)."""
    u, v = uniform(seed, 2 * place), uniform(seed, 2 * place + 1)
    return math.sqrt(-2 * math.log(1 - u)) * math.cos(2 * math.pi * v)
