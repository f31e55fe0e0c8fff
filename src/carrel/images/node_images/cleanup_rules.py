"""Which images a clean-up removes from nodes. Pure."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from carrel.core.ids import NodeId
from carrel.engines.port import LOCAL_IMAGES

LEAST_AGE = timedelta(hours=1)
"""What was used this recently stays however full the disk is."""


class KeptFor(StrEnum):
    """Why an image stays. FOREIGN: Carrel did not pull it. IN_USE: a container uses it. NEEDED: a session that has not
    ended, an open pull, an environment or Carrel itself needs it. REGISTERED: sessions start from it by name. RECENT:
    it was used more recently than the rule allows, or the disk has enough space.
    """

    FOREIGN = "foreign"
    IN_USE = "in_use"
    NEEDED = "needed"
    REGISTERED = "registered"
    RECENT = "recent"


@dataclass(frozen=True, slots=True)
class HeldImage:
    """used_at: when it was last used, or else pulled."""

    node: NodeId
    image_id: str
    names: frozenset[str]
    size_bytes: int
    used_at: datetime
    in_use: bool
    pulled: bool


@dataclass(frozen=True, slots=True)
class Needed:
    """names: of images that must stay. registered: of those that sessions start from by name."""

    names: frozenset[str]
    registered: frozenset[str]


def kept_for(image: HeldImage, needed: Needed) -> KeptFor | None:
    """Why it must stay, whatever its age; None: it may go."""
    if not image.pulled or any(name.startswith(LOCAL_IMAGES) for name in image.names):
        return KeptFor.FOREIGN
    if image.in_use:
        return KeptFor.IN_USE
    if image.names & needed.names:
        return KeptFor.NEEDED
    return KeptFor.REGISTERED if image.names & needed.registered else None


def unused(images: Iterable[HeldImage], before: datetime) -> list[HeldImage]:
    """Of images that may go, those not used since then, the least recently used first."""
    return sorted(
        (one for one in images if one.used_at <= before),
        key=lambda one: (one.used_at, one.node, one.image_id),
    )


def for_space(
    images: Collection[HeldImage], now: datetime, *, used_bytes: float, size_bytes: float, free_percent: int
) -> Sequence[HeldImage]:
    """Of images of one node that may go, the least recently used ones that would free enough of its disk."""
    missing = size_bytes * free_percent / 100 - (size_bytes - used_bytes)
    chosen = []
    for one in unused(images, now - LEAST_AGE):
        if missing <= 0:
            break
        chosen.append(one)
        missing -= one.size_bytes
    return chosen
