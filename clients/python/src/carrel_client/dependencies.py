"""Dependencies of a session as people write them."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from carrel_client import models

_CONDITIONS: tuple[models.DependencyCondition, ...] = ("succeeded", "failed", "ended")
_ARRAY = "array"


def parse_dependency(text: str) -> models.DependencyRequest:
    """[array:]ID[:CONDITION], such as "prepare-data", "k3f:failed" or "array:sweep-1"; by default it must succeed.

    Raises: ValueError.
    """
    parts = text.split(":")
    condition = next((one for one in _CONDITIONS if one == parts[-1]), None) if len(parts) > 1 else None
    reference = parts[:-1] if condition else parts
    array = len(reference) > 1 and reference[0] == _ARRAY
    [session, *rest] = reference[1:] if array else reference
    if rest or not session:
        raise ValueError(
            f"{text!r} is not ID[:succeeded|failed|ended] or array:ID[:...], as prepare-data or k3f:ended"
        )
    request: models.DependencyRequest = {"session": session, "condition": condition or "succeeded"}
    return {**request, "array": True} if array else request
