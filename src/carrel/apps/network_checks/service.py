"""Check the network of a session: one check at a time; the last result is kept."""

from collections.abc import Sequence
from datetime import datetime, timedelta

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession

from carrel.apps.container_engines import ContainerEngines
from carrel.apps.denials import not_running, of_engine
from carrel.apps.network_checks import all_reduce
from carrel.apps.network_checks.all_reduce import Measurement, MessageTiming, Participant
from carrel.apps.network_checks.schemas import (
    MEASURED,
    NetworkCheck,
    NetworkCheckState,
    NetworkMessage,
    NetworkPath,
)
from carrel.core.clock import Clock
from carrel.core.errors import CarrelError, Conflict
from carrel.core.ids import SessionId
from carrel.db.database import Database
from carrel.engines.port import EngineError
from carrel.permissions.decide import Actor
from carrel.sessions import clusters, containers
from carrel.sessions import service as sessions
from carrel.tables.network_checks import NetworkCheckRow
from carrel.tables.session_states import ContainerState, SessionState
from carrel.tables.sessions import Container

_LEASE = timedelta(seconds=all_reduce.LIMIT_S + all_reduce.CLOSE_S + 2)


async def last(tx: AsyncSession, actor: Actor, ref: str, now: datetime) -> NetworkCheckState:
    """Raises: NotFound, Forbidden."""
    session = await sessions.find(tx, actor, ref)
    row = await tx.get(NetworkCheckRow, session.id)
    result = NetworkCheck.model_validate(row.result) if row and row.result else None
    return NetworkCheckState(running=bool(row and row.busy_until and row.busy_until > now), last=result)


async def check(
    database: Database,
    engines: ContainerEngines,
    clock: Clock,
    actor: Actor,
    ref: str,
    *,
    python: str | None = None,
) -> NetworkCheck:
    """Measure between the running containers of the session, or between the accelerators of its only one.
    python: the interpreter in the containers; None: `python3`.

    Raises: NotFound, Forbidden; Conflict with a code network.*, also kept as the result; Unavailable.
    """
    begin = clock.now()
    until = begin + _LEASE
    async with database.transaction() as tx:
        session = await sessions.find(tx, actor, ref, "session.exec")
        if session.state != SessionState.RUNNING:
            raise not_running(session)
        running = _participating(await containers.of(tx, session.id))
        if not (await tx.execute(_BEGIN, {"id": session.id, "now": begin, "until": until})).first():
            raise Conflict(
                "network.busy",
                f"The network of {session.name} is being measured.",
                hint="Wait for its end, at most a minute.",
            )
        sessions.note(tx, actor, "session.exec", session, details={"network": len(running)})
    result: NetworkCheck | None = None
    try:
        participants = [
            Participant(one.id, one.host, await engines.of(one.id), clusters.processes(one.slots))
            for one in running
        ]
        measured = await all_reduce.measure(participants, python=python)
        result = _view(measured, begin, clock.now())
        return result
    except (CarrelError, EngineError) as caught:
        error = of_engine(caught) if isinstance(caught, EngineError) else caught
        took_s = (clock.now() - begin).total_seconds()
        result = NetworkCheck(
            code=error.code, message=error.message, hint=error.hint, at=begin, took_s=took_s
        )
        raise error from caught
    finally:
        await _end(database, session.id, until, result)


def _participating(every: Sequence[Container]) -> list[Container]:
    """Raises: Conflict if there is nothing to measure between."""
    running = [one for one in every if one.state == ContainerState.RUNNING]
    if len(running) > 1 or any(clusters.processes(one.slots) > 1 for one in running):
        return running
    raise Conflict(
        "network.single",
        "The session has one running container with at most one whole accelerator: there is no network to measure.",
        hint="Create one with several containers: `carrel session create --cluster-size 2`.",
    )


async def _end(database: Database, session: SessionId, until: datetime, result: NetworkCheck | None) -> None:
    """Also after a cancellation, which has no result: that of the check before is kept."""
    content = result.model_dump_json() if result else None
    async with database.transaction() as tx:
        await tx.execute(_END, {"id": session, "until": until, "result": content})


_BEGIN = text("""
    INSERT INTO network_checks AS c (session_id, busy_until) VALUES (:id, :until)
    ON CONFLICT (session_id) DO UPDATE SET busy_until = excluded.busy_until
        WHERE c.busy_until IS NULL OR c.busy_until <= :now
    RETURNING 1
""")
_END = text("""
    UPDATE network_checks SET busy_until = NULL, result = coalesce(CAST(:result AS jsonb), result)
    WHERE session_id = :id AND busy_until = :until
""")


def _view(measured: Measurement, begin: datetime, end: datetime) -> NetworkCheck:
    names = _names(measured.hosts)
    return NetworkCheck(
        code=MEASURED,
        at=begin,
        took_s=(end - begin).total_seconds(),
        method=measured.method,
        lack=measured.lack,
        participants=len(names),
        latency_s=measured.messages[0].seconds / measured.messages[0].count,
        paths=[
            NetworkPath(
                sender=names[path.sender],
                receiver=names[path.receiver],
                transport=path.transport,
                interface=path.interface or None,
                detail=path.detail,
            )
            for path in measured.paths
            if max(path.sender, path.receiver) < len(names)
        ],
        messages=[_message(one, len(names)) for one in measured.messages],
    )


def _names(hosts: Sequence[str]) -> list[str]:
    """Of the participants: their host, with a number where several share it."""
    if len(set(hosts)) == len(hosts):
        return list(hosts)
    return [f"{host}:{hosts[:rank].count(host)}" for rank, host in enumerate(hosts)]


def _message(one: MessageTiming, participants: int) -> NetworkMessage:
    # A clock may be too coarse to see anything.
    seconds = max(one.seconds / one.count, 1e-9)
    speed = one.size_bytes / seconds
    return NetworkMessage(
        size_bytes=one.size_bytes,
        count=one.count,
        seconds=seconds,
        bytes_per_s=speed,
        bus_bytes_per_s=speed * 2 * (participants - 1) / participants,
    )
