"""Containers that are no session's: they live for a moment, to check something on an engine.

Their ids have the time at which they were requested, so that those of an interrupted check are removed as orphans.
"""

from datetime import datetime, timedelta

from carrel.core.ids import new_id

_PREFIX = "probe"
LIFETIME = timedelta(minutes=5)


def probe_id(now: datetime) -> str:
    """A new id, valid for LIFETIME."""
    return f"{_PREFIX}-{int(now.timestamp())}-{new_id()}"


def is_current(id_: str, now: datetime, lifetime: timedelta = LIFETIME) -> bool:
    """True for the id of a probe that may be in use. lifetime: of others than containers."""
    prefix, _, rest = id_.partition("-")
    seconds = rest.partition("-")[0]
    if prefix != _PREFIX or not seconds.isdigit():
        return False
    return now - datetime.fromtimestamp(int(seconds), now.tzinfo) < lifetime
