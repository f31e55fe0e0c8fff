"""Use cases of identity providers: add, update, remove and test."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncSession

from carrel import plugins
from carrel.audit import service as audit
from carrel.core.clock import Clock
from carrel.core.errors import Conflict, Invalid, NotFound
from carrel.core.ids import DomainId, new_id
from carrel.db.encryption import SecretBox
from carrel.permissions.decide import Actor, Target, require
from carrel.permissions.roles import is_superadmin
from carrel.plugins import Port
from carrel.signin.logins import service as logins
from carrel.signin.providers import setup
from carrel.signin.providers.schemas import GroupRule, ProviderCreate, ProviderUpdate
from carrel.tables.providers import Provider
from carrel.tables.tenancy import Project
from carrel.tenancy import queries as tenancy


async def create(
    tx: AsyncSession, clock: Clock, seal: SecretBox, actor: Actor, request: ProviderCreate
) -> Provider:
    """Add a provider. Raises: Forbidden; Invalid; Conflict when the name is taken."""
    require(actor, "provider.update", Target())
    plugins.require_kind(Port.IDENTITY, request.kind, field="kind")
    domain = await tenancy.domain(tx, actor, request.domain, field="domain")
    provider = Provider(
        id=new_id(),
        name=request.name,
        kind=request.kind,
        active=request.active,
        domain_id=domain.id,
        created_at=clock.now(),
    )
    setup.keep(seal, provider, {name: value for name, value in request.settings.items() if value is not None})
    _require_allowed(request.mapping, superadmins=setup.shared_of(provider).may_appoint_superadmins)
    provider.mapping = await _rules(tx, domain.id, request.mapping)
    tx.add(provider)
    try:
        await tx.flush()
    except IntegrityError as error:
        if "name" not in str(error.orig):
            raise
        raise Conflict(
            "provider.name_taken",
            f"A provider named {request.name} already exists.",
            hint="Choose another name.",
            field="name",
        ) from None
    _record(tx, actor, provider, "created", after=_shown(provider))
    return provider


async def list_all(tx: AsyncSession, actor: Actor) -> list[Provider]:
    """All providers, by name. Raises: Forbidden."""
    require(actor, "provider.read", Target())
    return list((await tx.execute(select(Provider).order_by(Provider.name))).scalars())


async def show(tx: AsyncSession, actor: Actor, ref: str, action: str = "provider.read") -> Provider:
    """The provider with this id or name, locked if it will be changed. Raises: Forbidden, NotFound."""
    require(actor, action, Target())
    statement = select(Provider).where((Provider.id == ref) | (Provider.name == ref))
    if action != "provider.read":
        statement = statement.with_for_update()
    provider = (await tx.execute(statement.order_by((Provider.id == ref).desc()).limit(1))).scalar()
    if provider is None:
        raise not_found(ref)
    return provider


async def update(
    tx: AsyncSession, seal: SecretBox, actor: Actor, ref: str, changes: ProviderUpdate
) -> Provider:
    """Update the fields set in `changes`; disabling a provider ends its sign-ins.

    Raises: Forbidden, NotFound, Invalid.
    """
    provider = await show(tx, actor, ref, "provider.update")
    given = changes.model_fields_set
    before = _shown(provider)
    secrets = dict(provider.secrets)
    if changes.settings:
        setup.change(seal, provider, changes.settings)
    if "domain" in given:
        provider.domain_id = (await tenancy.domain(tx, actor, changes.domain, field="domain")).id
    if "mapping" in given:
        provider.mapping = await _rules(tx, provider.domain_id, changes.mapping)
    elif "domain" in given:
        provider.mapping = await _rules(
            tx, provider.domain_id, [GroupRule(**rule) for rule in provider.mapping]
        )
    superadmins = setup.shared_of(provider).may_appoint_superadmins
    _require_allowed([GroupRule(**rule) for rule in provider.mapping], superadmins=superadmins)
    ended = 0
    if "active" in given:
        provider.active = changes.active
        ended = 0 if changes.active else await logins.end_by(tx, provider.method)
    after = _shown(provider)
    changed = [field for field in after if after[field] != before[field]]
    details = {"before": {f: before[f] for f in changed}, "after": {f: after[f] for f in changed}}
    # Re-encrypted secrets differ even if their values are unchanged.
    if named := sorted(changes.settings.keys() & (secrets.keys() | provider.secrets.keys())):
        details["after"]["secrets"] = {
            name: "changed" if name in provider.secrets else "removed" for name in named
        }
    if details["after"]:
        _record(tx, actor, provider, "changed", **details, **_ended(ended))
    await tx.flush()
    return provider


async def remove(tx: AsyncSession, actor: Actor, ref: str) -> None:
    """Remove a provider and end its sign-ins; accounts created by it are kept. Raises: Forbidden, NotFound."""
    provider = await show(tx, actor, ref, "provider.update")
    before = _shown(provider)
    ended = await logins.end_by(tx, provider.method)
    await tx.delete(provider)
    await tx.flush()
    _record(tx, actor, provider, "removed", before=before, **_ended(ended))


def not_found(ref: str) -> NotFound:
    """The error for a missing or disabled provider."""
    return NotFound(
        "provider.not_found", f"There is no identity provider {ref}.", hint="See `carrel provider ls`."
    )


def _require_allowed(rules: Sequence[GroupRule], *, superadmins: bool) -> None:
    """Check a rule. Raises: Invalid if it grants nothing, or more than the provider may grant."""
    for number, rule in enumerate(rules):
        field = f"mapping.{number}"
        if not rule.project and not rule.role:
            raise Invalid(
                "provider.rule_empty",
                f"The rule for {rule.group} grants nothing.",
                hint="Specify a project, a role, or both.",
                field=field,
            )
        if is_superadmin(rule.role) and not superadmins:
            raise Invalid(
                "provider.rule_superadmin",
                "The groups of this provider cannot grant the superadmin role.",
                hint="Set may_appoint_superadmins if you trust its administrators with full access here.",
                field=field,
            )


async def _rules(tx: AsyncSession, domain_id: DomainId, rules: Sequence[GroupRule]) -> list[dict[str, Any]]:
    """The rules with project ids. Raises: Invalid for a project that is not in the domain."""
    projects = (
        await tx.execute(select(Project.id, Project.name).where(Project.domain_id == domain_id))
    ).all()
    ids = {row.name: row.id for row in projects} | {row.id: row.id for row in projects}
    kept = []
    for number, rule in enumerate(rules):
        if rule.project and rule.project not in ids:
            raise Invalid(
                "provider.rule_project",
                f"The provider's domain has no project {rule.project}.",
                hint="See `carrel project ls`.",
                field=f"mapping.{number}.project",
            )
        kept.append({**rule.model_dump(), "project": ids[rule.project] if rule.project else None})
    return kept


def _shown(provider: Provider) -> dict[str, Any]:
    """A provider in the audit trail: without its secrets."""
    return {
        "active": provider.active,
        "domain": provider.domain_id,
        "settings": provider.settings,
        "mapping": provider.mapping,
    }


def _ended(sign_ins: int) -> dict[str, int]:
    return {"sign_ins_ended": sign_ins} if sign_ins else {}


def _record(tx: AsyncSession, actor: Actor, provider: Provider, what: str, **details: object) -> None:
    audit.record(
        tx,
        actor,
        "provider.update",
        provider.id,
        name=provider.name,
        target=Target(),
        details={"what": what, **details},
    )
