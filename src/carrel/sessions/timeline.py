"""The steps of a session's last start, each with its recorded times."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import exists, select
from sqlalchemy.ext.asyncio import AsyncSession

from carrel.core.ids import SessionId
from carrel.sessions import containers
from carrel.sessions.schemas import SessionTimeline, StartStep, StepView
from carrel.tables.apps import AppStart
from carrel.tables.folders import FolderMount
from carrel.tables.session_states import LIFECYCLE, SessionState
from carrel.tables.sessions import Container, HistoryEntry

_AGAIN = {
    (SessionState.TERMINATING, SessionState.SCHEDULED),
    (SessionState.RUNNING, SessionState.STARTING),
}
"""Transitions with which a session that has run begins to start again, besides those to PENDING."""


async def of_session(tx: AsyncSession, session: SessionId) -> SessionTimeline:
    """The steps of its last start, in the order in which they begin; those of each container together."""
    entries = await tx.execute(
        select(HistoryEntry).where(HistoryEntry.session_id == session).order_by(HistoryEntry.id)
    )
    apps = await tx.execute(
        select(AppStart).where(AppStart.session_id == session).order_by(AppStart.opened_at, AppStart.app)
    )
    folders = await tx.execute(select(exists().where(FolderMount.session_id == session)))
    return timeline(
        entries.scalars().all(),
        await containers.of(tx, session),
        apps.scalars().all(),
        folders=folders.scalar_one(),
    )


def timeline(
    entries: Sequence[HistoryEntry],
    members: Sequence[Container],
    apps: Sequence[AppStart],
    *,
    folders: bool,
) -> SessionTimeline:
    """entries: the history, oldest first. folders: whether it mounts any."""
    moves = [one for one in entries if one.from_state != one.to_state]
    starts = [index for index, one in enumerate(moves) if _begins(one)]
    last = moves[starts[-1] :]
    begins_at = last[0].at
    reached = {one.to_state: one.at for one in reversed(last)}
    ready_at = reached.get(SessionState.RUNNING)
    stopped = (one.at for one in last if one.to_state in (SessionState.TERMINATING, *LIFECYCLE.final))
    moments = [_Moments.of(one, begins_at) for one in members]
    if len(moments) == 1 and moments[0].image_at is None:
        # The state of a session of one container is that of the container.
        moments[0].image_at = reached.get(SessionState.STARTING)
    steps: list[StepView] = []
    if last[0].to_state == SessionState.PENDING:
        steps.append(_step(StartStep.QUEUE, begins_at, reached.get(SessionState.SCHEDULED)))
    launched = reached.get(SessionState.PREPARING)
    if launched is None and last[0].to_state == SessionState.STARTING:
        launched = begins_at
    if launched:
        steps += _launch(moments, launched, ready_at, folders=folders)
    steps += [
        _step(StartStep.APP, one.opened_at, one.ready_at, app=one.app)
        for one in apps
        if ready_at and one.ready_at >= ready_at
    ]
    return SessionTimeline(
        number=len(starts),
        begins_at=begins_at,
        ready_at=ready_at,
        stopped_at=None if ready_at else next(stopped, None),
        steps=steps,
    )


def _begins(move: HistoryEntry) -> bool:
    return move.to_state == SessionState.PENDING or (move.from_state, move.to_state) in _AGAIN


@dataclass(slots=True)
class _Moments:
    """What is recorded of a container in a start."""

    name: str
    mounted_at: datetime | None
    image_at: datetime | None
    launched_at: datetime | None

    @classmethod
    def of(cls, container: Container, since: datetime) -> "_Moments":
        moments = (container.mounted_at, container.image_at, container.launched_at)
        return cls(container.name, *(one if one and one >= since else None for one in moments))


def _launch(
    moments: Sequence[_Moments], launched: datetime, ready_at: datetime | None, *, folders: bool
) -> Iterator[StepView]:
    """The steps from the queue until the session runs."""
    began: datetime | None = launched
    if folders:
        mounted = [one.mounted_at for one in moments if one.mounted_at]
        if mounted or not any(one.image_at for one in moments):
            began = min(mounted, default=None)
            yield _step(StartStep.MOUNTS, launched, began)
    for one in moments:
        if began:
            yield _step(StartStep.IMAGE, began, one.image_at, container=one.name)
        if one.image_at:
            yield _step(StartStep.CONTAINER, one.image_at, one.launched_at or ready_at, container=one.name)
    up = [one.launched_at for one in moments if one.launched_at]
    if len(moments) > 1 and len(up) == len(moments):
        yield _step(StartStep.BARRIER, max(up), ready_at)


def _step(
    step: StartStep,
    begins_at: datetime,
    ends_at: datetime | None,
    *,
    container: str | None = None,
    app: str | None = None,
) -> StepView:
    return StepView(step=step, container=container, app=app, begins_at=begins_at, ends_at=ends_at)
