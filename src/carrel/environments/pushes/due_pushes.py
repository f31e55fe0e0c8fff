"""What the leader reads and writes of pushes."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import func, select
from sqlalchemy.ext.asyncio import AsyncSession

from carrel.core.errors import Forbidden
from carrel.core.ids import EngineId, PushId
from carrel.db.database import notify
from carrel.db.encryption import SecretBox
from carrel.engines.port import EngineError, EngineUnavailable, PullCredentials
from carrel.engines.references import repository_of
from carrel.environments import environment_events as recipients
from carrel.environments.pushes import push_targets
from carrel.images import availability
from carrel.images.registries import ecr_tokens, registry_credentials
from carrel.images.registries.pulls import note_private
from carrel.tables.environments import Environment, EnvironmentVersion, VersionState
from carrel.tables.pushes import PUSHES_TOPIC, EnvironmentPush, PushState
from carrel.tables.registries import ImageRegistry

ATTEMPTS = 6
_FIRST_PAUSE, _LONGEST_PAUSE = timedelta(seconds=5), timedelta(minutes=5)
_STEP = 0.01
"""The least progress that is stored."""


@dataclass(frozen=True)
class DuePush:
    """An open push. image: its reference on the engine. unneeded: it is to be cancelled."""

    id: PushId
    image: str
    engine: EngineId
    reference: str
    due_at: datetime
    unneeded: bool


async def due(tx: AsyncSession) -> Sequence[DuePush]:
    """The open pushes: the oldest of each requester, then the second of each, and so on."""
    order = EnvironmentPush.created_at, EnvironmentPush.id
    turn = func.row_number().over(partition_by=EnvironmentPush.requested_by, order_by=order)
    rows = await tx.execute(
        select(EnvironmentPush, EnvironmentVersion)
        .join(EnvironmentVersion, EnvironmentVersion.id == EnvironmentPush.version_id)
        .where(EnvironmentPush.ended_at.is_(None))
        .order_by(turn, *order)
    )
    return [
        DuePush(
            push.id,
            version.reference,
            version.engine_id,
            push.reference,
            push.due_at,
            push.cancel or version.state != VersionState.READY,
        )
        for push, version in rows
    ]


async def begin(tx: AsyncSession, push: PushId, now: datetime) -> bool:
    """Note that it runs, also again after a crash; False: it has ended or is to be cancelled.

    Raises: EngineError if it was interrupted too often.
    """
    row = await _open(tx, push)
    if row is None or row.cancel:
        return False
    if row.attempts >= ATTEMPTS:
        message = f"It was begun {ATTEMPTS} times, and did not end."
        raise EngineError(message, retriable=False, code="push_failed")
    row.state, row.started_at, row.progress = PushState.RUNNING, row.started_at or now, None
    row.attempts += 1
    await _flush(tx, row)
    return True


async def credentials(tx: AsyncSession, seal: SecretBox, push: PushId) -> PullCredentials | None:
    """What the engine signs in with; what it pushes is noted as private where it is.

    Raises: Forbidden if it is not permitted any more; EngineError without a registry or its password.
    """
    row = await tx.get_one(EnvironmentPush, push)
    registry = await tx.get(ImageRegistry, row.registry_id) if row.registry_id else None
    if registry is None:
        raise EngineError("The registry was removed.", retriable=False, code="push_denied")
    await _require_permitted(tx, row, registry)
    username, secret = registry_credentials.credentials(seal, registry)
    if not secret and ecr_tokens.is_renewed(registry):
        problem = registry.password_problem or "it is being renewed."
        raise EngineUnavailable(f"There is no password for the registry {registry.name}: {problem}")
    if not secret:
        return None
    await note_private(tx, registry, row.reference)
    return PullCredentials(registry.host, username, secret)


async def advanced(tx: AsyncSession, push: PushId, progress: float | None) -> bool:
    """Store the progress; False: it is not to go on."""
    row = await _open(tx, push)
    if row is None or row.cancel:
        return False
    version = await tx.get(EnvironmentVersion, row.version_id, populate_existing=True)
    if version is None or version.state != VersionState.READY:
        return False
    if progress is not None and abs(progress - (row.progress or 0.0)) >= _STEP:
        row.progress, row.problem, row.code = progress, None, None
        await _flush(tx, row)
    return True


async def postpone(tx: AsyncSession, push: PushId, error: EngineError, now: datetime) -> bool:
    """Have it tried again later; False: it was tried often enough, and has failed."""
    row = await _open(tx, push)
    if row is None:
        return True
    if row.attempts >= ATTEMPTS:
        return False
    row.due_at = now + min(_FIRST_PAUSE * 2 ** (row.attempts - 1), _LONGEST_PAUSE)
    row.problem, row.code, row.progress = error.message, error.code, None
    await _flush(tx, row)
    return True


async def finish(
    tx: AsyncSession,
    push: PushId,
    state: PushState,
    now: datetime,
    *,
    error: EngineError | None = None,
    digest: str | None = None,
) -> None:
    """End it. Twice: no-op."""
    row = await _open(tx, push)
    if row is None:
        return
    row.state, row.ended_at, row.digest = state, now, digest
    row.problem, row.code = (error.message, error.code) if error else (None, None)
    row.progress = 1.0 if state == PushState.DONE else row.progress
    await _flush(tx, row)
    await notify(tx, PUSHES_TOPIC)


async def publish(tx: AsyncSession, row: EnvironmentPush) -> None:
    """Add an event of the environment about it."""
    version = await tx.get_one(EnvironmentVersion, row.version_id)
    environment = await tx.get_one(Environment, version.environment_id)
    push = {"id": row.id, "reference": row.reference, "state": row.state, "progress": row.progress}
    await recipients.changed(tx, "environment.updated", environment, push={"version": version.name, **push})


async def _require_permitted(tx: AsyncSession, row: EnvironmentPush, registry: ImageRegistry) -> None:
    version = await tx.get_one(EnvironmentVersion, row.version_id)
    environment = await tx.get_one(Environment, version.environment_id)
    repository = repository_of(row.reference)
    if registry.namespace:
        repository = repository.removeprefix(f"{registry.namespace}/")
    refusal = push_targets.closed(registry) or push_targets.outside(registry, repository)
    if refusal or not row.reference.startswith(f"{push_targets.prefix(registry)}/"):
        raise refusal or Forbidden(
            "push.not_permitted", f"The registry {registry.name} has another address now."
        )
    await push_targets.require_requester(tx, row.requested_by, environment, registry)
    await availability.require_registry(tx, environment.domain_id, row.reference, field="registry")


async def _open(tx: AsyncSession, push: PushId) -> EnvironmentPush | None:
    mine = (EnvironmentPush.id == push) & EnvironmentPush.ended_at.is_(None)
    statement = select(EnvironmentPush).where(mine).with_for_update()
    return (await tx.execute(statement.execution_options(populate_existing=True))).scalar()


async def _flush(tx: AsyncSession, row: EnvironmentPush) -> None:
    await tx.flush()
    await publish(tx, row)
