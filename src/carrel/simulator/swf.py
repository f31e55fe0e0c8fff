"""The Standard Workload Format, used by published logs of large machines.

Source: D. Feitelson, "The Standard Workload Format", version 2.2. A line is a job of 18 numbers, -1 for unknown; lines
that begin with ; are the header. An SWF user maps to a user, a group to a project, a processor to a core.
"""

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime, timedelta

from carrel.core.ids import SessionId
from carrel.scheduling.snapshot import ClusterMode
from carrel.simulator.traces import TraceEntry, unreadable

DOMAIN = "swf"
_EPOCH = datetime(2000, 1, 1, tzinfo=UTC)
_CORE = 1000
_KIB = 1024
_FIELDS = 18
_JOB, _SUBMIT, _RUN, _ALLOCATED, _MEM_USED, _REQUESTED, _LIMIT, _MEM_ASKED, _STATUS, _USER, _GROUP = (
    0,
    1,
    3,
    4,
    6,
    7,
    8,
    9,
    10,
    11,
    12,
)
_PARTS = (2, 3, 4)
"""Status codes of the partial runs of an interrupted job. The whole job has a line of its own."""


def read_swf(lines: Iterable[str], *, container_cores: int | None = None) -> Iterator[TraceEntry]:
    """The jobs that ran, in file order.

    container_cores: jobs with more cores are split into containers of this size, which may be on different nodes,
    rounded up. None: each job is one container, and must fit on one node.
    Raises: Invalid, naming the line.
    """
    start = _EPOCH
    seen: set[SessionId] = set()
    for number, text in enumerate(lines, start=1):
        if text.lstrip().startswith(";"):
            try:
                start = _start(text) or start
            except (ValueError, OverflowError, OSError):
                raise unreadable(number, "has a start that is no time") from None
            continue
        if not text.strip():
            continue
        try:
            job = [float(field) for field in text.split()]
        except ValueError:
            raise unreadable(number, "is no JSON object, and has something that is no number") from None
        if len(job) < _FIELDS:
            raise unreadable(number, f"has {len(job)} of {_FIELDS} numbers")
        try:
            cores = int(job[_ALLOCATED] if job[_ALLOCATED] > 0 else job[_REQUESTED])
            if cores <= 0 or job[_RUN] < 0 or job[_STATUS] in _PARTS:
                continue
            one = _arrival(job, start, cores, container_cores)
        except (ValueError, OverflowError):
            raise unreadable(number, "has a number that is too large, or none") from None
        if one.id in seen:
            raise unreadable(number, f"has the number {one.id} of an earlier job")
        seen.add(one.id)
        yield one


def _start(header: str) -> datetime | None:
    name, _, value = header.lstrip("; ").partition(":")
    if name.strip() != "UnixStartTime" or not value.strip().isdigit():
        return None
    return datetime.fromtimestamp(int(value), UTC)


def _arrival(job: list[float], start: datetime, cores: int, container_cores: int | None) -> TraceEntry:
    each = min(cores, container_cores or cores)
    mem_kib = job[_MEM_ASKED] if job[_MEM_ASKED] > 0 else max(job[_MEM_USED], 0)
    slots = {"cpu": each * _CORE}
    if mem_kib:
        slots["mem"] = int(mem_kib * _KIB) * each
    user, group = (f"{kind}{int(job[field])}" for kind, field in (("user", _USER), ("group", _GROUP)))
    return TraceEntry(
        id=SessionId(f"{int(job[_JOB])}"),
        at=start + timedelta(seconds=job[_SUBMIT]),
        runs=timedelta(seconds=job[_RUN]),
        slots=slots,
        path=(DOMAIN, group, user),
        count=-(-cores // each),
        mode=ClusterMode.SINGLE_NODE if each == cores else ClusterMode.MULTI_NODE,
        limit=timedelta(seconds=job[_LIMIT]) if job[_LIMIT] > 0 else None,
    )
