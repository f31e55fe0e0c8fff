"""The scopes that a session counts against, and what limits each."""

from collections.abc import Iterable, Mapping
from typing import Any

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from carrel.core.units import Slots
from carrel.keypairs.model import Keypair
from carrel.limits.model import UNLIMITED, ResourcePolicy
from carrel.scheduling.snapshot import SESSIONS
from carrel.tenancy.model import Domain, Project, User


def scopes_of(access_key: str | None, path: tuple[str, str, str]) -> tuple[str, str, str, str]:
    """The keys of the scopes that a session counts against. path: (domain, project, owner)."""
    domain, project, owner = path
    first = f"keypair:{access_key}" if access_key else f"sign-in:{owner}"
    return first, f"user:{owner}", f"project:{project}", f"domain:{domain}"


async def ceilings(
    tx: AsyncSession, wanted: Mapping[tuple[str, ...], tuple[str, str, str]], slots: frozenset[str]
) -> dict[str, tuple[str, Slots]]:
    """What limits these scopes: key -> (label for people, ceiling).

    wanted: `scopes_of` -> path. slots: all that there are, for policies name some and say what holds for others.
    """
    domains, projects, owners = ({path[level] for path in wanted.values()} for level in range(3))
    policies = {p.id: p.limits for p in (await tx.execute(select(ResourcePolicy))).scalars()}
    found: dict[str, tuple[str, Slots]] = {}
    for domain in (await tx.execute(select(Domain).where(Domain.id.in_(domains)))).scalars():
        found[f"domain:{domain.id}"] = (f"domain {domain.name}", domain.ceilings)
    for project in (await tx.execute(select(Project).where(Project.id.in_(projects)))).scalars():
        found[f"project:{project.id}"] = (f"project {project.name}", project.ceilings)
    users = await tx.execute(
        select(User.id, User.email, User.policy_id, User.keypair_policy_id).where(User.id.in_(owners))
    )
    for user in users:
        found[f"user:{user.id}"] = (user.email, ceiling_of(policies[user.policy_id], slots))
        what = f"{user.email}, without a keypair,"
        found[f"sign-in:{user.id}"] = (what, ceiling_of(policies[user.keypair_policy_id], slots))
    keys = [scope.partition(":")[2] for scopes in wanted for scope in scopes if scope.startswith("keypair:")]
    rows = await tx.execute(select(Keypair.access_key, Keypair.policy_id).where(Keypair.access_key.in_(keys)))
    by_key = {row.access_key: policies[row.policy_id] for row in rows}
    for key in keys:
        # A keypair that was removed limits nothing more; its owner and their places still do.
        found[f"keypair:{key}"] = (f"keypair {key}", ceiling_of(by_key[key], slots) if key in by_key else {})
    return found


def ceiling_of(limits: Mapping[str, Any], slots: Iterable[str]) -> dict[str, int]:
    """What a policy limits, as a ceiling.

    A slot that it does not name falls under its "*"; without one there is none of it.
    """
    named = limits["slots"]
    ceiling = {slot: named.get(slot, named.get("*", 0)) for slot in slots} | {SESSIONS: limits["sessions"]}
    return {slot: most for slot, most in ceiling.items() if most != UNLIMITED}
