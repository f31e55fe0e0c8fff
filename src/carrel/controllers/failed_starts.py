"""Starts that fail or must wait: try again later, requeue the session, or end it."""

import asyncio
from collections.abc import Sequence
from datetime import timedelta

import structlog

from carrel.controllers.active_tasks import side_by_side
from carrel.controllers.container_specs import PlacedContainer
from carrel.controllers.loop import Tools
from carrel.core.ids import ContainerId, NodeId
from carrel.engines import barrier
from carrel.engines.port import CommandBegun, EngineError, MachineAwaited, ObservedState, QuotaExhausted
from carrel.nodes.engines.connections import REMOVAL_S, in_time
from carrel.sessions import containers, machines, queries, removal, transitions, updates
from carrel.sessions.transitions import NO_MOUNT, NO_QUOTA, NO_STORAGE
from carrel.tables.session_states import LAUNCHING, Result, SessionKind, SessionState
from carrel.tables.sessions import Session

log = structlog.get_logger()

MAX_ATTEMPTS = 4
ENGINE_PAUSE_S = 2.0
_RETRY = "retry"
_STORAGE_PAUSE_S = 30
_LONGEST_PAUSE_S = 300.0
_MACHINE_PAUSE_S = 60.0


class FailedStart(Exception):
    """The engine failed to start one of the containers."""

    def __init__(self, member: PlacedContainer, error: EngineError) -> None:
        super().__init__(error.message)
        self.member = member
        self.error = error


class FailedStarts:
    """What becomes of a session that cannot start now."""

    def __init__(self, tools: Tools) -> None:
        self._tools = tools

    async def wait_for_storage(
        self, session: Session, members: Sequence[PlacedContainer], reason: str
    ) -> None:
        """Requeue it; one that has run before waits where it is."""
        log.warning("launch.no_storage", session=session.id, error=reason)
        if session.started_at:
            # It has local files on its node, so it waits there until the storage is back.
            async with self._tools.transaction() as tx:
                await transitions.renew_deadline(tx, session.id, session.state, now=self._tools.clock.now())
            await self.try_later(session, reason)
        else:
            pause = timedelta(seconds=min(2 ** await self._failed(session, NO_STORAGE), _STORAGE_PAUSE_S))
            await self._take_back(session, members, cause=NO_STORAGE, reason=reason, pause=pause)

    async def miss_folder(self, session: Session, members: Sequence[PlacedContainer], reason: str) -> None:
        """Retry a few times, in case the storage host turns out to be unavailable; then fail."""
        log.warning("launch.no_folder", session=session.id, error=reason)
        if session.started_at:
            await self.try_later(session, reason)
        elif await self._failed(session, NO_MOUNT) + 1 >= MAX_ATTEMPTS:
            await self.end(session, cause=NO_MOUNT, reason=reason)
        else:
            await self._take_back(
                session, members, cause=NO_MOUNT, reason=reason, pause=timedelta(seconds=_STORAGE_PAUSE_S)
            )

    async def send_back(
        self, session: Session, members: Sequence[PlacedContainer], displaced: PlacedContainer
    ) -> None:
        """Remove it from its nodes and requeue it, or end it if its command may have run."""
        if may_have_run(session, members) or (
            # Its machine may have come just now.
            session.state != SessionState.SCHEDULED and await self._has_run(session, members)
        ):
            reason = f"Its node {displaced.node.name} was lost during the start; its command may have run."
            await self.end(session, cause="node_lost", reason=reason, failed_run=True)
            return
        reason = f"Its node {displaced.node.name} is lost or drained before the session ran there."
        if displaced.node.elastic is not None:
            reason = "Its elastic group was changed before the session ran."
        await self._take_back(
            session, members, cause="node_closed", reason=reason, blamed=displaced.row.node_id
        )

    async def wait_for_machine(
        self, session: Session, members: Sequence[PlacedContainer], waiting: Sequence[FailedStart]
    ) -> None:
        """Leave it to the cluster, until the bound of the elastic group has passed."""
        now, first = self._tools.clock.now(), waiting[0]
        since = min(one.member.row.machine_due_at or now for one in waiting)
        if now - since >= first.member.node.wait:
            message = machines.none_added(first.member.node.wait, first.error.message)
            error = MachineAwaited(message)
            await self.give_up(session, members, FailedStart(first.member, error), pause_s=_MACHINE_PAUSE_S)
            return
        async with self._tools.transaction() as tx:
            await containers.await_machine(tx, [one.member.row.id for one in waiting], now)
            await transitions.renew_deadline(tx, session.id, session.state, now=now)
            reason = machines.awaited(await machines.last_waits(tx, session.group_id), first.error.message)
        await self.try_later(session, reason)

    async def try_later(self, session: Session, reason: str) -> None:
        """The session keeps its state, placement and files; the next step retries until the deadline."""
        async with self._tools.transaction() as tx:
            await updates.show_progress(tx, session.id, LAUNCHING, progress=None, reason=reason)
        await asyncio.sleep(ENGINE_PAUSE_S)

    async def give_up(
        self,
        session: Session,
        members: Sequence[PlacedContainer],
        start: FailedStart,
        *,
        pause_s: float = 1.0,
    ) -> None:
        """Clean up and requeue, or fail the session. pause_s: after the first attempt."""
        error = start.error
        # A quota may be free when other sessions have ended, so that has no last attempt.
        cause = NO_QUOTA if isinstance(error, QuotaExhausted) else _RETRY
        failed = await self._failed(session, cause)
        log.warning(
            "launch.refused",
            session=session.id,
            container=start.member.row.id,
            code=error.code,
            attempt=failed + 1,
        )
        if isinstance(error, CommandBegun):
            await self.end(session, cause=error.code, reason=error.message, failed_run=True)
            return
        last = not error.retriable or (cause == _RETRY and failed + 1 >= MAX_ATTEMPTS)
        if last or await self._has_run(session, members):
            await self.end(session, cause=error.code, reason=error.message)
            return
        pause = timedelta(seconds=min(pause_s * 2**failed, _LONGEST_PAUSE_S))
        await self._take_back(
            session, members, cause=cause, reason=error.message, pause=pause, blamed=start.member.row.node_id
        )

    async def _has_run(self, session: Session, members: Sequence[PlacedContainer]) -> bool:
        """True if a command that must not run twice was started in spite of the error; if not, none will be."""
        if session.kind != SessionKind.BATCH:
            return False
        of_row = {one.row.id: one for one in members}
        for engine in {one.engine for one in members}:
            listed = await in_time((await self._tools.engines.of(engine)).list())
            there = [one for one in listed if one.id in of_row and one.started_at]
            if len(members) == 1 or any(one.state is ObservedState.EXITED for one in there):
                return bool(there)
            for one in there:
                if not await self._close_barrier(of_row[ContainerId(one.id)]):
                    return True
        return False

    async def _close_barrier(self, member: PlacedContainer) -> bool:
        """True if its command has not begun, and never will. Raises: EngineError."""

        async def close() -> bool:
            engine = await self._tools.engines.of(member.engine)
            async with engine.exec(member.row.id, barrier.CLOSE, env={}, terminal=None) as process:
                async for _ in process.output():
                    pass
                return await process.exit_code() == 0

        return await in_time(close())

    async def _failed(self, session: Session, cause: str) -> int:
        """Number of earlier failed starts with this cause. A drained or lost node does not count."""
        async with self._tools.database.transaction() as tx:
            return await queries.failed_starts(tx, session.id, cause)

    async def end(self, session: Session, *, cause: str, reason: str, failed_run: bool = False) -> None:
        """failed_run: it is repeated if retries are left."""
        again = failed_run and session.retries_left
        async with self._tools.transaction() as tx:
            await transitions.move(
                tx,
                [session.id],
                SessionState.TERMINATING,
                sources=sorted(LAUNCHING),
                outcome=SessionState.PENDING if again else SessionState.ERROR,
                result=Result.FAILURE if failed_run else None,
                cause=cause,
                reason=reason,
                now=self._tools.clock.now(),
            )

    async def _take_back(
        self,
        session: Session,
        members: Sequence[PlacedContainer],
        *,
        cause: str,
        reason: str,
        pause: timedelta | None = None,
        blamed: NodeId | None = None,
    ) -> None:
        tools = self._tools
        await tools.confirm()
        await side_by_side([self._remove(one) for one in members if one.node.engine])
        async with tools.transaction() as tx:
            now = tools.clock.now()
            not_before = now + pause if pause else None
            await removal.requeue(
                tx, session.id, cause=cause, reason=reason, now=now, not_before=not_before, blamed=blamed
            )

    async def _remove(self, member: PlacedContainer) -> None:
        engine = await self._tools.engines.of(member.engine)
        await in_time(engine.remove(member.row.id, grace_s=0), REMOVAL_S)


def may_have_run(session: Session, members: Sequence[PlacedContainer]) -> bool:
    """True if a command that must not run twice may have been started: not while it waits for machines."""
    left = [one.row for one in members if one.node.elastic is not None]
    waits = bool(left) and all(one.machine_due_at and not one.machine_at for one in left)
    return session.kind == SessionKind.BATCH and session.state != SessionState.SCHEDULED and not waits
