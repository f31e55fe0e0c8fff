"""Percentiles of histograms are those of the waiting times, within 5 %."""

from collections import Counter
from math import ceil, log

import pytest

from carrel.usage.waits import GROWTH, percentile


def histogram(waits: list[float]) -> dict[int, int]:
    """As `usage.days` computes it."""
    return Counter(0 if wait < 1 else ceil(log(wait) / log(GROWTH)) + 1 for wait in waits)


@pytest.mark.parametrize("share", [0.5, 0.9, 0.99])
def test_a_percentile_is_within_five_percent(share: float) -> None:
    waits = [1.07**number for number in range(200)]
    answer = percentile(histogram(waits), share)
    assert answer == pytest.approx(sorted(waits)[ceil(share * len(waits)) - 1], rel=0.05)


def test_short_waits_are_none_at_all_and_nothing_has_no_percentile() -> None:
    assert percentile(histogram([0, 0.4, 5000]), 0.5) == 0
    assert percentile({}, 0.5) is None
