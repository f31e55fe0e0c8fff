"""Which of the CVSS scores of a vulnerability counts."""

import re
from collections.abc import Iterable
from dataclasses import dataclass

HIGHEST = 10.0
_VERSION = re.compile(r"CVSS:(\d\.\d)/")
_METHODS = {"3.0": "CVSSv3", "3.1": "CVSSv31", "4.0": "CVSSv4"}
_NVD = "nvd"


@dataclass(frozen=True, slots=True)
class CvssRating:
    """source: who rated, in lower case; "": unknown."""

    source: str
    score: float
    vector: str


def decisive(ratings: Iterable[CvssRating], source: str) -> CvssRating | None:
    """Of the newest version of CVSS, that of the source of the severity, else that of the NVD, else the highest."""
    return max(
        ratings,
        key=lambda one: (_version(one.vector), one.source == source, one.source == _NVD, one.score),
        default=None,
    )


def method(vector: str) -> str:
    """The version of CVSS as CycloneDX writes it."""
    return _METHODS.get(_version(vector), "CVSSv2")


def _version(vector: str) -> str:
    match = _VERSION.match(vector)
    return match[1] if match else "2.0"
