"""Percentiles of waiting times from histograms that can be added up. Pure.

Bucket 0 is less than a second; bucket n reaches up to GROWTH ** (n - 1) seconds, so a percentile is off by at most 5 %.
"""

from collections.abc import Mapping
from math import ceil

GROWTH = 1.1


def percentile(histogram: Mapping[int, int], share: float) -> float | None:
    """The waiting time, in seconds, that this share of sessions did not exceed. histogram: bucket -> number."""
    total = sum(histogram.values())
    rank = max(1, ceil(share * total))
    for number in sorted(histogram):
        rank -= histogram[number]
        if rank <= 0:
            return 0.0 if number == 0 else GROWTH ** (number - 1.5)
    return None
