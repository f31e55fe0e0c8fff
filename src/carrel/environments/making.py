"""Versions in the making: requested in the API, made and removed by the leader, with progress."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from sqlalchemy import delete, exists, or_, select, text
from sqlalchemy.ext.asyncio import AsyncSession

from carrel.db.database import notify
from carrel.engines.optional import CommittedImage
from carrel.engines.port import Progress
from carrel.environments import environment_events as recipients
from carrel.environments import quota
from carrel.tables.environments import (
    OPEN,
    TOPIC,
    Environment,
    EnvironmentShare,
    EnvironmentVersion,
    VersionState,
)
from carrel.tables.pushes import EnvironmentPush

_PRESENT = text("""
    UPDATE nodes SET images = images || to_jsonb(CAST(:reference AS text))
    WHERE id = :node AND NOT images @> to_jsonb(CAST(:reference AS text))
""")


async def to_do(tx: AsyncSession) -> list[EnvironmentVersion]:
    """Versions that are to be saved from sessions, or removed once no push needs them, oldest first."""
    pushed = exists().where(
        EnvironmentPush.version_id == EnvironmentVersion.id, EnvironmentPush.ended_at.is_(None)
    )
    unused = (EnvironmentVersion.state == VersionState.REMOVING) & ~pushed
    saved = EnvironmentVersion.recipe.is_(None) & (EnvironmentVersion.state != VersionState.REMOVING)
    statement = select(EnvironmentVersion).where(EnvironmentVersion.state.in_(OPEN), or_(saved, unused))
    return list(
        (await tx.execute(statement.order_by(EnvironmentVersion.created_at, EnvironmentVersion.id))).scalars()
    )


async def kept(tx: AsyncSession) -> set[str]:
    """The versions that have an image, or may have something of one."""
    states = (*OPEN, VersionState.READY)
    return set(
        (
            await tx.execute(select(EnvironmentVersion.id).where(EnvironmentVersion.state.in_(states)))
        ).scalars()
    )


async def begin(tx: AsyncSession, version: str) -> EnvironmentVersion | None:
    """The version, now in the making; None if it is no longer to be made."""
    row = await _locked(tx, version)
    if row is None or row.state not in (VersionState.WAITING, VersionState.RUNNING):
        return None
    row.state, row.progress = VersionState.RUNNING, None
    await _flush(tx, row)
    return row


async def advanced(tx: AsyncSession, version: str, progress: Progress | None) -> bool:
    """Record the progress. True if it is no longer to be made."""
    row = await _locked(tx, version)
    if row is None or row.state != VersionState.RUNNING or row.cancel:
        return True
    shown = {"phase": progress.phase, "fraction": progress.fraction} if progress else None
    if shown != row.progress:
        row.progress, row.problem = shown, None
        await _flush(tx, row)
    return False


async def hindered(tx: AsyncSession, version: str, problem: str) -> None:
    """Record why it is blocked; it is tried again."""
    row = await _locked(tx, version)
    if row is not None and row.state in OPEN and row.problem != problem:
        row.problem = problem
        await _flush(tx, row)


async def made(tx: AsyncSession, version: str, image: CommittedImage, now: datetime) -> bool:
    """Complete the version. False if it is no longer needed, so that its image is to be removed.

    Raises: Refused if that exceeds the quota.
    """
    row = await _locked(tx, version)
    if row is None or row.state != VersionState.RUNNING or row.cancel:
        return False
    environment = await tx.get_one(Environment, row.environment_id)
    await quota.require_room(
        tx,
        owner=environment.owner_id,
        project=environment.project_id,
        added_bytes=image.added_bytes,
    )
    row.architecture, row.size_bytes, row.added_bytes = (
        image.image.architecture,
        image.image.size_bytes,
        image.added_bytes,
    )
    if row.node_id:
        # The engine reports its images only now and then.
        await tx.execute(_PRESENT, {"node": row.node_id, "reference": row.reference})
    await _end(tx, row, VersionState.READY, None, now)
    return True


async def not_made(
    tx: AsyncSession, version: str, state: VersionState, problem: str | None, now: datetime
) -> None:
    """Record that it failed, or was cancelled."""
    row = await _locked(tx, version)
    if row is not None and row.state in (VersionState.WAITING, VersionState.RUNNING):
        await _end(tx, row, state, problem, now)


async def removed(tx: AsyncSession, version: str) -> None:
    """Delete the row of a version whose image is gone, and with the last one that of a deleted environment."""
    row = await _locked(tx, version)
    if row is None or row.state != VersionState.REMOVING:
        return
    environment = await tx.get_one(Environment, row.environment_id, with_for_update=True)
    await tx.delete(row)
    await tx.flush()
    await recipients.changed(tx, "environment.updated", environment)
    others = select(EnvironmentVersion.id).where(EnvironmentVersion.environment_id == environment.id).limit(1)
    if environment.removed_at is not None and (await tx.execute(others)).first() is None:
        await tx.execute(delete(EnvironmentShare).where(EnvironmentShare.environment_id == environment.id))
        await tx.delete(environment)
        await tx.flush()


async def wake(tx: AsyncSession) -> None:
    """Have the leader look for work after the commit."""
    await notify(tx, TOPIC)


async def _end(
    tx: AsyncSession, row: EnvironmentVersion, state: VersionState, problem: str | None, now: datetime
) -> None:
    row.state, row.problem, row.progress, row.ended_at = state, problem, None, now
    await _flush(tx, row)


async def _flush(tx: AsyncSession, row: EnvironmentVersion) -> None:
    await tx.flush()
    environment = await tx.get_one(Environment, row.environment_id)
    await recipients.changed(tx, "environment.updated", environment, version=_data(row))


def _data(row: EnvironmentVersion) -> Mapping[str, Any]:
    return {"id": row.id, "name": row.name, "state": row.state, "progress": row.progress}


async def _locked(tx: AsyncSession, version: str) -> EnvironmentVersion | None:
    statement = select(EnvironmentVersion).where(EnvironmentVersion.id == version).with_for_update()
    return (await tx.execute(statement.execution_options(populate_existing=True))).scalar()
