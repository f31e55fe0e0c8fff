"""Who sees an environment, starts sessions from it and changes it; and what a name of one means."""

from sqlalchemy import ColumnElement, exists, or_, select
from sqlalchemy.ext.asyncio import AsyncSession

from carrel.core.errors import Conflict, NotFound
from carrel.db.scope import permitted
from carrel.permissions.decide import Actor, Target, allows, refusal, within
from carrel.tables.environments import Environment, EnvironmentShare, EnvironmentVersion, VersionState

IN_USE: ColumnElement[bool] = Environment.removed_at.is_(None)


def target_of(environment: Environment) -> Target:
    return Target(environment.owner_id, environment.project_id, environment.domain_id)


def own(actor: Actor) -> ColumnElement[bool]:
    return Environment.owner_id == actor.user_id


def startable(actor: Actor) -> ColumnElement[bool]:
    """A condition for those from which the actor may start sessions: own, of their projects, and shared."""
    return or_(own(actor), Environment.project_id.in_(sorted(actor.projects)), _shared_with(actor))


def visible(actor: Actor) -> ColumnElement[bool]:
    """A condition for those that the actor may see: startable and administered ones."""
    table = Environment
    administered = permitted(
        actor, "environment.read", owner=table.owner_id, domain=table.domain_id, project=table.project_id
    )
    return (
        or_(administered, _shared_with(actor)) if within(actor.scopes, "environment.read") else administered
    )


def _shared_with(actor: Actor) -> ColumnElement[bool]:
    share = EnvironmentShare
    recipient = or_(share.user_id == actor.user_id, share.project_id.in_(sorted(actor.projects)))
    return exists().where(share.environment_id == Environment.id, recipient)


def may(actor: Actor, action: str, environment: Environment) -> bool:
    """As its owner, as an administrator, or as the member of its project who created it."""
    created = environment.created_by == actor.user_id and environment.project_id in actor.projects
    return (created and within(actor.scopes, action)) or allows(actor, action, target_of(environment))


def missing(ref: str) -> NotFound:
    return NotFound(
        "environment.not_found", f"There is no environment {ref}.", hint="See `carrel environment ls`."
    )


async def find(tx: AsyncSession, actor: Actor, ref: str, action: str = "environment.read") -> Environment:
    """The environment with this id or name that the actor may see: their own before those of their projects, and
    these before others. It is locked, unless it is only read.

    Raises: NotFound, Forbidden; Conflict when several have the name.
    """
    named = or_(Environment.id == ref, Environment.name == ref)
    statement = select(Environment).where(named, IN_USE, visible(actor))
    if action != "environment.read":
        statement = statement.with_for_update(of=Environment)
    environment = nearest(actor, list((await tx.execute(statement)).scalars()), ref)
    if action != "environment.read" and not may(actor, action, environment):
        raise refusal(actor, action)
    return environment


def nearest(actor: Actor, matches: list[Environment], ref: str) -> Environment:
    """The one that the name means. Raises: NotFound, Conflict."""
    if not matches:
        raise missing(ref)

    def rank(one: Environment) -> int:
        nearest = (one.id == ref, one.owner_id == actor.user_id, one.project_id in actor.projects, True)
        return nearest.index(True)

    least = min(map(rank, matches))
    nearest = [one for one in matches if rank(one) == least]
    if len(nearest) > 1:
        raise Conflict(
            "environment.ambiguous",
            f"Several environments have the name {ref}.",
            hint="Use its id.",
            details={"ids": [one.id for one in nearest]},
        )
    return nearest[0]


async def version_of(tx: AsyncSession, environment: Environment, name: str | None) -> EnvironmentVersion:
    """The version of that name; None: what sessions start from. Raises: NotFound."""
    table = EnvironmentVersion
    there = (table.environment_id == environment.id) & (table.state != VersionState.REMOVING)
    name = name or environment.default_version
    statement = select(table).where(there, table.name == name if name else table.state == VersionState.READY)
    version = (await tx.execute(statement.order_by(table.created_at.desc()).limit(1))).scalar()
    if version is None:
        what = f"no version {name}" if name else "no version yet"
        raise NotFound(
            "environment.no_version",
            f"The environment {environment.name} has {what}.",
            hint=f"See `carrel environment show {environment.name}`.",
        )
    return version
