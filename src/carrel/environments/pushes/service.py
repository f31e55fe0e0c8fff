"""Use cases of pushes. Each starts with an authorization check."""

from datetime import timedelta
from typing import Any

from sqlalchemy import delete, exists, func, select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncSession

from carrel.core.clock import Clock
from carrel.core.errors import Conflict, NotFound, Refused
from carrel.core.ids import PushId, new_id
from carrel.db.database import notify
from carrel.engines.optional import PUSHES
from carrel.environments import environment_access as access
from carrel.environments.pushes import due_pushes, push_targets
from carrel.environments.pushes.schemas import (
    PushCreate,
    PushList,
    PushTarget,
    PushTargetList,
    PushView,
)
from carrel.environments.service import record
from carrel.http import paging
from carrel.http.paging import PageQuery, Sort
from carrel.images.registries.schemas import RegistryRef
from carrel.permissions.decide import Actor
from carrel.tables.engines import EngineRow
from carrel.tables.environments import Environment, EnvironmentVersion, VersionState
from carrel.tables.nodes import Node
from carrel.tables.pushes import PUSHES_TOPIC, EnvironmentPush, PushState
from carrel.tables.registries import ImageRegistry
from carrel.tables.tenancy import User
from carrel.tenancy.schemas import UserRef

_SORT = Sort({"created_at": EnvironmentPush.created_at}, tie=EnvironmentPush.id, default="-created_at")
_KEPT = timedelta(days=90)
MOST_OPEN = 20
"""Of a user."""


async def targets(tx: AsyncSession, actor: Actor, ref: str) -> PushTargetList:
    """Where the actor may push versions of the environment. Raises: NotFound, Forbidden."""
    environment = await access.find(tx, actor, ref, push_targets.ACTION)
    registries = await push_targets.permitted(tx, actor, environment)
    engines = select(EnvironmentVersion.engine_id).where(EnvironmentVersion.environment_id == environment.id)
    able = await _able(tx, EngineRow.id.in_(engines))
    return PushTargetList(
        items=[
            PushTarget(
                id=one.id,
                name=one.name,
                prefix=push_targets.prefix(one),
                repositories=one.push_repositories,
                repository=push_targets.suggested(one, environment),
            )
            for one in registries
        ],
        refusal=None if able else "Its engine cannot push images.",
    )


async def request(
    tx: AsyncSession, clock: Clock, actor: Actor, ref: str, name: str, body: PushCreate
) -> PushView:
    """Have a version pushed. Raises: NotFound, Forbidden, Invalid, Conflict."""
    environment = await access.find(tx, actor, ref, push_targets.ACTION)
    push_targets.require_builder(actor)
    version = await access.version_of(tx, environment, name)
    await _require_ready(tx, environment, version)
    await _require_few(tx, actor)
    registry = await push_targets.chosen(tx, actor, environment, body.registry)
    reference = await push_targets.reference(
        tx, environment, registry, body.repository, body.tag or version.name
    )
    now = clock.now()
    await tx.execute(
        delete(EnvironmentPush).where(
            EnvironmentPush.version_id == version.id, EnvironmentPush.ended_at < now - _KEPT
        )
    )
    push = EnvironmentPush(
        id=PushId(new_id()),
        version_id=version.id,
        registry_id=registry.id,
        reference=reference,
        state=PushState.WAITING,
        due_at=now,
        requested_by=actor.user_id,
        created_at=now,
    )
    tx.add(push)
    await _flush(tx, reference)
    details = {"version": version.name, "registry": registry.name, "reference": reference}
    record(tx, actor, push_targets.ACTION, environment, details)
    await due_pushes.publish(tx, push)
    await notify(tx, PUSHES_TOPIC)
    return await _view(tx, push.id)


async def cancel(tx: AsyncSession, clock: Clock, actor: Actor, ref: str, push_id: str) -> PushView:
    """Cancel a push; layers that are there stay. Raises: NotFound, Forbidden; Conflict if it has ended."""
    environment = await access.find(tx, actor, ref, push_targets.ACTION)
    push = await _find(tx, environment, push_id)
    if push.ended_at is not None:
        raise Conflict("push.ended", "This push has ended.", hint="See `carrel environment pushes`.")
    push.cancel = True
    if push.state == PushState.WAITING:
        push.state, push.ended_at = PushState.CANCELLED, clock.now()
    await tx.flush()
    record(tx, actor, push_targets.ACTION, environment, {"reference": push.reference, "cancel": True})
    await due_pushes.publish(tx, push)
    await notify(tx, PUSHES_TOPIC)
    return await _view(tx, push.id)


async def show(tx: AsyncSession, actor: Actor, ref: str, push_id: str) -> PushView:
    """One push. Raises: NotFound."""
    push = await _find(tx, await access.find(tx, actor, ref), push_id)
    return await _view(tx, push.id)


async def page(tx: AsyncSession, actor: Actor, ref: str, query: PageQuery) -> PushList:
    """The pushes of the environment, the latest first. Raises: NotFound."""
    environment = await access.find(tx, actor, ref)
    statement = _rows().where(EnvironmentVersion.environment_id == environment.id)
    rows = await paging.page(tx, statement, _SORT, query)
    return PushList(items=[_pushed(row) for row in rows.rows], next_cursor=rows.next_cursor)


async def _require_ready(tx: AsyncSession, environment: Environment, version: EnvironmentVersion) -> None:
    if version.state != VersionState.READY:
        raise Conflict(
            "environment.not_ready",
            f"Version {version.name} of the environment {environment.name} is not ready.",
            hint=f"See `carrel environment show {environment.name}`.",
            details={"state": version.state},
        )
    if not await _able(tx, EngineRow.id == version.engine_id):
        raise Conflict(
            "push.engine_cannot",
            f"The engine that has {environment.name}:{version.name} cannot push images.",
            hint="Build it again in a resource group of an engine that can, and push that.",
        )


async def _require_few(tx: AsyncSession, actor: Actor) -> None:
    """Raises: Refused."""
    mine = select(func.count()).select_from(EnvironmentPush)
    mine = mine.where(EnvironmentPush.requested_by == actor.user_id, EnvironmentPush.ended_at.is_(None))
    if (await tx.execute(mine)).scalar_one() >= MOST_OPEN:
        raise Refused(
            "push.too_many",
            f"{MOST_OPEN} of your pushes are running or waiting.",
            hint="Wait until one has ended, or cancel one: `carrel environment push ENVIRONMENT --cancel`.",
        )


async def _able(tx: AsyncSession, condition: Any) -> bool:
    nodes = exists().where(Node.engine_id == EngineRow.id, Node.capabilities.contains([PUSHES]))
    return (await tx.execute(select(EngineRow.id).where(condition, nodes).limit(1))).first() is not None


async def _find(tx: AsyncSession, environment: Environment, push_id: str) -> EnvironmentPush:
    statement = (
        select(EnvironmentPush)
        .join(EnvironmentVersion, EnvironmentVersion.id == EnvironmentPush.version_id)
        .where(EnvironmentPush.id == push_id, EnvironmentVersion.environment_id == environment.id)
        .with_for_update(of=EnvironmentPush)
    )
    push = (await tx.execute(statement)).scalar()
    if push is None:
        raise NotFound(
            "push.not_found", f"There is no push {push_id}.", hint="See `carrel environment pushes`."
        )
    return push


async def _flush(tx: AsyncSession, reference: str) -> None:
    try:
        await tx.flush()
    except IntegrityError as error:
        if "uq_environment_pushes_open" not in str(error.orig):
            raise
        raise Conflict(
            "push.underway",
            f"An environment is being pushed to {reference} already.",
            hint="Wait until that has ended, or choose another tag.",
            field="tag",
        ) from None


def _rows() -> Any:
    return (
        select(
            EnvironmentPush, EnvironmentVersion, Environment, ImageRegistry.name.label("registry"), User.email
        )
        .join(EnvironmentVersion, EnvironmentVersion.id == EnvironmentPush.version_id)
        .join(Environment, Environment.id == EnvironmentVersion.environment_id)
        .outerjoin(ImageRegistry, ImageRegistry.id == EnvironmentPush.registry_id)
        .outerjoin(User, User.id == EnvironmentPush.requested_by)
        .execution_options(populate_existing=True)
    )


async def _view(tx: AsyncSession, push: PushId) -> PushView:
    return _pushed((await tx.execute(_rows().where(EnvironmentPush.id == push))).one())


_FACTS = "id reference state cancel progress problem code digest created_at started_at ended_at".split()


def _pushed(row: Any) -> PushView:
    push, version, environment, registry, email = row
    name = push.reference.rpartition(":")[0]
    return PushView(
        **{fact: getattr(push, fact) for fact in _FACTS},
        environment_id=environment.id,
        environment=environment.name,
        version=version.name,
        registry=RegistryRef(id=push.registry_id, name=registry) if push.registry_id else None,
        pinned=f"{name}@{push.digest}" if push.digest else None,
        requested_by=UserRef(id=push.requested_by, email=email) if push.requested_by else None,
    )
