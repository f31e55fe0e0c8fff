"""Use cases of domains. Each starts with an authorization check."""

from typing import Any, Literal

from sqlalchemy import delete, exists, select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncSession

from carrel.accounts.domains.schemas import DomainCreate, DomainUpdate
from carrel.audit import service as audit
from carrel.core.clock import Clock
from carrel.core.errors import Conflict
from carrel.core.ids import DomainId, new_id
from carrel.db.database import notify
from carrel.events import service as events
from carrel.permissions.decide import Actor, Target, require
from carrel.slot_kinds import service as slot_kinds
from carrel.tables import limits
from carrel.tables.apps import AppGrant
from carrel.tables.folders import FolderTask, VFolder
from carrel.tables.logins import Login
from carrel.tables.providers import Provider
from carrel.tables.sessions import IS_LIVE, Session
from carrel.tables.tenancy import Domain, Project, User, UserState
from carrel.tenancy import queries as tenancy

_KINDS = {
    "domain.create": "domain.created",
    "domain.update": "domain.updated",
    "domain.remove": "domain.removed",
}

_PLACES: dict[str, Literal["group", "storage_host"]] = {
    "resource_groups": "group",
    "storage_hosts": "storage_host",
}


async def create(tx: AsyncSession, clock: Clock, actor: Actor, request: DomainCreate) -> DomainId:
    """Create an empty domain.

    Raises: Forbidden; NotFound for a listed group or host; Conflict when the name is taken.
    """
    require(actor, "domain.create", Target())
    given = request.model_dump()
    await _settle_places(tx, given, None)
    await slot_kinds.require_known(tx, request.ceilings, field="ceilings")
    domain = Domain(id=DomainId(new_id()), created_at=clock.now(), **given)
    tx.add(domain)
    await _flush(tx, request.name)
    await _record(tx, actor, "domain.create", domain, after=given)
    return domain.id


async def update(tx: AsyncSession, actor: Actor, ref: str, changes: DomainUpdate) -> DomainId:
    """Update the given fields. Disabling signs out its users.

    Raises: NotFound, also for a listed group or host; Forbidden; Conflict when the name is taken or no superadmin
    would remain.
    """
    domain = await tenancy.domain(tx, actor, ref, "domain.update")
    given = changes.model_dump(exclude_unset=True)
    await _settle_places(tx, given, domain)
    await slot_kinds.require_known(tx, given.get("ceilings", ()), field="ceilings")
    after = {field: value for field, value in given.items() if value != getattr(domain, field)}
    if not after:
        return domain.id
    if after.get("active") is False:
        await _end_sign_ins(tx, domain)
    before = {field: getattr(domain, field) for field in after}
    for field, value in after.items():
        setattr(domain, field, value)
    await _flush(tx, changes.name)
    if "ceilings" in after:
        await notify(tx, limits.TOPIC)
    await _record(tx, actor, "domain.update", domain, before=before, after=after)
    return domain.id


async def _settle_places(tx: AsyncSession, given: dict[str, Any], domain: Domain | None) -> None:
    """Normalise the names of resource groups and storage hosts: a misspelt one would lock out everybody."""
    for field, kind in _PLACES.items():
        if given.get(field):
            kept = domain and getattr(domain, field)
            given[field] = await tenancy.places(tx, given[field], kind, kept=kept or (), field=field)


async def _end_sign_ins(tx: AsyncSession, domain: Domain) -> None:
    if not await tenancy.superadmin_left(tx, without=User.domain_id == domain.id):
        raise Conflict(
            "domain.holds_last_superadmin",
            f"No superadmin would remain: all superadmins are in {domain.name}.",
            hint="Make a user of another domain superadmin first.",
            field="active",
        )
    users = select(User.id).where(User.domain_id == domain.id)
    await tx.execute(delete(AppGrant).where(AppGrant.user_id.in_(users)))
    await tx.execute(delete(Login).where(Login.user_id.in_(users)))


async def remove(tx: AsyncSession, clock: Clock, actor: Actor, ref: str) -> None:
    """Delete a domain with nothing but history: purged users, archived projects, ended sessions.

    Its name becomes free; the history keeps it. Raises: NotFound, Forbidden; Conflict with what it still holds.
    """
    domain = await tenancy.domain(tx, actor, ref, "domain.remove")
    # Locked exclusively, so that nobody moves in meanwhile.
    await tx.execute(select(Domain.id).where(Domain.id == domain.id).with_for_update())
    await _require_only_a_past(tx, domain)
    domain.removed_at = clock.now()
    domain.active = False
    await tx.flush()
    await _record(tx, actor, "domain.remove", domain)


async def _require_only_a_past(tx: AsyncSession, domain: Domain) -> None:
    for kind, holds, way_out in (
        (
            "users",
            exists().where(User.domain_id == domain.id, User.state != UserState.PURGED),
            "Move them to another domain (`carrel user update --domain`) or delete them for "
            "good (`carrel user purge`)",
        ),
        (
            "projects",
            exists().where(Project.domain_id == domain.id, Project.archived_at.is_(None)),
            "Archive or remove them (`carrel project archive`, `carrel project rm`)",
        ),
        (
            "live sessions",
            exists().where(Session.domain_id == domain.id, IS_LIVE),
            "End them, or wait until they have ended (`carrel session ls --everyone`)",
        ),
        (
            "folders",
            exists().where(VFolder.domain_id == domain.id),
            "Delete those of its projects for good (`carrel vfolder trash`, `carrel vfolder rm`)",
        ),
        (
            "folder tasks under way",
            exists().where(FolderTask.domain_id == domain.id, FolderTask.ended_at.is_(None)),
            "Wait until they are done",
        ),
        (
            "identity providers",
            exists().where(Provider.domain_id == domain.id),
            "Remove them, or give them another domain (`carrel provider update --domain`)",
        ),
    ):
        if (await tx.execute(select(holds))).scalar():
            raise Conflict(
                "domain.not_empty",
                f"{domain.name} still holds {kind}.",
                hint=f"{way_out}, or disable the domain.",
                details={"holds": kind},
            )


async def _flush(tx: AsyncSession, name: str) -> None:
    try:
        await tx.flush()
    except IntegrityError as error:
        if "uq_domains_name" not in str(error.orig):
            raise
        raise Conflict(
            "domain.name_taken",
            f"A domain named {name} already exists.",
            hint="Choose another name.",
            field="name",
        ) from None


async def _record(tx: AsyncSession, actor: Actor, action: str, domain: Domain, **details: object) -> None:
    target = tenancy.domain_target(domain)
    audit.record(tx, actor, action, domain.id, name=domain.name, target=target, details=details)
    data = {"id": domain.id, "name": domain.name, "active": domain.active}
    await events.record(tx, _KINDS[action], domain.id, target=target, data=data)
