"""Traces: requested sessions with arrival, owner and duration. One JSON object per line, in order of arrival."""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from carrel.core.errors import Invalid
from carrel.core.ids import DEFAULT_GROUP, GroupId, SessionId
from carrel.core.units import Slots, parse_slots
from carrel.scheduling.snapshot import DEFAULT_PRIORITY, ClusterMode

Path = tuple[str, str, str]


@dataclass(frozen=True, slots=True)
class TraceEntry:
    """A requested session. slots: of each of its `count` containers. path: (domain, project, user). alternatives: other
    groups that it accepts, in order of preference.

    runs: how long it holds its slots. limit: its time limit.
    """

    id: SessionId
    at: datetime
    runs: timedelta
    slots: Slots
    path: Path = ("default", "default", "default")
    group: GroupId = DEFAULT_GROUP
    priority: int = DEFAULT_PRIORITY
    count: int = 1
    mode: ClusterMode = ClusterMode.SINGLE_NODE
    limit: timedelta | None = None
    alternatives: tuple[GroupId, ...] = ()


def line(one: TraceEntry) -> str:
    """A line of a trace, without line end. Default values are omitted."""
    domain, project, user = one.path
    written: dict[str, object] = {
        "id": one.id,
        "at": one.at.astimezone(UTC).isoformat().replace("+00:00", "Z"),
        "runs_s": round(one.runs.total_seconds(), 3),
        "slots": dict(one.slots),
        "domain": domain,
        "project": project,
        "user": user,
        "group": one.group,
    }
    if one.alternatives:
        written["alternative_groups"] = list(one.alternatives)
    if one.priority != DEFAULT_PRIORITY:
        written["priority"] = one.priority
    if one.count != 1:
        written |= {"containers": one.count, "mode": one.mode.value}
    if one.limit is not None:
        written["limit_s"] = round(one.limit.total_seconds(), 3)
    return json.dumps(written)


def read(lines: Iterable[str]) -> Iterator[TraceEntry]:
    """The entries, in file order. Empty lines are skipped. Raises: Invalid, naming the line."""
    seen: set[str] = set()
    for number, text in enumerate(lines, start=1):
        if not text.strip():
            continue
        try:
            one = _arrival(json.loads(text), number)
        except KeyError as missing:
            raise unreadable(number, f"has no {missing.args[0]}") from None
        except (ValueError, TypeError, AttributeError, OverflowError) as wrong:
            raise unreadable(number, f"cannot be read: {wrong}") from None
        if one.id in seen:
            raise unreadable(number, f"has the id {one.id!r} of an earlier one")
        seen.add(one.id)
        yield one


def unreadable(number: int, what: str) -> Invalid:
    """The error for an invalid line. what: such as "has no at"."""
    return Invalid(
        "trace.unreadable",
        f"Line {number} of the trace {what}.",
        hint='What a line holds is described under "What if" in the documentation.',
        field="trace",
    )


def _arrival(record: Mapping[str, Any], number: int) -> TraceEntry:
    at = datetime.fromisoformat(record["at"])
    runs_s, limit_s, count = float(record["runs_s"]), record.get("limit_s"), int(record.get("containers", 1))
    if runs_s < 0 or count < 1 or (limit_s is not None and float(limit_s) <= 0):
        raise ValueError("a duration or a number of containers is too small")
    if not isinstance(record["slots"], dict):
        raise ValueError("its slots are no object")
    if not isinstance(alternatives := record.get("alternative_groups", []), list):
        raise ValueError("its alternative groups are no list")
    priority = int(record.get("priority", DEFAULT_PRIORITY))
    if not 0 <= priority <= 100:
        raise ValueError(f"{priority} is no priority from 0 to 100")
    return TraceEntry(
        id=SessionId(str(record.get("id", number))),
        at=at if at.tzinfo else at.replace(tzinfo=UTC),
        runs=timedelta(seconds=runs_s),
        slots=parse_slots(record["slots"]),
        path=tuple(str(record.get(part, "default")) for part in ("domain", "project", "user")),  # type: ignore[arg-type]
        group=GroupId(str(record.get("group", DEFAULT_GROUP))),
        priority=priority,
        count=count,
        mode=ClusterMode(record.get("mode", ClusterMode.SINGLE_NODE)),
        limit=None if limit_s is None else timedelta(seconds=float(limit_s)),
        alternatives=tuple([GroupId(str(group)) for group in alternatives]),
    )
