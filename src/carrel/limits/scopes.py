"""The scopes that a session counts against, and their limits."""

from collections.abc import Iterable, Mapping
from typing import Any

from sqlalchemy import select, text
from sqlalchemy.ext.asyncio import AsyncSession

from carrel.core.ids import ProjectId
from carrel.permissions.decide import Actor
from carrel.scheduling.snapshot import SESSIONS, ScopeSnapshot
from carrel.tables.keypairs import Keypair
from carrel.tables.limits import ResourcePolicy
from carrel.tables.policies import (
    KeypairPolicy,
    ProjectPolicy,
    Slots,
    keypair_policy,
    project_policy,
    user_policy,
)
from carrel.tables.tenancy import Project, User


def scopes_of(access_key: str | None, path: tuple[str, str, str]) -> tuple[str, str, str, str]:
    """The keys of the scopes that a session counts against. path: (domain, project, owner)."""
    domain, project, owner = path
    first = f"keypair:{access_key}" if access_key else f"sign-in:{owner}"
    return first, f"user:{owner}", f"project:{project}", f"domain:{domain}"


async def ceilings(
    tx: AsyncSession, holders: Mapping[tuple[str, ...], tuple[str, str, str]], slots: frozenset[str]
) -> dict[str, ScopeSnapshot]:
    """These scopes by key with their limits, without usage.

    holders: `scopes_of` -> path. slots: all existing slots, because policies have a wildcard.
    """
    domains, projects, owners = (list({path[level] for path in holders.values()}) for level in range(3))
    keys = [scope.partition(":")[2] for scopes in holders for scope in scopes if scope.startswith("keypair:")]
    snapshots: dict[str, ScopeSnapshot] = {}
    # A deleted keypair has no limits; its owner, project and domain still have.
    snapshots |= {f"keypair:{key}": ScopeSnapshot(f"keypair {key}", {}) for key in keys}
    bound = {"domains": domains, "projects": projects, "owners": owners, "keys": keys}
    for row in await tx.execute(_LIMITING, bound):
        snapshots[f"{row.kind}:{row.id}"] = _scope(
            row.kind, _LABELS[row.kind].format(row.name), row.limits, slots
        )
    return snapshots


def _scope(kind: str, label: str, limits: Mapping[str, Any], slots: Iterable[str]) -> ScopeSnapshot:
    if kind in ("domain", "project"):
        return ScopeSnapshot(label, limits)
    if kind == "user":
        person = user_policy(limits)
        return ScopeSnapshot(label, ceiling_of(person.slots, person.sessions, slots))
    policy = keypair_policy(limits)
    ceiling = ceiling_of(policy.slots, policy.sessions, slots)
    return ScopeSnapshot(label, ceiling, containers=policy.containers_per_session)


_LABELS = {
    "domain": "domain {}",
    "project": "project {}",
    "user": "{}",
    "sign-in": "{}, without a keypair,",
    "keypair": "keypair {}",
}


# The limits of these scopes: kind, id, name, and a ceiling or a policy's limits.
_LIMITING = text("""
    SELECT 'domain' AS kind, id, name, ceilings AS limits FROM domains WHERE id = ANY(:domains)
    UNION ALL
    SELECT 'project', id, name, ceilings FROM projects WHERE id = ANY(:projects)
    UNION ALL
    SELECT 'user', u.id, u.email, p.limits
    FROM users u JOIN resource_policies p ON p.id = u.policy_id WHERE u.id = ANY(:owners)
    UNION ALL
    SELECT 'sign-in', u.id, u.email, p.limits
    FROM users u JOIN resource_policies p ON p.id = u.keypair_policy_id WHERE u.id = ANY(:owners)
    UNION ALL
    SELECT 'keypair', k.access_key, k.access_key, p.limits
    FROM keypairs k JOIN resource_policies p ON p.id = k.policy_id WHERE k.access_key = ANY(:keys)
""")


def ceiling_of(limits: Slots, sessions: int | None, slots: Iterable[str]) -> dict[str, int]:
    """A policy's limits as a ceiling for these slots.

    A slot that it does not name falls under "*"; without "*" its ceiling is 0.
    """
    ceiling = {slot: limits.get(slot, limits.get("*", 0)) for slot in slots} | {SESSIONS: sessions}
    return {slot: most for slot, most in ceiling.items() if most is not None}


def access_key_of(actor: Actor) -> str | None:
    """The keypair of the request; None for the page and for tokens."""
    kind, _, key = actor.credential.partition(":")
    return key if kind == "keypair" else None


async def policy_of(tx: AsyncSession, actor: Actor) -> KeypairPolicy:
    """The policy of the request's keypair, or of use without a keypair."""
    access_key = access_key_of(actor)
    query = select(ResourcePolicy.limits)
    if access_key:
        query = query.join(Keypair, Keypair.policy_id == ResourcePolicy.id).where(
            Keypair.access_key == access_key
        )
    else:
        query = query.join(User, User.keypair_policy_id == ResourcePolicy.id).where(User.id == actor.user_id)
    return keypair_policy((await tx.execute(query)).scalar_one())


async def project_policy_of(tx: AsyncSession, project: ProjectId) -> ProjectPolicy:
    """The policy of the project."""
    query = select(ResourcePolicy.limits).join(Project, Project.policy_id == ResourcePolicy.id)
    return project_policy((await tx.execute(query.where(Project.id == project))).scalar_one())
