"""Queries of providers."""

from collections.abc import Sequence

from sqlalchemy import func, select
from sqlalchemy.ext.asyncio import AsyncSession

from carrel import plugins
from carrel.core.ids import ProjectId
from carrel.permissions.decide import Actor, Target, require
from carrel.plugins import Port
from carrel.signin.providers.adapters import redirects, takes_passwords
from carrel.signin.providers.schemas import (
    GroupRuleView,
    OfferedProvider,
    ProviderKind,
    ProviderView,
)
from carrel.signin.providers.setup import schema_of, shared_of
from carrel.tables.logins import Login
from carrel.tables.providers import ExternalIdentity, Provider
from carrel.tables.tenancy import Domain, Project
from carrel.tenancy.schemas import DomainRef, ProjectRef

START = "/api/v1/auth/providers/{name}/start"
CALLBACK = "/api/v1/auth/providers/{name}/callback"


def kinds(actor: Actor) -> list[ProviderKind]:
    """The kinds of providers available for set-up. Raises: Forbidden."""
    require(actor, "provider.read", Target())
    return [
        ProviderKind(
            kind=kind,
            title=plugin.title or kind,
            description=(plugin.settings.__doc__ or "").strip(),
            redirects=redirects(kind),
            settings=schema_of(kind),
        )
        for kind, plugin in plugins.kinds(Port.IDENTITY).items()
    ]


async def views(tx: AsyncSession, providers: Sequence[Provider], *, public_url: str) -> list[ProviderView]:
    """The providers as API objects, for authorized callers."""
    ids = [provider.id for provider in providers]
    per_provider = select(ExternalIdentity.provider_id, func.count()).where(
        ExternalIdentity.provider_id.in_(ids)
    )
    counted = await tx.execute(per_provider.group_by(ExternalIdentity.provider_id))
    counts: dict[str, int] = {provider: count for provider, count in counted}
    sign_ins = await _sign_ins(tx)
    named = {rule["project"] for provider in providers for rule in provider.mapping if rule["project"]}
    rows = await tx.execute(select(Project.id, Project.name).where(Project.id.in_(named)))
    projects = {row.id: ProjectRef(id=row.id, name=row.name) for row in rows}
    where = {provider.domain_id for provider in providers}
    domains = await tx.execute(select(Domain.id, Domain.name).where(Domain.id.in_(where)))
    names = {row.id: DomainRef(id=row.id, name=row.name) for row in domains}
    return [
        _view(
            provider,
            names[provider.domain_id],
            projects,
            users=counts.get(provider.id, 0),
            sign_ins=sign_ins.get(provider.method, 0),
            public_url=public_url,
        )
        for provider in providers
    ]


async def offered(tx: AsyncSession) -> list[OfferedProvider]:
    """Enabled and installed providers, for the sign-in page."""
    rows = await tx.execute(select(Provider).where(Provider.active).order_by(Provider.name))
    return [
        OfferedProvider(
            name=provider.name,
            label=shared_of(provider).label or provider.name,
            kind=provider.kind,
            start=START.format(name=provider.name) if redirects(provider.kind) else None,
        )
        for provider in rows.scalars()
        if redirects(provider.kind) or takes_passwords(provider.kind)
    ]


def redirect_uri(public_url: str, name: str) -> str:
    """The redirect URI of a provider."""
    return public_url.rstrip("/") + CALLBACK.format(name=name)


async def _sign_ins(tx: AsyncSession) -> dict[str, int]:
    """Number of sign-ins by first method."""
    began = func.split_part(Login.method, "+", 1)
    rows = await tx.execute(select(began, func.count()).where(Login.expires_at > func.now()).group_by(began))
    return {method: count for method, count in rows}


def _view(
    provider: Provider,
    domain: DomainRef,
    projects: dict[ProjectId, ProjectRef],
    *,
    users: int,
    sign_ins: int,
    public_url: str,
) -> ProviderView:
    return ProviderView(
        id=provider.id,
        name=provider.name,
        kind=provider.kind,
        active=provider.active,
        domain=domain,
        settings=provider.settings,
        secrets=sorted(provider.secrets),
        server=provider.server,
        mapping=[
            GroupRuleView(
                group=rule["group"],
                project=projects.get(rule["project"]),
                admin=rule["admin"],
                role=rule["role"],
            )
            for rule in provider.mapping
        ],
        redirect_uri=redirect_uri(public_url, provider.name) if redirects(provider.kind) else None,
        people=users,
        sign_ins=sign_ins,
        created_at=provider.created_at,
    )
