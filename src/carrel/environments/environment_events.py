"""Recipients of events about an environment: its owner or project, administrators, and those it is shared with."""

from collections.abc import Mapping
from typing import Any

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from carrel.environments.environment_access import target_of
from carrel.events import service as events
from carrel.tables.environments import Environment, EnvironmentShare


async def changed(
    tx: AsyncSession,
    kind: str,
    environment: Environment,
    *,
    version: Mapping[str, Any] | None = None,
    push: Mapping[str, Any] | None = None,
    also: EnvironmentShare | None = None,
) -> None:
    """Publish a change. version, push: which, if one of them changed. also: a share that ended."""
    statement = select(EnvironmentShare).where(EnvironmentShare.environment_id == environment.id)
    shares = [*(await tx.execute(statement)).scalars(), *([also] if also else [])]
    audience = {f"user:{one.user_id}" if one.user_id else f"project:{one.project_id}" for one in shares}
    if environment.project_id:
        audience.add(f"project:{environment.project_id}")
    which = {key: one for key, one in (("version", version), ("push", push)) if one}
    data = {"id": environment.id, "name": environment.name, **which}
    await events.record(tx, kind, environment.id, target=target_of(environment), data=data, audience=audience)
