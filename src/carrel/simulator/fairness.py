"""Fairness of a distribution over its claimants."""

from collections.abc import Iterable


def jain(values: Iterable[float]) -> float:
    """Jain's index: 1 when all shares are equal, 1/n when one of n has everything. No claimants, or a total of 0: 1.

    Source: R. Jain, D. Chiu, W. Hawe, "A Quantitative Measure of Fairness", DEC-TR-301, 1984.
    """
    known = list(values)
    squares = sum(value * value for value in known)
    return sum(known) ** 2 / (len(known) * squares) if squares else 1.0
