"""The decayed past of the fair share, moved on in time.

The past of somebody is the mean of what they have held over all time, each moment weighed by 2^(-age / half-life).
While they hold the same, it moves towards that: after one half-life it is half way there. Moved on in steps or at
once it comes to the same, so a simulated past and one that is summed from the ledger agree.
"""

from collections.abc import Mapping
from datetime import timedelta


def moved_on(
    past: Mapping[str, float], held: Mapping[str, float], elapsed: timedelta, half_life: timedelta
) -> dict[str, float]:
    """The past so much later. held: slots, all the time in between."""
    kept = 0.5 ** (elapsed / half_life)
    return {
        slot: past.get(slot, 0.0) * kept + held.get(slot, 0.0) * (1 - kept)
        for slot in past.keys() | held.keys()
    }
