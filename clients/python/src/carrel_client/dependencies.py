"""Dependencies of a session as people write them."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from carrel_client import models

_CONDITIONS: tuple[models.DependencyCondition, ...] = ("succeeded", "failed", "ended")


def parse_dependency(text: str) -> models.DependencyRequest:
    """ID[:CONDITION], such as "prepare-data" or "k3f:failed"; by default it must succeed. Raises: ValueError."""
    session, given, word = text.partition(":")
    condition = next((one for one in _CONDITIONS if one == word), "succeeded" if not given else None)
    if not session or condition is None:
        raise ValueError(f"{text!r} is not ID[:succeeded|failed|ended], as prepare-data or k3f:ended")
    return {"session": session, "condition": condition}
