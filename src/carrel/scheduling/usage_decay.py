"""Decay of past usage for the fair share.

Past usage is the mean over all time, with weight 2^(-age / half-life). Under constant usage it converges to that
usage, half way per half-life. Stepwise and single updates give the same value, so a simulated past agrees with one
summed from the ledger.
"""

from collections.abc import Mapping
from datetime import timedelta


def moved_on(
    past: Mapping[str, float], held: Mapping[str, float], elapsed: timedelta, half_life: timedelta
) -> dict[str, float]:
    """Past usage after the given time. held: constant usage in between."""
    kept = 0.5 ** (elapsed / half_life)
    return {
        slot: past.get(slot, 0.0) * kept + held.get(slot, 0.0) * (1 - kept)
        for slot in past.keys() | held.keys()
    }
